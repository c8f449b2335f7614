/* image.h - one image of a layout: manifest, config and layers, read and
 * checked; OCI and Docker v2 schema 2 alike, indexes resolved to linux/amd64.
 */
#ifndef K8S_IMAGE_IMAGE_H
#define K8S_IMAGE_IMAGE_H

#include "k8s/image/layout.h"

struct image_layer {
    struct image_desc desc;           /* media type as the manifest says */
    char diff_id[DIGEST_SIZE];        /* digest of the uncompressed tar */
};

struct image {
    struct image_desc manifest, config;
    struct json *manifest_json, *config_json;
    struct image_layer *layers;       /* base first */
    size_t n;
    int64_t bytes;                    /* config + layers, as stored */
};

/* What a container starts with. Strings are owned by the struct. */
struct image_run {
    struct strv entrypoint, cmd, env; /* env: "NAME=value" */
    char *workdir, *user;             /* "" when not set */
};

/* `d` may name an index: the linux/amd64 entry is taken. */
MUST_USE enum pd_code image_load(const struct layout *l, const struct image_desc *d,
                                 struct image **out, struct pd_err *err);
void image_free(struct image *im);    /* NULL is fine */
void image_run_init(const struct image *im, struct image_run *out);
void image_run_release(struct image_run *r);

bool image_is_index(const char *media_type);
bool image_is_manifest(const char *media_type);
bool image_is_layer(const char *media_type);
/* Choose linux/amd64 of a parsed index. PD_IMAGE names the platforms it has. */
MUST_USE enum pd_code image_choose(const struct json *index, struct image_desc *out,
                                   struct pd_err *err);
/* Reads a descriptor object; PD_IMAGE when a field is missing or wrong. */
MUST_USE enum pd_code image_desc_read(const struct json *j, struct image_desc *out,
                                      struct pd_err *err);

/* A place of images as written on a command line: "oci:DIR[:TAG]" or a
 * reference (then the layout is the store `store_dir`, or the default one when
 * NULL, and tag the complete reference). */
struct image_place {
    struct layout *layout;
    char *tag;
};
MUST_USE enum pd_code image_place_open(const char *text, const char *store_dir, bool create,
                                       struct image_place *out, struct pd_err *err);
void image_place_release(struct image_place *p);

#endif
