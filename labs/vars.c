/* vars.c - ${NAME}: finding, drawing and replacing the variables of a lab. */
#include "labs/vars.h"

#include "core/base/str.h"

static const char *const sources[] = {"registry", "namespace", "context",    "digest",
                                      "work",     "lab",       "ready-nodes"};
enum { VARS_TEXT_CEILING = 1 << 20 };

bool vars_name_ok(const char *name)
{
    size_t n = strlen(name);
    return n > 0 && n <= 40 && name[0] >= 'A' && name[0] <= 'Z' &&
           strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") == n;
}

bool vars_source_ok(const char *source)
{
    for (size_t i = 0; i < ARRAY_LEN(sources); i++)
        if (str_eq(sources[i], source))
            return true;
    return false;
}

const char *vars_sources(void)
{
    return "registry, namespace, context, digest, work, lab, ready-nodes";
}

/* The next ${NAME} at or behind p: its name, and where it begins and ends. A
 * doubled dollar is no variable. NULL when there is none. */
static const char *next_var(const char *p, char name[64], const char **end)
{
    for (; (p = strstr(p, "${")); p += 2) {
        const char *close = strchr(p, '}');
        size_t n = close ? (size_t)(close - p - 2) : 64;
        if (n >= 64)
            continue;
        memcpy(name, p + 2, n);
        name[n] = '\0';
        if (!vars_name_ok(name))
            continue;
        *end = close + 1;
        return p;
    }
    return NULL;
}

bool vars_all_known(const struct lab *lab, const char *text, char unknown[64])
{
    const char *end, *start = text;
    char name[64];
    for (const char *p; (p = next_var(text, name, &end)); text = end) {
        bool known = p > start && p[-1] == '$';
        for (int i = 0; i < lab->vars_n && !known; i++)
            known = str_eq(lab->vars[i].name, name);
        if (!known) {
            str_copy(unknown, 64, name);
            return false;
        }
    }
    return true;
}

/* A missing value stays as it is written, or ends it (missing given). */
static bool fill(const struct json *vars, const char *text, struct str *out, char *missing)
{
    const char *end;
    char name[64];
    for (const char *p; (p = next_var(text, name, &end)); text = end) {
        const char *value = json_string_value(json_get(vars, name));
        bool literal = p > text && p[-1] == '$';
        if (!value && !literal && missing) {
            str_copy(missing, 64, name);
            return false;
        }
        /* $${NAME}: one dollar goes, the rest stays */
        str_append(out, text, (size_t)(p - text) - literal);
        if (literal || !value)
            str_append(out, p, (size_t)(end - p));
        else
            str_add(out, value);
    }
    str_add(out, text);
    return true;
}

bool vars_text(const struct json *vars, const char *text, struct str *out, char missing[64])
{
    return fill(vars, text, out, missing);
}

void vars_fill(const struct json *vars, const char *text, struct str *out)
{
    fill(vars, text, out, NULL);
}

struct json *vars_json(const struct json *vars, const struct json *args, char missing[64])
{
    if (json_type(args) == JSON_STRING) {
        struct str s;
        str_init(&s, VARS_TEXT_CEILING);
        bool ok = vars_text(vars, json_string_value(args), &s, missing);
        struct json *v = ok ? json_new_string(s.p) : NULL;
        str_release(&s);
        return v;
    }
    if (json_type(args) != JSON_OBJECT && json_type(args) != JSON_ARRAY)
        return json_copy(args);
    bool object = json_type(args) == JSON_OBJECT;
    struct json *out = object ? json_new_object() : json_new_array();
    for (const struct json *c = json_first(args); c; c = json_next(c)) {
        struct json *v = vars_json(vars, c, missing);
        if (!v) {
            json_free(out);
            return NULL;
        }
        if (object)
            json_set(out, json_key(c), v);
        else
            json_append(out, v);
    }
    return out;
}

/* splitmix64: a drawn value must not depend on the order of other draws. */
static uint64_t mix(uint64_t x)
{
    x += 0x9E3779B97F4A7C15u;
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
    return x ^ (x >> 31);
}

uint64_t vars_hash(uint64_t seed, const char *text)
{
    uint64_t x = mix(seed);
    for (; *text; text++)
        x = mix(x ^ (unsigned char)*text);
    return x;
}

/* Fixed values that use others: as soon as those are there. */
static bool settle(const struct lab *lab, struct json *vars)
{
    bool changed = false;
    for (int i = 0; i < lab->vars_n; i++) {
        const struct lab_var *v = &lab->vars[i];
        char missing[64];
        struct str s;
        if (v->kind != LAB_VAR_VALUE)
            continue;
        str_init(&s, VARS_TEXT_CEILING);
        if (vars_text(vars, v->values[0], &s, missing) &&
            !str_eq(s.p, json_string_value(json_get(vars, v->name)))) {
            json_put_str(vars, v->name, s.p);
            changed = true;
        }
        str_release(&s);
    }
    return changed;
}

static bool drawn(const struct lab_var *v)
{
    return v->kind == LAB_VAR_PICK || v->kind == LAB_VAR_NUMBER || v->kind == LAB_VAR_WORD;
}

static void draw_word(uint64_t x, int64_t n, char *word)
{
    /* none looks like another */
    static const char letters[] = "abcdefghijkmnpqrstuvwxyz23456789";
    for (int64_t i = 0; i < n; i++) {
        x = mix(x);
        word[i] = letters[x % (i ? 32 : 24)];    /* a name begins with a letter */
    }
    word[n] = '\0';
}

static void draw(const struct lab_var *v, uint64_t seed, struct json *vars)
{
    uint64_t x = vars_hash(seed, v->name);
    char text[64];
    if (v->kind == LAB_VAR_PICK)
        json_put_str(vars, v->name, v->values[x % (uint64_t)v->values_n]);
    if (v->kind == LAB_VAR_NUMBER)
        json_put_str(vars, v->name,
                     str_fmt(text, sizeof text, "%" PRId64,
                             v->low + (int64_t)(x % (uint64_t)(v->high - v->low + 1))));
    if (v->kind == LAB_VAR_WORD) {
        draw_word(x, v->low, text);
        json_put_str(vars, v->name, text);
    }
}

struct json *vars_draw(const struct lab *lab, uint64_t seed, const struct json *kept)
{
    struct json *vars = json_new_object();
    for (int i = 0; i < lab->vars_n; i++) {
        const struct lab_var *v = &lab->vars[i];
        const char *was = json_string_value(json_get(kept, v->name));
        if (drawn(v) && was)
            json_put_str(vars, v->name, was);
        else
            draw(v, seed, vars);
    }
    settle(lab, vars);
    return vars;
}

struct json *vars_drawn(const struct lab *lab, const struct json *vars)
{
    struct json *out = NULL;
    for (int i = 0; i < lab->vars_n; i++) {
        if (!drawn(&lab->vars[i]))
            continue;
        out = out ? out : json_new_object();
        json_put_str(out, lab->vars[i].name, json_string_value(json_get(vars, lab->vars[i].name)));
    }
    return out;
}

bool vars_give(const struct lab *lab, struct json *vars, const char *source, const char *value)
{
    bool changed = false;
    for (int i = 0; i < lab->vars_n && value; i++) {
        const struct lab_var *v = &lab->vars[i];
        if (v->kind != LAB_VAR_FROM || !str_eq(v->values[0], source) ||
            str_eq(json_string_value(json_get(vars, v->name)), value))
            continue;
        json_put_str(vars, v->name, value);
        changed = true;
    }
    return settle(lab, vars) || changed;
}
