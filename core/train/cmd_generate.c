/* cmd_generate.c - `generate`: a prompt continued; `logits`: the scores of the
 * token that follows a list of ids. */
#include "core/train/cmd.h"

#include <unistd.h>

#include "core/base/i18n.h"
#include "core/train/cmd_decode.h"
#include "core/train/data.h"

static enum pd_code encode_prompt(const struct options *o, const struct tok *t,
                                  const struct tok_chat *form, struct tok_ids *ids,
                                  struct pd_err *err)
{
    struct str s;
    str_init(&s, CMD_TEXT_CEILING);
    if (!o->instruction)
        str_add(&s, o->prompt);
    else if (o->chat)
        str_printf(&s, "%s%s%s", o->instruction, o->input ? "\n\n" : "", o->input ? o->input : "");
    else
        data_prompt(o->lang, o->instruction, o->input, &s);
    enum pd_code rc = cmd_prompt_ids(o, t, form, s.p, !o->instruction, ids, err);
    str_release(&s);
    return rc;
}

static enum pd_code generate(const struct options *o, struct cmd_model *x, const struct tok *t,
                             const struct tok_chat *form, enum decode_end *end,
                             struct pd_err *err)
{
    struct decode_options d;
    struct tok_ids ids;
    struct str text;
    tok_ids_init(&ids);
    str_init(&text, CMD_TEXT_CEILING);
    enum pd_code rc = encode_prompt(o, t, form, &ids, err);
    struct decode *run = decode_new(&x->m, &x->c, t, cmd_context(o, x, ids.n));
    cmd_decode_options(o, x, t, form, &d);
    bool live = isatty(STDOUT_FILENO);
    d.say = live ? cmd_say_live : NULL;
    if (rc == PD_OK)
        rc = decode_run(run, &d, ids.v, ids.n, &text, NULL, end, err);
    if (rc == PD_OK && live)
        printf("\n");
    else if (rc == PD_OK)
        cmd_say(text.p, text.len);
    decode_free(run);
    tok_ids_release(&ids);
    str_release(&text);
    return rc;
}

int cmd_generate(const struct options *o)
{
    struct cmd_model x;
    struct tok *t = NULL;
    struct tok_chat *form = NULL;
    struct pd_err err;
    enum decode_end end = DECODE_EOS;
    enum pd_code rc = cmd_model_open(&x, o, &err);
    if (rc == PD_OK)
        rc = tok_load(o->t.model, &t, &err);
    if (rc == PD_OK && o->chat)
        rc = cmd_chat_form(o, t, &form, &err);
    if (rc == PD_OK) {
        if (x.adapted)
            lora_merge(&x.lora, &x.m);
        rc = generate(o, &x, t, form, &end, &err);
    }
    tok_chat_free(form);
    if (t)
        tok_free(t);
    cmd_model_close(&x);
    if (rc != PD_OK)
        return cmd_fail(&err);
    return end == DECODE_STOPPED ? TRAINER_TERMINATED : TRAINER_DONE;
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
    const float *logits = generate_feed(g, ids->v, ids->n);
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
