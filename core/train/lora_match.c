/* lora_match.c - from names and patterns to sites (lora_match.h). */
#include "core/train/lora_match.h"

#include "core/base/i18n.h"
#include "core/base/mem.h"
#include "core/train/rx.h"

enum { PATH = 128 };

struct names {                    /* target_modules or exclude_modules */
    struct rx *rx;
    const struct tjson *list;
    bool all;
};

struct rule {
    struct rx *rx;
    double value;
};

struct matcher {
    struct names targets, exclude;
    struct rule *rank, *alpha;
    int n_rank, n_alpha;
    const struct tjson *layers;   /* layers_to_transform: number, list or nothing */
    struct rx *in_layers;         /* layers_pattern */
};

static enum pd_code compile(const char *before, const char *pattern, const char *after,
                            const char *src, struct rx **out, struct pd_err *err)
{
    char *whole = xasprintf("%s%s%s", before, pattern, after);
    enum pd_code rc = rx_new(whole, strlen(whole), out, err);
    free(whole);
    if (rc != PD_OK)
        str_copy(err->src, sizeof err->src, src);
    return rc;
}

static enum pd_code read_names(const struct tjson *j, const char *key, const char *src,
                               struct names *n, struct pd_err *err)
{
    const struct tjson *v = tjson_get(j, key);
    const char *text = tjson_str(v, "", NULL);
    bool good = tjson_type(v) <= TJSON_NULL || tjson_type(v) == TJSON_ARRAY || text;
    for (size_t i = 0; i < tjson_count(v) && good; i++)
        good = tjson_str(tjson_item(v, i), "", NULL) != NULL;
    if (!good)
        return pd_fail_at(err, PD_TRAIN, src, 0, 0,
                          _("%s must be a list of module names or a regular expression"), key);
    n->all = text && str_eq(text, "all-linear");
    n->list = tjson_type(v) == TJSON_ARRAY ? v : NULL;
    return text && !n->all ? compile("", text, "", src, &n->rx, err) : PD_OK;
}

static bool ends_in(const char *path, const char *item)
{
    size_t n = strlen(path), k = strlen(item);
    return n > k && path[n - k - 1] == '.' && str_eq(path + n - k, item);
}

enum found { NO, BY_END, EXACT };

static enum found find(const struct names *n, const char *path)
{
    enum found best = NO;
    if (n->rx)
        return rx_full(n->rx, path, strlen(path)) ? EXACT : NO;
    for (size_t i = 0; i < tjson_count(n->list); i++) {
        const char *item = tjson_str(tjson_item(n->list, i), "", "");
        if (str_eq(item, path))
            return EXACT;
        best = ends_in(path, item) ? BY_END : best;
    }
    return n->all ? EXACT : best;
}

static enum pd_code read_rules(const struct tjson *j, const char *key, double most,
                               const char *src, struct rule **out, int *n, struct pd_err *err)
{
    const struct tjson *v = tjson_get(j, key);
    size_t count = tjson_type(v) == TJSON_OBJECT ? tjson_count(v) : 0;
    *out = xcalloc(count + 1, sizeof **out);
    for (void *it = count ? tjson_iter(v) : NULL; it; it = tjson_iter_next(v, it)) {
        double x = tjson_num(tjson_iter_value(it), "", -1);
        bool whole = most == 0 || (tjson_type(tjson_iter_value(it)) == TJSON_INT && x <= most);
        if (x <= 0 || !whole)
            return pd_fail_at(err, PD_TRAIN, src, 0, 0, _("%s: \"%s\" needs a number above 0"),
                              key, tjson_iter_key(it));
        if (compile("(?:.*\\.)?(?:", tjson_iter_key(it), ")", src, &(*out)[*n].rx, err) != PD_OK)
            return err->code;
        (*out)[(*n)++].value = x;
    }
    return PD_OK;
}

static double ruled(const struct rule *r, int n, const char *path, double def)
{
    for (int i = 0; i < n; i++)
        if (rx_full(r[i].rx, path, strlen(path)))
            return r[i].value;
    return def;
}

