/* check_absent.c - something is gone. That it is not there proves nothing by
 * itself: it must have been seen in this attempt. What the lab has only just made
 * and nobody has seen yet is not gone. */
#include "core/base/i18n.h"
#include "labs/check_kinds.h"
#include "labs/match.h"
#include "labs/session_priv.h"

static const struct lab_key keys[] = {
    {"kind", LK_RES, true}, {"name", LK_STR, false}, {"where", LK_EXPECT, false},
    {"own", LK_BOOL, false}, {NULL, LK_ANY, false}};

static const struct json *present(const struct check_ctx *c)
{
    const struct table *t = session_table(c->s, json_str(c->args, "kind", ""));
    const char *name = json_str(c->args, "name", NULL);
    const struct json *where = json_get(c->args, "where");
    for (const struct json *o = t ? json_first(t->items) : NULL; o; o = json_next(o)) {
        bool ok = !name || str_eq(json_str(o, "metadata.name", ""), name);
        for (const struct json *w = json_first(where); w && ok; w = json_next(w))
            ok = match_value(json_at(o, json_key(w)), w);
        if (ok)
            return o;
    }
    return NULL;
}

static void key_of(const struct check_ctx *c, char key[CHECK_SEEN_KEY])
{
    char *where = json_has(c->args, "where") ? json_text(json_get(c->args, "where"), 0) : NULL;
    str_fmt(key, CHECK_SEEN_KEY, "%s/%s%s%s", json_str(c->args, "kind", ""),
            json_str(c->args, "name", ""), where ? "?" : "", where ? where : "");
    free(where);
}

static bool seen(const struct check_ctx *c, char key[CHECK_SEEN_KEY])
{
    struct evidence ev;
    const char *kind = json_str(c->args, "kind", "");
    const struct json *o = check_blind(c, kind, &ev) ? NULL : present(c);
    key_of(c, key);
    return o && (!json_bool(c->args, "own", !str_eq(kind, "nodes")) ||
                 session_is_own(c->s, kind, o));
}

static bool was_there(const struct check_ctx *c)
{
    char key[CHECK_SEEN_KEY];
    key_of(c, key);
    return json_get(session_fact(c->s, "seen"), key) != NULL;
}

static void eval(const struct check_ctx *c, struct evidence *ev)
{
    const char *kind = json_str(c->args, "kind", "");
    check_subject(ev, "%s/%s", kind, json_str(c->args, "name", "*"));
    if (check_blind(c, kind, ev))
        return;
    const struct json *o = present(c);
    str_copy(ev->expected, sizeof ev->expected, _("gone"));
    if (o) {
        const char *name = json_str(o, "metadata.name", "");
        check_subject(ev, "%s/%s", kind, name);
        str_copy(ev->actual, sizeof ev->actual, name);
        check_newest_event(c->s, name, ev);
        check_set(ev, CHECK_NOT_YET, "%s", json_has(o, "metadata.deletionTimestamp")
                                               ? _("it is on its way out")
                                               : _("it is still there"));
    } else if (was_there(c)) {
        check_set(ev, CHECK_PASS, "%s", "");
    } else {
        str_copy(ev->actual, sizeof ev->actual, _("never seen"));
        check_set(ev, CHECK_NOT_YET, "%s", _("it was never there in this attempt: run the step"));
    }
}

const struct check_kind check_absent = {"absent", keys, eval, NULL, false, seen};
