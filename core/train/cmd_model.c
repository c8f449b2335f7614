/* cmd_model.c - opening a model with its adapter (cmd_model.h). */
#include "core/train/cmd_model.h"

/* What a person should know of the adapter; stdout is the command's own. */
static void note(const struct lora *l)
{
    struct str s;
    str_init(&s, 4096);
    lora_notes(l, &s);
    if (s.len)
        fprintf(stderr, "podium-train: %s", s.p);
    str_release(&s);
}

enum pd_code cmd_model_open(struct cmd_model *x, const struct options *o, struct pd_err *err)
{
    *x = (struct cmd_model){0};
    enum pd_code rc = llama_load(&x->m, o->t.model, false, err);
    if (rc == PD_OK && o->t.adapter) {
        rc = lora_load(&x->lora, &x->m.cfg, o->t.adapter, err);
        x->adapted = rc == PD_OK;
        if (x->adapted)
            note(&x->lora);
    }
    if (rc == PD_OK)
        rc = compute_init(&x->c, o->t.threads, x->m.cfg.max_pos, err);
    return rc;
}

void cmd_model_close(struct cmd_model *x)
{
    if (x->adapted)
        lora_release(&x->lora);
    llama_release(&x->m);
    compute_release(&x->c);
}
