/* registry_priv.h - shared by registry*.c: the store on disk, uploads, the sync
 * thread, and one request being answered. */
#ifndef K8S_PRACTICE_REGISTRY_PRIV_H
#define K8S_PRACTICE_REGISTRY_PRIV_H

#include "core/base/json.h"
#include "k8s/image/digest.h"
#include "k8s/practice/registry.h"

enum { REGISTRY_MANIFEST_MAX = 4 << 20, REGISTRY_PAGE_MAX = 10000 };

/* --- registry_sync.c: fdatasync, rename, fsync of the folder, off the loop ------ */

struct registry_file {
    int fd;                       /* open for writing; closed by the job */
    char *tmp, *final;            /* owned */
};

/* Files are published in order; the first that fails ends the job. */
struct registry_job {
    struct registry_file f[3];
    int n;
    void (*done)(void *arg, int error);       /* on the loop; error: 0 or errno */
    void *arg;
    int error;
    struct registry_job *next;
};

struct registry_sync;
MUST_USE enum pd_code registry_sync_start(struct loop *l, struct registry_sync **out,
                                          struct pd_err *err);
void registry_sync_stop(struct registry_sync *s);   /* waits for the job at work; drops the rest */
void registry_sync_add(struct registry_sync *s, struct registry_job *j);      /* takes j */

/* --- the registry --------------------------------------------------------------- */

struct registry_upload {
    char id[40];
    char *repo, *tmp;
    int fd;
    struct digest *hash;
    int64_t size, used_ms;
    bool busy;                    /* a request is writing, or the sync thread */
    struct registry_upload *next;
};

struct registry {
    struct loop *loop;
    char *dir;
    struct registry_sync *sync;
    struct registry_upload *uploads;
    uint64_t names;               /* for temporary names */
};

/* One request. Freed when the request is gone and no job is out for it. */
struct registry_call {
    struct registry *r;
    struct server_request *q;     /* NULL once it is gone */
    char *repo, *name;            /* name: digest, tag or upload id */
    char *media_type;             /* of a manifest's body */
    char digest[DIGEST_TEXT], subject[DIGEST_TEXT];
    struct registry_upload *up;
    int error;                    /* errno of a failed write */
    bool job;                     /* one is out */
};

/* --- registry_store.c ------------------------------------------------------------ */
char *registry_store_blob(const struct registry *r, const char *digest);
/* repos/REPO/KIND/NAME; KIND is "_blobs", "_revisions" or "_tags". A digest is
 * given as "sha256:…" and stands as its hex. */
char *registry_store_entry(const struct registry *r, const char *repo, const char *kind,
                           const char *name);
bool registry_store_has(const struct registry *r, const char *repo, const char *kind,
                        const char *name);
/* Text of a small entry (tag: digest; revision: media type); NULL when there is
 * none. Caller frees. */
char *registry_store_read(const struct registry *r, const char *repo, const char *kind,
                          const char *name);
/* Names in a folder, sorted. False: no such folder. */
bool registry_store_list(const struct registry *r, const char *repo, const char *kind,
                         struct strv *out);
void registry_store_repos(const struct registry *r, struct strv *out);
bool registry_store_repo(const struct registry *r, const char *repo);
/* A temporary file below tmp/, open for writing; -1 with errno. */
int registry_store_temp(struct registry *r, char **path);
/* Add a file of these bytes to a job (its folders are made); false with errno. */
bool registry_store_add(struct registry *r, struct registry_job *j, char *final, const void *p,
                        size_t n);
bool registry_store_make_dirs(const char *path_of_file);

/* --- registry.c ------------------------------------------------------------------ */
/* Answer in the spec's error form; code e.g. "BLOB_UNKNOWN". */
void registry_refuse(struct registry_call *c, int status, const char *code, const char *fmt, ...)
    PRINTF_LIKE(4, 5);
void registry_reply_json(struct registry_call *c, int status, const char *content_type,
                         struct json *body);             /* takes body */
void registry_reply_empty(struct registry_call *c, int status);
void registry_header(struct registry_call *c, const char *name, const char *fmt, ...)
    PRINTF_LIKE(3, 4);
/* A job of this call: registry_done follows with its error. */
void registry_start_job(struct registry_call *c, struct registry_job *j,
                        void (*done)(void *arg, int error));
void registry_job_ended(struct registry_call *c);        /* first line of every done */

/* --- registry_upload.c, registry_manifest.c: the routes --------------------------- */
typedef void registry_route(struct registry_call *c, const char *method);
registry_route registry_upload_start, registry_upload_one, registry_blob;
registry_route registry_manifest, registry_tags, registry_referrers;
void registry_upload_free_all(struct registry *r);
/* The call is over: an upload that it was writing is left for others. */
void registry_upload_release(struct registry_call *c);

#endif
