/* generate.c - decoding with kept keys and values (generate.h). */
#include "core/train/generate.h"

#include <math.h>

#include "core/base/mem.h"
#include "core/train/kern.h"
#include "core/train/llama_run.h"
#include "core/train/rng.h"

enum { ROWS = 64 };

struct generate {
    const struct llama *m;
    struct compute *c;
    int len, max_len;
    struct slab slab;
    float *x, *h, *qkv, *att, *gu, *act, *score, *logits, *rope;
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
    g->x = slab_take(s, d), g->h = slab_take(s, d), g->qkv = slab_take(s, q + kv_width(c));
    g->att = slab_take(s, q), g->gu = slab_take(s, 2 * f), g->act = slab_take(s, f);
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

static void norm(struct generate *g, const float *w)
{
    float rstd;
    ops_rmsnorm(g->c, 1, g->m->cfg.hidden, (float)g->m->cfg.eps, g->x, w, g->h, &rstd);
}

/* Query head h against all kept keys. */
static void attend(struct generate *g, int layer, int h)
{
    const struct llama_config *c = &g->m->cfg;
    size_t hd = (size_t)c->head_dim, width = kv_width(c), n = (size_t)g->len + 1;
    size_t kvh = (size_t)(h / (c->heads / c->kv_heads));
    const float *keys = g->kv + (size_t)layer * (size_t)g->max_len * width + kvh * hd;
    const float *values = keys + (size_t)c->kv_heads * hd;
    float *p = g->score + (size_t)h * (size_t)g->max_len, *out = g->att + (size_t)h * hd;
    for (size_t i = 0; i < n; i++)
        p[i] = g->c->k->dot(hd, g->qkv + (size_t)h * hd, keys + i * width) / sqrtf((float)hd);
    float sum = g->c->k->exp_sum(n, g->c->k->max(n, p), p);
    memset(out, 0, hd * sizeof *out);
    for (size_t i = 0; i < n; i++)
        g->c->k->axpy(hd, p[i] / sum, values + i * width, out);
}

static void block(struct generate *g, int layer)
{
    const struct llama_config *c = &g->m->cfg;
    const struct llama_layer *w = &g->m->layer[layer];
    int d = c->hidden, f = c->ffn, hd = c->head_dim, q = c->heads * hd;
    size_t width = kv_width(c);
    norm(g, w->norm1);
    gemv(g, q + (int)width, d, w->qkv, g->h, g->qkv, false);
    for (int i = 0; i < c->heads + c->kv_heads; i++)
        g->c->k->rotate((size_t)hd / 2, 1, g->rope + (size_t)g->len * (size_t)hd,
                        g->qkv + i * hd);
    memcpy(g->kv + ((size_t)layer * (size_t)g->max_len + (size_t)g->len) * width, g->qkv + q,
           width * sizeof *g->kv);
    for (int h = 0; h < c->heads; h++)
        attend(g, layer, h);
    gemv(g, d, q, w->o, g->att, g->x, true);
    norm(g, w->norm2);
    gemv(g, 2 * f, d, w->gu, g->h, g->gu, false);
    g->c->k->swiglu((size_t)f, g->gu, g->gu + f, g->act);
    gemv(g, d, f, w->down, g->act, g->x, true);
}

const float *generate_feed(struct generate *g, int32_t id)
{
    const struct llama_config *c = &g->m->cfg;
    size_t d = (size_t)c->hidden;
    if (g->len >= g->max_len || id < 0 || id >= c->vocab)
        return NULL;
    memcpy(g->x, g->m->embed + (size_t)id * d, d * sizeof *g->x);
    for (int i = 0; i < c->layers; i++)
        block(g, i);
    norm(g, g->m->norm);
    gemv(g, c->vocab, c->hidden, g->m->head, g->h, g->logits, false);
    g->len++;
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
