/* kubeconfig_fields.c - the fields of a kubeconfig (kubeconfig_fields.h). A value of
 * a wrong type spoils the whole file, in whatever entry it stands: so it does
 * for kubectl. */
#include "k8s/kubeconfig_fields.h"

#include <strings.h>

#include "core/base/i18n.h"
#include "core/base/mem.h"
#include "k8s/kubeconfig_io.h"
#include "k8s/pem.h"

enum { NAMES_MAX = 32 };

static const struct kc_field cluster_fields[] = {
    {"server", KC_TEXT, false},
    {"tls-server-name", KC_TEXT, false},
    {"insecure-skip-tls-verify", KC_FLAG, false},
    {"certificate-authority", KC_TEXT, false},
    {"certificate-authority-data", KC_DATA, false},
    {"proxy-url", KC_TEXT, false},
    {"disable-compression", KC_FLAG, false},
    {"extensions", KC_ANY, false},
    {NULL, KC_ANY, false}};

static const struct kc_field user_fields[] = {
    {"client-certificate", KC_TEXT, false},
    {"client-certificate-data", KC_DATA, false},
    {"client-key", KC_TEXT, false},
    {"client-key-data", KC_DATA, true},
    {"token", KC_TEXT, true},
    {"tokenFile", KC_TEXT, false},
    {"as", KC_TEXT, false},
    {"as-uid", KC_TEXT, false},
    {"as-groups", KC_LIST, false},
    {"as-user-extra", KC_LISTS, false},
    {"username", KC_TEXT, false},
    {"password", KC_TEXT, true},
    {"auth-provider", KC_PROVIDER, true},
    {"exec", KC_EXEC, false},
    {"extensions", KC_ANY, false},
    {NULL, KC_ANY, false}};

static const struct kc_field context_fields[] = {
    {"cluster", KC_TEXT, false},
    {"user", KC_TEXT, false},
    {"namespace", KC_TEXT, false},
    {"extensions", KC_ANY, false},
    {NULL, KC_ANY, false}};

static const struct kc_field exec_fields[] = {
    {"command", KC_TEXT, false},
    {"args", KC_LIST, false},
    {"env", KC_ENV, false},
    {"apiVersion", KC_TEXT, false},
    {"installHint", KC_TEXT, false},
    {"provideClusterInfo", KC_FLAG, false},
    {"interactiveMode", KC_TEXT, false},
    {NULL, KC_ANY, false}};

static const struct kc_field provider_fields[] = {
    {"name", KC_TEXT, false}, {"config", KC_TEXTS, true}, {NULL, KC_ANY, false}};

static const struct kc_field env_fields[] = {
    {"name", KC_TEXT, false}, {"value", KC_TEXT, false}, {NULL, KC_ANY, false}};

static const struct kc_table tables[KC_KINDS] = {
    [KC_CLUSTER] = {"clusters", "cluster", cluster_fields},
    [KC_USER] = {"users", "user", user_fields},
    [KC_CONTEXT] = {"contexts", "context", context_fields},
};

const struct kc_table *kubeconfig_fields_table(enum kc_kind kind)
{
    return &tables[kind];
}

const struct kc_field *kubeconfig_fields_exec(void)
{
    return exec_fields;
}

const struct kc_field *kubeconfig_fields_find(const struct kc_field *table, const char *name)
{
    for (; table->name; table++)
        if (!strcmp(table->name, name))
            return table;
    return NULL;
}

const char *kubeconfig_fields_type_name(const struct ynode *n)
{
    static const char *const names[] = {
        [Y_NULL] = N_("nothing"),      [Y_BOOL] = N_("a boolean"), [Y_INT] = N_("a number"),
        [Y_FLOAT] = N_("a number"),    [Y_STRING] = N_("a string"), [Y_SEQ] = N_("a list"),
        [Y_MAP] = N_("a map")};
    return _(names[n->kind]);
}

