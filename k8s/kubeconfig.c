/* kubeconfig.c - finding, reading and merging kubeconfig files (kubeconfig.h).
 * Rules: client-go tools/clientcmd/loader.go. */
#include "k8s/kubeconfig.h"

#include <errno.h>
#include <unistd.h>

#include "core/base/i18n.h"
#include "core/base/mem.h"
#include "core/base/path.h"
#include "k8s/kubeconfig_io.h"

enum { FILE_MAX = 8 << 20 };

const char *kubeconfig_pod_dir(void)
{
    const char *dir = getenv("PODIUM_SERVICE_ACCOUNT_DIR");
    return dir && *dir ? dir : KC_SERVICE_ACCOUNT;
}

static bool inside_pod(void)
{
    const char *host = getenv("KUBERNETES_SERVICE_HOST"), *port = getenv("KUBERNETES_SERVICE_PORT");
    char *token = path_join(kubeconfig_pod_dir(), "token");
    bool yes = host && *host && port && *port && access(token, R_OK) == 0;
    free(token);
    return yes;
}

static char *absolute(const char *path)
{
    if (path[0] == '/')
        return xstrdup(path);
    char *cwd = getcwd(NULL, 0);
    char *out = cwd ? path_join(cwd, path) : xstrdup(path);
    free(cwd);
    return out;
}

const struct kc_entry *kubeconfig_find(const struct kc_list *l, const char *name)
{
    for (size_t i = 0; i < l->n; i++)
        if (!strcmp(l->v[i].name, name))
            return &l->v[i];
    return NULL;
}

static enum pd_code wrong(struct pd_err *err, const char *file, const struct ynode *at,
                          const char *what)
{
    return pd_fail_at(err, PD_KUBECONFIG, file, at ? at->line : 1, at ? at->col : 1, "%s", what);
}

/* Append the entries of "clusters", "users" or "contexts"; a name that is
 * there already stays as it is. */
static enum pd_code merge_list(struct kc_list *l, const struct ynode *root, const char *key,
                               const char *inner, const char *file, struct pd_err *err)
{
    const struct ynode *list = yaml_get(root, key);
    char text[160];
    if (!list || list->kind == Y_NULL)
        return PD_OK;
    if (list->kind != Y_SEQ)
        return wrong(err, file, list, str_fmt(text, sizeof text, _("%s must be a list"), key));
    for (const struct ynode *e = list->first; e; e = e->next) {
        const char *name = e->kind == Y_MAP ? yaml_str(e, "name", NULL) : NULL;
        const struct ynode *node = e->kind == Y_MAP ? yaml_get(e, inner) : NULL;
        if (!name)
            return wrong(err, file, e, str_fmt(text, sizeof text,
                                               _("an entry of %s has no name"), key));
        if (node && node->kind != Y_MAP && node->kind != Y_NULL)
            return wrong(err, file, node, str_fmt(text, sizeof text, _("%s of \"%s\" must be a "
                                                                       "map"),
                                                  inner, name));
        if (kubeconfig_find(l, name))
            continue;
        l->v = xrealloc_array(l->v, l->n + 1, sizeof *l->v);
        l->v[l->n++] = (struct kc_entry){name, node, node ? node : e, file};
    }
    return PD_OK;
}

static enum pd_code merge(struct kubeconfig *c, const struct ynode *root, const char *file,
                          struct pd_err *err)
{
    if (!root || root->kind == Y_NULL)
        return PD_OK;
    if (root->kind != Y_MAP)
        return wrong(err, file, root, _("this is no kubeconfig: it must be a map with clusters, "
                                      "users and contexts"));
    const char *kind = yaml_str(root, "kind", "Config");
    if (strcmp(kind, "Config") != 0)
        return pd_fail_at(err, PD_KUBECONFIG, file, yaml_get(root, "kind")->line, 1,
                          _("this is no kubeconfig: its kind is %s, not Config"), kind);
    enum pd_code code = merge_list(&c->clusters, root, "clusters", "cluster", file, err);
    if (code == PD_OK)
        code = merge_list(&c->users, root, "users", "user", file, err);
    if (code == PD_OK)
        code = merge_list(&c->contexts, root, "contexts", "context", file, err);
    const struct ynode *current = yaml_get(root, "current-context");
    const char *name = yaml_str(root, "current-context", "");
    if (code == PD_OK && !c->current && *name) {
        c->current = name;
        c->current_file = file;
        c->current_line = current->line;
        c->current_col = current->col;
    }
    return code;
}

