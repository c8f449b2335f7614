/* cmd_decode.c - options to a decode, text to the terminal (cmd_decode.h). */
#include "core/train/cmd_decode.h"

#include "core/base/i18n.h"
#include "core/base/utf8.h"
#include "core/train/cmd.h"

int cmd_context(const struct options *o, const struct cmd_model *x, size_t n)
{
    size_t most = n + (size_t)o->max_tokens;
    return (int)MIN(most, (size_t)x->m.cfg.max_pos);
}

enum pd_code cmd_prompt_ids(const struct options *o, const struct tok *t,
                            const struct tok_chat *form, const char *text, bool specials,
                            struct tok_ids *ids, struct pd_err *err)
{
    struct tok_message m[2];
    size_t n = 0;
    if (!o->chat) {
        tok_encode_whole(t, text, strlen(text), specials, ids);
        return PD_OK;
    }
    if (o->system)
        m[n++] = (struct tok_message){"system", o->system};
    m[n++] = (struct tok_message){"user", text};
    return tok_chat_render(form, m, n, true, ids, NULL, err);
}

enum pd_code cmd_chat_form(const struct options *o, const struct tok *t, struct tok_chat **out,
                           struct pd_err *err)
{
    if (tok_chat_load(o->t.model, t, out, err) != PD_OK)
        return err->code;
    if (tok_chat_kind(*out) != TOK_CHAT_NONE)
        return PD_OK;
    pd_fail_at(err, PD_UNSUPPORTED, o->t.model, 0, 0, _("this model has no chat template"));
    return pd_set_hint(err, _("use generate --instruction for a model tuned on instructions"));
}

void cmd_decode_options(const struct options *o, const struct cmd_model *x, const struct tok *t,
                        const struct tok_chat *form, struct decode_options *d)
{
    const struct llama_config *c = &x->m.cfg;
    *d = (struct decode_options){
        .how = {.temperature = o->temperature, .top_p = o->top_p, .top_k = o->top_k,
                .key = o->t.seed},
        .most = o->max_tokens, .stop = o->stop, .stopped = cmd_stop_flag()};
    if (o->ignore_eos)
        return;
    for (int i = 0; i < c->n_eos; i++)
        d->eos[d->n_eos++] = c->eos[i];
    if (c->n_eos == 0 && tok_eos(t) >= 0)
        d->eos[d->n_eos++] = tok_eos(t);
    if (form && tok_chat_eot(form) >= 0)
        d->eos[d->n_eos++] = tok_chat_eot(form);
}

static void print_clean(const char *text, size_t n)
{
    struct str clean;
    str_init(&clean, CMD_TEXT_CEILING);
    utf8_clean(text, n, true, &clean);
    fwrite(clean.p, 1, clean.len, stdout);
    str_release(&clean);
}

void cmd_say(const char *text, size_t n)
{
    print_clean(text, n);
    printf("\n");
}

void cmd_say_live(void *arg UNUSED, const char *text, size_t n)
{
    print_clean(text, n);
    fflush(stdout);
}
