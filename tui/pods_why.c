/* pods_why.c - the WHY column: the rules of k8s/explain over what the session
 * has seen (panel_pods.h). */
#include "k8s/explain/explain.h"
#include "tui/panel_pods.h"

static void lend(struct snapshot *snap, const struct session *s, const char *resource,
                 enum snap kind)
{
    const struct table *t = session_table(s, resource);
    if (!t->synced)
        return;
    snapshot_known(snap, kind, t->forbidden);
    for (const struct json *o = json_first(t->items); o; o = json_next(o))
        snapshot_borrow(snap, kind, o);
}

void panel_pods_explain(const struct app *a, const struct podinfo *p, char *buf, size_t size)
{
    static const struct { const char *resource; enum snap kind; } tables[] = {
        {"events", SNAP_EVENTS}, {"nodes", SNAP_NODES}, {"pods", SNAP_PODS},
        {"persistentvolumeclaims", SNAP_PVCS}};
    struct snapshot snap;
    snapshot_init(&snap);
    snap.object = p->pod;
    snap.object_file = "pod";
    for (size_t i = 0; i < ARRAY_LEN(tables); i++)
        lend(&snap, a->s, tables[i].resource, tables[i].kind);
    explain_short(&snap, buf, size);
    snapshot_release(&snap);
}
