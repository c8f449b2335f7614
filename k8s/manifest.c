/* manifest.c - YAML manifests to JSON objects, with ${NAME} replaced
 * (manifest.h). The YAML tree stays beside the JSON, for places. */
#include "k8s/manifest.h"

#include "core/base/i18n.h"
#include "core/base/mem.h"
#include "core/base/path.h"

enum { FILE_MAX = 4 << 20, VALUE_MAX = 64 << 10 };

struct parse {
    const char *name;
    manifest_var_fn *var;
    void *arg;
    struct pd_err *err;
};

static bool name_char(char c, bool first)
{
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_' ||
           (!first && c >= '0' && c <= '9');
}

/* Length of "${NAME}" at s, 0 when there is none. */
static size_t reference(const char *s, char name[64])
{
    size_t n = 0;
    if (s[0] != '$' || s[1] != '{')
        return 0;
    while (name_char(s[2 + n], n == 0) && n + 1 < 64) {
        name[n] = s[2 + n];
        n++;
    }
    name[n] = '\0';
    return n > 0 && s[2 + n] == '}' ? n + 3 : 0;
}

/* Replace in text; *whole: it was nothing but one reference. */
static enum pd_code replace(struct parse *p, const struct ynode *n, const char *text,
                            struct str *out, bool *whole)
{
    char name[64];
    *whole = false;
    for (const char *s = text; *s;) {
        size_t len = reference(s, name);
        if (s[0] == '$' && s[1] == '$' && reference(s + 1, name)) {
            size_t literal = reference(s + 1, name);
            str_append(out, s + 1, literal);
            s += 1 + literal;
            continue;
        }
        if (!len) {
            str_addc(out, *s++);
            continue;
        }
        const char *value = p->var(p->arg, name);
        if (!value) {
            pd_fail_at(p->err, PD_INVALID, p->name, n->line, n->col,
                       _("no variable ${%s} is defined"), name);
            return pd_set_hint(p->err, _("define it in the lab, or write $${%s} for the text "
                                         "itself"),
                               name);
        }
        *whole = s == text && s[len] == '\0';
        str_add(out, value);
        s += len;
    }
    if (out->full)
        return pd_fail_at(p->err, PD_LIMIT, p->name, n->line, n->col,
                          _("the value is longer than 64 KiB once its variables are replaced"));
    return PD_OK;
}

/* A plain scalar that was one reference takes the type that YAML gives to the
 * value; anything but a scalar stays a string. */
static struct json *typed(const char *value)
{
    struct ydoc *doc = NULL;
    struct pd_err ignored;
    struct json *j = NULL;
    if (!strpbrk(value, "\r\n") &&
        yaml_parse("value", value, strlen(value), &doc, &ignored) == PD_OK && doc && doc->root &&
        doc->root->kind != Y_MAP && doc->root->kind != Y_SEQ && !doc->root->quoted &&
        !strcmp(doc->root->text, value))
        j = yaml_to_json(doc->root);
    yaml_docs_free(doc);
    return j ? j : json_new_string(value);
}

static enum pd_code replace_scalar(struct parse *p, const struct ynode *n, struct json *parent,
                                   struct json *at)
{
    struct str s;
    bool whole;
    if (!n->text || !strstr(n->text, "${"))
        return PD_OK;
    str_init(&s, VALUE_MAX);
    enum pd_code code = replace(p, n, n->text, &s, &whole);
    if (code == PD_OK)
        json_replace(parent, at, whole && !n->quoted ? typed(s.p) : json_new_string(s.p));
    str_release(&s);
    return code;
}

/* Walk both trees side by side; they have the same shape. */
static enum pd_code replace_all(struct parse *p, const struct ynode *n, struct json *j)
{
    enum pd_code code = PD_OK;
    struct json *c = json_first_mut(j);
    for (const struct ynode *k = n->first; k && c && code == PD_OK; k = k->next) {
        struct json *next = json_next_mut(c);
        if (k->kind == Y_MAP || k->kind == Y_SEQ)
            code = replace_all(p, k, c);
        else
            code = replace_scalar(p, k, j, c);
        c = next;
    }
    return code;
}

static enum pd_code missing(struct parse *p, const struct ynode *at, const char *what)
{
    pd_fail_at(p->err, PD_INVALID, p->name, at->line, at->col, _("the object has no %s"), what);
    return pd_set_hint(p->err, _("add %s"), what);
}

