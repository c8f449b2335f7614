/* strict.c - holds a decoded body against the schema table: unknown and
 * duplicate fields, wrong types, with the API server's sentences.
 */
#include "core/base/base.h"

#include <math.h>

#include "core/base/mem.h"
#include "k8s/rules/rules.h"
#include "k8s/quantity.h"

struct walk {
    strict_fn *fn;
    void *arg;
    struct str path;             /* "spec.containers[0].image" */
    int depth;
};

static void object(struct walk *w, const struct schema_type *t, struct json *obj);

/* --- sentences --- */

static const char *json_word(const struct json *v)
{
    static const char *const words[] = {"nothing", "null", "bool", "number", "string", "array",
                                        "object"};
    return words[json_type(v)];
}

/* "v1.Container" of "core.v1.Container". */
static const char *go_name(const struct schema_type *t)
{
    const char *dot = strchr(t->name, '.');
    return dot ? dot + 1 : t->name;
}

static void go_type(const struct schema_field *f, bool element, char *buf, size_t size)
{
    static const char *const words[] = {"string",  "int32",     "int64",  "bool",
                                        "float64", "string",    "string", "[]uint8",
                                        "string",  "intstr.IntOrString", "object", ""};
    const char *base = f->ref ? go_name(f->ref) : words[f->base];
    const char *shape = element || f->shape == SCHEMA_ONE ? ""
                        : f->shape == SCHEMA_LIST         ? "[]"
                                                          : "map[string]";
    str_fmt(buf, size, "%s%s", shape, base);
}

/* The path as Go's decoder tells it: no indices. */
static void go_path(const struct str *path, struct str *out)
{
    for (const char *p = path->p; *p; p++) {
        if (*p == '[')
            p = strchr(p, ']');
        else
            str_addc(out, *p);
        if (!p)
            return;
    }
}

static void note(struct walk *w, enum strict_kind kind, const struct schema_type *t,
                 const struct schema_field *f, const struct json *v, const char *text)
{
    struct strict_note n = {kind, w->path.p, text, t, f, v};
    w->fn(w->arg, &n);
}

static void cut(struct walk *w, size_t len)
{
    w->path.len = len;
    w->path.p[len] = '\0';
}

/* What stands for a value of the wrong type from here on, so that whoever reads the
 * object further finds types only that the schema has. */
static struct json *neutral(const struct schema_field *f, bool element)
{
    if (!element && f->shape == SCHEMA_LIST)
        return json_new_array();
    if ((!element && f->shape == SCHEMA_MAP) || f->base == SCHEMA_OBJECT)
        return json_new_object();
    if (f->base == SCHEMA_BOOL)
        return json_new_bool(false);
    bool number = f->base == SCHEMA_INT32 || f->base == SCHEMA_INT64 || f->base == SCHEMA_DOUBLE ||
                  f->base == SCHEMA_INT_OR_STRING;
    return number ? json_new_number(0) : json_new_string("");
}

static void wrong_type(struct walk *w, const struct schema_type *t, const struct schema_field *f,
                       bool element, struct json *parent, struct json *v)
{
    char type[160], number[40] = "";
    struct str path;
    str_init(&path, 4096);
    go_path(&w->path, &path);
    go_type(f, element, type, sizeof type);
    if (json_type(v) == JSON_NUMBER && (f->base == SCHEMA_INT32 || f->base == SCHEMA_INT64))
        str_fmt(number, sizeof number, " %.17g", json_number_value(v));
    const char *owner = strrchr(t->name, '.');
    char *text = xasprintf("json: cannot unmarshal %s%s into Go struct field %s.%s of type %s",
                           json_word(v), number, owner ? owner + 1 : t->name, path.p, type);
    note(w, STRICT_TYPE, t, f, v, text);
    json_replace(parent, v, neutral(f, element));
    free(text);
    str_release(&path);
}

/* --- values --- */

static bool whole(const struct json *v, double limit)
{
    double d = json_number_value(v);
    return json_type(v) == JSON_NUMBER && d == floor(d) && fabs(d) <= limit;
}

static bool fits(const struct schema_field *f, const struct json *v)
{
    enum json_type type = json_type(v);
    switch (f->base) {
    case SCHEMA_STRING:
    case SCHEMA_TIME:
    case SCHEMA_MICROTIME:
    case SCHEMA_BYTES: return type == JSON_STRING;
    case SCHEMA_INT32: return whole(v, 2147483648.0);
    case SCHEMA_INT64: return whole(v, 9.3e18);
    case SCHEMA_BOOL: return type == JSON_BOOL;
    case SCHEMA_DOUBLE: return type == JSON_NUMBER;
    case SCHEMA_QUANTITY: return type == JSON_STRING || type == JSON_NUMBER;
    case SCHEMA_INT_OR_STRING: return type == JSON_STRING || whole(v, 2147483648.0);
    case SCHEMA_OBJECT: return type == JSON_OBJECT;
    case SCHEMA_ANY: return true;
    }
    return true;
}

/* A quantity as the server keeps it: checked, in canonical form. */
static void quantity(struct walk *w, const struct schema_type *t, const struct schema_field *f,
                     struct json *parent, struct json *v)
{
    char *text = json_type(v) == JSON_STRING ? xstrdup(json_string_value(v)) : json_text(v, 0);
    struct quantity q;
    char canonical[64];
    if (!quantity_parse(text, &q))
        note(w, STRICT_VALUE, t, f, v,
             "quantities must match the regular expression "
             "'^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'");
    else if (strcmp(quantity_text(&q, canonical), text) != 0 || json_type(v) == JSON_NUMBER)
        json_replace(parent, v, json_new_string(canonical));
    free(text);
}

