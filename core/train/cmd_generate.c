/* cmd_generate.c - `generate`: a prompt continued; `logits`: the scores of the
 * token that follows a list of ids. */
#include "core/train/cmd.h"

#include "core/base/i18n.h"
#include "core/base/utf8.h"
#include "core/train/cmd_model.h"
#include "core/train/data.h"
#include "core/train/generate.h"

enum { TEXT_CEILING = 1 << 22 };

static bool is_eos(const struct llama_config *c, const struct tok *t, int32_t id)
{
    for (int i = 0; i < c->n_eos; i++)
        if (c->eos[i] == id)
            return true;
    return c->n_eos == 0 && id == tok_eos(t);
}

static void encode_prompt(const struct options *o, const struct tok *t, struct tok_ids *ids)
{
    struct str s;
    str_init(&s, TEXT_CEILING);
    if (o->instruction)
        data_prompt(o->lang, o->instruction, o->input, &s);
    else
        str_add(&s, o->prompt);
    tok_encode(t, s.p, s.len, !o->instruction, ids);
    str_release(&s);
}

static void say(const struct tok *t, const struct tok_ids *ids, size_t from)
{
    struct str raw, clean;
    str_init(&raw, TEXT_CEILING);
    str_init(&clean, TEXT_CEILING);
    tok_decode(t, ids->v + from, ids->n - from, true, &raw);
    utf8_clean(raw.p, raw.len, true, &clean);
    printf("%s\n", clean.p);
    str_release(&raw);
    str_release(&clean);
}

static enum pd_code continue_ids(const struct options *o, struct cmd_model *x,
                                 const struct tok *t, struct tok_ids *ids, struct pd_err *err)
{
    size_t most = ids->n + (size_t)o->max_tokens;
    int room = (int)MIN(most, (size_t)x->m.cfg.max_pos);
    if (ids->n == 0 || ids->n >= (size_t)x->m.cfg.max_pos)
        return pd_fail(err, PD_USAGE, _("the prompt has %zu tokens, the model takes 1 to %d"),
                       ids->n, x->m.cfg.max_pos - 1);
    struct generate *g = generate_new(&x->m, &x->c, room);
    const float *logits = NULL;
    for (size_t i = 0; i < ids->n; i++)
        logits = generate_feed(g, ids->v[i]);
    while (logits && ids->n < most) {
        int32_t id = generate_pick(logits, x->m.cfg.vocab, o->temperature, o->top_p, o->t.seed,
                                   ids->n);
        if (is_eos(&x->m.cfg, t, id))
            break;
        tok_ids_push(ids, id);
        logits = generate_feed(g, id);
    }
    generate_free(g);
    return PD_OK;
}

int cmd_generate(const struct options *o)
{
    struct cmd_model x;
    struct tok *t = NULL;
    struct tok_ids ids;
    struct pd_err err;
    tok_ids_init(&ids);
    enum pd_code rc = cmd_model_open(&x, o, &err);
    if (rc == PD_OK)
        rc = tok_load(o->t.model, &t, &err);
    if (rc == PD_OK) {
        if (x.adapted)
            lora_merge(&x.lora, &x.m);
        encode_prompt(o, t, &ids);
        size_t from = ids.n;
        rc = continue_ids(o, &x, t, &ids, &err);
        if (rc == PD_OK)
            say(t, &ids, from);
    }
    tok_ids_release(&ids);
    if (t)
        tok_free(t);
    cmd_model_close(&x);
    return rc == PD_OK ? TRAINER_DONE : cmd_fail(&err);
}

static enum pd_code parse_ids(const char *list, struct tok_ids *ids, struct pd_err *err)
{
    struct strv v;
    enum pd_code rc = PD_OK;
    strv_init(&v);
    strv_split(&v, list, ',');
    for (size_t i = 0; i < v.n && rc == PD_OK; i++) {
        int64_t id;
        if (!str_to_i64(v.v[i], &id) || id < 0 || id > INT32_MAX)
            rc = pd_fail(err, PD_USAGE, _("--ids takes numbers with commas, not \"%s\""), v.v[i]);
        else
            tok_ids_push(ids, (int32_t)id);
    }
    strv_release(&v);
    return rc;
}

static enum pd_code print_logits(struct cmd_model *x, const struct tok_ids *ids,
                                 struct pd_err *err)
{
    struct generate *g = generate_new(&x->m, &x->c, (int)ids->n);
    const float *logits = NULL;
    for (size_t i = 0; i < ids->n; i++)
        logits = generate_feed(g, ids->v[i]);
    for (int i = 0; logits && i < x->m.cfg.vocab; i++)
        printf("%.9g\n", (double)logits[i]);
    generate_free(g);
    return logits ? PD_OK : pd_fail(err, PD_USAGE, _("an id is outside of the vocabulary"));
}

int cmd_logits(const struct options *o)
{
    struct cmd_model x;
    struct tok_ids ids;
    struct pd_err err;
    tok_ids_init(&ids);
    enum pd_code rc = cmd_model_open(&x, o, &err);
    if (rc == PD_OK)
        rc = parse_ids(o->ids, &ids, &err);
    if (rc == PD_OK) {
        if (x.adapted)
            lora_merge(&x.lora, &x.m);
        rc = print_logits(&x, &ids, &err);
    }
    tok_ids_release(&ids);
    cmd_model_close(&x);
    return rc == PD_OK ? TRAINER_DONE : cmd_fail(&err);
}