/* ["layers", "h"] or "layers": the path must have one of them before its number. */
static enum pd_code read_layers(const struct tjson *j, const char *src, struct matcher *x,
                                struct pd_err *err)
{
    const struct tjson *v = tjson_get(j, "layers_pattern");
    struct str s;
    x->layers = tjson_get(j, "layers_to_transform");
    str_init(&s, 1 << 16);
    str_add(&s, tjson_str(v, "", ""));
    for (size_t i = 0; i < tjson_count(v); i++)
        str_printf(&s, "%s%s", i ? "|" : "", tjson_str(tjson_item(v, i), "", ""));
    enum pd_code rc = PD_OK;
    if (s.len)
        rc = compile("(?:.*?\\.)?(?:", s.p, ")\\.\\d+\\..*", src, &x->in_layers, err);
    str_release(&s);
    return rc;
}

static bool layer_chosen(const struct matcher *x, int layer, const char *path)
{
    enum tjson_type t = tjson_type(x->layers);
    bool any = t == TJSON_INT || (t == TJSON_ARRAY && tjson_count(x->layers) > 0);
    bool in = t == TJSON_INT && tjson_int(x->layers, "", -1) == layer;
    if (!any)
        return true;
    for (size_t i = 0; i < tjson_count(x->layers); i++)
        in |= tjson_int(tjson_item(x->layers, i), "", -1) == layer;
    return in && (!x->in_layers || rx_full(x->in_layers, path, strlen(path)));
}

static bool chosen(const struct matcher *x, int layer, int mod, const char *path)
{
    const struct names *t = &x->targets;
    if (find(&x->exclude, path) != NO)
        return false;
    if (!t->rx && !t->list && !t->all)
        return mod == LORA_Q || mod == LORA_V;    /* PEFT's choice for a Llama */
    enum found f = find(t, path);
    return f == EXACT || (f == BY_END && layer_chosen(x, layer, path));
}

static enum pd_code fill(const struct matcher *x, const char *src, const struct llama_config *m,
                         struct lora_config *c, struct lora_table *t, struct pd_err *err)
{
    char path[PATH];
    *t = (struct lora_table){0};
    c->targets = 0;
    for (int i = 0; i < m->layers; i++)
        for (int mod = 0; mod < LORA_MODULES; mod++) {
            lora_site_path(i, (enum lora_module)mod, path, sizeof path);
            if (!chosen(x, i, mod, path))
                continue;
            c->targets |= 1u << mod;
            t->r[i][mod] = (int)ruled(x->rank, x->n_rank, path, c->r);
            t->alpha[i][mod] = ruled(x->alpha, x->n_alpha, path, c->alpha);
        }
    static const char *const others[] = {"lm_head", "model.embed_tokens"};
    for (size_t i = 0; i < ARRAY_LEN(others); i++)
        if (!x->targets.all && find(&x->targets, others[i]) && !find(&x->exclude, others[i]))
            return pd_fail_at(err, PD_UNSUPPORTED, src, 0, 0,
                              _("target_modules means %s too: only the linear layers of the "
                                "blocks are adapted here"), others[i]);
    if (c->targets)
        return PD_OK;
    pd_fail_at(err, PD_UNSUPPORTED, src, 0, 0,
               _("target_modules matches no linear layer of this model"));
    return pd_set_hint(err, _("a Llama's are q_proj, k_proj, v_proj, o_proj, gate_proj, up_proj "
                               "and down_proj; is --model the adapter's base?"));
}

static void release(struct matcher *x)
{
    rx_free(x->targets.rx);
    rx_free(x->exclude.rx);
    rx_free(x->in_layers);
    for (int i = 0; i < x->n_rank; i++)
        rx_free(x->rank[i].rx);
    for (int i = 0; i < x->n_alpha; i++)
        rx_free(x->alpha[i].rx);
    free(x->rank);
    free(x->alpha);
}

enum pd_code lora_match(const struct tjson *j, const char *src, const struct llama_config *m,
                        struct lora_config *c, struct lora_table *t, struct pd_err *err)
{
    struct matcher x = {0};
    enum pd_code rc = read_names(j, "target_modules", src, &x.targets, err);
    if (rc == PD_OK)
        rc = read_names(j, "exclude_modules", src, &x.exclude, err);
    if (rc == PD_OK)
        rc = read_layers(j, src, &x, err);
    if (rc == PD_OK)
        rc = read_rules(j, "rank_pattern", LORA_RANK_MOST, src, &x.rank, &x.n_rank, err);
    if (rc == PD_OK)
        rc = read_rules(j, "alpha_pattern", 0, src, &x.alpha, &x.n_alpha, err);
    if (rc == PD_OK)
        rc = fill(&x, src, m, c, t, err);
    release(&x);
    return rc;
}
