/* batch.h - from the data's padded batches to rows without padding.
 *
 * Positions behind a sequence's last label can't change the loss under causal
 * attention: they are not computed. Records that share a row become sequences of
 * their own.
 */
#ifndef CORE_TRAIN_BATCH_H
#define CORE_TRAIN_BATCH_H

#include "core/train/data.h"
#include "core/train/ops.h"

struct batch {
    struct data_batch padded;
    struct rows rows;
    int max_rows;
};
void batch_init(struct batch *b, int sequences, int max_len);
void batch_release(struct batch *b);
/* rows from padded. */
void batch_pack(struct batch *b);

#endif
