/* lab_test.c - the trials of `podium lab test` (lab_test.h). Time is real: a
 * cluster moves by its own clock, and a scene that passes a check for a moment
 * only is just what the settle time is to find. */
#include "labs/lab_test.h"

#include <sys/stat.h>

#include "core/base/clock.h"
#include "core/base/i18n.h"
#include "core/base/path.h"
#include "labs/check.h"
#include "labs/errjson.h"
#include "labs/headless_priv.h"
#include "labs/quiz.h"
#include "labs/vars.h"

enum { PHASE_SETTLE, PHASE_GONE, PHASE_WRONG, PHASE_WRONG_WAIT, PHASE_OVER };
enum { WRONG_HOLD_MS = 1500, WRONG_LIMIT_MS = 8000, NEXT_SETTLE_MS = 1000, AGAIN_MS = 3000 };

/* --- findings ------------------------------------------------------------------ */

static void finding(struct lab_test *t, const char *path, struct lplace at, const char *rule,
                    const char *step, const char *text)
{
    t->findings++;
    if (!t->json) {
        printf("%s:%d:%d: %s: %s%s%s\n", path, at.line, at.col, rule, step, *step ? ": " : "",
               text);
        fflush(stdout);
        return;
    }
    struct json *j = json_new_object();
    json_put_str(j, "file", path);
    json_put_num(j, "line", at.line);
    json_put_num(j, "column", at.col);
    json_put_str(j, "rule", rule);
    json_put_str(j, "step", step);
    json_put_str(j, "text", text);
    char *line = json_text(j, 0);
    printf("%s\n", line);
    fflush(stdout);
    free(line);
    json_free(j);
}

static void found(struct headless *h, struct lplace at, const char *rule, const char *fmt, ...)
    PRINTF_LIKE(4, 5);
static void found(struct headless *h, struct lplace at, const char *rule, const char *fmt, ...)
{
    char text[1400];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    const struct lab *lab = h->s->lab;
    finding(h->test, lab->path, at, rule, h->step < lab->steps_n ? lab->steps[h->step].id : "",
            text);
}

/* --- (a) nothing passes by itself -------------------------------------------------- */

/* Every check of every step, once the first scene is made; each is told once. */
static bool sample_all(struct headless *h, const char *rule)
{
    const struct session *s = h->s;
    bool clean = true;
    for (int i = 0; i < s->lab->steps_n; i++)
        for (int k = 0; k < s->lab->steps[i].checks_n; k++) {
            const struct lab_check *c = &s->lab->steps[i].checks[k];
            struct evidence ev;
            session_check_peek(s, i, k, &ev);
            if (ev.result != CHECK_PASS)
                continue;
            clean = false;
            found(h, c->at, rule, _("\"%s\" passes though nothing was done yet"),
                  ltext_get(&c->title));
        }
    return clean;
}

/* A later step must not be done by what solved the ones before; one without
 * work of its own waits for the run, and may. */
static bool has_work(const struct lab_step *st)
{
    return st->actions_n || st->solves_n || st->quiz_n;
}

static bool settle(struct headless *h)
{
    struct lab_test *t = h->test;
    const struct lab_step *st = session_step(h->s);
    bool first = h->step == 0, scene = first || st->setup_n || st->faults_n;
    int64_t wait = t->round ? MIN(t->settle_ms, AGAIN_MS) : t->settle_ms;
    bool done = h->s->progress[h->step].state == STEP_DONE;
    bool over = clock_ms() - t->since_ms >= (scene ? wait : MIN(wait, NEXT_SETTLE_MS));
    if (first && !t->told && !sample_all(h, t->round ? "again" : "pre-solved"))
        t->told = 1;
    if (!first && done && has_work(st) && !t->told) {
        t->told = 1;
        found(h, st->at, "pre-solved", "%s", _("the step is done before it was worked on"));
    }
    return over;
}

/* --- (d) no link: UNKNOWN, and nothing else ------------------------------------------ */

