/* check.c - the check of a manifest, step by step (check.h). */
#include "k8s/rules/check_in.h"

#include "core/base/i18n.h"
#include "core/base/mem.h"

enum { FINDINGS_MAX = 500 };

/* --- findings --- */

struct check_finding *check_add(struct check *c, enum check_level level, const char *cause,
                                const char *path, const char *said)
{
    static struct check_finding beyond;           /* what nobody will read */
    if (c->n == FINDINGS_MAX)
        return &beyond;
    c->v = xrealloc_array(c->v, c->n + 1, sizeof *c->v);
    struct check_finding *f = &c->v[c->n++];
    *f = (struct check_finding){.level = level, .path = xstrdup(path), .said = xstrdup(said),
                                .why = xstrdup(""), .next = xstrdup(""), .line = 1, .col = 1};
    str_copy(f->cause, sizeof f->cause, cause);
    return f;
}

void check_say(struct check_finding *f, char *why, char *next)
{
    if (!f->path) {                               /* one beyond the last */
        free(why);
        free(next);
        return;
    }
    if (why) {
        free(f->why);
        f->why = why;
    }
    if (next) {
        free(f->next);
        f->next = next;
    }
}

void check_at(struct check_finding *f, int line, int col)
{
    f->line = line;
    f->col = col;
}

bool check_covered(const struct check *c, size_t from, size_t to, const char *path)
{
    for (size_t i = from; i < to; i++) {
        size_t n = strlen(c->v[i].path);
        if (n && !strncmp(c->v[i].path, path, n) && (!path[n] || strchr(".[", path[n])))
            return true;
    }
    return false;
}

static void place(struct check_finding *f, const struct manifest_doc *d)
{
    if (f->path)
        manifest_place(d, f->path, &f->line, &f->col);
}

/* --- decoding --- */

struct decoding {
    struct check *c;
    const struct manifest_doc *d;
    const struct schema_type *t;
};

static void decoded(void *arg, const struct strict_note *n)
{
    static const char *const causes[] = {"unknown-field", "duplicate-field", "wrong-type",
                                         "wrong-value"};
    struct decoding *x = arg;
    struct check_finding *f = check_add(x->c, CHECK_ERROR, causes[n->kind], n->path, n->text);
    if (!f->path)
        return;
    f->servers = true;
    place(f, x->d);
    if (n->kind == STRICT_UNKNOWN)
        check_level(f, x->t, n);
    else if (n->kind != STRICT_DUPLICATE)
        check_type(f, n);
}

/* --- validation --- */

/* The server names the map of labels and the bad text, not the label: find it. */
static void find_label(struct check_finding *f, const struct manifest_doc *d, const char *path)
{
    static const char *const maps[] = {"labels", "annotations", "nodeSelector", "matchLabels"};
    char at[320];
    bool of_map = false;
    str_fmt(at, sizeof at, "%s", path);
    for (size_t i = 0; i < ARRAY_LEN(maps); i++)
        of_map = of_map || str_ends(path, maps[i]);
    if (str_ends(path, ".template.labels") || str_ends(path, ".template.annotations"))
        str_fmt(at, sizeof at, "%.*smetadata.%s", (int)(strrchr(path, '.') + 1 - path), path,
                strrchr(path, '.') + 1);
    for (const struct json *m = of_map ? json_first(json_at(d->object, at)) : NULL; m;
         m = json_next(m)) {
        char *key = xasprintf("Invalid value: \"%s\":", json_key(m));
        char *value = xasprintf("Invalid value: \"%s\":", json_string_value(m));
        bool hit = str_starts(f->said, key) || str_starts(f->said, value);
        free(key);
        free(value);
        if (!hit)
            continue;
        char below[400];
        str_fmt(below, sizeof below, "%s[%s]", at, json_key(m));
        manifest_place(d, below, &f->line, &f->col);
        check_say(f, xasprintf("%s: %s", json_key(m), f->why), NULL);
        return;
    }
}

static void own_kind(const struct res *res, struct json *o, const struct json *old,
                     struct ferrs *e)
{
    defaults_apply(res, o);
    defaults_create(res, o);
    validate_meta(res, o, e);
    validate_object(res, o, old, NULL, e);
}

