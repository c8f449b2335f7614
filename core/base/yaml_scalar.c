/* yaml_scalar.c - typing of scalars (yaml_scalar.h). */
#include "core/base/yaml_scalar.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>

#include "core/base/i18n.h"

#define TAG "tag:yaml.org,2002:"

static const char not_finite[] = N_("JSON has no infinity and no NaN");
static const char bad_tag[] = N_("the value is not of the type that its tag names");
static const char null_key[] = N_("a key can't be null");
static const char big_key[] = N_("a number as a key must fit 64 bits with a sign");

static bool in_list(const char *const *list, size_t n, const char *s)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(list[i], s) == 0)
            return true;
    return false;
}

static const char *const nulls[] = {"", "~", "null", "Null", "NULL"};
static const char *const trues[] = {"y", "Y", "yes", "Yes", "YES", "true", "True", "TRUE",
                                    "on", "On", "ON"};
static const char *const falses[] = {"n", "N", "no", "No", "NO", "false", "False", "FALSE",
                                     "off", "Off", "OFF"};
static const char *const not_numbers[] = {".nan", ".NaN", ".NAN", ".inf", ".Inf", ".INF",
                                          "+.inf", "+.Inf", "+.INF", "-.inf", "-.Inf", "-.INF"};

/* Digits without the underscores that YAML 1.1 allows; false when too long. */
static bool plain_digits(const char *text, char *buf, size_t size)
{
    size_t n = 0;
    for (; *text; text++) {
        if (*text == '_')
            continue;
        if (n + 1 >= size)
            return false;
        buf[n++] = *text;
    }
    buf[n] = '\0';
    return n > 0;
}

/* Go's ParseInt with base 0: 0x, 0o, 0b, a leading 0, else decimal. */
static int base_of(const char **s)
{
    static const char letters[] = "xXoObB";
    static const int bases[] = {16, 16, 8, 8, 2, 2};
    const char *p = *s, *letter = p[0] == '0' && p[1] ? strchr(letters, p[1]) : NULL;
    if (letter) {
        *s = p + 2;
        return bases[letter - letters];
    }
    return p[0] == '0' && p[1] ? 8 : 10;
}

/* An integer of 64 bits; one without a sign may be twice as large (it is then
 * kept as a number only: Kubernetes has no such type). */
static bool parse_int(const char *s, struct yscalar *out)
{
    bool minus = *s == '-', sign = *s == '-' || *s == '+';
    char *end;
    s += sign;
    int base = base_of(&s);
    if (!*s || s[strspn(s, base == 16 ? "0123456789abcdefABCDEF" : "0123456789")])
        return false;
    errno = 0;
    uint64_t v = strtoull(s, &end, base);
    if (*end || errno || (sign && v > (uint64_t)INT64_MAX + minus))
        return false;
    out->kind = v <= (uint64_t)INT64_MAX + minus ? Y_INT : Y_FLOAT;
    out->integer = minus ? (int64_t)-v : (int64_t)v;
    out->number = minus ? -(double)v : (double)v;
    return true;
}

/* go-yaml: ^[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?$ */
static bool float_shape(const char *s)
{
    if (*s == '-' || *s == '+')
        s++;
    size_t whole = strspn(s, "0123456789"), frac = 0;
    s += whole;
    if (*s == '.') {
        frac = strspn(++s, "0123456789");
        s += frac;
        if (whole == 0 && frac == 0)
            return false;
    } else if (whole == 0) {
        return false;
    }
    if (*s == 'e' || *s == 'E') {
        s++;
        if (*s == '-' || *s == '+')
            s++;
        size_t digits = strspn(s, "0123456789");
        if (digits == 0)
            return false;
        s += digits;
    }
    return *s == '\0';
}

/* A number too large for a double is no number to Go. */
static bool parse_float(const char *s, struct yscalar *out)
{
    if (!float_shape(s))
        return false;
    out->number = strtod(s, NULL);
    if (!isfinite(out->number)) {
        out->number = 0;
        return false;
    }
    out->kind = Y_FLOAT;
    return true;
}

