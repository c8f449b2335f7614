/* action_exec.c - a command runs in a container; its exit code decides. */
#include "core/base/i18n.h"
#include "labs/action_kinds.h"
#include "labs/session_priv.h"

static const struct lab_key keys[] = {
    {"pod", LK_STR, true}, {"container", LK_STR, false}, {"command", LK_STRS, true},
    {NULL, LK_ANY, false}};

static void start(struct session *s, struct action_run *a, struct effects *out)
{
    struct json *args = json_new_object();
    json_put_str(args, "namespace", s->cluster.ns);
    json_put_str(args, "pod", json_str(a->args, "pod", ""));
    json_put_str(args, "container", json_str(a->args, "container", NULL));
    json_set(args, "argv", json_copy(json_get(a->args, "command")));
    a->until_ms = a->started_ms + 60000;
    a->effect = session_effect(s, out, EFF_EXEC, args);
}

static void message(struct session *s, struct action_run *a, const struct msg *m,
                    struct effects *out)
{
    (void)s;
    (void)out;
    if (m->kind != MSG_REPLY || m->effect != a->effect)
        return;
    a->effect = 0;
    if (action_reply_failed(a, m))
        return;
    int64_t code = json_int(m->body, "exit", -1);
    if (code == 0)
        a->state = ACTION_DONE;
    else
        action_fail(a, PD_UNSUPPORTED, _("the command ended with code %d: %s"), (int)code,
                    json_str(m->body, "stderr", ""));
}

const struct action_kind action_exec = {"exec", keys, start, message};