static void link_to(struct headless *h, const char *state)
{
    struct json *body = json_new_object();
    struct pd_err err;
    json_put_str(body, "state", state);
    if (str_eq(state, "down")) {
        pd_fail(&err, PD_NET, "connection refused");
        json_set(body, "error", errjson_make(&err));
    }
    struct msg *m = msg_new(MSG_CLUSTER, body);
    m->cluster = h->s->cluster.id;
    m->epoch = h->s->cluster.epoch;
    headless_apply(h, m);
    msg_free(m);
}

static void gone(struct headless *h)
{
    const struct lab_step *st = session_step(h->s);
    enum step_state was = h->s->progress[h->step].state;
    if (h->s->cluster.link != LINK_UP)
        return;                   /* it is down by itself: tried another time */
    link_to(h, "down");
    for (int k = 0; k < st->checks_n; k++) {
        struct evidence peek, shown = h->s->progress[h->step].checks[k];
        session_check_peek(h->s, h->step, k, &peek);
        if (shown.result != CHECK_UNKNOWN || peek.result != CHECK_UNKNOWN)
            found(h, st->checks[k].at, "gone", _("\"%s\" is %s with the cluster gone"),
                  ltext_get(&st->checks[k].title),
                  _(check_result_name(shown.result != CHECK_UNKNOWN ? shown.result
                                                                    : peek.result)));
    }
    if (was != h->s->progress[h->step].state)
        found(h, st->at, "gone", "%s", _("the step changes its state with the cluster gone"));
    link_to(h, "up");
}

/* --- (c) what is wrong stays so --------------------------------------------------------- */

static const struct lab_wrong *wrong_now(const struct headless *h)
{
    return &session_step(h->s)->wrong[h->test->wrong];
}

static void begin_wrong(struct headless *h)
{
    struct lab_test *t = h->test;
    const struct lab_wrong *w = wrong_now(h);
    t->since_ms = clock_ms();
    if (*w->quiz) {
        headless_command(h, "quiz.answer", w->quiz, w->answer);
        return;
    }
    struct str put;
    char *text = headless_solved(h, w->file), *at;
    t->original = xstrdup(session_file(h->s, w->file, NULL));
    str_init(&put, 1 << 16);
    vars_fill(h->s->vars, w->find, &put);
    size_t gap = put.len;
    at = text ? strstr(text, put.p) : NULL;
    str_clear(&put);
    vars_fill(h->s->vars, w->put, &put);
    if (at) {
        char *wrong = xasprintf("%.*s%s%s", (int)(at - text), text, put.p, at + gap);
        headless_command(h, "file.set", w->file, wrong);
        free(wrong);
    } else {
        found(h, w->at, "wrong", _("\"%s\" is not in %s after the solve"), w->find, w->file);
    }
    str_release(&put);
    free(text);
    /* what is only looked at in the cluster must get there to be judged */
    if (session_step(h->s)->actions_n)
        headless_command(h, "step.run", NULL, NULL);
}

/* So long a wrong one must stay wrong: longer than any check holds back. */
static int64_t hold_ms(const struct headless *h)
{
    const struct lab_step *st = session_step(h->s);
    int64_t ms = MIN(WRONG_HOLD_MS, h->test->settle_ms);
    for (int k = 0; k < st->checks_n; k++)
        if (st->checks[k].stable_ms)
            ms = MAX(ms, st->checks[k].stable_ms + 1000);
    return ms;
}

static bool all_known(const struct headless *h)
{
    const struct lab_step *st = session_step(h->s);
    for (int k = 0; k < st->checks_n; k++)
        if (h->s->progress[h->step].checks[k].result == CHECK_UNKNOWN)
            return false;
    return true;
}

static bool passes(const struct headless *h)
{
    const struct lab_step *st = session_step(h->s);
    bool all = st->checks_n > 0;
    for (int k = 0; k < st->checks_n; k++)
        all &= h->s->progress[h->step].checks[k].result == CHECK_PASS;
    return all || h->s->progress[h->step].state == STEP_DONE;
}

