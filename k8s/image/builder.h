/* builder.h - image builders behind one interface. podium's own needs no root
 * and no daemon; an engine's socket or a builder in the cluster can stand
 * beside it.
 *
 * Own builder, invariant: the same Dockerfile, context and base give the same
 * digest, whatever umask, user, mtime or path. Times are SOURCE_DATE_EPOCH or
 * 0, owners 0:0, modes 0755 (folders, executables) or 0644, entries sorted by
 * name, gzip with a fixed header and level. One layer a COPY or ADD (and a
 * WORKDIR that has to be made). What is copied from a stage or an image keeps
 * its owner and mode. Layers are cached by the content of their input: names,
 * modes, owners, bytes.
 *
 * A build that fails or is killed leaves whole blobs and nothing else.
 */
#ifndef K8S_IMAGE_BUILDER_H
#define K8S_IMAGE_BUILDER_H

#include "k8s/image/dockerfile_plan.h"
#include "k8s/image/layout.h"
#include "k8s/image/registry_client.h"

struct builder_event {
    /* PLAN comes once, first: what there is to do. STEP ends an INSTRUCTION. */
    enum { BUILD_PLAN, BUILD_INSTRUCTION, BUILD_STEP, BUILD_PULL, BUILD_PACK, BUILD_LAYER } kind;
    int n, total;                 /* instruction, step: 1-based */
    const char *text;             /* instruction as written; base reference */
    const char *digest;           /* layer */
    int64_t done, bytes;          /* pack, pull: progress; layer: size */
    int64_t ms;                   /* step: how long it took */
    bool cached;
    const struct dockerfile *df;  /* plan */
    const struct df_plan *plan;
};

struct builder_spec {
    const char *context;          /* folder */
    const char *dockerfile;       /* path; NULL: context/Dockerfile */
    const char *target;           /* stage; NULL: the last */
    struct strv build_args;       /* "NAME=value" */
    struct layout *out;           /* where blobs go */
    const char *store_dir;        /* podium's store, for FROM; NULL: the default */
    const struct registry_auth *auth;     /* for FROM an image in a registry; or NULL */
    bool no_cache;
    void (*event)(void *arg, const struct builder_event *e);      /* or NULL */
    void *arg;
};

struct builder_ops {
    const char *name;             /* "podium" */
    const char *about;
    bool (*available)(void);
    /* Blocks. On success *out is the manifest, in spec->out, without a tag. */
    enum pd_code (*build)(const struct builder_spec *spec, struct image_desc *out,
                          struct pd_err *err);
};

extern const struct builder_ops builder_own;
/* By name; NULL: the first that is available. NULL when unknown. */
const struct builder_ops *builder_find(const char *name);

#endif
