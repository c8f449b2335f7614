/* compare.h - other runs beside the one on show: earlier attempts of the lab
 * that were kept, or any run log or CSV file. Files are read by a child
 * (podium-plot), which sends their points; up to four stand on the chart, each
 * with its own sign, and their differences to this run are told at the cursor
 * or at the last step that both have.
 */
#ifndef TUI_COMPARE_H
#define TUI_COMPARE_H

#include "core/base/msg.h"
#include "tui/curve_line.h"

struct app;

struct compare_run {
    char name[96], path[512];
    struct run run;              /* only its series are filled */
    struct curve_line line;
    uint32_t effect;             /* being read; 0: it is whole, or an error */
    char error[256];
};

struct compare_known {           /* a file of the lab's folder of runs */
    char name[96], path[512];
    double steps, loss, val;
};

enum { COMPARE_KNOWN = 64 };
struct compare {
    struct compare_run v[CURVE_GHOSTS];
    int n;
    struct compare_known known[COMPARE_KNOWN];
    int known_n;
    uint32_t list_effect, export_effect;
    char list_error[256], export_to[512];
};

struct compare *compare_new(void);
void compare_free(struct compare *c);
/* Is the file among those on show? */
bool compare_has(const struct compare *c, const char *path);
/* Show a file, or show it no longer. */
void compare_toggle(struct app *a, const char *path, struct effects *out);
void compare_clear(struct app *a, struct effects *out);
/* Ask for the list of kept runs. */
void compare_list(struct app *a, struct effects *out);
/* A message of its children: taken, true. */
bool compare_message(struct app *a, const struct msg *m);
/* Bring the averages up to date. */
void compare_update(struct app *a);
/* The runs as the chart draws them. */
int compare_ghosts(const struct app *a, struct curve_ghost out[CURVE_GHOSTS]);
/* One row a run: sign, name, value and difference. */
void compare_rows(const struct app *a, struct rows *out, int w);

#endif
