/* cmd_curve.c - the view of the curve: zoom, cursor, smoothing, axes. */
#include "tui/cmd.h"

#include <math.h>

#include "core/base/i18n.h"

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

void cmd_log_y(struct app *a, const char *arg UNUSED, struct effects *out UNUSED)
{
    a->curve.log_y = !a->curve.log_y;
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

static void span(const struct app *a, double *lo, double *hi, double *last)
{
    struct curve_ask ask = {.raw = a->s->run.loss, .x_lo = a->curve.x_lo, .x_hi = a->curve.x_hi,
                            .x_total = (double)a->s->run.steps_total};
    size_t n = ask.raw ? series_count(ask.raw) : 0;
    *last = n ? series_x(ask.raw, n - 1) : 1;
    curve_span(&ask, lo, hi);
}

/* Keep what the person looks at in the middle: the cursor, else the live end. */
static void zoom(struct app *a, double factor)
{
    double lo, hi, last;
    span(a, &lo, &hi, &last);
    double most = MAX((double)a->s->run.steps_total, last);
    double width = (hi - lo) * factor;
    double middle = isnan(a->curve.cursor) ? MIN(last, hi) - (hi - lo) * 0.25 : a->curve.cursor;
    if (width >= most) {
        a->curve.x_lo = a->curve.x_hi = NAN;
        return;
    }
    width = MAX(width, 10);
    lo = MIN(MAX(middle - width / 2, 0), most - width);
    a->curve.x_lo = MAX(lo, 0);
    a->curve.x_hi = a->curve.x_lo + width;
}

void cmd_zoom_in(struct app *a, const char *arg UNUSED, struct effects *out UNUSED)
{
    zoom(a, 0.5);
}

void cmd_zoom_out(struct app *a, const char *arg UNUSED, struct effects *out UNUSED)
{
    zoom(a, 2);
}

/* The cursor goes by one dot column, at least one step. */
static void move(struct app *a, int by)
{
    double lo, hi, last;
    span(a, &lo, &hi, &last);
    if (!isnan(a->curve.cursor)) {
        double step = MAX(floor((hi - lo) / 160), 1);
        a->curve.cursor = MIN(MAX(a->curve.cursor + by * step, lo), MIN(hi, last));
    } else if (!isnan(a->curve.x_lo)) {
        double d = (hi - lo) * 0.25 * by;
        double most = MAX((double)a->s->run.steps_total, last);
        d = MIN(MAX(d, -lo), MAX(most - hi, 0));
        a->curve.x_lo = lo + d;
        a->curve.x_hi = hi + d;
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

void cmd_inspect_step(struct app *a, const char *arg UNUSED, struct effects *out UNUSED)
{
    double lo, hi, last;
    span(a, &lo, &hi, &last);
    a->curve.cursor = isnan(a->curve.cursor) ? MIN(last, hi) : NAN;
}

void cmd_export(struct app *a, const char *arg, struct effects *out)
{
    if (arg && *arg)
        app_session(a, "curve.export", arg, out);
    else
        cmd_ask(a, _("write the curve to"), "curve.export", "curve.csv");
}
