/* yaml_tree.c - reading YAML trees by path (yaml.h). */
#include "core/base/yaml.h"

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
