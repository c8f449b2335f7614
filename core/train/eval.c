/* eval.c - the validation loss (eval.h). */
#include "core/train/eval.h"

#include "core/base/i18n.h"

enum pd_code eval_run(struct llama_run *run, struct data *d, struct batch *b, int rows,
                      int64_t most, struct eval_result *out, struct pd_err *err)
{
    return eval_split(run, d, DATA_VAL, b, rows, most, out, err);
}

enum pd_code eval_split(struct llama_run *run, struct data *d, enum data_split split,
                        struct batch *b, int rows, int64_t most, struct eval_result *out,
                        struct pd_err *err)
{
    double sum = 0, part;
    int64_t n;
    *out = (struct eval_result){0};
    for (int64_t i = 0; most == 0 || i < most; i++) {
        data_eval_batch(d, split, i, rows, &b->padded);
        if (b->padded.rows == 0)
            break;
        batch_pack(b);
        if (llama_loss(run, &b->rows, 0, &part, &n, err) != PD_OK)
            return err->code;
        sum += part;
        out->tokens += n;
        out->examples += b->padded.rows;
    }
    if (out->tokens == 0)
        return pd_fail(err, PD_DATA, split == DATA_VAL
                                         ? _("the validation split has no trained token")
                                         : _("the training split has no trained token"));
    out->loss = sum / (double)out->tokens;
    return PD_OK;
}
