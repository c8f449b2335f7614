/* client.h - the Kubernetes client: one connection is an http_target, an id, an
 * epoch and a namespace; a request is verb + path + JSON body; an answer is an
 * object or a Status turned into struct pd_err.
 *
 * Every request is reported through `trace` (method, path, status, time, the
 * kubectl line that does the same), which feeds the API panel. Nothing here
 * blocks; answers of a closed connection never arrive.
 */
#ifndef K8S_CLIENT_H
#define K8S_CLIENT_H

#include "core/base/json.h"
#include "core/io/http.h"
#include "k8s/kubeconfig.h"
#include "k8s/login.h"

struct k8s;                       /* one connection */

struct k8s_trace {
    uint32_t id;                  /* of the request; the same id again when it ends */
    const char *method, *path;
    int status;                   /* 0 while open, -1 when the transport failed */
    int64_t ms;
    const char *kubectl;          /* "kubectl get pods -n class-a" */
    const struct json *body;      /* of the request, or NULL */
    const char *warning;          /* Warning headers of the answer, "" */
    int64_t retry_ms;             /* it is made again after this time, 0: it is not */
};

struct k8s_hooks {
    void (*trace)(void *arg, const struct k8s_trace *t);
    /* up/down changes of the link, with the error when down */
    void (*link)(void *arg, bool up, int64_t latency_ms, const struct pd_err *err);
    struct login_hooks login;     /* what a credential plugin needs of the screen */
    void *arg;
};

/* Takes a resolved context (kubeconfig.h), copies what it needs. */
struct k8s *k8s_open(struct loop *l, const struct kube_context *ctx, uint16_t id,
                     const struct k8s_hooks *hooks);
void k8s_close(struct k8s *k);    /* cancels everything */
uint16_t k8s_id(const struct k8s *k);
uint32_t k8s_epoch(const struct k8s *k);
const char *k8s_namespace(const struct k8s *k);
/* Another namespace from now on, and a new epoch: what is still under way is of
 * the one before. */
void k8s_use(struct k8s *k, const char *ns);
struct http_target *k8s_target(struct k8s *k);
struct loop *k8s_loop(struct k8s *k);
/* A credential plugin that runs is ended; what waits for it fails as cancelled. */
void k8s_cancel_login(struct k8s *k);
void k8s_allow_login(struct k8s *k);     /* after a failure: somebody asks for it again */
int64_t k8s_expires_ms(const struct k8s *k);      /* of a plugin's credentials; 0: not known */

/* One request. `status` is the HTTP status; `object` is borrowed (NULL when the
 * body is no JSON); err is NULL below 400. */
typedef void k8s_reply_fn(void *arg, int status, const struct json *object,
                          const struct pd_err *err);
struct k8s_call;
struct k8s_call *k8s_request(struct k8s *k, const char *method, const char *path,
                             const char *content_type, const struct json *body,
                             k8s_reply_fn *fn, void *arg);
void k8s_cancel(struct k8s_call *c);

/* Verbs by resource (k8s/res.h names: "pods", "jobs"); ns NULL = the
 * connection's namespace. Server-side apply uses fieldManager=podium and
 * fieldValidation=Strict. */
struct k8s_call *k8s_get(struct k8s *k, const char *res, const char *ns, const char *name,
                         k8s_reply_fn *fn, void *arg);
struct k8s_call *k8s_list(struct k8s *k, const char *res, const char *ns, const char *selector,
                          k8s_reply_fn *fn, void *arg);
struct k8s_call *k8s_apply(struct k8s *k, const struct json *object, bool force, bool dry_run,
                           k8s_reply_fn *fn, void *arg);
struct k8s_call *k8s_delete(struct k8s *k, const char *res, const char *ns, const char *name,
                            const char *uid, int grace, k8s_reply_fn *fn, void *arg);

/* A Status (or any error body) as a pd_err: code from reason and HTTP status,
 * message from the server, cleaned for the terminal. */
enum pd_code k8s_status_error(int http_status, const char *body, size_t n, struct pd_err *err);

#endif
