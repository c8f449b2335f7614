/* cmd_export.c - results for others: `merge` writes the model with the adapter in
 * its weights, `export` a GGUF file of the model or of the adapter.
 */
#include "core/train/cmd.h"

#include <math.h>

#include "core/base/i18n.h"
#include "core/base/mem.h"
#include "core/train/cmd_model.h"
#include "core/train/gguf_model.h"
#include "core/train/model_dir.h"
#include "core/train/probe.h"
#include "core/train/tjson.h"

/* The same shape again, filled from the written files. */
static enum pd_code read_back(const struct model_dir *d, struct cmd_model *x, struct pd_err *err)
{
    struct llama_config cfg = x->m.cfg;
    llama_release(&x->m);
    llama_init(&x->m, &cfg, false);
    return model_dir_read(d, &x->m, err);
}

static const char *const stored[] = {"f32", "bf16", "f16"};

static void say_json(const struct options *o, const struct model_dir *d, size_t parameters,
                     const struct probe_diff *p)
{
    struct str s;
    str_init(&s, 1 << 16);
    str_add(&s, "{\"out\":");
    tjson_quote(&s, o->t.out);
    str_printf(&s, ",\"type\":\"%s\",\"files\":%d,\"bytes\":%" PRId64
                   ",\"parameters\":%zu,", stored[d->type], d->shards, d->bytes, parameters);
    str_printf(&s, "\"max_dlogit\":%.9g,\"max_logit\":%.9g,\"same_first\":%d,\"prompts\":%d}",
               p->most, p->largest, p->same, PROBE_PROMPTS);
    puts(s.p);
    str_release(&s);
}

static void say_merged(const struct options *o, const struct model_dir *d, size_t parameters,
                       const struct probe_diff *p)
{
    if (o->json)
        return say_json(o, d, parameters, p);
    printf(_("%s: %zu parameters as %s, %.1f MB, files: %d\n"), o->t.out, parameters,
           stored[d->type], (double)d->bytes / 1e6, d->shards);
    printf(_("read back and compared with the adapter on %d random prompts: max |Δlogit| %.3g "
             "(largest logit %.3g), the same first token on %d\n"),
           PROBE_PROMPTS, p->most, p->largest, p->same);
}

static enum pd_code merge(const struct options *o, struct cmd_model *x, struct model_dir *d,
                          float *before, struct pd_err *err)
{
    size_t n = (size_t)PROBE_PROMPTS * (size_t)x->m.cfg.vocab;
    float *after = before + n;
    if (probe_logits(&x->m, &x->lora, &x->c, before, err) != PD_OK)
        return err->code;
    lora_merge(&x->lora, &x->m);
    if (model_dir_write(d, &x->m, err) != PD_OK || read_back(d, x, err) != PD_OK ||
        probe_logits(&x->m, NULL, &x->c, after, err) != PD_OK)
        return err->code;
    struct probe_diff p = probe_compare(before, after, x->m.cfg.vocab);
    say_merged(o, d, llama_parameters(&x->m.cfg), &p);
    if (isnan(p.most))
        return pd_fail(err, PD_TRAIN, _("the merged model's logits are not numbers"));
    return PD_OK;
}

int cmd_merge(const struct options *o)
{
    struct cmd_model x;
    struct pd_err err;
    struct model_dir d = {.from = o->t.model, .to = o->t.out, .most = o->shard_bytes,
                          .type = o->t.bf16 ? SAFETENSORS_BF16
                                  : o->f16  ? SAFETENSORS_F16 : SAFETENSORS_F32};
    enum pd_code rc = cmd_model_open(&x, o, &err);
    if (rc == PD_OK) {
        float *z = xcalloc(2 * (size_t)PROBE_PROMPTS * (size_t)x.m.cfg.vocab, sizeof *z);
        rc = merge(o, &x, &d, z, &err);
        free(z);
    }
    cmd_model_close(&x);
    return rc == PD_OK ? TRAINER_DONE : cmd_fail(&err);
}

static const struct {
    const char *name;
    enum gguf_save_type type;
} types[] = {
    {"f32", GGUF_SAVE_F32}, {"f16", GGUF_SAVE_F16}, {"bf16", GGUF_SAVE_BF16},
    {"q8_0", GGUF_SAVE_Q8_0},
};

static enum pd_code read_type(const char *name, enum gguf_save_type *type, struct pd_err *err)
{
    for (size_t i = 0; i < ARRAY_LEN(types); i++)
        if (str_eq(types[i].name, name)) {
            *type = types[i].type;
            return PD_OK;
        }
    return pd_fail(err, PD_USAGE, _("--type takes f32, f16, bf16 or q8_0, not \"%s\""), name);
}

static enum pd_code export(const struct options *o, struct cmd_model *x, struct pd_err *err)
{
    enum gguf_save_type type = GGUF_SAVE_F16;
    int64_t bytes;
    enum pd_code rc = PD_OK;
    if (o->type)
        rc = read_type(o->type, &type, err);
    if (rc == PD_OK && o->adapter_only && !o->t.adapter)
        rc = pd_fail(err, PD_USAGE, _("--adapter-only needs --adapter"));
    if (rc == PD_OK)
        rc = cmd_model_open(x, o, err);
    if (rc != PD_OK)
        return rc;
    if (o->adapter_only)
        rc = gguf_adapter_save(&x->lora, &x->m.cfg, o->gguf, o->type ? type : GGUF_SAVE_F32,
                               &bytes, err);
    else {
        if (x->adapted)
            lora_merge(&x->lora, &x->m);
        rc = gguf_model_save(&x->m, o->t.model, o->gguf, type, &bytes, err);
    }
    if (rc == PD_OK)
        printf("%s: %.1f MB\n", o->gguf, (double)bytes / 1e6);
    return rc;
}

int cmd_export(const struct options *o)
{
    struct cmd_model x = {0};
    struct pd_err err;
    enum pd_code rc = export(o, &x, &err);
    cmd_model_close(&x);
    return rc == PD_OK ? TRAINER_DONE : cmd_fail(&err);
}
