/* cmd_decode.c - options to a decode, text to the terminal (cmd_decode.h). */
#include "core/train/cmd_decode.h"

#include "core/base/utf8.h"
#include "core/train/cmd.h"

int cmd_context(const struct options *o, const struct cmd_model *x, size_t n)
{
    size_t most = n + (size_t)o->max_tokens;
    return (int)MIN(most, (size_t)x->m.cfg.max_pos);
}

void cmd_decode_options(const struct options *o, const struct cmd_model *x, const struct tok *t,
                        struct decode_options *d)
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
