/* kubeconfig_view.c - the merged kubeconfig as kubectl shows it
 * (kubeconfig_report.h): known fields alone, lists sorted by name. */
#include "core/base/i18n.h"
#include "core/base/mem.h"
#include "k8s/kubeconfig_io.h"
#include "k8s/kubeconfig_report.h"
#include "k8s/pem.h"

#define MASKED_DATA "DATA+OMITTED"
#define MASKED "REDACTED"

static struct json *typed(const struct kc_field *table, const struct ynode *map, bool raw);

static struct json *data_value(const struct ynode *n)
{
    size_t len, bad;
    unsigned char *bytes = pem_base64(n->text, &len, &bad);
    char *text = bytes ? pem_to_base64(bytes, len) : xstrdup(n->text);
    struct json *j = json_new_string(text);
    free(bytes);
    free(text);
    return j;
}

static struct json *env_value(const struct ynode *list)
{
    static const struct kc_field fields[] = {
        {"name", KC_TEXT, false}, {"value", KC_TEXT, false}, {NULL, KC_ANY, false}};
    struct json *a = json_new_array();
    for (const struct ynode *e = list->first; e; e = e->next)
        json_append(a, typed(fields, e, true));
    return a;
}

static struct json *value_of(const struct kc_field *d, const struct ynode *n, bool raw)
{
    if (d->type == KC_DATA)
        return raw ? data_value(n) : json_new_string(MASKED_DATA);
    if (d->secret && d->type == KC_TEXT && !raw)
        return json_new_string(MASKED);
    if (d->type == KC_EXEC)
        return typed(kubeconfig_fields_exec(), n, raw);
    if (d->type == KC_ENV)
        return env_value(n);
    return yaml_to_json(n);
}

static bool empty(const struct ynode *n)
{
    return !n || n->kind == Y_NULL || (n->kind == Y_STRING && !*n->text) ||
           ((n->kind == Y_SEQ || n->kind == Y_MAP) && !n->first) ||
           (n->kind == Y_BOOL && n->number == 0);
}

static struct json *typed(const struct kc_field *table, const struct ynode *map, bool raw)
{
    struct json *j = json_new_object();
    for (; table->name; table++) {
        const struct ynode *n = yaml_get(map, table->name);
        if (!empty(n))
            json_set(j, table->name, value_of(table, n, raw));
    }
    return j;
}

static int by_name(const void *a, const void *b)
{
    const struct kc_entry *const *x = a, *const *y = b;
    return strcmp((*x)->name, (*y)->name);
}

/* only: this name alone; NULL: all. */
static struct json *list_value(const struct kc_list *l, enum kc_kind kind, const char *only,
                               bool raw)
{
    const struct kc_table *t = kubeconfig_fields_table(kind);
    struct json *a = json_new_array();
    const struct kc_entry **sorted = xcalloc(l->n + 1, sizeof *sorted);
    for (size_t i = 0; i < l->n; i++)
        sorted[i] = &l->v[i];
    qsort(sorted, l->n, sizeof *sorted, by_name);
    for (size_t i = 0; i < l->n; i++) {
        if (only && strcmp(only, sorted[i]->name) != 0)
            continue;
        struct json *e = json_new_object();
        json_put_str(e, "name", sorted[i]->name);
        json_set(e, t->inner, typed(t->fields, sorted[i]->node, raw));
        json_append(a, e);
    }
    free(sorted);
    return a;
}

static const char *named(const struct kc_entry *e, const char *key)
{
    const struct ynode *n = kubeconfig_field(e, key);
    return n && n->kind == Y_STRING ? n->text : "";
}

struct json *kubeconfig_view(const struct kubeconfig *c, const struct kube_options *o, bool minify,
                             bool raw, struct pd_err *err)
{
    const char *current = o && o->context ? o->context : kubeconfig_current(c);
    const char *only[KC_KINDS] = {NULL};
    if (minify && !*current) {
        pd_fail(err, PD_KUBECONFIG, _("current-context must exist in order to minify"));
        return NULL;
    }
    if (minify) {
        const struct kc_entry *e = kubeconfig_find(&c->lists[KC_CONTEXT], current);
        if (!e) {
            pd_fail(err, PD_KUBECONFIG, _("cannot locate context %s"), current);
            return NULL;
        }
        only[KC_CONTEXT] = current;
        only[KC_CLUSTER] = named(e, "cluster");
        only[KC_USER] = named(e, "user");
    }
    struct json *j = json_new_object();
    json_put_str(j, "kind", "Config");
    json_put_str(j, "apiVersion", "v1");
    for (int k = 0; k < KC_KINDS; k++)
        json_set(j, kubeconfig_fields_table((enum kc_kind)k)->list,
                 list_value(&c->lists[k], (enum kc_kind)k, only[k], raw));
    json_put_str(j, "current-context", current);
    return j;
}
