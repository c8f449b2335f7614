/* lora_report.c - what of an adapter's file fits, and what not (lora_report.h). */
#include "core/train/lora_report_impl.h"

#include "core/base/i18n.h"

enum { LINE = 300 };

bool lora_report_empty(const struct safetensors_entry *e)
{
    for (int i = 0; i < e->ndim; i++)
        if (e->shape[i] == 0)
            return true;
    return false;
}

static void compare(const struct safetensors *s, const struct lora *l, struct report *r)
{
    for (int i = 0; i < safetensors_count(s); i++) {
        const struct safetensors_entry *e = safetensors_at(s, i);
        const struct tensor *t = tensors_find(&l->tensors, e->name);
        bool fits = t && e->ndim == 2 && e->shape[0] == t->rows && e->shape[1] == t->cols;
        if (lora_report_empty(e)) {
            lora_names_add(&r->names[EMPTY], e->name);
        } else if (!t) {
            lora_names_add(&r->names[LEFT], e->name);
        } else if (!fits) {
            lora_names_add(&r->names[SHAPE], e->name);
            r->want = r->odd ? r->want : t;
            r->odd = r->odd ? r->odd : e;
        }
    }
    for (int i = 0; i < l->tensors.n; i++)
        if (!safetensors_find(s, l->tensors.t[i].name))
            lora_names_add(&r->names[MISSING], l->tensors.t[i].name);
}

static void print_shape(const struct safetensors_entry *e, struct str *out)
{
    for (int i = 0; i < e->ndim; i++)
        str_printf(out, "%s%" PRId64, i ? ", " : "[", e->shape[i]);
    str_add(out, e->ndim ? "]" : "[]");
}

/* What a mis-shaped tensor says: another r, or another base. */
static void hint_shape(const struct report *r, struct pd_err *err)
{
    const struct safetensors_entry *e = r->odd;
    bool b = strstr(e->name, ".lora_B.");
    int axis = b ? 1 : 0;                          /* where r stands */
    if (e->ndim != 2)
        return;
    int want_r = b ? r->want->cols : r->want->rows, wide = b ? r->want->rows : r->want->cols;
    if (e->shape[axis] != want_r)
        pd_set_hint(err, _("adapter_config.json says r %d there, the file has %lld: they are "
                            "of two runs, or rank_pattern is missing"),
                    want_r, (long long)e->shape[axis]);
    else
        pd_set_hint(err, _("it was trained on another base: its layer is %lld wide, this "
                            "model's %d; give --model the base it names"),
                    (long long)e->shape[1 - axis], wide);
}

/* A prefix that every name of the file wears in vain. */
static const char *known_prefix(const struct safetensors *s)
{
    static const char *const prefix[] = {"module.", "_orig_mod.", "base_model.model.base_model.",
                                         "model.", "layers.", "transformer."};
    for (size_t i = 0; i < ARRAY_LEN(prefix); i++) {
        int n = 0;
        for (int k = 0; k < safetensors_count(s); k++)
            n += str_starts(safetensors_at(s, k)->name, prefix[i]);
        if (n && n == safetensors_count(s))
            return prefix[i];
    }
    return NULL;
}

static void hint_names(const struct safetensors *s, const struct report *r, struct pd_err *err)
{
    const char *prefix = known_prefix(s);
    const struct lora_names *left = &r->names[LEFT];
    for (int i = 0; i < left->n; i++)
        if (strstr(left->v[i].rest, ".default"))
            return (void)pd_set_hint(err, _("the names hold \".default\": it was saved by "
                                            "state_dict(), not by save_pretrained()"));
    for (int i = 0; i < left->n; i++)
        if (strstr(left->v[i].rest, "embed_tokens") || strstr(left->v[i].rest, "lm_head"))
            return (void)pd_set_hint(err, _("whole embeddings were stored: save with "
                                            "save_embedding_layers=False"));
    if (prefix)
        pd_set_hint(err, _("every name starts with \"%s\", PEFT's with \"base_model.model.\""),
                    prefix);
    else if (left->n)
        pd_set_hint(err, _("the adapter's base and target_modules must be those of the file"));
    else
        pd_set_hint(err, _("the file was cut when it was saved, or adapter_config.json belongs to "
                            "another run"));
}

static void print_fault(const struct safetensors *s, struct report *r, enum fault f,
                        struct str *out)
{
    static const char *const text[FAULTS] = {
        [EMPTY] = N_("are empty (shape [0])"),
        [MISSING] = N_("are missing"),
        [LEFT] = N_("are left over"),
        [SHAPE] = N_("have another shape"),
    };
    int all = f == MISSING ? r->names[f].n + safetensors_count(s) - r->names[LEFT].n
                           : safetensors_count(s);
    if (!r->names[f].n)
        return;
    str_add(out, out->len ? "; " : "");
    str_printf(out, _("%d of %d tensors %s: "), r->names[f].n, all, _(text[f]));
    lora_names_print(&r->names[f], LINE, out);
    if (f != SHAPE)
        return;
    str_add(out, ", ");
    print_shape(r->odd, out);
    str_printf(out, _(" instead of [%d, %d]"), r->want->rows, r->want->cols);
}

static void hint(const struct safetensors *s, const struct report *r, struct pd_err *err)
{
    if (r->names[EMPTY].n)
        pd_set_hint(err, _("the weights were not gathered before saving (DeepSpeed ZeRO-3, FSDP): "
                            "gather them, save again"));
    else if (r->names[SHAPE].n)
        hint_shape(r, err);
    else
        hint_names(s, r, err);
}

enum pd_code lora_report_tell(const struct safetensors *s, const char *path, struct report *r,
                              struct pd_err *err)
{
    struct str out;
    str_init(&out, 1 << 20);
    for (int f = 0; f < FAULTS; f++)
        print_fault(s, r, (enum fault)f, &out);
    bool wrong = out.len > 0;
    if (wrong) {
        pd_fail_at(err, PD_TRAIN, path, 0, 0, "%s", out.p);
        hint(s, r, err);
    }
    str_release(&out);
    for (int f = 0; f < FAULTS; f++)
        lora_names_release(&r->names[f]);
    return wrong ? err->code : PD_OK;
}

enum pd_code lora_report(const struct safetensors *s, const char *path, const struct lora *l,
                         struct pd_err *err)
{
    struct report r = {0};
    compare(s, l, &r);
    return lora_report_tell(s, path, &r, err);
}
