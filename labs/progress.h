/* progress.h - how far a person is in a lab: an append-only journal of events
 * and a snapshot of their sum.
 *
 * Pure: texts in, one JSON state out. The session writes each event as one
 * line behind the journal (a single write, so that a SIGKILL loses at most the
 * last line) and the snapshot now and then (to a new file, then renamed). A
 * torn last line is ignored; a snapshot that can't be read is put aside and
 * the state made again from the journal. Steps are known by their id, never by
 * their place: a lab may gain, lose and reorder steps.
 *
 * State: {"podium_progress":1, "lab", "seq", "seed", "at": STEP,
 *   "steps": {ID: {"done", "simulated", "passed": "skipped"|"read", "hints",
 *     "attempts", "solution", "answers": {QUIZ: {"text", "right", "tries"}}}},
 *   "facts": {…}}
 * Events: {"seq", "at_ms", "ev": "attempt" (seed) | "at" (step) | "done" (step,
 *   simulated) | "passed" (step, how) | "hint" (step) | "try" (step) |
 *   "solution" (step) | "answer" (step, quiz, text, right) |
 *   "fact" (key, value) | "made" (key, value)}
 */
#ifndef LABS_PROGRESS_H
#define LABS_PROGRESS_H

#include "core/base/json.h"
#include "labs/lab.h"

#define PROGRESS_VERSION 1

struct json *progress_new(const char *lab_id, uint64_t seed);
/* False: an unknown or old event (its seq is not above the state's), nothing
 * changed. */
bool progress_apply(struct json *state, const struct json *event);

/* What a load found besides the state: a note for the person ("" : nothing). */
struct progress_found {
    char note[240];
    bool fresh;                   /* nothing was there */
    bool snapshot_bad;            /* put it aside */
    bool torn;                    /* the journal's last line is cut: begin a new line */
};
/* NULL texts: the file is not there. Always gives a state. */
struct json *progress_load(const char *lab_id, uint64_t seed, const char *snapshot,
                           const char *journal, struct progress_found *found);

bool progress_done(const struct json *state, const char *step_id);
/* Done, or gone past because this cluster lacks what the step requires. */
bool progress_over(const struct json *state, const char *step_id);
/* The step to show: the recorded one when all before it are done, else the
 * first that is not done; steps_n when all are. */
int progress_step(const struct json *state, const struct lab *lab);
bool progress_finished(const struct json *state, const struct lab *lab);
/* Steps that the state knows and the lab does not. */
int progress_unknown(const struct json *state, const struct lab *lab);

/* progress_disk.c: what the work folder says. Steps done; and when something
 * last happened in the lab (Unix seconds, 0: never). */
int progress_disk_done(const struct lab *lab);
int64_t progress_disk_changed(const struct lab *lab);

#endif
