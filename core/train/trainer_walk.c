/* trainer_walk.c - the next update taken apart: batch, forward, loss, backward,
 * rate, update, one `walk` record each (docs/RUNLOG.md). It is computed for real
 * with the update's own batch, dropout and kernels, on gradients that are put
 * back afterwards, so that the run does not notice. */
#include "core/train/trainer_impl.h"

#include <math.h>

#include "core/base/i18n.h"
#include "core/base/mem.h"
#include "core/base/utf8.h"
#include "core/train/kern.h"

enum { TOP = 5, TEXT_MOST = 2400, TOKENS_MOST = 200 };

struct walk {
    struct trainer *t;
    const struct control_line *l;
    float *saved;                /* the gradients as they were */
    int len;                     /* rows of the first sequence */
    double sum;                  /* loss over the update */
    int64_t count, rows;
    double *nll;                 /* of the first sequence's rows; NaN: not trained */
    int at;                      /* its row that is shown */
    double gnorm, scale, factor;
};

/* --- records ------------------------------------------------------------------ */
static void begin(struct walk *w, const char *stage)
{
    struct str *s = &w->t->line;
    runlog_begin(s, RUN_WALK);
    runlog_add_str(s, "id", w->l->id);
    runlog_add_str(s, "stage", stage);
    runlog_add_int(s, "step", w->t->st.step + 1);
}

static void number(struct walk *w, const char *key, double v)
{
    runlog_add_num(&w->t->line, key, v);
}

static void spell_bytes(const char *p, int n, struct str *out)
{
    for (int i = 0; i < n; i++)
        if (p[i] == '\n')
            str_add(out, "\\n");
        else
            str_printf(out, "\\x%02X", (unsigned)(unsigned char)p[i]);
}

/* A token as text: line ends and bytes that are no characters are spelled. */
static void spell(const struct trainer *t, int32_t id, struct str *out)
{
    size_t n;
    const char *p = tok_bytes(t->tok, id, &n);
    for (size_t i = 0; p && i < n;) {
        int len = 1;
        uint32_t cp = utf8_decode(p + i, n - i, &len);
        if (cp == 0xFFFD || cp < 0x20 || cp == 0x7F)
            spell_bytes(p + i, len, out);
        else
            str_append(out, p + i, (size_t)len);
        i += (size_t)MAX(len, 1);
    }
}

static void add_token(struct walk *w, const char *key, int32_t id)
{
    struct str s;
    str_init(&s, 1000);
    spell(w->t, id, &s);
    runlog_add_str(&w->t->line, key, s.p);
    str_release(&s);
}

/* --- the batch ----------------------------------------------------------------- */
/* The tokens of the first sequence, its last target with them, each behind a
 * tab but the first; mask: '#' where the model is trained to say that token. */
static void batch_record(struct walk *w)
{
    const struct rows *r = &w->t->batch.rows;
    struct str text, mask;
    int64_t trained = 0;
    int n = 0;
    str_init(&text, 3600);
    str_init(&mask, 2048);
    for (int i = 0; i < w->len; i++)
        trained += r->labels[i] >= 0;
    for (; n <= w->len && n < TOKENS_MOST && text.len < TEXT_MOST; n++) {
        str_add(&text, n ? "\t" : "");
        spell(w->t, n < w->len ? r->ids[n] : r->labels[n - 1], &text);
        str_addc(&mask, n > 0 && r->labels[n - 1] >= 0 ? '#' : '.');
    }
    begin(w, "batch");
    number(w, "sequences", w->t->o->batch);
    int batches;
    trainer_window(w->t, w->t->st.step, &batches);
    number(w, "accum", batches);
    number(w, "row_tokens", w->len + 1);
    number(w, "row_trained", (double)trained);
    number(w, "positions", (double)w->rows);
    number(w, "trained", (double)w->count);
    number(w, "shown", n);
    runlog_add_str(&w->t->line, "tokens", text.p);
    runlog_add_str(&w->t->line, "mask", mask.p);
    trainer_emit(w->t);
    str_release(&text);
    str_release(&mask);
}

