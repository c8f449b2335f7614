/* headless.c - drives a session through a lab step by step, and says what
 * happens line by line. */
#include "labs/headless.h"

#include <math.h>
#include <signal.h>

#include "core/base/clock.h"
#include "core/base/i18n.h"
#include "core/base/journal.h"
#include "core/base/path.h"
#include "labs/headless_priv.h"
#include "labs/lab_test.h"
#include "labs/quiz.h"
#include "labs/step_text.h"
#include "labs/vars.h"

enum { WRONG_STABLE_MS = 4000, LINK_LIMIT_MS = 15000, POLL_MS = 250, BEGIN_LIMIT_MS = 20000,
       ASK_AGAIN_MS = 2000, CLEAN_LIMIT_MS = 30000 };

void headless_apply(struct headless *h, struct msg *m)
{
    if (h->journal)
        journal_write(h->journal, m);
    session_apply(h->s, m, &h->out);
    effects_run_all(h->r, &h->out);
}

void headless_command(struct headless *h, const char *name, const char *a, const char *b)
{
    struct json *body = json_new_object(), *args = json_new_array();
    json_put_str(body, "name", name);
    if (a)
        json_append(args, json_new_string(a));
    if (b)
        json_append(args, json_new_string(b));
    json_set(body, "args", args);
    struct msg *m = msg_new(MSG_COMMAND, body);
    headless_apply(h, m);
    msg_free(m);
}

/* --- the end ------------------------------------------------------------------------ */

/* What carries the lab's label goes again; the copied files stay. True: it was
 * begun. */
static bool clean(struct headless *h)
{
    const struct session *s = h->s;
    if ((h->o->keep && !h->test) || s->cluster.link != LINK_UP || !session_priv(s)->progress)
        return false;
    h->clean_since = clock_ms();
    headless_command(h, "lab.cleanup", "yes", NULL);
    return true;
}

void headless_finish(struct headless *h, int code, const char *why)
{
    if (h->stage >= STAGE_CLEAN)
        return;
    h->code = code;
    if (h->test)
        lab_test_ended(h, code, why);
    else
        headless_say_end(&h->say, h->s, h->step, code, why, clock_ms() - h->begun_ms);
    h->stage = STAGE_CLEAN;
    if (!clean(h))
        loop_stop(h->loop, h->code);
}

/* Clearing up has ended, or takes too long. */
static void cleaned(struct headless *h)
{
    enum clean_state st = h->s->clean.state;
    bool late = clock_ms() - h->clean_since > CLEAN_LIMIT_MS;
    if (!h->clean_since)
        return;                   /* there is nothing to wait for */
    if (st != CLEAN_DONE && st != CLEAN_FAILED && !late)
        return;
    if (h->test && lab_test_cleaned(h, st == CLEAN_DONE))
        return;                   /* it begins once more */
    loop_stop(h->loop, h->code);
}

/* --- one step ------------------------------------------------------------------------ */

/* A copy of text with the first `find` replaced; NULL when it is not in it. */
static char *replaced(const char *text, const char *find, const char *put)
{
    const char *at = strstr(text, find);
    return at ? xasprintf("%.*s%s%s", (int)(at - text), text, put, at + strlen(find)) : NULL;
}

static bool set_is_for(const struct headless *h, int i, const char *file)
{
    return str_eq(h->o->sets[i].step, session_step(h->s)->id) &&
           str_eq(h->o->sets[i].file, file);
}

/* One edit of a text; says it. False: what it looks for is not there. */
static bool edit_text(struct headless *h, char **text, const char *file, const char *find,
                      const char *put_raw)
{
    struct str put;
    str_init(&put, 1 << 16);
    vars_fill(h->s->vars, put_raw, &put);
    char *now = replaced(*text, find, put.p);
    if (now) {
        if (!h->test)
            headless_say_edit(&h->say, h->s, file, find, put.p);
        free(*text);
        *text = now;
    }
    str_release(&put);
    return now != NULL;
}

static bool resolved(const struct headless *h, const struct json *args)
{
    char missing[64];
    struct json *done = vars_json(h->s->vars, args, missing);
    json_free(done);
    return done != NULL;
}

/* A number of nodes is not waited for by who may not see them, nor written. */
static bool put_known(const struct headless *h, const struct lab_solve *solve)
{
    struct json *put = json_new_string(solve->put);
    bool ok = resolved(h, put);
    json_free(put);
    return ok;
}

char *headless_solved(struct headless *h, const char *file)
{
    const struct lab_step *step = session_step(h->s);
    char *text = xstrdup(session_file(h->s, file, NULL));
    for (int i = 0; text && i < step->solves_n; i++)
        if (str_eq(step->solves[i].file, file) && put_known(h, &step->solves[i]))
            edit_text(h, &text, file, step->solves[i].find, step->solves[i].put);
    return text;
}

/* The edits of one file make one change: what lies between two of them was
 * never the person's answer. False: an edit of --set has no place. */
