/* unpack.h - layers to a root file system, inside it and nowhere else.
 *
 * Every name of a layer is resolved below the root's descriptor with
 * openat2(RESOLVE_IN_ROOT): symlinked folders are followed as the container
 * would see them, "..", absolute targets and races lead back to the root,
 * never out of it. Whiteouts (.wh.NAME) and opaque folders (.wh..wh..opq) act
 * on lower layers; hard links must stay inside. Digest of the blob and diff_id
 * of its tar are verified while streaming.
 *
 * As root: owners, setuid bits and devices are kept. Otherwise owners are the
 * caller's, setuid and setgid are dropped, devices are skipped and counted,
 * and folders stay writable for the owner so that a later layer (and removal)
 * can work. Extended attributes are ignored. Times are kept.
 *
 * It blocks: call it in a child process, never on a loop.
 */
#ifndef K8S_IMAGE_UNPACK_H
#define K8S_IMAGE_UNPACK_H

#include "k8s/image/image.h"

struct unpack_stats {
    int64_t entries, bytes, whiteouts, skipped_devices;
};

struct unpack_options {
    bool keep_owner;                  /* chown, setuid, devices: only as root */
    int64_t max_bytes;                /* ceiling of unpacked file data; 0: 64 GiB */
    /* after each layer, or NULL */
    void (*progress)(void *arg, size_t layer, size_t layers, int64_t bytes);
    void *arg;
};

/* rootfs is made (0755) when missing and must be empty. */
MUST_USE enum pd_code unpack_image(const struct layout *l, const struct image *im,
                                   const char *rootfs, const struct unpack_options *opt,
                                   struct unpack_stats *stats, struct pd_err *err);
/* One layer file on top of what stands in rootfs_fd; digests NULL: unchecked. */
MUST_USE enum pd_code unpack_layer(const char *path, const char *digest, const char *diff_id,
                                   int rootfs_fd, const struct unpack_options *opt,
                                   struct unpack_stats *stats, struct pd_err *err);

#endif
