/* term.h - the terminal: the only file that includes curses.
 *
 * term_open takes the terminal (alternate screen, raw keys), term_close gives it
 * back as it was; so does every other way out (tui/wire.h). Between
 * term_release and term_retake a child may use the terminal.
 *
 * term_paint writes what differs from the last frame, and nothing when nothing
 * does. ncurses finds the difference and writes it into memory; podium reduces
 * it (tui/sgr.h) and sends it whole. While the terminal is still taking one
 * frame (term_busy), no other may be painted. Keys are not read here: fd 0
 * belongs to tui/input.c.
 */
#ifndef TUI_TERM_H
#define TUI_TERM_H

#include "core/base/err.h"
#include "tui/glyph.h"
#include "tui/grid.h"
#include "tui/theme.h"

struct tty;

struct term_stats {
    uint64_t frames, bytes, most;            /* most: bytes of the largest frame */
    uint64_t cells, drawn;                   /* of all frames; the rest was elided */
    int64_t draw_us, draw_most_us;
    int64_t blocked_ms;                      /* longest wait for the terminal */
};

/* PD_UNSUPPORTED: no terminal, or one that can't place the cursor. An unknown
 * TERM is tried as xterm-256color, then vt100; *note says so, else "". */
MUST_USE enum pd_code term_open(struct tty **out, char note[160], struct pd_err *err);
void term_close(struct tty *t);                 /* NULL is fine */

void term_size(const struct tty *t, int *cols, int *rows);
/* 0, 8, 16, 256, or 1 << 24 where COLORTERM promises it and terminfo knows how. */
int term_colours(const struct tty *t);
const char *term_name(const struct tty *t);
/* The window changed: takes the new size from the kernel. */
void term_resized(struct tty *t);
/* The next paint draws every cell (Ctrl-L, after a child). */
void term_repaint(struct tty *t);

/* cx, cy: the cursor, -1: hidden. ascii: signs outside ASCII are replaced. */
void term_paint(struct tty *t, const struct grid *g, const struct theme *th, bool ascii, int cx,
                int cy);
/* Bytes wait for the terminal; write to term_fd when it can take more. */
bool term_busy(const struct tty *t);
int term_fd(const struct tty *t);
/* For how many ms they had waited when that was the last of them, else -1. */
int64_t term_flush(struct tty *t);
/* For those without a loop: waits until the terminal has it all, a second at most. */
void term_settle(struct tty *t);
void term_stats(const struct tty *t, struct term_stats *out);

/* Modes; each undone on every way out. Setting what is set writes nothing. */
void term_mouse(struct tty *t, bool on);        /* presses, wheel, SGR form */
void term_paste(struct tty *t, bool on);        /* bracketed paste */
void term_sync(struct tty *t, bool on);         /* brackets around frames */
/* Name the window, where the terminal gives it back; "": as it was before. */
void term_title(struct tty *t, const char *text);
void term_bell(struct tty *t);

void term_release(struct tty *t);
void term_retake(struct tty *t);
/* Hand text to the terminal's clipboard (OSC 52). False: longer than terminals
 * take (74,994 bytes of base64). */
bool term_copy(struct tty *t, const char *text);

/* --- questions, before the first paint ------------------------------------------ */
/* Columns that the terminal gives an ambiguous character: 1 or 2; 0: no answer
 * within 200 ms. */
int term_ask_ambiguous(struct tty *t);
/* The background as the terminal says it: 1 light, 0 dark, -1 no answer. */
int term_ask_light(struct tty *t);

#endif
