/* json.c - JSON trees on cJSON (json.h). A struct json is a cJSON, or a part of a
 * shared tree (json_share_io.h); what is asked of one is asked of both here. */
#include "core/base/json_share_io.h"

#include <math.h>

#include "core/base/i18n.h"
#include "core/base/mem.h"
#include "core/base/path.h"

static inline cJSON *raw(const struct json *j)
{
    return (cJSON *)j;
}

static inline struct json *wrap(cJSON *c)
{
    return (struct json *)c;
}

/* --- parse and print -------------------------------------------------------- */

static void place_of(const char *text, const char *at, int *line, int *col)
{
    *line = 1;
    *col = 1;
    for (; text < at; text++) {
        if (*text == '\n') {
            ++*line;
            *col = 1;
        } else {
            ++*col;
        }
    }
}

enum pd_code json_bad_text(const char *text, const char *at, struct pd_err *err)
{
    int line, col;
    place_of(text, at, &line, &col);
    return pd_fail_at(err, PD_PARSE, "", line, col, _("not valid JSON at line %d, column %d"), line,
                      col);
}

/* cJSON's own nesting limit is a compile-time 1000; ours is stricter. */
static bool too_deep(const char *text, size_t len)
{
    int depth = 0;
    bool in_string = false;
    for (size_t i = 0; i < len; i++) {
        char c = text[i];
        if (in_string) {
            if (c == '\\')
                i++;
            else if (c == '"')
                in_string = false;
        } else if (c == '"') {
            in_string = true;
        } else if (c == '{' || c == '[') {
            if (++depth > 200)
                return true;
        } else if (c == '}' || c == ']') {
            depth--;
        }
    }
    return false;
}

enum pd_code json_parse(const char *text, size_t len, struct json **out, struct pd_err *err)
{
    const char *end = text;
    if (too_deep(text, len))
        return pd_fail(err, PD_LIMIT, _("JSON nested deeper than 200 levels"));
    cJSON *c = cJSON_ParseWithLengthOpts(text, len, &end, false);
    if (!c)
        return json_bad_text(text, end ? MIN(end, text + len) : text, err);
    while (end < text + len && strchr(" \t\r\n", *end) && *end)
        end++;
    if (end < text + len) {
        cJSON_Delete(c);
        return json_bad_text(text, end, err);
    }
    *out = wrap(c);
    return PD_OK;
}

struct json *json_from(const char *text)
{
    struct json *j = NULL;
    struct pd_err err;
    if (json_parse(text, strlen(text), &j, &err) != PD_OK)
        PD_BUG("bad JSON literal: %s", text);
    return j;
}

enum pd_code json_read_file(const char *path, size_t ceiling, struct json **out,
                            struct pd_err *err)
{
    struct str s;
    str_init(&s, ceiling);
    enum pd_code code = path_read(path, ceiling, &s, err);
    if (code == PD_OK) {
        code = json_parse(s.p, s.len, out, err);
        if (code != PD_OK)
            str_copy(err->src, sizeof err->src, path);
    }
    str_release(&s);
    return code;
}

void json_free(struct json *j)
{
    if (json_is_root(j)) {
        json_block_drop(json_as_block(j));
    } else if (json_as_slot(j)) {
        PD_BUG("a part of a shared JSON tree is freed");
    } else if (j) {
        json_drop_bridges(raw(j));
        cJSON_Delete(raw(j));
    }
}

/* Of an integer that a double can't hold (json_new_integer), else NULL. */
static const char *digits(const struct json *j)
{
    return j && !json_is_shared(j) && json_type(j) == JSON_NUMBER ? raw(j)->valuestring : NULL;
}

static struct json *copy_leaf(const struct json *j)
{
    int64_t exact;
    if (digits(j) && str_to_i64(digits(j), &exact))
        return json_new_integer(exact);
    switch (json_type(j)) {
    case JSON_BOOL: return json_new_bool(json_bool_value(j));
    case JSON_NUMBER: return json_new_number(json_number_value(j));
    case JSON_STRING: return json_new_string(json_string_value(j));
    default: return json_new_null();
    }
}

/* Shared parts stay shared where `keep`, else all is an ordinary tree. */
static struct json *copy_tree(const struct json *j, bool keep)
{
    enum json_type t = json_type(j);
    if (keep && json_is_shared(j) && t >= JSON_ARRAY)
        return json_share(j);
    if (t < JSON_ARRAY)
        return copy_leaf(j);
    struct json *to = t == JSON_ARRAY ? json_new_array() : json_new_object();
    for (const struct json *c = json_first(j); c; c = json_next(c)) {
        cJSON *node = json_to_node(copy_tree(c, keep));
        if (t == JSON_ARRAY)
            cJSON_AddItemToArray(raw(to), node);
        else
            cJSON_AddItemToObject(raw(to), json_key(c), node);
    }
    return to;
}

