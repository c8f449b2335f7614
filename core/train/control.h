/* control.h - steering a run by lines on stdin (docs/RUNLOG.md has the table).
 *
 *   [#ID ] COMMAND [ARGUMENTS]\n
 *
 * hello | pause | resume | step [N] | inspect norms | inspect tensor NAME
 * [ROW COL] | rate X | save | walk [NAME ROW COL] | quit. Each gets one `answer` record with the ID
 * (a word of the sender's choice), cmd, ok and what was asked. Lines are read
 * between steps without waiting, and with waiting while paused or holding.
 * An end of input is no command: the run goes on without control (a paused
 * one resumes), since the other side may attach again.
 */
#ifndef CORE_TRAIN_CONTROL_H
#define CORE_TRAIN_CONTROL_H

#include "core/base/err.h"
#include "core/base/lines.h"

#define CONTROL_VERSION 2         /* 2: walk */

enum control_cmd { CONTROL_HELLO, CONTROL_PAUSE, CONTROL_RESUME, CONTROL_STEP, CONTROL_INSPECT,
                   CONTROL_RATE, CONTROL_SAVE, CONTROL_WALK, CONTROL_QUIT, CONTROL_CMDS };

struct control_line {
    char id[32];                  /* "" when none */
    enum control_cmd cmd;
    int64_t n;                    /* step N, inspect's ROW */
    int64_t col;
    double x;                     /* rate X */
    char what[16];                /* inspect: "norms" | "tensor" */
    char name[128];               /* inspect tensor NAME; walk NAME ("" none) */
};
/* PD_USAGE with a sentence that names the commands or the bad argument; id is
 * filled whenever the line has one. */
MUST_USE enum pd_code control_parse(const char *line, struct control_line *out,
                                    struct pd_err *err);
const char *control_name(enum control_cmd c);

enum { CONTROL_QUEUE = 64 };
struct control {
    int fd;                       /* -1: off or ended */
    struct lines lines;
    char queue[CONTROL_QUEUE][256];
    int head, count;
    bool dropped;                 /* the queue was full: a line was lost */
};
void control_init(struct control *c, int fd);
void control_release(struct control *c);
/* Read what is there; wait at most timeout_ms (-1: until a line, the end of
 * input or a signal; 0: not at all) when the queue is empty. True: a line was
 * taken into `line`. */
bool control_next(struct control *c, int timeout_ms, char line[256]);

#endif
