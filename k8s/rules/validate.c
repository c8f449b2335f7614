/* validate.c - metadata, names, labels, selectors, with the sentences of Kubernetes
 * 1.34's validation; the kinds are in validate_*.c.
 */
#include "core/base/base.h"

#include <ctype.h>

#include "core/base/mem.h"
#include "k8s/rules/validate_in.h"

#define QUALIFIED_TEXT                                                                            \
    "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an "   \
    "alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for "        \
    "validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"
#define LABEL_VALUE_TEXT                                                                          \
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or "   \
    "'.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or "            \
    "'my_value',  or '12345', regex used for validation is "                                      \
    "'(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')"
#define CONFIG_KEY_TEXT                                                                           \
    "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. "          \
    "'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')"
#define DNS_1035_TEXT                                                                             \
    "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an "  \
    "alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or "          \
    "'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')"
enum { ANNOTATIONS_MAX = 256 << 10 };

/* --- names --- */

static bool lower_alnum(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}

static bool label_n(const char *s, size_t n)
{
    if (n == 0 || n > 63 || !lower_alnum(s[0]) || !lower_alnum(s[n - 1]))
        return false;
    for (size_t i = 0; i < n; i++)
        if (!lower_alnum(s[i]) && s[i] != '-')
            return false;
    return true;
}

bool validate_dns_label(const char *s)
{
    return label_n(s, strlen(s));
}

bool validate_dns_name(const char *s)
{
    if (strlen(s) > 253)
        return false;
    for (;;) {
        size_t n = strcspn(s, ".");
        if (n == 0 || !lower_alnum(s[0]) || !lower_alnum(s[n - 1]))
            return false;
        for (size_t i = 0; i < n; i++)
            if (!lower_alnum(s[i]) && s[i] != '-')
                return false;
        if (!s[n])
            return true;
        s += n + 1;
    }
}

static bool word(const char *s, size_t n)
{
    if (n == 0 || !isalnum((unsigned char)s[0]) || !isalnum((unsigned char)s[n - 1]))
        return false;
    for (size_t i = 0; i < n; i++)
        if (!isalnum((unsigned char)s[i]) && !strchr("-_.", s[i]))
            return false;
    return true;
}

const char *validate_label_value(const char *s)
{
    size_t n = strlen(s);
    if (n > 63)
        return "must be no more than 63 characters";
    return n == 0 || word(s, n) ? NULL : LABEL_VALUE_TEXT;
}

const char *validate_qualified(const char *s)
{
    const char *slash = strchr(s, '/'), *name = slash ? slash + 1 : s;
    if (slash) {
        char *prefix = xstrndup(s, (size_t)(slash - s));
        bool empty = !*prefix, ok = validate_dns_name(prefix);
        free(prefix);
        if (empty)
            return "prefix part must be non-empty";
        if (!ok)
            return "prefix part " VALIDATE_DNS_NAME_TEXT;
    }
    if (strchr(name, '/'))
        return "a qualified name " QUALIFIED_TEXT " with an optional DNS subdomain prefix and '/' "
               "(e.g. 'example.com/MyName')";
    if (!*name)
        return "name part must be non-empty";
    if (strlen(name) > 63)
        return "name part must be no more than 63 characters";
    return word(name, strlen(name)) ? NULL : "name part " QUALIFIED_TEXT;
}

static void complain(struct ferrs *e, const char *at, const struct json *key, const char *why)
{
    if (why)
        ferrs_invalid(e, at, key, "%s", why);
}

/* All that is wrong with the key s, which is shown as written: prefix, length and
 * characters are faults of their own. */
static void qualified(const char *s, const char *shown, const char *at, struct ferrs *e)
{
    const char *slash = strchr(s, '/'), *name = slash ? slash + 1 : s;
    struct json *key = json_new_string(shown);
    if (strchr(name, '/')) {
        complain(e, at, key, validate_qualified(s));
        json_free(key);
        return;
    }
    if (slash) {
        char *prefix = xasprintf("%.*s/a", (int)(slash - s), s);
        complain(e, at, key, validate_qualified(prefix));
        free(prefix);
    }
    if (!*name)
        complain(e, at, key, "name part must be non-empty");
    else if (strlen(name) > 63)
        complain(e, at, key, "name part must be no more than 63 characters");
    if (!word(name, strlen(name)))
        complain(e, at, key, "name part " QUALIFIED_TEXT);
    json_free(key);
}

void validate_labels(const struct json *labels, const char *at, struct ferrs *e)
{
    for (const struct json *m = json_first(labels); m; m = json_next(m)) {
        const char *value = json_string_value(m) ? json_string_value(m) : "";
        const char *why = validate_label_value(value);
        qualified(json_key(m), json_key(m), at, e);
        if (why)
            ferrs_invalid(e, at, m, "%s", why);
        if (strlen(value) > 63 && !word(value, strlen(value)))
            ferrs_invalid(e, at, m, "%s", LABEL_VALUE_TEXT);
    }
}

void validate_annotations(const struct json *all, const char *at, struct ferrs *e)
{
    size_t total = 0;
    for (const struct json *m = json_first(all); m; m = json_next(m)) {
        char *lower = xstrdup(json_key(m));
        for (char *p = lower; *p; p++)
            *p = (char)tolower((unsigned char)*p);
        qualified(lower, json_key(m), at, e);
        total += strlen(json_key(m)) + (json_string_value(m) ? strlen(json_string_value(m)) : 0);
        free(lower);
    }
    if (total > ANNOTATIONS_MAX)
        ferrs_too_long(e, at, ANNOTATIONS_MAX);
}

static bool dns_1035(const char *s)
{
    return validate_dns_label(s) && !isdigit((unsigned char)s[0]);
}

/* RBAC names may hold ':' and more; they only have to fit a path. */
static bool path_name(const char *s)
{
    return *s && !strchr(s, '/') && !strchr(s, '%') && strcmp(s, ".") != 0 && strcmp(s, "..") != 0;
}

const char *validate_label_problem(const char *s)
{
    if (strlen(s) > 63)
        return "must be no more than 63 characters";
    return validate_dns_label(s) ? NULL : VALIDATE_DNS_LABEL_TEXT;
}

const char *validate_subdomain_problem(const char *s)
{
    if (strlen(s) > 253)
        return "must be no more than 253 characters";
    return validate_dns_name(s) ? NULL : VALIDATE_DNS_NAME_TEXT;
}

const char *validate_config_key_problem(const char *s)
{
    if (strlen(s) > 253)
        return "must be no more than 253 characters";
    if (s[strspn(s, "-._abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789")] || !*s)
        return CONFIG_KEY_TEXT;
    return !strcmp(s, ".")    ? "must not be '.'"
           : !strcmp(s, "..") ? "must not be '..'"
           : s[0] == '.' && s[1] == '.' ? "must not start with '..'"
                                        : NULL;
}

static const char *name_problem(const struct res *res, const char *name)
{
    if (!strcmp(res->group, "rbac.authorization.k8s.io"))
        return path_name(name) ? NULL : "may not contain '/' or '%'";
    if (!strcmp(res->plural, "services"))
        return dns_1035(name) ? NULL : DNS_1035_TEXT;
    if (!strcmp(res->plural, "namespaces"))
        return validate_label_problem(name);
    return validate_subdomain_problem(name);
}

static void owners(const struct json *meta, struct ferrs *e)
{
    static const char *const need[] = {"apiVersion", "kind", "name", "uid"};
    int i = 0, controllers = 0;
    char at[96];
    for (const struct json *o = json_first(json_get(meta, "ownerReferences")); o;
         o = json_next(o), i++) {
        controllers += json_bool(o, "controller", false);
        for (size_t k = 0; k < ARRAY_LEN(need); k++)
            if (!*json_str(o, need[k], "")) {
                str_fmt(at, sizeof at, "metadata.ownerReferences[%d].%s", i, need[k]);
                ferrs_invalid_text(e, at, "\"\"", "must not be empty");
            }
    }
    if (controllers > 1)
        ferrs_invalid(e, "metadata.ownerReferences", json_get(meta, "ownerReferences"),
                      "Only one reference can have Controller set to true");
}

void validate_meta(const struct res *res, const struct json *obj, struct ferrs *e)
{
    const struct json *meta = json_get(obj, "metadata"), *name = json_get(meta, "name");
    const char *text = json_str(meta, "name", "");
    if (!*text) {
        ferrs_required(e, "metadata.name", "name or generateName is required");
    } else {
        const char *why = name_problem(res, text);
        if (why)
            ferrs_invalid(e, "metadata.name", name, "%s", why);
    }
    validate_labels(json_get(meta, "labels"), "metadata.labels", e);
    validate_annotations(json_get(meta, "annotations"), "metadata.annotations", e);
    owners(meta, e);
    for (const struct json *f = json_first(json_get(meta, "finalizers")); f; f = json_next(f)) {
        const char *s = json_string_value(f), *why = s ? validate_qualified(s) : NULL;
        if (why)
            ferrs_invalid(e, "metadata.finalizers", f, "%s", why);
    }
}

void validate_selector(const struct json *sel, const char *at, struct ferrs *e)
{
    char path[256];
    int i = 0;
    str_fmt(path, sizeof path, "%s.matchLabels", at);
    validate_labels(json_get(sel, "matchLabels"), path, e);
    for (const struct json *x = json_first(json_get(sel, "matchExpressions")); x;
         x = json_next(x), i++) {
        const char *op = json_str(x, "operator", "");
        bool set = !strcmp(op, "In") || !strcmp(op, "NotIn");
        str_fmt(path, sizeof path, "%s.matchExpressions[%d].values", at, i);
        if (set && json_count(json_get(x, "values")) == 0)
            ferrs_required(e, path, "must be specified when `operator` is 'In' or 'NotIn'");
        else if (!set && (!strcmp(op, "Exists") || !strcmp(op, "DoesNotExist")) &&
                 json_count(json_get(x, "values")) > 0)
            ferrs_forbidden(e, path, "may not be specified when `operator` is 'Exists' or "
                                     "'DoesNotExist'");
        else if (!set && strcmp(op, "Exists") != 0 && strcmp(op, "DoesNotExist") != 0) {
            str_fmt(path, sizeof path, "%s.matchExpressions[%d].operator", at, i);
            ferrs_invalid(e, path, json_get(x, "operator"), "not a valid selector operator");
        }
    }
}

void validate_object(const struct res *res, const struct json *obj, const struct json *old,
                     const char *sub, struct ferrs *e)
{
    if (!sub || strcmp(sub, "status") != 0)
        validate_kinds(res, obj, old, e);
}
