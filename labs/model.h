/* model.h - pretrained models that labs use: which there are, where they lie,
 * and how one gets here.
 *
 * A model comes as one file that the training core imports (GGUF). It is looked
 * for, in this order, in $PODIUM_MODELS (a folder), in
 * ~/.local/share/podium/models (where model_get puts it) and in the Python
 * installations of this machine, since a PyPI package brings it.
 *
 * Nothing here runs on a loop: `podium model` is a process of its own.
 */
#ifndef LABS_MODEL_H
#define LABS_MODEL_H

#include "core/base/err.h"

struct model_known {
    const char *id, *title, *licence;
    int64_t params;
    const char *file;             /* its name on disk */
    int64_t bytes;
    const char *sha256;           /* of the file, hex */
    const char *package, *module; /* PyPI's name; the folder below site-packages */
    const char *member;           /* the file within the wheel */
    const char *wheel;            /* URL */
    int64_t wheel_bytes;
    const char *wheel_sha256;
};

/* NULL past the last. */
const struct model_known *model_at(size_t i);
/* NULL with err (the nearest name as hint). */
const struct model_known *model_by_id(const char *id, struct pd_err *err);
/* The path of its file, or NULL. A file of another size is not it. Caller frees. */
char *model_file(const struct model_known *m);
/* Where model_get puts it. Caller frees. */
char *model_own_path(const struct model_known *m);

struct model_progress {
    void (*tell)(void *arg, int64_t done, int64_t total);
    void *arg;
};
/* Fetch the wheel (url NULL: from PyPI), check it, take the file out of it. A
 * fetch that was cut off goes on where it ended. */
MUST_USE enum pd_code model_get(const struct model_known *m, const char *url,
                                const struct model_progress *p, struct pd_err *err);
/* Of a whole file, hex. */
MUST_USE enum pd_code model_sha256(const char *path, char hex[65], struct pd_err *err);

/* `podium model list|path|get|import`; argv[0] is "model". */
int model_cmd(int argc, char **argv);

#endif
