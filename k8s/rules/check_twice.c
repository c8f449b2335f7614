/* check_twice.c - entries of a list that have the same key: a plain create may take
 * them (the last one wins), server-side apply refuses them (check_in.h). */
#include "k8s/rules/check_in.h"

#include "core/base/i18n.h"
#include "core/base/mem.h"

struct twice {
    struct check *c;
    const struct manifest_doc *d;
    size_t from;                 /* the findings of this document */
    int depth;
};

/* [name="A"], as structured-merge-diff writes an element; "" when it has no key. */
static void element_key(const struct schema_field *f, const struct json *e, char *out, size_t size)
{
    struct strv keys;
    struct str s;
    strv_init(&keys);
    str_init(&s, size);
    strv_split(&keys, f->list_keys ? f->list_keys : "", ',');
    for (size_t i = 0; i < keys.n; i++) {
        const struct json *v = json_get(e, keys.v[i]);
        const struct schema_field *k = schema_field(f->ref, keys.v[i]);
        char *text = v ? json_text(v, 0) : xstrdup(k && k->def ? k->def : "");
        if (*text)
            str_printf(&s, "%s%s=%s", s.len ? "," : "", keys.v[i], text);
        free(text);
    }
    str_fmt(out, size, "%s%s%s", s.len ? "[" : "", s.p, s.len ? "]" : "");
    str_release(&s);
    strv_release(&keys);
}

static void object(struct twice *t, const struct schema_type *type, const struct json *o,
                   const char *path, const char *keyed);

static void told(struct twice *t, const char *at, const char *keyed, const char *key)
{
    if (check_covered(t->c, t->from, t->c->n, at))
        return;
    char *said = xasprintf("%s: duplicate entries for key %s", keyed, key);
    struct check_finding *f = check_add(t->c, CHECK_ERROR, "duplicate-entry", at, said);
    f->servers = true;
    if (f->path)
        manifest_place(t->d, at, &f->line, &f->col);
    check_say(f, xasprintf(_("two entries have the same key %s; server-side apply refuses that, "
                             "and without it the last one wins"), key),
              xstrdup(_("keep one of the two")));
    free(said);
}

static void list(struct twice *t, const struct schema_field *f, const struct json *a,
                 const char *path, const char *keyed)
{
    char at[400], below[400], key[160], first[64];
    struct strv seen;
    int i = 0;
    strv_init(&seen);
    str_fmt(first, sizeof first, "%.*s",
            (int)strcspn(f->list_keys ? f->list_keys : "", ","), f->list_keys ? f->list_keys : "");
    for (const struct json *e = json_first(a); e; e = json_next(e), i++) {
        element_key(f, e, key, sizeof key);
        str_fmt(at, sizeof at, "%s[%d].%s", path, i, first);
        if (*key && strv_has(&seen, key))
            told(t, at, keyed, key);
        strv_push(&seen, key);
        str_fmt(at, sizeof at, "%s[%d]", path, i);
        if (*key)
            str_fmt(below, sizeof below, "%s%s", keyed, key);
        else
            str_fmt(below, sizeof below, "%s[%d]", keyed, i);
        if (f->ref)
            object(t, f->ref, e, at, below);
    }
    strv_release(&seen);
}

static void object(struct twice *t, const struct schema_type *type, const struct json *o,
                   const char *path, const char *keyed)
{
    char at[400], below[400];
    if (t->depth > 20)
        return;
    t->depth++;
    for (const struct json *m = json_first(o); m; m = json_next(m)) {
        const struct schema_field *f = json_key(m) ? schema_field(type, json_key(m)) : NULL;
        if (!f || f->base != SCHEMA_OBJECT || f->atomic)
            continue;
        str_fmt(at, sizeof at, "%s%s%s", path, *path ? "." : "", f->name);
        str_fmt(below, sizeof below, "%s.%s", keyed, f->name);
        if (f->shape == SCHEMA_LIST && f->list != SCHEMA_ATOMIC)
            list(t, f, m, at, below);
        else if (f->shape == SCHEMA_ONE)
            object(t, f->ref, m, at, below);
    }
    t->depth--;
}

void check_twice(struct check *c, const struct manifest_doc *d, const struct schema_type *type,
                 size_t from)
{
    struct twice t = {c, d, from, 0};
    object(&t, type, d->object, "", "");
}
