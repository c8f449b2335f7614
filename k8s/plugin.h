/* plugin.h - credential plugins (client.authentication.k8s.io/v1, v1beta1): a
 * program that prints who we are.
 *
 * It is started without a shell, with the environment of podium, the entry's
 * env, and KUBERNETES_EXEC_INFO. Not interactive: stdin is empty, stderr is
 * kept and handed over, cleaned. Interactive: it has the terminal's stdin and
 * stderr and stays in our process group, so that keys reach it; the caller has
 * released the screen.
 */
#ifndef K8S_PLUGIN_H
#define K8S_PLUGIN_H

#include "core/io/loop.h"
#include "k8s/kubeconfig.h"

struct plugin_cred {
    char *token, *cert_pem, *key_pem;
    int64_t expires_ms;               /* Unix time, 0: not said */
};
void plugin_cred_release(struct plugin_cred *c);

/* Read an ExecCredential (JSON or YAML). What the plugin printed is never
 * quoted: it may be a secret. */
MUST_USE enum pd_code plugin_read(const char *text, size_t n, const char *api_version,
                                  struct plugin_cred *out, struct pd_err *err);
/* The value of KUBERNETES_EXEC_INFO; caller frees. */
char *plugin_info(const struct kube_context *x, bool interactive);
/* Where the command would be found ($PATH, or as named); NULL: nowhere. Caller frees. */
char *plugin_path(const char *command);

struct plugin;
/* cred is NULL when err is not. said: what it wrote to stderr, "" when nothing. */
typedef void plugin_fn(void *arg, struct plugin_cred *cred, const char *said,
                       const struct pd_err *err);
/* One run. Fails at once when it can't be started. */
MUST_USE enum pd_code plugin_start(struct loop *l, const struct kube_context *x, bool interactive,
                                   plugin_fn *fn, void *arg, struct plugin **out,
                                   struct pd_err *err);
void plugin_cancel(struct plugin *p);     /* kills it; no call follows */

#endif
