/* pods_why.c - the WHY column: the rules of k8s/explain over what the session
 * has seen (panel_pods.h). Of a long table they get what is about the pod; what
 * they would need the whole of is unknown to them then, and `why` on the pod
 * itself asks the cluster. */
#include "k8s/explain/explain.h"
#include "tui/panel_pods.h"

enum { LEND_MOST = 500 };

static bool lend_all(struct snapshot *snap, const struct table *t, enum snap kind)
{
    if (!t->synced || json_count(t->items) > LEND_MOST)
        return false;
    snapshot_known(snap, kind, t->forbidden);
    for (const struct json *o = json_first(t->items); o; o = json_next(o))
        snapshot_borrow(snap, kind, o);
    return true;
}

/* The newest events about it. */
static void lend_events(struct snapshot *snap, const struct app *a, const struct podinfo *p)
{
    static const struct list_view newest = {.sort = SORT_AGE};
    struct lists_events l = lists_events(a->lists_all, a->s, &newest);
    snapshot_known(snap, SNAP_EVENTS, false);
    for (int i = 0, lent = 0; i < l.n && lent < LEND_MOST; i++) {
        const struct eventinfo *e = &l.v[l.order[i]];
        if (!eventinfo_about(e, "Pod", p->pod))
            continue;
        snapshot_borrow(snap, SNAP_EVENTS, lists_event_object(a->lists_all, l.order[i]));
        lent++;
    }
}

void panel_pods_explain(const struct app *a, const struct podinfo *p, char *buf, size_t size)
{
    const struct table *nodes = session_table(a->s, "nodes");
    const struct json *node = *p->node ? table_find(nodes, NULL, p->node) : NULL;
    const struct table *events = session_table(a->s, "events");
    struct snapshot snap;
    snapshot_init(&snap);
    snap.object = p->pod;
    snap.object_file = "pod";
    if (!lend_all(&snap, events, SNAP_EVENTS) && events->synced)
        lend_events(&snap, a, p);
    if (!lend_all(&snap, nodes, SNAP_NODES) && node)
        snapshot_borrow(&snap, SNAP_NODES, node);
    lend_all(&snap, session_table(a->s, "pods"), SNAP_PODS);
    lend_all(&snap, session_table(a->s, "persistentvolumeclaims"), SNAP_PVCS);
    explain_short(&snap, buf, size);
    snapshot_release(&snap);
}
