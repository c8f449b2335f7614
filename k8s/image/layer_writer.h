/* layer_writer.h - a list of entries becomes a layer blob, the same bytes every
 * time: sorted, fixed times and owners, gzip with a fixed header and level.
 */
#ifndef K8S_IMAGE_LAYER_WRITER_H
#define K8S_IMAGE_LAYER_WRITER_H

#include "k8s/image/layout.h"

enum layer_kind { LAYER_DIR, LAYER_FILE, LAYER_LINK };

struct layer_entry {
    enum layer_kind kind;
    char *path;                   /* in the image, no leading "/" */
    char *src;                    /* LAYER_FILE: path below the source folder */
    int src_fd;                   /* that folder; 0: the one of the options */
    char *data;                   /* LAYER_FILE: its bytes instead of src; or NULL */
    char *link;                   /* LAYER_LINK: its target */
    int64_t size;
    unsigned mode, uid, gid;
    size_t seq;                   /* order of adding: of equal paths the last one stays */
};

struct layer_list {
    struct layer_entry *v;
    size_t n, cap;
    int64_t bytes;                /* of all files */
};

void layer_list_init(struct layer_list *l);
void layer_list_release(struct layer_list *l);
/* A new entry with its path set; the rest is the caller's to fill. */
struct layer_entry *layer_list_add(struct layer_list *l, enum layer_kind kind, const char *path);
/* Sort, folders before what is in them; of equal paths keep the last added. */
void layer_list_sort(struct layer_list *l);

struct layer_result {
    struct image_desc desc;
    char diff_id[DIGEST_SIZE];
    bool cached;
};

/* Pack a sorted list; files are read below src_fd. The cache (by the content of
 * everything that goes in) is asked first unless no_cache. progress: bytes of
 * files read, or NULL. */
struct layer_writer_options {
    int src_fd;
    int64_t mtime;                /* seconds, of every entry */
    bool no_cache;
    void (*progress)(void *arg, int64_t done, int64_t total);
    void *arg;
};
MUST_USE enum pd_code layer_writer_pack(struct layout *l, const struct layer_list *list,
                                        const struct layer_writer_options *opt,
                                        struct layer_result *out, struct pd_err *err);

#endif
