/* forwards.h - the ports of this machine that lead into pods, as the console
 * knows them: each an effect that goes on until it is stopped, with what came
 * of it. They end with their connection.
 */
#ifndef TUI_FORWARDS_H
#define TUI_FORWARDS_H

#include "core/base/msg.h"

struct app;

enum { FORWARDS_MOST = 16 };
enum forward_state { FORWARD_OPENING, FORWARD_OPEN, FORWARD_FAILED };

struct forward {
    uint32_t effect;
    uint16_t cluster;
    uint32_t epoch;
    enum forward_state state;
    char pod[256];
    int local, remote;           /* local: as asked for until it is open */
    int open, total, failed;     /* connections */
    int64_t sent, received, began_ms;
    char trouble[400];           /* of the pod, or of the newest connection that failed */
};

struct forwards {
    struct forward v[FORWARDS_MOST];
    int n;
};

/* false: there is no room for another. */
bool forwards_start(struct app *a, const char *pod, int local, int remote, struct effects *out);
void forwards_stop(struct app *a, int i, struct effects *out);
bool forwards_message(struct app *a, const struct msg *m);       /* false: it is none of theirs */
void forwards_follow(struct app *a);     /* the connection is another one now */

#endif
