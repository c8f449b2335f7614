/* shell.c - the shell in a container (shell.h). */
#include "tui/shell.h"

#include "core/base/base64.h"
#include "core/base/i18n.h"
#include "tui/cmd.h"
#include "tui/panes.h"

enum { DATA_MAX = 1 << 20, QUICK_MS = 3000 };

void shell_release(struct shell *s)
{
    shell_term_free(s->term);
    s->term = NULL;
}

bool shell_runs(const struct shell *s)
{
    return s->state == SHELL_STARTING || s->state == SHELL_OPEN;
}

static const struct pane *pane_of(const struct app *a, struct panes *l)
{
    app_layout(a, l);
    return panes_find(l, PANEL_SHELL);
}

/* --- to the container -------------------------------------------------------------- */

static void send(struct app *a, struct effects *out)
{
    struct shell *s = &a->shell;
    struct str *bytes = s->term ? shell_term_out(s->term) : NULL;
    struct str text;
    if (!bytes || bytes->len == 0)
        return;
    if (s->state == SHELL_OPEN && !a->replay) {
        struct json *args = json_new_object();
        str_init(&text, 2 * bytes->len + 16);
        base64_encode(bytes->p, bytes->len, &text);
        json_put_num(args, "stream", s->effect);
        json_put_str(args, "data", text.p);
        effects_add(out, EFF_SHELL_SEND, s->cluster, s->epoch, args);
        str_release(&text);
    }
    str_clear(bytes);
}

void shell_key(struct app *a, const char *name, struct effects *out)
{
    struct shell *s = &a->shell;
    if (s->state != SHELL_OPEN || !s->term)
        return;
    s->typed = true;
    s->back = 0;
    shell_term_key(s->term, name);
    send(a, out);
}

void shell_paste(struct app *a, const char *text, struct effects *out)
{
    struct shell *s = &a->shell;
    if (s->state != SHELL_OPEN || !s->term)
        return;
    s->typed = true;
    s->back = 0;
    shell_term_paste(s->term, text);
    send(a, out);
}

void shell_start(struct app *a, const char *pod, const char *container, struct effects *out)
{
    struct shell *s = &a->shell;
    struct panes l;
    struct json *args = json_new_object();
    shell_release(s);
    memset(s, 0, sizeof *s);
    str_copy(s->ns, sizeof s->ns, a->s->cluster.ns);
    str_copy(s->pod, sizeof s->pod, pod);
    str_copy(s->container, sizeof s->container, container);
    s->cluster = a->s->cluster.id;
    s->epoch = a->s->cluster.epoch;
    s->state = SHELL_STARTING;
    s->began_ms = a->now_ms;
    app_over(a, PANEL_SHELL);
    const struct pane *p = pane_of(a, &l);
    s->cols = p ? p->inner.w : 80;
    s->rows = p ? p->inner.h : 24;
    s->term = shell_term_new(s->cols, s->rows);
    json_put_str(args, "namespace", s->ns);
    json_put_str(args, "pod", s->pod);
    json_put_str(args, "container", s->container);
    json_put_num(args, "cols", s->cols);
    json_put_num(args, "rows", s->rows);
    s->effect = effects_add(out, EFF_SHELL, s->cluster, s->epoch, args);
}

void shell_end(struct app *a, struct effects *out)
{
    struct shell *s = &a->shell;
    if (!shell_runs(s))
        return;
    struct json *args = json_new_object();
    json_put_num(args, "effect", s->effect);
    effects_add(out, EFF_CANCEL, 0, 0, args);
    s->state = SHELL_ENDED;
    s->code = -1;
    s->ended_ms = a->now_ms;
    pd_fail(&s->error, PD_CANCELED, _("it was hung up from here"));
}

/* --- from the container --------------------------------------------------------------- */

static bool no_shell(const struct shell *s, const char *text)
{
    return strstr(text, "executable file not found") || strstr(text, "no such file or directory") ||
           ((s->code == 126 || s->code == 127 || s->code == 255) && !s->typed &&
            s->ended_ms - s->began_ms < QUICK_MS);
}

