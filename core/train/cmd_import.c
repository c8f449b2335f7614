/* cmd_import.c - podium-train import: a GGUF file becomes a model folder. */
#include "core/train/cmd.h"

#include "core/base/i18n.h"
#include "core/base/str.h"
#include "core/train/gguf_import.h"

int cmd_import(const struct options *o)
{
    struct pd_err err;
    struct llama_config c;
    if (o->n_rest != 1) {
        pd_fail(&err, PD_USAGE, _("import takes one GGUF file"));
        return cmd_fail(&err);
    }
    if (gguf_import(o->rest[0], o->t.out, o->t.bf16, &c, &err) != PD_OK)
        return cmd_fail(&err);
    printf(_("%s: %d layers, %d wide, %d tokens, %.1f M parameters\n"), o->t.out, c.layers,
           c.hidden, c.vocab, (double)llama_parameters(&c) / 1e6);
    return TRAINER_DONE;
}
