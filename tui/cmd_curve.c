/* cmd_curve.c - the view of the curve: zoom, cursor, smoothing, axes. */
#include "tui/cmd.h"

#include <math.h>

#include "core/base/i18n.h"
#include "tui/panel.h"

/* Weights that the smoothing keys walk. */
static const double weights[] = {0, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.98, 0.99};

static void smooth(struct app *a, int by)
{
    int at = 0;
    for (int i = 0; i < (int)ARRAY_LEN(weights); i++)
        if (fabs(weights[i] - a->curve.smooth) < 1e-9)
            at = i;
    at = MIN(MAX(at + by, 0), (int)ARRAY_LEN(weights) - 1);
    a->curve.smooth = weights[at];
}

void cmd_smooth_up(struct app *a, const char *arg UNUSED, struct effects *out UNUSED)
{
    smooth(a, 1);
}

void cmd_smooth_down(struct app *a, const char *arg UNUSED, struct effects *out UNUSED)
{
    smooth(a, -1);
}

/* Linear, log y, log x, both. */
void cmd_log_y(struct app *a, const char *arg UNUSED, struct effects *out UNUSED)
{
    int now = (int)a->curve.log_y + 2 * (int)a->curve.log_x;
    now = (now + 1) % 4;
    a->curve.log_y = now & 1;
    a->curve.log_x = now & 2;
}

void cmd_x_axis(struct app *a, const char *arg, struct effects *out)
{
    static const char *const names[X_COUNT] = {"step", "tokens", "epoch", "time"};
    enum curve_x x = (enum curve_x)((a->curve.x + 1) % X_COUNT);
    for (int i = 0; arg && *arg && i < X_COUNT; i++)
        if (str_eq(names[i], arg))
            x = (enum curve_x)i;
    a->curve.x = x;
    cmd_fit(a, NULL, out);
}

void cmd_clip(struct app *a, const char *arg UNUSED, struct effects *out UNUSED)
{
    a->curve.clip = !a->curve.clip;
}

void cmd_band(struct app *a, const char *arg UNUSED, struct effects *out UNUSED)
{
    a->curve.no_band = !a->curve.no_band;
}

void cmd_dots(struct app *a, const char *arg UNUSED, struct effects *out UNUSED)
{
    a->curve.dots = (enum curve_dots)((a->curve.dots + 1) % DOTS_COUNT);
    if (a->glyphs == GLYPH_ASCII)
        a->curve.dots = DOTS_ASCII;
}

void cmd_fit(struct app *a, const char *arg UNUSED, struct effects *out UNUSED)
{
    a->curve.x_lo = a->curve.x_hi = NAN;
}

void cmd_live(struct app *a, const char *arg, struct effects *out)
{
    a->curve.cursor = NAN;
    cmd_fit(a, arg, out);
}

/* The axis that is on the screen, and the last point of the run on it. */
static void axis_now(const struct app *a, struct axis *x, double *last)
{
    struct curve_ask ask;
    double lo, hi;
    panel_curve_ask(a, &ask);
    curve_span(&ask, &lo, &hi);
    axis_make(x, lo, hi, ask.log_x, 8);
    size_t n = ask.raw ? series_count(ask.raw) : 0;
    *last = n ? series_x(ask.raw, n - 1) : hi;
}

/* The axis of the whole run. */
static void axis_whole(const struct app *a, struct axis *x)
{
    struct curve_ask ask;
    double lo, hi;
    panel_curve_ask(a, &ask);
    ask.x_lo = ask.x_hi = NAN;
    curve_span(&ask, &lo, &hi);
    axis_make(x, lo, hi, ask.log_x, 8);
}

static double cursor_x(const struct app *a)
{
    return isnan(a->curve.cursor) ? NAN
                                  : curve_line_x(&a->s->run, a->curve.x, a->curve.cursor);
}

/* The view from share `from` to share `to` of the axis on the screen, kept
 * inside the whole run; all of it: live again. */
static void view(struct app *a, const struct axis *x, double from, double to)
{
    struct axis all;
    axis_whole(a, &all);
    double lo = axis_share(&all, axis_value(x, from)), hi = axis_share(&all, axis_value(x, to));
    double width = hi - lo;
    if (width >= 1 - 1e-9) {
        a->curve.x_lo = a->curve.x_hi = NAN;
        return;
    }
    lo = MIN(MAX(lo, 0), 1 - width);
    a->curve.x_lo = axis_value(&all, lo);
    a->curve.x_hi = axis_value(&all, lo + width);
}

/* How far it may still be zoomed in: to ten steps, or a ten thousandth of the
 * run. */
static double least_factor(const struct app *a, const struct axis *x)
{
    struct axis all;
    axis_whole(a, &all);
    double least = a->curve.x == X_STEP ? 10 : (all.hi - all.lo) * 1e-4;
    return least / (x->hi - x->lo);
}

