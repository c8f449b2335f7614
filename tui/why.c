/* why.c - asks why an object is not doing well (why.h). */
#include "tui/why.h"

#include "core/base/i18n.h"
#include "tui/cmd.h"
#include "tui/cmd_lists.h"

enum { AGAIN_MS = 3000 };        /* between two looks */

void why_forget(struct app *a)
{
    json_free(a->why.answer);
    memset(&a->why, 0, sizeof a->why);
}

static void option(struct json *argv, const char *name, const char *value)
{
    if (!value[0])
        return;
    json_append(argv, json_new_string(name));
    json_append(argv, json_new_string(value));
}

static void spawn(struct app *a, struct effects *out)
{
    struct json *args = json_new_object(), *argv = json_new_array();
    static const char *const words[] = {"podium", "diagnose", "--json"};
    for (size_t i = 0; i < ARRAY_LEN(words); i++)
        json_append(argv, json_new_string(words[i]));
    json_append(argv, json_new_string(a->why.object));
    option(argv, "-n", a->s->cluster.ns);
    option(argv, "--kubeconfig", session_kubeconfig(a->s));
    option(argv, "--context", a->s->cluster.context);
    option(argv, "--lang", i18n_lang());
    json_set(args, "argv", argv);
    a->why.asked_ms = a->now_ms;
    a->why.child = effects_add(out, EFF_SPAWN, 0, 0, args);
}

void why_ask(struct app *a, const char *object, struct effects *out)
{
    uint32_t running = a->why.child;
    if (running) {
        struct json *args = json_new_object();
        json_put_num(args, "effect", running);
        effects_add(out, EFF_CANCEL, 0, 0, args);
    }
    why_forget(a);
    str_copy(a->why.object, sizeof a->why.object, object);
    spawn(a, out);
}

bool why_take(struct app *a, const struct msg *m)
{
    if (!a->why.child || m->effect != a->why.child ||
        (m->kind != MSG_CHILD_LINE && m->kind != MSG_CHILD_EXIT))
        return false;
    if (m->kind == MSG_CHILD_LINE) {
        json_free(a->why.answer);
        a->why.answer = json_copy(json_get(m->body, "record"));
        a->why.error[0] = '\0';
    } else {
        const char *said = json_str(m->body, "stderr", "");
        a->why.child = 0;
        if (said[0])
            str_copy(a->why.error, sizeof a->why.error, said);
    }
    return true;
}

static int64_t changed_ms(const struct session *s)
{
    int64_t last = 0;
    for (int i = 0; i < SESSION_TABLES; i++)
        last = MAX(last, s->tables[i].changed_ms);
    return last;
}

void why_follow(struct app *a, struct effects *out)
{
    bool shown = a->tab == PANEL_WHY || a->focus == PANEL_WHY;
    if (a->why.object[0] && !a->why.child && shown && !a->replay &&
        a->s->cluster.link == LINK_UP && changed_ms(a->s) > a->why.asked_ms &&
        a->now_ms - a->why.asked_ms >= AGAIN_MS)
        spawn(a, out);
}

/* --- the command ------------------------------------------------------------------------ */
void cmd_why(struct app *a, const char *arg, struct effects *out)
{
    char object[200];
    const char *pod = cmd_lists_pod(a);
    const char *job = a->s->lab ? a->s->lab->run_job : "";
    if (arg && *arg)
        str_copy(object, sizeof object, arg);
    else if (pod)
        str_fmt(object, sizeof object, "pod/%s", pod);
    else if (a->why.object[0])
        str_copy(object, sizeof object, a->why.object);
    else if (job[0])
        str_fmt(object, sizeof object, "job/%s", job);
    else {
        app_note(a, true, "%s", _("select a pod, or name one: why pod/NAME, why job/NAME"));
        return;
    }
    why_ask(a, object, out);
    a->scroll[PANEL_WHY] = 0;
    if (a->over_n > 0 || !a->s->lab) { /* Esc goes back to the list */
        app_over(a, PANEL_WHY);
        return;
    }
    a->tab = PANEL_WHY;
    a->tab_chosen = true;
    app_focus(a, PANEL_WHY);
}
