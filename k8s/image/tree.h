/* tree.h - the names of a root file system as its layers make it, without the
 * data: enough to know whether a path is a folder and where its symlinks lead.
 * Paths have no leading "/" ("" is the root).
 */
#ifndef K8S_IMAGE_TREE_H
#define K8S_IMAGE_TREE_H

#include "core/base/str.h"
#include "k8s/image/image.h"

enum tree_kind { TREE_NONE, TREE_DIR, TREE_FILE, TREE_LINK };

struct tree;

/* What tar says of a name besides: kept when tree_note or a layer told it. */
struct tree_meta {
    unsigned mode, uid, gid;
};

struct tree *tree_new(void);          /* an empty root */
struct tree *tree_copy(const struct tree *t);
void tree_free(struct tree *t);       /* NULL is fine */
/* Set a name; missing folders above are made, a name of another kind is
 * replaced (with what was below it). target: of a TREE_LINK. */
void tree_put(struct tree *t, const char *path, enum tree_kind kind, const char *target);
void tree_note(struct tree *t, const char *path, const struct tree_meta *m);
/* Mode 0 where nothing is known. */
struct tree_meta tree_meta_of(const struct tree *t, const char *path);
void tree_remove(struct tree *t, const char *path);   /* with all below */
/* All below `path` but what `keep` has at the same place. */
void tree_prune(struct tree *t, const char *path, const struct tree *keep);
enum tree_kind tree_kind_of(const struct tree *t, const char *path);    /* as lstat */
/* Follow every symlink, the last too, inside the root; parts that are not
 * there are taken as they are. *out is the path that stands for it, *kind what
 * is there. PD_IMAGE for a loop. */
MUST_USE enum pd_code tree_resolve(const struct tree *t, const char *path, struct str *out,
                                   enum tree_kind *kind, struct pd_err *err);
/* Apply a layer's names (whiteouts too). */
MUST_USE enum pd_code tree_add_layer(struct tree *t, const struct layout *l,
                                     const struct image_layer *layer, struct pd_err *err);
/* The same of a file, which may be any tar archive. */
MUST_USE enum pd_code tree_add_file(struct tree *t, const char *path, struct pd_err *err);

#endif
