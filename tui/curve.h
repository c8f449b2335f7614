/* curve.h - the loss curve as rows of cells.
 *
 * Raw points are a band from minimum to maximum per dot column, so that a spike
 * of one point is seen at every size; over it runs the debiased average of all
 * raw points (core/base/series.h), and the validation points are marks. NaN and
 * infinity break the lines and are marked on the base line. Dots are braille
 * (2x4 a cell), half blocks (1x2) or ASCII (1x2).
 */
#ifndef TUI_CURVE_H
#define TUI_CURVE_H

#include "core/base/series.h"
#include "tui/axis.h"
#include "tui/rows.h"

enum curve_dots { DOTS_BRAILLE, DOTS_BLOCK, DOTS_ASCII, DOTS_COUNT };

/* The average of one series, carried on as it grows. */
struct curve_cache {
    double *ema;
    size_t n, cap;
    double weight, last_x, first_y;
    struct ema state;
};
void curve_cache_init(struct curve_cache *c);
void curve_cache_release(struct curve_cache *c);
/* Bring c->ema[0..n) up to date. Made anew when the series is another one. */
void curve_cache_update(struct curve_cache *c, const struct series *s, double weight);
/* Would the next update only add to what is there? */
bool curve_cache_continues(const struct curve_cache *c, const struct series *s, double weight);

/* One run as it is drawn; ema has one value a point of raw. */
struct curve_trace {
    const struct series *raw, *val;      /* either may be NULL or empty */
    const double *ema;                   /* or NULL */
};

/* Other runs beside it: their averages, with a sign every few columns. */
enum { CURVE_GHOSTS = 4 };
struct curve_ghost {
    struct curve_trace trace;
    enum glyph mark;
    enum role role;
};

struct curve_ask {
    const struct series *raw, *val;      /* either may be NULL or empty */
    const double *ema;                   /* one a raw point, or NULL */
    double x_lo, x_hi;                   /* the view; NaN: 0 .. max(x_total, last) */
    double x_total;                      /* where the run will end, 0 unknown */
    double cursor;                       /* a vertical line at x; NaN none */
    bool log_y, log_x, clip;             /* clip: y from the 2nd to 98th percentile */
    bool no_band;                        /* the raw points are not shown */
    bool edges;                          /* the band as two edges (no colours) */
    bool thick;                          /* the average twice, for a projector */
    enum curve_dots dots;
    struct curve_ghost ghost[CURVE_GHOSTS];
    int ghosts;
};

/* Points that are not seen: outside the view, or <= 0 on a logarithmic axis. */
struct curve_facts {
    struct axis x, y;
    size_t above, below, hidden;
};

/* w x h rows (w >= 12, h >= 4), axes included. `facts` may be NULL. */
void curve_rows(const struct curve_ask *ask, struct rows *out, int w, int h,
                struct curve_facts *facts);
/* The limits of x that curve_rows shows. */
void curve_span(const struct curve_ask *ask, double *lo, double *hi);
/* Counts without drawing: what curve_rows would report. */
void curve_count(const struct curve_ask *ask, int w, int h, struct curve_facts *facts);
/* One row of at most `width` cells: the last finite value of each column, from
 * lowest to highest. */
void curve_spark(const struct series *s, struct rows *out, int width);

#endif
