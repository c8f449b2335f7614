/* rows.h - what a panel says, before it has a place: rows of spans with roles.
 *
 * The same rows make the screen, a copy to the clipboard and the goldens.
 * Texts are copied into the arena, which the owner clears with the rows.
 * A row with id >= 0 can be selected; ids grow down the list.
 */
#ifndef TUI_ROWS_H
#define TUI_ROWS_H

#include "core/base/mem.h"
#include "core/base/str.h"
#include "tui/glyph.h"
#include "tui/theme.h"

struct span {
    const char *text;
    uint8_t role, attr;
    uint16_t width;
};

struct row {
    struct span *span;
    int n, cap, width, id;
    bool dim;                    /* what it says is old: drawn muted, whatever its roles */
};

struct rows {
    struct arena arena;
    struct row *v;
    int n, cap;
    /* A panel that made only the rows on show says which they are: v[0] is row
     * `first` of `total`. total 0: all rows are here. */
    int first, total;
    int ids;                     /* then: how many can be selected in all, from id 0 on */
    int mark;                    /* a row to scroll to when asked for; 0: none */
    enum glyph_set glyphs;
    bool dim;                    /* of the rows made from now on */
};

void rows_init(struct rows *r, enum glyph_set glyphs);
void rows_release(struct rows *r);
void rows_clear(struct rows *r);

struct row *rows_new(struct rows *r, int id);            /* an empty row; id -1: not selectable */
void rows_put(struct rows *r, enum role role, const char *text);
void rows_putf(struct rows *r, enum role role, const char *fmt, ...) PRINTF_LIKE(3, 4);
void rows_sign(struct rows *r, enum role role, enum glyph g);
/* Text in exactly `width` columns: cut with an ellipsis or filled up. */
void rows_cell(struct rows *r, enum role role, const char *text, int width);
void rows_cell_right(struct rows *r, enum role role, const char *text, int width);
void rows_pad(struct rows *r, int column);               /* blanks up to a column */
/* Blanks so that `text` ends at column `width`; what stands there is not cut. */
void rows_right(struct rows *r, enum role role, const char *text, int width);

void rows_blank(struct rows *r);
void rows_line(struct rows *r, enum role role, const char *text);
void rows_linef(struct rows *r, enum role role, const char *fmt, ...) PRINTF_LIKE(3, 4);
/* Wrapped text, every line indented. A single line end inside a paragraph is a
 * blank, as in Markdown; an empty line, a list mark or code keep their line. A
 * line that starts with "    " or "> " is code, and so is what stands between
 * two backquotes; *words* between stars are strong. */
void rows_wrap(struct rows *r, enum role role, int indent, const char *text, int width);
/* A bar of `width` columns, filled to share 0..1. */
void rows_bar(struct rows *r, double share, int width);
void rows_text(const struct row *row, struct str *out);  /* as plain text */

#endif
