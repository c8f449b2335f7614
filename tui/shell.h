/* shell.h - the shell in a container: which pod, what goes on, and the terminal
 * that it is shown in (tui/shell_term.h). One at a time; it goes on while its
 * pane is closed.
 *
 * What is typed into it and what it shows may be secret: neither stands in a
 * journal, among pressed keys or in the API panel.
 */
#ifndef TUI_SHELL_H
#define TUI_SHELL_H

#include "core/base/msg.h"
#include "tui/rows.h"
#include "tui/shell_term.h"

struct app;

enum shell_state { SHELL_NONE, SHELL_STARTING, SHELL_OPEN, SHELL_ENDED };

struct shell {
    enum shell_state state;
    struct shell_term *term;     /* owned; NULL: none was opened */
    uint32_t effect;             /* of the exec */
    uint16_t cluster;
    uint32_t epoch;
    char ns[128], pod[256], container[64];
    char asked[256];             /* a pod whose container is being asked for */
    int code;                    /* exit code; -1: see error */
    struct pd_err error;
    int back;                    /* lines up in the history */
    int cols, rows;              /* as the container was told */
    int64_t began_ms, ended_ms;
    bool typed;                  /* something was typed into it */
};

void shell_release(struct shell *s);
/* Start one; what ran before must have ended. */
void shell_start(struct app *a, const char *pod, const char *container, struct effects *out);
void shell_end(struct app *a, struct effects *out);      /* hang up */
/* A message about it; false: it is none. */
bool shell_message(struct app *a, const struct msg *m);
/* A key or pasted text for the program. */
void shell_key(struct app *a, const char *name, struct effects *out);
void shell_paste(struct app *a, const char *text, struct effects *out);
/* After each message: the size of the pane, answers of the terminal, a
 * connection that is another one now. */
void shell_follow(struct app *a, struct effects *out);
bool shell_runs(const struct shell *s);
/* This message is not for the journal: it is what was typed or shown. */
bool shell_private(const struct app *a, const struct msg *m);

#endif
