/* headless_say.c - the lines of a headless run. */
#include "labs/headless_say.h"

#include <math.h>

#include "core/base/clock.h"
#include "core/base/i18n.h"
#include "core/base/log.h"
#include "labs/session_priv.h"

void headless_say_init(struct headless_say *y, bool json)
{
    memset(y, 0, sizeof *y);
    y->json = json;
    y->step = -1;
    y->run_step = -1;
    y->val = NAN;
}

/* Takes the record; text is the readable form. */
static void line(struct headless_say *y, struct json *record, const char *text)
{
    struct str s, masked;
    str_init(&s, 1 << 20);
    str_init(&masked, 1 << 20);
    if (y->json)
        json_print(record, 0, &s);
    else
        str_add(&s, text);
    log_redact(s.p, s.len, &masked);
    printf("%s\n", masked.p);
    fflush(stdout);
    str_release(&s);
    str_release(&masked);
    json_free(record);
}

static struct json *event(const char *name, const struct session *s, int step)
{
    struct json *r = json_new_object();
    json_put_str(r, "event", name);
    if (s->lab && step >= 0 && step < s->lab->steps_n)
        json_put_str(r, "step", s->lab->steps[step].id);
    return r;
}

void headless_say_step(struct headless_say *y, const struct session *s)
{
    char text[400];
    const struct lab_step *step = session_step(s);
    y->begun = true;
    struct json *r = event("step", s, s->step);
    json_put_num(r, "n", s->step + 1);
    json_put_num(r, "of", s->lab->steps_n);
    json_put_str(r, "title", ltext_get(&step->title));
    str_fmt(text, sizeof text, "[%d/%d] %s", s->step + 1, s->lab->steps_n, ltext_get(&step->title));
    line(y, r, text);
}

void headless_say_edit(struct headless_say *y, const struct session *s, const char *file,
                       const char *find, const char *put)
{
    char text[400];
    struct json *r = event("edit", s, s->step);
    json_put_str(r, "file", file);
    json_put_str(r, "find", find);
    json_put_str(r, "put", put);
    str_fmt(text, sizeof text, "  %s: %s -> %s", file, find, put);
    line(y, r, text);
}

void headless_say_answer(struct headless_say *y, const struct session *s, int quiz)
{
    const struct evidence *ev = &s->progress[s->step].quiz[quiz];
    char text[1400];
    struct json *r = event("answer", s, s->step);
    json_put_str(r, "quiz", s->lab->steps[s->step].quiz[quiz].id);
    json_put_str(r, "answer", ev->actual);
    json_put_str(r, "result", check_result_name(ev->result));
    json_put_str(r, "because", ev->because);
    str_fmt(text, sizeof text, "  %-8s %s %s%s%s", _(check_result_name(ev->result)),
            ltext_get(&s->lab->steps[s->step].quiz[quiz].ask), ev->actual,
            *ev->because ? ": " : "", ev->because);
    line(y, r, text);
}

static void say_check(struct headless_say *y, const struct session *s, int step, int i)
{
    const struct evidence *ev = &s->progress[step].checks[i];
    const char *title = ltext_get(&s->lab->steps[step].checks[i].title);
    char text[1400];
    struct json *r = event("check", s, step);
    json_put_num(r, "check", i);
    json_put_str(r, "title", title);
    json_put_str(r, "result", check_result_name(ev->result));
    json_put_str(r, "object", ev->object);
    json_put_str(r, "path", ev->path);
    json_put_str(r, "expected", ev->expected);
    json_put_str(r, "actual", ev->actual);
    json_put_str(r, "newest_event", ev->event);
    json_put_str(r, "because", ev->because);
    if (ev->result == CHECK_PASS)
        str_fmt(text, sizeof text, "  %-8s %s", _(check_result_name(ev->result)), title);
    else if (*ev->expected)
        str_fmt(text, sizeof text, _("  %-8s %s: %s %s: %s expected, %s found. %s"),
                _(check_result_name(ev->result)), title, ev->object, ev->path, ev->expected,
                *ev->actual ? ev->actual : "-", ev->because);
    else
        str_fmt(text, sizeof text, "  %-8s %s: %s", _(check_result_name(ev->result)), title,
                ev->because);
    line(y, r, text);
}

static void say_checks(struct headless_say *y, const struct session *s, int step)
{
    int n = MIN(s->lab->steps[step].checks_n, (int)ARRAY_LEN(y->seen));
    if (y->step != step)
        memset(y->seen, 0xff, sizeof y->seen);
    y->step = step;
    for (int i = 0; i < n; i++) {
        const struct evidence *now = &s->progress[step].checks[i];
        struct evidence *was = &y->seen[i];
        bool same = was->result == now->result &&
                    (now->result == CHECK_NOT_YET || now->result == CHECK_UNKNOWN ||
                     str_eq(was->actual, now->actual));
        *was = *now;
        if (!same)
            say_check(y, s, step, i);
    }
}

