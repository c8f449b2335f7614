/* lab_test.h - `podium lab test`: a lab worked through as a run does, with
 * trials in between. What a person would trip over is a finding, one line each:
 *
 *   pre-solved   after the scene was made a check passes though nothing was done;
 *                it is sampled for the settle time
 *   solve        the lab's own solve or answers do not pass
 *   wrong        what stands under `wrong` passes, or can't be judged
 *   gone         with the link down a check is not UNKNOWN
 *   left         clearing up leaves something in the cluster
 *   again        the lab made anew does not begin as it did
 */
#ifndef LABS_LAB_TEST_H
#define LABS_LAB_TEST_H

#include "labs/headless.h"

struct headless;

struct lab_test {
    bool json;
    int64_t settle_ms;
    int findings, steps, checks;
    bool blind;                   /* it could not be tested here */
    /* of the step under test */
    int step, phase, wrong, round;
    int64_t since_ms, begun_ms;
    char *original;               /* of the file that a wrong edit changed */
    unsigned told;                /* rules told of this step, as bits */
};

/* One lab's folder or file. Returns 0, 1 (findings), 3 (no cluster). */
int lab_test_run(const char *path, const struct headless_options *o, int64_t settle_ms);

/* Called by the run: a step with its scene stands ready (false: more to try), is
 * done; the run has ended; it is cleared up (true: it goes on). */
bool lab_test_step(struct headless *h);
void lab_test_done(struct headless *h);
void lab_test_ended(struct headless *h, int code, const char *why);
bool lab_test_cleaned(struct headless *h, bool whole);

#endif
