/* kubeconfig.c - finding, reading and merging kubeconfig files (kubeconfig.h).
 * Rules: client-go tools/clientcmd/loader.go. */
#include "k8s/kubeconfig.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/i18n.h"
#include "core/base/mem.h"
#include "core/base/path.h"
#include "k8s/kubeconfig_io.h"

enum { FILE_MAX = 8 << 20, FINDINGS_MAX = 100 };

/* --- findings --- */

void kubeconfig_findings_add(struct kc_findings *f, enum kc_level level, const char *file,
                             int line, int col, const char *fmt, ...)
{
    struct pd_err err;
    char text[sizeof err.msg];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    pd_fail_at(&err, PD_KUBECONFIG, file ? file : "", line, col, "%s", text);
    kubeconfig_findings_err(f, level, &err);
}

void kubeconfig_findings_err(struct kc_findings *f, enum kc_level level, const struct pd_err *err)
{
    if (f->n >= FINDINGS_MAX)
        return;
    f->v = xrealloc_array(f->v, f->n + 1, sizeof *f->v);
    f->v[f->n++] = (struct kc_finding){level, *err};
}

void kubeconfig_findings_hint(struct kc_findings *f, const char *fmt, ...)
{
    char text[sizeof f->v->err.hint];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    if (f->n && f->n < FINDINGS_MAX)
        pd_set_hint(&f->v[f->n - 1].err, "%s", text);
}

size_t kubeconfig_findings_errors(const struct kc_findings *f)
{
    size_t n = 0;
    for (size_t i = 0; i < f->n; i++)
        n += f->v[i].level == KC_ERROR;
    return n;
}

void kubeconfig_findings_free(struct kc_findings *f)
{
    free(f->v);
    *f = (struct kc_findings){NULL, 0};
}

/* --- places --- */

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

/* --- merging --- */

/* The name of an entry; kubectl takes one without a name under the empty one. */
static const char *entry_name(const struct ynode *e, const char *list, const char *file,
                              struct kc_findings *f)
{
    const struct ynode *n = e->kind == Y_MAP ? yaml_get(e, "name") : NULL;
    if (n && n->kind == Y_STRING)
        return n->text;
    bool typed = n && n->kind != Y_NULL;
    const struct ynode *at = typed ? n : e;
    kubeconfig_findings_add(f, typed ? KC_ERROR : KC_WARNING, file, at->line, at->col,
                            typed ? _("name of an entry of %s must be a string")
                                  : _("an entry of %s has no name"), list);
    kubeconfig_findings_hint(f, typed ? _("put the value in quotes")
                                      : _("give it a name: nothing can refer to it so"));
    return "";
}

static void add_entry(struct kubeconfig *c, enum kc_kind kind, const struct ynode *e,
                      const char *file, size_t from, struct kc_findings *f)
{
    const struct kc_table *t = kubeconfig_fields_table(kind);
    struct kc_list *l = &c->lists[kind];
    const char *known[] = {"name", t->inner, NULL};
    if (e->kind != Y_MAP && e->kind != Y_NULL) {
        kubeconfig_findings_add(f, KC_ERROR, file, e->line, e->col,
                                _("an entry of %s must be a map with name and %s"), t->list,
                                t->inner);
        return;
    }
    const char *name = entry_name(e, t->list, file, f);
    const struct ynode *node = e->kind == Y_MAP ? yaml_get(e, t->inner) : NULL;
    if (node && node->kind != Y_MAP && node->kind != Y_NULL) {
        kubeconfig_findings_add(f, KC_ERROR, file, node->line, node->col,
                                _("%s of \"%s\" must be a map"), t->inner, name);
        return;
    }
    if (e->kind == Y_MAP)
        kubeconfig_fields_unknown(e, known, t->list, file, f);
    if (node && node->kind == Y_MAP)
        kubeconfig_fields_check(kind, name, file, node, f);
    const struct kc_entry *old = kubeconfig_find(l, name);
    if (old && (size_t)(old - l->v) >= from) {
        kubeconfig_findings_add(f, KC_ERROR, file, e->line, e->col,
                                _("duplicate name \"%s\" in list %s; first at line %d"), name,
                                t->list, old->place->line);
        kubeconfig_findings_hint(f, _("give one of them another name, or remove it"));
    } else if (old) {
        kubeconfig_findings_add(f, KC_NOTE, file, e->line, e->col,
                                _("%s \"%s\" is not used from here: %s, which comes first, has one "
                                  "of that name, and entries are not mixed"), t->inner, name,
                                old->file);
        kubeconfig_findings_hint(f, _("to use this one, put its file first or rename it"));
    } else {
        l->v = xrealloc_array(l->v, l->n + 1, sizeof *l->v);
        l->v[l->n++] = (struct kc_entry){name, node, node ? node : e, file};
    }
}

