/* snapshot.c - collects what is known around an object (snapshot.h). */
#include "k8s/explain/snapshot.h"

#include "k8s/explain/auths.h"

/* A cause stands at the end of a log; more of it is not read. */
enum { ARENA_CEILING = 64 << 20, LOG_TAIL = 256 << 10 };

void snapshot_init(struct snapshot *s)
{
    memset(s, 0, sizeof *s);
    arena_init(&s->arena, ARENA_CEILING);
}

void snapshot_release(struct snapshot *s)
{
    for (size_t i = 0; i < s->owned_n; i++)
        json_free(s->owned[i]);
    for (int k = 0; k < SNAP_COUNT; k++)
        free(s->list[k].v);
    free(s->owned);
    arena_release(&s->arena);
    memset(s, 0, sizeof *s);
}

static const struct {
    const char *kind;
    enum snap list;
    const char *word; /* in front of a name: "node/gpu-a" */
} kinds[] = {
    {"Event", SNAP_EVENTS, "event"},
    {"Node", SNAP_NODES, "node"},
    {"Pod", SNAP_PODS, "pod"},
    {"PersistentVolumeClaim", SNAP_PVCS, "pvc"},
    {"PersistentVolume", SNAP_PVS, "pv"},
    {"StorageClass", SNAP_CLASSES, "storageclass"},
    {"Secret", SNAP_SECRETS, "secret"},
    {"ConfigMap", SNAP_CONFIGMAPS, "configmap"},
    {"ResourceQuota", SNAP_QUOTAS, "resourcequota"},
    {"LimitRange", SNAP_LIMITS, "limitrange"},
    {"Service", SNAP_SERVICES, "service"},
    {"Workload", SNAP_WORKLOADS, "workload"},
    {"LocalQueue", SNAP_WORKLOADS, "localqueue"},
    {"ClusterQueue", SNAP_WORKLOADS, "clusterqueue"},
};

static int kind_row(const char *kind, size_t n)
{
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
        if (strlen(kinds[i].kind) == n && memcmp(kinds[i].kind, kind, n) == 0)
            return (int)i;
    return -1;
}

static void push(struct snapshot *s, enum snap kind, const struct json *o, const char *file,
                 const char *prefix)
{
    struct snap_list *l = &s->list[kind];
    l->known = true;
    if (l->n == l->cap) {
        l->cap = l->cap ? 2 * l->cap : 16;
        l->v = xrealloc_array(l->v, l->cap, sizeof *l->v);
    }
    l->v[l->n++] = (struct snap_item){o, file, prefix};
}

static void own(struct snapshot *s, struct json *tree)
{
    if (s->owned_n == s->owned_cap) {
        s->owned_cap = s->owned_cap ? 2 * s->owned_cap : 8;
        s->owned = xrealloc_array(s->owned, s->owned_cap, sizeof(struct json *));
    }
    s->owned[s->owned_n++] = tree;
}

static void add_list(struct snapshot *s, struct json *tree, const char *kind, const char *file)
{
    struct json *items = json_get_mut(tree, "items");
    size_t base = strlen(kind) - strlen("List");
    int row = kind_row(kind, base), i = 0;
    if (row >= 0)
        snapshot_known(s, kinds[row].list, false);
    for (struct json *o = json_first_mut(items); o; o = json_next_mut(o), i++) {
        const char *own_kind = json_str(o, "kind", "");
        int r = row >= 0 ? row : kind_row(own_kind, strlen(own_kind));
        if (r < 0)
            continue;
        if (kinds[r].list == SNAP_SECRETS)
            auths_only(o);
        push(s, kinds[r].list, o, file, arena_printf(&s->arena, "items[%d]", i));
    }
}

void snapshot_add(struct snapshot *s, struct json *tree, const char *file)
{
    const char *kind = json_str(tree, "kind", "");
    file = arena_strdup(&s->arena, file);
    own(s, tree);
    if (str_ends(kind, "List")) {
        add_list(s, tree, kind, file);
        return;
    }
    bool asked = str_eq(kind, "Pod") || str_eq(kind, "Job");
    if (asked && !s->object) {
        s->object = tree;
        s->object_file = file;
        return;
    }
    int row = kind_row(kind, strlen(kind));
    if (row < 0)
        return;
    if (kinds[row].list == SNAP_SECRETS)
        auths_only(tree);
    push(s, kinds[row].list, tree, file, "");
}

void snapshot_borrow(struct snapshot *s, enum snap kind, const struct json *o)
{
    const char *word = "";
    for (size_t i = 0; i < ARRAY_LEN(kinds) && !word[0]; i++)
        if (kinds[i].list == kind)
            word = kinds[i].word;
    push(s, kind, o, arena_printf(&s->arena, "%s/%s", word, json_str(o, "metadata.name", "?")), "");
}

void snapshot_take(struct snapshot *s, enum snap kind, struct json *o)
{
    if (kind == SNAP_SECRETS)
        auths_only(o);
    own(s, o);
    snapshot_borrow(s, kind, o);
}

void snapshot_known(struct snapshot *s, enum snap kind, bool forbidden)
{
    s->list[kind].known = !forbidden;
    s->list[kind].forbidden = forbidden;
}

void snapshot_log(struct snapshot *s, const char *text, const char *file)
{
    size_t n = strlen(text);
    s->log = arena_strdup(&s->arena, n > LOG_TAIL ? text + n - LOG_TAIL : text);
    s->log_file = arena_strdup(&s->arena, file);
}
