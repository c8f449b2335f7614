/* patch.c - JSON Patch (RFC 6902) and JSON Merge Patch (RFC 7386). */
#include "k8s/practice/patch.h"

#include "core/base/mem.h"

/* --- RFC 6902 --- */

struct spot {
    struct json *parent;         /* NULL: the root itself */
    char *key;                   /* last part of the pointer, decoded */
    struct json *value;          /* what is there now, or NULL */
};

static void decode_token(char *s)
{
    char *to = s;
    for (; *s; s++, to++) {
        *to = *s;
        if (*s == '~' && (s[1] == '0' || s[1] == '1'))
            *to = *++s == '0' ? '~' : '/';
    }
    *to = '\0';
}

/* "0", "12": no sign, no leading zero. -1 when it is none. */
static int64_t index_of(const char *s)
{
    int64_t i;
    if (!*s || strspn(s, "0123456789") != strlen(s) || (*s == '0' && s[1]))
        return -1;
    return str_to_i64(s, &i) && i < 1000000 ? i : -1;
}

static struct json *child(struct json *parent, const char *key)
{
    if (json_type(parent) == JSON_OBJECT)
        return json_get_mut(parent, key);
    if (json_type(parent) != JSON_ARRAY)
        return NULL;
    int64_t i = index_of(key);
    struct json *c = json_first_mut(parent);
    for (; c && i > 0; i--)
        c = json_next_mut(c);
    return i == 0 ? c : NULL;
}

static enum pd_code find(struct json *root, const char *pointer, struct spot *out,
                         struct pd_err *err)
{
    out->parent = NULL;
    out->key = NULL;
    out->value = root;
    if (*pointer && *pointer != '/')
        return pd_fail(err, PD_INVALID, "a path begins with '/': %s", pointer);
    while (*pointer) {
        size_t n = strcspn(pointer + 1, "/");
        if (!out->value) {
            free(out->key);
            out->key = NULL;
            return pd_fail(err, PD_INVALID, "the path does not exist: %s", pointer);
        }
        free(out->key);
        out->key = xstrndup(pointer + 1, n);
        decode_token(out->key);
        out->parent = out->value;
        out->value = child(out->parent, out->key);
        pointer += n + 1;
    }
    return PD_OK;
}

/* Takes value. */
static enum pd_code put(struct json **root, const struct spot *at, bool insert,
                        struct json *value, struct pd_err *err)
{
    int64_t n = (int64_t)json_count(at->parent);
    if (!at->parent) {
        json_free(*root);
        *root = value;
        return PD_OK;
    }
    if (json_type(at->parent) == JSON_OBJECT) {
        json_set(at->parent, at->key, value);
        return PD_OK;
    }
    int64_t i = strcmp(at->key, "-") == 0 ? n : index_of(at->key);
    if (json_type(at->parent) != JSON_ARRAY || i < 0 || i > n || (!insert && i == n)) {
        json_free(value);
        return pd_fail(err, PD_INVALID, "no such index: %s", at->key);
    }
    if (insert)
        json_insert(at->parent, (size_t)i, value);
    else
        json_replace(at->parent, at->value, value);
    return PD_OK;
}

static struct json *take(struct spot *at)
{
    if (!at->parent || !at->value)
        return NULL;
    if (json_type(at->parent) == JSON_OBJECT)
        return json_detach(at->parent, at->key);
    return json_detach_item(at->parent, (size_t)index_of(at->key));
}

static enum pd_code op_write(struct json **root, const char *op, const char *path,
                             const struct json *value, struct pd_err *err)
{
    struct spot at;
    enum pd_code code = find(*root, path, &at, err);
    if (code != PD_OK)
        return code;
    bool add = strcmp(op, "add") == 0;
    if (!add && !at.value)
        code = pd_fail(err, PD_INVALID, "nothing to replace at %s", path);
    else
        code = put(root, &at, add, json_copy(value), err);
    free(at.key);
    return code;
}

static enum pd_code op_remove(struct json **root, const char *path, struct json **taken,
                              struct pd_err *err)
{
    struct spot at;
    enum pd_code code = find(*root, path, &at, err);
    if (code != PD_OK)
        return code;
    *taken = take(&at);
    free(at.key);
    return *taken ? PD_OK : pd_fail(err, PD_INVALID, "nothing to remove at %s", path);
}

