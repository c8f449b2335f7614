/* plain_say.h - what a change is worth saying: compares the state with what was
 * said last and appends lines for the difference. Pure but for its memory. */
#ifndef TUI_PLAIN_SAY_H
#define TUI_PLAIN_SAY_H

#include "tui/plain_text.h"

enum { PLAIN_CHECKS_MOST = 64, PLAIN_QUIZ_MOST = 20 };

struct plain_say {
    bool quiet;                  /* results and errors only */
    enum link_state link;
    const struct lab *lab;
    int step, hints;
    uint64_t parts;              /* what the further parts of the step said last */
    bool loaded, finished, op_ended;
    enum check_result result[PLAIN_CHECKS_MOST];
    char actual[PLAIN_CHECKS_MOST][96], event[320];
    char op_what[96], message[512], note[512], verdict[512], run_state[16], run_pod[128];
    int64_t op_began, point_ms, point_step;
    int op_tenth, answers;
    enum check_result quiz[PLAIN_QUIZ_MOST];
    int tries[PLAIN_QUIZ_MOST];
    enum scene_state scene;
    char why[512];
};

void plain_say_init(struct plain_say *y);
void plain_say_changes(struct plain_say *y, const struct app *a, struct str *out);

#endif
