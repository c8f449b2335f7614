/* api.h - the practice cluster's API, seen from inside: what the HTTP side,
 * the scheduler, the controllers and the kubelet share.
 *
 * Objects are JSON trees. A write is defaulted, admitted, validated, stamped
 * (uid, resourceVersion, generation, managedFields) and committed to the
 * store; subscribers hear of it after the commit, in resourceVersion order,
 * on the loop. Nobody but api.c writes the store. Single thread.
 */
#ifndef K8S_PRACTICE_API_H
#define K8S_PRACTICE_API_H

#include "core/base/json.h"
#include "core/io/loop.h"
#include "k8s/res.h"

struct api;

/* Who writes: system components are trusted and skip RBAC. */
struct api_user {
    const char *name;             /* "student", "system:kube-scheduler" */
    const char *const *groups;    /* NULL-terminated, or NULL */
    bool system;
    const char *manager;          /* managedFields manager: "kube-scheduler" */
};

/* The outcome of a write: HTTP code and either an object or a Status, owned
 * by the caller (json_free). */
struct api_result {
    int code;
    struct json *body;
    struct strv warnings;         /* Warning headers */
};
void api_result_release(struct api_result *r);

struct json *api_get(struct api *a, const struct res *res, const char *ns,
                     const char *name); /* copy or NULL */
/* All objects (ns NULL: every namespace), borrowed for the call of fn. */
void api_each(struct api *a, const struct res *res, const char *ns,
              void (*fn)(void *arg, const struct json *obj), void *arg);
void api_create(struct api *a, const struct api_user *u, const struct res *res, const char *ns,
                const struct json *obj, struct api_result *out);
/* Whole-object update; subresource NULL or "status". A resourceVersion in the
 * object is an optimistic lock (409). */
void api_update(struct api *a, const struct api_user *u, const struct res *res, const char *sub,
                const struct json *obj, struct api_result *out);
/* options: DeleteOptions or NULL. */
void api_delete(struct api *a, const struct api_user *u, const struct res *res, const char *ns,
                const char *name, const struct json *options, struct api_result *out);

enum api_change { API_ADDED, API_MODIFIED, API_DELETED };
typedef void api_watch_fn(void *arg, enum api_change change, const struct json *obj,
                          const struct json *old);
void api_subscribe(struct api *a, const struct res *res, api_watch_fn *fn, void *arg);

/* Events, correlated as client-go does. core style (kubelet, controllers) or
 * events.k8s.io style (scheduler). involved: the whole object. */
void api_event(struct api *a, const struct json *involved, const char *field_path,
               const char *type, const char *reason, const char *component, const char *host,
               bool new_style, const char *fmt, ...) PRINTF_LIKE(9, 10);

/* --- what the kubelet answers for the HTTP side -------------------------- */
struct api_stream;                /* one log, exec or attach connection, owned by the HTTP side */
/* To the client. channel: 1 stdout, 2 stderr, 3 status JSON; for logs 1. */
void api_stream_write(struct api_stream *s, int channel, const void *p, size_t n);
size_t api_stream_pending(const struct api_stream *s);
void api_stream_end(struct api_stream *s);            /* polite end: Close 1000 or last chunk */

/* Set by the kubelet on the stream it accepted; called by the HTTP side. */
struct api_stream_ops {
    void (*input)(void *arg, const void *p, size_t n);   /* stdin bytes */
    void (*input_end)(void *arg);                        /* stdin half-closed */
    void (*resize)(void *arg, int cols, int rows);
    void (*closed)(void *arg);                           /* the client is gone: last call */
    void *arg;
};
void api_stream_set(struct api_stream *s, const struct api_stream_ops *ops);

struct api_log_options {
    const char *container;
    bool follow, previous, timestamps;
    int64_t tail_lines, limit_bytes, since_us;           /* -1: not given; since_us: wall */
};
struct api_exec_options {
    const char *container;
    struct strv command;                                 /* empty for attach */
    bool std_in, std_out, std_err, tty, attach;
};
/* Return PD_OK and keep the stream, or fill *err (text for a 400/500 Status) and
 * *http. */
struct api_kubelet_ops {
    enum pd_code (*log)(void *arg, const struct json *pod, const struct api_log_options *o,
                        struct api_stream *s, int *http, struct pd_err *err);
    enum pd_code (*exec)(void *arg, const struct json *pod, const struct api_exec_options *o,
                         struct api_stream *s, int *http, struct pd_err *err);
    void *arg;
};
void api_set_kubelet(struct api *a, const struct api_kubelet_ops *ops);

struct loop *api_loop(struct api *a);
const char *api_state_dir(struct api *a);             /* this cluster's own folder */
const char *api_registry_host(struct api *a);         /* "127.0.0.1:PORT", same port as the API */
/* For the kubelet's pulls: the CA file and the login of the registry. */
const char *api_ca_file(struct api *a);
const char *api_system_token(struct api *a);

#endif
