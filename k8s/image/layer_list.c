/* layer_list.c - the entries of a layer to be, in their order. */
#include "core/base/mem.h"
#include "k8s/image/layer_writer.h"

void layer_list_init(struct layer_list *l)
{
    memset(l, 0, sizeof *l);
}

static void free_entry(struct layer_entry *e)
{
    free(e->path);
    free(e->src);
    free(e->data);
    free(e->link);
}

void layer_list_release(struct layer_list *l)
{
    for (size_t i = 0; i < l->n; i++)
        free_entry(&l->v[i]);
    free(l->v);
    layer_list_init(l);
}

struct layer_entry *layer_list_add(struct layer_list *l, enum layer_kind kind, const char *path)
{
    if (l->n == l->cap) {
        l->cap = l->cap ? 2 * l->cap : 64;
        l->v = xrealloc_array(l->v, l->cap, sizeof *l->v);
    }
    struct layer_entry *e = &l->v[l->n];
    *e = (struct layer_entry){.kind = kind, .path = xstrdup(path), .seq = l->n};
    l->n++;
    return e;
}

/* "/" sorts before every other character, so that a folder's entries follow it
 * directly. */
static int compare_paths(const char *a, const char *b)
{
    while (*a && *a == *b) {
        a++;
        b++;
    }
    int x = *a == '/' ? 1 : (unsigned char)*a, y = *b == '/' ? 1 : (unsigned char)*b;
    return x - y;
}

static int compare(const void *a, const void *b)
{
    const struct layer_entry *x = a, *y = b;
    int c = compare_paths(x->path, y->path);
    if (c)
        return c;
    return x->seq < y->seq ? -1 : x->seq > y->seq;
}

void layer_list_sort(struct layer_list *l)
{
    size_t n = 0;
    if (l->n > 1)
        qsort(l->v, l->n, sizeof *l->v, compare);
    l->bytes = 0;
    for (size_t i = 0; i < l->n; i++) {
        if (i + 1 < l->n && str_eq(l->v[i].path, l->v[i + 1].path)) {
            free_entry(&l->v[i]);
            continue;
        }
        l->bytes += l->v[i].kind == LAYER_FILE ? l->v[i].size : 0;
        l->v[n++] = l->v[i];
    }
    l->n = n;
}
