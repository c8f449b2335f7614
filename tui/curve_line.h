/* curve_line.h - one run as it is drawn: its points over the unit that x has,
 * its average, and what is odd about the points. Remembered arithmetic: grows
 * with the run, made anew when the run is another one.
 *
 * The average is that of core/base/series.h over all raw points in their order,
 * whatever x is: with another unit, or a longer run, no value of it changes.
 */
#ifndef TUI_CURVE_LINE_H
#define TUI_CURVE_LINE_H

#include "labs/session.h"
#include "tui/curve.h"

enum curve_x { X_STEP, X_TOKENS, X_EPOCH, X_TIME, X_COUNT };
const char *curve_x_name(enum curve_x x);                 /* "step", in the language */

struct curve_line {
    struct curve_cache cache;    /* one value a raw point */
    enum curve_x x;
    size_t nan, inf, gaps;       /* of the raw points; gaps: steps that never came */
    size_t first_bad;            /* the first that is not finite, when there is one */
    size_t least_at;             /* of the least average */
    size_t jump_at;              /* the largest step up from the average before it */
    double jump, jump_sum;       /* its size; the sum of all distances from the average */
    /* below: x other than the step */
    struct series *raw, *val;
    double *ema;                 /* one a point of raw: points without an x have none */
    size_t cap, counted, mapped, val_mapped;
};
void curve_line_init(struct curve_line *l);
void curve_line_release(struct curve_line *l);
void curve_line_update(struct curve_line *l, const struct run *r, enum curve_x x, double weight);
/* What curve_rows draws. */
struct curve_trace curve_line_trace(const struct curve_line *l, const struct run *r);
/* A step in the unit of x (NaN: it has none), and the average at a step. */
double curve_line_x(const struct run *r, enum curve_x x, double step);
double curve_line_ema(const struct curve_line *l, const struct run *r, double step);

#endif
