/* api_int.h - the API's inside: versions of objects, the write pipeline, the
 * watch ring. For the files of the API server (api*, rest*, watch, gc, ...).
 *
 * A version is an immutable object with a reference count: the cache, the
 * ring, lists and watches share it. Writes change the cache at once and are
 * committed to disk at the end of the loop's turn; a failed commit takes them
 * back. Readers call api_flush first, so that nobody reads what may vanish.
 */
#ifndef K8S_PRACTICE_API_INT_H
#define K8S_PRACTICE_API_INT_H

#include "k8s/practice/api.h"
#include "k8s/practice/status.h"
#include "k8s/practice/store.h"

enum { API_RING = 4096 };

struct api_version {
    int refs;
    int64_t rv;
    struct json *j;
    char *text;                  /* its JSON, made when first asked */
    size_t len;
    char *item;                  /* the same without kind and apiVersion, for lists */
    size_t item_len;
};
struct api_version *api_version_ref(struct api_version *v);   /* NULL is fine */
void api_version_unref(struct api_version *v);
const char *api_version_text(struct api_version *v, size_t *len);
const char *api_version_item(struct api_version *v, size_t *len);

struct api_delta {
    int64_t rv;
    enum api_change change;
    const struct res *res;
    struct api_version *now, *old;       /* now of a deletion: its last state, with the new rv */
};

/* --- reading (borrowed until the next write) --- */
struct api_version *api_find(struct api *a, const struct res *res, const char *ns,
                             const char *name);
struct api_versions {
    struct api_version **v;      /* sorted by namespace, name */
    size_t n;
};
/* A snapshot with references; ns NULL or "": all. */
void api_snapshot(struct api *a, const struct res *res, const char *ns, struct api_versions *out);
void api_snapshot_release(struct api_versions *s);
int64_t api_revision(struct api *a);             /* of the last committed write */
/* Events of both API groups live in one place; other kinds are their own. */
const struct res *api_storage_res(const struct res *res);

/* The committed changes of `res` after rv, oldest first. false: rv is older
 * than the ring reaches. */
bool api_since(struct api *a, const struct res *res, int64_t rv,
               void (*fn)(void *arg, const struct api_delta *d), void *arg);
int64_t api_ring_floor(struct api *a);           /* changes up to this one are forgotten */
struct api_sub;
typedef void api_delta_fn(void *arg, const struct api_delta *d);
struct api_sub *api_sub_add(struct api *a, const struct res *res, api_delta_fn *fn, void *arg);
void api_sub_remove(struct api *a, struct api_sub *s);

/* --- writing --- */
enum api_manage { API_UPDATES, API_APPLIES };

struct api_write {
    const struct api_user *user;
    const struct res *res;
    const char *ns, *name;
    const char *sub;             /* NULL, "status", "scale", "ephemeralcontainers" */
    const char *manager;
    enum api_manage manage;
    bool dry_run;
    const char *uid;             /* must be the object's, when given */
    struct strv *warnings;       /* or NULL */
};
/* Each takes obj and returns a Status (owned) on refusal, else NULL and *out =
 * the new version (a reference). */
struct json *api_do_create(struct api *a, const struct api_write *w, struct json *obj,
                           struct api_version **out);
struct json *api_do_update(struct api *a, const struct api_write *w, struct json *obj,
                           struct api_version **out);
/* *out: the object when it stays for now, else NULL (gone); *gone gets its uid. */
struct json *api_do_delete(struct api *a, const struct api_write *w, const struct json *options,
                           struct api_version **out, char gone[40]);

/* Commit what is pending, now. false: it failed and was taken back. */
bool api_flush(struct api *a);
/* Called when everything written so far is on disk, or could not be put there
 * (err). At once when nothing is pending. */
typedef void api_done_fn(void *arg, const struct pd_err *err);
void api_on_commit(struct api *a, api_done_fn *fn, void *arg);

/* --- put by the pipeline (api_write.c) into the cache (api.c) --- */
struct api_version *api_put(struct api *a, const struct res *res, struct json *obj,
                            struct api_version *old);
void api_drop(struct api *a, const struct res *res, struct api_version *old);

/* --- the pieces --- */
struct api_config {
    struct loop *loop;
    const char *dir;
    const char *registry_host, *ca_file, *system_token;
};
MUST_USE enum pd_code api_open(const struct api_config *c, struct api **out, struct pd_err *err);
void api_close(struct api *a);
struct store *api_store(struct api *a);
const struct api_kubelet_ops *api_kubelet(struct api *a);
extern const struct api_user api_admin;          /* system: the API server itself */
void api_now(char buf[36]);                      /* RFC 3339, seconds */
void api_uid(char buf[40]);

#endif
