/* wire.h - the way to the terminal: modes of the line, bytes out, and the way
 * back.
 *
 * Bytes go out through a descriptor of podium's own that never blocks (the one
 * podium was started with is shared with the shell and stays as it is). What
 * the terminal doesn't take at once waits here; as long as something waits, no
 * new frame is made (wire_busy), so a slow link skips frames and never queues
 * them.
 *
 * Every way out undoes every mode: wire_leave, a bug (pd_on_die), SIGSEGV and
 * its kin (one prepared string and tcsetattr, both async-signal-safe).
 */
#ifndef TUI_WIRE_H
#define TUI_WIRE_H

#include <termios.h>

#include "core/base/str.h"

enum { WIRE_SLOW_MS = 100, WIRE_PENDING_MOST = 16 << 20 };

struct wire {
    int fd;
    bool own;                    /* fd is podium's own */
    bool owed;                   /* a question has no answer yet */
    struct str pending;
    size_t sent;                 /* of pending */
    int64_t since_ms;            /* when it began to wait */
    int64_t blocked_ms;          /* longest wait */
    uint64_t bytes;              /* written so far */
};

void wire_open(struct wire *w);
void wire_close(struct wire *w);
/* Raw keys; `back` undoes what the program set on the screen (cursor, colours,
 * main screen). wire_leave gives the line back as it was found. */
void wire_enter(struct wire *w, const char *back);
void wire_leave(struct wire *w);

void wire_put(struct wire *w, const char *bytes, size_t n);
void wire_say(struct wire *w, const char *text);
bool wire_busy(const struct wire *w);
/* Write what waits. Returns for how long it had waited when that was the last
 * of it, else -1. */
int64_t wire_flush(struct wire *w);
/* The same, waiting at most ms for the terminal. */
void wire_drain(struct wire *w, int ms);

/* Ask the terminal and read what it says until a byte `end` stands in the
 * answer, at most `ms` (before the loop runs; the answer never reaches the
 * keys). Returns the bytes of the answer. */
size_t wire_ask(struct wire *w, const char *question, char end, int ms, char *answer,
                size_t size);

#endif