static void put_back(struct headless *h)
{
    struct lab_test *t = h->test;
    if (t->original && !*wrong_now(h)->quiz)
        headless_command(h, "file.set", wrong_now(h)->file, t->original);
    free(t->original);
    t->original = NULL;
}

/* How an answer was judged; a file has no verdict of its own. */
static enum check_result verdict(const struct headless *h, const struct lab_wrong *w)
{
    int i = 0;
    lab_quiz_by_id(session_step(h->s), w->quiz, &i);
    return h->s->progress[h->step].quiz[i].result;
}

/* An answer is judged at once, unless what it is compared with can't be seen. */
static bool judge_answer(struct headless *h, const struct lab_wrong *w)
{
    enum check_result r = verdict(h, w);
    if (r == CHECK_UNKNOWN && clock_ms() - h->test->since_ms < WRONG_LIMIT_MS) {
        headless_command(h, "quiz.answer", w->quiz, w->answer);
        return false;
    }
    if (r == CHECK_PASS)
        found(h, w->at, "wrong", _("\"%s\" passes"), w->answer);
    else if (r == CHECK_UNKNOWN)
        found(h, w->at, "wrong", _("\"%s\" can't be judged"), w->answer);
    return true;
}

static bool judge_edit(struct headless *h, const struct lab_wrong *w)
{
    struct lab_test *t = h->test;
    if (!passes(h) && session_priv(h->s)->act.state == ACTION_RUNNING) {
        t->since_ms = clock_ms();
        return false;
    }
    bool known = all_known(h);
    if (!passes(h) && clock_ms() - t->since_ms < (known ? hold_ms(h) : WRONG_LIMIT_MS))
        return false;
    if (passes(h))
        found(h, w->at, "wrong", _("\"%s\" passes"), w->put);
    else if (!known)
        found(h, w->at, "wrong", _("\"%s\" can't be judged"), w->put);
    put_back(h);
    return true;
}

/* True when this one is over. */
static bool judge_wrong(struct headless *h)
{
    const struct lab_wrong *w = wrong_now(h);
    return *w->quiz ? judge_answer(h, w) : judge_edit(h, w);
}

/* --- one step ----------------------------------------------------------------------------- */

bool lab_test_step(struct headless *h)
{
    struct lab_test *t = h->test;
    if (t->step != h->step || t->phase == PHASE_OVER) {
        t->step = h->step;
        t->phase = PHASE_SETTLE;
        t->since_ms = clock_ms();
        t->told = 0;
        t->wrong = 0;
    }
    if (t->phase == PHASE_SETTLE && settle(h))
        t->phase = PHASE_GONE;
    else if (t->phase == PHASE_SETTLE)
        return false;
    if (t->phase == PHASE_GONE && t->round) {
        headless_finish(h, 0, NULL);      /* the second time only how it begins */
        return false;
    }
    if (t->phase == PHASE_GONE) {
        gone(h);
        t->phase = PHASE_WRONG;
    }
    if (t->phase == PHASE_WRONG_WAIT && judge_wrong(h)) {
        t->wrong++;
        t->phase = PHASE_WRONG;
    }
    if (t->phase == PHASE_WRONG && t->wrong < session_step(h->s)->wrong_n &&
        h->s->progress[h->step].state != STEP_DONE) {
        begin_wrong(h);
        t->phase = PHASE_WRONG_WAIT;
    }
    if (t->phase == PHASE_WRONG)
        t->phase = PHASE_OVER;
    return t->phase == PHASE_OVER;
}

void lab_test_done(struct headless *h)
{
    h->test->steps++;
    h->test->checks += session_step(h->s)->checks_n;
    gone(h);
}

/* --- the end -------------------------------------------------------------------------------- */

static struct lplace place(const struct headless *h)
{
    const struct lab_step *st = session_step(h->s);
    return st ? st->at : (struct lplace){1, 1};
}