struct json *json_copy(const struct json *j)
{
    return j ? copy_tree(j, false) : NULL;
}

struct json *json_copy_kept(const struct json *j)
{
    return j ? copy_tree(j, true) : NULL;
}

static bool equal_members(const struct json *a, const struct json *b)
{
    for (const struct json *c = json_first(a); c; c = json_next(c)) {
        const struct json *other = json_get(b, json_key(c));
        if (!other || !json_equal(c, other))
            return false;
    }
    return true;
}

static bool equal_items(const struct json *a, const struct json *b)
{
    for (a = json_first(a), b = json_first(b); a && b; a = json_next(a), b = json_next(b))
        if (!json_equal(a, b))
            return false;
    return !a && !b;
}

bool json_equal(const struct json *a, const struct json *b)
{
    enum json_type t = json_type(a);
    if (t != json_type(b))
        return false;
    if (json_share_same(a, b))
        return true;
    switch (t) {
    case JSON_BOOL: return json_bool_value(a) == json_bool_value(b);
    case JSON_NUMBER:
        return json_number_value(a) == json_number_value(b) &&
               (!digits(a) || !digits(b) || !strcmp(digits(a), digits(b)));
    case JSON_STRING: return str_eq(json_string_value(a), json_string_value(b));
    case JSON_ARRAY: return equal_items(a, b);
    case JSON_OBJECT: return json_count(a) == json_count(b) && equal_members(a, b);
    default: return true;
    }
}

static void print_string(const char *s, struct str *out)
{
    str_addc(out, '"');
    const char *run = s;
    for (; *s; s++) {
        unsigned char c = (unsigned char)*s;
        if (c >= 0x20 && c != '"' && c != '\\')
            continue;
        str_append(out, run, (size_t)(s - run));
        run = s + 1;
        static const char named[] = "\b\t\n\f\r\"\\", letters[] = "btnfr\"\\";
        const char *p = strchr(named, c);
        if (p)
            str_printf(out, "\\%c", letters[p - named]);
        else
            str_printf(out, "\\u%04x", c);
    }
    str_append(out, run, (size_t)(s - run));
    str_addc(out, '"');
}

/* Digits figures[n] with the point behind the first, times 10^exponent, written
 * out. */
static void print_plain(const char *figures, int n, int exponent, struct str *out)
{
    str_add(out, exponent < 0 ? "0." : "");
    for (int i = exponent; i < -1; i++)
        str_addc(out, '0');
    for (int i = 0; i < n || i <= exponent; i++)
        str_printf(out, "%s%c", i > 0 && i == exponent + 1 ? "." : "", i < n ? figures[i] : '0');
}

/* Go's encoding/json: the shortest digits that read back as the same double; no
 * exponent from 1e-6 up to 1e21. */
static void print_number(double v, struct str *out)
{
    char buf[40], figures[24];
    int digits = 15, n = 0;
    if (!isfinite(v)) {
        str_add(out, "null");
        return;
    }
    if (v == floor(v) && fabs(v) < 1e15) {
        str_printf(out, "%.0f", v == 0 ? 0.0 : v);
        return;
    }
    do
        snprintf(buf, sizeof buf, "%.*e", digits - 1, v);
    while (digits++ < 17 && strtod(buf, NULL) != v);
    const char *e = strchr(buf, 'e');
    int exponent = atoi(e + 1);
    for (const char *p = buf; p < e; p++)
        if (*p >= '0' && *p <= '9')
            figures[n++] = *p;
    while (n > 1 && figures[n - 1] == '0')
        n--;
    str_add(out, v < 0 ? "-" : "");
    if (exponent >= -6 && exponent < 21)
        print_plain(figures, n, exponent, out);
    else
        str_printf(out, "%c%s%.*se%c%d", figures[0], n > 1 ? "." : "", n - 1, figures + 1,
                   exponent < 0 ? '-' : '+', abs(exponent));
}

static void newline(struct str *out, int indent, int depth)
{
    if (indent > 0) {
        str_addc(out, '\n');
        for (int i = 0; i < indent * depth; i++)
            str_addc(out, ' ');
    }
}

static void print_node(const struct json *j, int indent, int depth, struct str *out);

