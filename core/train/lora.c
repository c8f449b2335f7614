/* lora.c - low-rank adapters: layout, forward, backward, merge (lora.h). */
#include "core/train/lora.h"

#include <math.h>

#include "core/base/i18n.h"
#include "core/base/mem.h"
#include "core/base/str.h"
#include "core/train/rng.h"

static const struct {
    const char *name, *block;
} modules[LORA_MODULES] = {
    [LORA_Q] = {"q_proj", "self_attn"},  [LORA_K] = {"k_proj", "self_attn"},
    [LORA_V] = {"v_proj", "self_attn"},  [LORA_O] = {"o_proj", "self_attn"},
    [LORA_GATE] = {"gate_proj", "mlp"},  [LORA_UP] = {"up_proj", "mlp"},
    [LORA_DOWN] = {"down_proj", "mlp"},
};

const char *lora_module_name(enum lora_module m)
{
    return modules[m].name;
}

static int find_module(const char *name)
{
    for (int i = 0; i < LORA_MODULES; i++)
        if (str_eq(modules[i].name, name))
            return i;
    return -1;
}

static enum pd_code unknown_target(const char *name, struct pd_err *err)
{
    const char *names[LORA_MODULES];
    for (int i = 0; i < LORA_MODULES; i++)
        names[i] = modules[i].name;
    const char *near = str_nearest(name, names, LORA_MODULES);
    pd_fail(err, PD_USAGE, _("no module \"%s\" in this architecture"), name);
    if (near)
        return pd_set_hint(err, _("did you mean %s?"), near);
    return pd_set_hint(err, _("use q_proj, k_proj, v_proj, o_proj, gate_proj, up_proj, "
                               "down_proj, or all"));
}

enum pd_code lora_parse_targets(const char *list, unsigned *bits, struct pd_err *err)
{
    struct strv v;
    enum pd_code rc = PD_OK;
    unsigned got = 0;
    strv_init(&v);
    strv_split(&v, list, ',');
    for (size_t i = 0; i < v.n && rc == PD_OK; i++) {
        int m = find_module(v.v[i]);
        if (str_eq(v.v[i], "all"))
            got = (1u << LORA_MODULES) - 1;
        else if (m >= 0)
            got |= 1u << m;
        else
            rc = unknown_target(v.v[i], err);
    }
    strv_release(&v);
    if (rc == PD_OK)
        *bits = got;
    return rc;
}

static void site_shape(const struct llama_config *m, int mod, int *in, int *out)
{
    int d = m->hidden, f = m->ffn, q = m->heads * m->head_dim, kv = m->kv_heads * m->head_dim;
    const int shape[LORA_MODULES][2] = {{d, q}, {d, kv}, {d, kv}, {q, d}, {d, f}, {d, f}, {f, d}};
    *in = shape[mod][0];
    *out = shape[mod][1];
}

void lora_site_path(int layer, enum lora_module m, char *out, size_t size)
{
    str_fmt(out, size, "model.layers.%d.%s.%s", layer, modules[m].block, modules[m].name);
}

/* What cfg says of one site. */
static void shape_site(struct lora_site *s, const struct lora_config *cfg, int layer, int mod)
{
    const struct lora_table *t = cfg->table;
    bool on = cfg->targets & 1u << mod;
    s->r = t ? t->r[layer][mod] : on ? cfg->r : 0;
    s->alpha = t ? t->alpha[layer][mod] : cfg->alpha;
    s->scale = s->r ? s->alpha / (cfg->rslora ? sqrt(s->r) : s->r) : 0;
}

static void add_site(struct lora *l, const struct llama_config *m, int layer, int mod)
{
    struct lora_site *s = &l->site[layer][mod];
    char path[TENSOR_NAME];
    site_shape(m, mod, &s->in, &s->out);
    shape_site(s, &l->cfg, layer, mod);
    if (!s->r)
        return;
    lora_site_path(layer, (enum lora_module)mod, path, sizeof path);
    tensors_add(&l->tensors, s->r, s->in, "base_model.model.%s.lora_A.weight", path);
    tensors_add(&l->tensors, s->out, s->r, "base_model.model.%s.lora_B.weight", path);
}

static void place(struct lora *l)
{
    for (int i = 0; i < l->tensors.n; i++)
        l->tensors.t[i].w = slab_take(&l->slab, tensors_count(&l->tensors.t[i]));
    tensors_take_state(&l->tensors, &l->slab);
}

static void connect(struct lora *l, int layers)
{
    int k = 0;
    for (int i = 0; i < layers; i++)
        for (int mod = 0; mod < LORA_MODULES; mod++)
            if (l->site[i][mod].r) {
                struct lora_site *s = &l->site[i][mod];
                const struct tensor *a = &l->tensors.t[k++], *b = &l->tensors.t[k++];
                s->a = a->w, s->da = a->g, s->b = b->w, s->db = b->g;
            }
}