static void say_run(struct headless_say *y, const struct session *s)
{
    const struct run *run = &s->run;
    size_t n = series_count(run->loss), m = series_count(run->val);
    double val = m ? series_y(run->val, m - 1) : NAN;
    if (!str_eq(y->run_pod, run->pod)) {
        str_copy(y->run_pod, sizeof y->run_pod, run->pod);
        y->run_step = -1;
    }
    if (!n || (run->step == y->run_step && (val == y->val || isnan(val))))
        return;
    char text[200];
    struct json *r = event("train", s, s->step);
    json_put_num(r, "at", (double)run->step);
    json_put_num(r, "loss", series_y(run->loss, n - 1));
    if (isfinite(val))
        json_put_num(r, "val_loss", val);
    str_fmt(text, sizeof text, _("  step %" PRId64 "  loss %.4f  val %.4f"), run->step,
            series_y(run->loss, n - 1), val);
    y->run_step = run->step;
    y->val = val;
    line(y, r, text);
}

static void say_op(struct headless_say *y, const struct session *s)
{
    const struct op *op = &s->op;
    bool fresh = !str_eq(y->op, op->what);
    if (!op->effect || (!fresh && clock_ms() - y->op_ms < 1000))
        return;
    char text[700];
    struct json *r = event("op", s, s->step);
    json_put_str(r, "what", op->what);
    json_put_num(r, "done", op->done);
    json_put_num(r, "total", op->total);
    json_put_str(r, "text", op->text);
    str_fmt(text, sizeof text, "  %s %s", op->what, op->text);
    str_copy(y->op, sizeof y->op, op->what);
    y->op_ms = clock_ms();
    line(y, r, text);
}

void headless_say_changes(struct headless_say *y, const struct session *s, int step)
{
    if (!s->lab || !session_priv(s)->progress)
        return;
    say_op(y, s);
    say_run(y, s);
    if (s->step == step && y->begun)
        say_checks(y, s, step);
    if (str_eq(y->message, s->message) || !*s->message)
        return;
    str_copy(y->message, sizeof y->message, s->message);
    struct json *r = event("message", s, step);
    json_put_str(r, "text", s->message);
    if (s->message_code)
        json_put_str(r, "code", pd_id(s->message_code));
    line(y, r, s->message);
}

static void put_counts(struct json *r, const struct session *s, int *passed, int *simulated)
{
    *passed = *simulated = 0;
    for (int i = 0; s->lab && s->progress && i < s->lab->steps_n; i++) {
        *passed += s->progress[i].state == STEP_PASSED;
        *simulated += s->progress[i].simulated;
    }
    if (*passed)
        json_put_num(r, "skipped", *passed);
    if (*simulated)
        json_put_num(r, "simulated", *simulated);
}

static void say_rest(struct str *say, const struct session *s, int passed, int simulated)
{
    if (passed)
        str_printf(say, _("\n  %d steps were skipped"), passed);
    if (simulated)
        str_printf(say, _("\n  %d steps were simulated"), simulated);
    if (*s->adapter)
        str_printf(say, _("\n  the adapter: %s"), s->adapter);
    if (*s->run_csv)
        str_printf(say, _("\n  the run: %s"), s->run_csv);
}

/* Where it stopped: the evidence as it is now. */
static void say_held(struct headless_say *y, const struct session *s, int step)
{
    for (int i = 0; s->lab && s->progress && i < s->lab->steps[step].checks_n; i++)
        if (y->begun && s->progress[step].checks[i].result != CHECK_PASS)
            say_check(y, s, step, i);
}

void headless_say_end(struct headless_say *y, const struct session *s, int step, int code,
                      const char *why, int64_t ms)
{
    static const char *const results[] = {N_("done"), N_("failed"), N_("failed"), N_("unknown")};
    size_t m = s->run.val ? series_count(s->run.val) : 0;
    const char *id = s->lab ? s->lab->id : "", *because = why ? why : "";
    int passed, simulated;
    struct str say;
    if (code)
        say_held(y, s, step);
    struct json *r = json_new_object();
    json_put_str(r, "lab", id);
    json_put_str(r, "result", results[code]);
    if (s->lab && step < s->lab->steps_n)
        json_put_str(r, "step", s->lab->steps[step].id);
    json_put_num(r, "seconds", (double)(ms / 100) / 10);
    json_put_str(r, "why", *because ? because : NULL);
    if (m) {
        json_put_num(r, "first_val", series_y(s->run.val, 0));
        json_put_num(r, "last_val", series_y(s->run.val, m - 1));
    }
    put_counts(r, s, &passed, &simulated);
    json_put_str(r, "adapter", s->adapter);
    json_put_str(r, "run", s->run_csv);
    str_init(&say, 1 << 14);
    str_printf(&say, "%s: %s (%.1f s)%s%s", id, _(results[code]), (double)ms / 1000,
               *because ? ": " : "", because);
    say_rest(&say, s, passed, simulated);
    line(y, r, say.p);
    str_release(&say);
}
