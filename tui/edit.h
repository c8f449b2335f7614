/* edit.h - a small text editor for the files of a lab, for machines that have
 * none and for people who need none. Lines of UTF-8; one undo step a line
 * change is not kept: Esc twice drops what was not saved.
 */
#ifndef TUI_EDIT_H
#define TUI_EDIT_H

#include "core/base/str.h"
#include "tui/rows.h"

enum { EDIT_BYTES_MOST = 1 << 20 };

struct edit {
    bool open, dirty, leaving;   /* leaving: Esc was pressed once on unsaved text */
    char path[512];
    struct strv lines;           /* at least one while open */
    int row, col;                /* col: byte in the line */
    int want;                    /* the column that Up and Down aim for */
    int scroll;
};

void edit_open(struct edit *e, const char *path, const char *text);
void edit_close(struct edit *e);
/* A key or pasted text; false: not a key of the editor. */
bool edit_key(struct edit *e, const char *key, int page);
void edit_paste(struct edit *e, const char *text);
void edit_text(const struct edit *e, struct str *out);
/* The rows on show (scrolled), and where the cursor stands in them. */
void edit_rows(const struct edit *e, struct rows *out, int w, int h, int *cx, int *cy);

#endif
