/* motion.c - how things may move (motion.h). */
#include "tui/motion.h"

int64_t motion_wait(enum motion m, bool asked, int64_t painted_ms, int64_t now_ms)
{
    static const int64_t apart[] = {[MOTION_FULL] = 0, [MOTION_REDUCED] = MOTION_REDUCED_MS,
                                    [MOTION_NONE] = MOTION_NONE_MS};
    return asked ? 0 : MAX(painted_ms + apart[m] - now_ms, 0);
}
