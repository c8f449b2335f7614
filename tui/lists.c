/* lists.c - sorted and filtered rows of the cluster's tables (lists.h). */
#include "tui/lists.h"

#include "core/base/i18n.h"
#include "core/base/mem.h"

/* What the rows were made from. */
struct key {
    uint64_t generation, other;
    const void *items;
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
    struct key pods_key, events_key, nodes_key;
    struct podinfo *pods;
    struct eventinfo *events;
    struct nodeinfo_list nodes;
    int *order[LIST_COUNT], n[LIST_COUNT], total[LIST_COUNT], warnings;
};

struct lists *lists_new(void)
{
    return xcalloc(1, sizeof(struct lists));
}

void lists_free(struct lists *l)
{
    if (!l)
        return;
    free(l->pods);
    free(l->events);
    nodeinfo_list_release(&l->nodes);
    for (int i = 0; i < LIST_COUNT; i++)
        free(l->order[i]);
    free(l);
}

static bool has_capital(const char *s)
{
    for (; *s; s++)
        if (*s >= 'A' && *s <= 'Z')
            return true;
    return false;
}

bool lists_pass(const char *filter, const char *text)
{
    bool inverse = *filter == '!';
    const char *want = filter + inverse;
    if (!*want)
        return true;
    bool has = (has_capital(want) ? strstr(text, want) : strcasestr(text, want)) != NULL;
    return has != inverse;
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

/* The same choice of the same rows; else remembers the new ones. */
static bool fresh(struct key *k, const struct table *t, uint64_t other, const struct list_view *v)
{
    if (k->made && k->generation == t->generation && k->items == t->items && k->other == other &&
        same_choice(&k->view, v))
        return true;
    *k = (struct key){t->generation, other, t->items, *v, true};
    return false;
}

static void all_rows(struct lists *l, enum list_id id, int total)
{
    l->order[id] = xrealloc_array(l->order[id], (size_t)total + 1, sizeof(int));
    l->n[id] = 0;
    l->total[id] = total;
}

static void keep(struct lists *l, enum list_id id, int i)
{
    l->order[id][l->n[id]++] = i;
}

/* --- sorting: qsort_r is not everywhere alike, so the rows carry their keys ------- */
struct sortable {
    const char *text;
    int64_t number;
    const char *name;
    int index;
};

static int compare(const void *a, const void *b)
{
    const struct sortable *x = a, *y = b;
    int c = strcmp(x->text, y->text);
    if (c == 0 && x->number != y->number)
        c = x->number < y->number ? -1 : 1;
    if (c == 0)
        c = strcmp(x->name, y->name);
    return c ? c : x->index - y->index;
}

static void sort_rows(struct lists *l, enum list_id id, struct sortable *v, bool reverse)
{
    int n = l->n[id];
    qsort(v, (size_t)n, sizeof *v, compare);
    for (int i = 0; i < n; i++)
        l->order[id][i] = v[reverse ? n - 1 - i : i].index;
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

static bool pod_passes(struct podinfo *p, const struct list_view *v)
{
    char text[1024];
    if (!v->filter[0])
        return true;
    podinfo_complete(p);
    str_fmt(text, sizeof text, "%s %s %s %s", p->name, p->status, p->node, p->hw);
    return lists_pass(v->filter, text);
}

static struct sortable pod_key(struct podinfo *p, int i, enum list_sort sort)
{
    if (sort == SORT_STATUS)
        podinfo_complete(p);
    struct sortable k = {"", 0, p->name, i};
    if (sort == SORT_AGE)
        k.number = -p->created_ms;       /* the youngest first */
    else if (sort == SORT_STATUS)
        k.text = p->status;
    else if (sort == SORT_NODE)
        k.text = p->node;
    return k;
}

struct lists_pods lists_pods(struct lists *l, const struct session *s, const struct list_view *v)
{
    const struct table *t = session_table(s, "pods");
    if (!fresh(&l->pods_key, t, 0, v)) {
        int total = (int)json_count(t->items), i = 0;
        struct sortable *keys = xcalloc((size_t)total + 1, sizeof *keys);
        l->pods = xrealloc_array(l->pods, (size_t)total + 1, sizeof *l->pods);
        all_rows(l, LIST_PODS, total);
        for (const struct json *p = json_first(t->items); p; p = json_next(p), i++) {
            podinfo_names(p, &l->pods[i]);
            if (!pod_passes(&l->pods[i], v))
                continue;
            keys[l->n[LIST_PODS]] = pod_key(&l->pods[i], i, v->sort);
            keep(l, LIST_PODS, i);
        }
        sort_rows(l, LIST_PODS, keys, v->reverse);
        free(keys);
    }
    return (struct lists_pods){l->pods, l->order[LIST_PODS], l->n[LIST_PODS], l->total[LIST_PODS]};
}

/* --- events: the newest first, or by object ------------------------------------------ */
static bool event_passes(const struct eventinfo *e, const struct list_view *v)
{
    char text[1400];
    if (v->only && !e->warning)
        return false;
    if (!v->filter[0])
        return true;
    str_fmt(text, sizeof text, "%s %s/%s %s", e->reason, e->kind, e->name, e->message);
    return lists_pass(v->filter, text);
}

static struct sortable event_key(const struct eventinfo *e, int i, enum list_sort sort)
{
    struct sortable k = {"", -(e->last_ms / 1000), "", i};
    if (sort == SORT_NAME)
        k.text = e->name;
    return k;
}

/* Events of one second keep the server's order, the newest first. */
static int by_place(const void *a, const void *b)
{
    return eventinfo_newer(a, b);
}

struct lists_events lists_events(struct lists *l, const struct session *s,
                                 const struct list_view *v)
{
    const struct table *t = session_table(s, "events");
    if (!fresh(&l->events_key, t, 0, v)) {
        int total = (int)json_count(t->items), i = 0;
        struct sortable *keys = xcalloc((size_t)total + 1, sizeof *keys);
        l->events = xrealloc_array(l->events, (size_t)total + 1, sizeof *l->events);
        all_rows(l, LIST_EVENTS, total);
        l->warnings = 0;
        for (const struct json *e = json_first(t->items); e; e = json_next(e))
            eventinfo_read(e, &l->events[i++]);
        qsort(l->events, (size_t)total, sizeof *l->events, by_place);
        for (i = 0; i < total; i++) {
            l->warnings += l->events[i].warning;
            if (!event_passes(&l->events[i], v))
                continue;
            keys[l->n[LIST_EVENTS]] = event_key(&l->events[i], i, v->sort);
            keep(l, LIST_EVENTS, i);
        }
        sort_rows(l, LIST_EVENTS, keys, v->reverse);
        free(keys);
    }
    return (struct lists_events){l->events, l->order[LIST_EVENTS], l->n[LIST_EVENTS],
                                 l->total[LIST_EVENTS], l->warnings};
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

struct lists_nodes lists_nodes(struct lists *l, const struct session *s,
                               const struct list_view *v)
{
    const struct table *t = session_table(s, "nodes"), *p = session_table(s, "pods");
    bool all = s->all_pods.items && !s->all_pods.forbidden;
    uint64_t other = p->generation + s->all_pods.generation * 1000003u;
    if (!fresh(&l->nodes_key, t, other, v)) {
        nodeinfo_list_release(&l->nodes);
        nodeinfo_list_read(t->items, all ? s->all_pods.items : p->items, &l->nodes);
        all_rows(l, LIST_NODES, l->nodes.n);
        struct sortable *keys = xcalloc((size_t)l->nodes.n + 1, sizeof *keys);
        for (int i = 0; i < l->nodes.n; i++) {
            const struct nodeinfo *n = &l->nodes.v[i];
            if (!node_passes(n, v))
                continue;
            keys[l->n[LIST_NODES]] =
                (struct sortable){"", v->sort == SORT_AGE ? -n->created_ms : 0, n->name, i};
            keep(l, LIST_NODES, i);
        }
        sort_rows(l, LIST_NODES, keys, v->reverse);
        free(keys);
    }
    return (struct lists_nodes){l->nodes.v, l->order[LIST_NODES], l->n[LIST_NODES],
                                l->total[LIST_NODES], !all};
}