static enum pd_code check_object(struct parse *p, const struct manifest_doc *d)
{
    static const char *const needed[] = {"apiVersion", "kind"};
    const struct json *o = d->object;
    if (d->root->kind != Y_MAP)
        return pd_fail_at(p->err, PD_INVALID, p->name, d->root->line, d->root->col,
                          _("a manifest must be a map with apiVersion, kind and metadata"));
    for (size_t i = 0; i < ARRAY_LEN(needed); i++)
        if (!*json_str(o, needed[i], ""))
            return missing(p, d->root, needed[i]);
    if (!*json_str(o, "metadata.name", "") && !*json_str(o, "metadata.generateName", "")) {
        const struct ynode *meta = yaml_get(d->root, "metadata");
        return missing(p, meta ? meta : d->root, "metadata.name");
    }
    return PD_OK;
}

/* The first value that JSON has no form for. */
static enum pd_code check_values(struct parse *p, const struct ynode *n)
{
    enum pd_code code = PD_OK;
    if (n->flaw) {
        pd_fail_at(p->err, PD_INVALID, p->name, n->json_key || !n->key ? n->line : n->key_line,
                   n->json_key || !n->key ? n->col : n->key_col, "%s: %s", _(n->flaw),
                   n->json_key || !n->key ? n->text : n->key);
        return pd_set_hint(p->err, "%s", _("put it in quotes if it is meant as text"));
    }
    for (const struct ynode *c = n->first; c && code == PD_OK; c = c->next)
        code = check_values(p, c);
    return code;
}

static void keep(struct manifest *m, const struct ynode *root, struct json *object)
{
    m->docs = xrealloc_array(m->docs, m->n + 1, sizeof *m->docs);
    m->docs[m->n++] = (struct manifest_doc){
        .object = object, .root = root, .line = root->line, .res = res_of(object)};
}

/* Items of a list, which may leave kind and apiVersion to the list. */
static void keep_items(struct manifest *m, const struct ynode *items, struct json *list)
{
    char *kind = xstrdup(json_str(list, "kind", ""));
    const char *version = json_str(list, "apiVersion", "");
    struct json *all = json_get_mut(list, "items");
    if (str_ends(kind, "List"))
        kind[strlen(kind) - 4] = '\0';
    for (const struct ynode *n = items->first; n; n = n->next) {
        struct json *o = json_detach_item(all, 0);
        if (json_type(o) == JSON_OBJECT && !json_get(o, "kind") && !json_get(o, "apiVersion")) {
            json_put_str(o, "apiVersion", version);
            json_put_str(o, "kind", kind);
        }
        keep(m, n, o);
    }
    free(kind);
}

static enum pd_code add_doc(struct parse *p, struct manifest *m, const struct ynode *root)
{
    enum pd_code code = check_values(p, root);
    if (code != PD_OK)
        return code;
    struct json *object = yaml_to_json(root);
    const struct ynode *items = yaml_get(root, "items");
    if (p->var && (root->kind == Y_MAP || root->kind == Y_SEQ))
        code = replace_all(p, root, object);
    if (code == PD_OK && items && items->kind == Y_SEQ && yaml_get(root, "kind")) {
        keep_items(m, items, object);
        json_free(object);
    } else {
        keep(m, root, object);
    }
    return code;
}

/* "--- text": kubectl cuts the stream at lines that begin with "---" and wants
 * nothing but a comment behind it. */
static enum pd_code check_separators(struct parse *p, const char *text, size_t len)
{
    int line = 1;
    for (const char *s = text, *end = text + len; s < end; line++) {
        const char *nl = memchr(s, '\n', (size_t)(end - s)), *stop = nl ? nl : end;
        const char *rest = s + 3;
        if (stop - s > 3 && !memcmp(s, "---", 3)) {
            while (rest < stop && strchr(" \t\r", *rest))
                rest++;
            if (rest < stop && *rest != '#') {
                pd_fail_at(p->err, PD_PARSE, p->name, line, (int)(rest - s) + 1,
                           _("invalid Yaml document separator: %.*s"), (int)MIN(stop - rest, 80),
                           rest);
                return pd_set_hint(p->err, "%s", _("put the text on a line of its own"));
            }
        }
        s = stop + 1;
    }
    return PD_OK;
}

/* Where the JSON object that begins at s ends; NULL: it does not. */
static const char *json_end(const char *s, const char *end)
{
    int depth = 0;
    for (bool quoted = false; s < end; s++) {
        if (quoted && *s == '\\') {
            s++;
        } else if (quoted) {
            quoted = *s != '"';
        } else if (*s == '"') {
            quoted = true;
        } else if (*s == '{' || *s == '[') {
            depth++;
        } else if ((*s == '}' || *s == ']') && --depth == 0) {
            return s + 1;
        }
    }
    return NULL;
}

