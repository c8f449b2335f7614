/* data_encode.c - a record as ids, and which of them are trained.
 *
 * The mask is made here and nowhere else: 1 for the ids of an answer and the
 * token that ends it, whatever the id of that token.
 */
#include "core/base/base.h"

#include "core/base/i18n.h"
#include "core/base/mem.h"
#include "core/train/data_impl.h"

/* --- the prompt ------------------------------------------------------------------- */

struct prompt_form {
    const char *lang, *head, *head_input, *instruction, *input, *response;
};

static const struct prompt_form forms[] = {
    {"en",
     "Below is an instruction that describes a task. Write a response that appropriately "
     "completes the request.\n\n",
     "Below is an instruction that describes a task, paired with an input that provides further "
     "context. Write a response that appropriately completes the request.\n\n",
     "### Instruction:\n", "\n\n### Input:\n", "\n\n### Response:\n"},
    {"zh", "下面是一条描述任务的指令。请写出恰当完成该请求的回答。\n\n",
     "下面是一条描述任务的指令，并附有提供背景的输入。"
     "请写出恰当完成该请求的回答。\n\n",
     "### 指令：\n", "\n\n### 输入：\n", "\n\n### 回答：\n"},
};

static const struct prompt_form *form_of(const char *lang)
{
    for (size_t i = 0; i < ARRAY_LEN(forms); i++)
        if (str_eq(forms[i].lang, lang))
            return &forms[i];
    return NULL;
}

void data_prompt(const char *lang, const char *instruction, const char *input, struct str *out)
{
    const struct prompt_form *f = form_of(lang);
    f = f ? f : &forms[0];
    bool has_input = input && *input;
    str_add(out, has_input ? f->head_input : f->head);
    str_add(out, f->instruction);
    str_add(out, instruction);
    if (has_input) {
        str_add(out, f->input);
        str_add(out, input);
    }
    str_add(out, f->response);
}

bool data_has_prompt(const char *lang)
{
    return form_of(lang) != NULL;
}

/* --- too long ------------------------------------------------------------------------- */

static const char *const policies[] = {"error", "truncate", "drop"};

bool data_knows_policy(const char *name)
{
    for (size_t i = 0; i < ARRAY_LEN(policies); i++)
        if (str_eq(policies[i], name))
            return true;
    return false;
}

static void free_last(struct data *d)
{
    struct data_owned *o = &d->records[--d->records_n];
    size_t at = (size_t)d->examples[d->records_n].at;
    data_owned_release(o);
    d->pool.n = d->mask.n = at;
}

static int64_t count_trained(const struct data *d, const struct data_example *e)
{
    int64_t n = 0;
    for (int i = 1; i < e->n; i++)
        n += d->mask.v[e->at + i];
    return n;
}

static enum pd_code too_long(struct data_reader *r, struct data_example *e)
{
    struct data *d = r->d;
    const char *policy = r->opt->too_long ? r->opt->too_long : "error";
    char text[96];
    if (str_eq(policy, "error")) {
        pd_fail_at(r->err, PD_DATA, r->path, r->line, 0, "%s%s", _("the record is too long: "),
                   str_fmt(text, sizeof text, "%d tokens, the most is %d", e->n - 1, d->max_len));
        return pd_set_hint(r->err, _("shorten it, or raise the sequence length to %d"), e->n - 1);
    }
    e->n = d->max_len + 1;
    d->pool.n = d->mask.n = (size_t)(e->at + e->n);
    if (str_eq(policy, "truncate") && count_trained(d, e) > 0) {
        d->cut++;
        return PD_OK;
    }
    d->dropped++;
    free_last(d);
    return PD_OK;
}

/* --- ids ------------------------------------------------------------------------------ */