/* --- forward ---------------------------------------------------------------------- */
static double log_sum(const float *x, int n)
{
    double most = -INFINITY, sum = 0;
    for (int i = 0; i < n; i++)
        most = MAX(most, (double)x[i]);
    for (int i = 0; i < n; i++)
        sum += exp((double)x[i] - most);
    return most + log(sum);
}

static void top_logits(struct walk *w, const float *logits, double lse)
{
    int best[TOP], n = 0;
    for (int i = 0; i < w->t->model.cfg.vocab; i++) {
        int k = n;
        if (n == TOP && logits[i] <= logits[best[TOP - 1]])
            continue;
        n = MIN(n + 1, TOP);
        for (k = n - 1; k > 0 && logits[i] > logits[best[k - 1]]; k--)
            best[k] = best[k - 1];
        best[k] = i;
    }
    for (int k = 0; k < n; k++) {
        char key[8];
        add_token(w, str_fmt(key, sizeof key, "top%d", k), best[k]);
        number(w, str_fmt(key, sizeof key, "logit%d", k), (double)logits[best[k]]);
        number(w, str_fmt(key, sizeof key, "p%d", k), exp((double)logits[best[k]] - lse));
    }
}

static void forward_record(struct walk *w, const float *logits)
{
    const struct rows *r = &w->t->batch.rows;
    const struct llama_config *c = &w->t->model.cfg;
    double lse = log_sum(logits, c->vocab);
    int32_t target = r->labels[w->at];
    struct str rms;
    str_init(&rms, 3600);
    for (int i = 0; i <= c->layers && rms.len < TEXT_MOST; i++)
        str_printf(&rms, "%s%.6g", i ? " " : "", llama_peek_rms(w->t->run, i, 0, w->len));
    begin(w, "forward");
    number(w, "layers", c->layers);
    runlog_add_str(&w->t->line, "rms", rms.p);
    number(w, "position", w->at);
    number(w, "vocab", c->vocab);
    number(w, "lse", lse);
    add_token(w, "reads", r->ids[w->at]);
    add_token(w, "target", target);
    number(w, "target_logit", (double)logits[target]);
    number(w, "target_p", exp((double)logits[target] - lse));
    top_logits(w, logits, lse);
    trainer_emit(w->t);
    str_release(&rms);
}

/* The loss of each trained row of the first sequence. */
static void forward(struct walk *w)
{
    const struct rows *r = &w->t->batch.rows;
    int vocab = w->t->model.cfg.vocab;
    float *logits = xcalloc((size_t)vocab, sizeof *logits);
    w->nll = xcalloc((size_t)MAX(w->len, 1), sizeof *w->nll);
    w->at = -1;
    for (int i = 0; i < w->len; i++) {
        w->nll[i] = NAN;
        if (r->labels[i] < 0)
            continue;
        llama_peek_logits(w->t->run, i, logits);
        w->nll[i] = log_sum(logits, vocab) - (double)logits[r->labels[i]];
        if (w->at < 0)
            w->at = i;
    }
    llama_peek_logits(w->t->run, MAX(w->at, 0), logits);
    batch_record(w);
    if (w->at >= 0)
        forward_record(w, logits);
    free(logits);
}

/* --- loss --------------------------------------------------------------------------- */
static void loss_record(struct walk *w)
{
    const struct rows *r = &w->t->batch.rows;
    struct str tokens, nll;
    double sum = 0;
    int n = 0, shown = 0;
    str_init(&tokens, 3600);
    str_init(&nll, 3600);
    for (int i = 0; i < w->len; i++) {
        if (isnan(w->nll[i]))
            continue;
        sum += w->nll[i];
        n++;
        if (tokens.len + nll.len > TEXT_MOST || shown == TOKENS_MOST)
            continue;
        str_add(&tokens, shown ? "\t" : "");
        spell(w->t, r->labels[i], &tokens);
        str_printf(&nll, "%s%.6g", shown++ ? " " : "", w->nll[i]);
    }
    begin(w, "loss");
    number(w, "row_sum", sum);
    number(w, "row_count", n);
    number(w, "sum", w->sum);
    number(w, "count", (double)w->count);
    number(w, "loss", w->sum / (double)w->count);
    number(w, "shown", shown);
    runlog_add_str(&w->t->line, "tokens", tokens.p);
    runlog_add_str(&w->t->line, "nll", nll.p);
    trainer_emit(w->t);
    str_release(&tokens);
    str_release(&nll);
}

