/* status.c - one look at cluster, lab and run (status.h): the session is asked
 * until it knows, with every effect left out that would change something. */
#include "tui/status.h"

#include <unistd.h>

#include "core/base/clock.h"
#include "core/base/i18n.h"
#include "core/io/loop.h"
#include "labs/effects.h"
#include "labs/progress.h"
#include "tui/plain.h"
#include "tui/plain_text.h"
#include "tui/start.h"

enum { STATUS_POLL_MS = 100, STATUS_QUIET_MS = 400, STATUS_LINK_MS = 10000, STATUS_MOST_MS = 4000,
       STATUS_TEXT_MOST = 1 << 20 };

struct status {
    struct loop *loop;
    struct app *app;
    struct effects_runner *runner;
    struct effects effects;
    int64_t begun_ms, heard_ms, up_ms;
    bool asked;                  /* what one may do */
};

static bool only_looks(enum effect_kind k)
{
    static const enum effect_kind looking[] = {EFF_CONNECT, EFF_WATCH, EFF_GET,        EFF_LIST,
                                               EFF_LOG,     EFF_TIMER, EFF_WATCH_FILE, EFF_CANCEL,
                                               EFF_REVIEW,  EFF_CAN,   EFF_CONTEXTS};
    for (size_t i = 0; i < ARRAY_LEN(looking); i++)
        if (looking[i] == k)
            return true;
    return false;
}

/* Those that would change something go before they are carried out. */
static void drop_changes(struct effects *e)
{
    size_t kept = 0;
    for (size_t i = 0; i < e->n; i++) {
        if (only_looks(e->v[i].kind))
            e->v[kept++] = e->v[i];
        else
            json_free(e->v[i].args);
    }
    e->n = kept;
}

static void apply(void *arg, struct msg *m)
{
    struct status *st = arg;
    if (m->kind != MSG_TICK)
        st->heard_ms = clock_ms();
    app_apply(st->app, m, &st->effects);
    msg_free(m);
    drop_changes(&st->effects);
    effects_run_all(st->runner, &st->effects);
}

/* Known: every list that may be read has come, and so have the lab's files and
 * the beginning of its run. */
static bool known(const struct session *s)
{
    for (int i = 0; i < SESSION_WATCHED; i++)
        if (!s->tables[i].synced && !s->tables[i].forbidden)
            return false;
    if (s->conn.rules_effect || s->conn.who_effect)
        return false;
    return !s->lab || s->progress[0].state != STEP_LOCKED;
}

static void ask_rights(struct status *st)
{
    struct json *body = json_new_object();
    json_put_str(body, "name", "rights.look");
    json_set(body, "args", json_new_array());
    st->asked = true;
    apply(st, msg_new(MSG_COMMAND, body));
}

static void poll(void *arg)
{
    struct status *st = arg;
    const struct session *s = st->app->s;
    int64_t now = clock_ms();
    if (s->cluster.link == LINK_UP && !st->up_ms)
        st->up_ms = now;
    if (st->up_ms && !st->asked)
        ask_rights(st);
    bool quiet = known(s) && now - st->heard_ms >= STATUS_QUIET_MS;
    if (s->cluster.link == LINK_DOWN || (!st->up_ms && now - st->begun_ms >= STATUS_LINK_MS) ||
        (st->up_ms && (quiet || now - st->up_ms >= STATUS_MOST_MS)))
        loop_stop(st->loop, 0);
    else
        loop_timer(st->loop, STATUS_POLL_MS, poll, st, "status");
}

/* The lab that something happened in last, or NULL. */
static const char *newest(const struct lab_list *labs)
{
    const char *id = NULL;
    int64_t best = 0;
    for (size_t i = 0; i < labs->n; i++) {
        int64_t at = labs->v[i].lab ? progress_disk_changed(labs->v[i].lab) : 0;
        if (at <= best)
            continue;
        best = at;
        id = labs->v[i].lab->id;
    }
    return id;
}

static int verdict(const struct session *s)
{
    if (s->cluster.link != LINK_UP)
        return 3;
    bool wrong = str_eq(s->run.state, "error");
    const struct lab_step *st = s->lab ? &s->lab->steps[s->step] : NULL;
    for (int i = 0; st && i < st->checks_n; i++)
        wrong |= s->progress[s->step].checks[i].result == CHECK_WRONG;
    return wrong;
}

static void say(const struct app *a)
{
    struct str text, lines;
    str_init(&text, STATUS_TEXT_MOST);
    str_init(&lines, STATUS_TEXT_MOST);
    plain_status(a, &text);
    plain_who(a, &text);
    if (plain_loaded(a) && a->s->progress[a->s->step].state != STEP_DONE)
        plain_checks(a, &text);
    plain_wrap(text.p, plain_width(), a->glyphs == GLYPH_ASCII, &lines);
    fputs(lines.p, stdout);
    str_release(&text);
    str_release(&lines);
}

static int look(struct lab_list *labs, const struct console_options *o)
{
    struct status st = {.loop = loop_new(), .begun_ms = clock_ms()};
    struct effects_options eo = {.kubeconfig = o->kubeconfig, .context = o->context, .ns = o->ns,
                                 .keep_choices = true, .deliver = apply, .arg = &st};
    struct start start = {.o = o, .send = apply, .arg = &st};
    st.app = app_new(session_new(labs), labs);
    effects_init(&st.effects);
    st.runner = effects_runner_new(st.loop, &eo);
    start_look(&start, glyph_set_default("") == GLYPH_ASCII ? "ascii" : "cjk-safe", NULL);
    start_session(&start, labs);
    loop_timer(st.loop, 0, poll, &st, "status");
    loop_run(st.loop);
    say(st.app);
    int code = verdict(st.app->s);
    effects_runner_free(st.runner);
    effects_release(&st.effects);
    app_free(st.app);
    loop_free(st.loop);
    return code;
}

int status_main(int argc, char **argv, const struct console_options *o)
{
    struct console_options own = *o;
    if (argc > 2) {
        fprintf(stderr, "%s", _("usage: podium [OPTIONS] status [LAB]\n"));
        return 2;
    }
    struct lab_list *labs = lab_list_load(o->labs);
    own.open = argc > 1 ? argv[1] : o->open ? o->open : newest(labs);
    int code = 2;
    if (own.open && !lab_list_find(labs, own.open))
        fprintf(stderr, _("podium: there is no lab \"%s\"\n"), own.open);
    else
        code = look(labs, &own);
    lab_list_free(labs);
    return code;
}