/* The last record's ids are there: its mask filled up, its length looked at. */
static enum pd_code finish(struct data_reader *r)
{
    struct data *d = r->d;
    struct data_example *e = &d->examples[d->records_n - 1];
    e->n = (int)((int64_t)d->pool.n - e->at);
    if (r->opt->train_prompt)
        for (int i = 0; i < e->n; i++)
            d->mask.v[e->at + i] = 1;
    if (e->n - 1 > d->max_len) {
        size_t before = d->records_n;
        if (too_long(r, e) != PD_OK)
            return PD_DATA;
        if (d->records_n < before)
            return PD_OK;
    }
    e->trained = (int)count_trained(d, e);
    d->longest = MAX(d->longest, e->n - 1);
    if (e->trained == 0)
        return pd_fail_at(r->err, PD_DATA, r->path, r->line, 0,
                          _("nothing of the record is trained: all labels are masked"));
    return PD_OK;
}

/* Append text, a new one or what goes on; its ids are trained or not. */
static void put(struct data *d, const char *text, size_t n, bool goes_on, bool trained)
{
    (goes_on ? tok_encode_more : tok_encode)(d->tok, text, n, false, &d->pool);
    while (d->mask.n < d->pool.n)
        tok_ids_push(&d->mask, trained);
}

static void put_begin(struct data *d)
{
    tok_begin(d->tok, &d->pool);
    while (d->mask.n < d->pool.n)
        tok_ids_push(&d->mask, 0);
}

static void put_end(struct data *d)
{
    tok_ids_push(&d->pool, d->eos);
    tok_ids_push(&d->mask, 1);
}

enum pd_code data_encode_text(struct data_reader *r)
{
    const char *text = r->d->records[r->d->records_n - 1].output;
    put_begin(r->d);
    put(r->d, text, strlen(text), false, true);
    put_end(r->d);
    return finish(r);
}

static enum pd_code encode_pair_as_chat(struct data_reader *r, const struct data_owned *o)
{
    char *asked = *o->input ? xasprintf("%s\n\n%s", o->instruction, o->input)
                            : xstrdup(o->instruction);
    struct tok_message m[] = {{"user", asked}, {"assistant", o->output}};
    enum pd_code rc = data_encode_chat(r, m, 2);
    free(asked);
    return rc;
}

enum pd_code data_encode_pair(struct data_reader *r, bool alpaca)
{
    struct data *d = r->d;
    const struct data_owned *o = &d->records[d->records_n - 1];
    if (r->opt->chat_pairs)
        return encode_pair_as_chat(r, o);
    str_clear(&r->prompt);
    if (alpaca)
        data_prompt(o->lang, o->instruction, o->input, &r->prompt);
    else
        str_add(&r->prompt, o->instruction);
    put_begin(d);
    put(d, r->prompt.p ? r->prompt.p : "", r->prompt.len, false, false);
    put(d, o->output, strlen(o->output), true, true);
    put_end(d);
    return finish(r);
}

/* The template is looked for when a row first needs it. */
static enum pd_code need_chat(struct data_reader *r)
{
    struct data *d = r->d;
    if (!d->chat && r->opt->model &&
        tok_chat_load(r->opt->model, d->tok, &d->chat, r->err) != PD_OK)
        return r->err->code;
    if (d->chat && tok_chat_kind(d->chat) != TOK_CHAT_NONE)
        return PD_OK;
    pd_fail_at(r->err, PD_DATA, r->path, r->line, 0,
               _("a conversation, but the model has no chat template"));
    return pd_set_hint(r->err, _("take an instruction-tuned model, whose folder has a "
                                 "chat_template, or records with instruction and output"));
}

enum pd_code data_encode_chat(struct data_reader *r, const struct tok_message *m, size_t n)
{
    struct data *d = r->d;
    struct pd_err why;
    if (need_chat(r) != PD_OK)
        return r->err->code;
    if (tok_chat_render(d->chat, m, n, false, &d->pool, &d->mask, &why) != PD_OK)
        return pd_fail_at(r->err, PD_DATA, r->path, r->line, 0, "%s", why.msg);
    return finish(r);
}
