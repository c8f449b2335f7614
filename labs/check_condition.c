/* check_condition.c - a condition of an object has the status a lab expects;
 * `fail` names a condition that, when it is True, ends the hope. */
#include "core/base/i18n.h"
#include "labs/check_kinds.h"
#include "labs/session_priv.h"

static const struct lab_key keys[] = {
    {"kind", LK_RES, true},  {"name", LK_STR, false}, {"job", LK_STR, false},
    {"own", LK_BOOL, false}, {"type", LK_STR, true},  {"status", LK_STR, false},
    {"fail", LK_STR, false}, {NULL, LK_ANY, false}};

static const struct json *condition(const struct json *obj, const char *type)
{
    const struct json *list = json_at(obj, "status.conditions");
    for (const struct json *c = json_first(list); c; c = json_next(c))
        if (str_eq(json_str(c, "type", ""), type))
            return c;
    return NULL;
}

static void eval(const struct check_ctx *c, struct evidence *ev)
{
    const struct json *obj = check_find(c, ev);
    if (!obj)
        return;
    const char *type = json_str(c->args, "type", ""), *want = json_str(c->args, "status", "True");
    const char *fail = json_str(c->args, "fail", NULL);
    const struct json *is = condition(obj, type), *bad = fail ? condition(obj, fail) : NULL;
    check_newest_event(c->s, json_str(obj, "metadata.name", ""), ev);
    if (bad && str_eq(json_str(bad, "status", ""), "True")) {
        str_fmt(ev->path, sizeof ev->path, "status.conditions[?type=%s].status", fail);
        str_copy(ev->expected, sizeof ev->expected, "False");
        str_copy(ev->actual, sizeof ev->actual, "True");
        check_set(ev, CHECK_WRONG, "%s: %s", json_str(bad, "reason", fail),
                  json_str(bad, "message", ""));
        return;
    }
    str_fmt(ev->path, sizeof ev->path, "status.conditions[?type=%s].status", type);
    str_copy(ev->expected, sizeof ev->expected, want);
    str_copy(ev->actual, sizeof ev->actual, is ? json_str(is, "status", "") : "(missing)");
    int64_t newest = json_int(obj, "metadata.generation", 0);
    const char *behind = json_int(is, "observedGeneration", newest) < newest
                             ? _("the controller has not seen the newest version yet")
                             : check_behind(json_str(c->args, "kind", ""), obj);
    bool ok = is && str_eq(json_str(is, "status", ""), want);
    if (ok && !behind)
        check_set(ev, CHECK_PASS, "%s", "");
    else
        check_set(ev, CHECK_NOT_YET, "%s", behind ? behind
                                           : is   ? json_str(is, "message", "")
                                                  : _("it is not so yet"));
}

const struct check_kind check_condition = {"condition", keys, eval, NULL, false, NULL};