static bool edit_file(struct headless *h, const char *file)
{
    char *text = headless_solved(h, file);
    bool ok = true;
    for (int i = 0; i < h->o->sets_n && ok; i++)
        if (set_is_for(h, i, file))
            ok = edit_text(h, &text, file, h->o->sets[i].find, h->o->sets[i].put);
    if (ok && !str_eq(text, session_file(h->s, file, NULL)))
        headless_command(h, "file.set", file, text);
    free(text);
    return ok;
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
    for (int i = 0; i < step->solves_n && ok; i++)
        ok = session_table(h->s, "nodes")->forbidden || put_known(h, &step->solves[i]);
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
            headless_command(h, "step.check", NULL, NULL);
        }
        return false;
    }
    h->edit_since = 0;
    for (int i = 0; i < step->files_n; i++)
        if (session_file(h->s, step->files[i].name, NULL) && !edit_file(h, step->files[i].name)) {
            headless_finish(h, 2, _("a text of --set is not in its file"));
            return false;
        }
    return true;
}

/* Every --set of the step names one of its files. */
static bool sets_have_files(const struct headless *h)
{
    const struct lab_step *step = session_step(h->s);
    for (int i = 0; i < h->o->sets_n; i++) {
        bool found = !str_eq(h->o->sets[i].step, step->id);
        for (int k = 0; k < step->files_n && !found; k++)
            found = str_eq(step->files[k].name, h->o->sets[i].file);
        if (!found)
            return false;
    }
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
    if ((h->s->finished && h->step + 1 >= h->s->lab->steps_n) ||
        (h->o->until && str_eq(h->o->until, step->id))) {
        headless_finish(h, 0, NULL);
        return;
    }
    if (h->step + 1 >= h->s->lab->steps_n) {
        headless_finish(h, 1, _("a step before is not done"));
        return;
    }
    headless_command(h, "step.next", NULL, NULL);
    h->step = h->s->step;
    h->wrong_since = 0;
    h->answered = 0;
    h->stage = STAGE_SCENE;
    if (!h->test)
        headless_say_step(&h->say, h->s);
}

static const struct headless_set *own_answer(const struct headless *h, const char *quiz)
{
    for (int i = 0; i < h->o->answers_n; i++)
        if (str_eq(h->o->answers[i].step, session_step(h->s)->id) &&
            str_eq(h->o->answers[i].file, quiz))
            return &h->o->answers[i];
    return NULL;
}

/* The next question gets its right answer as soon as that is known, or the one
 * of --answer; a wrong one is the end. */
static void answer(struct headless *h)
{
    int i = quiz_open(h->s, h->step);
    const struct lab_quiz *q = i < 0 ? NULL : &session_step(h->s)->quiz[i];
    struct str text;
    if (!q)
        return;
    if (h->answered >> i & 1) {
        headless_finish(h, 1, h->s->progress[h->step].quiz[i].because);
        return;
    }
    const struct headless_set *own = own_answer(h, q->id);
    str_init(&text, 1 << 16);
    if (own ? str_add(&text, own->find) : quiz_right(h->s, h->step, i, &text)) {
        headless_command(h, "quiz.answer", q->id, text.p);
        if (!h->test)
            headless_say_answer(&h->say, h->s, i);
        enum check_result r = h->s->progress[h->step].quiz[i].result;
        if (r == CHECK_WRONG || r == CHECK_NOT_YET)
            h->answered |= 1u << i;
    }
    str_release(&text);
}

