/* headless_say.h - what a headless run writes: one JSON object a line, or
 * readable lines. The last line is
 *   {"lab","result":"done"|"failed"|"unknown","step","seconds","why",
 *    "adapter":PATH,"run":PATH,"first_val","last_val"}
 * Others have "event": step, edit, answer, check, message, op, train.
 */
#ifndef LABS_HEADLESS_SAY_H
#define LABS_HEADLESS_SAY_H

#include "labs/session.h"

struct headless_say {
    bool json, begun;
    int step;                     /* whose checks `seen` holds */
    struct evidence seen[64];
    int64_t run_step, op_ms;
    double val;
    char message[512], op[96], run_pod[128];
};

void headless_say_init(struct headless_say *y, bool json);
void headless_say_step(struct headless_say *y, const struct session *s);
void headless_say_edit(struct headless_say *y, const struct session *s, const char *file,
                       const char *find, const char *put);
void headless_say_answer(struct headless_say *y, const struct session *s, int quiz);
void headless_say_changes(struct headless_say *y, const struct session *s, int step);
void headless_say_end(struct headless_say *y, const struct session *s, int step, int code,
                      const char *why, int64_t ms);

#endif