/* --- backward ------------------------------------------------------------------------- */
/* "layers.3" of a name, or all of it. */
static void group_of(const char *name, char *out, size_t size)
{
    const char *p = strstr(name, "layers.");
    str_copy(out, size, p ? p : name);
    if (p)
        out[MIN(7 + strspn(p + 7, "0123456789"), size - 1)] = '\0';
}

static void backward_record(struct walk *w)
{
    const struct tensors *ts = w->t->trained;
    char name[TENSOR_NAME], next[TENSOR_NAME];
    double sum = 0;
    struct str s;
    str_init(&s, 3600);
    for (int i = 0; i < ts->n; i++) {
        const float *g = ts->t[i].g;
        for (size_t k = 0; k < tensors_count(&ts->t[i]); k++)
            sum += (double)g[k] * (double)g[k];
        group_of(ts->t[i].name, name, sizeof name);
        next[0] = '\0';
        if (i + 1 < ts->n)
            group_of(ts->t[i + 1].name, next, sizeof next);
        if (str_eq(name, next))
            continue;
        if (s.len < TEXT_MOST)
            str_printf(&s, "%s%s\t%.6g", s.len ? "\t" : "", name, sqrt(sum) * w->scale);
        sum = 0;
    }
    begin(w, "backward");
    number(w, "tensors", ts->n);
    number(w, "weights", (double)tensors_total(ts));
    number(w, "gnorm", w->gnorm);
    number(w, "clip", w->t->optim.clip);
    number(w, "factor", w->factor);
    runlog_add_str(&w->t->line, "groups", s.p);
    trainer_emit(w->t);
    str_release(&s);
}

/* --- rate and update -------------------------------------------------------------------- */
static void rate_record(struct walk *w)
{
    static const char *const names[] = {[OPTIM_COSINE] = "cosine", [OPTIM_LINEAR] = "linear",
                                        [OPTIM_CONSTANT] = "constant"};
    const struct optim *o = &w->t->optim;
    begin(w, "rate");
    runlog_add_str(&w->t->line, "schedule", names[o->schedule]);
    number(w, "peak", o->rate);
    number(w, "warmup", (double)o->warmup);
    number(w, "steps", (double)o->steps);
    number(w, "index", (double)w->t->st.step);
    number(w, "lr", optim_rate(o, w->t->st.step));
    number(w, "next_lr", optim_rate(o, w->t->st.step + 1));
    trainer_emit(w->t);
}

/* The weight with the largest gradient. */
static const struct tensor *steepest(const struct tensors *ts, size_t *at)
{
    const struct tensor *best = &ts->t[0];
    float most = -1;
    for (int i = 0; i < ts->n; i++)
        for (size_t k = 0; k < tensors_count(&ts->t[i]); k++)
            if (fabsf(ts->t[i].g[k]) > most) {
                most = fabsf(ts->t[i].g[k]);
                best = &ts->t[i];
                *at = k;
            }
    return best;
}

static enum pd_code choose(struct walk *w, const struct tensor **x, size_t *at, struct pd_err *err)
{
    const struct control_line *l = w->l;
    if (!l->name[0]) {
        *x = steepest(w->t->trained, at);
        return PD_OK;
    }
    *x = tensors_find(w->t->trained, l->name);
    if (!*x) {
        pd_fail(err, PD_USAGE, _("no trained tensor \"%s\""), l->name);
        return pd_set_hint(err, _("inspect norms lists the trained ones"));
    }
    if (l->n >= (*x)->rows || l->col >= (*x)->cols)
        return pd_fail(err, PD_USAGE, _("%s is [%d, %d]"), (*x)->name, (*x)->rows, (*x)->cols);
    *at = (size_t)l->n * (size_t)(*x)->cols + (size_t)l->col;
    return PD_OK;
}

