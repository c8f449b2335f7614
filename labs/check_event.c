/* check_event.c - the cluster has told of something: an event with a reason,
 * about an object (or the Pods of a Job), since this attempt began. */
#include "core/base/i18n.h"
#include "labs/check_kinds.h"
#include "labs/session_priv.h"

static const struct lab_key keys[] = {
    {"about", LK_STR, true}, {"reason", LK_STR, true}, {"has", LK_STR, false},
    {NULL, LK_ANY, false}};

static void eval(const struct check_ctx *c, struct evidence *ev)
{
    const char *about = json_str(c->args, "about", ""), *reason = json_str(c->args, "reason", "");
    const char *has = json_str(c->args, "has", "");
    int64_t since = json_int(session_fact(c->s, "started_ms"), "", 0);
    check_subject(ev, "events/%s", about);
    str_copy(ev->path, sizeof ev->path, "reason");
    str_copy(ev->expected, sizeof ev->expected, reason);
    if (check_blind(c, "events", ev))
        return;
    check_newest_event(c->s, about, ev);
    const struct table *t = session_table(c->s, "events");
    for (const struct json *e = json_first(t->items); e; e = json_next(e)) {
        if (!str_starts(json_str(e, "involvedObject.name", ""), about) ||
            !str_eq(json_str(e, "reason", ""), reason) ||
            !strstr(json_str(e, "message", ""), has))
            continue;
        /* an event's time has whole seconds */
        if (check_event_ms(e) + 1000 < since)
            continue;
        str_copy(ev->actual, sizeof ev->actual, json_str(e, "message", ""));
        check_set(ev, CHECK_PASS, "%s", "");
        return;
    }
    str_copy(ev->actual, sizeof ev->actual, *ev->event ? ev->event : "(none)");
    check_set(ev, CHECK_NOT_YET, "%s", _("the cluster has not told of it yet"));
}

const struct check_kind check_event = {"event", keys, eval, NULL, false, NULL};
