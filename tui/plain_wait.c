/* plain_wait.c - `wait WHAT`: typed lines hold until something has happened, so
 * that a script, or a person who listens, need not ask again and again. */
#include "core/base/i18n.h"
#include "tui/plain_priv.h"

enum { WAIT_DEFAULT_S = 600, WAIT_WRONG_MS = 4000 };

static const char *const words[PLAIN_WAIT_KIND_COUNT] = {"", "checks", "run", "op", "link", "step"};

static const char *what(const struct plain_wait *w)
{
    static const char *const names[PLAIN_WAIT_KIND_COUNT] = {
        "", N_("this step is done"), N_("the training has ended"),
        N_("the operation has ended"), N_("the cluster answers"),
        N_("the training is at that step")};
    return _(names[w->kind]);
}

/* --- has it come? ----------------------------------------------------------------- */
static bool any_wrong(const struct session *s)
{
    const struct lab_step *st = &s->lab->steps[s->step];
    for (int i = 0; i < st->checks_n; i++)
        if (s->progress[s->step].checks[i].result == CHECK_WRONG)
            return true;
    return false;
}

static bool all_pass(const struct session *s)
{
    const struct lab_step *st = &s->lab->steps[s->step];
    bool all = true;
    for (int i = 0; i < st->checks_n; i++)
        all = all && s->progress[s->step].checks[i].result == CHECK_PASS;
    return all;
}

/* An operation that failed, or a check that stays WRONG, is an end too. */
static int look_checks(struct plain *p)
{
    const struct session *s = p->app->s;
    struct plain_wait *w = &p->wait;
    if (!s->lab || !s->progress)
        return -1;
    enum step_state state = s->progress[s->step].state;
    if (state == STEP_DONE || state == STEP_PASSED)
        return 1;
    if (cmd_has_question(p->app) && all_pass(s))
        return -1;
    if (s->progress[s->step].state == STEP_RUNNING || !any_wrong(s)) {
        w->wrong_since = 0;
        return session_act_failed(s) && s->progress[s->step].state != STEP_RUNNING ? -1 : 0;
    }
    if (!w->wrong_since)
        w->wrong_since = p->app->now_ms;
    return p->app->now_ms - w->wrong_since >= WAIT_WRONG_MS ? -1 : 0;
}

static bool run_ended(const struct session *s)
{
    return str_eq(s->run.state, "done") || str_eq(s->run.state, "error");
}

/* What the checks look at is there. */
static bool lists_read(const struct session *s)
{
    for (int i = 0; i < SESSION_WATCHED; i++)
        if (!s->tables[i].synced && !s->tables[i].forbidden)
            return false;
    return true;
}

static int look(struct plain *p)
{
    const struct session *s = p->app->s;
    switch (p->wait.kind) {
    case PLAIN_WAIT_CHECKS: return look_checks(p);
    case PLAIN_WAIT_RUN: return !run_ended(s) ? 0 : str_eq(s->run.state, "done") ? 1 : -1;
    case PLAIN_WAIT_OP: return cmd_has_op(p->app) ? 0 : s->op.failed ? -1 : 1;
    case PLAIN_WAIT_LINK: return s->cluster.link == LINK_UP && lists_read(s);
    case PLAIN_WAIT_STEP: return s->run.step >= p->wait.n ? 1 : run_ended(s) ? -1 : 0;
    default: return 0;
    }
}

static void begin(struct plain *p, enum plain_wait_kind kind, int64_t n, int64_t seconds)
{
    p->wait = (struct plain_wait){.kind = kind, .n = n,
                                  .until_ms = p->app->now_ms + seconds * 1000};
    if (look(p)) {
        plain_wait_look(p);
        return;
    }
    plain_line(&p->out, _("Waiting until %s; at most %d seconds."),
               what(&p->wait), (int)seconds);
}

/* "checks", "run 60", "step 40 60": what, for step its number, seconds. */
void plain_wait_begin(struct plain *p, const char *arg)
{
    struct strv v;
    int64_t number[2] = {-1, -1};
    enum plain_wait_kind kind = PLAIN_WAIT_NONE;
    strv_init(&v);
    strv_split(&v, arg && *arg ? arg : "checks", ' ');
    for (int i = 1; i < PLAIN_WAIT_KIND_COUNT; i++)
        if (str_eq(v.v[0], words[i]))
            kind = (enum plain_wait_kind)i;
    bool step = kind == PLAIN_WAIT_STEP, good = kind != PLAIN_WAIT_NONE && v.n <= (step ? 3 : 2);
    for (size_t i = 1; good && i < v.n; i++)
        good = str_to_i64(v.v[i], &number[i - 1]) && number[i - 1] > 0;
    strv_release(&v);
    int64_t seconds = number[step];
    if (!good || (step && number[0] < 0))
        plain_line(&p->out, "%s",
                   _("wait needs one of: checks, run, op, link, step N; then, if you like, the "
                     "most seconds."));
    else
        begin(p, kind, number[0], seconds > 0 ? seconds : WAIT_DEFAULT_S);
}

void plain_wait_look(struct plain *p)
{
    int came = p->wait.kind == PLAIN_WAIT_NONE ? 0 : look(p);
    if (p->wait.kind == PLAIN_WAIT_NONE)
        return;
    if (!came && p->app->now_ms < p->wait.until_ms)
        return;
    plain_line(&p->out, came > 0   ? _("Done waiting: %s.")
                        : came < 0 ? _("Waiting ended: it can't be that %s.")
                                   : _("Waiting ended: the time is up before %s."),
               what(&p->wait));
    if (came < 0 && p->wait.kind == PLAIN_WAIT_CHECKS && cmd_has_question(p->app))
        plain_line(&p->out, "%s", _("A question of this step is still open. Type answer."));
    p->missed |= came <= 0;
    p->wait.kind = PLAIN_WAIT_NONE;
}

void plain_wait_stop(struct plain *p)
{
    if (p->wait.kind == PLAIN_WAIT_NONE)
        return;
    plain_line(&p->out, "%s", _("Waiting ended."));
    p->missed = true;
    p->wait.kind = PLAIN_WAIT_NONE;
}