static void update_record(struct walk *w, const struct tensor *x, size_t at)
{
    const struct optim *o = &w->t->optim;
    double lr = optim_rate(o, w->t->st.step), n = (double)(w->t->st.step + 1);
    struct tensor one = {.rows = 1, .cols = 1, .decay = x->decay};
    struct tensors ts = {.t = &one, .n = 1};
    float v[4] = {x->w[at], x->g[at], x->m[at], x->v[at]};
    one.w = v, one.g = v + 1, one.m = v + 2, one.v = v + 3;
    optim_step(&w->t->c, o, &ts, w->scale, w->gnorm, lr, w->t->st.step + 1);
    begin(w, "update");
    runlog_add_str(&w->t->line, "name", x->name);
    number(w, "row", (double)(at / (size_t)x->cols));
    number(w, "col", (double)(at % (size_t)x->cols));
    number(w, "before", (double)x->w[at]);
    number(w, "g_sum", (double)x->g[at]);
    number(w, "count", (double)w->count);
    number(w, "factor", w->factor);
    number(w, "g", (double)x->g[at] * w->scale * w->factor);
    number(w, "m_before", (double)x->m[at]);
    number(w, "v_before", (double)x->v[at]);
    number(w, "beta1", o->beta1);
    number(w, "beta2", o->beta2);
    number(w, "eps", o->eps);
    number(w, "decay", x->decay ? o->decay : 0);
    number(w, "lr", lr);
    number(w, "m_after", (double)*one.m);
    number(w, "v_after", (double)*one.v);
    number(w, "bias1", 1 - pow(o->beta1, n));
    number(w, "bias2", 1 - pow(o->beta2, n));
    number(w, "after", (double)*one.w);
    trainer_emit(w->t);
}

/* --- the whole ---------------------------------------------------------------------------- */
static void copy_gradients(struct walk *w, bool back)
{
    float *at = w->saved;
    for (int i = 0; i < w->t->trained->n; i++) {
        const struct tensor *x = &w->t->trained->t[i];
        size_t n = tensors_count(x);
        memcpy(back ? x->g : at, back ? at : x->g, n * sizeof *at);
        at += n;
    }
}

static enum pd_code micro_batch(struct walk *w, int i, struct pd_err *err)
{
    struct trainer *t = w->t;
    double part;
    int64_t n;
    if (trainer_batch(t, i, err) != PD_OK ||
        llama_loss_grad(t->run, &t->batch.rows, trainer_drop_key(t), &part, &n, err) != PD_OK)
        return err->code;
    w->sum += part;
    w->count += n;
    w->rows += t->batch.rows.n;
    return PD_OK;
}

/* Sums over the update first, since the first records tell them. */
static enum pd_code rehearse(struct walk *w, struct pd_err *err)
{
    struct trainer *t = w->t;
    double part;
    int64_t n;
    optim_zero_grad(&t->c, t->trained);
    int batches;
    trainer_window(t, t->st.step, &batches);
    for (int i = 0; i < batches; i++)
        if (micro_batch(w, i, err) != PD_OK)
            return err->code;
    w->scale = 1 / (double)w->count;
    w->gnorm = optim_grad_norm(&t->c, t->trained, w->scale);
    w->factor = optim_clip(&t->optim, w->gnorm);
    if (!isfinite(w->gnorm))
        return pd_fail(err, PD_TRAIN, _("the gradient is not a number"));
    if (trainer_batch(t, 0, err) != PD_OK ||
        llama_loss(t->run, &t->batch.rows, trainer_drop_key(t), &part, &n, err) != PD_OK)
        return err->code;
    w->len = t->batch.rows.off[1];
    return PD_OK;
}

enum pd_code trainer_walk(struct trainer *t, const struct control_line *l, struct pd_err *err)
{
    struct walk w = {.t = t, .l = l};
    const struct tensor *x = NULL;
    size_t at = 0;
    if (t->st.step >= t->o->steps)
        return pd_fail(err, PD_USAGE, _("all %" PRId64 " steps are done: there is no next one"),
                       t->st.step);
    w.saved = xcalloc(tensors_total(t->trained), sizeof *w.saved);
    copy_gradients(&w, false);
    enum pd_code rc = rehearse(&w, err);
    if (rc == PD_OK)
        rc = choose(&w, &x, &at, err);
    if (rc == PD_OK) {
        forward(&w);
        loss_record(&w);
        backward_record(&w);
        rate_record(&w);
        update_record(&w, x, at);
    }
    copy_gradients(&w, true);
    free(w.saved);
    free(w.nll);
    return rc;
}
