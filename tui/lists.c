/* lists.c - sorted and filtered rows of the cluster's tables (lists.h). */
#include "tui/lists.h"

#include "core/base/i18n.h"
#include "core/base/mem.h"
#include "tui/holds.h"

/* What the rows of the nodes were made from. */
struct key {
    uint64_t generation, sums;
    bool all;                        /* of the pods of all namespaces */
    struct list_view view;
    bool made;
};

enum { WHY_MOST = 128, WHY_MS = 4000 };

struct why {
    char uid[80], version[32], lang[8];
    int64_t at_ms;
    char text[256];
};

struct lists {
    struct why why[WHY_MOST];
    int why_next;
    struct lists *base;              /* pods were read there; or NULL */
    struct rowset pods_rows, events_rows;
    struct holds own, all;           /* of the namespace; of all namespaces */
    struct podinfo *pods;
    struct eventinfo *events;
    size_t events_cap;
    int warnings;
    struct key nodes_key;
    struct nodeinfo_list nodes;
    int *order, n, total;            /* of the nodes */
};

static const struct rowset_kind pods_kind, seen_kind, events_kind;

struct lists *lists_new(struct lists *base)
{
    struct lists *l = xcalloc(1, sizeof *l);
    l->base = base;
    rowset_init(&l->pods_rows, base ? &seen_kind : &pods_kind, l, !base);
    rowset_init(&l->events_rows, &events_kind, l, !base);
    holds_init(&l->own);
    holds_init(&l->all);
    return l;
}

void lists_free(struct lists *l)
{
    if (!l)
        return;
    rowset_release(&l->pods_rows);
    rowset_release(&l->events_rows);
    holds_release(&l->own);
    holds_release(&l->all);
    free(l->pods);
    free(l->events);
    nodeinfo_list_release(&l->nodes);
    free(l->order);
    free(l);
}

bool lists_pass(const char *filter, const char *text)
{
    return rowset_pass(filter, text);
}

const char *lists_sort_name(enum list_sort s)
{
    static const char *const names[SORT_COUNT] = {N_("name"), N_("age"), N_("status"), N_("node")};
    return names[s];
}

/* Selecting a row is no reason to make the rows anew. */
static bool same_choice(const struct list_view *a, const struct list_view *b)
{
    return str_eq(a->filter, b->filter) && a->sort == b->sort && a->reverse == b->reverse &&
           a->only == b->only;
}

/* --- pods -------------------------------------------------------------------------- */
static const char *version_of(const struct podinfo *p)
{
    return json_str(p->pod, "metadata.resourceVersion", "");
}

const char *lists_why(const struct lists *l, const struct podinfo *p, int64_t now_ms)
{
    for (int i = 0; i < WHY_MOST; i++) {
        const struct why *w = &l->why[i];
        if (w->uid[0] && now_ms - w->at_ms < WHY_MS && str_eq(w->uid, p->uid) &&
            str_eq(w->version, version_of(p)) && str_eq(w->lang, i18n_lang()))
            return w->text;
    }
    return NULL;
}

void lists_why_keep(struct lists *l, const struct podinfo *p, int64_t now_ms, const char *text)
{
    struct why *w = &l->why[l->why_next++ % WHY_MOST];
    str_copy(w->uid, sizeof w->uid, p->uid);
    str_copy(w->version, sizeof w->version, version_of(p));
    str_copy(w->lang, sizeof w->lang, i18n_lang());
    str_copy(w->text, sizeof w->text, text);
    w->at_ms = now_ms;
}

const struct podinfo *lists_pod(const struct lists_pods *l, int i)
{
    struct podinfo *p = &l->v[l->order[i]];
    podinfo_complete(p);
    return p;
}

static void pods_room(void *arg, size_t n)
{
    struct lists *l = arg;
    l->pods = xrealloc_array(l->pods, n, sizeof *l->pods);
}

