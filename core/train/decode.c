/* decode.c - text from a model (decode.h). */
#include "core/train/decode.h"

#include "core/base/i18n.h"
#include "core/base/mem.h"
#include "core/base/utf8.h"

enum { PIECE_CEILING = 1 << 20, PART = 256 };     /* tokens between looks at `stopped` */

struct decode {
    const struct llama *m;
    const struct tok *t;
    struct generate *g;
    int len, max_len;
};

struct decode *decode_new(const struct llama *m, struct compute *c, const struct tok *t,
                          int max_len)
{
    struct decode *d = xcalloc(1, sizeof *d);
    d->m = m;
    d->t = t;
    d->max_len = max_len;
    d->g = generate_new(m, c, max_len);
    return d;
}

void decode_free(struct decode *d)
{
    if (!d)
        return;
    generate_free(d->g);
    free(d);
}

int decode_len(const struct decode *d)
{
    return d->len;
}

static const float *feed(struct decode *d, const int32_t *ids, size_t n)
{
    const float *z = generate_feed(d->g, ids, n);
    d->len += z ? (int)n : 0;
    return z;
}

/* Bytes at the end of s that are the beginning of a character. */
static size_t torn(const char *s, size_t n)
{
    for (size_t k = 1; k <= 3 && k <= n; k++) {
        unsigned char c = (unsigned char)s[n - k];
        size_t need = c >= 0xf0 ? 4 : c >= 0xe0 ? 3 : c >= 0xc0 ? 2 : 1;
        if (c >= 0xc0)
            return need > k ? k : 0;
        if (c < 0x80)
            return 0;
    }
    return 0;
}

/* The longest end of s that the stop text begins with. */
static size_t may_stop(const char *s, size_t n, const char *stop)
{
    for (size_t k = MIN(n, strlen(stop)); k > 0; k--)
        if (memcmp(s + n - k, stop, k) == 0)
            return k;
    return 0;
}

static void hand_out(const struct decode_options *o, struct str *held, size_t n, struct str *out)
{
    if (n == 0)
        return;
    str_append(out, held->p, n);
    if (o->say)
        o->say(o->arg, held->p, n);
    str_consume(held, n);
}

/* Hand out what is sure; true: the stop text was there. */
static bool pass_on(const struct decode_options *o, struct str *held, struct str *out)
{
    const char *stop = o->stop && *o->stop ? o->stop : NULL;
    const char *at = stop ? strstr(held->p, stop) : NULL;
    if (at) {
        hand_out(o, held, (size_t)(at - held->p), out);
        str_clear(held);
        return true;
    }
    size_t keep = stop ? may_stop(held->p, held->len, stop) : 0;
    keep = MAX(keep, torn(held->p, held->len));
    hand_out(o, held, held->len - keep, out);
    return false;
}

static bool ends(const struct decode_options *o, int32_t id)
{
    for (int i = 0; i < o->n_eos; i++)
        if (o->eos[i] == id)
            return true;
    return false;
}

static enum decode_end draw_all(struct decode *d, const struct decode_options *o,
                                const float *logits, struct str *held, struct str *out,
                                struct tok_ids *drawn)
{
    for (int64_t i = 0; i < o->most; i++) {
        if (o->stopped && *o->stopped)
            return DECODE_STOPPED;
        if (!logits)
            return DECODE_CONTEXT;
        int32_t id = generate_pick(logits, d->m->cfg.vocab, &o->how, (uint64_t)d->len);
        logits = feed(d, &id, 1);
        if (ends(o, id))
            return DECODE_EOS;
        if (drawn)
            tok_ids_push(drawn, id);
        tok_decode(d->t, &id, 1, true, held);
        if (pass_on(o, held, out))
            return DECODE_STOP;
    }
    return DECODE_LENGTH;
}

enum pd_code decode_run(struct decode *d, const struct decode_options *o, const int32_t *ids,
                        size_t n, struct str *out, struct tok_ids *drawn, enum decode_end *end,
                        struct pd_err *err)
{
    const float *logits = NULL;
    struct str held;
    if (n == 0 || n >= (size_t)(d->max_len - d->len))
        return pd_fail(err, PD_USAGE, _("the prompt has %zu tokens, the model takes 1 to %d"), n,
                       d->max_len - d->len - 1);
    for (size_t i = 0; i < n; i++)
        if (ids[i] < 0 || ids[i] >= d->m->cfg.vocab)
            return pd_fail(err, PD_USAGE, _("token %d is outside the model's vocabulary of %d"),
                           (int)ids[i], d->m->cfg.vocab);
    for (size_t i = 0; i < n && !(o->stopped && *o->stopped); i += PART)
        logits = feed(d, ids + i, MIN(n - i, (size_t)PART));
    str_init(&held, PIECE_CEILING);
    *end = draw_all(d, o, logits, &held, out, drawn);
    hand_out(o, &held, held.len, out);            /* a character that stayed torn */
    str_release(&held);
    return PD_OK;
}