static void wait_step(struct headless *h)
{
    const struct session_priv *p = session_priv(h->s);
    const struct evidence *ev;
    if (h->s->progress[h->step].state == STEP_DONE) {
        if (h->test)
            lab_test_done(h);
        next(h);
        return;
    }
    if (p->act.state == ACTION_RUNNING || asks_open(h->s)) {
        h->wrong_since = 0;
        return;
    }
    if (p->act_failed) {
        headless_finish(h, 1, h->s->message);
        return;
    }
    answer(h);
    if (h->stage != STAGE_WAIT)
        return;
    ev = with_result(h, CHECK_WRONG);
    if (!ev) {
        h->wrong_since = 0;
    } else if (!h->wrong_since) {
        h->wrong_since = clock_ms();
    } else if (clock_ms() - h->wrong_since > WRONG_STABLE_MS) {
        headless_finish(h, 1, ev->because);
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
    headless_finish(h, 3, why);
}

/* The scene first; a step that this cluster can't do is gone past. */
static void scene(struct headless *h)
{
    const struct session *s = h->s;
    const struct step_need *n = &s->need;
    if (n->mode == MODE_ASKING || s->scene.state == SCENE_RUNNING)
        return;
    if (n->mode == MODE_SKIPPED || n->mode == MODE_READING) {
        char why[sizeof n->why];
        str_copy(why, sizeof why, n->why);
        if (n->whole)
            headless_finish(h, 3, why);
        else
            next(h);
    } else if (!sets_have_files(h)) {
        headless_finish(h, 2, _("a file of --set is none of its step"));
    } else if (s->scene.state == SCENE_READY) {
        h->stage = h->test ? STAGE_TRY : STAGE_EDIT;
    } else if (s->scene.state == SCENE_FAILED) {
        headless_finish(h, 1, s->scene.text);
    } else {
        headless_command(h, "step.run", NULL, NULL);
    }
}

static void begin(struct headless *h)
{
    if (!session_priv(h->s)->progress || h->s->cluster.link != LINK_UP)
        return;
    h->step = h->s->step;
    h->stage = STAGE_SCENE;
    if (!h->test)
        headless_say_step(&h->say, h->s);
}

static void run_step(struct headless *h)
{
    const struct lab_step *step = session_step(h->s);
    h->stage = STAGE_WAIT;
    if (!step->checks_n && !step->quiz_n)
        next(h);
    else
        headless_command(h, "step.run", NULL, NULL);
}

static void advance(struct headless *h)
{
    const struct session *s = h->s;
    const struct table *pods = session_table(s, "pods");
    if (s->cluster.link == LINK_UP)
        h->link_since = clock_ms();
    if (h->stage < STAGE_CLEAN && clock_ms() - h->link_since > LINK_LIMIT_MS)
        no_cluster(h);
    bool refused = pods->forbidden || (pods->broken && pods->code == PD_AUTH);
    if (h->stage < STAGE_CLEAN && refused && !pods->synced)
        headless_finish(h, 3, pods->error);
    switch (h->stage) {
    case STAGE_OPEN: begin(h); break;
    case STAGE_SCENE: scene(h); break;
    case STAGE_TRY:
        if (lab_test_step(h))
            h->stage = STAGE_EDIT;
        break;
    case STAGE_EDIT:
        if (edit(h))
            h->stage = STAGE_RUN;
        break;
    case STAGE_RUN: run_step(h); break;
    case STAGE_WAIT: wait_step(h); break;
    case STAGE_CLEAN: cleaned(h); return;
    }
    if (!h->test && h->stage < STAGE_CLEAN)
        headless_say_changes(&h->say, s, h->step);
}

/* --- the loop's calls ------------------------------------------------------------------ */

static void deliver(void *arg, struct msg *m)
{
    struct headless *h = arg;
    bool fatal = m->kind == MSG_CLUSTER && h->stage == STAGE_OPEN && !m->cluster &&
                 str_eq(json_str(m->body, "state", ""), "down");
    headless_apply(h, m);
    msg_free(m);
    if (!h->test && h->stage < STAGE_CLEAN)
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
    if (h->stage < STAGE_CLEAN && clock_ms() - h->begun_ms > limit)
        headless_finish(h, 1, _("the time is up"));
    else
        advance(h);
    loop_timer(h->loop, POLL_MS, poll, h, "headless poll");
}

static void interrupted(void *arg, int signo)
{
    (void)signo;
    headless_finish(arg, 1, _("interrupted"));
}

/* A fresh folder for the attempt, and the journal when one is wanted. */
enum pd_code headless_fresh(struct headless *h, const char *root, struct pd_err *err)
{
    char *work = path_join(root, h->o->lab);
    enum pd_code code = path_mkdirs(root, 0700, err);
    if (!code)
        code = path_remove_tree(work, err);
    free(work);
    return code;
}

static enum pd_code prepare(struct headless *h, const char *root, struct pd_err *err)
{
    enum pd_code code = headless_fresh(h, root, err);
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
    struct headless h = {.o = o, .code = 1, .test = o->test};
    struct pd_err err;
    char text[1024], *root = path_home(PATH_DATA, o->test ? "test" : "headless");
    if (prepare(&h, root, &err)) {
        fprintf(stderr, "podium: %s\n", pd_describe(&err, text, sizeof text));
        free(root);
        return 1;
    }
    h.loop = loop_new();
    h.s = session_new(labs);
    session_set_work(h.s, root, (uint64_t)clock_wall_ms());
    h.root = root;
    struct effects_options eo = {.kubeconfig = o->kubeconfig, .context = o->context, .ns = o->ns,
                                 .deliver = deliver, .arg = &h};
    h.r = effects_runner_new(h.loop, &eo);
    effects_init(&h.out);
    headless_say_init(&h.say, o->json);
    h.begun_ms = h.link_since = clock_ms();
    loop_signal(h.loop, SIGINT, interrupted, &h);
    loop_signal(h.loop, SIGTERM, interrupted, &h);
    session_start(h.s, o->context, &h.out);
    headless_command(&h, "lab.open", o->lab, NULL);
    loop_timer(h.loop, POLL_MS, poll, &h, "headless poll");
    int code = loop_run(h.loop);
    journal_close(h.journal);
    h.journal = NULL;
    effects_runner_free(h.r);
    effects_release(&h.out);
    session_free(h.s);
    loop_free(h.loop);
    free(root);
    return code;
}