/* What can't be changed: which part of it was. */
static void changed(struct check_finding *f, const struct manifest_doc *d, const struct json *old,
                    const struct json *new)
{
    char at[400];
    if (!old || !(strstr(f->said, "immutable") || strstr(f->said, "may not change")) ||
        !*check_change(json_at(old, f->path), json_at(new, f->path), f->path, at))
        return;
    manifest_place(d, at, &f->line, &f->col);
    check_say(f, xasprintf(_("%s (changed: %s)"), f->why, at), NULL);
}

/* Of a kind whose own rules are not known here (StatefulSet, CronJob ...): its name,
 * labels, and the pods that it makes. */
static void template_alone(struct json *o, struct ferrs *e)
{
    static const char *const paths[] = {"spec.template", "spec.jobTemplate.spec.template"};
    validate_meta(res_by_kind("v1", "ConfigMap"), o, e);
    for (size_t i = 0; i < ARRAY_LEN(paths); i++)
        if (json_at(o, paths[i]))
            validate_template(json_at(o, paths[i]), paths[i], e);
}

/* As on the server: defaults, then rules; what decoding found is not told twice. */
static void validate(struct check *c, const struct manifest_doc *d, size_t from,
                     const struct manifest *before)
{
    struct ferrs e;
    struct json *old = d->res ? check_before(before, d->object) : NULL;
    size_t decoding = c->n;
    struct json *o = json_copy(d->object);
    if (!*json_str(o, "metadata.name", "") && *json_str(o, "metadata.generateName", "")) {
        char *name = xasprintf("%sx0x0x", json_str(o, "metadata.generateName", ""));
        json_put_path(o, "metadata.name", json_new_string(name));
        free(name);
    }
    json_put_path(o, "metadata.uid", json_new_string("00000000-0000-0000-0000-000000000000"));
    ferrs_init(&e);
    if (d->res)
        own_kind(d->res, o, old, &e);
    else
        template_alone(o, &e);
    for (const struct json *k = json_first(e.causes); k; k = json_next(k)) {
        const char *path = json_str(k, "field", "");
        if (check_covered(c, from, decoding, path))
            continue;
        struct check_finding *f = check_add(c, CHECK_ERROR, "invalid", path,
                                            json_str(k, "message", ""));
        if (!f->path)
            continue;
        f->servers = true;
        place(f, d);
        check_words(f);
        find_label(f, d, path);
        changed(f, d, old, o);
    }
    ferrs_release(&e);
    json_free(old);
    json_free(o);
}

/* kubectl's refusal when the file says another namespace than -n. */
static void namespace_of(struct check *c, const struct manifest_doc *d, const char *ns)
{
    const char *own = json_str(d->object, "metadata.namespace", "");
    if (!ns || !*own || !strcmp(own, ns) || (d->res && !d->res->namespaced))
        return;
    char *said = xasprintf("the namespace from the provided object \"%s\" does not match the "
                           "namespace \"%s\"", own, ns);
    struct check_finding *f = check_add(c, CHECK_ERROR, "namespace-mismatch", "metadata.namespace",
                                        said);
    place(f, d);
    check_say(f, xasprintf(_("the file names the namespace %s, but it goes to %s"), own, ns),
              xasprintf(_("take metadata.namespace out of the file, or use -n %s"), own));
    free(said);
}

/* YAML has made something else of a key: "y:" is "true:", "010:" is "8:". */
static void keys(struct check *c, const struct manifest_doc *d, const struct ynode *n)
{
    for (const struct ynode *k = n->first; k; k = k->next) {
        if (k->key && k->json_key && strcmp(k->key, k->json_key) != 0) {
            struct check_finding *f = check_add(c, CHECK_WARNING, "key-changed", "", "");
            check_at(f, k->key_line, k->key_col);
            check_say(f, xasprintf(_("YAML reads the key %s without quotes as \"%s\""), k->key,
                                   k->json_key),
                      xasprintf(_("write \"%s\": in quotes"), k->key));
        }
        keys(c, d, k);
    }
}

