/* plain_say.c - changes in words (plain_say.h). */
#include "tui/plain_say.h"

#include <math.h>

#include "core/base/i18n.h"
#include "labs/vars.h"
#include "tui/answer.h"
#include "tui/cmd.h"
#include "tui/verdict.h"

enum { SAY_POINT_MS = 15000, SAY_TENTHS = 10 };

void plain_say_init(struct plain_say *y)
{
    memset(y, 0, sizeof *y);
    y->link = LINK_OFF;
    y->step = -1;
    y->op_tenth = -1;
    y->point_step = -1;
}

/* --- link, lab, step ------------------------------------------------------------------ */
static void say_link(struct plain_say *y, const struct app *a, struct str *out)
{
    enum link_state now = a->s->cluster.link;
    if (now == y->link)
        return;
    bool lost = y->link == LINK_UP && now == LINK_DOWN;
    y->link = now;
    if (lost)
        plain_line(out, "%s", _("The link to the cluster is lost."));
    if (now == LINK_UP || now == LINK_DOWN)
        plain_link(a, out);
}

/* What the checks of a fresh step show is in the step's text already. */
static void take_check(struct plain_say *y, const struct app *a, int i)
{
    const struct evidence *e = &a->s->progress[a->s->step].checks[i];
    y->result[i] = e->result;
    str_copy(y->actual[i], sizeof y->actual[i], e->actual);
}

/* Notes, solution, clearing up: said anew when they say something else. */
static void say_parts(struct plain_say *y, const struct app *a, bool aloud, struct str *out)
{
    struct str now;
    str_init(&now, 1 << 18);
    plain_step_parts(a, &now);
    uint64_t hash = vars_hash(1, now.p);
    if (hash != y->parts && aloud)
        str_add(out, now.p);
    y->parts = hash;
    str_release(&now);
}

static void take_quiz(struct plain_say *y, const struct app *a, int i)
{
    const struct step_progress *p = &a->s->progress[a->s->step];
    y->quiz[i] = p->quiz[i].result;
    y->tries[i] = p->tries[i];
}

static int quiz_count(const struct app *a)
{
    const struct lab_step *st = &a->s->lab->steps[a->s->step];
    return a->s->progress[a->s->step].quiz ? MIN(st->quiz_n, PLAIN_QUIZ_MOST) : 0;
}

static void say_step(struct plain_say *y, const struct app *a, struct str *out)
{
    bool loaded = plain_loaded(a);
    if (a->s->lab != y->lab || !loaded) {
        if (y->lab && !a->s->lab)
            plain_labs(a, out);
        y->lab = a->s->lab;
        y->step = -1;
        y->loaded = false;
    }
    if (!loaded || y->step == a->s->step)
        return;
    if (!y->loaded)
        plain_line(out, _("Lab: %s"), ltext_get(&a->s->lab->title));
    y->loaded = true;
    y->step = a->s->step;
    y->hints = a->s->progress[a->s->step].hints_shown;
    y->finished = a->s->finished;
    for (int i = 0; i < a->s->lab->steps[a->s->step].checks_n && i < PLAIN_CHECKS_MOST; i++)
        take_check(y, a, i);
    for (int i = 0; i < quiz_count(a); i++)
        take_quiz(y, a, i);
    y->scene = a->s->scene.state;
    plain_read(a, out);
    say_parts(y, a, false, out);
    plain_line(out, "%s", _("Type menu for what you can do, help for every command."));
}

static void say_hints(struct plain_say *y, const struct app *a, struct str *out)
{
    int shown = a->s->progress[a->s->step].hints_shown;
    for (; y->hints < shown; y->hints++)
        plain_hint(a, y->hints, out);
}

/* --- checks ---------------------------------------------------------------------------- */
/* News is what differs from what was said last: a result that comes and goes
 * within a moment is none, one that can't see yet neither. */
static bool check_is_news(const struct plain_say *y, int i, const struct evidence *e)
{
    bool other = e->result != y->result[i];
    bool value = strncmp(e->actual, y->actual[i], sizeof y->actual[i] - 1) != 0;
    switch (e->result) {
    case CHECK_PASS: return other;
    case CHECK_NOT_YET:
    case CHECK_UNKNOWN:
    case CHECK_BLOCKED: return false;
    default: return other || value;
    }
}