/* --- types --- */

/* Where we are: "token of \"u\"" in texts. */
struct walk {
    const char *what, *name, *file;     /* "user", "u" */
    struct kc_findings *f;
};

static void check_map(struct walk *w, const struct kc_field *table, const struct ynode *map,
                      const char *where);

static bool is(struct walk *w, const char *field, const struct ynode *n, enum ykind kind,
               const char *wanted)
{
    if (n->kind == kind || n->kind == Y_NULL)
        return n->kind == kind;
    kubeconfig_findings_add(w->f, KC_ERROR, w->file, n->line, n->col,
                            _("%s of \"%s\" must be %s, not %s"), field, w->name, wanted,
                            kubeconfig_fields_type_name(n));
    bool scalar = kind == Y_STRING && n->kind != Y_SEQ && n->kind != Y_MAP;
    kubeconfig_findings_hint(w->f, scalar ? _("put the value in quotes") :
                                   kind == Y_BOOL ? _("write true or false, without quotes")
                                                  : _("see how the value is written there"));
    return false;
}

static void check_texts(struct walk *w, const char *field, const struct ynode *list)
{
    for (const struct ynode *n = list->first; n; n = n->next)
        is(w, field, n, Y_STRING, _("a list of strings"));
}

static void check_text(struct walk *w, const struct kc_field *d, const struct ynode *n)
{
    is(w, d->name, n, Y_STRING, _("a string"));
}

static void check_flag(struct walk *w, const struct kc_field *d, const struct ynode *n)
{
    is(w, d->name, n, Y_BOOL, _("true or false"));
}

static void check_list(struct walk *w, const struct kc_field *d, const struct ynode *n)
{
    if (is(w, d->name, n, Y_SEQ, _("a list of strings")))
        check_texts(w, d->name, n);
}

static void check_string_map(struct walk *w, const struct kc_field *d, const struct ynode *n)
{
    if (is(w, d->name, n, Y_MAP, _("a map")))
        check_texts(w, d->name, n);
}

static void check_lists(struct walk *w, const struct kc_field *d, const struct ynode *n)
{
    if (!is(w, d->name, n, Y_MAP, _("a map of lists")))
        return;
    for (const struct ynode *c = n->first; c; c = c->next)
        if (is(w, d->name, c, Y_SEQ, _("a map of lists")))
            check_texts(w, d->name, c);
}

static void check_data(struct walk *w, const struct kc_field *d, const struct ynode *n)
{
    size_t len, bad;
    if (!is(w, d->name, n, Y_STRING, _("a string")))
        return;
    unsigned char *raw = pem_base64(n->text, &len, &bad);
    if (raw) {
        explicit_bzero(raw, len);
        free(raw);
        return;
    }
    int plain = (int)strlen(d->name) - (int)strlen("-data");
    bool pem = strstr(n->text, "-----BEGIN ") != NULL;
    kubeconfig_findings_add(w->f, KC_ERROR, w->file, n->line, n->col,
                            pem ? _("%s of %s \"%s\" is not base64: it is the PEM text itself")
                                : _("%s of %s \"%s\" is not base64 (wrong at byte %zu of its "
                                    "value)"),
                            d->name, w->what, w->name, bad);
    if (pem)
        kubeconfig_findings_hint(w->f, _("put the text into a file and name it with %.*s: FILE, or "
                                         "encode it with base64 -w0"), plain, d->name);
    else
        kubeconfig_findings_hint(w->f, _("encode the PEM file with base64 -w0, or name the file "
                                         "with %.*s: FILE"), plain, d->name);
}

static void check_exec(struct walk *w, const struct kc_field *d, const struct ynode *n)
{
    if (is(w, d->name, n, Y_MAP, _("a map")))
        check_map(w, exec_fields, n, "exec");
}