static void print_children(const struct json *j, int indent, int depth, struct str *out)
{
    bool object = json_type(j) == JSON_OBJECT;
    const struct json *first = json_first(j);
    str_addc(out, object ? '{' : '[');
    for (const struct json *k = first; k; k = json_next(k)) {
        if (k != first)
            str_addc(out, ',');
        newline(out, indent, depth + 1);
        if (object) {
            print_string(json_key(k), out);
            str_add(out, indent ? ": " : ":");
        }
        print_node(k, indent, depth + 1, out);
    }
    if (first)
        newline(out, indent, depth);
    str_addc(out, object ? '}' : ']');
}

static void print_node(const struct json *j, int indent, int depth, struct str *out)
{
    switch (json_type(j)) {
    case JSON_BOOL: str_add(out, json_bool_value(j) ? "true" : "false"); break;
    case JSON_NUMBER:
        if (digits(j))
            str_add(out, digits(j));
        else
            print_number(json_number_value(j), out);
        break;
    case JSON_STRING: print_string(json_string_value(j), out); break;
    case JSON_ARRAY:
    case JSON_OBJECT: print_children(j, indent, depth, out); break;
    default: str_add(out, "null");
    }
}

bool json_print(const struct json *j, int indent, struct str *s)
{
    print_node(j, indent, 0, s);
    return !s->full;
}

char *json_text(const struct json *j, int indent)
{
    struct str s;
    str_init(&s, SIZE_MAX / 2);
    json_print(j, indent, &s);
    return str_take(&s);
}

/* --- read ------------------------------------------------------------------- */

enum json_type json_type(const struct json *j)
{
    static const struct {
        int bit;
        enum json_type type;
    } map[] = {{cJSON_False, JSON_BOOL},   {cJSON_True, JSON_BOOL},     {cJSON_NULL, JSON_NULL},
               {cJSON_Number, JSON_NUMBER}, {cJSON_String, JSON_STRING}, {cJSON_Array, JSON_ARRAY},
               {cJSON_Object, JSON_OBJECT}};
    const struct json_slot *s = json_as_slot(j);
    if (s)
        return (enum json_type)s->type;
    if (json_is_shared(j))
        return json_as_block(j)->array ? JSON_ARRAY : JSON_OBJECT;
    if (j)
        for (size_t i = 0; i < ARRAY_LEN(map); i++)
            if ((raw(j)->type & 0xff) == map[i].bit)
                return map[i].type;
    return JSON_MISSING;
}

void json_must_be_own(const struct json *j)
{
    if (json_is_shared(j))
        PD_BUG("a shared JSON tree is to be changed: json_copy it");
}

/* Of either kind; the public _mut forms see to it that it is the caller's. */
static struct json *member(const struct json *j, const char *key)
{
    const struct json_block *b = json_as_block(j);
    if (json_type(j) != JSON_OBJECT)
        return NULL;
    if (!b)
        return wrap(cJSON_GetObjectItemCaseSensitive(raw(j), key));
    for (size_t i = 0; i < b->n; i++)
        if (!strcmp(json_key_text(b->slot[i].key), key))
            return (struct json *)json_of_slot(&b->slot[i]);
    return NULL;
}

struct json *json_get_mut(struct json *j, const char *key)
{
    json_must_be_own(j);
    return member(j, key);
}

const struct json *json_get(const struct json *j, const char *key)
{
    return member(j, key);
}

const struct json *json_item(const struct json *j, int index)
{
    const struct json_block *b = json_as_block(j);
    if (json_type(j) != JSON_ARRAY)
        return NULL;
    if (index < 0)
        index += (int)json_count(j);
    if (b)
        return index < 0 || index >= (int)b->n ? NULL : json_of_slot(&b->slot[index]);
    return index < 0 ? NULL : wrap(cJSON_GetArrayItem(raw(j), index));
}

/* "[?key=value]": the first element whose member prints as value. */
static struct json *find_item(struct json *j, const char *expr, size_t n)
{
    const char *eq = memchr(expr, '=', n);
    if (!eq)
        return NULL;
    char key[128], want[256];
    str_fmt(key, sizeof key, "%.*s", (int)(eq - expr), expr);
    str_fmt(want, sizeof want, "%.*s", (int)(n - (size_t)(eq - expr) - 1), eq + 1);
    for (const struct json *c = json_first(j); c; c = json_next(c)) {
        const struct json *m = json_get(c, key);
        const char *s = json_string_value(m);
        bool hit = s && strcmp(s, want) == 0;
        if (m && !s) {
            char *text = json_text(m, 0);
            hit = strcmp(text, want) == 0;
            free(text);
        }
        if (hit)
            return (struct json *)c;
    }
    return NULL;
}

