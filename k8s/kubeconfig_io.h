/* kubeconfig_io.h - the merged files, between kubeconfig.c (which makes them)
 * and kubeconfig_resolve.c (which reads a context out of them).
 */
#ifndef K8S_KUBECONFIG_IO_H
#define K8S_KUBECONFIG_IO_H

#include "core/base/yaml.h"
#include "k8s/kubeconfig.h"
#include "k8s/kubeconfig_fields.h"

/* One named entry; the node is its cluster, user or context map (NULL: empty). */
struct kc_entry {
    const char *name;
    const struct ynode *node, *place;     /* place: where to point when node is missing */
    const char *file;                     /* absolute path */
};

/* A file that was looked for. */
struct kc_file {
    char *path;
    enum kc_found { KC_READ, KC_MISSING, KC_BROKEN, KC_AGAIN } found;   /* AGAIN: listed before */
    size_t clusters, users, contexts;     /* entries in it */
};

struct kc_list {
    struct kc_entry *v;
    size_t n;
};

struct kubeconfig {
    const char *origin;                   /* "--kubeconfig", "KUBECONFIG", "HOME" */
    struct kc_file *files;
    size_t file_n;
    struct ydoc **docs;
    size_t doc_n;
    struct kc_list lists[KC_KINDS];
    const char *current;                  /* NULL: unset */
    const char *current_file;             /* where it is set, or is empty */
    int current_line, current_col;
    bool in_pod;
};

/* A context being read out of the files: what is wrong goes to f. */
struct kc_look {
    const struct kubeconfig *c;
    const struct kube_options *o;
    struct kube_context *x;
    const struct kc_entry *context, *cluster, *user;      /* NULL: none */
    struct kc_findings *f;
};
const struct ynode *kubeconfig_field(const struct kc_entry *e, const char *key);  /* NULL: unset */
char *kubeconfig_beside(const struct kc_entry *e, const char *path);   /* absolute; caller frees */
void kubeconfig_text(const struct kc_entry *e, const char *key, char **slot);
void kubeconfig_set(char **slot, const char *value);
void kubeconfig_at(struct kc_look *r, enum kc_level level, const struct kc_entry *e,
                   const struct ynode *n, const char *fmt, ...) PRINTF_LIKE(5, 6);
void kubeconfig_user(struct kc_look *r);               /* kubeconfig_user.c */
/* FIELD or FIELD-data into PEM text of that type. */
void kubeconfig_pem(struct kc_look *r, const struct kc_entry *e, const char *key, const char *what,
                    const char *type, char **slot);

/* Where a pod finds its service account; a test may move it. */
#define KC_SERVICE_ACCOUNT "/var/run/secrets/kubernetes.io/serviceaccount"
const char *kubeconfig_pod_dir(void);     /* $PODIUM_SERVICE_ACCOUNT_DIR or the above */
const struct kc_entry *kubeconfig_find(const struct kc_list *l, const char *name);
void kubeconfig_pod(struct kube_context *x, struct kc_findings *f);

#endif