static const char *skip_space(const char *s, const char *end, int *line)
{
    for (; s < end && strchr(" \t\r\n", *s) && *s; s++)
        *line += *s == '\n';
    return s;
}

/* JSON writes what lies beyond the first plane as two \u; YAML as one \U. */
static char *join_surrogates(const char *s, size_t n)
{
    char *copy = xstrndup(s, n), *out = copy;
    for (const char *p = copy; *p;) {
        unsigned hi, lo;
        if (p[0] == '\\' && p[1] == 'u' && sscanf(p, "\\u%4x\\u%4x", &hi, &lo) == 2 &&
            hi >= 0xD800 && hi < 0xDC00 && lo >= 0xDC00 && lo < 0xE000) {
            snprintf(out, 11, "\\U%08X", 0x10000 + ((hi - 0xD800) << 10) + (lo - 0xDC00));
            out += 10;
            p += 12;
            continue;
        }
        if (p[0] == '\\' && p[1])
            *out++ = *p++;
        *out++ = *p++;
    }
    *out = '\0';
    return copy;
}

static bool is_json(const char *text, size_t len)
{
    const char *s = text, *end = text + len;
    int line = 1, n = 0;
    for (s = skip_space(s, end, &line); s && s < end && *s == '{'; n++) {
        s = json_end(s, end);
        s = s ? skip_space(s, end, &line) : NULL;
    }
    return n > 0 && s == end;
}

/* Object after object of a JSON stream; each has its own lines. */
static enum pd_code parse_json(struct parse *p, const char *text, size_t len, struct ydoc **out)
{
    enum pd_code code = PD_OK;
    int line = 1;
    const char *end = text + len;
    for (const char *s = skip_space(text, end, &line); s < end && code == PD_OK;) {
        const char *stop = json_end(s, end);
        char *part = join_surrogates(s, (size_t)(stop - s));
        code = yaml_parse_part(p->name, line, part, strlen(part), out, p->err);
        free(part);
        while (code == PD_OK && *out)
            out = &(*out)->next;
        for (; s < stop; s++)
            line += *s == '\n';
        s = skip_space(s, end, &line);
    }
    return code;
}

enum pd_code manifest_load(const char *name, const char *text, size_t len, manifest_var_fn *var,
                           void *arg, struct manifest **out, struct pd_err *err)
{
    struct parse p = {name, var, arg, err};
    struct manifest *m = xcalloc(1, sizeof *m);
    enum pd_code code;
    m->name = xstrdup(name);
    if (is_json(text, len))
        code = parse_json(&p, text, len, &m->yaml);
    else if ((code = check_separators(&p, text, len)) == PD_OK)
        code = yaml_parse(name, text, len, &m->yaml, err);
    for (struct ydoc *d = m->yaml; d && code == PD_OK; d = d->next)
        if (d->root && d->root->kind != Y_NULL)
            code = add_doc(&p, m, d->root);
    if (code == PD_OK && m->n == 0)
        code = pd_fail_at(err, PD_INVALID, name, 1, 1, _("there is no object in this manifest"));
    if (code == PD_OK)
        *out = m;
    else
        manifest_free(m);
    return code;
}

enum pd_code manifest_parse(const char *name, const char *text, size_t len, manifest_var_fn *var,
                            void *arg, struct manifest **out, struct pd_err *err)
{
    struct parse p = {name, var, arg, err};
    struct manifest *m = NULL;
    enum pd_code code = manifest_load(name, text, len, var, arg, &m, err);
    for (size_t i = 0; code == PD_OK && i < m->n; i++)
        code = check_object(&p, &m->docs[i]);
    if (code == PD_OK)
        *out = m;
    else
        manifest_free(m);
    return code;
}

enum pd_code manifest_read(const char *path, manifest_var_fn *var, void *arg, struct manifest **out,
                           struct pd_err *err)
{
    struct str text;
    str_init(&text, FILE_MAX);
    enum pd_code code = path_read(path, FILE_MAX, &text, err);
    if (code == PD_OK)
        code = manifest_parse(path, text.p, text.len, var, arg, out, err);
    str_release(&text);
    return code;
}

void manifest_free(struct manifest *m)
{
    if (!m)
        return;
    for (size_t i = 0; i < m->n; i++)
        json_free(m->docs[i].object);
    free(m->docs);
    yaml_docs_free(m->yaml);
    free(m->name);
    free(m);
}