static void check_env(struct walk *w, const struct kc_field *d, const struct ynode *n)
{
    if (!is(w, d->name, n, Y_SEQ, _("a list of maps with name and value")))
        return;
    for (const struct ynode *c = n->first; c; c = c->next)
        if (is(w, d->name, c, Y_MAP, _("a list of maps with name and value")))
            check_map(w, env_fields, c, "env");
}

static void check_provider(struct walk *w, const struct kc_field *d, const struct ynode *n)
{
    if (is(w, d->name, n, Y_MAP, _("a map")))
        check_map(w, provider_fields, n, "auth-provider");
}

static void check_any(struct walk *w UNUSED, const struct kc_field *d UNUSED,
                      const struct ynode *n UNUSED)
{
}

static void (*const checks[])(struct walk *, const struct kc_field *, const struct ynode *) = {
    [KC_TEXT] = check_text,  [KC_FLAG] = check_flag,     [KC_DATA] = check_data,
    [KC_LIST] = check_list,  [KC_TEXTS] = check_string_map, [KC_LISTS] = check_lists,
    [KC_EXEC] = check_exec,  [KC_ENV] = check_env,       [KC_PROVIDER] = check_provider,
    [KC_ANY] = check_any,
};

/* --- unknown keys --- */

/* The entry where a field of that name belongs, NULL: nowhere. */
static const char *home_of(const char *key)
{
    for (int k = 0; k < KC_KINDS; k++)
        if (kubeconfig_fields_find(tables[k].fields, key))
            return tables[k].inner;
    return kubeconfig_fields_find(exec_fields, key) ? "exec" : NULL;
}

static const char *same_but_case(const char *const *known, const char *key)
{
    for (; *known; known++)
        if (!strcasecmp(*known, key))
            return *known;
    return NULL;
}

void kubeconfig_fields_unknown(const struct ynode *map, const char *const *known,
                               const char *where, const char *file, struct kc_findings *f)
{
    size_t n = 0;
    while (known[n])
        n++;
    for (const struct ynode *c = map->first; c; c = c->next) {
        bool found = false;
        for (size_t i = 0; i < n && !found; i++)
            found = !strcmp(known[i], c->key);
        if (c->repeats_line) {
            kubeconfig_findings_add(f, KC_WARNING, file, c->key_line, c->key_col,
                                    _("the key \"%s\" of %s stands twice, first at line %d; the "
                                      "last one holds"), c->key, where, c->repeats_line);
            kubeconfig_findings_hint(f, _("remove the one that is not meant"));
        }
        if (found)
            continue;
        const char *near = same_but_case(known, c->key), *home = home_of(c->key);
        near = near ? near : str_nearest(c->key, known, n);
        kubeconfig_findings_add(f, KC_WARNING, file, c->key_line, c->key_col,
                                _("nobody reads the field \"%s\" of %s"), c->key, where);
        if (home && strcmp(home, where) != 0)
            kubeconfig_findings_hint(f, _("it belongs under %s:"), home);
        else
            kubeconfig_findings_hint(f, near ? _("did you mean \"%s\"?")
                                             : _("kubectl reads past it too%s"), near ? near : "");
    }
}

static void check_map(struct walk *w, const struct kc_field *table, const struct ynode *map,
                      const char *where)
{
    const char *known[NAMES_MAX] = {NULL};
    for (size_t i = 0; table[i].name && i + 1 < NAMES_MAX; i++) {
        const struct ynode *n = yaml_get(map, table[i].name);
        known[i] = table[i].name;
        if (n && n->kind != Y_NULL)
            checks[table[i].type](w, &table[i], n);
    }
    kubeconfig_fields_unknown(map, known, where, w->file, w->f);
}

void kubeconfig_fields_check(enum kc_kind kind, const char *name, const char *file,
                             const struct ynode *map, struct kc_findings *f)
{
    const struct kc_table *t = &tables[kind];
    struct walk w = {t->inner, name, file, f};
    check_map(&w, t->fields, map, t->inner);
}
