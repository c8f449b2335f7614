/* json_share_parse.c - text to a shared tree in one pass (json_share.h): members
 * are gathered on a stack of slots, a closed bracket makes a block of its part. */
#include "core/base/json_share_io.h"

#include "core/base/i18n.h"
#include "core/base/mem.h"

enum { DEEPEST = 200 };

/* Where in a Kubernetes answer the parser is. */
enum place { P_PLAIN, P_EVENT, P_OBJECT, P_META };

struct parse {
    const char *start, *p, *end;
    const struct json_shape *shape;
    struct json_slot *stack;
    size_t n, cap;
    struct str text;                 /* a string with escapes, decoded */
    int depth;
    enum pd_code code;
};

static bool value(struct parse *x, enum place place, struct json_slot *out);

static void blanks(struct parse *x)
{
    while (x->p < x->end && (*x->p == ' ' || *x->p == '\n' || *x->p == '\r' || *x->p == '\t'))
        x->p++;
}

static bool take(struct parse *x, char c)
{
    blanks(x);
    if (x->p >= x->end || *x->p != c)
        return false;
    x->p++;
    return true;
}

/* --- strings --- */

static bool hex4(struct parse *x, unsigned *out)
{
    static const char digits[] = "0123456789abcdef";
    *out = 0;
    for (int i = 0; i < 4; i++, x->p++) {
        char c = x->p < x->end ? *x->p : '\0';
        const char *d = c ? strchr(digits, c >= 'A' && c <= 'F' ? c + 32 : c) : NULL;
        if (!d)
            return false;
        *out = *out << 4 | (unsigned)(d - digits);
    }
    return true;
}

static void utf8(struct str *s, unsigned c)
{
    static const unsigned lead[] = {0, 0xc0, 0xe0, 0xf0};
    int more = c < 0x80 ? 0 : c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
    str_addc(s, (char)(c >> 6 * more | lead[more]));
    while (more-- > 0)
        str_addc(s, (char)((c >> 6 * more & 0x3f) | 0x80));
}

/* Behind "\u": a pair of surrogates is one letter, half a pair is none. */
static bool unicode(struct parse *x)
{
    unsigned c, low;
    if (!hex4(x, &c) || (c >= 0xdc00 && c < 0xe000))
        return false;
    if (c >= 0xd800 && c < 0xdc00) {
        if (x->end - x->p < 6 || x->p[0] != '\\' || x->p[1] != 'u')
            return false;
        x->p += 2;
        if (!hex4(x, &low) || low < 0xdc00 || low >= 0xe000)
            return false;
        c = 0x10000 + ((c & 0x3ff) << 10 | (low & 0x3ff));
    }
    utf8(&x->text, c);
    return true;
}

static bool escape(struct parse *x)
{
    static const char letters[] = "btnfr\"\\/", means[] = "\b\t\n\f\r\"\\/";
    char c = x->p < x->end ? *x->p++ : '\0';
    const char *at = c ? strchr(letters, c) : NULL;
    if (c == 'u')
        return unicode(x);
    return at && str_addc(&x->text, means[at - letters]);
}

/* p stands behind the opening quote. */
static bool string(struct parse *x, struct json_string **out)
{
    const char *from = x->p, *end = memchr(from, '"', (size_t)(x->end - from));
    if (!end)
        return false;
    if (!memchr(from, '\\', (size_t)(end - from))) {
        x->p = end + 1;
        *out = json_string_hold(from, (size_t)(end - from));
        return true;
    }
    str_clear(&x->text);
    while (x->p < x->end && *x->p != '"') {
        const char *run = x->p;
        while (x->p < x->end && *x->p != '"' && *x->p != '\\')
            x->p++;
        str_append(&x->text, run, (size_t)(x->p - run));
        if (x->p < x->end && *x->p == '\\') {
            x->p++;
            if (!escape(x))
                return false;
        }
    }
    if (x->p >= x->end)
        return false;
    x->p++;
    *out = json_string_hold(x->text.p, x->text.len);
    return true;
}

/* --- numbers and words --- */

static size_t digits(const char *p, const char *end)
{
    const char *from = p;
    while (p < end && *p >= '0' && *p <= '9')
        p++;
    return (size_t)(p - from);
}

static bool number(struct parse *x, struct json_slot *out)
{
    const char *from = x->p, *p = from + (*from == '-');
    size_t n = digits(p, x->end), more;
    if (n == 0 || (n > 1 && *p == '0'))
        return false;
    p += n;
    bool whole = n < 16;
    if (p < x->end && *p == '.') {
        if (!(more = digits(p + 1, x->end)))
            return false;
        p += 1 + more;
        whole = false;
    }
    if (p < x->end && (*p == 'e' || *p == 'E')) {
        p++;
        p += p < x->end && (*p == '+' || *p == '-');
        if (!(more = digits(p, x->end)))
            return false;
        p += more;
        whole = false;
    }
    char text[64];
    str_fmt(text, sizeof text, "%.*s", (int)MIN(p - from, (ptrdiff_t)sizeof text - 1), from);
    out->u.num = whole ? (double)strtoll(text, NULL, 10) : strtod(text, NULL);
    out->type = JSON_NUMBER;
    x->p = p;
    return p - from < (ptrdiff_t)sizeof text;
}

static bool word(struct parse *x, struct json_slot *out)
{
    static const struct { const char *text; uint8_t type; double num; } words[] = {
        {"true", JSON_BOOL, 1}, {"false", JSON_BOOL, 0}, {"null", JSON_NULL, 0}};
    for (size_t i = 0; i < ARRAY_LEN(words); i++) {
        size_t n = strlen(words[i].text);
        if ((size_t)(x->end - x->p) >= n && !memcmp(x->p, words[i].text, n)) {
            out->type = words[i].type;
            out->u.num = words[i].num;
            x->p += n;
            return true;
        }
    }
    return false;
}

