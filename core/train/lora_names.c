/* lora_names.c - many tensors' names in a short line (lora_report.h). */
#include "core/base/i18n.h"
#include "core/base/mem.h"
#include "core/train/lora_report.h"

#define PREFIX "base_model.model.model.layers."

void lora_names_add(struct lora_names *x, const char *tensor)
{
    if (x->n == x->cap) {
        x->cap = x->cap ? 2 * x->cap : 64;
        x->v = xrealloc_array(x->v, (size_t)x->cap, sizeof *x->v);
    }
    struct lora_name *e = &x->v[x->n++];
    const char *p = str_starts(tensor, PREFIX) ? tensor + strlen(PREFIX) : NULL;
    char *end = NULL;
    long layer = p && *p >= '0' && *p <= '9' ? strtol(p, &end, 10) : -1;
    bool in = layer >= 0 && layer < 100000 && *end == '.';
    *e = (struct lora_name){.layer = in ? (int)layer : -1};
    str_copy(e->rest, sizeof e->rest, in ? end + 1 : tensor);
    size_t n = strlen(e->rest);
    if (in && str_ends(e->rest, ".weight"))
        e->rest[n - strlen(".weight")] = '\0';
}

void lora_names_release(struct lora_names *x)
{
    free(x->v);
    *x = (struct lora_names){0};
}

static int by_rest(const void *a, const void *b)
{
    const struct lora_name *x = a, *y = b;
    int c = strcmp(x->rest, y->rest);
    return c ? c : x->layer - y->layer;
}

/* How many from i on have the same rest and rising layers without a gap. */
static int run_of(const struct lora_names *x, int i)
{
    int n = 1;
    while (i + n < x->n && str_eq(x->v[i].rest, x->v[i + n].rest) && x->v[i].layer >= 0 &&
           x->v[i + n].layer == x->v[i].layer + n)
        n++;
    return n;
}

/* Whether the run at j is the B of the run (of n) at i. */
static bool pairs(const struct lora_names *x, int i, int n, int j)
{
    size_t k = strlen(x->v[i].rest);
    return j < x->n && k > 0 && x->v[i].rest[k - 1] == 'A' && strlen(x->v[j].rest) == k &&
           strncmp(x->v[i].rest, x->v[j].rest, k - 1) == 0 && x->v[j].rest[k - 1] == 'B' &&
           x->v[j].layer == x->v[i].layer && run_of(x, j) == n;
}

static void print_run(const struct lora_name *e, int n, bool both, char *out, size_t size)
{
    const char *more = both ? "/B" : "";
    if (e->layer < 0)
        str_fmt(out, size, "%s%s", e->rest, more);
    else if (n == 1)
        str_fmt(out, size, "layers.%d.%s%s", e->layer, e->rest, more);
    else
        str_fmt(out, size, "layers.%d-%d.%s%s", e->layer, e->layer + n - 1, e->rest, more);
}

void lora_names_print(struct lora_names *x, size_t most, struct str *out)
{
    char one[TENSOR_NAME + 40];
    size_t from = out->len;
    if (x->n)
        qsort(x->v, (size_t)x->n, sizeof *x->v, by_rest);
    for (int i = 0; i < x->n;) {
        int n = run_of(x, i);
        bool both = pairs(x, i, n, i + n);
        print_run(&x->v[i], n, both, one, sizeof one);
        if (out->len > from && out->len - from + strlen(one) > most) {
            str_printf(out, _(" … and %d more"), x->n - i);
            return;
        }
        str_printf(out, "%s%s", out->len > from ? ", " : "", one);
        i += both ? 2 * n : n;
    }
}

void lora_names_zero(struct lora_names *zero, int all, struct str *out)
{
    if (zero->n && zero->n == all)
        str_add(out, _("every lora_B is zero: nothing was trained, the adapter changes nothing\n"));
    else if (zero->n) {
        str_printf(out, _("%d of %d lora_B are zero (not trained): "), zero->n, all);
        lora_names_print(zero, 300, out);
        str_add(out, "\n");
    }
    lora_names_release(zero);
}
