/* kubeconfig_fields.h - the fields of a kubeconfig and their types, as client-go's
 * api/v1 has them: what is checked when a file is read, and what `view` prints.
 */
#ifndef K8S_KUBECONFIG_FIELDS_H
#define K8S_KUBECONFIG_FIELDS_H

#include "core/base/yaml.h"
#include "k8s/kubeconfig.h"

enum kc_kind { KC_CLUSTER, KC_USER, KC_CONTEXT, KC_KINDS };
/* KC_ANY: taken as it stands (extensions). */
enum kc_type { KC_TEXT, KC_FLAG, KC_DATA, KC_LIST, KC_TEXTS, KC_LISTS, KC_EXEC, KC_ENV, KC_PROVIDER,
               KC_ANY };

struct kc_field {
    const char *name;
    enum kc_type type;
    bool secret;                     /* `view` masks it unless asked for raw */
};

struct kc_table {
    const char *list, *inner;        /* "clusters", "cluster" */
    const struct kc_field *fields;   /* ends with name NULL */
};

const struct kc_table *kubeconfig_fields_table(enum kc_kind kind);
const struct kc_field *kubeconfig_fields_exec(void);
const struct kc_field *kubeconfig_fields_find(const struct kc_field *table, const char *name);

/* Everything wrong or odd in one entry's map. */
void kubeconfig_fields_check(enum kc_kind kind, const char *name, const char *file,
                             const struct ynode *map, struct kc_findings *f);
/* Keys that nobody reads, of any map of a kubeconfig. `known` ends with NULL. */
void kubeconfig_fields_unknown(const struct ynode *map, const char *const *known,
                               const char *where, const char *file, struct kc_findings *f);
const char *kubeconfig_fields_type_name(const struct ynode *n);   /* "a number" */

#endif
