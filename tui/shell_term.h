/* shell_term.h - a terminal inside a pane: what a program in a container writes
 * becomes rows of the pane, keys become bytes for it. The only file that
 * includes libvterm.
 *
 * The program can change nothing but these rows: titles, clipboards, modes of
 * the outer terminal and what it answers to questions stay in here. Colours are
 * the theme's roles. Lines that scroll off the top are kept, SHELL_TERM_HISTORY
 * of them.
 */
#ifndef TUI_SHELL_TERM_H
#define TUI_SHELL_TERM_H

#include "tui/rows.h"

enum { SHELL_TERM_HISTORY = 2000, SHELL_TERM_LEAST = 2, SHELL_TERM_MOST = 500 };

struct shell_term;

struct shell_term *shell_term_new(int cols, int rows);
void shell_term_free(struct shell_term *t);
void shell_term_size(const struct shell_term *t, int *cols, int *rows);
void shell_term_resize(struct shell_term *t, int cols, int rows);
/* Bytes of the program. */
void shell_term_feed(struct shell_term *t, const void *p, size_t n);
/* A key by its name (tui/input.h), pasted text. false: the key says nothing. */
bool shell_term_key(struct shell_term *t, const char *name);
void shell_term_paste(struct shell_term *t, const char *text);
/* Bytes for the program (keys, answers to its questions); the caller clears it. */
struct str *shell_term_out(struct shell_term *t);

int shell_term_history(const struct shell_term *t);      /* lines above the screen */
/* The rows, `back` lines up in the history, and where the cursor is (-1: hidden,
 * or not on show). */
void shell_term_rows(const struct shell_term *t, int back, struct rows *out, int *cx, int *cy);

#endif
