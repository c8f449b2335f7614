/* check_adapter.c - the last word about a fine-tuning: the kept adapter is
 * evaluated here, by the training core, on records that it never saw.
 *
 * Three things must hold. On is better than off by `gain` (a fraction): an
 * adapter that changes nothing, or a learning rate of 0, does not. On agrees
 * with the last validation loss that the run logged, within `tolerance`: lines
 * that were only printed do not. And the run must have logged one. The
 * validation split is made as the run made it. */
#include <math.h>

#include "core/base/i18n.h"
#include "labs/check_kinds.h"
#include "labs/session_priv.h"

static const struct lab_key keys[] = {
    {"dir", LK_PATH, true},   {"eval", LK_STRS, true},  {"gain", LK_NUM, false},
    {"tolerance", LK_NUM, false}, {NULL, LK_ANY, false}};

/* args.eval are options of `podium-train eval` (the model, the data); a lab
 * can't name another program, nor another adapter. */
static struct json *ask(const struct check_ctx *c)
{
    const struct json *copy = session_fact(c->s, "copy");
    if (!copy || !str_eq(json_str(copy, "to", ""), json_str(c->args, "dir", "")))
        return NULL;
    struct json *args = json_new_object();
    char *dir = session_work_path(c->s, json_str(c->args, "dir", ""));
    struct json *argv = json_new_array();
    json_append(argv, json_new_string("podium-train"));
    json_append(argv, json_new_string("eval"));
    for (const struct json *w = json_first(json_get(c->args, "eval")); w; w = json_next(w))
        json_append(argv, json_copy(w));
    json_append(argv, json_new_string("--adapter"));
    json_append(argv, json_new_string(dir));
    json_set(args, "argv", argv);
    free(dir);
    return args;
}

/* The last validation loss that the followed log holds. */
static double last_val(const struct session *s)
{
    size_t n = s->run.val ? series_count(s->run.val) : 0;
    for (size_t i = n; i-- > 0;)
        if (isfinite(series_y(s->run.val, i)))
            return series_y(s->run.val, i);
    return NAN;
}

static void judge(const struct check_ctx *c, const struct json *r, struct evidence *ev)
{
    double on = json_num(r, "val_loss", NAN), off = json_num(r, "base_loss", NAN);
    double gain = json_num(c->args, "gain", 0.05), tol = json_num(c->args, "tolerance", 0.02);
    double logged = last_val(c->s);
    if (!isfinite(on) || !isfinite(off)) {
        check_set(ev, CHECK_UNKNOWN, "%s", _("the evaluation gave no figures"));
        return;
    }
    str_copy(ev->path, sizeof ev->path, "val_loss");
    str_fmt(ev->expected, sizeof ev->expected, _("at most %.4f (%.0f %% below the base's %.4f)"),
            off * (1 - gain), gain * 100, off);
    str_fmt(ev->actual, sizeof ev->actual, "%.4f", on);
    if (!(on <= off * (1 - gain))) {
        check_set(ev, CHECK_WRONG, "%s",
                  _("with the adapter on, the held-out loss is no better than without it: "
                    "nothing was learned"));
        return;
    }
    if (!isfinite(logged)) {
        check_set(ev, CHECK_UNKNOWN, "%s", _("the run's log with its validation loss is not here"));
        return;
    }
    str_fmt(ev->expected, sizeof ev->expected, _("%.4f, as the run logged last, within %.0f %%"),
            logged, tol * 100);
    if (!(fabs(on - logged) <= tol * logged)) {
        check_set(ev, CHECK_WRONG, "%s",
                  _("the adapter does not reach the loss that the log claims"));
        return;
    }
    str_fmt(ev->actual, sizeof ev->actual, _("%.4f (the base alone: %.4f)"), on, off);
    check_set(ev, CHECK_PASS, "%s", "");
}

static void eval(const struct check_ctx *c, struct evidence *ev)
{
    const char *dir = json_str(c->args, "dir", "");
    const struct json *copy = session_fact(c->s, "copy");
    check_subject(ev, "%s", dir);
    if (!copy || !str_eq(json_str(copy, "to", ""), dir)) {
        check_set(ev, CHECK_NOT_YET, "%s", _("the adapter has not been copied here yet"));
        return;
    }
    if (!c->answer) {
        check_set(ev, CHECK_UNKNOWN, "%s", c->asking ? _("the adapter is being evaluated …")
                                                     : _("the adapter has not been evaluated yet"));
        return;
    }
    const struct json *last = json_item(json_get(c->answer, "records"), -1);
    const struct json *error = str_eq(json_str(last, "ev", ""), "error") ? last : NULL;
    const char *raw = json_str(last, "text", "");
    if (str_eq(json_str(last, "ev", ""), "done")) {
        judge(c, last, ev);
        return;
    }
    /* records write NaN bare, which no JSON reader takes */
    if (!error && runlog_is_record(raw, strlen(raw)) && strstr(raw, "NaN")) {
        str_copy(ev->actual, sizeof ev->actual, "NaN");
        check_set(ev, CHECK_WRONG, "%s", _("with the adapter on, the loss is no number"));
        return;
    }
    /* a code of 1: it read the adapter and found it wrong; else it could not run */
    bool refused = error && json_int(c->answer, "code", -1) == 1;
    str_copy(ev->path, sizeof ev->path, "podium-train eval");
    str_copy(ev->expected, sizeof ev->expected, _("an adapter in PEFT's form"));
    str_copy(ev->actual, sizeof ev->actual,
             error ? json_str(error, "text", "") : json_str(c->answer, "stderr", ""));
    check_set(ev, refused ? CHECK_WRONG : CHECK_UNKNOWN, "%s",
              refused ? _("this is no adapter of the base model")
                      : _("the evaluation could not be made"));
}

const struct check_kind check_adapter = {"adapter", keys, eval, ask, false, NULL};
