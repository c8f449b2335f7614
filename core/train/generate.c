/* generate.c - decoding with kept keys and values (generate.h).
 *
 * Tokens go through in parts of at most PART rows: a prompt by matrix products,
 * a single token by dot products, which need no packing.
 */
#include "core/train/generate.h"

#include <math.h>

#include "core/base/mem.h"
#include "core/train/kern.h"
#include "core/train/llama_run.h"
#include "core/train/rng.h"

enum { ROWS = 64, PART = 64 };

struct generate {
    const struct llama *m;
    struct compute *c;
    int len, max_len;
    int rows, layer;              /* of the part and the block at work */
    struct slab slab;
    float *x, *h, *qkv, *att, *gu, *act, *score, *logits, *rope, *rstd;
    float *kv;                    /* [layers][max_len][2 KV hd] */
};

static size_t kv_width(const struct llama_config *c)
{
    return 2 * (size_t)c->kv_heads * (size_t)c->head_dim;
}

static void take_all(struct generate *g)
{
    const struct llama_config *c = &g->m->cfg;
    struct slab *s = &g->slab;
    size_t d = (size_t)c->hidden, f = (size_t)c->ffn, q = (size_t)(c->heads * c->head_dim);
    size_t n = (size_t)MIN(PART, g->max_len);
    g->x = slab_take(s, n * d), g->h = slab_take(s, n * d), g->rstd = slab_take(s, n);
    g->qkv = slab_take(s, n * (q + kv_width(c))), g->att = slab_take(s, n * q);
    g->gu = slab_take(s, n * 2 * f), g->act = slab_take(s, n * f);
    g->score = slab_take(s, (size_t)c->heads * (size_t)g->max_len);
    g->logits = slab_take(s, (size_t)c->vocab);
    g->rope = slab_take(s, (size_t)g->max_len * (size_t)c->head_dim);
    g->kv = slab_take(s, (size_t)c->layers * (size_t)g->max_len * kv_width(c));
}

struct generate *generate_new(const struct llama *m, struct compute *c, int max_len)
{
    struct generate *g = xcalloc(1, sizeof *g);
    g->m = m;
    g->c = c;
    g->max_len = max_len;
    take_all(g);
    slab_alloc(&g->slab);
    take_all(g);
    llama_run_rope(&m->cfg, max_len, g->rope);
    return g;
}

void generate_free(struct generate *g)
{
    if (!g)
        return;
    slab_release(&g->slab);
    free(g);
}

struct gemv_job {
    const struct kern *k;
    int out, in;
    const float *w, *x;
    float *y;
    bool add;
};

static void gemv_task(void *arg, int task, int thread UNUSED)
{
    const struct gemv_job *j = arg;
    for (int i = task * ROWS; i < MIN(j->out, (task + 1) * ROWS); i++) {
        float v = j->k->dot((size_t)j->in, j->w + (size_t)i * (size_t)j->in, j->x);
        j->y[i] = j->add ? j->y[i] + v : v;
    }
}

static void gemv(struct generate *g, int out, int in, const float *w, const float *x, float *y,
                 bool add)
{
    struct gemv_job j = {g->c->k, out, in, w, x, y, add};
    compute_run(g->c, gemv_task, &j, (out + ROWS - 1) / ROWS);
}

/* y [rows, out] = x Wᵀ of the part at work. */
static void linear(struct generate *g, int out, int in, const float *w, const float *x, float *y,
                   bool add)
{
    if (g->rows == 1)
        gemv(g, out, in, w, x, y, add);
    else
        gemm_run(g->c, g->rows, out, in, 1.0f, mat_rows(x, in), mat_t(w, in), add, y, out);
}

static void norm(struct generate *g, int rows, const float *x, const float *w)
{
    ops_rmsnorm(g->c, rows, g->m->cfg.hidden, (float)g->m->cfg.eps, x, w, g->h, g->rstd);
}

/* Query head h of one row against the keys up to its own. */
static void attend_row(const struct generate *g, int row, int h)
{
    const struct llama_config *c = &g->m->cfg;
    size_t hd = (size_t)c->head_dim, width = kv_width(c), n = (size_t)(g->len + row) + 1;
    size_t q = (size_t)c->heads * hd, kvh = (size_t)(h / (c->heads / c->kv_heads));
    const float *keys = g->kv + (size_t)g->layer * (size_t)g->max_len * width + kvh * hd;
    const float *values = keys + (size_t)c->kv_heads * hd;
    const float *query = g->qkv + (size_t)row * (q + width) + (size_t)h * hd;
    float *p = g->score + (size_t)h * (size_t)g->max_len;
    float *out = g->att + (size_t)row * q + (size_t)h * hd;
    for (size_t i = 0; i < n; i++)
        p[i] = g->c->k->dot(hd, query, keys + i * width) / sqrtf((float)hd);
    float sum = g->c->k->exp_sum(n, g->c->k->max(n, p), p);
    memset(out, 0, hd * sizeof *out);
    for (size_t i = 0; i < n; i++)
        g->c->k->axpy(hd, p[i] / sum, values + i * width, out);
}

