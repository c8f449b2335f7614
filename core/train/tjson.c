/* tjson.c - the static trainer's JSON reader: jansson behind paths. */
#include "core/base/base.h"

#include <ctype.h>
#include <jansson.h>

#include "core/base/i18n.h"
#include "core/base/mem.h"
#include "core/base/path.h"
#include "core/train/tjson.h"

#define KEY_MAX 256
#define BIG_MOST 8               /* integers beyond 64 bits in one text */

static const json_t *real(const struct tjson *j)
{
    return (const json_t *)j;
}

static const struct tjson *wrap(const json_t *j)
{
    return (const struct tjson *)j;
}

/* Where the number that ends at or before `at` needs ".0" to be a real; 0: it is
 * none already. */
static size_t end_of_integer(const char *text, size_t n, size_t at)
{
    size_t end = MIN(at, n);
    while (end > 0 && !isdigit((unsigned char)text[end - 1]))
        end--;
    while (end < n && isdigit((unsigned char)text[end]))
        end++;
    size_t start = end;
    while (start > 0 && isdigit((unsigned char)text[start - 1]))
        start--;
    bool real = (start > 0 && strchr(".eE+", text[start - 1])) ||
                (end < n && strchr(".eE", text[end]));
    return real ? 0 : end;
}

/* jansson refuses integers beyond 64 bits, which transformers writes
 * ("model_max_length": 1000000000000000019884624838656): they become reals. */
static json_t *load(const char *text, size_t n, int most, json_error_t *at)
{
    json_t *j = json_loadb(text, n, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY | JSON_ALLOW_NUL,
                           at);
    if (j || most == 0 || json_error_code(at) != json_error_numeric_overflow)
        return j;
    size_t end = end_of_integer(text, n, (size_t)at->position);
    if (end == 0)
        return NULL;
    char *copy = xmalloc(n + 2);
    memcpy(copy, text, end);
    memcpy(copy + end, ".0", 2);
    memcpy(copy + end + 2, text + end, n - end);
    j = load(copy, n + 2, most - 1, at);
    free(copy);
    return j;
}

enum pd_code tjson_parse(const char *text, size_t n, const char *src, int first,
                         struct tjson **out, struct pd_err *err)
{
    json_error_t at;
    json_t *j = load(text, n, BIG_MOST, &at);
    if (!j)
        return pd_fail_at(err, PD_PARSE, src, first + MAX(at.line, 1) - 1, MAX(at.column, 1),
                          _("not valid JSON: %s"), at.text);
    *out = (struct tjson *)j;
    return PD_OK;
}

enum pd_code tjson_read(const char *path, size_t ceiling, struct tjson **out, struct pd_err *err)
{
    struct str text;
    str_init(&text, ceiling);
    enum pd_code rc = path_read(path, ceiling, &text, err);
    if (rc == PD_OK)
        rc = tjson_parse(text.p, text.len, path, 1, out, err);
    str_release(&text);
    return rc;
}

void tjson_free(struct tjson *j)
{
    json_decref((json_t *)j);
}

enum tjson_type tjson_type(const struct tjson *j)
{
    static const enum tjson_type types[] = {
        [JSON_OBJECT] = TJSON_OBJECT, [JSON_ARRAY] = TJSON_ARRAY, [JSON_STRING] = TJSON_STRING,
        [JSON_INTEGER] = TJSON_INT,   [JSON_REAL] = TJSON_REAL,   [JSON_TRUE] = TJSON_BOOL,
        [JSON_FALSE] = TJSON_BOOL,    [JSON_NULL] = TJSON_NULL,
    };
    return j ? types[json_typeof(real(j))] : TJSON_MISSING;
}

const char *tjson_type_name(enum tjson_type t)
{
    static const char *const names[] = {"missing", "null",   "boolean", "integer",
                                        "number",  "string", "array",   "object"};
    return names[t];
}

const char *tjson_bytes(const struct tjson *j, size_t *n)
{
    *n = json_string_length(real(j));
    return json_string_value(real(j));
}

const struct tjson *tjson_get(const struct tjson *j, const char *key)
{
    return wrap(json_object_get(real(j), key));
}

const struct tjson *tjson_item(const struct tjson *j, size_t i)
{
    return wrap(json_array_get(real(j), i));
}

size_t tjson_count(const struct tjson *j)
{
    return json_is_array(real(j)) ? json_array_size(real(j)) : json_object_size(real(j));
}

/* One step of a path from *p on: ".key", "key" or "[i]". */
static const struct tjson *step(const struct tjson *j, const char **p)
{
    const char *s = *p;
    if (*s == '[') {
        char *end;
        if (!isdigit((unsigned char)s[1]))
            return NULL;
        unsigned long i = strtoul(s + 1, &end, 10);
        if (*end != ']')
            return NULL;
        *p = end + 1;
        return tjson_item(j, i);
    }
    char key[KEY_MAX];
    if (*s == '.')
        s++;
    size_t n = strcspn(s, ".[");
    if (n == 0 || n >= sizeof key)
        return NULL;
    memcpy(key, s, n);
    key[n] = '\0';
    *p = s + n;
    return tjson_get(j, key);
}

const struct tjson *tjson_at(const struct tjson *j, const char *path)
{
    while (j && *path)
        j = step(j, &path);
    return j;
}

const char *tjson_str(const struct tjson *j, const char *path, const char *def)
{
    const char *s = json_string_value(real(tjson_at(j, path)));
    return s ? s : def;
}

double tjson_num(const struct tjson *j, const char *path, double def)
{
    const json_t *v = real(tjson_at(j, path));
    return json_is_number(v) ? json_number_value(v) : def;
}

int64_t tjson_int(const struct tjson *j, const char *path, int64_t def)
{
    const json_t *v = real(tjson_at(j, path));
    return json_is_integer(v) ? json_integer_value(v) : def;
}

bool tjson_bool(const struct tjson *j, const char *path, bool def)
{
    const json_t *v = real(tjson_at(j, path));
    return json_is_boolean(v) ? json_is_true(v) : def;
}

void *tjson_iter(const struct tjson *obj)
{
    return json_object_iter((json_t *)(uintptr_t)obj);
}

void *tjson_iter_next(const struct tjson *obj, void *it)
{
    return json_object_iter_next((json_t *)(uintptr_t)obj, it);
}

const char *tjson_iter_key(void *it)
{
    return json_object_iter_key(it);
}

const struct tjson *tjson_iter_value(void *it)
{
    return wrap(json_object_iter_value(it));
}

bool tjson_quote(struct str *out, const char *s)
{
    bool ok = str_addc(out, '"');
    for (; *s; s++) {
        unsigned char c = (unsigned char)*s;
        if (c == '"' || c == '\\')
            ok = str_addc(out, '\\') && str_addc(out, (char)c) && ok;
        else if (c < 0x20)
            ok = str_printf(out, "\\u%04x", c) && ok;
        else
            ok = str_addc(out, (char)c) && ok;
    }
    return str_addc(out, '"') && ok;
}

void tjson_set_str(struct tjson *obj, const char *key, const char *value)
{
    json_object_set_new((json_t *)obj, key, json_string(value));
}

static int print_part(const char *text, size_t n, void *out)
{
    return str_append(out, text, n) ? 0 : -1;
}

bool tjson_print(const struct tjson *j, struct str *out)
{
    return json_dump_callback(real(j), print_part, out, JSON_INDENT(2) | JSON_ENCODE_ANY) == 0 &&
           str_addc(out, '\n');
}
