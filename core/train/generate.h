/* generate.h - one token after another, with the keys and values kept.
 *
 * Each position's keys and values are computed once. Adapters are merged into
 * the weights beforehand.
 */
#ifndef CORE_TRAIN_GENERATE_H
#define CORE_TRAIN_GENERATE_H

#include "core/train/llama.h"

struct generate;
struct generate *generate_new(const struct llama *m, struct compute *c, int max_len);
void generate_free(struct generate *g);
/* Feed n ids: logits [vocab] of what follows, borrowed until the next call.
 * NULL when max_len tokens would be passed, or for an id outside of the
 * vocabulary (what stood before it may have been fed). */
const float *generate_feed(struct generate *g, const int32_t *ids, size_t n);

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
