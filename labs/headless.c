/* headless.c - drives a session through a lab step by step, and says what
 * happens line by line. */
#include "labs/headless.h"

#include <math.h>
#include <signal.h>

#include "core/base/clock.h"
#include "core/base/i18n.h"
#include "core/base/journal.h"
#include "core/base/path.h"
#include "labs/effects.h"
#include "labs/headless_say.h"
#include "labs/session_priv.h"
#include "labs/vars.h"

enum { WRONG_STABLE_MS = 4000, LINK_LIMIT_MS = 45000, POLL_MS = 250, BEGIN_LIMIT_MS = 20000,
       ASK_AGAIN_MS = 2000, DELETES_MOST = 16 };
enum stage { STAGE_OPEN, STAGE_EDIT, STAGE_RUN, STAGE_WAIT, STAGE_CLEAN, STAGE_END };

struct headless {
    const struct headless_options *o;
    struct loop *loop;
    struct session *s;
    struct effects_runner *r;
    struct effects out;
    struct headless_say say;
    struct journal *journal;      /* NULL without --record */
    enum stage stage;
    int step;                     /* being worked on */
    int64_t begun_ms, wrong_since, link_since, edit_since, asked_ms;
    int code;
    uint32_t deletes[DELETES_MOST];   /* effects that are open at the end, 0: ended */
};

static void apply_message(struct headless *h, struct msg *m)
{
    if (h->journal)
        journal_write(h->journal, m);
    session_apply(h->s, m, &h->out);
    effects_run_all(h->r, &h->out);
}

static void command(struct headless *h, const char *name, const char *a, const char *b)
{
    struct json *body = json_new_object(), *args = json_new_array();
    json_put_str(body, "name", name);
    if (a)
        json_append(args, json_new_string(a));
    if (b)
        json_append(args, json_new_string(b));
    json_set(body, "args", args);
    struct msg *m = msg_new(MSG_COMMAND, body);
    apply_message(h, m);
    msg_free(m);
}

/* --- the end ------------------------------------------------------------------------ */

static bool deletable(const char *key)
{
    return str_starts(key, "jobs/") || str_starts(key, "pods/") ||
           str_starts(key, "persistentvolumeclaims/");
}

/* What this run made goes again, by name and uid; the copied files stay. */
static void clean(struct headless *h)
{
    const struct json *made = session_fact(h->s, "made");
    int n = 0;
    for (const struct json *o = json_first(made); o; o = json_next(o)) {
        const char *key = json_key(o), *name = strchr(key, '/');
        if (!deletable(key) || h->o->keep || h->s->cluster.link != LINK_UP)
            continue;
        struct json *args = json_new_object();
        json_set(args, "resource", json_new_string_n(key, (size_t)(name - key)));
        json_put_str(args, "namespace", h->s->cluster.ns);
        json_put_str(args, "name", name + 1);
        json_put_str(args, "uid", json_str(o, "uid", NULL));
        json_put_num(args, "grace", 0);
        uint32_t id = session_effect(h->s, &h->out, EFF_DELETE, args);
        if (n < DELETES_MOST)
            h->deletes[n++] = id;
    }
    effects_run_all(h->r, &h->out);
}

/* Answers to older questions may still come: only those of the deletes count. */
static bool deleted(struct headless *h, uint32_t effect)
{
    bool open = false;
    for (int i = 0; i < DELETES_MOST; i++) {
        if (h->deletes[i] == effect)
            h->deletes[i] = 0;
        open = open || h->deletes[i];
    }
    return !open;
}

static void finish(struct headless *h, int code, const char *why)
{
    if (h->stage >= STAGE_CLEAN)
        return;
    h->code = code;
    headless_say_end(&h->say, h->s, h->step, code, why, clock_ms() - h->begun_ms);
    h->stage = STAGE_CLEAN;
    clean(h);
    if (deleted(h, 0))
        loop_stop(h->loop, code);
}

/* --- one step ------------------------------------------------------------------------ */

/* A copy of text with the first `find` replaced; NULL when it is not in it. */
static char *replaced(const char *text, const char *find, const char *put)
{
    const char *at = strstr(text, find);
    return at ? xasprintf("%.*s%s%s", (int)(at - text), text, put, at + strlen(find)) : NULL;
}

/* The edits of one file make one change: what lies between two of them was
 * never the person's answer. */