/* What the cluster does meanwhile, once, whichever check it is about. */
static void say_event(struct plain_say *y, const struct evidence *e, struct str *out)
{
    if (e->result != CHECK_NOT_YET || !e->event[0] || str_eq(e->event, y->event) || y->quiet)
        return;
    str_copy(y->event, sizeof y->event, e->event);
    plain_line(out, _("Not yet. The newest event: %s"), e->event);
}

static void say_checks(struct plain_say *y, const struct app *a, struct str *out)
{
    const struct lab_step *st = &a->s->lab->steps[a->s->step];
    for (int i = 0; i < st->checks_n; i++)
        say_event(y, &a->s->progress[a->s->step].checks[i], out);
    for (int i = 0; i < st->checks_n && i < PLAIN_CHECKS_MOST; i++)
        if (check_is_news(y, i, &a->s->progress[a->s->step].checks[i])) {
            plain_check(a, i, out);
            take_check(y, a, i);
        }
}

/* --- questions and scene ----------------------------------------------------------------- */
static void say_quiz(struct plain_say *y, const struct app *a, struct str *out)
{
    const struct step_progress *p = &a->s->progress[a->s->step];
    bool answered = false;
    for (int i = 0; i < quiz_count(a); i++) {
        if (p->quiz[i].result == y->quiz[i] && p->tries[i] == y->tries[i])
            continue;
        plain_quiz_result(a, i, out);
        take_quiz(y, a, i);
        answered = true;
    }
    if (!answered)
        return;
    str_copy(y->message, sizeof y->message, a->s->message);   /* says the same */
    plain_questions(a, out);
}

static void say_scene(struct plain_say *y, const struct app *a, struct str *out)
{
    if (a->s->scene.state == y->scene)
        return;
    y->scene = a->s->scene.state;
    plain_need(a, out);
    if (y->scene == SCENE_READY && y->loaded) {
        plain_line(out, "%s", _("The scene is set."));
        plain_questions(a, out);
    }
}

/* The explanation of an object, when it came or became another one. */
static void say_why(struct plain_say *y, const struct app *a, struct str *out)
{
    struct str text;
    if (a->why.child || !a->why.object[0] || (!a->why.answer && !a->why.error[0]))
        return;
    str_init(&text, 1 << 18);
    plain_explained(a, &text);
    if (strncmp(text.p, y->why, sizeof y->why - 1) != 0)
        str_add(out, text.p);
    str_copy(y->why, sizeof y->why, text.p);
    str_release(&text);
}

/* --- operation ------------------------------------------------------------------------- */
static void say_op(struct plain_say *y, const struct app *a, struct str *out)
{
    const struct op *op = &a->s->op;
    if (!op->what[0])
        return;
    if (op->started_ms != y->op_began || !str_eq(op->what, y->op_what)) {
        y->op_began = op->started_ms;
        str_copy(y->op_what, sizeof y->op_what, op->what);
        y->op_ended = false;
        y->op_tenth = 0;
        if (!op->ended)
            plain_line(out, _("%s: started."), op->what);
    }
    int tenth = op->total > 0 ? (int)(SAY_TENTHS * op->done / op->total) : 0;
    bool further = tenth > y->op_tenth && !op->ended && !y->quiet;
    if (further || (op->ended && !y->op_ended))
        plain_op(a, out);
    y->op_tenth = MAX(tenth, y->op_tenth);
    y->op_ended = op->ended;
}

/* --- training -------------------------------------------------------------------------- */
/* The verdict's words without its numbers, so that only another judgement is
 * news. */
static void words_only(const char *s, char *buf, size_t size)
{
    size_t n = 0;
    for (; *s && n + 1 < size; s++)
        if (!strchr("0123456789.-+", *s))
            buf[n++] = *s;
    buf[n] = '\0';
}

