/* ferrs.c - field errors (ferrs.h). */
#include "k8s/rules/ferrs.h"

#include "core/base/mem.h"

void ferrs_init(struct ferrs *e)
{
    e->causes = json_new_array();
}

void ferrs_release(struct ferrs *e)
{
    json_free(e->causes);
    e->causes = NULL;
}

size_t ferrs_count(const struct ferrs *e)
{
    return json_count(e->causes);
}

static void add(struct ferrs *e, const char *reason, const char *field, const char *message)
{
    struct json *c = json_new_object();
    json_put_str(c, "reason", reason);
    json_put_str(c, "message", message);
    json_put_str(c, "field", field);
    json_append(e->causes, c);
}

void ferrs_required(struct ferrs *e, const char *field, const char *detail)
{
    char *m = xasprintf("Required value%s%s", *detail ? ": " : "", detail);
    add(e, "FieldValueRequired", field, m);
    free(m);
}

void ferrs_invalid_text(struct ferrs *e, const char *field, const char *value, const char *detail)
{
    char *m = xasprintf("Invalid value: %s: %s", value, detail);
    add(e, "FieldValueInvalid", field, m);
    free(m);
}

void ferrs_invalid(struct ferrs *e, const char *field, const struct json *value,
                   const char *detail, ...)
{
    struct str d;
    va_list ap;
    str_init(&d, 16 << 10);
    va_start(ap, detail);
    str_vprintf(&d, detail, ap);
    va_end(ap);
    char *text = value ? json_text(value, 0) : xstrdup("null");
    ferrs_invalid_text(e, field, text, d.p);
    free(text);
    str_release(&d);
}

void ferrs_invalid_key(struct ferrs *e, const char *field, const char *value, const char *detail)
{
    struct json *v = json_new_string(value);
    ferrs_invalid(e, field, v, "%s", detail);
    json_free(v);
}

void ferrs_unsupported(struct ferrs *e, const char *field, const char *value, const char *enums)
{
    struct str m;
    struct strv v;
    str_init(&m, 8 << 10);
    strv_init(&v);
    strv_split(&v, enums, '|');
    str_printf(&m, "Unsupported value: \"%s\": supported values: ", value);
    for (size_t i = 0; i < v.n; i++)
        str_printf(&m, "%s\"%s\"", i ? ", " : "", v.v[i]);
    add(e, "FieldValueNotSupported", field, m.p);
    strv_release(&v);
    str_release(&m);
}

void ferrs_duplicate(struct ferrs *e, const char *field, const char *value)
{
    char *m = xasprintf("Duplicate value: \"%s\"", value);
    add(e, "FieldValueDuplicate", field, m);
    free(m);
}

void ferrs_forbidden(struct ferrs *e, const char *field, const char *detail)
{
    char *m = xasprintf("Forbidden: %s", detail);
    add(e, "FieldValueForbidden", field, m);
    free(m);
}

void ferrs_too_long(struct ferrs *e, const char *field, int most)
{
    char *m = xasprintf("Too long: may not be more than %d bytes", most);
    add(e, "FieldValueTooLong", field, m);
    free(m);
}

void ferrs_missing(struct ferrs *e, const char *field, const char *value)
{
    char *m = xasprintf("Not found: \"%s\"", value);
    add(e, "FieldValueNotFound", field, m);
    free(m);
}

