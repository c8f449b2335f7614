/* pace.h - when to paint next: at most as often as is set, ten times a second
 * while the window is being dragged, once a second over a link that can't take
 * more.
 */
#ifndef TUI_PACE_H
#define TUI_PACE_H

#include "core/base/base.h"

enum { PACE_KEY_MS = 8, PACE_SLOW_MS = 1000, PACE_RESIZE_MS = 100, PACE_BLOCKED_MS = 100,
       PACE_GOOD_FRAMES = 5 };

struct pace {
    int64_t painted_ms, resized_ms;
    bool slow, forced;           /* forced: PODIUM_SLOW=1 */
    int good;                    /* frames in a row that went out at once */
    uint64_t skipped;            /* turns that had something to paint and had to wait */
};

void pace_init(struct pace *p);
/* ms until the next frame may be painted; one that answers a key waits least. */
int64_t pace_wait(const struct pace *p, int frames_a_second, bool key, int64_t now_ms);
void pace_painted(struct pace *p, int64_t now_ms);
/* The terminal took the frame after so many ms. */
void pace_took(struct pace *p, int64_t waited_ms);
/* ms until a new size of the window may be taken. */
int64_t pace_resize_wait(const struct pace *p, int64_t now_ms);

#endif
