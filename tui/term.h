/* term.h - the terminal: the only file that includes curses.
 *
 * term_open takes the terminal (alternate screen, raw keys), term_close gives it
 * back as it was; so does every other way out: a bug (pd_on_die), SIGSEGV and
 * its kin (an async-signal-safe string and tcsetattr), a stop. Between
 * term_release and term_retake a child may use the terminal.
 *
 * term_paint writes what differs from the last frame, and nothing when nothing
 * does. Keys are not read here: fd 0 belongs to tui/input.c.
 */
#ifndef TUI_TERM_H
#define TUI_TERM_H

#include "core/base/err.h"
#include "tui/glyph.h"
#include "tui/grid.h"
#include "tui/theme.h"

struct tty;

/* PD_UNSUPPORTED: no terminal, or one that can't place the cursor. An unknown
 * TERM is tried as xterm-256color, then vt100; *note says so, else "". */
MUST_USE enum pd_code term_open(struct tty **out, char note[160], struct pd_err *err);
void term_close(struct tty *t);                 /* NULL is fine */

void term_size(const struct tty *t, int *cols, int *rows);
int term_colours(const struct tty *t);
const char *term_name(const struct tty *t);
/* The window changed: takes the new size from the kernel. */
void term_resized(struct tty *t);
/* The next paint draws every cell (Ctrl-L, after a child). */
void term_repaint(struct tty *t);

/* cx, cy: the cursor, -1: hidden. ascii: signs outside ASCII are replaced. */
void term_paint(struct tty *t, const struct grid *g, const struct theme *th, bool ascii, int cx,
                int cy);

void term_release(struct tty *t);
void term_retake(struct tty *t);
/* Stop the process as Ctrl-Z does, and come back. */
void term_stop(struct tty *t);
/* Ring. */
void term_bell(struct tty *t);
/* Name the window, where the terminal has one; "": as it was before. */
void term_title(struct tty *t, const char *text);
/* Hand text to the terminal's clipboard (OSC 52). False: longer than terminals
 * take (74,994 bytes of base64). */
bool term_copy(struct tty *t, const char *text);

#endif
