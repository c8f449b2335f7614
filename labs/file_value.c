/* file_value.c - reads one field of a work file, and of its template. */
#include "labs/file_value.h"

#include "core/base/i18n.h"
#include "labs/match.h"
#include "labs/session_priv.h"

/* The document of a kind (NULL: the first), or NULL. */
static const struct ynode *document(const struct ydoc *docs, const char *kind)
{
    for (const struct ydoc *d = docs; d; d = d->next)
        if (d->root && (!kind || str_eq(yaml_str(d->root, "kind", ""), kind)))
            return d->root;
    return NULL;
}

static struct json *field(const struct ynode *root, const char *path)
{
    if (!root)
        return NULL;
    struct json *all = yaml_to_json(root);
    const struct json *v = json_at(all, path);
    struct json *copy = v ? json_copy(v) : NULL;
    json_free(all);
    return copy;
}

bool file_value(const struct check_ctx *c, const char *file, const char *kind, const char *path,
                struct json **value, struct evidence *ev)
{
    bool known;
    const char *text = session_file(c->s, file, &known);
    check_subject(ev, "%s", file);
    str_copy(ev->path, sizeof ev->path, path);
    if (!text) {
        check_set(ev, known ? CHECK_NOT_YET : CHECK_UNKNOWN, "%s",
                  known ? _("the file is not there") : _("the file has not been read yet"));
        return false;
    }
    struct ydoc *docs = NULL;
    struct pd_err err;
    if (yaml_parse(file, text, strlen(text), &docs, &err)) {
        check_subject(ev, "%s:%d:%d", file, err.line, err.col);
        ev->path[0] = '\0';
        check_set(ev, CHECK_WRONG, "%s", err.msg);
        return false;
    }
    const struct ynode *root = document(docs, kind);
    const struct ynode *at = root ? yaml_locate(root, path) : NULL;
    *value = field(root, path);
    if (at)
        check_subject(ev, "%s:%d:%d", file, at->line, at->col);
    struct str s;
    str_init(&s, 4096);
    match_actual(*value, &s);
    str_copy(ev->actual, sizeof ev->actual, s.p);
    str_release(&s);
    yaml_docs_free(docs);
    return true;
}

static const struct lab_file *template(const struct check_ctx *c, const char *file)
{
    for (int i = 0; i < c->s->lab->steps_n; i++) {
        const struct lab_step *step = &c->s->lab->steps[i];
        for (int k = 0; k < step->files_n; k++)
            if (str_eq(step->files[k].name, file))
                return &step->files[k];
    }
    return NULL;
}

bool file_untouched(const struct check_ctx *c, const char *file, const char *kind,
                    const char *path, const struct json *value)
{
    const struct lab_file *f = template(c, file);
    struct ydoc *docs = NULL;
    struct pd_err err;
    if (!f || yaml_parse(file, f->text, f->len, &docs, &err))
        return false;
    struct json *was = field(document(docs, kind), path);
    bool same = value && was ? json_equal(value, was) : value == was;
    json_free(was);
    yaml_docs_free(docs);
    return same;
}
