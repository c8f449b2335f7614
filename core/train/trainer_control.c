/* trainer_control.c - what the control channel's commands do (control.h). */
#include "core/train/trainer_impl.h"

#include <math.h>

#include "core/base/clock.h"
#include "core/base/i18n.h"

enum { WAIT_MS = 500, CORNER = 4 };

static void begin_answer(struct trainer *t, const struct control_line *l, const char *cmd, bool ok)
{
    runlog_begin(&t->line, RUN_ANSWER);
    runlog_add_str(&t->line, "id", l->id);
    runlog_add_str(&t->line, "cmd", cmd);
    runlog_add_bool(&t->line, "ok", ok);
    runlog_add_int(&t->line, "step", t->st.step);
}

static void refuse(struct trainer *t, const struct control_line *l, const char *cmd,
                   const struct pd_err *err)
{
    begin_answer(t, l, cmd, false);
    runlog_add_str(&t->line, "code", pd_id(err->code));
    runlog_add_str(&t->line, "text", err->msg);
    runlog_add_str(&t->line, "hint", err->hint);
    trainer_emit(t);
}

static void accept(struct trainer *t, const struct control_line *l)
{
    begin_answer(t, l, control_name(l->cmd), true);
    trainer_emit(t);
}

static void do_hello(struct trainer *t, const struct control_line *l)
{
    begin_answer(t, l, "hello", true);
    runlog_add_int(&t->line, "control", CONTROL_VERSION);
    runlog_add_str(&t->line, "version", PODIUM_VERSION);
    runlog_add_str(&t->line, "state", t->paused ? "paused" : "running");
    runlog_add_int(&t->line, "steps", t->o->steps);
    runlog_add_num(&t->line, "rate", t->optim.rate);
    trainer_emit(t);
}

static void do_pause(struct trainer *t, const struct control_line *l)
{
    bool was = t->paused;
    t->paused = true;
    t->step_left = 0;
    accept(t, l);
    if (!was)
        trainer_log_state(t, "paused");
}

static void do_resume(struct trainer *t, const struct control_line *l)
{
    bool was = t->paused;
    t->paused = false;
    accept(t, l);
    if (was)
        trainer_log_state(t, "running");
}

/* step N: N steps, then paused. From a running state too. What came before it
 * and is not done yet counts on. */
static void do_step(struct trainer *t, const struct control_line *l)
{
    t->step_left = (t->paused ? t->step_left : 0) + l->n;
    t->paused = true;
    begin_answer(t, l, "step", true);
    runlog_add_int(&t->line, "n", l->n);
    trainer_emit(t);
}

static double norm(const float *x, size_t n)
{
    double s = 0;
    for (size_t i = 0; x && i < n; i++)
        s += (double)x[i] * (double)x[i];
    return sqrt(s);
}

/* "text" lists the tensors with the norms of weight and last gradient. */
static void inspect_norms(struct trainer *t, const struct control_line *l)
{
    struct str s;
    double w = 0;
    str_init(&s, 3000);
    for (int i = 0; i < t->trained->n; i++) {
        const struct tensor *x = &t->trained->t[i];
        double wn = norm(x->w, tensors_count(x));
        w += wn * wn;
        if (s.len < 2700)
            str_printf(&s, "%s%s w %.4g g %.4g", i ? "; " : "", x->name, wn,
                       norm(x->g, tensors_count(x)) * t->grad_scale);
    }
    begin_answer(t, l, "inspect", true);
    runlog_add_str(&t->line, "what", "norms");
    runlog_add_int(&t->line, "tensors", t->trained->n);
    runlog_add_num(&t->line, "weight_norm", sqrt(w));
    runlog_add_num(&t->line, "gnorm", t->gnorm);
    runlog_add_str(&t->line, "text", s.p);
    trainer_emit(t);
    str_release(&s);
}

static const struct tensor *find_tensor(const struct trainer *t, const char *name)
{
    const struct tensor *x = tensors_find(t->trained, name);
    return x ? x : tensors_find(&t->model.tensors, name);
}