static void attend(void *arg, int h, int thread UNUSED)
{
    const struct generate *g = arg;
    for (int row = 0; row < g->rows; row++)
        attend_row(g, row, h);
}

/* Rotate the rows' queries and keys; keep keys and values. */
static void keep(struct generate *g)
{
    const struct llama_config *c = &g->m->cfg;
    size_t hd = (size_t)c->head_dim, width = kv_width(c), q = (size_t)c->heads * hd;
    for (int row = 0; row < g->rows; row++) {
        float *qkv = g->qkv + (size_t)row * (q + width);
        size_t at = (size_t)(g->len + row);
        for (size_t i = 0; i < (size_t)(c->heads + c->kv_heads); i++)
            g->c->k->rotate(hd / 2, 1, g->rope + at * hd, qkv + i * hd);
        memcpy(g->kv + ((size_t)g->layer * (size_t)g->max_len + at) * width, qkv + q,
               width * sizeof *g->kv);
    }
}

static void block(struct generate *g)
{
    const struct llama_config *c = &g->m->cfg;
    const struct llama_layer *w = &g->m->layer[g->layer];
    int d = c->hidden, f = c->ffn, q = c->heads * c->head_dim;
    norm(g, g->rows, g->x, w->norm1);
    linear(g, q + (int)kv_width(c), d, w->qkv, g->h, g->qkv, false);
    keep(g);
    compute_run(g->c, attend, g, c->heads);
    linear(g, d, q, w->o, g->att, g->x, true);
    norm(g, g->rows, g->x, w->norm2);
    linear(g, 2 * f, d, w->gu, g->h, g->gu, false);
    ops_swiglu(g->c, g->rows, f, g->gu, g->act);
    linear(g, d, f, w->down, g->act, g->x, true);
}

static bool feed_part(struct generate *g, const int32_t *ids, int n)
{
    const struct llama_config *c = &g->m->cfg;
    size_t d = (size_t)c->hidden;
    if (n > g->max_len - g->len)
        return false;
    for (int i = 0; i < n; i++) {
        if (ids[i] < 0 || ids[i] >= c->vocab)
            return false;
        memcpy(g->x + (size_t)i * d, g->m->embed + (size_t)ids[i] * d, d * sizeof *g->x);
    }
    g->rows = n;
    for (g->layer = 0; g->layer < c->layers; g->layer++)
        block(g);
    g->len += n;
    return true;
}

const float *generate_feed(struct generate *g, const int32_t *ids, size_t n)
{
    size_t at = 0;
    if (n == 0)
        return NULL;
    for (; at < n; at += (size_t)g->rows)
        if (!feed_part(g, ids + at, (int)MIN(n - at, (size_t)MIN(PART, g->max_len))))
            return NULL;
    const float *last = g->x + (size_t)(g->rows - 1) * (size_t)g->m->cfg.hidden;
    norm(g, 1, last, g->m->norm);
    gemv(g, g->m->cfg.vocab, g->m->cfg.hidden, g->m->head, g->h, g->logits, false);
    return g->logits;
}

struct choice {
    float p;
    int32_t id;
};

static int likelier(const void *a, const void *b)
{
    const struct choice *x = a, *y = b;
    if (x->p != y->p)
        return x->p > y->p ? -1 : 1;
    return x->id - y->id;
}

/* The smallest part of v[n] (sorted) whose mass reaches top_p of the whole. */
static int32_t draw(const struct choice *v, int n, double top_p, double unit)
{
    double total = 0, mass = 0, kept = 0;
    int count = 0;
    for (int i = 0; i < n; i++)
        total += (double)v[i].p;
    while (count < n && kept < top_p * total)
        kept += (double)v[count++].p;
    for (int i = 0; i < count; i++) {
        mass += (double)v[i].p;
        if (unit * kept < mass)
            return v[i].id;
    }
    return v[0].id;
}

int32_t generate_pick(const float *logits, int vocab, const struct generate_how *how,
                      uint64_t counter)
{
    int32_t best = 0;
    for (int32_t i = 1; i < vocab; i++)
        if (logits[i] > logits[best])
            best = i;
    if (how->temperature <= 0)
        return best;
    struct choice *v = xcalloc((size_t)vocab, sizeof *v);
    for (int32_t i = 0; i < vocab; i++) {
        double z = (double)(logits[i] - logits[best]) / how->temperature;
        v[i] = (struct choice){expf((float)z), i};
    }
    qsort(v, (size_t)vocab, sizeof *v, likelier);
    int n = how->top_k ? (int)MIN(how->top_k, (int64_t)vocab) : vocab;
    best = draw(v, n, how->top_p, rng_unit(how->key, counter));
    free(v);
    return best;
}
