/* edit.h - a small text editor for the files of a lab, for machines that have
 * none and for people who need none. Lines of UTF-8; one undo step a line
 * change is not kept: Esc twice drops what was not saved.
 */
#ifndef TUI_EDIT_H
#define TUI_EDIT_H

#include "core/base/str.h"
#include "k8s/rules/check.h"
#include "tui/rows.h"

enum { EDIT_BYTES_MOST = 1 << 20 };

struct edit {
    bool open, dirty, leaving;   /* leaving: Esc was pressed once on unsaved text */
    bool changed;                /* since it was checked */
    char path[512];
    struct strv lines;           /* at least one while open */
    int row, col;                /* col: byte in the line */
    int want;                    /* the column that Up and Down aim for */
    int scroll;
    /* A manifest is checked as it is typed; `told` are the server's words about the
     * text as it was opened ({level, line, message, next}), until it changes. */
    struct check *found;
    struct json *told;
    manifest_var_fn *var;        /* values of ${NAME}; NULL: none */
    void *var_arg;
};

void edit_open(struct edit *e, const char *path, const char *text);
void edit_close(struct edit *e);
/* A key or pasted text; false: not a key of the editor. */
bool edit_key(struct edit *e, const char *key, int page);
void edit_paste(struct edit *e, const char *text);
void edit_text(const struct edit *e, struct str *out);

/* edit_check.c: look at the text again; what is wrong with a line (1-based), errors
 * first. The cursor goes to the first fault, or to the next one below. */
struct edit_fault {
    int line;
    bool error;
    const char *text, *next;     /* borrowed */
};
void edit_check(struct edit *e);
bool edit_fault_at(const struct edit *e, int line, struct edit_fault *out);
bool edit_fault_next(const struct edit *e, int line, struct edit_fault *out);
int edit_fault_count(const struct edit *e);
void edit_go_line(struct edit *e, int line);
/* The fault of the cursor's line, or the next, in at most h rows. */
void edit_fault_rows(const struct edit *e, struct rows *out, int w, int h);
/* The rows on show (scrolled), and where the cursor stands in them. */
void edit_rows(const struct edit *e, struct rows *out, int w, int h, int *cx, int *cy);

#endif
