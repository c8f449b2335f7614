/* action_train.c - one steering command to the run (pause, inspect, step, rate,
 * resume, save, quit); done when the pod's own log has the answer. It waits
 * for the run to have begun; after "step N", for the N steps too. */
#include "core/base/i18n.h"
#include "labs/action_kinds.h"
#include "labs/session_priv.h"

static const struct lab_key keys[] = {
    {"command", LK_STR, true}, {"args", LK_STR, false}, {NULL, LK_ANY, false}};
enum { STAGE_WAIT, STAGE_ASKED };
enum { TRAIN_LIMIT_MS = 60000 };

static void ask(struct session *s, struct action_run *a, struct effects *out)
{
    const struct session_priv *p = session_priv(s);
    char id[24], number[32];
    const struct json *v = json_get(a->args, "args");
    if (!*s->run.pod || !p->run_log->hello)
        return;
    const char *args = json_string_value(v);
    if (!args && json_type(v) == JSON_NUMBER)
        args = str_fmt(number, sizeof number, "%.9g", json_number_value(v));
    if (!session_steer(s, json_str(a->args, "command", ""), args, id, out)) {
        action_fail(a, PD_TRAIN, "%s", s->message);
        return;
    }
    a->work = json_new_object();
    json_put_str(a->work, "id", id);
    a->stage = STAGE_ASKED;
}

static void start(struct session *s, struct action_run *a, struct effects *out)
{
    a->until_ms = a->started_ms + TRAIN_LIMIT_MS;
    ask(s, a, out);
}

static void message(struct session *s, struct action_run *a, const struct msg *m,
                    struct effects *out)
{
    (void)m;
    if (a->stage == STAGE_WAIT) {
        ask(s, a, out);
        return;
    }
    const struct run_answer *r =
        run_answer_find(session_priv(s)->run_log, json_str(a->work, "id", "?"), NULL);
    if (!r)
        return;
    /* steps by hand are over when they have been taken */
    if (r->ok && str_eq(r->cmd, "step") && s->run.step < r->step + (int64_t)r->value &&
        !str_eq(s->run.state, "done") && !str_eq(s->run.state, "error"))
        return;
    if (r->ok)
        a->state = ACTION_DONE;
    else
        action_fail(a, PD_TRAIN, _("the run refused \"%s\": %s"), r->cmd, r->text);
}

const struct action_kind action_train = {"train", keys, start, message};
