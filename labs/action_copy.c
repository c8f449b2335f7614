/* action_copy.c - a folder is copied out of a running Pod by a command there
 * that writes a tar, with the checksum of the whole stream. It waits for the
 * Pod to run and, with `after_job`, for that Job to be complete. */
#include "core/base/i18n.h"
#include "labs/action_kinds.h"
#include "labs/session_priv.h"

static const struct lab_key keys[] = {
    {"pod", LK_STR, true},    {"container", LK_STR, false}, {"command", LK_STRS, true},
    {"to", LK_PATH, true},    {"after_job", LK_STR, false}, {NULL, LK_ANY, false}};
enum { STAGE_WAIT, STAGE_COPY };
enum { COPY_LIMIT_MS = 600000 };

static bool job_complete(const struct session *s, const char *name)
{
    const struct json *job = session_find(s, "jobs", name);
    return str_eq(json_str(job, "status.conditions[?type=Complete].status", ""), "True") &&
           session_is_own(s, "jobs", job);
}

static void try_copy(struct session *s, struct action_run *a, struct effects *out)
{
    const char *name = json_str(a->args, "pod", "");
    const struct json *pod = session_find(s, "pods", name);
    const char *phase = json_str(pod, "status.phase", "");
    /* a Pod of this name from before may still be on its way out */
    if (!pod || !session_is_own(s, "pods", pod))
        return;
    if (str_eq(phase, "Failed") || str_eq(phase, "Succeeded")) {
        action_fail(a, PD_NOTFOUND, _("the Pod %s has ended (%s): nothing can be copied from it"),
                    name, phase);
        return;
    }
    const char *job = json_str(a->args, "after_job", NULL);
    if (!json_bool(pod, "status.containerStatuses[0].ready", false) ||
        (job && !job_complete(s, job)))
        return;
    struct json *args = json_new_object();
    char *to = session_work_path(s, json_str(a->args, "to", ""));
    json_put_str(args, "namespace", s->cluster.ns);
    json_put_str(args, "pod", name);
    json_put_str(args, "container", json_str(a->args, "container", NULL));
    json_set(args, "argv", json_copy(json_get(a->args, "command")));
    json_put_str(args, "to", to);
    free(to);
    a->stage = STAGE_COPY;
    a->effect = session_effect(s, out, EFF_COPY_OUT, args);
    session_op_begin(s, a->effect, _("copying out of the Pod"));
}

static void start(struct session *s, struct action_run *a, struct effects *out)
{
    a->until_ms = a->started_ms + COPY_LIMIT_MS;
    try_copy(s, a, out);
}

static void message(struct session *s, struct action_run *a, const struct msg *m,
                    struct effects *out)
{
    if (a->stage == STAGE_WAIT) {
        try_copy(s, a, out);
        return;
    }
    const char *state = json_str(m->body, "state", "");
    if (m->kind != MSG_COPY || m->effect != a->effect || str_eq(state, ""))
        return;
    if (str_eq(state, "running"))
        return;
    a->effect = 0;
    if (action_reply_failed(a, m)) {
        session_op_end(s, true, a->err.msg);
        return;
    }
    struct json *fact = json_new_object();
    const char *to = json_str(a->args, "to", "");
    json_put_str(fact, "to", to);
    json_put_str(fact, "sha256", json_str(m->body, "sha256", ""));
    json_put_num(fact, "files", json_num(m->body, "files", 0));
    session_set_fact(s, "copy", fact, out);
    char *path = session_work_path(s, to);
    str_copy(s->adapter, sizeof s->adapter, path);
    free(path);
    session_op_end(s, false, NULL);
    a->state = ACTION_DONE;
}

const struct action_kind action_copy = {"copy", keys, start, message};
