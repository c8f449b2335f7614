/* step_text.h - what a step says besides its text, put together once for every
 * way of showing it: the step pane, --plain, a headless run.
 *
 * Pure: a session in, plain text of the language out. Lines end with '\n';
 * nothing is wrapped.
 */
#ifndef LABS_STEP_TEXT_H
#define LABS_STEP_TEXT_H

#include "labs/session.h"

/* Is there anything that `step.solution yes` could show? */
bool step_has_solution(const struct lab_step *step);
/* May the person go on from the shown step? */
bool step_may_go_on(const struct session *s);

/* Each appends, and returns false when there is nothing to say. */
bool step_text_need(const struct session *s, struct str *out);      /* "simulated: …" */
bool step_text_scene(const struct session *s, struct str *out);     /* "setting the scene 2/5 …" */
bool step_text_solution(const struct session *s, struct str *out);  /* the text, or the edits */
bool step_text_notes(const struct session *s, struct str *out);
bool step_text_clean(const struct session *s, struct str *out);     /* what clearing up found */
/* One choice: its letter and its words. place 0.. ; false: there is none. */
bool step_text_choice(const struct session *s, int quiz, int place, char *letter,
                      struct str *out);
/* "answer with a letter" … for the input line. */
void step_text_ask(const struct session *s, int quiz, struct str *out);

#endif
