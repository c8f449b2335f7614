/* check_file.c - a field of the person's file holds what a lab expects. The
 * value as shipped is NOT YET, another wrong one is WRONG. With `key_of` the
 * value must be a key that some object of the cluster has at a path: the name
 * of a resource, for one. With `after` only what stands behind that text is
 * compared ("--rate=" in an argument). */
#include "core/base/i18n.h"
#include "labs/check_kinds.h"
#include "labs/file_value.h"
#include "labs/match.h"
#include "labs/session_priv.h"

static const struct lab_key keys[] = {
    {"file", LK_PATH, true},  {"document", LK_STR, false}, {"path", LK_STR, true},
    {"is", LK_MATCH, false},  {"key_of", LK_MAP, false},   {"after", LK_STR, false},
    {NULL, LK_ANY, false}};

/* Is the text a key at `path` of some object? Fills expected with the keys. */
static bool is_key(const struct check_ctx *c, const char *text, struct evidence *ev)
{
    const char *kind = json_str(c->args, "key_of.kind", ""),
               *path = json_str(c->args, "key_of.path", "");
    const struct table *t = session_table(c->s, kind);
    const char *has = json_str(c->args, "key_of.has", "");
    struct str all;
    bool found = false;
    str_init(&all, sizeof ev->expected);
    for (const struct json *o = t ? json_first(t->items) : NULL; o; o = json_next(o))
        for (const struct json *k = json_first(json_at(o, path)); k; k = json_next(k)) {
            if (!strstr(json_key(k), has))
                continue;
            found |= str_eq(json_key(k), text);
            if (!strstr(all.p, json_key(k)))
                str_printf(&all, "%s%s", all.len ? ", " : "", json_key(k));
        }
    str_fmt(ev->expected, sizeof ev->expected, "%s: %s", path,
            all.len ? all.p : _("(no such key on this cluster)"));
    str_release(&all);
    return found;
}

static bool match_part(const struct json *value, const char *after, const struct json *want)
{
    const char *text = json_string_value(value);
    if (!*after)
        return match_value(value, want);
    if (!text || !str_starts(text, after))
        return false;
    struct json *part = json_new_string(text + strlen(after));
    bool ok = match_value(part, want);
    json_free(part);
    return ok;
}

static void eval(const struct check_ctx *c, struct evidence *ev)
{
    const char *file = json_str(c->args, "file", ""), *path = json_str(c->args, "path", "");
    const char *doc = json_str(c->args, "document", NULL);
    const struct json *want = json_get(c->args, "is");
    struct json *value = NULL;
    struct str s;
    if (json_has(c->args, "key_of") && check_blind(c, json_str(c->args, "key_of.kind", ""), ev)) {
        check_subject(ev, "%s", file);
        return;
    }
    if (!file_value(c, file, doc, path, &value, ev))
        return;
    str_init(&s, 1024);
    match_text(want, &s);
    str_copy(ev->expected, sizeof ev->expected, want ? s.p : "");
    const char *text = json_string_value(value), *after = json_str(c->args, "after", "");
    bool ok = !want || match_part(value, after, want);
    if (ok && json_has(c->args, "key_of"))
        ok = text && is_key(c, text, ev);
    if (ok)
        check_set(ev, CHECK_PASS, "%s", "");
    else if (file_untouched(c, file, doc, path, value))
        check_set(ev, CHECK_NOT_YET, "%s", _("this is still to be changed"));
    else
        check_set(ev, CHECK_WRONG, "%s", _("another value is needed here"));
    str_release(&s);
    json_free(value);
}

const struct check_kind check_file = {"file", keys, eval, NULL, false, NULL};