/* One bracket, p behind the '['; moves *rest behind the ']'. */
static struct json *step_bracket(struct json *j, const char *p, const char **rest)
{
    if (*p == '\'') {
        const char *end = strstr(p + 1, "']");
        if (!end)
            return NULL;
        char key[320];
        str_fmt(key, sizeof key, "%.*s", (int)(end - p - 1), p + 1);
        *rest = end + 2;
        return member(j, key);
    }
    const char *end = strchr(p, ']');
    if (!end)
        return NULL;
    *rest = end + 1;
    if (*p == '?')
        return find_item(j, p + 1, (size_t)(end - p - 1));
    return (struct json *)json_item(j, atoi(p));
}

static struct json *at(struct json *j, const char *path)
{
    while (j && *path) {
        if (*path == '.') {
            path++;
        } else if (*path == '[') {
            j = step_bracket(j, path + 1, &path);
        } else {
            size_t n = strcspn(path, ".[");
            char key[320];
            if (n >= sizeof key)
                return NULL;
            memcpy(key, path, n);
            key[n] = '\0';
            j = member(j, key);
            path += n;
        }
    }
    return j;
}

struct json *json_at_mut(struct json *j, const char *path)
{
    struct json *found = at(j, path);
    json_must_be_own(j);
    json_must_be_own(found);
    return found;
}

const struct json *json_at(const struct json *j, const char *path)
{
    return at((struct json *)j, path);
}

bool json_has(const struct json *j, const char *path)
{
    return json_at(j, path) != NULL;
}

const char *json_str(const struct json *j, const char *path, const char *def)
{
    const char *s = json_string_value(json_at(j, path));
    return s ? s : def;
}

double json_num(const struct json *j, const char *path, double def)
{
    const struct json *n = json_at(j, path);
    return json_type(n) == JSON_NUMBER ? json_number_value(n) : def;
}

int64_t json_int(const struct json *j, const char *path, int64_t def)
{
    const struct json *n = json_at(j, path);
    if (json_type(n) != JSON_NUMBER)
        return def;
    double v = json_number_value(n);
    int64_t exact;
    if (digits(n) && str_to_i64(digits(n), &exact))
        return exact;
    if (v >= 9.2e18)
        return INT64_MAX;
    return v <= -9.2e18 ? INT64_MIN : (int64_t)v;
}

bool json_bool(const struct json *j, const char *path, bool def)
{
    const struct json *n = json_at(j, path);
    return json_type(n) == JSON_BOOL ? json_bool_value(n) : def;
}

const char *json_string_value(const struct json *j)
{
    const struct json_slot *s = json_as_slot(j);
    if (json_type(j) != JSON_STRING)
        return NULL;
    return s ? s->u.str->s : raw(j)->valuestring;
}

double json_number_value(const struct json *j)
{
    const struct json_slot *s = json_as_slot(j);
    if (json_type(j) != JSON_NUMBER)
        return 0;
    return s ? s->u.num : raw(j)->valuedouble;
}

bool json_bool_value(const struct json *j)
{
    const struct json_slot *s = json_as_slot(j);
    if (json_type(j) != JSON_BOOL)
        return false;
    return s ? s->u.num != 0 : cJSON_IsTrue(raw(j));
}

const struct json *json_first(const struct json *j)
{
    const struct json_block *b = json_as_block(j);
    if (b)
        return b->n ? json_of_slot(b->slot) : NULL;
    return json_type(j) >= JSON_ARRAY ? wrap(raw(j)->child) : NULL;
}

const struct json *json_next(const struct json *c)
{
    const struct json_slot *s = json_as_slot(c);
    if (s)
        return s->last ? NULL : json_of_slot(s + 1);
    return c && !json_is_root(c) ? wrap(raw(c)->next) : NULL;
}

struct json *json_first_mut(struct json *j)
{
    json_must_be_own(j);
    return (struct json *)json_first(j);
}

struct json *json_next_mut(struct json *c)
{
    return (struct json *)json_next(c);
}

const char *json_key(const struct json *c)
{
    const struct json_slot *s = json_as_slot(c);
    if (s)
        return json_key_text(s->key);
    return c && !json_is_root(c) ? raw(c)->string : NULL;
}

size_t json_count(const struct json *j)
{
    const struct json_block *b = json_as_block(j);
    size_t n = 0;
    if (b)
        return b->n;
    for (const struct json *c = json_first(j); c; c = json_next(c))
        n++;
    return n;
}
