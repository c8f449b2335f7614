/* check_level.c - a field that its place does not know: misspelt, or one that
 * belongs to another level of the object (check_in.h). */
#include "k8s/rules/check_in.h"

#include "core/base/i18n.h"
#include "core/base/mem.h"

enum { DEPTH_MAX = 9, NAMES_MAX = 200, PATH_SIZE = 320 };

struct search {
    const char *name;            /* of the field */
    const struct json *value;
    char near[PATH_SIZE];   /* the owner's path, without indices */
    char best[PATH_SIZE];   /* the owner's path of the best place so far */
    size_t common;               /* how far it goes along `near` */
    bool found, fit;
};

/* How many leading characters two paths share, cut at a level. */
static size_t shared(const char *a, const char *b)
{
    size_t n = 0, level = 0;
    for (; a[n] && a[n] == b[n]; n++)
        if (a[n] == '.')
            level = n;
    return (!a[n] || a[n] == '.' || a[n] == '[') && (!b[n] || b[n] == '.' || b[n] == '[') ? n
                                                                                          : level;
}

/* Could the field hold the value that was written? */
static bool fits(const struct schema_field *f, const struct json *v)
{
    enum json_type type = json_type(v);
    if (f->shape == SCHEMA_LIST)
        return type == JSON_ARRAY;
    return (f->shape == SCHEMA_MAP || f->base == SCHEMA_OBJECT) == (type == JSON_OBJECT);
}

static void candidate(struct search *s, const struct schema_field *f, const char *owner)
{
    size_t common = shared(s->near, owner);
    bool fit = fits(f, s->value), better = !s->found || common > s->common;
    if (s->found && common == s->common)
        better = strlen(owner) < strlen(s->best);
    if (s->found && fit != s->fit)
        better = fit;
    if (!better)
        return;
    s->found = true;
    s->fit = fit;
    s->common = common;
    str_copy(s->best, sizeof s->best, owner);
}

static void look(struct search *s, const struct schema_type *t, const char *path, int depth)
{
    char below[PATH_SIZE];
    const struct schema_field *hit = schema_field(t, s->name);
    if (hit)
        candidate(s, hit, path);
    for (int i = 0; i < t->n && depth < DEPTH_MAX; i++) {
        const struct schema_field *f = &t->field[i];
        bool skip = !f->ref || f->ref == t || !strcmp(f->name, "status") ||
                    !strcmp(f->name, "managedFields") || !strcmp(f->name, "ephemeralContainers");
        if (skip)
            continue;
        str_fmt(below, sizeof below, "%s%s%s%s", path, *path ? "." : "", f->name,
                f->shape == SCHEMA_LIST ? "[]" : "");
        look(s, f->ref, below, depth + 1);
    }
}

/* "spec.containers[0].x" -> "spec.containers[]": the owner, without indices. */
static void owner_of(const char *path, char out[PATH_SIZE])
{
    char plain[PATH_SIZE];
    size_t n = 0;
    for (const char *p = path; *p && n + 3 < sizeof plain; p++) {
        plain[n++] = *p;
        if (*p == '[') {
            while (p[1] && p[1] != ']')
                p++;
        }
    }
    plain[n] = '\0';
    char *dot = strrchr(plain, '.');
    if (dot)
        *dot = '\0';
    str_copy(out, PATH_SIZE, dot ? plain : "");
}

static const char *similar(const struct schema_type *t, const char *name)
{
    const char *names[NAMES_MAX];
    size_t n = 0;
    for (int i = 0; i < t->n && n < NAMES_MAX; i++) {
        names[n++] = t->field[i].name;
        if (!strcasecmp(t->field[i].name, name))
            return t->field[i].name;
    }
    return str_nearest(name, names, n);
}

void check_level(struct check_finding *f, const struct schema_type *root,
                 const struct strict_note *n)
{
    struct search s = {.name = json_key(n->value), .value = n->value};
    owner_of(n->path, s.near);
    look(&s, root, "", 0);
    const char *near = similar(n->owner, s.name);
    const char *here = *s.near ? s.near : _("the top of the object");
    if (s.found && !(near && !strcasecmp(near, s.name))) {
        str_copy(f->cause, sizeof f->cause, "field-wrong-level");
        check_say(f, xasprintf(_("%s is no field of %s; it belongs to %s"), s.name, here,
                               *s.best ? s.best : _("the top of the object")),
                  strlen(s.best) < strlen(s.near)
                      ? xasprintf(_("move it up to %s (fewer blanks before it)"),
                                  *s.best ? s.best : _("the top of the object"))
                      : xasprintf(_("move it down into %s (more blanks before it)"), s.best));
        return;
    }
    check_say(f, xasprintf(_("%s has no field %s"), here, s.name),
              near ? xasprintf(_("did you mean %s?"), near)
                   : xstrdup(_("look the fields up with kubectl explain, or take it out")));
    if (near)
        str_copy(f->cause, sizeof f->cause, "field-misspelt");
}
