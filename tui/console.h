/* console.h - the console on a terminal: loop, terminal, state and effects
 * wired together. */
#ifndef TUI_CONSOLE_H
#define TUI_CONSOLE_H

#include "tui/app.h"

struct console_options {
    const char *set[SET_COUNT];              /* --NAME of the settings; NULL: not given */
    const char *kubeconfig, *context, *ns;   /* NULL: as kubectl finds them */
    const char *record;                      /* journal file, or NULL */
    const char *labs;                        /* folder of labs, or NULL */
    bool stats;                              /* say at the end what the screen cost */
    bool probe_width, detect_background;     /* ask the terminal (tui/look.h) */
    const char *open;                        /* id of the lab to begin with, or NULL */
};

/* Runs until the person leaves; returns the exit code (3: no terminal that can
 * show it). */
int console_run(const struct console_options *o);

#endif
