/* manifest_place.c - from what the server says of a field to the line and
 * column that a person wrote (manifest.h).
 *
 * Servers write paths in several ways: "spec.containers[0].image" (validation),
 * "metadata.labels" with Invalid value (no key), ".spec.containers[name=\"c\"].image"
 * (server-side apply), "spec.containers[0].resources.limits[nvidia.com/gpu]".
 */
#include "core/base/mem.h"
#include "core/base/utf8.h"
#include "k8s/client_io.h"
#include "k8s/manifest.h"

/* --- paths --- */

/* Length of the bracket at p, "[…]" with quotes inside honoured; 0: not closed. */
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

static bool is_index(const char *p, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (p[i] < '0' || p[i] > '9')
            return false;
    return n > 0;
}

/* The element whose members equal key="value"[,key="value"]. */
static const struct ynode *by_keys(const struct ynode *seq, const char *p, size_t n)
{
    struct strv parts;
    const struct ynode *found = NULL;
    char *text = xstrndup(p, n);
    strv_init(&parts);
    strv_split(&parts, text, ',');
    for (const struct ynode *e = seq ? seq->first : NULL; e && !found; e = e->next) {
        bool all = true;
        for (size_t i = 0; i < parts.n && all; i++) {
            char *eq = strchr(parts.v[i], '=');
            size_t key = eq ? (size_t)(eq - parts.v[i]) : 0;
            char *name = xstrndup(parts.v[i], key);
            const char *value = eq ? eq + 1 + (eq[1] == '"') : "";
            size_t len = strcspn(value, "\"");
            const char *have = yaml_str(e, name, "");
            all = eq && strlen(have) == len && !memcmp(have, value, len);
            free(name);
        }
        found = all ? e : NULL;
    }
    strv_release(&parts);
    free(text);
    return found;
}

static const struct ynode *element(const struct ynode *seq, const char *p, size_t n)
{
    const struct ynode *e = seq->first;
    if (!is_index(p, n))
        return by_keys(seq, p, n);
    for (int i = atoi(p); e && i > 0; i--)
        e = e->next;
    return e;
}

/* The child that a bracket names: an index, keys of a list, or a map's key. */
static const struct ynode *bracket_child(const struct ynode *n, const char *p, size_t len)
{
    if (n->kind == Y_SEQ)
        return element(n, p, len);
    if (len >= 2 && (p[0] == '"' || p[0] == '\'')) {
        p++;
        len -= 2;
    }
    char *key = xstrndup(p, len);
    const struct ynode *c = yaml_get(n, key);
    free(key);
    return c;
}

/* A key may hold dots ("limits.nvidia.com/gpu"): the longest that exists wins. */
static const struct ynode *dotted_child(const struct ynode *n, const char *p, size_t *len)
{
    size_t whole = strcspn(p, "[");
    for (size_t n_try = whole; n_try > 0; n_try--) {
        if (n_try != whole && p[n_try] != '.')
            continue;
        char *key = xstrndup(p, n_try);
        const struct ynode *c = yaml_get(n, key);
        free(key);
        if (c) {
            *len = n_try;
            return c;
        }
    }
    return NULL;
}

/* The deepest node that the path reaches. */
static const struct ynode *reach(const struct ynode *root, const char *path)
{
    const struct ynode *n = root;
    const char *p = path;
    while (*p) {
        const struct ynode *c = NULL;
        size_t len = 0;
        if (*p == '.') {
            p++;
            continue;
        }
        if (*p == '[') {
            len = bracket(p);
            c = len > 2 ? bracket_child(n, p + 1, len - 2) : NULL;
        } else {
            c = dotted_child(n, p, &len);
        }
        if (!c)
            break;
        n = c;
        p += len;
    }
    return n;
}

void manifest_place(const struct manifest_doc *d, const char *path, int *line, int *col)
{
    const struct ynode *n = reach(d->root, path);
    bool key = n->key && n->key_line > 0;
    *line = key ? n->key_line : n->line;
    *col = key ? n->key_col : n->col;
}

/* --- causes --- */

struct causes {
    const struct manifest_doc *d;
    struct manifest_cause *out;
    size_t n, max;
};

char *manifest_shortened(const char *msg)
{
    enum { KEEP = 60, LONG = 200 };
    const char *detail = NULL;
    for (const char *p = strstr(msg, "}: "); p; p = strstr(p + 1, "}: "))
        detail = p;
    if (strlen(msg) < LONG || !detail || detail < msg + KEEP)
        return xstrdup(msg);
    return xasprintf("%.*s ... %s", KEEP, msg, detail);
}

