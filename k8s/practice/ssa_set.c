/* ssa_set.c - sets of field paths (ssa_set.h): conversion, algebra, printing. */
#include "k8s/practice/ssa_set.h"

#include "core/base/mem.h"

static bool is_member(const struct json *node)
{
    return json_get(node, ".") != NULL;
}

struct json *ssa_set_expand(const struct json *wire)
{
    struct json *out = json_new_object();
    if (json_count(wire) == 0)
        json_set(out, ".", json_new_object());
    for (const struct json *m = json_first(wire); m; m = json_next(m)) {
        if (!strcmp(json_key(m), "."))
            json_set(out, ".", json_new_object());
        else if (json_type(m) == JSON_OBJECT)
            json_set(out, json_key(m), ssa_set_expand(m));
    }
    return out;
}

struct json *ssa_set_compact(const struct json *set)
{
    struct json *out = json_new_object();
    bool lone = json_count(set) == 1 && is_member(set);
    for (const struct json *m = json_first(set); m && !lone; m = json_next(m)) {
        if (!strcmp(json_key(m), "."))
            json_set(out, ".", json_new_object());
        else
            json_set(out, json_key(m), ssa_set_compact(m));
    }
    return out;
}

void ssa_set_add(struct json *to, const struct json *set)
{
    for (const struct json *m = json_first(set); m; m = json_next(m)) {
        struct json *have = json_get_mut(to, json_key(m));
        if (!have)
            json_set(to, json_key(m), json_copy(m));
        else
            ssa_set_add(have, m);
    }
}

void ssa_set_drop(struct json *from, const struct json *set)
{
    for (const struct json *m = json_first(set); m; m = json_next(m)) {
        struct json *have = json_get_mut(from, json_key(m));
        if (!have)
            continue;
        if (strcmp(json_key(m), ".") != 0)
            ssa_set_drop(have, m);
        if (json_count(have) == 0)
            json_remove(from, json_key(m));
    }
}

struct json *ssa_set_common(const struct json *a, const struct json *b)
{
    struct json *out = json_new_object();
    for (const struct json *m = json_first(a); m; m = json_next(m)) {
        const struct json *other = json_get(b, json_key(m));
        if (!other)
            continue;
        if (!strcmp(json_key(m), ".")) {
            json_set(out, ".", json_new_object());
            continue;
        }
        struct json *common = ssa_set_common(m, other);
        if (json_count(common) > 0)
            json_set(out, json_key(m), common);
        else
            json_free(common);
    }
    return out;
}

size_t ssa_set_count(const struct json *set)
{
    size_t n = is_member(set);
    for (const struct json *m = json_first(set); m; m = json_next(m))
        if (strcmp(json_key(m), ".") != 0)
            n += ssa_set_count(m);
    return n;
}

/* "k:{\"name\":\"c\",\"port\":1}" as [name="c",port=1]. */
static void print_key(const char *text, struct str *path)
{
    struct json *key;
    struct pd_err err;
    if (json_parse(text, strlen(text), &key, &err) != PD_OK)
        return;
    str_addc(path, '[');
    for (const struct json *m = json_first(key); m; m = json_next(m)) {
        str_printf(path, "%s%s=", m == json_first(key) ? "" : ",", json_key(m));
        json_print(m, 0, path);
    }
    str_addc(path, ']');
    json_free(key);
}

static void print_paths(const struct json *set, struct str *path, struct strv *out)
{
    size_t base = path->len;
    if (is_member(set))
        strv_push(out, path->p);
    for (const struct json *m = json_first(set); m; m = json_next(m)) {
        const char *key = json_key(m);
        if (str_starts(key, "f:"))
            str_printf(path, ".%s", key + 2);
        else if (str_starts(key, "k:"))
            print_key(key + 2, path);
        else if (str_starts(key, "v:"))
            str_printf(path, "[=%s]", key + 2);
        else
            continue;
        print_paths(m, path, out);
        path->len = base;
        path->p[base] = '\0';
    }
}

void ssa_set_paths(const struct json *set, struct strv *out)
{
    struct str path;
    str_init(&path, 16 << 10);
    print_paths(set, &path, out);
    str_release(&path);
}
