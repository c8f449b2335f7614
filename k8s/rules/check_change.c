/* check_change.c - what was there before, and what of it is another now
 * (check_in.h). */
#include "core/base/mem.h"
#include "k8s/rules/check_in.h"

struct json *check_before(const struct manifest *before, const struct json *object)
{
    for (size_t i = 0; before && i < before->n; i++) {
        const struct json *o = before->docs[i].object;
        const struct res *r = before->docs[i].res;
        if (!r || r != res_of(object) ||
            strcmp(json_str(o, "metadata.name", ""), json_str(object, "metadata.name", "-")) != 0)
            continue;
        struct json *old = json_copy(o);
        char *wrong = NULL;
        struct strv unknown;
        strv_init(&unknown);
        strict_decode(schema_type(json_str(o, "apiVersion", ""), r->kind), old, &unknown, &wrong);
        strv_release(&unknown);
        free(wrong);
        json_put_path(old, "metadata.uid",
                      json_new_string("00000000-0000-0000-0000-000000000000"));
        defaults_apply(r, old);
        defaults_create(r, old);
        return old;
    }
    return NULL;
}

/* The first member or element that differs; *at grows to its path. */
static bool differ(const struct json *a, const struct json *b, char at[400])
{
    size_t n = strlen(at);
    int i = 0;
    if (json_equal(a, b))
        return false;
    bool object = json_type(a) == JSON_OBJECT && json_type(b) == JSON_OBJECT;
    bool array = json_type(a) == JSON_ARRAY && json_type(b) == JSON_ARRAY;
    for (const struct json *m = object || array ? json_first(b) : NULL; m; m = json_next(m), i++) {
        const struct json *was = object ? json_get(a, json_key(m)) : json_item(a, i);
        if (json_equal(was, m))
            continue;
        if (object)
            str_fmt(at + n, 400 - n, ".%s", json_key(m));
        else
            str_fmt(at + n, 400 - n, "[%d]", i);
        return differ(was, m, at) || true;
    }
    return true;
}

const char *check_change(const struct json *old, const struct json *new, const char *path,
                         char buf[400])
{
    str_fmt(buf, 400, "%s", path);
    if (!differ(old, new, buf))
        buf[0] = '\0';
    return buf;
}
