/* yaml_tree.c - reading YAML trees by path, JSON out, and block-style printing
 * (yaml.h). */
#include "core/base/mem.h"
#include "core/base/yaml.h"
#include "core/base/yaml_scalar.h"

const struct ynode *yaml_get(const struct ynode *map, const char *key)
{
    if (map && map->kind == Y_MAP)
        for (const struct ynode *c = map->first; c; c = c->next)
            if (strcmp(c->key, key) == 0)
                return c;
    return NULL;
}

static const struct ynode *item(const struct ynode *seq, int index)
{
    if (!seq || seq->kind != Y_SEQ || index < 0)
        return NULL;
    const struct ynode *c = seq->first;
    while (c && index-- > 0)
        c = c->next;
    return c;
}

/* One step of a path; NULL when it leads nowhere. *path moves on either way. */
static const struct ynode *step(const struct ynode *n, const char **path)
{
    char key[320];
    const char *p = *path;
    if (*p == '.')
        p++;
    if (p[0] == '[' && p[1] != '\'') {
        const char *end = strchr(p, ']');
        *path = end ? end + 1 : p + strlen(p);
        return item(n, atoi(p + 1));
    }
    if (p[0] == '[') {
        const char *end = strstr(p, "']");
        size_t len = end ? (size_t)(end - p - 2) : 0;
        str_fmt(key, sizeof key, "%.*s", (int)len, p + 2);
        *path = end ? end + 2 : p + strlen(p);
        return yaml_get(n, key);
    }
    size_t len = strcspn(p, ".[");
    str_fmt(key, sizeof key, "%.*s", (int)len, p);
    *path = p + len;
    return yaml_get(n, key);
}

const struct ynode *yaml_at(const struct ynode *n, const char *path)
{
    while (n && *path)
        n = step(n, &path);
    return n;
}

const struct ynode *yaml_locate(const struct ynode *root, const char *path)
{
    const struct ynode *n = root;
    while (n && *path) {
        const struct ynode *next = step(n, &path);
        if (!next)
            break;
        n = next;
    }
    return n;
}

const char *yaml_str(const struct ynode *map, const char *key, const char *def)
{
    const struct ynode *n = yaml_get(map, key);
    return n && n->kind != Y_MAP && n->kind != Y_SEQ && n->kind != Y_NULL ? n->text : def;
}

size_t yaml_count(const struct ynode *n)
{
    size_t count = 0;
    if (n && (n->kind == Y_SEQ || n->kind == Y_MAP))
        for (const struct ynode *c = n->first; c; c = c->next)
            count++;
    return count;
}

struct json *yaml_to_json(const struct ynode *n)
{
    struct json *j;
    switch (n ? n->kind : Y_NULL) {
    case Y_BOOL: return json_new_bool(n->number != 0);
    case Y_INT:
    case Y_FLOAT: return json_new_number(n->number);
    case Y_STRING: return json_new_string(n->text);
    case Y_SEQ:
        j = json_new_array();
        for (const struct ynode *c = n->first; c; c = c->next)
            json_append(j, yaml_to_json(c));
        return j;
    case Y_MAP:
        j = json_new_object();
        for (const struct ynode *c = n->first; c; c = c->next)
            json_set(j, c->key, yaml_to_json(c));
        return j;
    default: return json_new_null();
    }
}

/* --- print ------------------------------------------------------------------- */

static void indent_by(int n, struct str *out)
{
    for (int i = 0; i < n; i++)
        str_addc(out, ' ');
}

static bool plain_safe(const char *s)
{
    double number;
    if (!*s || yaml_scalar_kind(s, &number) != Y_STRING || strchr("-?:,[]{}#&*!|>'\"%@` =<", *s))
        return false;
    for (const char *p = s; *p; p++) {
        if ((unsigned char)*p < 0x20 || *p == 0x7F || (*p == ':' && (!p[1] || p[1] == ' ')) ||
            (*p == ' ' && (p[1] == '#' || !p[1])))
            return false;
    }
    return true;
}

static void print_text(const char *s, struct str *out)
{
    if (plain_safe(s)) {
        str_add(out, s);
        return;
    }
    struct json *j = json_new_string(s);             /* JSON strings are YAML strings */
    json_print(j, 0, out);
    json_free(j);
}

static bool is_block(const struct json *j)
{
    enum json_type t = json_type(j);
    return (t == JSON_ARRAY || t == JSON_OBJECT) && json_first(j);
}

static void print_lines(const char *s, int indent, struct str *out)
{
    str_add(out, str_ends(s, "\n") ? "|\n" : "|-\n");
    while (*s) {
        size_t n = strcspn(s, "\n");
        if (n > 0)
            indent_by(indent, out);
        str_append(out, s, n);
        str_addc(out, '\n');
        s += n + (s[n] == '\n');
    }
}

static void print_value(const struct json *j, int indent, struct str *out);

static bool fits_lines(const char *s)
{
    if (!s || !strchr(s, '\n') || *s == ' ' || *s == '\n' || str_ends(s, "\n\n"))
        return false;
    for (; *s; s++)
        if ((unsigned char)*s < 0x20 && *s != '\n')
            return false;
    return true;
}

/* A value behind "key:" or "-". */
static void print_behind(const struct json *v, int indent, struct str *out)
{
    const char *s = json_string_value(v);
    if (is_block(v)) {
        str_addc(out, '\n');
        print_value(v, indent, out);
    } else if (fits_lines(s)) {
        str_addc(out, ' ');
        print_lines(s, indent, out);
    } else {
        str_addc(out, ' ');
        if (s)
            print_text(s, out);
        else
            json_print(v, 0, out);
        str_addc(out, '\n');
    }
}

static void print_map(const struct json *j, int indent, bool first_inline, struct str *out)
{
    for (const struct json *c = json_first(j); c; c = json_next(c)) {
        if (!first_inline)
            indent_by(indent, out);
        first_inline = false;
        print_text(json_key(c), out);
        str_addc(out, ':');
        print_behind(c, json_type(c) == JSON_ARRAY ? indent : indent + 2, out);
    }
}

static void print_value(const struct json *j, int indent, struct str *out)
{
    if (json_type(j) == JSON_OBJECT) {
        print_map(j, indent, false, out);
        return;
    }
    for (const struct json *c = json_first(j); c; c = json_next(c)) {
        indent_by(indent, out);
        str_addc(out, '-');
        if (json_type(c) == JSON_OBJECT && json_first(c)) {
            str_addc(out, ' ');
            print_map(c, indent + 2, true, out);
        } else {
            print_behind(c, indent + 2, out);
        }
    }
}

void yaml_print(const struct json *j, struct str *out)
{
    if (is_block(j)) {
        print_value(j, 0, out);
        return;
    }
    const char *s = json_string_value(j);
    if (s)
        print_text(s, out);
    else
        json_print(j, 0, out);
    str_addc(out, '\n');
}
