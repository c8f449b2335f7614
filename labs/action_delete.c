/* action_delete.c - an object that this attempt made is deleted by name and
 * uid; what is not there is fine. */
#include "core/base/i18n.h"
#include "labs/action_kinds.h"
#include "labs/session_priv.h"

static const struct lab_key keys[] = {
    {"kind", LK_RES, true}, {"name", LK_STR, true}, {NULL, LK_ANY, false}};

static void start(struct session *s, struct action_run *a, struct effects *out)
{
    const char *kind = json_str(a->args, "kind", ""), *name = json_str(a->args, "name", "");
    const struct json *obj = session_find(s, kind, name);
    if (!obj) {
        a->state = ACTION_DONE;
        return;
    }
    struct json *args = json_new_object();
    json_put_str(args, "resource", kind);
    json_put_str(args, "namespace", json_str(obj, "metadata.namespace", ""));
    json_put_str(args, "name", name);
    json_put_str(args, "uid", json_str(obj, "metadata.uid", NULL));
    a->until_ms = a->started_ms + 60000;
    a->effect = session_effect(s, out, EFF_DELETE, args);
}

static void message(struct session *s, struct action_run *a, const struct msg *m,
                    struct effects *out)
{
    if (m->kind != MSG_REPLY || m->effect != a->effect)
        return;
    a->effect = 0;
    if (json_int(m->body, "status", 0) != 404 && action_reply_failed(a, m))
        return;
    session_unmade(s, json_str(a->args, "kind", ""), json_str(a->args, "name", ""), out);
    a->state = ACTION_DONE;
}

const struct action_kind action_delete = {"delete", keys, start, message};