/* A corner of CORNER x CORNER values from (row, col): v00 … v33. */
static void inspect_tensor(struct trainer *t, const struct control_line *l)
{
    struct pd_err err;
    const struct tensor *x = find_tensor(t, l->name);
    if (!x) {
        pd_fail(&err, PD_USAGE, _("no tensor \"%s\""), l->name);
        pd_set_hint(&err, _("inspect norms lists the trained ones"));
        refuse(t, l, "inspect", &err);
        return;
    }
    if (l->n >= x->rows || l->col >= x->cols) {
        pd_fail(&err, PD_USAGE, _("%s is [%d, %d]"), x->name, x->rows, x->cols);
        refuse(t, l, "inspect", &err);
        return;
    }
    begin_answer(t, l, "inspect", true);
    runlog_add_str(&t->line, "what", "tensor");
    runlog_add_str(&t->line, "name", x->name);
    runlog_add_int(&t->line, "rows", x->rows);
    runlog_add_int(&t->line, "cols", x->cols);
    runlog_add_int(&t->line, "row", l->n);
    runlog_add_int(&t->line, "col", l->col);
    for (int r = 0; r < CORNER && l->n + r < x->rows; r++)
        for (int c = 0; c < CORNER && l->col + c < x->cols; c++) {
            char key[8] = {'v', (char)('0' + r), (char)('0' + c), 0};
            runlog_add_num(&t->line, key,
                           (double)x->w[(size_t)(l->n + r) * (size_t)x->cols +
                                        (size_t)(l->col + c)]);
        }
    trainer_emit(t);
}

static void do_inspect(struct trainer *t, const struct control_line *l)
{
    if (str_eq(l->what, "norms"))
        inspect_norms(t, l);
    else
        inspect_tensor(t, l);
}

static void do_rate(struct trainer *t, const struct control_line *l)
{
    t->optim.rate = l->x;
    begin_answer(t, l, "rate", true);
    runlog_add_num(&t->line, "rate", t->optim.rate);
    runlog_add_num(&t->line, "lr", optim_rate(&t->optim, t->st.step));
    trainer_emit(t);
}

static void do_save(struct trainer *t, const struct control_line *l)
{
    struct pd_err err;
    if (trainer_save(t, &err) == PD_OK)
        accept(t, l);
    else
        refuse(t, l, "save", &err);
}

static void do_walk(struct trainer *t, const struct control_line *l)
{
    struct pd_err err;
    if (trainer_walk(t, l, &err) == PD_OK)
        accept(t, l);
    else
        refuse(t, l, "walk", &err);
}

static void do_quit(struct trainer *t, const struct control_line *l)
{
    t->quit = true;
    accept(t, l);
}

static void obey(struct trainer *t, const char *text)
{
    static void (*const actions[CONTROL_CMDS])(struct trainer *, const struct control_line *) = {
        [CONTROL_HELLO] = do_hello, [CONTROL_PAUSE] = do_pause, [CONTROL_RESUME] = do_resume,
        [CONTROL_STEP] = do_step, [CONTROL_INSPECT] = do_inspect, [CONTROL_RATE] = do_rate,
        [CONTROL_SAVE] = do_save, [CONTROL_WALK] = do_walk, [CONTROL_QUIT] = do_quit,
    };
    struct control_line l;
    struct pd_err err;
    if (control_parse(text, &l, &err) == PD_OK)
        actions[l.cmd](t, &l);
    else
        refuse(t, &l, "?", &err);
}

void trainer_control(struct trainer *t)
{
    char line[256];
    if (!t->o->control)
        return;
    if (t->paused && t->step_left > 0 && --t->step_left == 0)
        trainer_log_state(t, "paused");
    for (;;) {
        bool wait = t->paused && t->step_left == 0 && !t->quit && !*t->stop;
        if (wait && t->ctl.fd < 0 && t->ctl.count == 0) {
            t->paused = false;                    /* nobody is left to resume it */
            trainer_log_state(t, "running");
            wait = false;
        }
        if (control_next(&t->ctl, wait ? WAIT_MS : 0, line))
            obey(t, line);
        else if (!wait)
            return;
    }
}

void trainer_hold(struct trainer *t)
{
    char line[256];
    int64_t end = clock_us() + t->o->hold_s * 1000000;
    trainer_log_state(t, "holding");
    while (!t->quit && !*t->stop && (t->o->hold_s == 0 || clock_us() < end))
        if (control_next(&t->ctl, WAIT_MS, line))
            obey(t, line);
}
