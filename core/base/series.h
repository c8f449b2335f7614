/* series.h - one metric over steps: all points kept, spikes never lost.
 *
 * Points are (x, y) with x strictly increasing (a repeated or smaller x is
 * refused). y may be NaN or infinite: such a point is kept, marked, and takes
 * no part in extents or smoothing. A pyramid of minimum and maximum over
 * blocks of 8 points makes the extent of any range O(log n).
 */
#ifndef CORE_BASE_SERIES_H
#define CORE_BASE_SERIES_H

#include "core/base/base.h"

struct series;

struct series_extent {
    bool any;                    /* false: no finite point in the range */
    double min, max;
    size_t nonfinite;            /* points that are NaN or infinite */
};

struct series *series_new(void);
void series_free(struct series *s);
bool series_append(struct series *s, double x, double y);
size_t series_count(const struct series *s);
double series_x(const struct series *s, size_t i);
double series_y(const struct series *s, size_t i);
/* First index with x >= value (series_count when none). */
size_t series_lower(const struct series *s, double x);
struct series_extent series_range(const struct series *s, size_t from, size_t to);  /* [from,to) */

/* Debiased exponential moving average over ALL points, TensorBoard's rule
 * (line_chart_v2/data_transformer.ts): last = w*last + (1-w)*y from 0, k counts
 * finite points, value = last/(1-w^k). A non-finite y passes through and is not
 * counted; a constant series is returned unchanged. w in [0,1). Writes
 * series_count values to out. */
void series_ema(const struct series *s, double w, double *out);

/* One step of the same, for streams: start from {0}. */
struct ema {
    double last, weight_power;   /* weight_power = w^k; start 1 through ema_init */
    double first;
    bool constant, any;
};
void ema_init(struct ema *e);
double ema_push(struct ema *e, double w, double y);

#endif