/* Behind the first '=' of a group of j letters: a second one, then line ends. */
static long base64_padding(const char *s, long n, long i, int j)
{
    i += (long)strspn(s + i, "\r\n");
    if (j == 2 && i == n)
        return n;
    if (j == 2 && s[i++] != '=')
        return i - 2;
    i += (long)strspn(s + i, "\r\n");
    return i < n ? i : -1;
}

/* Where Go's base64 stops, or -1: it does not. Line ends are skipped. */
static long base64_stop(const char *s)
{
    static const char letters[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    long n = (long)strlen(s), i = 0;
    int j = 0;
    for (; i < n; i++) {
        if (s[i] == '\n' || s[i] == '\r')
            continue;
        if (s[i] == '=')
            break;
        if (!strchr(letters, s[i]))
            return i;
        j = (j + 1) % 4;
    }
    if (i == n)
        return j ? i - j : -1;
    return j < 2 ? i : base64_padding(s, n, i + 1, j);
}

static void bytes(struct walk *w, const struct schema_type *t, const struct schema_field *f,
                  const struct json *v)
{
    char text[80];
    long stop = base64_stop(json_string_value(v));
    if (stop >= 0)
        note(w, STRICT_VALUE, t, f, v,
             str_fmt(text, sizeof text, "illegal base64 data at input byte %ld", stop));
}

static void value(struct walk *w, const struct schema_type *t, const struct schema_field *f,
                  bool element, struct json *parent, struct json *v)
{
    if (!fits(f, v))
        wrong_type(w, t, f, element, parent, v);
    else if (f->base == SCHEMA_OBJECT)
        object(w, f->ref, v);
    else if (f->base == SCHEMA_QUANTITY)
        quantity(w, t, f, parent, v);
    else if (f->base == SCHEMA_BYTES)
        bytes(w, t, f, v);
}

static void list(struct walk *w, const struct schema_type *t, const struct schema_field *f,
                 struct json *a)
{
    size_t base = w->path.len;
    int i = 0;
    for (struct json *c = json_first_mut(a), *next; c; c = next, i++) {
        next = json_next_mut(c);
        str_printf(&w->path, "[%d]", i);
        value(w, t, f, true, a, c);
        cut(w, base);
    }
}

static void map(struct walk *w, const struct schema_type *t, const struct schema_field *f,
                struct json *o)
{
    size_t base = w->path.len;
    for (struct json *m = json_first_mut(o), *next; m; m = next) {
        next = json_next_mut(m);
        if (json_type(m) == JSON_NULL && f->base == SCHEMA_STRING) {
            json_replace(o, m, json_new_string(""));
            continue;
        }
        str_printf(&w->path, "[%s]", json_key(m));
        value(w, t, f, true, o, m);
        cut(w, base);
    }
}

static bool repeated(const struct json *m)
{
    for (const struct json *n = json_next(m); n; n = json_next(n))
        if (!strcmp(json_key(n), json_key(m)))
            return true;
    return false;
}

/* Go leaves empty maps and lists out when it writes an object. */
static bool empty(const struct schema_field *f, const struct json *m)
{
    return (f->shape == SCHEMA_MAP && json_type(m) == JSON_OBJECT && json_count(m) == 0) ||
           (f->shape == SCHEMA_LIST && json_type(m) == JSON_ARRAY && json_count(m) == 0);
}

static void drop(struct json *obj, const struct json *m)
{
    char *key = xstrdup(json_key(m));
    json_remove(obj, key);                        /* the first of that name is m */
    free(key);
}

static void member(struct walk *w, const struct schema_type *t, struct json *obj, struct json *m)
{
    const struct schema_field *f = schema_field(t, json_key(m));
    enum json_type type = json_type(m);
    if (!f || repeated(m)) {
        char *text = xasprintf("%s field \"%s\"", f ? "duplicate" : "unknown", w->path.p);
        note(w, f ? STRICT_DUPLICATE : STRICT_UNKNOWN, t, f, m, text);
        free(text);
        drop(obj, m);
    } else if (type == JSON_NULL || empty(f, m)) {
        drop(obj, m);
    } else if (f->shape == SCHEMA_ONE) {
        value(w, t, f, false, obj, m);
    } else if (type != (f->shape == SCHEMA_LIST ? JSON_ARRAY : JSON_OBJECT)) {
        wrong_type(w, t, f, false, obj, m);
    } else if (f->shape == SCHEMA_LIST) {
        list(w, t, f, m);
    } else {
        map(w, t, f, m);
    }
}

static void object(struct walk *w, const struct schema_type *t, struct json *obj)
{
    size_t base = w->path.len;
    if (!t || w->depth > 100)
        return;
    w->depth++;
    for (struct json *m = json_first_mut(obj), *next; m; m = next) {
        next = json_next_mut(m);
        str_printf(&w->path, "%s%s", base ? "." : "", json_key(m));
        member(w, t, obj, m);
        cut(w, base);
    }
    w->depth--;
}

void strict_walk(const struct schema_type *t, struct json *obj, strict_fn *fn, void *arg)
{
    struct walk w = {.fn = fn, .arg = arg};
    str_init(&w.path, 16 << 10);
    object(&w, t, obj);
    str_release(&w.path);
}

struct decoded {
    struct strv *unknown;
    char **wrong;
};

static void collect(void *arg, const struct strict_note *n)
{
    struct decoded *d = arg;
    if (n->kind == STRICT_UNKNOWN || n->kind == STRICT_DUPLICATE)
        strv_push(d->unknown, n->text);
    else if (!*d->wrong)
        *d->wrong = xstrdup(n->text);
}

void strict_decode(const struct schema_type *t, struct json *obj, struct strv *unknown,
                   char **wrong)
{
    struct decoded d = {unknown, wrong};
    *wrong = NULL;
    strict_walk(t, obj, collect, &d);
}