static size_t merge_list(struct kubeconfig *c, enum kc_kind kind, const struct ynode *root,
                         const char *file, struct kc_findings *f)
{
    const struct kc_table *t = kubeconfig_fields_table(kind);
    const struct ynode *list = yaml_get(root, t->list);
    size_t from = c->lists[kind].n, n = 0;
    if (!list || list->kind == Y_NULL)
        return 0;
    if (list->kind != Y_SEQ) {
        kubeconfig_findings_add(f, KC_ERROR, file, list->line, list->col, _("%s must be a list"),
                                t->list);
        kubeconfig_findings_hint(f, _("begin each entry with \"- name:\""));
        return 0;
    }
    for (const struct ynode *e = list->first; e; e = e->next, n++)
        add_entry(c, kind, e, file, from, f);
    return n;
}

/* kind and apiVersion; false: this file is something else. */
static bool check_head(const struct ynode *root, const char *file, struct kc_findings *f)
{
    static const struct {
        const char *key, *want;
    } heads[] = {{"kind", "Config"}, {"apiVersion", "v1"}};
    if (root->kind != Y_MAP) {
        kubeconfig_findings_add(f, KC_ERROR, file, root->line, root->col,
                                _("this is no kubeconfig: it must be a map with clusters, users "
                                  "and contexts"));
        return false;
    }
    for (size_t i = 0; i < ARRAY_LEN(heads); i++) {
        const struct ynode *n = yaml_get(root, heads[i].key);
        bool fine = !n || n->kind == Y_NULL ||
                    (n->kind == Y_STRING && (!*n->text || !strcmp(n->text, heads[i].want)));
        if (fine)
            continue;
        kubeconfig_findings_add(f, KC_ERROR, file, n->line, n->col,
                                _("this is no kubeconfig: its %s is %s, not %s"), heads[i].key,
                                n->text ? n->text : "?", heads[i].want);
        return false;
    }
    return true;
}

static void merge_current(struct kubeconfig *c, const struct ynode *root, const char *file,
                          struct kc_findings *f)
{
    const struct ynode *n = yaml_get(root, "current-context");
    if (!n || n->kind == Y_NULL)
        return;
    if (n->kind != Y_STRING) {
        kubeconfig_findings_add(f, KC_ERROR, file, n->line, n->col,
                                _("current-context must be a string, not %s"),
                                kubeconfig_fields_type_name(n));
        kubeconfig_findings_hint(f, _("put the value in quotes"));
        return;
    }
    if (!*n->text && !c->current_file) {
        c->current_file = file;
        c->current_line = n->line;
        c->current_col = n->col;
    }
    if (!*n->text)
        return;
    if (c->current) {
        if (strcmp(c->current, n->text) != 0)
            kubeconfig_findings_add(f, KC_NOTE, file, n->line, n->col,
                                    _("current-context %s is not used: %s, which comes first, says "
                                      "%s"), n->text, c->current_file, c->current);
        return;
    }
    c->current = n->text;
    c->current_file = file;
    c->current_line = n->line;
    c->current_col = n->col;
}

static void merge(struct kubeconfig *c, const struct ynode *root, struct kc_file *at,
                  struct kc_findings *f)
{
    static const char *const known[] = {"kind", "apiVersion", "preferences", "clusters", "users",
                                        "contexts", "current-context", "extensions", NULL};
    if (!root || root->kind == Y_NULL)
        return;
    if (!check_head(root, at->path, f)) {
        at->found = KC_BROKEN;
        return;
    }
    const struct ynode *preferences = yaml_get(root, "preferences");
    if (preferences && preferences->kind != Y_MAP && preferences->kind != Y_NULL)
        kubeconfig_findings_add(f, KC_ERROR, at->path, preferences->line, preferences->col,
                                _("preferences must be a map, not %s"),
                                kubeconfig_fields_type_name(preferences));
    at->clusters = merge_list(c, KC_CLUSTER, root, at->path, f);
    at->users = merge_list(c, KC_USER, root, at->path, f);
    at->contexts = merge_list(c, KC_CONTEXT, root, at->path, f);
    merge_current(c, root, at->path, f);
    kubeconfig_fields_unknown(root, known, "Config", at->path, f);
}

