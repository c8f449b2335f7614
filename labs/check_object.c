/* check_object.c - an object of the cluster holds the values a lab expects.
 *
 * A difference in what a person declared (spec, metadata) is WRONG: it won't
 * change by itself. A difference in status is NOT YET, as it is while the
 * controller has not seen the newest generation. `wrong_if` names states that
 * will not get better. */
#include "core/base/i18n.h"
#include "labs/check_kinds.h"
#include "labs/match.h"
#include "labs/session_priv.h"

static const struct lab_key keys[] = {
    {"kind", LK_RES, true},        {"name", LK_STR, false},      {"job", LK_STR, false},
    {"own", LK_BOOL, false},       {"expect", LK_EXPECT, false}, {"wrong_if", LK_EXPECT, false},
    {NULL, LK_ANY, false}};

static void put_pair(struct evidence *ev, const char *path, const struct json *actual,
                     const struct json *want)
{
    struct str s;
    str_init(&s, 4096);
    str_copy(ev->path, sizeof ev->path, path);
    match_text(want, &s);
    str_copy(ev->expected, sizeof ev->expected, s.p);
    str_clear(&s);
    match_actual(actual, &s);
    str_copy(ev->actual, sizeof ev->actual, s.p);
    str_release(&s);
}

static void eval(const struct check_ctx *c, struct evidence *ev)
{
    const struct json *obj = check_find(c, ev);
    if (!obj)
        return;
    check_newest_event(c->s, json_str(obj, "metadata.name", ""), ev);
    const struct json *want = json_get(c->args, "wrong_if");
    const char *behind = check_behind(json_str(c->args, "kind", ""), obj);
    for (const struct json *w = json_first(want); w; w = json_next(w)) {
        const struct json *a = json_at(obj, json_key(w));
        if (!match_value(a, w))
            continue;
        put_pair(ev, json_key(w), a, w);
        str_copy(ev->expected, sizeof ev->expected, _("something else"));
        check_set(ev, CHECK_WRONG, "%s", _("this will not get better by waiting"));
        return;
    }
    for (const struct json *w = json_first(json_get(c->args, "expect")); w; w = json_next(w)) {
        const char *path = json_key(w);
        const struct json *a = json_at(obj, path);
        bool status = str_starts(path, "status.");
        if (match_value(a, w) && !(status && behind))
            continue;
        put_pair(ev, path, a, w);
        check_set(ev, status ? CHECK_NOT_YET : CHECK_WRONG, "%s",
                  status && behind ? behind
                  : status         ? _("it is not so yet")
                                   : _("the object says something else"));
        return;
    }
    check_set(ev, CHECK_PASS, "%s", "");
}

const struct check_kind check_object = {"object", keys, eval, NULL, false, NULL};