static void add(struct causes *c, const char *path, size_t path_n, const char *text)
{
    if (c->n == c->max)
        return;
    struct manifest_cause *k = &c->out[c->n++];
    while (path_n > 0 && *path == '.') {
        path++;
        path_n--;
    }
    k8s_clean(k->path, sizeof k->path, path, path_n);
    char *msg = manifest_shortened(text);
    k8s_clean(k->msg, sizeof k->msg, msg, strlen(msg));
    free(msg);
    manifest_place(c->d, k->path, &k->line, &k->col);
}

/* … strict decoding error: unknown field "spec.tmplate", duplicate field "…" */
static void strict_causes(struct causes *c, const char *message)
{
    const char *p = strstr(message, "strict decoding error: ");
    if (!p)
        return;
    p += strlen("strict decoding error: ");
    while (*p) {
        const char *open = strchr(p, '"'), *close = open ? strchr(open + 1, '"') : NULL;
        if (!close)
            return;
        char *text = xstrndup(p, (size_t)(close + 1 - p));
        add(c, open + 1, (size_t)(close - open - 1), text);
        free(text);
        p = close + 1;
        p += strspn(p, ", ");
    }
}

/* Where the path at p ends: at its ": ", which may stand in quotes as well. */
static const char *path_end(const char *p)
{
    bool quoted = false;
    for (; *p && *p != '\n'; p++) {
        quoted = quoted != (*p == '"');
        if (!quoted && p[0] == ':' && p[1] == ' ')
            return p;
    }
    return NULL;
}

/* … typed patch object (ns/name; batch/v1, Kind=Job): .spec.x: field not declared in
 * schema, or "errors:" and one such a line. */
static void schema_causes(struct causes *c, const char *message)
{
    const char *p = strstr(message, " typed patch object (");
    p = p ? strstr(p, "): ") : NULL;
    if (!p)
        return;
    p += strlen("): ");
    while (*p) {
        p += strspn(p, " \n");
        const char *colon = *p == '.' ? path_end(p) : NULL;
        size_t n = strcspn(p, "\n");
        char *text = xstrndup(p, n);
        if (colon)
            add(c, p, (size_t)(colon - p), text);
        free(text);
        p += n;
    }
}

/* json: cannot unmarshal string into Go struct field JobSpec.spec.parallelism … */
static void type_causes(struct causes *c, const char *message)
{
    const char *p = strstr(message, "Go struct field ");
    if (!p)
        return;
    p += strlen("Go struct field ");
    size_t n = strcspn(p, " \t\n");
    const char *dot = memchr(p, '.', n);
    if (dot)
        add(c, dot + 1, n - (size_t)(dot + 1 - p), message);
}

size_t manifest_causes(const struct manifest_doc *d, const struct json *status,
                       struct manifest_cause *out, size_t max)
{
    struct causes c = {d, out, 0, max};
    const char *message = json_str(status, "message", "");
    const struct json *list = json_at(status, "details.causes");
    for (const struct json *k = json_first(list); k; k = json_next(k)) {
        const char *field = json_str(k, "field", "");
        if (*field)
            add(&c, field, strlen(field), json_str(k, "message", ""));
    }
    if (c.n == 0)
        strict_causes(&c, message);
    if (c.n == 0)
        schema_causes(&c, message);
    if (c.n == 0)
        type_causes(&c, message);
    return c.n;
}

enum pd_code manifest_error(const struct manifest *m, const struct manifest_doc *d,
                            int http_status, const struct json *status, struct pd_err *err)
{
    struct manifest_cause cause;
    char *text = status ? json_text(status, 0) : xstrdup("");
    enum pd_code code = k8s_status_error(http_status, text, strlen(text), err);
    free(text);
    str_copy(err->src, sizeof err->src, m->name);
    err->line = d->line;
    err->col = 1;
    if (manifest_causes(d, status, &cause, 1) == 0)
        return code;
    err->line = cause.line;
    err->col = cause.col;
    char what[420];
    if (strstr(cause.msg, cause.path))
        str_fmt(what, sizeof what, "%s", cause.msg);
    else
        str_fmt(what, sizeof what, "%.200s: %s", cause.path, cause.msg);
    str_copy(err->msg, sizeof err->msg, what);
    return code;
}
