/* generate.h - one token after another, with the keys and values kept.
 *
 * A generator feeds one token at a time: each position's keys and values are
 * computed once. Adapters are merged into the weights beforehand.
 */
#ifndef CORE_TRAIN_GENERATE_H
#define CORE_TRAIN_GENERATE_H

#include "core/train/llama.h"

struct generate;
struct generate *generate_new(const struct llama *m, struct compute *c, int max_len);
void generate_free(struct generate *g);
/* Logits [vocab] of what follows, borrowed until the next call. NULL when
 * max_len tokens have been fed, or for an id outside of the vocabulary. */
const float *generate_feed(struct generate *g, int32_t id);

/* temperature 0: the likeliest (the first of equals). Else a draw from the
 * top_k likeliest (0: all), of them from the smallest set of likeliest whose
 * probability reaches top_p; the counter-based number (key, counter) decides. */
struct generate_how {
    double temperature, top_p;
    int64_t top_k;
    uint64_t key;
};
int32_t generate_pick(const float *logits, int vocab, const struct generate_how *how,
                      uint64_t counter);

#endif
