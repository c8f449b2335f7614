/* layout.h - an OCI image layout on disk: oci-layout, index.json and
 * blobs/sha256, read and written atomically.
 *
 * One layout is a content store for any number of tags: a blob is written
 * once, under its digest. A blob appears by rename after its bytes are hashed
 * and synced; index.json is replaced under a lock (flock on the folder), so
 * that several processes may share a store and kill -9 leaves it whole. A tag
 * is the annotation org.opencontainers.image.ref.name of a descriptor in
 * index.json, as skopeo and containerd write it.
 *
 * podium's own store is layout_default_dir(); its tags are complete references
 * ("127.0.0.1:6443/lab/train:v1"). An `oci:DIR:TAG` layout has plain tags.
 */
#ifndef K8S_IMAGE_LAYOUT_H
#define K8S_IMAGE_LAYOUT_H

#include "core/base/json.h"

#define MT_OCI_INDEX "application/vnd.oci.image.index.v1+json"
#define MT_OCI_MANIFEST "application/vnd.oci.image.manifest.v1+json"
#define MT_OCI_CONFIG "application/vnd.oci.image.config.v1+json"
#define MT_OCI_LAYER "application/vnd.oci.image.layer.v1.tar"
#define MT_OCI_LAYER_GZIP "application/vnd.oci.image.layer.v1.tar+gzip"
#define MT_OCI_LAYER_ZSTD "application/vnd.oci.image.layer.v1.tar+zstd"
#define MT_DOCKER_LIST "application/vnd.docker.distribution.manifest.list.v2+json"
#define MT_DOCKER_MANIFEST "application/vnd.docker.distribution.manifest.v2+json"
#define MT_DOCKER_CONFIG "application/vnd.docker.container.image.v1+json"
#define MT_DOCKER_LAYER_GZIP "application/vnd.docker.image.rootfs.diff.tar.gzip"

enum { DIGEST_SIZE = 80, LAYOUT_META_CEILING = 8 << 20 };

struct image_desc {
    char media_type[128];
    char digest[DIGEST_SIZE];         /* "sha256:…" */
    int64_t size;
};

struct layout;

char *layout_default_dir(void);       /* $XDG_DATA_HOME/podium/images; caller frees */
/* create: make the folder and its files when missing. PD_IMAGE when DIR is no
 * layout (with what is missing). */
MUST_USE enum pd_code layout_open(const char *dir, bool create, struct layout **out,
                                  struct pd_err *err);
void layout_close(struct layout *l);  /* NULL is fine */

/* --- blobs ---------------------------------------------------------------- */
char *layout_blob_path(const struct layout *l, const char *digest);   /* caller frees */
/* There, and of this size (size < 0: any). Contents were verified when written. */
bool layout_has(const struct layout *l, const char *digest, int64_t size);
/* A small blob, its digest verified. */
MUST_USE enum pd_code layout_read(const struct layout *l, const char *digest, size_t ceiling,
                                  struct str *out, struct pd_err *err);
MUST_USE enum pd_code layout_put(struct layout *l, const char *media_type, const void *data,
                                 size_t n, struct image_desc *out, struct pd_err *err);

/* Streaming writer. commit verifies `expect` ("sha256:…", or NULL) and the
 * size (or -1), publishes the blob and fills digest and size of *out; it frees
 * the writer in every case. abort throws it away. */
struct layout_writer;
MUST_USE enum pd_code layout_writer_new(struct layout *l, struct layout_writer **out,
                                        struct pd_err *err);
MUST_USE enum pd_code layout_writer_write(struct layout_writer *w, const void *p, size_t n,
                                          struct pd_err *err);
MUST_USE enum pd_code layout_writer_commit(struct layout_writer *w, const char *expect,
                                           int64_t size, struct image_desc *out,
                                           struct pd_err *err);
void layout_writer_abort(struct layout_writer *w);    /* NULL is fine */

/* --- tags ----------------------------------------------------------------- */
/* tag NULL or "": the only image of the layout. PD_NOTFOUND names what there is. */
MUST_USE enum pd_code layout_find(const struct layout *l, const char *tag,
                                  struct image_desc *out, struct pd_err *err);
MUST_USE enum pd_code layout_tag(struct layout *l, const char *tag, const struct image_desc *d,
                                 struct pd_err *err);
/* The index as JSON (manifests[] with annotations); caller frees. */
MUST_USE enum pd_code layout_index(const struct layout *l, struct json **out,
                                   struct pd_err *err);

#endif
