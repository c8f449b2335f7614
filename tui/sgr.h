/* sgr.h - fewer bytes for the same picture: the colours and attributes of a
 * frame, as ncurses writes them, reduced to what changes a cell.
 *
 * Attributes are held back until something is drawn that they change: a blank
 * shows no foreground and no bold, so they wait across it; moving the cursor
 * shows nothing at all. Character sets are never switched here (podium draws
 * its lines as characters), so the switching back is dropped too.
 * Sequences that are not known go out as they are.
 */
#ifndef TUI_SGR_H
#define TUI_SGR_H

#include "core/base/str.h"

enum { SGR_COLOUR = 24 };

struct sgr_style {
    unsigned attr;               /* bits of sgr.c */
    char fg[SGR_COLOUR], bg[SGR_COLOUR];     /* parameters, "" the default */
};

struct sgr {
    struct sgr_style now, want;
    bool lost;                   /* the terminal's state is not known */
    bool switched;               /* the character set was set once */
};

void sgr_init(struct sgr *s);
/* One frame of whole sequences, reduced, is appended to out. */
void sgr_squeeze(struct sgr *s, const char *in, size_t n, struct str *out);

#endif
