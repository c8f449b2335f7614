/* validate_field.c - single fields: one of a few values, not negative, a port, a
 * path (validate_in.h). */
#include "core/base/base.h"

#include <ctype.h>

#include "core/base/mem.h"
#include "k8s/rules/validate_in.h"

static void child(char out[VALIDATE_PATH], const char *base, const char *key)
{
    str_fmt(out, VALIDATE_PATH, "%s.%s", base, key);
}

void validate_field_enum(const struct json *o, const char *key, const char *base,
                         const char *enums, struct ferrs *e)
{
    const char *v = json_str(o, key, NULL);
    char at[VALIDATE_PATH];
    struct strv all;
    if (!v)
        return;
    strv_init(&all);
    strv_split(&all, enums, '|');
    child(at, base, key);
    if (!strv_has(&all, v))
        ferrs_unsupported(e, at, v, enums);
    strv_release(&all);
}

void validate_field_not_negative(const struct json *o, const char *key, const char *base,
                                 struct ferrs *e)
{
    char at[VALIDATE_PATH];
    const struct json *v = json_get(o, key);
    child(at, base, key);
    if (v && json_number_value(v) < 0)
        ferrs_invalid(e, at, v, VALIDATE_NOT_NEGATIVE);
}

void validate_field_required(const struct json *o, const char *key, const char *base,
                             struct ferrs *e)
{
    char at[VALIDATE_PATH];
    child(at, base, key);
    if (!*json_str(o, key, ""))
        ferrs_required(e, at, "");
}

void validate_field_name(const struct json *o, const char *key, const char *base,
                         validate_problem_fn *problem, struct ferrs *e)
{
    char at[VALIDATE_PATH];
    const char *s = json_str(o, key, ""), *why = *s ? problem(s) : NULL;
    child(at, base, key);
    if (why)
        ferrs_invalid(e, at, json_get(o, key), "%s", why);
}

void validate_field_port(const struct json *v, const char *at, struct ferrs *e)
{
    double n = json_number_value(v);
    if (n < 1 || n > 65535)
        ferrs_invalid(e, at, v, VALIDATE_PORT);
}

void validate_field_port_name(const char *name, const char *at, struct ferrs *e)
{
    struct json *v = json_new_string(name);
    size_t n = strlen(name);
    bool letter = false, all = n > 0;
    for (const char *p = name; *p; p++) {
        letter = letter || (*p >= 'a' && *p <= 'z');
        all = all && ((*p >= 'a' && *p <= 'z') || isdigit((unsigned char)*p) || *p == '-');
    }
    if (n > 15)
        ferrs_invalid(e, at, v, "must be no more than 15 characters");
    if (!all)
        ferrs_invalid(e, at, v, "must contain only alpha-numeric characters (a-z, 0-9), and "
                                "hyphens (-)");
    if (!letter)
        ferrs_invalid(e, at, v, "must contain at least one letter (a-z)");
    if (strstr(name, "--"))
        ferrs_invalid(e, at, v, "must not contain consecutive hyphens");
    if (n > 0 && (name[0] == '-' || name[n - 1] == '-'))
        ferrs_invalid(e, at, v, "must not begin or end with a hyphen");
    json_free(v);
}

void validate_field_port_or_name(const struct json *v, const char *at, struct ferrs *e)
{
    if (json_type(v) == JSON_STRING)
        validate_field_port_name(json_string_value(v), at, e);
    else if (v)
        validate_field_port(v, at, e);
}

void validate_field_descending(const struct json *v, const char *at, struct ferrs *e)
{
    const char *s = json_string_value(v);
    struct strv parts;
    if (!s || !*s)
        return;
    strv_init(&parts);
    strv_split(&parts, s, '/');
    if (*s == '/')
        ferrs_invalid(e, at, v, "must be a relative path");
    if (strv_has(&parts, ".."))
        ferrs_invalid(e, at, v, "must not contain '..'");
    strv_release(&parts);
}
