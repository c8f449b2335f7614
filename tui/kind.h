/* kind.h - what terminals of a name can do beyond terminfo. What is not known
 * to be there is not used.
 */
#ifndef TUI_KIND_H
#define TUI_KIND_H

#include "core/base/base.h"

/* The terminfo entry with 24-bit colour for a TERM, when COLORTERM says that the
 * terminal shows it; false: none. The entry need not exist. */
bool kind_direct(const char *term, char out[64]);
/* Takes ESC [ ? 2026 h. PODIUM_SYNC=1 or 0 overrules. */
bool kind_takes_sync(void);
/* Has a title that can be saved and given back. */
bool kind_keeps_title(const char *term);
/* Under tmux or over SSH: the clipboard is the terminal's. */
bool kind_is_tmux(void);
bool kind_is_remote(void);

#endif