static enum pd_code op_test(struct json **root, const char *path, const struct json *value,
                            struct pd_err *err)
{
    struct spot at;
    enum pd_code code = find(*root, path, &at, err);
    if (code != PD_OK)
        return code;
    bool same = at.value ? json_equal(at.value, value) : json_type(value) == JSON_NULL;
    free(at.key);
    return same ? PD_OK : pd_fail(err, PD_INVALID, "testing value %s failed", path);
}

static enum pd_code op_from(struct json **root, const char *op, const char *from,
                            const char *path, struct pd_err *err)
{
    struct json *value = NULL;
    enum pd_code code;
    size_t n = strlen(from);
    if (!strcmp(op, "move") && str_starts(path, from) && path[n] == '/')
        return pd_fail(err, PD_INVALID, "%s can't move into itself", from);
    if (!strcmp(op, "move")) {
        code = op_remove(root, from, &value, err);
    } else {
        struct spot at;
        code = find(*root, from, &at, err);
        if (code == PD_OK && at.value)
            value = json_copy(at.value);
        else if (code == PD_OK)
            code = pd_fail(err, PD_INVALID, "nothing to copy at %s", from);
        if (code == PD_OK)
            free(at.key);
    }
    if (code == PD_OK)
        code = op_write(root, "add", path, value, err);
    json_free(value);
    return code;
}

static enum pd_code one_op(struct json **root, const struct json *o, struct pd_err *err)
{
    const char *op = json_string_value(json_get(o, "op"));
    const char *path = json_string_value(json_get(o, "path"));
    const char *from = json_string_value(json_get(o, "from"));
    const struct json *value = json_get(o, "value");
    struct json *gone = NULL;
    if (!op || !path)
        return pd_fail(err, PD_PARSE, "an operation needs \"op\" and \"path\"");
    if (!strcmp(op, "remove")) {
        enum pd_code code = op_remove(root, path, &gone, err);
        json_free(gone);
        return code;
    }
    if (!strcmp(op, "move") || !strcmp(op, "copy"))
        return from ? op_from(root, op, from, path, err)
                    : pd_fail(err, PD_PARSE, "\"%s\" needs \"from\"", op);
    if (strcmp(op, "add") != 0 && strcmp(op, "replace") != 0 && strcmp(op, "test") != 0)
        return pd_fail(err, PD_PARSE, "unknown operation \"%s\"", op);
    if (!value)
        return pd_fail(err, PD_PARSE, "\"%s\" needs \"value\"", op);
    return !strcmp(op, "test") ? op_test(root, path, value, err)
                               : op_write(root, op, path, value, err);
}

enum pd_code patch_json(struct json **doc, const struct json *ops, struct pd_err *err)
{
    if (json_type(ops) != JSON_ARRAY)
        return pd_fail(err, PD_PARSE, "a JSON patch is a list of operations");
    if (json_count(ops) > 10000)
        return pd_fail(err, PD_LIMIT, "a JSON patch has at most 10000 operations");
    struct json *work = json_copy(*doc);      /* all or nothing */
    for (const struct json *o = json_first(ops); o; o = json_next(o)) {
        enum pd_code code = one_op(&work, o, err);
        if (code != PD_OK) {
            json_free(work);
            return code;
        }
    }
    json_free(*doc);
    *doc = work;
    return PD_OK;
}

/* --- RFC 7386 --- */

static void merge_into(struct json *doc, const struct json *patch)
{
    for (const struct json *m = json_first(patch); m; m = json_next(m)) {
        const char *key = json_key(m);
        if (json_type(m) == JSON_NULL) {
            json_remove(doc, key);
        } else if (json_type(m) != JSON_OBJECT) {
            json_set(doc, key, json_copy(m));
        } else {
            if (json_type(json_get(doc, key)) != JSON_OBJECT)
                json_set(doc, key, json_new_object());
            merge_into(json_get_mut(doc, key), m);
        }
    }
}

void patch_merge(struct json **doc, const struct json *patch)
{
    if (json_type(patch) != JSON_OBJECT) {
        json_free(*doc);
        *doc = json_copy(patch);
        return;
    }
    if (json_type(*doc) != JSON_OBJECT) {
        json_free(*doc);
        *doc = json_new_object();
    }
    merge_into(*doc, patch);
}
