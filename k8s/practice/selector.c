/* selector.c - parses and applies label and field selectors (selector.h). */
#include "k8s/practice/selector.h"

#include <ctype.h>

#include "core/base/mem.h"

void selector_init(struct selector *s)
{
    memset(s, 0, sizeof *s);
}

void selector_release(struct selector *s)
{
    for (size_t i = 0; i < s->n; i++) {
        free(s->v[i].key);
        strv_release(&s->v[i].values);
    }
    free(s->v);
    selector_init(s);
}

static struct selector_term *add(struct selector *s, enum selector_op op, char *key)
{
    if (s->n == s->cap) {
        s->cap = s->cap ? s->cap * 2 : 4;
        s->v = xrealloc_array(s->v, s->cap, sizeof *s->v);
    }
    struct selector_term *t = &s->v[s->n++];
    t->op = op;
    t->key = key;
    strv_init(&t->values);
    return t;
}

/* --- labels --- */

static const char *skip(const char *p)
{
    while (*p == ' ' || *p == '\t')
        p++;
    return p;
}

/* A word of a key or value; caller frees. */
static char *word(const char **p)
{
    const char *s = skip(*p);
    size_t n = strcspn(s, " \t=!,()<>");
    *p = skip(s + n);
    return xstrndup(s, n);
}

static enum pd_code bad(struct pd_err *err, const char *text, const char *found, const char *want)
{
    return pd_fail(err, PD_PARSE,
                   "unable to parse requirement: found '%s', expected: %s (in \"%s\")", found,
                   want, text);
}

static enum pd_code values_in(const char **p, struct selector_term *t, const char *text,
                              struct pd_err *err)
{
    if (**p != '(')
        return bad(err, text, *p, "'('");
    do {
        ++*p;
        char *v = word(p);
        strv_push(&t->values, v);
        free(v);
    } while (**p == ',');
    if (**p != ')')
        return bad(err, text, *p, "',', or ')'");
    *p = skip(*p + 1);
    return PD_OK;
}

static bool take_word(const char **p, const char *w)
{
    size_t n = strlen(w);
    if (strncmp(*p, w, n) != 0 || (isalnum((unsigned char)(*p)[n])))
        return false;
    *p = skip(*p + n);
    return true;
}

static bool take(const char **p, const char *sign)
{
    if (!str_starts(*p, sign))
        return false;
    *p += strlen(sign);
    return true;
}

static enum pd_code one_label(const char **p, struct selector *out, const char *text,
                              struct pd_err *err)
{
    static const struct {
        const char *sign;
        enum selector_op op;
    } signs[] = {{"==", SEL_EQ}, {"!=", SEL_NE}, {"=", SEL_EQ}, {">", SEL_GT}, {"<", SEL_LT}};
    *p = skip(*p);
    bool no = take(p, "!");
    char *key = word(p);
    if (!*key) {
        enum pd_code code = bad(err, text, *p, "!, identifier, or 'end of string'");
        free(key);
        return code;
    }
    if (no) {
        add(out, SEL_NOT_EXISTS, key);
        return PD_OK;
    }
    for (size_t i = 0; i < ARRAY_LEN(signs); i++)
        if (take(p, signs[i].sign)) {
            char *v = word(p);
            strv_push(&add(out, signs[i].op, key)->values, v);
            free(v);
            return PD_OK;
        }
    if (take_word(p, "in"))
        return values_in(p, add(out, SEL_IN, key), text, err);
    if (take_word(p, "notin"))
        return values_in(p, add(out, SEL_NOT_IN, key), text, err);
    add(out, SEL_EXISTS, key);
    return PD_OK;
}

enum pd_code selector_labels(const char *text, struct selector *out, struct pd_err *err)
{
    const char *p = skip(text);
    while (*p) {
        enum pd_code code = one_label(&p, out, text, err);
        if (code != PD_OK)
            return code;
        if (*p && *p != ',')
            return bad(err, text, p, "',' or 'end of string'");
        if (*p == ',' && !*skip(++p))
            return bad(err, text, "", "identifier after ','");
    }
    return PD_OK;
}

/* --- fields --- */

