/* yaml_scalar.c - typing of plain scalars (yaml_scalar.h). */
#include "core/base/yaml_scalar.h"

#include <ctype.h>

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

static bool parse_based(const char *s, int base, double *number)
{
    char *end;
    if (!isxdigit((unsigned char)*s))
        return false;
    unsigned long long v = strtoull(s, &end, base);
    *number = (double)v;
    return *end == '\0';
}

static bool parse_int(const char *s, double *number)
{
    bool minus = *s == '-';
    if (*s == '-' || *s == '+')
        s++;
    if (!isdigit((unsigned char)*s))
        return false;
    bool ok;
    if (s[0] == '0' && (s[1] == 'x' || s[1] == 'X'))
        ok = parse_based(s + 2, 16, number);
    else if (s[0] == '0' && (s[1] == 'b' || s[1] == 'B'))
        ok = parse_based(s + 2, 2, number);
    else if (s[0] == '0' && (s[1] == 'o' || s[1] == 'O'))
        ok = parse_based(s + 2, 8, number);
    else if (s[0] == '0' && s[1])
        ok = parse_based(s, 8, number);
    else
        ok = parse_based(s, 10, number);
    if (minus)
        *number = -*number;
    return ok;
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

enum ykind yaml_scalar_kind(const char *text, double *number)
{
    char buf[64];
    *number = 0;
    if (in_list(nulls, ARRAY_LEN(nulls), text))
        return Y_NULL;
    if (in_list(trues, ARRAY_LEN(trues), text)) {
        *number = 1;
        return Y_BOOL;
    }
    if (in_list(falses, ARRAY_LEN(falses), text))
        return Y_BOOL;
    if (!strchr("+-.0123456789", text[0]) || !plain_digits(text, buf, sizeof buf))
        return Y_STRING;
    if (parse_int(buf, number))
        return Y_INT;
    if (float_shape(buf) && str_to_f64(buf, number))
        return Y_FLOAT;
    *number = 0;
    return Y_STRING;
}
