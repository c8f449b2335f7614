/* quiz.h - questions: the order of their choices, and is an answer right?
 *
 * Pure: reads the session, changes nothing. Answers come by the command
 * quiz.answer (labs/session.h) and by nothing else: checking never answers a
 * question. A choice is answered by its letter as shown ("b", "ac" when several
 * are right) or by its own words. Choices are shuffled once an attempt.
 */
#ifndef LABS_QUIZ_H
#define LABS_QUIZ_H

#include "labs/session.h"

enum { QUIZ_MOST = 20, QUIZ_CHOICES = 8 };

/* What {number: {run: …}} can name: figures of the person's own run. */
bool quiz_run_source(const char *name);
const char *quiz_run_sources(void);

/* order[place] = index of the choice that stands there. */
void quiz_order(const struct session *s, int step, int quiz, int order[QUIZ_CHOICES]);
/* More than one choice is right. */
bool quiz_several(const struct lab_quiz *q);
/* PASS, WRONG, UNKNOWN (what it is compared with can't be seen), or NOT YET
 * (this is no answer: no number, no such letter). */
void quiz_judge(const struct session *s, int step, int quiz, const char *answer,
                struct evidence *ev);
/* The right answer as the person would type it, appended; false: not known. */
bool quiz_right(const struct session *s, int step, int quiz, struct str *out);
/* The first question of the step that is not answered right; -1: none. */
int quiz_open(const struct session *s, int step);

#endif