/* --- objects and arrays --- */

static struct json_slot *push(struct parse *x, struct json_slot s)
{
    if (x->n == x->cap) {
        x->cap = x->cap ? 2 * x->cap : 256;
        x->stack = xrealloc_array(x->stack, x->cap, sizeof *x->stack);
    }
    x->stack[x->n] = s;
    return &x->stack[x->n++];
}

/* A value that nobody reads: its end by brackets and quotes alone. */
static bool skip(struct parse *x)
{
    int depth = 0;
    blanks(x);
    while (x->p < x->end) {
        char c = *x->p++;
        if (c == '"') {
            while (x->p < x->end && *x->p != '"')
                x->p += *x->p == '\\' && x->p + 1 < x->end ? 2 : 1;
            if (x->p++ == x->end)
                return false;
        } else if (c == '{' || c == '[') {
            depth++;
        } else if (c == '}' || c == ']') {
            depth--;
        }
        if (depth <= 0 && (c == '"' || c == '}' || c == ']'))
            return depth == 0;
    }
    return false;
}

static bool element(struct parse *x)
{
    struct json_slot s = {0};
    if (!value(x, P_PLAIN, &s))
        return false;
    push(x, s);
    return true;
}

static enum place below(enum place place, const char *key)
{
    if (place == P_EVENT)
        return !strcmp(key, "object") ? P_OBJECT : P_PLAIN;
    return place == P_OBJECT && !strcmp(key, "metadata") ? P_META : P_PLAIN;
}

static bool opens(struct parse *x)
{
    blanks(x);
    return x->p < x->end && (*x->p == '[' || *x->p == '{');
}

static bool member(struct parse *x, enum place place)
{
    struct json_string *key;
    if (!take(x, '"') || !string(x, &key))
        return false;
    struct json_slot s = {.key = json_key_of(key)};
    if (!take(x, ':')) {
        json_slots_drop(&s, 1);
        return false;
    }
    if (place == P_META && x->shape->lean && !strcmp(key->s, "managedFields") && opens(x)) {
        json_slots_drop(&s, 1);
        return skip(x);
    }
    uint32_t id = s.key;
    bool ok = value(x, below(place, key->s), &s);
    s.key = id;
    if (!ok)
        s.type = JSON_NULL;
    push(x, s);
    return ok;
}

static void give(struct parse *x, size_t from, const char *name, const char *text)
{
    for (size_t i = from; i < x->n; i++)
        if (!strcmp(json_key_text(x->stack[i].key), name))
            return;
    if (!text)
        return;
    struct json_slot s = {.key = json_key_of(json_string_hold(name, strlen(name))),
                          .type = JSON_STRING};
    s.u.str = json_string_hold(text, strlen(text));
    push(x, s);
}

static bool container(struct parse *x, enum place place, bool array, struct json_slot *out)
{
    size_t from = x->n;
    char close = array ? ']' : '}';
    if (++x->depth > DEEPEST) {
        x->code = PD_LIMIT;
        return false;
    }
    x->p++;
    if (!take(x, close)) {
        do {
            if (array ? !element(x) : !member(x, place))
                return false;
        } while (take(x, ','));
        if (!take(x, close))
            return false;
    }
    if (!array && place == P_OBJECT) {
        give(x, from, "kind", x->shape->kind);
        give(x, from, "apiVersion", x->shape->api_version);
    }
    x->depth--;
    /* an empty one may come before the stack is there */
    out->u.block = json_block_hold(x->n > from ? x->stack + from : x->stack, x->n - from, array);
    out->type = array ? JSON_ARRAY : JSON_OBJECT;
    x->n = from;
    return true;
}

static bool value(struct parse *x, enum place place, struct json_slot *out)
{
    blanks(x);
    if (x->p >= x->end)
        return false;
    switch (*x->p) {
    case '{': return container(x, place, false, out);
    case '[': return container(x, place, true, out);
    case '"':
        x->p++;
        if (!string(x, &out->u.str))
            return false;
        out->type = JSON_STRING;
        return true;
    case 't':
    case 'f':
    case 'n': return word(x, out);
    default: return number(x, out);
    }
}

/* --- public --- */

static struct json *result(const struct json_slot *s)
{
    struct json *j;
    if (s->type >= JSON_ARRAY)
        return json_of_block(s->u.block);
    j = json_copy(json_of_slot(s));
    json_slots_drop(s, 1);
    json_share_idle();
    return j;
}

enum pd_code json_share_parse(const char *text, size_t len, const struct json_shape *shape,
                              struct json **out, struct pd_err *err)
{
    struct parse x = {.start = text, .p = text, .end = text + len, .shape = shape};
    struct json_slot s = {0};
    enum place place = !shape ? P_PLAIN : shape->event ? P_EVENT : P_OBJECT;
    x.code = PD_PARSE;
    str_init(&x.text, SIZE_MAX / 2);
    bool ok = value(&x, place, &s);
    if (ok) {
        blanks(&x);
        ok = x.p == x.end;
        if (!ok)
            json_slots_drop(&s, 1);
    }
    json_slots_drop(x.stack, x.n);
    free(x.stack);
    str_release(&x.text);
    if (ok) {
        *out = result(&s);
        return PD_OK;
    }
    json_share_idle();
    if (x.code == PD_LIMIT)
        return pd_fail(err, PD_LIMIT, _("JSON nested deeper than 200 levels"));
    return json_bad_text(text, MIN(x.p, x.end), err);
}
