/* start.h - what a console is told before it shows anything, on a screen or in
 * lines: settings by their precedence, the person's files, progress of the labs.
 * All of it goes to the state as messages. */
#ifndef TUI_START_H
#define TUI_START_H

#include "core/base/journal.h"
#include "tui/console.h"

struct start {
    const struct console_options *o;
    void (*send)(void *arg, struct msg *m);      /* takes m */
    void *arg;
};

/* A command with its arguments; NULL ends them early. */
void start_command(const struct start *s, const char *name, const char *a, const char *b,
                   const char *c);
/* Settings, the weakest source first: what podium found out (glyphs, theme;
 * NULL: nothing), file, environment, options. */
void start_look(const struct start *s, const char *glyphs, const char *theme);
/* The cluster, how far each lab is, and the lab to begin with. */
void start_session(const struct start *s, const struct lab_list *labs);
/* The journal of --record; *out is NULL without. */
MUST_USE enum pd_code start_journal(const struct start *s, const struct app *a, uint64_t seed,
                                    struct journal **out, struct pd_err *err);
/* Is a switch on by option, environment or file, before there is any state? */
bool start_switch(const struct console_options *o, enum setting i);

#endif
