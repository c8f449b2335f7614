/* axis.c - nice ticks and scales (axis.h). */
#include "tui/axis.h"

#include <math.h>

#include "core/base/str.h"
#include "tui/text.h"

/* The smallest of 1, 2, 5 * 10^k that is >= v. */
static double nice(double v)
{
    double power = pow(10, floor(log10(v)));
    double m = v / power;
    double f = m <= 1.0000001 ? 1 : m <= 2.0000001 ? 2 : m <= 5.0000001 ? 5 : 10;
    return f * power;
}

static void linear_ticks(struct axis *a, int most)
{
    a->step = nice((a->hi - a->lo) / MAX(most, 1));
    double eps = (a->hi - a->lo) * 1e-9;
    int64_t k = (int64_t)ceil((a->lo - eps) / a->step);
    for (; a->n < AXIS_TICKS && (double)k * a->step <= a->hi + eps; k++)
        a->tick[a->n++] = k == 0 ? 0 : (double)k * a->step;
}

static void log_ticks(struct axis *a, int most)
{
    static const double marks[3] = {1, 2, 5};
    double decades = log10(a->hi / a->lo);
    int every = (int)ceil(decades / MAX(most, 1));
    bool fine = decades * 3 <= most;
    a->step = 0;
    for (int k = (int)floor(log10(a->lo)); k <= (int)ceil(log10(a->hi)); k++) {
        for (int m = 0; m < (fine ? 3 : 1); m++) {
            double v = marks[m] * pow(10, k);
            bool on = fine || every <= 1 || k % every == 0;
            if (on && v >= a->lo * 0.999999 && v <= a->hi * 1.000001 && a->n < AXIS_TICKS)
                a->tick[a->n++] = v;
        }
    }
}

void axis_make(struct axis *a, double lo, double hi, bool log, int most)
{
    memset(a, 0, sizeof *a);
    if (!isfinite(lo) || !isfinite(hi)) {
        lo = 0;
        hi = 1;
    }
    if (lo > hi) {
        double t = lo;
        lo = hi;
        hi = t;
    }
    if (hi - lo <= fabs(hi) * 1e-12) {
        double d = lo == 0 ? 0.5 : fabs(lo) * 0.5;
        lo -= d;
        hi += d;
    }
    a->log = log && lo > 0;
    a->lo = lo;
    a->hi = hi;
    if (a->log)
        log_ticks(a, most);
    if (a->n < (a->log && most > 2 ? 3 : 2)) {     /* less than a decade: evenly */
        a->n = 0;
        linear_ticks(a, most);
        if (a->n < 2 && most > 1) {
            a->n = 0;
            linear_ticks(a, most * 2);
        }
    }
}

double axis_share(const struct axis *a, double v)
{
    if (a->log)
        return v > 0 ? log(v / a->lo) / log(a->hi / a->lo) : -1;
    return (v - a->lo) / (a->hi - a->lo);
}

double axis_value(const struct axis *a, double s)
{
    return a->log ? a->lo * pow(a->hi / a->lo, s) : a->lo + s * (a->hi - a->lo);
}

char *axis_label(const struct axis *a, double v, char buf[24])
{
    double most = MAX(fabs(a->lo), fabs(a->hi));
    if (v == 0)
        return str_copy(buf, 24, "0");
    if (most >= 1e6 || most < 1e-3 || a->log)
        return most >= 1e6 || fabs(v) < 1e-3 || most < 1e-3
                   ? text_number(v, buf)
                   : str_fmt(buf, 24, "%g", v);
    int digits = a->step > 0 ? (int)ceil(-log10(a->step) - 1e-9) : 0;
    return str_fmt(buf, 24, "%.*f", MIN(MAX(digits, 0), 6), v);
}