void lora_shape(struct lora *l, const struct llama_config *m, const struct lora_config *cfg)
{
    *l = (struct lora){.cfg = *cfg, .layers = m->layers, .on = true};
    for (int i = 0; i < m->layers; i++)
        for (int mod = 0; mod < LORA_MODULES; mod++)
            add_site(l, m, i, mod);
    l->cfg.table = NULL;
    place(l);
}

void lora_init(struct lora *l, const struct llama_config *m, const struct lora_config *cfg,
               uint64_t seed)
{
    lora_shape(l, m, cfg);
    slab_alloc(&l->slab);
    place(l);
    connect(l, m->layers);
    for (int i = 0; i < l->tensors.n; i += 2) {
        const struct tensor *a = &l->tensors.t[i];
        float bound = 1.0f / sqrtf((float)a->cols);
        rng_fill_uniform(rng_key(seed, 2, (uint64_t)i, 0), a->w, tensors_count(a), -bound, bound);
    }
}

void lora_release(struct lora *l)
{
    slab_release(&l->slab);
    tensors_release(&l->tensors);
    *l = (struct lora){0};
}

int lora_rank(const struct lora *l, int layer, int module)
{
    int most = 0;
    for (int i = 0; layer < 0 && i < LLAMA_MAX_LAYERS; i++)
        most = MAX(most, l->site[i][module].r);
    return layer < 0 ? most : l->site[layer][module].r;
}

/* w += scale B A, each element's sum in f64 and rounded once. row: room for `in`. */
static void merge_site(const struct lora_site *s, double *row, float *w)
{
    for (int o = 0; s->a && o < s->out; o++, w += s->in) {
        memset(row, 0, (size_t)s->in * sizeof *row);
        for (int k = 0; k < s->r; k++) {
            double b = (double)s->b[o * s->r + k];
            const float *a = s->a + (size_t)k * (size_t)s->in;
            for (int i = 0; i < s->in; i++)
                row[i] += b * (double)a[i];
        }
        for (int i = 0; i < s->in; i++)
            w[i] += (float)(s->scale * row[i]);
    }
}

void lora_merge(const struct lora *l, struct llama *m)
{
    size_t d = (size_t)m->cfg.hidden, hd = (size_t)m->cfg.head_dim;
    size_t q = (size_t)m->cfg.heads * hd, kv = (size_t)m->cfg.kv_heads * hd;
    double *row = xcalloc(MAX(MAX(d, q), (size_t)m->cfg.ffn), sizeof *row);
    for (int i = 0; i < m->cfg.layers; i++) {
        struct llama_layer *w = &m->layer[i];
        float *at[LORA_MODULES] = {w->qkv, w->qkv + q * d, w->qkv + (q + kv) * d, w->o, w->gu,
                                   w->gu + (size_t)m->cfg.ffn * d, w->down};
        for (int mod = 0; mod < LORA_MODULES; mod++)
            merge_site(&l->site[i][mod], row, at[mod]);
    }
    free(row);
}

void lora_forward(const struct lora_site *s, struct compute *c, int n, const struct dropout *drop,
                  const float *x, float *tmp, float *u, float *y, int ldy)
{
    int r = s->r;
    if (drop->key) {
        ops_dropout(c, n, s->in, drop, x, tmp);
        x = tmp;
    }
    gemm_run(c, n, r, s->in, 1.0f, mat_rows(x, s->in), mat_t(s->a, s->in), false, u, r);
    gemm_run(c, n, s->out, r, (float)s->scale, mat_rows(u, r), mat_t(s->b, r), true, y, ldy);
}

void lora_backward(const struct lora_site *s, struct compute *c, int n,
                   const struct dropout *drop, const float *x, float *tmp, float *u,
                   const float *dy, int ldy, float *dx)
{
    int r = s->r;
    gemm_run(c, s->out, r, n, (float)s->scale, mat_t(dy, ldy), mat_rows(u, r), true, s->db, r);
    float *du = u;
    gemm_run(c, n, r, s->out, (float)s->scale, mat_rows(dy, ldy), mat_rows(s->b, r), false, du, r);
    if (drop->key) {
        ops_dropout(c, n, s->in, drop, x, tmp);
        x = tmp;
    }
    gemm_run(c, r, s->in, n, 1.0f, mat_t(du, r), mat_rows(x, s->in), true, s->da, s->in);
    if (!dx)
        return;
    if (!drop->key) {
        gemm_run(c, n, s->in, r, 1.0f, mat_rows(du, r), mat_rows(s->a, s->in), true, dx, s->in);
        return;
    }
    gemm_run(c, n, s->in, r, 1.0f, mat_rows(du, r), mat_rows(s->a, s->in), false, tmp, s->in);
    ops_dropout(c, n, s->in, drop, tmp, tmp);
    ops_add(c, (size_t)n * (size_t)s->in, tmp, dx);
}