static void document(struct check *c, const struct manifest_doc *d, const struct check_options *o)
{
    size_t from = c->n;
    const char *gv = json_str(d->object, "apiVersion", ""), *kind = json_str(d->object, "kind", "");
    c->objects = xrealloc_array(c->objects, c->objects_n + 1, sizeof *c->objects);
    c->objects[c->objects_n++] = (struct check_object){
        xstrdup(kind), xstrdup(json_str(d->object, "metadata.name",
                                        json_str(d->object, "metadata.generateName", ""))),
        d->line};
    keys(c, d, d->root);
    if (!check_api(c, d))
        return;
    const struct schema_type *t = schema_type(gv, kind);
    if (!t)
        return;
    struct decoding x = {c, d, t};
    struct json *copy = json_copy(d->object);
    strict_walk(t, copy, decoded, &x);
    struct manifest_doc clean = *d;               /* without what was refused already */
    clean.object = copy;
    validate(c, &clean, from, o->before);
    check_twice(c, &clean, t, from);
    namespace_of(c, d, o->ns);
    check_sense(c, &clean);
    json_free(copy);
}

/* --- the whole --- */

static void release(struct check_finding *f)
{
    free(f->path);
    free(f->said);
    free(f->why);
    free(f->next);
}

/* A foreign character makes faults of its own on its line and beside it: those are
 * not worth telling. */
static void drop_echoes(struct check *c, size_t looked)
{
    size_t kept = looked;
    for (size_t i = looked; i < c->n; i++) {
        bool echo = false;
        for (size_t k = 0; k < looked; k++)
            echo = echo ||
                   (c->v[k].level == CHECK_ERROR && abs(c->v[k].line - c->v[i].line) <= 1);
        if (echo)
            release(&c->v[i]);
        else
            c->v[kept++] = c->v[i];
    }
    c->n = kept;
}

static int by_line(const void *a, const void *b)
{
    const struct check_finding *x = a, *y = b;
    if (x->line != y->line)
        return x->line < y->line ? -1 : 1;
    return x->col != y->col ? (x->col < y->col ? -1 : 1) : (int)x->level - (int)y->level;
}

struct check *check_run(const char *file, const char *text, size_t len,
                        const struct check_options *o)
{
    struct check *c = xcalloc(1, sizeof *c);
    struct manifest *m = NULL;
    struct pd_err err;
    c->file = xstrdup(file);
    check_look(c, text, len);
    size_t looked = c->n;
    if (manifest_load(file, text, len, o->var, o->arg, &m, &err) != PD_OK)
        check_unreadable(c, text, len, &err);
    for (size_t i = 0; m && i < m->n; i++)
        document(c, &m->docs[i], o);
    if (m && o->answer)
        check_answer(c, m, o->answer);
    manifest_free(m);
    drop_echoes(c, looked);
    if (c->n)
        qsort(c->v, c->n, sizeof *c->v, by_line);
    return c;
}

void check_free(struct check *c)
{
    if (!c)
        return;
    for (size_t i = 0; i < c->n; i++)
        release(&c->v[i]);
    for (size_t i = 0; i < c->objects_n; i++) {
        free(c->objects[i].kind);
        free(c->objects[i].name);
    }
    free(c->v);
    free(c->objects);
    free(c->file);
    free(c);
}

size_t check_errors(const struct check *c)
{
    size_t n = 0;
    for (size_t i = 0; i < c->n; i++)
        n += c->v[i].level == CHECK_ERROR;
    return n;
}

struct json *check_json(const struct check *c)
{
    struct json *o = json_new_object(), *objects = json_new_array(), *found = json_new_array();
    json_put_str(o, "file", c->file);
    for (size_t i = 0; i < c->objects_n; i++) {
        struct json *x = json_new_object();
        json_put_str(x, "kind", c->objects[i].kind);
        json_put_str(x, "name", c->objects[i].name);
        json_put_num(x, "line", c->objects[i].line);
        json_append(objects, x);
    }
    for (size_t i = 0; i < c->n; i++) {
        const struct check_finding *f = &c->v[i];
        struct json *x = json_new_object();
        json_put_str(x, "level", f->level == CHECK_ERROR ? "error" : "warning");
        json_put_str(x, "cause", f->cause);
        json_put_num(x, "line", f->line);
        json_put_num(x, "column", f->col);
        json_put_str(x, "path", f->path);
        json_put_str(x, "message", f->said);
        json_put_bool(x, "server", f->servers);
        json_put_str(x, "why", f->why);
        json_put_str(x, "next", f->next);
        json_append(found, x);
    }
    json_set(o, "objects", objects);
    json_set(o, "findings", found);
    return o;
}