/* Where a number begins with its point, Go wants a digit on both sides of "_". */
static bool separated(const char *s)
{
    for (const char *p = strchr(s, '_'); p; p = strchr(p + 1, '_'))
        if (!isdigit((unsigned char)p[-1]) || !isdigit((unsigned char)p[1]))
            return false;
    return true;
}

static void number(const char *text, struct yscalar *out)
{
    enum { LONGEST = 4096 };
    char buf[LONGEST];
    if (!strchr("+-.0123456789", text[0]) || !plain_digits(text, buf, sizeof buf))
        return;
    if (text[0] == '.' ? separated(text) : !parse_int(buf, out))
        parse_float(buf, out);
}

static struct yscalar resolve(const char *text)
{
    struct yscalar s = {.kind = Y_STRING};
    if (in_list(nulls, ARRAY_LEN(nulls), text))
        s.kind = Y_NULL;
    else if (in_list(trues, ARRAY_LEN(trues), text))
        s = (struct yscalar){.kind = Y_BOOL, .number = 1};
    else if (in_list(falses, ARRAY_LEN(falses), text))
        s.kind = Y_BOOL;
    else if (in_list(not_numbers, ARRAY_LEN(not_numbers), text))
        s.flaw = not_finite;
    else
        number(text, &s);
    return s;
}

/* !!int and its like on something else are refused by go-yaml; a tag that it
 * does not know makes a string of anything. */
static struct yscalar tagged(const char *text, const char *tag)
{
    static const struct {
        const char *tag;
        enum ykind kind;
    } known[] = {{TAG "bool", Y_BOOL}, {TAG "int", Y_INT}, {TAG "float", Y_FLOAT},
                 {TAG "null", Y_NULL}};
    struct yscalar s = resolve(text), string = {.kind = Y_STRING};
    for (size_t i = 0; i < ARRAY_LEN(known); i++) {
        if (strcmp(known[i].tag, tag) != 0)
            continue;
        if (s.kind == Y_INT && known[i].kind == Y_FLOAT)
            s.kind = Y_FLOAT;
        if (s.kind == known[i].kind || s.flaw)
            return s;
        string.flaw = bad_tag;
    }
    return string;
}

struct yscalar yaml_scalar_of(const char *text, bool implicit, const char *tag)
{
    if (tag)
        return tagged(text, tag);
    return implicit ? resolve(text) : (struct yscalar){.kind = Y_STRING};
}

/* Go's FormatFloat(v, 'g', -1, 32): the shortest digits that read back as the
 * same float, exponent form below 1e-4 and from 1e6. */
static const char *float_key(float v, char buf[40])
{
    int digits = 1;
    char shortest[40];
    if (!isfinite(v))
        return v < 0 ? "-.inf" : ".inf";
    do
        snprintf(shortest, sizeof shortest, "%.*e", digits - 1, (double)v);
    while (strtof(shortest, NULL) != v && ++digits <= 9);
    int exponent = atoi(strchr(shortest, 'e') + 1);
    if (exponent < -4 || exponent >= 6)
        snprintf(buf, 40, "%s", shortest);
    else
        snprintf(buf, 40, "%.*f", MAX(digits - 1 - exponent, 0), strtod(shortest, NULL));
    return buf;
}

const char *yaml_scalar_key(const struct yscalar *s, const char *text, char buf[40],
                            const char **flaw)
{
    static const char *const inf[] = {".nan", ".inf", "-.inf"};
    *flaw = NULL;
    if (s->flaw == not_finite)
        return inf[text[strspn(text, "+-.")] == 'n' || text[1] == 'N' ? 0 : text[0] == '-' ? 2 : 1];
    switch (s->kind) {
    case Y_NULL: *flaw = null_key; return NULL;
    case Y_BOOL: return s->number != 0 ? "true" : "false";
    case Y_INT: snprintf(buf, 40, "%" PRId64, s->integer); return buf;
    case Y_FLOAT:
        if (s->number >= 9223372036854775808.0 && !strpbrk(text, ".eE")) {
            *flaw = big_key;
            return NULL;
        }
        return float_key((float)s->number, buf);
    default: return text;
    }
}
