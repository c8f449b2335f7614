/* verdict.h - a run's curve in one sentence, by rules on its numbers.
 *
 * verdict_find is pure: numbers in, what is the case out, most urgent first.
 * Each rule needs as many points as it takes to be sure, and each has the step
 * it speaks of and the numbers that show it:
 *   not finite    a NaN or infinite loss; the last good step before it
 *   diverging     the average is above 1.5 times its least value, and rose over
 *                 the last fifth of at least 40 points
 *   lr zero       the rate is 0 for the last 5 steps before the end
 *   overfitting   validation rose in 2 or more evaluations in a row since its
 *                 best, by more than 1 %, while the average fell
 *   val worse     the same, and the average did not fall
 *   val better    fell in 2 or more evaluations in a row
 *   plateau       the average changed by less than 1 % over the last third of
 *                 at least 60 points
 *   spike         one jump of at least 8 mean distances and a fifth of the
 *                 curve's height; where it was back to normal
 *   warming up    the rate has risen with every step so far
 */
#ifndef TUI_VERDICT_H
#define TUI_VERDICT_H

#include "tui/app.h"

enum verdict_kind { VERDICT_NOT_FINITE, VERDICT_DIVERGING, VERDICT_LR_ZERO, VERDICT_OVERFIT,
                    VERDICT_VAL_WORSE, VERDICT_VAL_BETTER, VERDICT_PLATEAU, VERDICT_SPIKE,
                    VERDICT_WARMUP, VERDICT_KINDS };

struct verdict {
    enum verdict_kind kind;
    double step, to;             /* where it begins; where it ended (NaN: not yet) */
    double a, b;                 /* the numbers that show it: from, to */
    int n;                       /* evaluations in a row */
};
enum { VERDICT_MOST = VERDICT_KINDS };

/* `line` is r's own (tui/curve_line.h), up to date: no rule walks the whole run,
 * so that it costs nothing to ask every frame. Returns how many. */
int verdict_find(const struct run *r, const struct curve_line *line,
                 struct verdict out[VERDICT_MOST]);
/* "val improved 3 evals in a row (1.204 to 1.018); spike 2.60 @ 208 …", in the
 * language; role says how it is meant. Empty without a run. */
void verdict_of(const struct app *a, struct str *out, enum role *role);

#endif
