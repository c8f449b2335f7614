/* conflict.c - the conflicts of server-side apply (conflict.h). */
#include "k8s/rules/conflict.h"

#include "core/base/mem.h"

bool conflict_is(const struct json *status)
{
    return !strcmp(json_str(status, "details.causes[0].reason", ""), "FieldManagerConflict");
}

/* Length of the bracket at p, quotes honoured; 0: it is not closed. */
static size_t bracket(const char *p)
{
    bool quoted = false;
    for (size_t i = 1; p[i]; i++) {
        if (p[i] == '"')
            quoted = !quoted;
        if (p[i] == ']' && !quoted)
            return i + 1;
    }
    return 0;
}

/* Does e have key=value of [a="x",b=3]? */
static bool has_keys(const struct json *e, const char *p, size_t n)
{
    while (n > 0) {
        const char *eq = memchr(p, '=', n);
        if (!eq)
            return false;
        char *key = xstrndup(p, (size_t)(eq - p)), *have;
        const char *v = eq + 1;
        size_t len = 0;
        for (bool quoted = false; v + len < p + n && (quoted || v[len] != ','); len++)
            quoted = quoted != (v[len] == '"');
        have = json_get(e, key) ? json_text(json_get(e, key), 0) : xstrdup("");
        bool same = strlen(have) == len && !memcmp(have, v, len);
        free(have);
        free(key);
        if (!same)
            return false;
        size_t used = (size_t)(v + len - p);
        used += used < n;                         /* the comma */
        p += used;
        n -= used;
    }
    return true;
}

static const struct json *element(const struct json *list, const char *p, size_t n)
{
    for (const struct json *e = json_first(list); e; e = json_next(e)) {
        if (p[0] == '=') {                        /* of a set */
            char *text = json_text(e, 0);
            bool same = strlen(text) == n - 1 && !memcmp(text, p + 1, n - 1);
            free(text);
            if (same)
                return e;
        } else if (has_keys(e, p, n)) {
            return e;
        }
    }
    return memchr(p, '=', n) ? NULL : json_item(list, atoi(p));
}

const struct json *conflict_at(const struct json *o, const char *path)
{
    for (const char *p = path; o && *p;) {
        if (*p == '[') {
            size_t n = bracket(p);
            if (n < 3)
                return NULL;
            o = element(o, p + 1, n - 2);
            p += n;
            continue;
        }
        p += *p == '.';
        const struct json *found = NULL;
        size_t whole = strcspn(p, "["), used = whole;
        for (size_t n = whole; n > 0 && !found; n--) {    /* keys may hold dots */
            if (n != whole && p[n] != '.')
                continue;
            char *key = xstrndup(p, n);
            found = json_get(o, key);
            used = n;
            free(key);
        }
        o = found;
        p += used;
    }
    return o;
}

/* `conflict with "alice" using batch/v1` -> alice */
static void manager_of(const char *message, char out[160])
{
    const char *open = strchr(message, '"'), *using = strstr(message, " using ");
    const char *close = open ? strchr(open + 1, '"') : NULL;
    if (!close) {
        str_fmt(out, 160, "%s", message);
        return;
    }
    const char *rest = close + 1, *end = using ? using : rest + strlen(rest);
    str_fmt(out, 160, "%.*s%.*s", (int)(close - open - 1), open + 1,
            end > rest ? (int)(end - rest) : 0, rest);
}

static char *value_text(const struct json *o, const char *path)
{
    bool secret = !strcmp(json_str(o, "kind", ""), "Secret") &&
                  (str_starts(path, ".data") || str_starts(path, ".stringData"));
    const struct json *v = conflict_at(o, path);
    return !v ? xstrdup("") : secret ? xstrdup("***") : json_text(v, 0);
}

void conflicts_read(struct conflicts *c, const struct json *status, const struct json *live,
                    const struct json *ours)
{
    *c = (struct conflicts){0};
    for (const struct json *k = json_first(json_at(status, "details.causes")); k;
         k = json_next(k)) {
        const char *path = json_str(k, "field", "");
        c->v = xrealloc_array(c->v, c->n + 1, sizeof *c->v);
        struct conflict *x = &c->v[c->n++];
        manager_of(json_str(k, "message", ""), x->manager);
        str_copy(x->path, sizeof x->path, path);
        x->live = value_text(live, path);
        x->ours = value_text(ours, path);
    }
}

void conflicts_release(struct conflicts *c)
{
    for (size_t i = 0; i < c->n; i++) {
        free(c->v[i].live);
        free(c->v[i].ours);
    }
    free(c->v);
    *c = (struct conflicts){0};
}
