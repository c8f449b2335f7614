/* json_make.c - making and changing JSON trees (json.h). */
#include "core/base/json_share_io.h"

#include "core/base/mem.h"

static inline cJSON *raw(const struct json *j)
{
    return (cJSON *)j;
}

static struct json *made(cJSON *c)
{
    if (!c)
        PD_BUG("out of memory in a JSON tree");
    return (struct json *)c;
}

struct json *json_new_object(void) { return made(cJSON_CreateObject()); }
struct json *json_new_array(void) { return made(cJSON_CreateArray()); }
struct json *json_new_string(const char *s) { return made(cJSON_CreateString(s)); }
struct json *json_new_number(double v) { return made(cJSON_CreateNumber(v)); }
/* One that a double can't hold keeps its digits beside the number. */
struct json *json_new_integer(int64_t v)
{
    enum { EXACT = 53 };
    cJSON *c = cJSON_CreateNumber((double)v);
    if (c && (v > (INT64_C(1) << EXACT) || v < -(INT64_C(1) << EXACT))) {
        char digits[24];
        size_t n = strlen(str_fmt(digits, sizeof digits, "%" PRId64, v)) + 1;
        c->valuestring = memcpy(cJSON_malloc(n), digits, n);
    }
    return made(c);
}

struct json *json_new_bool(bool v) { return made(cJSON_CreateBool(v)); }
struct json *json_new_null(void) { return made(cJSON_CreateNull()); }

struct json *json_new_string_n(const char *s, size_t n)
{
    char *copy = xstrndup(s, n);
    struct json *j = json_new_string(copy);
    free(copy);
    return j;
}

void json_set(struct json *obj, const char *key, struct json *value)
{
    assert(json_type(obj) == JSON_OBJECT && value);
    json_must_be_own(obj);
    cJSON *old = cJSON_GetObjectItemCaseSensitive(raw(obj), key), *v = json_to_node(value);
    if (!old) {
        cJSON_AddItemToObject(raw(obj), key, v);
        return;
    }
    if (v->string && !(v->type & cJSON_StringIsConst))
        cJSON_free(v->string);
    size_t n = strlen(key) + 1;
    v->string = memcpy(cJSON_malloc(n), key, n);
    v->type &= ~cJSON_StringIsConst;
    json_drop_bridges(old);
    cJSON_ReplaceItemViaPointer(raw(obj), old, v);
}

void json_put_str(struct json *obj, const char *key, const char *s)
{
    if (s)
        json_set(obj, key, json_new_string(s));
}

void json_put_num(struct json *obj, const char *key, double v)
{
    json_set(obj, key, json_new_number(v));
}

void json_put_bool(struct json *obj, const char *key, bool v)
{
    json_set(obj, key, json_new_bool(v));
}

/* Split the last member off a path: "a.b['c']" gives "a.b" and "c". */
static void split_last(const char *path, char *head, size_t head_size, char *key, size_t key_size)
{
    size_t n = strlen(path);
    if (n > 2 && path[n - 1] == ']' && path[n - 2] == '\'') {
        size_t start = n - 2;
        while (start > 0 && !(path[start - 1] == '\'' && start > 1 && path[start - 2] == '['))
            start--;
        str_fmt(key, key_size, "%.*s", (int)(n - 2 - start), path + start);
        str_fmt(head, head_size, "%.*s", (int)(start >= 2 ? start - 2 : 0), path);
        return;
    }
    const char *dot = strrchr(path, '.');
    str_fmt(key, key_size, "%s", dot ? dot + 1 : path);
    str_fmt(head, head_size, "%.*s", dot ? (int)(dot - path) : 0, path);
}

void json_put_path(struct json *root, const char *path, struct json *value)
{
    char head[512], key[320];
    split_last(path, head, sizeof head, key, sizeof key);
    struct json *parent = head[0] ? json_at_mut(root, head) : root;
    if (json_type(parent) != JSON_OBJECT) {
        json_put_path(root, head, json_new_object());
        parent = json_at_mut(root, head);
    }
    json_set(parent, key, value);
}

void json_append(struct json *array, struct json *value)
{
    assert(json_type(array) == JSON_ARRAY && value);
    json_must_be_own(array);
    cJSON_AddItemToArray(raw(array), json_to_node(value));
}

void json_insert(struct json *array, size_t index, struct json *value)
{
    assert(json_type(array) == JSON_ARRAY && value);
    /* cJSON_InsertItemInArray refuses an index above 0 in Debian's 1.7.15-1+deb12u4:
     * append, then move what comes behind it to the end. */
    size_t behind = json_count(array) > index ? json_count(array) - index : 0;
    json_append(array, value);
    for (; behind > 0; behind--)
        json_append(array, json_detach_item(array, index));
}

struct json *json_detach(struct json *obj, const char *key)
{
    if (json_type(obj) != JSON_OBJECT)
        return NULL;
    json_must_be_own(obj);
    return (struct json *)cJSON_DetachItemFromObjectCaseSensitive(raw(obj), key);
}

struct json *json_detach_item(struct json *array, size_t index)
{
    if (json_type(array) != JSON_ARRAY)
        return NULL;
    json_must_be_own(array);
    return (struct json *)cJSON_DetachItemFromArray(raw(array), (int)index);
}

void json_remove(struct json *obj, const char *key)
{
    json_free(json_detach(obj, key));
}

void json_replace(struct json *parent, struct json *old, struct json *value)
{
    const char *key = json_key(old);
    if (key && json_type(parent) == JSON_OBJECT) {
        char *copy = xstrdup(key);
        json_set(parent, copy, value);
        free(copy);
    } else {
        json_must_be_own(parent);
        json_drop_bridges(raw(old));
        cJSON_ReplaceItemViaPointer(raw(parent), raw(old), json_to_node(value));
    }
}