/* All of it is read at once where a person may filter and sort by any of it. */
static bool pods_take(void *arg, int i, const struct json *obj, bool again)
{
    struct lists *l = arg;
    struct podinfo *p = &l->pods[i], now;
    podinfo_names(obj, &now);
    podinfo_complete(&now);
    bool moved = !(again && str_eq(p->name, now.name) && str_eq(p->node, now.node) &&
                   str_eq(p->status, now.status) && p->created_ms == now.created_ms);
    *p = now;
    return moved;
}

static int order_of(int64_t a, int64_t b)
{
    return (a > b) - (a < b);
}

/* Rows of a base are read there; whether one moves is not asked. */
static void seen_room(void *arg UNUSED, size_t n UNUSED)
{
}

static bool seen_take(void *arg UNUSED, int i UNUSED, const struct json *obj UNUSED,
                      bool again UNUSED)
{
    return true;
}

static struct podinfo *pods_of(const struct lists *l)
{
    return l->base ? l->base->pods : l->pods;
}

static int pods_compare(const void *arg, int sort, int a, int b)
{
    const struct podinfo *x = &pods_of(arg)[a], *y = &pods_of(arg)[b];
    if (sort == SORT_AGE)
        return order_of(y->created_ms, x->created_ms);       /* the youngest first */
    if (sort == SORT_STATUS)
        return strcmp(x->status, y->status);
    if (sort == SORT_NODE)
        return x->node == y->node ? 0 : strcmp(x->node, y->node);
    return strcmp(x->name, y->name);
}

static void pods_text(void *arg, int i, char *buf, size_t size)
{
    const struct podinfo *p = &pods_of(arg)[i];
    str_fmt(buf, size, "%s %s %s %s", p->name, p->status, p->node, p->hw);
}

static const struct rowset_kind pods_kind = {pods_room, pods_take, NULL, pods_compare, NULL,
                                             pods_text};
static const struct rowset_kind seen_kind = {seen_room, seen_take, NULL, pods_compare, NULL,
                                             pods_text};

static void follow_pods(struct lists *l, const struct session *s)
{
    if (l->base)
        follow_pods(l->base, s);
    rowset_follow(&l->pods_rows, session_table(s, "pods"));
}

static struct rowset_choice choice(const struct list_view *v, int sort)
{
    return (struct rowset_choice){sort, v->reverse, v->filter, v->only};
}

struct lists_pods lists_pods(struct lists *l, const struct session *s, const struct list_view *v)
{
    struct rowset *r = &l->pods_rows;
    struct rowset_choice c = choice(v, v->sort);
    follow_pods(l, s);
    rowset_choose(r, &c);
    return (struct lists_pods){pods_of(l), r->shown, r->shown_n, r->n};
}

/* --- events: the newest first, or by object ------------------------------------------ */
static void events_room(void *arg, size_t n)
{
    struct lists *l = arg;
    l->events = xrealloc_array(l->events, n, sizeof *l->events);
    memset(l->events + l->events_cap, 0, (n - l->events_cap) * sizeof *l->events);
    l->events_cap = n;
}

static void events_gone(void *arg, int i)
{
    struct lists *l = arg;
    l->warnings -= l->events[i].warning;
    l->events[i].warning = false;
}

static bool events_take(void *arg, int i, const struct json *obj, bool again UNUSED)
{
    struct lists *l = arg;
    events_gone(l, i);
    eventinfo_read(obj, &l->events[i]);
    l->warnings += l->events[i].warning;
    return true;
}

/* Events of one second keep the server's order, the newest first. */
static int events_compare(const void *arg, int sort, int a, int b)
{
    const struct lists *l = arg;
    const struct eventinfo *x = &l->events[a], *y = &l->events[b];
    return sort ? strcmp(x->name, y->name) : eventinfo_newer(x, y);
}

static bool events_passes(const void *arg, int i)
{
    return ((const struct lists *)arg)->events[i].warning;
}

static void events_text(void *arg, int i, char *buf, size_t size)
{
    const struct lists *l = arg;
    const struct eventinfo *e = &l->events[i];
    str_fmt(buf, size, "%s %s/%s %s", e->reason, e->kind, e->name, e->message);
}

static const struct rowset_kind events_kind = {events_room, events_take, events_gone,
                                               events_compare, events_passes, events_text};

