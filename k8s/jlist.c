/* jlist.c - the items of a list as they arrive (jlist.h). The scanner knows
 * strings and depth only; json_share_parse judges each piece. */
#include "k8s/jlist.h"

#include "core/base/i18n.h"

enum { ITEM_MAX = 8 << 20, REST_MAX = 8 << 20 };

void jlist_init(struct jlist *l, const struct json_shape *shape, jlist_item_fn *fn, void *arg)
{
    memset(l, 0, sizeof *l);
    if (shape)
        l->shape = *shape;
    str_init(&l->rest, REST_MAX);
    str_init(&l->item, ITEM_MAX);
    str_init(&l->key, 256);
    l->fn = fn;
    l->arg = arg;
}

void jlist_release(struct jlist *l)
{
    str_release(&l->rest);
    str_release(&l->item);
    str_release(&l->key);
}

void jlist_clear(struct jlist *l)
{
    str_clear(&l->rest);
    str_clear(&l->item);
    str_clear(&l->key);
    l->depth = 0;
    l->in_string = l->escaped = l->in_items = l->key_next = l->started = false;
}

/* An element of "items" is complete (or the white space between two). */
static enum pd_code item_end(struct jlist *l, struct pd_err *err)
{
    struct json *j;
    if (l->item.p[strspn(l->item.p, " \t\r\n")] == '\0') {
        str_clear(&l->item);
        return PD_OK;
    }
    enum pd_code code = json_share_parse(l->item.p, l->item.len, &l->shape, &j, err);
    str_clear(&l->item);
    if (code == PD_OK && !l->fn(l->arg, j))
        code = pd_fail(err, PD_CANCELED, _("the list was left"));
    return code;
}

static void string_byte(struct jlist *l, char c)
{
    if (l->escaped)
        l->escaped = false;
    else if (c == '\\')
        l->escaped = true;
    else if (c == '"')
        l->in_string = false;
    if (l->in_string && l->depth == 1 && l->key_next)
        str_addc(&l->key, c);
}

/* Depth counts the brackets open before c; inside "items" it is 2 between the
 * elements. */
static enum pd_code outer_byte(struct jlist *l, char c, struct pd_err *err)
{
    switch (c) {
    case '"':
        l->in_string = true;
        if (l->depth == 1 && l->key_next)
            str_clear(&l->key);
        break;
    case ':':
        if (l->depth == 1)
            l->key_next = false;
        break;
    case ',':
        if (l->depth == 1)
            l->key_next = true;
        break;
    case '{':
    case '[':
        l->depth++;
        if (l->depth == 1)
            l->key_next = l->started = true;
        if (c == '[' && l->depth == 2 && !strcmp(l->key.p, "items"))
            l->in_items = true;
        break;
    case '}':
    case ']':
        if (--l->depth < 0)
            return pd_fail(err, PD_PARSE, _("the list has a bracket too many"));
        break;
    default:
        break;
    }
    return PD_OK;
}

static enum pd_code byte(struct jlist *l, char c, struct pd_err *err)
{
    bool was_items = l->in_items;
    if (l->in_string) {
        string_byte(l, c);
    } else {
        if (was_items && l->depth == 2 && (c == ',' || c == ']')) {
            enum pd_code code = item_end(l, err);
            if (code != PD_OK || c == ',')
                return code;
            l->in_items = was_items = false;
        }
        enum pd_code code = outer_byte(l, c, err);
        if (code != PD_OK)
            return code;
    }
    if (!str_addc(was_items ? &l->item : &l->rest, c))
        return pd_fail(err, PD_LIMIT, _("an object of the list is longer than 8 MiB"));
    return PD_OK;
}

/* The run of an element, up to the byte that ends it or the piece; nearly all of
 * a list goes through here. */
static const char *element_run(struct jlist *l, const char *p, const char *end)
{
    while (p < end) {
        char c = *p;
        if (l->in_string) {
            if (l->escaped)
                l->escaped = false;
            else if (c == '\\')
                l->escaped = true;
            else if (c == '"')
                l->in_string = false;
        } else if (c == '"') {
            l->in_string = true;
        } else if (c == '{' || c == '[') {
            l->depth++;
        } else if (c == '}' || c == ']') {
            if (l->depth == 2)
                return p;
            l->depth--;
        } else if (c == ',' && l->depth == 2) {
            return p;
        }
        p++;
    }
    return p;
}

enum pd_code jlist_feed(struct jlist *l, const char *p, size_t n, struct pd_err *err)
{
    const char *end = p + n;
    enum pd_code code = PD_OK;
    while (p < end && code == PD_OK) {
        const char *to = l->in_items ? element_run(l, p, end) : p;
        if (!str_append(&l->item, p, (size_t)(to - p)))
            return pd_fail(err, PD_LIMIT, _("an object of the list is longer than 8 MiB"));
        p = to;
        if (p < end)
            code = byte(l, *p++, err);
    }
    return code;
}

enum pd_code jlist_end(struct jlist *l, struct json **out, struct pd_err *err)
{
    if (l->depth != 0 || !l->started)
        return pd_fail(err, PD_PROTO, _("the list ends in its middle"));
    return json_parse(l->rest.p, l->rest.len, out, err);
}
