/* session_act.c - runs the actions of a step one after the other, and keeps
 * the one long operation on show. */
#include "core/base/i18n.h"
#include "core/base/utf8.h"
#include "labs/session_priv.h"
#include "labs/vars.h"

enum { ACT_TICK_MS = 500 };

/* --- the operation on show --------------------------------------------------- */

void session_op_begin(struct session *s, uint32_t effect, const char *what)
{
    memset(&s->op, 0, sizeof s->op);
    s->op.effect = effect;
    str_copy(s->op.what, sizeof s->op.what, what);
    s->op.started_ms = session_priv(s)->now_ms;
    session_changed(s);
}

void session_op_record(struct session *s, const struct json *r)
{
    struct op *o = &s->op;
    const char *text = json_str(r, "text", json_str(r, "digest", NULL));
    if (json_has(r, "total")) {
        o->done = json_num(r, "done", json_num(r, "n", 0));
        o->total = json_num(r, "total", 0);
        str_copy(o->unit, sizeof o->unit, json_has(r, "done") ? "B" : "");
    }
    if (text) {
        struct str clean;
        str_init(&clean, sizeof o->text - 1);
        if (json_has(r, "ev"))
            str_printf(&clean, "%s ", json_str(r, "ev", ""));
        utf8_clean(text, strlen(text), false, &clean);
        str_copy(o->text, sizeof o->text, clean.p);
        str_release(&clean);
    }
    session_changed(s);
}

void session_op_end(struct session *s, bool failed, const char *text)
{
    s->op.ended = true;
    s->op.failed = failed;
    s->op.effect = 0;
    if (text && *text)
        session_clean(s->op.text, sizeof s->op.text, text);
    session_changed(s);
}

/* --- the actions of a step ---------------------------------------------------- */

const struct lab_action *session_act_of(const struct lab *lab, enum action_list list, int step,
                                        int *n)
{
    const struct lab_step *st = &lab->steps[step];
    const struct {
        const struct lab_action *v;
        int n;
    } lists[] = {[LIST_DO] = {st->actions, st->actions_n},
                 [LIST_LAB_SETUP] = {lab->setup, lab->setup_n},
                 [LIST_LAB_FAULTS] = {lab->faults, lab->faults_n},
                 [LIST_STEP_SETUP] = {st->setup, st->setup_n},
                 [LIST_STEP_FAULTS] = {st->faults, st->faults_n},
                 [LIST_CLEANUP] = {lab->cleanup, lab->cleanup_n}};
    *n = lists[list].n;
    return lists[list].v;
}

static const struct lab_action *current(const struct session *s)
{
    const struct action_run *a = &session_priv(s)->act;
    int n;
    return &session_act_of(s->lab, a->list, a->step, &n)[a->index];
}

static void tick(struct session *s, struct effects *out)
{
    struct session_priv *p = session_priv(s);
    struct json *args = json_new_object();
    json_put_str(args, "name", "action");
    json_put_num(args, "ms", ACT_TICK_MS);
    p->act_timer = effects_add(out, EFF_TIMER, 0, 0, args);
}

static void settle(struct session *s, struct effects *out);

void session_act_list(struct session *s, enum action_list list, int step, int index,
                      struct effects *out)
{
    struct session_priv *p = session_priv(s);
    struct action_run *a = &p->act;
    char missing[64];
    json_free(a->args);
    json_free(a->work);
    memset(a, 0, sizeof *a);
    a->state = ACTION_RUNNING;
    a->list = list;
    a->step = step;
    a->index = index;
    a->started_ms = p->now_ms;
    a->args = vars_json(s->vars, current(s)->args, missing);
    if (!a->args && !*p->registry) {
        action_fail(a, PD_NOTFOUND, "%s", _("the cluster does not say which registry is its own"));
        pd_set_hint(&a->err, "%s",
                    _("ask for the ConfigMap local-registry-hosting in kube-public, or make one of "
                      "your own: kubectl create configmap local-registry-hosting "
                      "--from-literal=localRegistryHosting.v1='host: HOST:PORT'"));
        session_ask_registry(s, out);
    } else if (!a->args) {
        action_fail(a, PD_LAB, _("the value of %s is not known yet"), missing);
    } else {
        action_kind_at(current(s)->kind)->start(s, a, out);
    }
    session_changed(s);
    settle(s, out);
}

