/* replay.h - `podium replay FILE`: a journal played back into the same state
 * and the same screens. No effect is carried out. */
#ifndef TUI_REPLAY_H
#define TUI_REPLAY_H

#include "core/base/base.h"

/* argv[0] is "replay". Returns the exit code. */
int replay_main(int argc, char **argv);
extern const char replay_help[];

#endif
