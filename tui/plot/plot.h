/* plot.h - podium-plot: a run, and others beside it, as a picture for a report:
 * SVG or PNG, drawn with cairo. A program of its own, so that the console stays
 * small and quick to start; the console runs it as a child.
 *
 *   podium plot RUN [RUN2 …] -o FILE.svg|png [options]   (plot_main.c)
 *   podium-plot --points RUN    the points as JSON lines, for the console
 *   podium-plot --list DIR      the runs of a folder, newest first
 */
#ifndef TUI_PLOT_PLOT_H
#define TUI_PLOT_PLOT_H

#include "core/base/err.h"
#include "tui/axis.h"
#include "tui/curve_line.h"

enum { PLOT_RUNS = 1 + CURVE_GHOSTS };

struct plot_run {
    char name[128];
    struct run run;
    struct curve_line line;
};

struct plot {
    struct plot_run run[PLOT_RUNS];      /* the first is the one in front */
    int n;
    const char *out, *title;
    enum curve_x x;
    double smooth, from, to;             /* NaN: all */
    int width, height;                   /* points of 1/72 inch (SVG), pixels (PNG) */
    bool log_x, log_y, no_raw, dark;
};

/* What a picture can't show is told: points <= 0 on a log axis, and whether the
 * fonts of this machine have every character of the labels. */
struct plot_facts {
    struct axis x, y;
    size_t hidden, above;
    bool no_font;
};
MUST_USE enum pd_code plot_draw(const struct plot *p, struct plot_facts *facts,
                                struct pd_err *err);

/* plot_feed.c: JSON lines on stdout */
int plot_points(const char *path);
int plot_list(const char *dir);

#endif