static bool known(const struct res *res, const char *key)
{
    static const char *const event[] = {
        "involvedObject.kind", "involvedObject.namespace", "involvedObject.name",
        "involvedObject.uid", "involvedObject.apiVersion", "involvedObject.resourceVersion",
        "involvedObject.fieldPath", "reason", "reportingComponent", "source", "type", NULL};
    static const char *const pod[] = {"spec.nodeName", "spec.restartPolicy", "spec.schedulerName",
                                      "spec.serviceAccountName", "spec.hostNetwork",
                                      "status.phase", "status.podIP", "status.podIPs",
                                      "status.nominatedNodeName", NULL};
    static const char *const node[] = {"spec.unschedulable", NULL};
    static const char *const ns[] = {"status.phase", NULL};
    static const char *const secret[] = {"type", NULL};
    static const char *const job[] = {"status.successful", NULL};
    static const char *const rs[] = {"status.replicas", NULL};
    static const char *const service[] = {"spec.clusterIP", "spec.type", NULL};
    static const struct {
        const char *plural;
        const char *const *keys;
    } more[] = {{"events", event}, {"pods", pod},      {"nodes", node}, {"namespaces", ns},
                {"secrets", secret}, {"jobs", job}, {"replicasets", rs}, {"services", service}};
    if (!strcmp(key, "metadata.name") || (res->namespaced && !strcmp(key, "metadata.namespace")))
        return true;
    for (size_t i = 0; i < ARRAY_LEN(more); i++)
        for (size_t k = 0; !strcmp(more[i].plural, res->plural) && more[i].keys[k]; k++)
            if (!strcmp(more[i].keys[k], key))
                return true;
    return false;
}

static enum pd_code unknown_field(const struct res *res, const char *key, struct pd_err *err)
{
    static const char *const own[] = {"pods", "events", "nodes", "namespaces", "secrets", "jobs",
                                      "replicasets", "services"};
    for (size_t i = 0; i < ARRAY_LEN(own); i++)
        if (!strcmp(own[i], res->plural))
            return pd_fail(err, PD_PARSE, "field label not supported: %s", key);
    return pd_fail(err, PD_PARSE, "\"%s\" is not a known field selector: only \"metadata.name\"%s",
                   key, res->namespaced ? ", \"metadata.namespace\"" : "");
}

static enum pd_code one_field(const struct res *res, char *part, struct selector *out,
                              struct pd_err *err)
{
    char *sign = strstr(part, "!=");
    enum selector_op op = sign ? SEL_NE : SEL_EQ;
    char *value;
    if (!sign)
        sign = strchr(part, '=');
    if (!sign)
        return pd_fail(err, PD_PARSE, "invalid selector: '%s'; can't understand '%s'", part, part);
    value = sign + (op == SEL_NE || sign[1] == '=' ? 2 : 1);
    *sign = '\0';
    if (!known(res, part))
        return unknown_field(res, part, err);
    strv_push(&add(out, op, xstrdup(part))->values, value);
    return PD_OK;
}

enum pd_code selector_fields(const struct res *res, const char *text, struct selector *out,
                             struct pd_err *err)
{
    struct strv parts;
    enum pd_code code = PD_OK;
    strv_init(&parts);
    strv_split(&parts, text, ',');
    for (size_t i = 0; i < parts.n && code == PD_OK; i++)
        if (*parts.v[i])
            code = one_field(res, parts.v[i], out, err);
    strv_release(&parts);
    return code;
}

/* --- objects --- */

/* --- matching --- */

static bool compare(const struct selector_term *t, const char *have)
{
    int64_t a, b;
    const char *want = t->values.n ? t->values.v[0] : "";
    switch (t->op) {
    case SEL_EQ: return have && !strcmp(have, want);
    case SEL_NE: return !have || strcmp(have, want) != 0;
    case SEL_IN: return have && strv_has(&t->values, have);
    case SEL_NOT_IN: return !have || !strv_has(&t->values, have);
    case SEL_EXISTS: return have != NULL;
    case SEL_NOT_EXISTS: return have == NULL;
    case SEL_GT:
    case SEL_LT:
        if (!have || !str_to_i64(have, &a) || !str_to_i64(want, &b))
            return false;
        return t->op == SEL_GT ? a > b : a < b;
    }
    return false;
}

bool selector_match_labels(const struct selector *s, const struct json *labels)
{
    for (size_t i = 0; i < s->n; i++)
        if (!compare(&s->v[i], json_string_value(json_get(labels, s->v[i].key))))
            return false;
    return true;
}

static const char *field_text(const struct json *obj, const char *key, char buf[32])
{
    const struct json *v = json_at(obj, key);
    if (!strcmp(key, "source"))
        v = json_at(obj, "source.component");
    if (!strcmp(key, "status.successful"))
        v = json_at(obj, "status.succeeded");
    if (json_type(v) == JSON_NUMBER)
        return str_fmt(buf, 32, "%lld", (long long)json_number_value(v));
    if (json_type(v) == JSON_BOOL)
        return json_bool_value(v) ? "true" : "false";
    const char *s = json_string_value(v);
    return s ? s : !strcmp(key, "spec.unschedulable") || !strcmp(key, "spec.hostNetwork") ? "false"
                                                                                          : "";
}

bool selector_match_fields(const struct selector *s, const struct json *obj)
{
    char buf[32];
    for (size_t i = 0; i < s->n; i++)
        if (!compare(&s->v[i], field_text(obj, s->v[i].key, buf)))
            return false;
    return true;
}
