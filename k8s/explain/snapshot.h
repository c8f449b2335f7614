/* snapshot.h - what is known of a cluster around one Pod or Job: the objects
 * that an explanation reads (explain.h).
 *
 * A kind that was not read is unknown, which is not the same as empty: a rule
 * that needs it stays silent or says so. Every object remembers where it came
 * from, so that evidence can be cited: a file of a folder ("events.json",
 * "items[3]"), or its own name in a cluster ("node/gpu-a", "").
 * Values of Secrets never enter: snapshot_add keeps their names, types, key
 * names and the hosts of their registry credentials.
 */
#ifndef K8S_EXPLAIN_SNAPSHOT_H
#define K8S_EXPLAIN_SNAPSHOT_H

#include "core/base/json.h"
#include "core/base/mem.h"

enum snap {
    SNAP_EVENTS, SNAP_NODES, SNAP_PODS, SNAP_PVCS, SNAP_PVS, SNAP_CLASSES, SNAP_SECRETS,
    SNAP_CONFIGMAPS, SNAP_QUOTAS, SNAP_LIMITS, SNAP_SERVICES, SNAP_WORKLOADS, SNAP_COUNT
};

struct snap_item {
    const struct json *o;
    const char *file, *prefix;    /* where it stands: prefix is "" or "items[2]" */
};

struct snap_list {
    struct snap_item *v;
    size_t n, cap;
    bool known;                   /* it was read, be it empty */
    bool forbidden;               /* the server refused it */
};

struct snapshot {
    const struct json *object;    /* the Pod or Job asked about; NULL: none yet */
    const char *object_file;
    struct snap_list list[SNAP_COUNT];
    const char *log, *log_file;   /* last lines of the container; NULL: not read */
    const struct json *image;     /* the image's config (OCI); NULL: not read */
    const char *image_file;
    struct arena arena;           /* names and texts */
    struct json **owned;          /* trees that go with the snapshot */
    size_t owned_n, owned_cap;
};

void snapshot_init(struct snapshot *s);
void snapshot_release(struct snapshot *s);

/* Add an object or a list (kind …List) from a file. Takes the tree. Objects of
 * kinds that no rule reads are dropped. An object becomes the one asked about
 * when there is none yet and it is no member of a list. */
void snapshot_add(struct snapshot *s, struct json *tree, const char *file);
/* Add one object of a kind, cited by its own name: taken, or borrowed. */
void snapshot_take(struct snapshot *s, enum snap kind, struct json *o);
void snapshot_borrow(struct snapshot *s, enum snap kind, const struct json *o);
void snapshot_known(struct snapshot *s, enum snap kind, bool forbidden);
void snapshot_log(struct snapshot *s, const char *text, const char *file);

/* Read a folder: pod.json or job.json first, then every other .json, .yaml,
 * .yml by its own kind, log.txt, image-config(.json). PD_IO when the
 * folder can't be read, PD_USAGE when neither is there. */
MUST_USE enum pd_code snapshot_read_dir(struct snapshot *s, const char *dir, struct pd_err *err);

#endif