/* --- reading --- */

static void broken(struct kc_findings *f, struct pd_err *err)
{
    err->code = PD_KUBECONFIG;
    if (err->line > 0)
        pd_set_hint(err, strstr(err->msg, "start any token")
                             ? _("YAML takes no tabs for indentation: put blanks there")
                             : _("correct the YAML at the place named"));
    else
        pd_set_hint(err, _("check the path and its rights"));
    kubeconfig_findings_err(f, KC_ERROR, err);
}

static void open_to_all(const char *path, struct kc_findings *f)
{
    struct stat st;
    if (stat(path, &st) != 0 || !(st.st_mode & (S_IRGRP | S_IROTH)) || !S_ISREG(st.st_mode))
        return;
    kubeconfig_findings_add(f, KC_NOTE, path, 0, 0,
                            _("others on this machine can read this file (mode %03o), and it may "
                              "hold credentials"), (unsigned)(st.st_mode & 0777));
    kubeconfig_findings_hint(f, _("chmod 600 it"));
}

static void add_file(struct kubeconfig *c, struct kc_file *at, struct kc_findings *f)
{
    struct ydoc *doc = NULL;
    struct pd_err err;
    struct str text;
    str_init(&text, FILE_MAX);
    enum pd_code code = path_read(at->path, FILE_MAX, &text, &err);
    if (code == PD_OK)
        code = yaml_parse_first(at->path, text.p, text.len, &doc, &err);
    str_release(&text);
    at->found = code == PD_OK ? KC_READ : KC_BROKEN;
    if (code != PD_OK) {
        if (!err.src[0])
            str_copy(err.src, sizeof err.src, at->path);
        broken(f, &err);
        return;
    }
    c->docs = xrealloc_array(c->docs, c->doc_n + 1, sizeof *c->docs);
    c->docs[c->doc_n++] = doc;
    open_to_all(at->path, f);
    merge(c, doc ? doc->root : NULL, at, f);
}

/* Paths are borrowed by entries: the array may move, the texts may not. */
static struct kc_file *new_file(struct kubeconfig *c, const char *path)
{
    char *abs = absolute(path);
    bool again = false;
    for (size_t i = 0; i < c->file_n; i++)
        again |= !strcmp(c->files[i].path, abs);
    c->files = xrealloc_array(c->files, c->file_n + 1, sizeof *c->files);
    c->files[c->file_n] = (struct kc_file){.path = abs, .found = again ? KC_AGAIN : KC_MISSING};
    return &c->files[c->file_n++];
}

/* A file of a list or the default one: missing is fine. */
static void add_if_there(struct kubeconfig *c, const char *path, struct kc_findings *f)
{
    struct kc_file *at = new_file(c, path);
    if (at->found == KC_AGAIN)
        return;
    if (access(at->path, F_OK) == 0) {
        add_file(c, at, f);
    } else if (errno != ENOENT && errno != ENOTDIR) {
        at->found = KC_BROKEN;
        kubeconfig_findings_add(f, KC_ERROR, at->path, 0, 0, _("the kubeconfig %s can't be opened: "
                                                               "%s"), at->path, strerror(errno));
        kubeconfig_findings_hint(f, _("check the path and its rights"));
    } else if (strchr(path, ';')) {
        kubeconfig_findings_add(f, KC_WARNING, NULL, 0, 0,
                                _("KUBECONFIG names one file %s, which is not there"), path);
        kubeconfig_findings_hint(f, _("files are separated by : here, not by ;"));
    } else if (path[0] == '~') {
        kubeconfig_findings_add(f, KC_WARNING, NULL, 0, 0,
                                _("KUBECONFIG names %s: the shell did not put your home folder for "
                                  "the ~"), path);
        kubeconfig_findings_hint(f, _("write $HOME instead of ~"));
    }
}

static void add_named(struct kubeconfig *c, const char *path, struct kc_findings *f)
{
    struct kc_file *at = new_file(c, path);
    if (access(at->path, F_OK) == 0) {
        add_file(c, at, f);
        return;
    }
    at->found = KC_BROKEN;
    kubeconfig_findings_add(f, KC_ERROR, at->path, 0, 0, _("the kubeconfig %s can't be opened: %s"),
                            at->path, strerror(errno));
    kubeconfig_findings_hint(f, _("check the path given with --kubeconfig"));
}

