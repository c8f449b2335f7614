/* axis.h - axes that people can read: ticks at 1, 2, 5 times a power of ten. */
#ifndef TUI_AXIS_H
#define TUI_AXIS_H

#include "core/base/base.h"

enum { AXIS_TICKS = 32 };

struct axis {
    double lo, hi;               /* lo < hi; both > 0 when log */
    bool log;
    double tick[AXIS_TICKS];     /* ascending, inside [lo, hi] */
    int n;
    double step;                 /* between ticks; 0 for log */
};

/* An axis over [lo, hi] with at most `most` ticks (>= 2 where the range allows
 * it). Equal, swapped or non-finite limits are mended: [v-0.5, v+0.5], [0, 1]. */
void axis_make(struct axis *a, double lo, double hi, bool log, int most);
/* 0..1 of v; outside the limits below 0 or above 1. */
double axis_share(const struct axis *a, double v);
/* The value at share s. */
double axis_value(const struct axis *a, double s);
/* A tick's text with as many decimals as the step needs. */
char *axis_label(const struct axis *a, double v, char buf[24]);

#endif
