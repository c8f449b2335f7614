/* res.h - the resource table: every kind that podium knows, as data.
 *
 * The client finds paths in it, the practice server its discovery, storage
 * and Table columns. One row a resource; rows are constant and live forever.
 * Column sets are those of Kubernetes 1.34 (pkg/printers/internalversion);
 * a resource without a printer there has Name and "Created At".
 */
#ifndef K8S_RES_H
#define K8S_RES_H

#include "core/base/json.h"

enum res_verb {
    RES_CREATE = 1, RES_DELETE = 2, RES_DELETECOLLECTION = 4, RES_GET = 8, RES_LIST = 16,
    RES_PATCH = 32, RES_UPDATE = 64, RES_WATCH = 128,
    RES_ALL_VERBS = 255
};

struct res_column {
    const char *name;            /* NULL ends the list */
    const char *type;            /* "string" "integer" "boolean" */
    const char *format;          /* "name" "date" or "" */
    int priority;                /* 1: only with -o wide */
};

/* A subresource: "status", "log", "exec" … with the methods it answers. */
struct res_sub {
    const char *name;            /* NULL ends the list */
    const char *kind;            /* of its body: "Pod", "PodExecOptions", "Scale" … */
    const char *group, *version; /* of its kind; NULL: the resource's own */
    unsigned verbs;              /* RES_CREATE (POST), RES_GET, RES_PATCH, RES_UPDATE */
};

struct res {
    const char *kind;            /* "Pod"; a list of them is "PodList" */
    const char *group;           /* "" is core */
    const char *version;         /* "v1" */
    const char *plural, *singular;
    const char *const *short_names;   /* NULL-terminated, may be empty */
    const char *const *categories;    /* NULL-terminated, may be empty */
    bool namespaced;
    unsigned verbs;              /* enum res_verb bits */
    const struct res_sub *subs;
    const struct res_column *columns;
};

enum { RES_PATH_MAX = 1024 };

/* The rows in discovery order (core first). */
size_t res_count(void);
const struct res *res_row(size_t i);

const struct res *res_by_plural(const char *group, const char *plural);
/* "pods" "pod" "po" "Pod" "jobs.batch" "jobs.v1.batch": as kubectl takes it,
 * case-insensitive; the first row wins. NULL when unknown. */
const struct res *res_by_name(const char *name);
/* apiVersion "v1", "batch/v1". */
const struct res *res_by_kind(const char *api_version, const char *kind);
/* By apiVersion and kind of an object. */
const struct res *res_of(const struct json *object);
/* The nearest plural to a misspelt name, or NULL. */
const char *res_nearest(const char *name);

/* "v1" or "batch/v1"; buf >= 64. */
const char *res_api_version(const struct res *r, char buf[64]);
const struct res_sub *res_sub(const struct res *r, const char *name);
const char *res_verb_name(enum res_verb verb);       /* "deletecollection" */

/* "/apis/batch/v1/namespaces/NS/jobs/NAME/SUB". ns NULL or "": all namespaces
 * (ignored for cluster kinds); name and sub may be NULL. Parts are
 * percent-encoded. Returns buf (RES_PATH_MAX bytes). */
char *res_path(const struct res *r, const char *ns, const char *name, const char *sub,
               char buf[RES_PATH_MAX]);

/* What a request path names; the strings are decoded copies. false when the
 * path is no resource path of a known row. */
struct res_place {
    const struct res *res;
    char ns[256], name[256], sub[64];    /* "" when absent */
};
bool res_parse_path(const char *path, struct res_place *out);    /* query part is ignored */

#endif
