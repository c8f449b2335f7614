/* decode.h - text from a model: ids fed and drawn, an end recognised, and the
 * text handed out as it comes, always in whole characters.
 *
 * What may still turn out to be the beginning of the stop text is held back;
 * the stop text itself is never handed out. A decode keeps its place, so that a
 * conversation goes on where it stood.
 */
#ifndef CORE_TRAIN_DECODE_H
#define CORE_TRAIN_DECODE_H

#include "core/train/generate.h"
#include "core/train/tok.h"

enum decode_end { DECODE_EOS, DECODE_STOP, DECODE_LENGTH, DECODE_CONTEXT, DECODE_STOPPED };

struct decode_options {
    struct generate_how how;
    int64_t most;                 /* tokens to make */
    const char *stop;             /* NULL: none */
    int32_t eos[LLAMA_MAX_EOS + 1];
    int n_eos;
    const volatile int *stopped;  /* NULL: never */
    /* Called with the text that is sure; may be NULL. */
    void (*say)(void *arg, const char *text, size_t n);
    void *arg;
};

struct decode;
/* max_len: the context. */
struct decode *decode_new(const struct llama *m, struct compute *c, const struct tok *t,
                          int max_len);
void decode_free(struct decode *d);                       /* NULL: nothing */
int decode_len(const struct decode *d);                   /* tokens fed so far */

/* Feed n ids, draw until an end; the text is appended to out, the tokens drawn
 * (without the one that ended it) to ids (NULL: not wanted). A token that ends
 * is fed too, so that the next turn finds it. PD_USAGE when nothing is to be
 * fed, or for an id outside of the vocabulary. */
MUST_USE enum pd_code decode_run(struct decode *d, const struct decode_options *o,
                                 const int32_t *ids, size_t n, struct str *out,
                                 struct tok_ids *drawn, enum decode_end *end,
                                 struct pd_err *err);

#endif
