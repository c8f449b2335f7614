/* motion.h - how what changes by itself may move; the only module that animates.
 *
 * full: as often as frames are painted. reduced: what moves by itself (curve,
 * bars, ages, the log's end) once a second, what a person asked for at once; no
 * sign turns. none: the screen changes when a person does something or when
 * there is news, else every ten seconds.
 */
#ifndef TUI_MOTION_H
#define TUI_MOTION_H

#include "core/base/base.h"

enum motion { MOTION_FULL, MOTION_REDUCED, MOTION_NONE };

enum { MOTION_REDUCED_MS = 1000, MOTION_NONE_MS = 10000 };

/* ms that a paint at painted_ms keeps the next one away, besides the pace of
 * frames. asked: something since then was asked for by a person, or is news. */
int64_t motion_wait(enum motion m, bool asked, int64_t painted_ms, int64_t now_ms);

#endif
