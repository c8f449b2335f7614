/* match.c - compares a value with what a lab expects of it. */
#include "labs/match.h"

#include "core/base/i18n.h"
#include "k8s/quantity.h"

enum { MATCH_DEPTH = 32 };

/* A scalar as text, for comparing across types; false for lists and maps. */
static bool scalar_text(const struct json *j, struct str *out)
{
    switch (json_type(j)) {
    case JSON_STRING: return str_add(out, json_string_value(j));
    case JSON_NUMBER:
    case JSON_BOOL: return json_print(j, 0, out);
    default: return false;
    }
}

/* -1, 0, 1, or 2 when the two are no quantities. */
static int compare_quantity(const char *a, const char *b)
{
    struct quantity x, y;
    if (!quantity_parse(a, &x) || !quantity_parse(b, &y))
        return 2;
    return quantity_compare(&x, &y);
}

static int compare(const struct json *a, const struct json *b)
{
    struct str x, y;
    double p, q;
    int r = 2;
    str_init(&x, 4096);
    str_init(&y, 4096);
    if (scalar_text(a, &x) && scalar_text(b, &y)) {
        if (str_to_f64(x.p, &p) && str_to_f64(y.p, &q))
            r = p < q ? -1 : p > q;
        else
            r = compare_quantity(x.p, y.p);
    }
    str_release(&x);
    str_release(&y);
    return r;
}

static bool equal_scalar(const struct json *a, const struct json *b)
{
    struct str x, y;
    str_init(&x, 1 << 20);
    str_init(&y, 1 << 20);
    bool ok = scalar_text(a, &x) && scalar_text(b, &y) && str_eq(x.p, y.p);
    str_release(&x);
    str_release(&y);
    return ok || compare(a, b) == 0;
}

/* --- the tests ------------------------------------------------------------ */

static bool test_min(const struct json *a, const struct json *w)
{
    int c = compare(a, w);
    return c == 0 || c == 1;
}

static bool test_max(const struct json *a, const struct json *w)
{
    int c = compare(a, w);
    return c == 0 || c == -1;
}

static bool test_in(const struct json *a, const struct json *w)
{
    for (const struct json *c = json_first(w); c; c = json_next(c))
        if (a && equal_scalar(a, c))
            return true;
    return false;
}

static bool test_not(const struct json *a, const struct json *w)
{
    return a && !equal_scalar(a, w);
}

static bool test_has(const struct json *a, const struct json *w)
{
    const char *s = json_string_value(a), *part = json_string_value(w);
    return s && part && strstr(s, part);
}

static bool test_lacks(const struct json *a, const struct json *w)
{
    const char *s = json_string_value(a), *part = json_string_value(w);
    return s && *s && part && !strstr(s, part);
}

static bool test_starts(const struct json *a, const struct json *w)
{
    const char *s = json_string_value(a), *part = json_string_value(w);
    return s && part && str_starts(s, part);
}

static bool test_exists(const struct json *a, const struct json *w)
{
    return (a != NULL) == json_bool_value(w);
}

static const struct {
    const char *name, *text;      /* text: around the wanted value (gettext key) */
    bool (*fn)(const struct json *a, const struct json *w);
} tests[] = {
    {"min", N_("at least %s"), test_min},   {"max", N_("at most %s"), test_max},
    {"in", N_("one of %s"), test_in},       {"not", N_("not %s"), test_not},
    {"has", N_("with %s"), test_has},       {"starts", N_("beginning with %s"), test_starts},
    {"exists", N_("there: %s"), test_exists}, {"lacks", N_("without %s"), test_lacks},
};

static int test_index(const char *name)
{
    for (size_t i = 0; name && i < ARRAY_LEN(tests); i++)
        if (str_eq(tests[i].name, name))
            return (int)i;
    return -1;
}

/* A map is a matcher when its first key is a test's name. */
static bool is_tests(const struct json *want)
{
    return json_type(want) == JSON_OBJECT && json_first(want) &&
           test_index(json_key(json_first(want))) >= 0;
}

static bool match(const struct json *actual, const struct json *want, int depth);

static bool match_members(const struct json *actual, const struct json *want, int depth)
{
    if (json_type(actual) != json_type(want))
        return false;
    int i = 0;
    for (const struct json *w = json_first(want); w; w = json_next(w), i++) {
        const struct json *a = json_key(w) ? json_get(actual, json_key(w)) : json_item(actual, i);
        if (!match(a, w, depth + 1))
            return false;
    }
    return true;
}

static bool match(const struct json *actual, const struct json *want, int depth)
{
    if (depth > MATCH_DEPTH)
        return false;
    if (is_tests(want)) {
        for (const struct json *w = json_first(want); w; w = json_next(w)) {
            int i = test_index(json_key(w));
            if (i < 0 || !tests[i].fn(actual, w))
                return false;
        }
        return true;
    }
    if (!actual)
        return false;
    if (json_type(want) == JSON_OBJECT || json_type(want) == JSON_ARRAY)
        return match_members(actual, want, depth);
    if (json_type(want) == JSON_NULL)
        return json_type(actual) == JSON_NULL;
    return equal_scalar(actual, want);
}

bool match_value(const struct json *actual, const struct json *want)
{
    return match(actual, want, 0);
}

void match_actual(const struct json *actual, struct str *out)
{
    if (!actual)
        str_add(out, _("(missing)"));
    else if (json_string_value(actual))
        str_add(out, *json_string_value(actual) ? json_string_value(actual) : "\"\"");
    else
        json_print(actual, 0, out);
}

static void add_value(const struct json *w, struct str *out)
{
    if (json_type(w) != JSON_ARRAY)
        match_actual(w, out);
    for (const struct json *c = json_type(w) == JSON_ARRAY ? json_first(w) : NULL; c;
         c = json_next(c)) {
        str_add(out, c == json_first(w) ? "" : _(", "));
        match_actual(c, out);
    }
}

void match_text(const struct json *want, struct str *out)
{
    if (!is_tests(want)) {
        match_actual(want, out);
        return;
    }
    for (const struct json *w = json_first(want); w; w = json_next(w)) {
        const char *text = _(tests[test_index(json_key(w))].text), *at = strstr(text, "%s");
        str_add(out, w == json_first(want) ? "" : _(", "));
        str_append(out, text, at ? (size_t)(at - text) : strlen(text));
        add_value(w, out);
        str_add(out, at ? at + 2 : "");
    }
}

enum pd_code match_lint(const char *path, const struct ynode *n, struct pd_err *err)
{
    const char *names[ARRAY_LEN(tests)];
    for (size_t i = 0; i < ARRAY_LEN(tests); i++)
        names[i] = tests[i].name;
    if (n->kind != Y_MAP || !n->first)
        return PD_OK;
    bool tested = test_index(n->first->key) >= 0;
    for (const struct ynode *c = n->first; c; c = c->next) {
        const char *near = str_nearest(c->key, names, ARRAY_LEN(tests));
        if (tested != (test_index(c->key) >= 0) || (!tested && near && !n->first->next))
            return pd_fail_at(err, PD_LAB, path, c->key_line, c->key_col,
                              _("\"%s\" is no test of a value%s%s%s"), c->key,
                              near ? _(": did you mean \"") : _(" (min max in not has lacks starts "
                                                             "exists)"),
                              near ? near : "", near ? "\"?" : "");
        if (str_eq(c->key, "in") && tested && c->kind != Y_SEQ)
            return pd_fail_at(err, PD_LAB, path, c->line, c->col, _("\"in\" must be a list"));
    }
    return PD_OK;
}