static void ended(struct session *s, struct effects *out)
{
    struct action_run *a = &session_priv(s)->act;
    a->state = ACTION_IDLE;
    if (a->list == LIST_CLEANUP) {
        session_clean_acted(s, false, out);
        return;
    }
    if (a->list != LIST_DO && session_scene_next(s, a, out))
        return;
    session_say(s, PD_OK, "%s", a->list == LIST_DO ? _("done; the checks look at the result")
                                                   : _("the scene is set; now it is your turn"));
    session_want_checks(s);
}

static void failed(struct session *s, struct effects *out)
{
    struct session_priv *p = session_priv(s);
    struct action_run *a = &p->act;
    char text[1024];
    a->state = ACTION_IDLE;
    a->effect = 0;
    p->act_failed = true;
    build_state_end(&s->build, &a->err, p->now_ms);
    s->last_error = a->err;
    session_say(s, a->err.code, "%s", pd_describe(&a->err, text, sizeof text));
    if (s->op.effect)
        session_op_end(s, true, a->err.msg);
    if (a->list == LIST_CLEANUP)
        session_clean_acted(s, true, out);
    else if (a->list != LIST_DO)
        session_scene_failed(s, a);
    session_want_checks(s);
}

/* After a start or a message: on to the next one, or the end. */
static void settle(struct session *s, struct effects *out)
{
    struct session_priv *p = session_priv(s);
    struct action_run *a = &p->act;
    int n = 0;
    if (a->state == ACTION_DONE)
        session_act_of(s->lab, a->list, a->step, &n);
    if (a->state == ACTION_DONE && a->index + 1 < n)
        session_act_list(s, a->list, a->step, a->index + 1, out);
    else if (a->state == ACTION_DONE)
        ended(s, out);
    else if (a->state == ACTION_FAILED)
        failed(s, out);
    else if (a->state == ACTION_RUNNING && !p->act_timer)
        tick(s, out);
}

/* Why the step can't be run now, said; true when it can. */
static bool may_run(struct session *s)
{
    const struct session_priv *p = session_priv(s);
    if (p->act.state == ACTION_RUNNING)
        session_say(s, PD_OK, "%s", _("the step is running already"));
    else if (s->progress[s->step].state == STEP_LOCKED)
        session_say(s, PD_LAB, "%s", _("the steps before come first"));
    else if (s->need.mode == MODE_SKIPPED || s->need.mode == MODE_READING)
        session_say(s, PD_LAB, _("this step is not done here: %s"), s->need.why);
    else if (s->need.recorded)
        session_say(s, PD_OK, "%s", _("simulated: a recorded run stands for this step"));
    else
        return true;
    return false;
}

void session_act_start(struct session *s, struct effects *out)
{
    struct session_priv *p = session_priv(s);
    const struct lab_step *step = session_step(s);
    if (!step || !p->progress)
        return;
    if (!may_run(s))
        return;
    p->act_failed = false;
    if (s->scene.state != SCENE_READY) {
        session_scene_start(s, out);
        return;
    }
    struct json *e = json_new_object();
    json_put_str(e, "ev", "try");
    json_put_str(e, "step", step->id);
    session_record(s, e, out);
    s->progress[s->step].attempts++;
    if (step->actions_n)
        session_act_list(s, LIST_DO, s->step, 0, out);
    else
        session_want_checks(s);
}

void session_act_message(struct session *s, const struct msg *m, struct effects *out)
{
    struct session_priv *p = session_priv(s);
    struct action_run *a = &p->act;
    if (m->kind == MSG_TIMER && m->effect && m->effect == p->act_timer)
        p->act_timer = 0;
    if (a->state != ACTION_RUNNING || !s->lab || m->kind == MSG_COMMAND)
        return;
    if (a->effect && a->effect == s->op.effect && m->effect == a->effect) {
        const struct json *r = m->kind == MSG_CHILD_LINE ? json_get(m->body, "record")
                               : m->kind == MSG_COPY     ? m->body
                                                         : NULL;
        if (r)
            session_op_record(s, r);
    }
    action_kind_at(current(s)->kind)->message(s, a, m, out);
    if (a->state == ACTION_RUNNING && a->until_ms && p->now_ms > a->until_ms)
        action_fail(a, PD_TIMEOUT, _("%s did not end in time"), current(s)->kind_name);
    settle(s, out);
}

void session_act_cancel(struct session *s, struct effects *out)
{
    struct action_run *a = &session_priv(s)->act;
    if (a->state != ACTION_RUNNING)
        return;
    if (a->effect) {
        struct json *args = json_new_object();
        json_put_num(args, "effect", a->effect);
        effects_add(out, EFF_CANCEL, s->cluster.id, s->cluster.epoch, args);
    }
    action_fail(a, PD_CANCELED, "%s", _("cancelled"));
    settle(s, out);
}