static void say_verdict(struct plain_say *y, const struct app *a, struct str *out)
{
    struct str verdict;
    enum role role;
    char words[sizeof y->verdict];
    str_init(&verdict, 2048);
    verdict_of(a, &verdict, &role);
    words_only(verdict.p, words, sizeof words);
    bool judged = a->s->run.val && series_count(a->s->run.val) > 1;
    if (verdict.len && (judged || !str_eq(a->s->run.state, "running")) &&
        !str_eq(words, y->verdict))
        plain_line(out, _("Verdict: %s."), verdict.p);
    str_copy(y->verdict, sizeof y->verdict, words);
    str_release(&verdict);
}

static bool point_is_due(const struct plain_say *y, const struct app *a)
{
    const struct run *r = &a->s->run;
    if (r->step <= y->point_step)
        return false;
    int64_t most = MAX(r->steps_total, SAY_TENTHS);
    return y->point_step < 0 || r->step * SAY_TENTHS / most > y->point_step * SAY_TENTHS / most ||
           a->now_ms - y->point_ms >= SAY_POINT_MS;
}

static void say_run(struct plain_say *y, const struct app *a, struct str *out)
{
    const struct run *r = &a->s->run;
    if (!str_eq(y->run_pod, r->pod)) {
        str_copy(y->run_pod, sizeof y->run_pod, r->pod);
        y->point_step = -1;
        y->run_state[0] = y->verdict[0] = '\0';
        if (r->pod[0])
            plain_line(out, _("The training's log is followed: pod %s."), r->pod);
    }
    if (!cmd_has_run(a))
        return;
    bool state = !str_eq(y->run_state, r->state);
    if (state || (point_is_due(y, a) && !y->quiet)) {
        str_copy(y->run_state, sizeof y->run_state, r->state);
        y->point_ms = a->now_ms;
        y->point_step = r->step;
        plain_point(a, out);
        say_verdict(y, a, out);
        if (state && r->error[0])
            plain_line(out, _("The training failed: %s"), r->error);
    }
}

/* The sentence comes as a note; what it shows comes here. */
static void say_answer(struct plain_say *y, const struct app *a, struct str *out)
{
    struct str text;
    if (a->s->run.answers == y->answers)
        return;
    y->answers = a->s->run.answers;
    str_init(&text, 4096);
    enum answer_kind kind = answer_say(a->s->run.answer_line, &text);
    if (str_eq(text.p, a->note))         /* the console's note says the same */
        str_copy(y->note, sizeof y->note, a->note);
    if (kind == ANSWER_SHOWS && !y->quiet)
        plain_answer(a, out);
    else if (kind != ANSWER_NONE && y->loaded)
        plain_line(out, _("Trainer: %s."), text.p);
    str_release(&text);
}

/* --- messages -------------------------------------------------------------------------- */
static void say_messages(struct plain_say *y, const struct app *a, struct str *out)
{
    const struct session *s = a->s;
    if (!str_eq(y->note, a->note)) {
        str_copy(y->note, sizeof y->note, a->note);
        if (a->note[0])
            plain_line(out, "%s", a->note);
    }
    if (str_eq(y->message, s->message))
        return;
    str_copy(y->message, sizeof y->message, s->message);
    if (!s->message[0] || s->cluster.link == LINK_DOWN)
        return;
    plain_line(out, s->message_code ? _("Error: %s") : "%s", s->message);
    const struct pd_err *e = &s->last_error;
    bool known = s->message_code && e->code == s->message_code;
    const char *hint = known && e->hint[0] ? e->hint : _(pd_hint(s->message_code));
    if (s->message_code && hint[0] && !strstr(s->message, hint))
        plain_line(out, _("Next step: %s"), hint);
}

void plain_say_changes(struct plain_say *y, const struct app *a, struct str *out)
{
    say_link(y, a, out);
    say_step(y, a, out);
    if (y->loaded) {
        say_op(y, a, out);
        say_checks(y, a, out);
        say_hints(y, a, out);
        say_scene(y, a, out);
        say_quiz(y, a, out);
        say_run(y, a, out);
    }
    say_why(y, a, out);
    say_answer(y, a, out);
    say_messages(y, a, out);
    if (y->loaded)
        say_parts(y, a, !y->quiet, out);
    if (y->loaded && a->s->finished && !y->finished)
        plain_done(a, out);
    y->finished = y->loaded && a->s->finished;
}
