/* runlog.h - the training log: one JSON object a line, written by the trainer
 * to stdout and read by whoever watches. Writer and parser stand in one file
 * so that they can't drift. docs/RUNLOG.md is the format's manual.
 *
 * No dependency but libc (the trainer is static): the parser is a strict
 * reader of flat objects. Bare NaN, Infinity, -Infinity are accepted.
 */
#ifndef CORE_BASE_RUNLOG_H
#define CORE_BASE_RUNLOG_H

#include "core/base/err.h"
#include "core/base/str.h"

#define RUNLOG_VERSION 1

/* X(enum, "ev") */
#define RUNLOG_EVENTS(X)                                                                          \
    X(RUN_HELLO, "hello")        /* version, model, params, trainable, steps, batch, seed… */     \
    X(RUN_STEP, "step")          /* step, loss, lr, gnorm, tokens, tok_s, epoch, ms */           \
    X(RUN_EVAL, "eval")          /* step, val_loss, val_tokens */                                \
    X(RUN_SAVE, "save")          /* step, path, bytes */                                         \
    X(RUN_STATE, "state")        /* state: "running"|"paused"|"holding"|"quit", step */          \
    X(RUN_ANSWER, "answer")      /* id, cmd, ok, text... */                                      \
    X(RUN_WALK, "walk")          /* id, stage, step, … : a step taken apart */                   \
    X(RUN_WARN, "warn")          /* text, step */                                                \
    X(RUN_ERROR, "error")        /* code, text, hint, step */                                    \
    X(RUN_DONE, "done")          /* steps, loss, val_loss, seconds, adapter */

#define RUNLOG_ENUM(e, name) e,
enum run_event { RUNLOG_EVENTS(RUNLOG_ENUM) RUN_EVENT_COUNT };
#undef RUNLOG_ENUM

enum run_field_type { RF_NUMBER, RF_STRING, RF_BOOL, RF_NULL };

struct run_field {
    char key[32];
    enum run_field_type type;
    double num;                  /* RF_NUMBER, RF_BOOL */
    const char *str;             /* RF_STRING: in the record's own buffer */
};

#define RUNLOG_FIELDS 48
struct run_record {
    enum run_event ev;
    struct run_field f[RUNLOG_FIELDS];
    int n;
    char text[4096];             /* string values */
};

/* PD_PARSE when the line is no runlog record ("ev" and "v" are required). A
 * line that does not start with '{' is not one: check first with
 * runlog_is_record. Unknown fields are kept, unknown events refused. */
bool runlog_is_record(const char *line, size_t n);
MUST_USE enum pd_code runlog_parse(const char *line, size_t n, struct run_record *out,
                                   struct pd_err *err);
double runlog_num(const struct run_record *r, const char *key, double def);
const char *runlog_str(const struct run_record *r, const char *key, const char *def);
bool runlog_has(const struct run_record *r, const char *key);

/* Write: begin, fields, end (adds "}\n"). Numbers print with %.9g, so that a
 * float reads back the same; NaN and infinities print bare. */
void runlog_begin(struct str *s, enum run_event ev);
void runlog_add_num(struct str *s, const char *key, double v);
void runlog_add_int(struct str *s, const char *key, int64_t v);
void runlog_add_str(struct str *s, const char *key, const char *v);
void runlog_add_bool(struct str *s, const char *key, bool v);
void runlog_end(struct str *s);

#endif