/* Keep what the person looks at where it is: the cursor, else the live end. */
static void zoom(struct app *a, double factor)
{
    struct axis x;
    double last, middle = cursor_x(a);
    axis_now(a, &x, &last);
    if (factor < 1)
        factor = MIN(MAX(factor, least_factor(a, &x)), 1);
    double keep = isnan(middle) ? MIN(axis_share(&x, last), 1) - 0.25 : axis_share(&x, middle);
    keep = MIN(MAX(keep, 0), 1);
    view(a, &x, keep - keep * factor, keep + (1 - keep) * factor);
}

void cmd_zoom_in(struct app *a, const char *arg UNUSED, struct effects *out UNUSED)
{
    zoom(a, 0.5);
}

void cmd_zoom_out(struct app *a, const char *arg UNUSED, struct effects *out UNUSED)
{
    zoom(a, 2);
}

/* The cursor goes by one dot column, at least one point; the view follows. */
static void move_cursor(struct app *a, int by)
{
    const struct series *s = a->s->run.loss;
    struct axis x;
    double last;
    axis_now(a, &x, &last);
    size_t n = series_count(s), at = MIN(series_lower(s, a->curve.cursor), n - 1);
    double share = axis_share(&x, cursor_x(a)), target = share + by / 160.0;
    while (by > 0 ? at + 1 < n : at > 0) {
        at = by > 0 ? at + 1 : at - 1;
        double now = axis_share(&x, curve_line_x(&a->s->run, a->curve.x, series_x(s, at)));
        if (isnan(now) || (by > 0 ? now >= target - 1e-9 : now <= target + 1e-9))
            break;
    }
    a->curve.cursor = series_x(s, at);
    share = axis_share(&x, cursor_x(a));
    if (share < 0 || share > 1)
        view(a, &x, share < 0 ? share : share - 1, share < 0 ? share + 1 : share);
}

static void move(struct app *a, int by)
{
    struct axis x;
    double last;
    if (!isnan(a->curve.cursor) && cmd_has_run(a)) {
        move_cursor(a, by);
    } else if (!isnan(a->curve.x_lo)) {
        axis_now(a, &x, &last);
        view(a, &x, 0.25 * by, 1 + 0.25 * by);
    }
}

void cmd_pan_left(struct app *a, const char *arg UNUSED, struct effects *out UNUSED)
{
    move(a, -1);
}

void cmd_pan_right(struct app *a, const char *arg UNUSED, struct effects *out UNUSED)
{
    move(a, 1);
}

/* The newest step in the view. */
static double step_in_view(const struct app *a)
{
    const struct series *s = a->s->run.loss;
    struct axis x;
    double last;
    axis_now(a, &x, &last);
    for (size_t i = series_count(s); i > 0; i--)
        if (curve_line_x(&a->s->run, a->curve.x, series_x(s, i - 1)) <= x.hi)
            return series_x(s, i - 1);
    return series_x(s, 0);
}

void cmd_inspect_step(struct app *a, const char *arg UNUSED, struct effects *out UNUSED)
{
    a->curve.cursor = isnan(a->curve.cursor) ? step_in_view(a) : NAN;
}

/* --- to a step --------------------------------------------------------------- */
/* The recorded step nearest to `want`. */
static double nearest(const struct series *s, double want)
{
    size_t n = series_count(s), i = MIN(series_lower(s, want), n - 1);
    if (i > 0 && want - series_x(s, i - 1) < series_x(s, i) - want)
        i--;
    return series_x(s, i);
}

void cmd_goto(struct app *a, const char *arg, struct effects *out)
{
    double want, x, lo, hi;
    if (!arg || !*arg) {
        cmd_ask(a, _("go to step"), "curve.goto", "");
        return;
    }
    if (!str_to_f64(arg, &want) || !isfinite(want) || !cmd_has_run(a)) {
        app_note(a, true, _("'%s' is no step of this run"), arg);
        return;
    }
    a->curve.cursor = nearest(a->s->run.loss, want);
    if (a->curve.cursor != want)
        app_note(a, false, _("step %.0f was not recorded; the nearest is %.0f"), want,
                 a->curve.cursor);
    x = cursor_x(a);
    lo = a->curve.x_lo, hi = a->curve.x_hi;
    if (!isnan(lo) && (x < lo || x > hi))
        cmd_fit(a, NULL, out);
    a->tab = PANEL_CURVE;
    app_focus(a, PANEL_CURVE);
}

bool cmd_has_cursor(const struct app *a)
{
    return !isnan(a->curve.cursor) && cmd_has_run(a);
}

/* From the point under the cursor to what the log says about it. */
void cmd_step_lines(struct app *a, const char *arg UNUSED, struct effects *out)
{
    char step[32];
    cmd_log_goto(a, str_fmt(step, sizeof step, "%.0f", a->curve.cursor), out);
}