static void edit_file(struct headless *h, const char *file)
{
    const struct lab_step *step = session_step(h->s);
    char *text = xstrdup(session_file(h->s, file, NULL));
    int n = step->solves_n + h->o->sets_n;
    bool changed = false;
    for (int i = 0; i < n; i++) {
        const struct headless_set *o = i < step->solves_n ? NULL : &h->o->sets[i - step->solves_n];
        const struct lab_solve *v = o ? NULL : &step->solves[i];
        if (!str_eq(o ? o->file : v->file, file) || (o && !str_eq(o->step, step->id)))
            continue;
        struct str put;
        str_init(&put, 1 << 16);
        vars_fill(h->s->vars, o ? o->put : v->put, &put);
        char *now = replaced(text, o ? o->find : v->find, put.p);
        if (now) {
            headless_say_edit(&h->say, h->s, file, o ? o->find : v->find, put.p);
            free(text);
            text = now;
            changed = true;
        }
        str_release(&put);
    }
    if (changed)
        command(h, "file.set", file, text);
    free(text);
}

static bool resolved(const struct headless *h, const struct json *args)
{
    char missing[64];
    struct json *done = vars_json(h->s->vars, args, missing);
    json_free(done);
    return done != NULL;
}

/* Is everything there that the step's edits and actions need? */
static bool can_begin(const struct headless *h)
{
    const struct lab_step *step = session_step(h->s);
    bool ok = true;
    for (int i = 0; i < step->files_n && ok; i++)
        ok = session_file(h->s, step->files[i].name, NULL) != NULL;
    for (int i = 0; i < step->actions_n && ok; i++)
        ok = resolved(h, step->actions[i].args);
    for (int i = 0; i < step->solves_n && ok; i++) {
        struct json *put = json_new_string(step->solves[i].put);
        ok = resolved(h, put);
        json_free(put);
    }
    return ok;
}

/* True when the edits are made. What is missing is asked for again now and
 * then, and not waited for without end. */
static bool edit(struct headless *h)
{
    const struct lab_step *step = session_step(h->s);
    int64_t now = clock_ms();
    if (!h->edit_since)
        h->edit_since = h->asked_ms = now;
    if (!can_begin(h) && now - h->edit_since < BEGIN_LIMIT_MS) {
        if (now - h->asked_ms > ASK_AGAIN_MS) {
            h->asked_ms = now;
            command(h, "step.check", NULL, NULL);
        }
        return false;
    }
    h->edit_since = 0;
    for (int i = 0; i < step->files_n; i++)
        if (session_file(h->s, step->files[i].name, NULL))
            edit_file(h, step->files[i].name);
    return true;
}

static bool asks_open(const struct session *s)
{
    const struct session_priv *p = session_priv(s);
    const struct lab_step *step = session_step(s);
    for (int i = 0; p->asks && i < step->checks_n; i++)
        if (p->asks[i].effect)
            return true;
    return false;
}

/* The first check of the step with this result, or NULL. */
static const struct evidence *with_result(const struct headless *h, enum check_result r)
{
    const struct lab_step *step = session_step(h->s);
    for (int i = 0; i < step->checks_n; i++)
        if (h->s->progress[h->step].checks[i].result == r)
            return &h->s->progress[h->step].checks[i];
    return NULL;
}

static void next(struct headless *h)
{
    const struct lab_step *step = session_step(h->s);
    if (h->s->finished || (h->o->until && str_eq(h->o->until, step->id))) {
        finish(h, 0, NULL);
        return;
    }
    if (h->step + 1 >= h->s->lab->steps_n) {
        finish(h, 1, _("a step before is not done"));
        return;
    }
    command(h, "step.next", NULL, NULL);
    h->step = h->s->step;
    h->wrong_since = 0;
    h->stage = STAGE_EDIT;
    headless_say_step(&h->say, h->s);
}

static void wait_step(struct headless *h)
{
    const struct session_priv *p = session_priv(h->s);
    const struct evidence *ev;
    if (h->s->progress[h->step].state == STEP_DONE) {
        next(h);
        return;
    }
    if (p->act.state == ACTION_RUNNING || asks_open(h->s)) {
        h->wrong_since = 0;
        return;
    }
    if (p->act_failed) {
        finish(h, 1, h->s->message);
        return;
    }
    if ((ev = with_result(h, CHECK_SKIPPED))) {
        finish(h, 3, ev->because);
        return;
    }
    ev = with_result(h, CHECK_WRONG);
    if (!ev) {
        h->wrong_since = 0;
    } else if (!h->wrong_since) {
        h->wrong_since = clock_ms();
    } else if (clock_ms() - h->wrong_since > WRONG_STABLE_MS) {
        finish(h, 1, ev->because);
    }
}

/* Why there is no cluster: the place (a file of a kubeconfig) and the next step
 * too, not the cause alone. */
static void no_cluster(struct headless *h)
{
    const struct session *s = h->s;
    char text[1200];
    const char *why = _("the cluster can't be reached");
    if (*s->cluster.error)
        why = s->last_error.code ? pd_describe(&s->last_error, text, sizeof text)
                                 : s->cluster.error;
    finish(h, 3, why);
}