struct lists_events lists_events(struct lists *l, const struct session *s,
                                 const struct list_view *v)
{
    struct rowset *r = &l->events_rows;
    struct rowset_choice c = choice(v, v->sort == SORT_NAME);
    rowset_follow(r, session_table(s, "events"));
    rowset_choose(r, &c);
    return (struct lists_events){l->events, r->shown, r->shown_n, r->n, l->warnings};
}

const struct json *lists_event_object(const struct lists *l, int i)
{
    return l->events_rows.held[i];
}

void lists_follow(struct lists *l, const struct session *s)
{
    follow_pods(l, s);
    rowset_follow(&l->events_rows, session_table(s, "events"));
    if (l->base)
        return;
    holds_follow(&l->own, session_table(s, "pods"));
    holds_follow(&l->all, &s->all_pods);
}

/* --- nodes -------------------------------------------------------------------------- */
static bool node_passes(const struct nodeinfo *n, const struct list_view *v)
{
    char text[1024];
    size_t have;
    if (!v->filter[0])
        return true;
    str_fmt(text, sizeof text, "%s %s %s %s", n->name, n->roles, n->version, n->pressure);
    for (int i = 0; i < n->devices; i++) {
        have = strlen(text);
        snprintf(text + have, sizeof text - have, " %s", n->device[i].resource);
    }
    return lists_pass(v->filter, text);
}

/* They come sorted by name. */
static void order_nodes(struct lists *l, const struct list_view *v)
{
    l->total = l->nodes.n;
    l->n = 0;
    l->order = xrealloc_array(l->order, (size_t)l->total + 1, sizeof *l->order);
    for (int i = 0; i < l->total; i++) {
        const struct nodeinfo *n = &l->nodes.v[i];
        int at = l->n;
        if (!node_passes(n, v))
            continue;
        while (v->sort == SORT_AGE && at > 0 &&
               l->nodes.v[l->order[at - 1]].created_ms < n->created_ms)
            at--;
        memmove(l->order + at + 1, l->order + at, (size_t)(l->n++ - at) * sizeof *l->order);
        l->order[at] = i;
    }
    for (int i = 0; v->reverse && i < l->n / 2; i++) {
        int swap = l->order[i];
        l->order[i] = l->order[l->n - 1 - i];
        l->order[l->n - 1 - i] = swap;
    }
}

static const struct holds *holds_of(struct lists *l, const struct session *s, bool *all)
{
    struct lists *from = l->base ? l->base : l;
    *all = s->all_pods.synced && !s->all_pods.forbidden;
    struct holds *h = *all ? &from->all : &from->own;
    holds_follow(h, *all ? &s->all_pods : session_table(s, "pods"));
    return h;
}

/* The nodes are read when one has changed, their sums are asked for when one has. */
static void read_nodes(struct lists *l, const struct table *t, const struct holds *h)
{
    if (!l->nodes_key.made || l->nodes_key.generation != t->generation) {
        nodeinfo_list_release(&l->nodes);
        nodeinfo_list_read(t->items, NULL, &l->nodes);
    }
    for (int i = 0; i < l->nodes.n; i++)
        nodesums_give(h->sums, &l->nodes.v[i]);
}

struct lists_nodes lists_nodes(struct lists *l, const struct session *s,
                               const struct list_view *v)
{
    const struct table *t = session_table(s, "nodes");
    struct key *k = &l->nodes_key;
    bool all;
    const struct holds *h = holds_of(l, s, &all);
    uint64_t sums = nodesums_generation(h->sums);
    bool same = k->made && k->generation == t->generation && k->sums == sums && k->all == all;
    if (!same || !same_choice(&k->view, v)) {
        if (!same)
            read_nodes(l, t, h);
        *k = (struct key){t->generation, sums, all, *v, true};
        order_nodes(l, v);
    }
    return (struct lists_nodes){l->nodes.v, l->order, l->n, l->total, !all};
}

const struct json *lists_holder(struct lists *l, const struct session *s, const char *node,
                                const char *resource, int *at, int64_t *amount)
{
    bool all;
    return holds_next(holds_of(l, s, &all), node, resource, at, amount);
}