static void add_all(struct kubeconfig *c, const struct kube_options *o, struct kc_findings *f)
{
    const char *list = getenv("KUBECONFIG"), *home = getenv("HOME");
    struct strv parts;
    if (o && o->kubeconfig && *o->kubeconfig) {
        c->origin = "--kubeconfig";
        add_named(c, o->kubeconfig, f);
        return;
    }
    strv_init(&parts);
    if (list && *list) {
        c->origin = "KUBECONFIG";
        strv_split(&parts, list, ':');
    } else if (home && *home) {
        c->origin = "HOME";
        strv_pushf(&parts, "%s/.kube/config", home);
    }
    for (size_t i = 0; i < parts.n; i++)
        if (*parts.v[i])
            add_if_there(c, parts.v[i], f);
    strv_release(&parts);
}

void kubeconfig_gather(const struct kube_options *o, struct kubeconfig **out,
                       struct kc_findings *f)
{
    struct kubeconfig *c = xcalloc(1, sizeof *c);
    add_all(c, o, f);
    c->in_pod = c->doc_n == 0 && inside_pod();
    *out = c;
}

/* The first error, if there is any. */
static enum pd_code first_error(struct kc_findings *f, struct pd_err *err)
{
    enum pd_code code = PD_OK;
    for (size_t i = 0; i < f->n && code == PD_OK; i++)
        if (f->v[i].level == KC_ERROR) {
            *err = f->v[i].err;
            code = err->code;
        }
    kubeconfig_findings_free(f);
    return code;
}

enum pd_code kubeconfig_load(const struct kube_options *o, struct kubeconfig **out,
                             struct pd_err *err)
{
    struct kc_findings f = {NULL, 0};
    struct kubeconfig *c;
    kubeconfig_gather(o, &c, &f);
    enum pd_code code = first_error(&f, err);
    if (code == PD_OK)
        *out = c;
    else
        kubeconfig_free(c);
    return code;
}

enum pd_code kubeconfig_resolve(const struct kubeconfig *c, const struct kube_options *o,
                                struct kube_context *out, struct pd_err *err)
{
    struct kc_findings f = {NULL, 0};
    struct kube_context x;
    kubeconfig_look(c, o, &x, &f);
    enum pd_code code = first_error(&f, err);
    if (code == PD_OK)
        *out = x;
    else
        kube_context_release(&x);
    return code;
}

enum pd_code kubeconfig_open(const struct kube_options *o, struct kube_context *out,
                             struct pd_err *err)
{
    struct kubeconfig *c;
    enum pd_code code = kubeconfig_load(o, &c, err);
    if (code != PD_OK)
        return code;
    code = kubeconfig_resolve(c, o, out, err);
    kubeconfig_free(c);
    return code;
}

void kubeconfig_free(struct kubeconfig *c)
{
    if (!c)
        return;
    for (size_t i = 0; i < c->doc_n; i++)
        yaml_docs_free(c->docs[i]);
    for (size_t i = 0; i < c->file_n; i++)
        free(c->files[i].path);
    for (int k = 0; k < KC_KINDS; k++)
        free(c->lists[k].v);
    free(c->docs);
    free(c->files);
    free(c);
}

bool kubeconfig_found(const struct kubeconfig *c)
{
    return c->doc_n > 0 || c->in_pod;
}

const char *kubeconfig_current(const struct kubeconfig *c)
{
    return c->current ? c->current : "";
}

size_t kubeconfig_count(const struct kubeconfig *c)
{
    return c->lists[KC_CONTEXT].n;
}

struct kube_entry kubeconfig_entry(const struct kubeconfig *c, size_t i)
{
    assert(i < kubeconfig_count(c));
    const struct kc_entry *e = &c->lists[KC_CONTEXT].v[i];
    struct kube_entry out = {e->name, "", "", "", "", e->file};
    if (e->node && e->node->kind == Y_MAP) {
        out.cluster = yaml_str(e->node, "cluster", "");
        out.user = yaml_str(e->node, "user", "");
        out.ns = yaml_str(e->node, "namespace", "");
    }
    const struct kc_entry *cluster = kubeconfig_find(&c->lists[KC_CLUSTER], out.cluster);
    if (cluster && cluster->node && cluster->node->kind == Y_MAP)
        out.server = yaml_str(cluster->node, "server", "");
    return out;
}