static void advance(struct headless *h)
{
    const struct session *s = h->s;
    const struct table *pods = session_table(s, "pods");
    if (s->cluster.link == LINK_UP)
        h->link_since = clock_ms();
    if (h->stage < STAGE_CLEAN && clock_ms() - h->link_since > LINK_LIMIT_MS)
        no_cluster(h);
    if (h->stage < STAGE_CLEAN && pods->forbidden && !pods->synced)
        finish(h, 3, pods->error);
    switch (h->stage) {
    case STAGE_OPEN:
        if (!session_priv(s)->progress || s->cluster.link != LINK_UP)
            return;
        h->step = s->step;
        h->stage = STAGE_EDIT;
        headless_say_step(&h->say, s);
        break;
    case STAGE_EDIT:
        if (edit(h))
            h->stage = STAGE_RUN;
        break;
    case STAGE_RUN:
        h->stage = STAGE_WAIT;
        if (!session_step(s)->checks_n) {
            next(h);
            break;
        }
        command(h, "step.run", NULL, NULL);
        break;
    case STAGE_WAIT: wait_step(h); break;
    case STAGE_CLEAN:
    case STAGE_END: return;
    }
    headless_say_changes(&h->say, s, h->step);
}

/* --- the loop's calls ------------------------------------------------------------------ */

static void deliver(void *arg, struct msg *m)
{
    struct headless *h = arg;
    if (h->stage == STAGE_CLEAN) {
        if (h->journal)
            journal_write(h->journal, m);
        if (m->kind == MSG_REPLY && deleted(h, m->effect))
            loop_stop(h->loop, h->code);
        msg_free(m);
        return;
    }
    bool fatal = m->kind == MSG_CLUSTER && h->stage == STAGE_OPEN && !m->cluster &&
                 str_eq(json_str(m->body, "state", ""), "down");
    apply_message(h, m);
    msg_free(m);
    headless_say_changes(&h->say, h->s, h->step);
    if (fatal)
        no_cluster(h);
    else
        advance(h);
}

static void poll(void *arg)
{
    struct headless *h = arg;
    int64_t limit = (int64_t)h->o->timeout_s * 1000;
    if (h->stage == STAGE_CLEAN && clock_ms() - h->begun_ms > limit + 20000) {
        loop_stop(h->loop, h->code);
        return;
    }
    if (h->stage < STAGE_CLEAN && clock_ms() - h->begun_ms > limit)
        finish(h, 1, _("the time is up"));
    else
        advance(h);
    loop_timer(h->loop, POLL_MS, poll, h, "headless poll");
}

static void interrupted(void *arg, int signo)
{
    (void)signo;
    finish(arg, 1, _("interrupted"));
}

/* A fresh folder for the attempt, and the journal when one is wanted. */
static enum pd_code prepare(struct headless *h, const char *root, struct pd_err *err)
{
    char *work = path_join(root, h->o->lab);
    enum pd_code code = path_mkdirs(root, 0700, err);
    if (!code)
        code = path_remove_tree(work, err);
    free(work);
    if (code || !h->o->record)
        return code;
    struct json *head = json_new_object();
    json_put_str(head, "lang", i18n_lang());
    json_put_str(head, "context", h->o->context);
    enum pd_code rc = journal_create(h->o->record, head, &h->journal, err);
    json_free(head);
    return rc;
}

int headless_run(struct lab_list *labs, const struct headless_options *o)
{
    struct headless h = {.o = o, .code = 1};
    struct pd_err err;
    char text[1024], *root = path_home(PATH_DATA, "headless");
    if (prepare(&h, root, &err)) {
        fprintf(stderr, "podium: %s\n", pd_describe(&err, text, sizeof text));
        free(root);
        return 1;
    }
    h.loop = loop_new();
    h.s = session_new(labs);
    session_set_work(h.s, root, (uint64_t)clock_wall_ms());
    free(root);
    struct effects_options eo = {.kubeconfig = o->kubeconfig, .context = o->context, .ns = o->ns,
                                 .deliver = deliver, .arg = &h};
    h.r = effects_runner_new(h.loop, &eo);
    effects_init(&h.out);
    headless_say_init(&h.say, o->json);
    h.begun_ms = h.link_since = clock_ms();
    loop_signal(h.loop, SIGINT, interrupted, &h);
    loop_signal(h.loop, SIGTERM, interrupted, &h);
    session_start(h.s, o->context, &h.out);
    command(&h, "lab.open", o->lab, NULL);
    loop_timer(h.loop, POLL_MS, poll, &h, "headless poll");
    int code = loop_run(h.loop);
    journal_close(h.journal);
    h.journal = NULL;
    effects_runner_free(h.r);
    effects_release(&h.out);
    session_free(h.s);
    loop_free(h.loop);
    return code;
}
