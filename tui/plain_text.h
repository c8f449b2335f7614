/* plain_text.h - the state in words: each function appends logical lines, one
 * thought a line, that need no other line to be understood. Pure. Wrapping and
 * cleaning come last, in plain_wrap.
 */
#ifndef TUI_PLAIN_TEXT_H
#define TUI_PLAIN_TEXT_H

#include "tui/app.h"

/* Text as lines of at most `width` columns: cleaned of everything that could
 * steer a terminal, secrets masked, a line's indent kept on what goes on below.
 * ascii: no byte above 126. */
void plain_wrap(const char *text, int width, bool ascii, struct str *out);
void plain_line(struct str *out, const char *fmt, ...) PRINTF_LIKE(2, 3);
/* Every row of a panel as text, for what has no words of its own here. */
void plain_panel(const struct app *a, enum panel_id panel, int width, struct str *out);

/* plain_text.c: labs and steps */
bool plain_loaded(const struct app *a);                    /* a lab is open, its progress read */
void plain_labs(const struct app *a, struct str *out);
void plain_where(const struct app *a, struct str *out);
void plain_read(const struct app *a, struct str *out);     /* the step's whole text */
void plain_steps(const struct app *a, struct str *out);
void plain_checks(const struct app *a, struct str *out);
void plain_check(const struct app *a, int i, struct str *out);
void plain_hint(const struct app *a, int i, struct str *out);
void plain_step_parts(const struct app *a, struct str *out);   /* notes, solution, clearing up */
void plain_files(const struct app *a, struct str *out);
void plain_done(const struct app *a, struct str *out);     /* what the lab left */

/* plain_quiz.c: questions, notes, scenes */
int plain_quiz_open(const struct app *a);                  /* -1: none */
void plain_question(const struct app *a, int i, struct str *out);
void plain_questions(const struct app *a, struct str *out);
void plain_quiz_result(const struct app *a, int i, struct str *out);
void plain_need(const struct app *a, struct str *out);     /* what it needs, and its scene */
void plain_notes(const struct app *a, struct str *out);

/* plain_world.c: the cluster */
/* Server, version, user, what labs need and is not allowed, what ends soon. */
void plain_who(const struct app *a, struct str *out);
void plain_link(const struct app *a, struct str *out);
void plain_nodes(const struct app *a, struct str *out);
void plain_pods(const struct app *a, struct str *out);
void plain_events(const struct app *a, int most, struct str *out);
void plain_log(const struct app *a, int most, struct str *out);
void plain_api(const struct app *a, int most, struct str *out);
void plain_why(const struct app *a, struct str *out);
void plain_explained(const struct app *a, struct str *out);    /* the answer to why pod/NAME */

/* plain_run.c: operation and training */
void plain_op(const struct app *a, struct str *out);
void plain_point(const struct app *a, struct str *out);    /* step, losses, time left */
void plain_curve(const struct app *a, struct str *out);    /* in words, and a small table */
void plain_answer(const struct app *a, struct str *out);   /* what the trainer showed */
void plain_status(const struct app *a, struct str *out);

#endif
