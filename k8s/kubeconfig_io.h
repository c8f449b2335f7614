/* kubeconfig_io.h - the merged files, between kubeconfig.c (which makes them)
 * and kubeconfig_resolve.c (which reads a context out of them).
 */
#ifndef K8S_KUBECONFIG_IO_H
#define K8S_KUBECONFIG_IO_H

#include "core/base/yaml.h"
#include "k8s/kubeconfig.h"

/* One named entry; the node is its cluster, user or context map (NULL: empty). */
struct kc_entry {
    const char *name;
    const struct ynode *node, *place;     /* place: where to point when node is missing */
    const char *file;                     /* absolute path */
};

struct kc_list {
    struct kc_entry *v;
    size_t n;
};

struct kubeconfig {
    struct strv files, tried;             /* read; looked for */
    struct ydoc **docs;
    size_t doc_n;
    struct kc_list clusters, users, contexts;
    const char *current, *current_file;   /* NULL: unset */
    int current_line, current_col;
    bool in_pod;
};

/* Where a pod finds its service account; a test may move it. */
#define KC_SERVICE_ACCOUNT "/var/run/secrets/kubernetes.io/serviceaccount"
const char *kubeconfig_pod_dir(void);     /* $PODIUM_SERVICE_ACCOUNT_DIR or the above */
const struct kc_entry *kubeconfig_find(const struct kc_list *l, const char *name);
enum pd_code kubeconfig_pod(const struct kube_options *o, struct kube_context *x,
                            struct pd_err *err);

#endif