/* The check that holds a failed step up, in words. */
static void tell_held(struct headless *h, const char *why)
{
    const struct lab_step *st = session_step(h->s);
    bool told = false;
    for (int k = 0; st && h->s->progress && k < st->checks_n; k++) {
        const struct evidence *ev = &h->s->progress[h->step].checks[k];
        if (ev->result == CHECK_PASS)
            continue;
        told = true;
        found(h, st->checks[k].at, "solve", "%s, %s: %s %s %s; %s",
              _(check_result_name(ev->result)), ltext_get(&st->checks[k].title), ev->object,
              ev->path, ev->actual, ev->because);
    }
    if (!told || (why && *why))
        found(h, place(h), "solve", "%s", why && *why ? why : _("the step is not done"));
}

void lab_test_ended(struct headless *h, int code, const char *why)
{
    struct lab_test *t = h->test;
    free(t->original);
    t->original = NULL;
    if (code == 3) {
        t->blind = true;
        fprintf(stderr, "podium: %s: %s\n", h->o->lab, why && *why ? why : "");
    } else if (code) {
        tell_held(h, why);
    }
}

bool lab_test_cleaned(struct headless *h, bool whole)
{
    struct lab_test *t = h->test;
    struct pd_err err;
    if (!whole) {
        found(h, (struct lplace){1, 1}, "left", "%s", h->s->clean.text);
        for (const struct json *i = json_first(h->s->clean.items); i; i = json_next(i))
            found(h, (struct lplace){1, 1}, "left", "%s", json_string_value(i));
    }
    if (t->round || t->blind || !whole)
        return false;
    t->round = 1;
    t->phase = PHASE_OVER;
    headless_command(h, "lab.close", NULL, NULL);
    if (headless_fresh(h, h->root, &err)) {
        fprintf(stderr, "podium: %s\n", err.msg);
        return false;
    }
    h->stage = STAGE_OPEN;
    h->step = 0;
    headless_command(h, "lab.open", h->o->lab, NULL);
    return true;
}

/* --- one lab --------------------------------------------------------------------------------- */

static void summary(const struct lab_test *t, const struct lab *lab)
{
    double seconds = (double)(clock_ms() - t->begun_ms) / 1000;
    if (!t->json) {
        printf(_("%s: %d of %d steps, %d checks, %d findings (%.1f s)\n"), lab->id, t->steps,
               lab->steps_n, t->checks, t->findings, seconds);
        return;
    }
    struct json *j = json_new_object();
    json_put_str(j, "lab", lab->id);
    json_put_num(j, "steps", t->steps);
    json_put_num(j, "of", lab->steps_n);
    json_put_num(j, "checks", t->checks);
    json_put_num(j, "findings", t->findings);
    json_put_bool(j, "tested", !t->blind);
    json_put_num(j, "seconds", (double)(int64_t)(seconds * 10) / 10);
    char *line = json_text(j, 0);
    printf("%s\n", line);
    free(line);
    json_free(j);
}

int lab_test_run(const char *path, const struct headless_options *options, int64_t settle_ms)
{
    struct stat sb;
    struct pd_err err;
    struct lab_entry entry = {0};
    struct lab_list list = {&entry, 1};
    struct headless_options o = *options;
    struct lab_test t = {.json = o.json, .settle_ms = settle_ms, .begun_ms = clock_ms(),
                         .phase = PHASE_OVER};
    char *file = stat(path, &sb) == 0 && S_ISDIR(sb.st_mode) ? path_join(path, "lab.yaml")
                                                             : xstrdup(path);
    if (lab_read(file, &entry.lab, &err)) {
        finding(&t, err.src[0] ? err.src : file, (struct lplace){err.line, err.col}, "format", "",
                err.msg);
        free(file);
        return 1;
    }
    entry.path = file;
    entry.id = xstrdup(entry.lab->id);
    o.lab = entry.lab->id;
    o.test = &t;
    int code = headless_run(&list, &o);
    summary(&t, entry.lab);
    lab_free(entry.lab);
    free(entry.id);
    free(file);
    return t.findings ? 1 : t.blind || code == 3 ? 3 : code;
}