static enum pd_code add_file(struct kubeconfig *c, const char *path, struct pd_err *err)
{
    struct ydoc *doc = NULL;
    struct str text;
    str_init(&text, FILE_MAX);
    enum pd_code code = path_read(path, FILE_MAX, &text, err);
    if (code == PD_OK)
        code = yaml_parse(path, text.p, text.len, &doc, err);
    str_release(&text);
    if (code != PD_OK) {
        err->code = PD_KUBECONFIG;
        if (err->line > 0)
            pd_set_hint(err, _("correct the YAML at the place named"));
        else
            pd_set_hint(err, _("check the path and its rights"));
        return PD_KUBECONFIG;
    }
    strv_push(&c->files, path);
    c->docs = xrealloc_array(c->docs, c->doc_n + 1, sizeof *c->docs);
    c->docs[c->doc_n++] = doc;
    return merge(c, doc ? doc->root : NULL, c->files.v[c->files.n - 1], err);
}

/* A file of a list or the default one: missing is fine. */
static enum pd_code add_if_there(struct kubeconfig *c, const char *path, struct pd_err *err)
{
    char *abs = absolute(path);
    enum pd_code code = PD_OK;
    if (!strv_has(&c->tried, abs)) {
        strv_push(&c->tried, abs);
        if (access(abs, F_OK) == 0)
            code = add_file(c, abs, err);
    }
    free(abs);
    return code;
}

static enum pd_code add_list(struct kubeconfig *c, const char *list, struct pd_err *err)
{
    struct strv parts;
    enum pd_code code = PD_OK;
    strv_init(&parts);
    strv_split(&parts, list, ':');
    for (size_t i = 0; i < parts.n && code == PD_OK; i++)
        if (*parts.v[i])
            code = add_if_there(c, parts.v[i], err);
    strv_release(&parts);
    return code;
}

static enum pd_code add_named(struct kubeconfig *c, const char *path, struct pd_err *err)
{
    char *abs = absolute(path);
    strv_push(&c->tried, abs);
    enum pd_code code;
    if (access(abs, F_OK) != 0) {
        code = pd_fail_errno(err, PD_KUBECONFIG, _("the kubeconfig %s can't be opened"), abs);
        pd_set_hint(err, _("check the path given with --kubeconfig"));
    } else {
        code = add_file(c, abs, err);
    }
    free(abs);
    return code;
}

static enum pd_code add_all(struct kubeconfig *c, const struct kube_options *o, struct pd_err *err)
{
    const char *list = getenv("KUBECONFIG"), *home = getenv("HOME");
    if (o && o->kubeconfig && *o->kubeconfig)
        return add_named(c, o->kubeconfig, err);
    if (list && *list)
        return add_list(c, list, err);
    if (!home || !*home)
        return PD_OK;
    char *path = path_join(home, ".kube/config");
    enum pd_code code = add_if_there(c, path, err);
    free(path);
    return code;
}

enum pd_code kubeconfig_load(const struct kube_options *o, struct kubeconfig **out,
                             struct pd_err *err)
{
    struct kubeconfig *c = xcalloc(1, sizeof *c);
    strv_init(&c->files);
    strv_init(&c->tried);
    enum pd_code code = add_all(c, o, err);
    if (code != PD_OK) {
        kubeconfig_free(c);
        return code;
    }
    c->in_pod = c->files.n == 0 && inside_pod();
    *out = c;
    return PD_OK;
}

void kubeconfig_free(struct kubeconfig *c)
{
    if (!c)
        return;
    for (size_t i = 0; i < c->doc_n; i++)
        yaml_docs_free(c->docs[i]);
    free(c->docs);
    free(c->clusters.v);
    free(c->users.v);
    free(c->contexts.v);
    strv_release(&c->files);
    strv_release(&c->tried);
    free(c);
}

bool kubeconfig_found(const struct kubeconfig *c)
{
    return c->files.n > 0 || c->in_pod;
}

const char *kubeconfig_current(const struct kubeconfig *c)
{
    return c->current ? c->current : "";
}

size_t kubeconfig_count(const struct kubeconfig *c)
{
    return c->contexts.n;
}

struct kube_entry kubeconfig_entry(const struct kubeconfig *c, size_t i)
{
    assert(i < c->contexts.n);
    const struct kc_entry *e = &c->contexts.v[i];
    struct kube_entry out = {e->name, "", "", "", "", e->file};
    if (e->node && e->node->kind == Y_MAP) {
        out.cluster = yaml_str(e->node, "cluster", "");
        out.user = yaml_str(e->node, "user", "");
        out.ns = yaml_str(e->node, "namespace", "");
    }
    const struct kc_entry *cluster = kubeconfig_find(&c->clusters, out.cluster);
    if (cluster && cluster->node && cluster->node->kind == Y_MAP)
        out.server = yaml_str(cluster->node, "server", "");
    return out;
}
