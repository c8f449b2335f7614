/* holds.c - requests of pods by node (holds.h). */
#include "tui/holds.h"

#include "core/base/mem.h"

static void room(void *arg, size_t n)
{
    struct holds *h = arg;
    h->ask = xrealloc_array(h->ask, n, sizeof *h->ask);
}

static void gone(void *arg, int i)
{
    struct holds *h = arg;
    nodesums_take(h->sums, &h->ask[i]);
}

static bool take(void *arg, int i, const struct json *pod, bool again)
{
    struct holds *h = arg;
    if (again)
        gone(h, i);
    nodesums_read(pod, &h->ask[i]);
    nodesums_add(h->sums, &h->ask[i]);
    return false;
}

/* They stand in the order of their numbers. */
static int compare(const void *arg UNUSED, int sort UNUSED, int a, int b)
{
    return (a > b) - (a < b);
}

static const struct rowset_kind kind = {room, take, gone, compare, NULL, NULL};

void holds_init(struct holds *h)
{
    memset(h, 0, sizeof *h);
    h->sums = nodesums_new();
    rowset_init(&h->rows, &kind, h, false);
}

void holds_release(struct holds *h)
{
    rowset_release(&h->rows);
    nodesums_free(h->sums);
    free(h->ask);
}

void holds_follow(struct holds *h, const struct table *pods)
{
    static const struct rowset_choice all = {.filter = ""};
    rowset_follow(&h->rows, pods);
    rowset_choose(&h->rows, &all);
}

static int64_t held(const struct nodesums_ask *a, const char *resource)
{
    if (str_eq(resource, "cpu"))
        return a->cpu;
    if (str_eq(resource, "memory"))
        return a->memory;
    for (int i = 0; i < a->n; i++)
        if (str_eq(a->device[i].resource, resource))
            return a->device[i].amount;
    return 0;
}

const struct json *holds_next(const struct holds *h, const char *node, const char *resource,
                              int *at, int64_t *amount)
{
    for (; *at < h->rows.shown_n; (*at)++) {
        int number = h->rows.shown[*at];
        const struct nodesums_ask *a = &h->ask[number];
        if (!str_eq(a->node, node))
            continue;
        *amount = held(a, resource);
        if (*amount <= 0)
            continue;
        (*at)++;
        return h->rows.held[number];
    }
    return NULL;
}