static void ended(struct app *a, const struct msg *m)
{
    struct shell *s = &a->shell;
    const char *text = json_str(m->body, "error.msg", "");
    s->state = SHELL_ENDED;
    s->ended_ms = a->now_ms;
    s->code = (int)json_int(m->body, "exit", -1);
    s->error = (struct pd_err){.code = PD_OK};
    if (no_shell(s, text)) {
        pd_fail(&s->error, PD_UNSUPPORTED, _("the image of container %s has no shell: it may be "
                                             "distroless, or built FROM scratch"), s->container);
        pd_set_hint(&s->error, _("kubectl debug -it %s --image=busybox --target=%s starts one "
                                 "beside it"), s->pod, s->container);
    } else if (*text) {
        pd_fail(&s->error, PD_HTTP, "%s", text);
        str_copy(s->error.hint, sizeof s->error.hint, json_str(m->body, "error.hint", ""));
    }
    if (s->error.code != PD_OK)
        app_fault(a, &s->error);
    else
        app_note(a, s->code != 0, _("the shell in %s ended with %d"), s->pod, s->code);
}

bool shell_message(struct app *a, const struct msg *m)
{
    struct shell *s = &a->shell;
    struct str bytes;
    if ((m->kind != MSG_SHELL && m->kind != MSG_REPLY) || !m->effect || m->effect != s->effect)
        return m->kind == MSG_SHELL;
    const char *state = json_str(m->body, "state", ""), *data = json_str(m->body, "data", "");
    if (!shell_runs(s))
        return true;
    if (str_eq(state, "open"))
        s->state = SHELL_OPEN;
    if (*data && s->term) {
        str_init(&bytes, DATA_MAX);
        int lines = shell_term_history(s->term);
        if (base64_decode(data, strlen(data), &bytes))
            shell_term_feed(s->term, bytes.p, bytes.len);
        if (s->back)             /* what is looked at stays where it is */
            s->back += shell_term_history(s->term) - lines;
        str_release(&bytes);
    }
    if (str_eq(state, "closed") || m->kind == MSG_REPLY)
        ended(a, m);
    return true;
}

/* --- in step with the rest --------------------------------------------------------------- */

static void resize(struct app *a, struct effects *out)
{
    struct shell *s = &a->shell;
    struct panes l;
    const struct pane *p = pane_of(a, &l);
    if (!p || (p->inner.w == s->cols && p->inner.h == s->rows))
        return;
    s->cols = p->inner.w;
    s->rows = p->inner.h;
    shell_term_resize(s->term, s->cols, s->rows);
    if (!shell_runs(s))
        return;
    struct json *args = json_new_object();
    json_put_num(args, "stream", s->effect);
    json_put_num(args, "cols", s->cols);
    json_put_num(args, "rows", s->rows);
    effects_add(out, EFF_SHELL_SIZE, s->cluster, s->epoch, args);
}

void shell_follow(struct app *a, struct effects *out)
{
    struct shell *s = &a->shell;
    if (!s->term)
        return;
    if (shell_runs(s) && (a->s->cluster.id != s->cluster || a->s->cluster.epoch != s->epoch)) {
        s->state = SHELL_ENDED;
        s->code = -1;
        s->ended_ms = a->now_ms;
        pd_fail(&s->error, PD_CANCELED, _("its connection was given up for another"));
    }
    resize(a, out);
    send(a, out);                /* what the terminal answers to questions */
}

/* --- the journal -------------------------------------------------------------------------- */

bool shell_private(const struct app *a, const struct msg *m)
{
    if (m->kind == MSG_SHELL)
        return json_has(m->body, "data");
    if (app_view(a) != VIEW_SHELL)
        return false;
    const char *key = json_str(m->body, "key", "");
    return m->kind == MSG_PASTE ||
           (m->kind == MSG_KEY && !strchr(key, '@') && !cmd_for_key(a, VIEW_SHELL, key));
}
