/* session_check.c - the checks of the shown step, evaluated whenever the state
 * changed, and the questions that asking checks have. */
#include "core/base/i18n.h"
#include "labs/session_priv.h"
#include "labs/vars.h"

enum { ANSWER_RECORDS = 200, ASK_LIMIT_S = 10, ASK_AGAIN_MS = 3000, STABLE_GAP_MS = 5000 };

static void clean(char *text, size_t size)
{
    char *raw = xstrdup(text);
    session_clean(text, size, raw);
    free(raw);
}

static void clean_all(struct evidence *ev)
{
    clean(ev->object, sizeof ev->object);
    clean(ev->path, sizeof ev->path);
    clean(ev->expected, sizeof ev->expected);
    clean(ev->actual, sizeof ev->actual);
    clean(ev->event, sizeof ev->event);
    clean(ev->because, sizeof ev->because);
}

/* Without a link nothing is judged, not even what lies on this machine: the
 * person would be told half a truth. */
static bool no_link(const struct session *s, struct evidence *ev)
{
    const struct cluster_state *k = &s->cluster;
    if (k->link == LINK_UP)
        return false;
    check_set(ev, CHECK_UNKNOWN, "%s %s%s%s", _("the cluster can't be seen:"), k->server,
              *k->error ? ": " : "", k->error);
    return true;
}

static bool no_scene(const struct session *s, struct evidence *ev)
{
    const struct scene *c = &s->scene;
    if (c->state == SCENE_WANTED)
        check_set(ev, CHECK_BLOCKED, "%s", _("the scene is not set up yet: run the step"));
    else if (c->state == SCENE_RUNNING)
        check_set(ev, CHECK_BLOCKED, _("the scene is being set up (%d of %d)"), c->done, c->total);
    else if (c->state == SCENE_FAILED)
        check_set(ev, CHECK_UNKNOWN, _("the scene is half made; run the step to make it again: %s"),
                  c->text);
    return c->state != SCENE_READY;
}

/* Kinds that look at the run or at this machine alone. */
static bool asks_the_cluster(const char *kind)
{
    static const char *const own[] = {"metric", "log", "control", "file"};
    for (size_t i = 0; i < ARRAY_LEN(own); i++)
        if (str_eq(own[i], kind))
            return false;
    return true;
}

static bool not_here(const struct session *s, const struct lab_check *check, struct evidence *ev)
{
    const struct step_need *n = &s->need;
    if (n->mode == MODE_ASKING)
        check_set(ev, CHECK_UNKNOWN, "%s", n->why);
    else if (n->mode == MODE_SKIPPED)
        check_set(ev, CHECK_SKIPPED, "%s", n->why);
    else if (n->mode == MODE_READING)
        check_set(ev, CHECK_SKIPPED, _("only to be read here: %s"), n->why);
    else if (n->recorded && asks_the_cluster(check->kind_name))
        check_set(ev, CHECK_SKIPPED, "%s", _("simulated: a recorded run stands for the cluster"));
    else
        return false;
    return true;
}

static bool is_over(const struct session *s, int step)
{
    enum step_state st = s->progress[step].state;
    return st == STEP_DONE || st == STEP_PASSED;
}

/* What stands in front of every check of the step: true when ev is final. */
static bool before(const struct session *s, const struct lab_check *check, struct evidence *ev)
{
    const struct session_priv *p = session_priv(s);
    if (!p->progress) {
        check_set(ev, CHECK_UNKNOWN, "%s", _("the progress is being read"));
        return true;
    }
    if (no_link(s, ev))
        return true;
    for (int i = 0; i < s->step; i++)
        if (!is_over(s, i)) {
            check_set(ev, CHECK_BLOCKED, _("step %d \"%s\" comes first"), i + 1,
                      ltext_get(&s->lab->steps[i].title));
            return true;
        }
    return not_here(s, check, ev) || no_scene(s, ev);
}

/* `has: ""` explains whatever is wrong; what is only not so yet, or not seen,
 * needs a word that is in it. */
static void explain(const struct lab_check *check, struct evidence *ev)
{
    if (ev->result == CHECK_UNKNOWN)
        return;
    for (int i = 0; i < check->because_n && ev->result != CHECK_PASS; i++) {
        const struct lab_because *b = &check->because[i];
        if ((!*b->has && ev->result != CHECK_WRONG) ||
            (!strstr(ev->actual, b->has) && !strstr(ev->event, b->has)))
            continue;
        str_copy(ev->because, sizeof ev->because, ltext_get(&b->tell));
        return;
    }
}

/* Who may not look at the objects can't be judged by them: where the lab has an
 * answer to that, the step counts without. */
static void unseen(const struct session *s, const struct lab_check *check,
                   const struct json *args, struct evidence *ev)
{
    const struct table *t = session_table(s, json_str(args, "kind", ""));
    if (ev->result != CHECK_UNKNOWN || !check->unseen.en || !t || !t->forbidden)
        return;
    char why[sizeof ev->because];
    str_copy(why, sizeof why, ev->because);
    check_set(ev, CHECK_SKIPPED, "%s (%s)", ltext_get(&check->unseen), why);
}

static struct check_ctx context(const struct session *s, int i, const struct json *args)
{
    const struct session_priv *p = session_priv(s);
    const struct lab_step *step = session_step(s);
    bool keeps = check_kind_at(step->checks[i].kind)->in_pod;
    return (struct check_ctx){.s = s, .step = step, .check = &step->checks[i], .args = args,
                              .answer = p->asks && (keeps || !p->asks[i].effect)
                                            ? p->asks[i].answer
                                            : NULL,
                              .asking = p->asks && (p->asks[i].effect || p->asks[i].wanted)};
}

void session_check_peek(const struct session *s, int step, int check, struct evidence *ev)
{
    const struct lab_step *st = &s->lab->steps[step];
    char missing[64];
    memset(ev, 0, sizeof *ev);
    struct json *args = vars_json(s->vars, st->checks[check].args, missing);
    if (no_link(s, ev)) {
        json_free(args);
        return;
    }
    if (args) {
        struct check_ctx c = {.s = s, .step = st, .check = &st->checks[check], .args = args};
        check_kind_at(st->checks[check].kind)->eval(&c, ev);
    } else {
        check_set(ev, CHECK_UNKNOWN, _("the value of %s is not known yet"), missing);
    }
    json_free(args);
}

static void cancel_ask(struct session *s, struct ask *a, struct effects *out)
{
    struct json *args = json_new_object();
    json_put_num(args, "effect", a->effect);
    session_effect(s, out, EFF_CANCEL, args);
    a->effect = 0;
}

/* Begin to ask when it is wanted and possible; give up what takes too long, and
 * ask again now and then where no message tells of a change. */
static void ask(struct session *s, int i, const struct json *args, struct effects *out)
{
    struct session_priv *p = session_priv(s);
    struct ask *a = &p->asks[i];
    const struct check_kind *kind = check_kind_at(session_step(s)->checks[i].kind);
    struct check_ctx c = context(s, i, args);
    int64_t limit = (int64_t)(json_num(args, "timeout", ASK_LIMIT_S) * 1000);
    if (a->effect && kind->in_pod && p->now_ms - a->asked_ms > limit) {
        cancel_ask(s, a, out);
        json_free(a->answer);
        a->answer = json_new_object();
        json_put_bool(a->answer, "late", true);
        a->answer_ms = p->now_ms;
    }
    if (kind->in_pod && !a->effect && p->now_ms - a->answer_ms >= ASK_AGAIN_MS &&
        s->progress[s->step].state != STEP_DONE)
        a->wanted = true;
    struct json *question = a->wanted && !a->effect && kind->ask ? kind->ask(&c) : NULL;
    if (!question)
        return;
    a->wanted = false;
    a->asked_ms = p->now_ms;
    if (kind->in_pod) {               /* what it said last stays on show meanwhile */
        str_copy(a->uid, sizeof a->uid, json_str(question, "uid", ""));
        a->effect = session_effect(s, out, EFF_EXEC, question);
    } else {
        json_free(a->answer);
        a->answer = NULL;
        a->effect = effects_add(out, EFF_SPAWN, 0, 0, question);
    }
}

/* `stable`: true for so long without a break. Another object, a restart, a
 * clock that jumps or a silence in between begins it anew. */
static void hold(struct session *s, struct ask *a, int64_t stable_ms, struct evidence *ev)
{
    int64_t now = session_priv(s)->now_ms;
    if (ev->result != CHECK_PASS) {
        a->since_ms = 0;
        return;
    }
    if (!a->since_ms || ev->mark != a->mark || now < a->seen_ms ||
        now - a->seen_ms > STABLE_GAP_MS)
        a->since_ms = now;
    a->mark = ev->mark;
    a->seen_ms = now;
    if (now - a->since_ms < stable_ms)
        check_set(ev, CHECK_NOT_YET, _("so it is, for %d of %d seconds"),
                  (int)((now - a->since_ms) / 1000), (int)((stable_ms + 999) / 1000));
}

static void remember(struct session *s, const struct check_kind *kind, const struct check_ctx *c,
                     struct effects *out)
{
    char key[CHECK_SEEN_KEY];
    if (!kind->seen(c, key) || json_get(session_fact(s, "seen"), key))
        return;
    struct json *seen = session_fact(s, "seen") ? json_copy(session_fact(s, "seen"))
                                                : json_new_object();
    json_put_bool(seen, key, true);
    session_set_fact(s, "seen", seen, out);
}

/* What the checks of any step will want to have seen. */
static void remember_all(struct session *s, struct effects *out)
{
    char missing[64];
    for (int i = 0; i < s->lab->steps_n; i++)
        for (int k = 0; k < s->lab->steps[i].checks_n; k++) {
            const struct lab_check *check = &s->lab->steps[i].checks[k];
            const struct check_kind *kind = check_kind_at(check->kind);
            struct json *args = kind->seen ? vars_json(s->vars, check->args, missing) : NULL;
            struct check_ctx c = {.s = s, .step = &s->lab->steps[i], .check = check, .args = args};
            if (args)
                remember(s, kind, &c, out);
            json_free(args);
        }
}

static void evaluate(struct session *s, int i, struct effects *out)
{
    struct session_priv *p = session_priv(s);
    const struct lab_check *check = &session_step(s)->checks[i];
    const struct check_kind *kind = check_kind_at(check->kind);
    struct evidence ev;
    char missing[64];
    memset(&ev, 0, sizeof ev);
    ev.at_ms = p->now_ms;
    struct json *args = vars_json(s->vars, check->args, missing);
    if (before(s, check, &ev)) {
        /* nothing to look at yet */
    } else if (!args) {
        check_set(&ev, CHECK_UNKNOWN, _("the value of %s is not known yet"), missing);
    } else {
        ask(s, i, args, out);
        struct check_ctx c = context(s, i, args);
        kind->eval(&c, &ev);
        explain(check, &ev);
        unseen(s, check, args, &ev);
    }
    if (check->stable_ms)
        hold(s, &p->asks[i], check->stable_ms, &ev);
    clean_all(&ev);
    struct evidence *old = &s->progress[s->step].checks[i];
    if (ev.result == old->result && str_eq(ev.actual, old->actual))
        ev.at_ms = old->at_ms ? old->at_ms : ev.at_ms;
    if (memcmp(&ev, old, sizeof ev))
        session_changed(s);
    *old = ev;
    json_free(args);
}

/* Time alone changes some checks: look again in a second. */
static void look_again(struct session *s, struct effects *out)
{
    struct session_priv *p = session_priv(s);
    const struct lab_step *step = session_step(s);
    bool wants = false;
    for (int i = 0; i < step->checks_n; i++)
        wants |= p->asks[i].since_ms != 0 || check_kind_at(step->checks[i].kind)->in_pod;
    if (!wants || p->check_timer || s->progress[s->step].state == STEP_DONE ||
        s->cluster.link != LINK_UP)
        return;
    struct json *args = json_new_object();
    json_put_str(args, "name", "check");
    json_put_num(args, "ms", 1000);
    p->check_timer = effects_add(out, EFF_TIMER, 0, 0, args);
}

static bool all_pass(struct session *s, struct effects *out)
{
    const struct lab_step *step = session_step(s);
    const struct step_progress *g = &s->progress[s->step];
    bool all = true, any = false;
    for (int i = 0; i < step->checks_n; i++) {
        evaluate(s, i, out);
        enum check_result r = g->checks[i].result;
        any |= r == CHECK_PASS;
        all &= r == CHECK_PASS ||
               (r == CHECK_SKIPPED && (s->need.recorded || step->checks[i].unseen.en));
    }
    for (int i = 0; i < step->quiz_n; i++) {
        any |= g->quiz[i].result == CHECK_PASS;
        all &= g->quiz[i].result == CHECK_PASS;
    }
    return all && any;
}

void session_checks(struct session *s, struct effects *out)
{
    const struct lab_step *step = session_step(s);
    struct session_priv *p = session_priv(s);
    if (!step || !s->progress || p->asks_step != s->step)
        return;
    struct step_progress *g = &s->progress[s->step];
    if (p->progress)
        remember_all(s, out);
    bool all = all_pass(s, out) && s->scene.state == SCENE_READY;
    bool busy = p->act.state == ACTION_RUNNING && p->act.step == s->step &&
                p->act.list != LIST_CLEANUP;
    if (g->state == STEP_OPEN || g->state == STEP_RUNNING)
        g->state = busy ? STEP_RUNNING : STEP_OPEN;
    /* what was gone past may still be done, where it can be */
    if (all && !busy && (g->state == STEP_OPEN || g->state == STEP_PASSED))
        session_step_done(s, s->step, out);
    look_again(s, out);
}

void session_want_checks(struct session *s)
{
    struct session_priv *p = session_priv(s);
    const struct lab_step *step = session_step(s);
    for (int i = 0; step && p->asks && i < step->checks_n; i++)
        p->asks[i].wanted = check_kind_at(step->checks[i].kind)->ask != NULL;
}

static void free_asks(struct session *s, struct effects *out)
{
    struct session_priv *p = session_priv(s);
    int n = p->asks ? s->lab->steps[p->asks_step].checks_n : 0;
    for (int i = 0; i < n; i++) {
        json_free(p->asks[i].answer);
        if (!p->asks[i].effect)
            continue;
        struct json *args = json_new_object();
        json_put_num(args, "effect", p->asks[i].effect);
        effects_add(out, EFF_CANCEL, 0, 0, args);
    }
    free(p->asks);
    p->asks = NULL;
}

void session_asks_reset(struct session *s, struct effects *out)
{
    struct session_priv *p = session_priv(s);
    free_asks(s, out);
    p->asks_step = s->step;
    p->asks = xcalloc((size_t)MAX(session_step(s)->checks_n, 1), sizeof *p->asks);
}

static bool take_exec(struct session *s, const struct msg *m)
{
    struct session_priv *p = session_priv(s);
    for (int i = 0; i < session_step(s)->checks_n; i++) {
        struct ask *a = &p->asks[i];
        if (a->effect != m->effect)
            continue;
        json_free(a->answer);
        a->answer = json_copy(m->body);
        json_put_str(a->answer, "uid", a->uid);
        a->effect = 0;
        a->answer_ms = p->now_ms;
        session_changed(s);
        return true;
    }
    return false;
}

bool session_check_message(struct session *s, const struct msg *m)
{
    struct session_priv *p = session_priv(s);
    const struct lab_step *step = session_step(s);
    if (m->kind == MSG_TIMER && m->effect && m->effect == p->check_timer) {
        p->check_timer = 0;
        return true;
    }
    if (m->kind == MSG_REPLY && step && p->asks && m->effect)
        return take_exec(s, m);
    if ((m->kind != MSG_CHILD_LINE && m->kind != MSG_CHILD_EXIT) || !step || !p->asks || !m->effect)
        return false;
    for (int i = 0; i < step->checks_n; i++) {
        struct ask *a = &p->asks[i];
        if (a->effect != m->effect)
            continue;
        if (!a->answer) {
            a->answer = json_new_object();
            json_set(a->answer, "records", json_new_array());
        }
        struct json *records = json_get_mut(a->answer, "records");
        const struct json *r = json_get(m->body, "record");
        if (m->kind == MSG_CHILD_LINE && r) {
            if (json_count(records) >= ANSWER_RECORDS)
                json_free(json_detach_item(records, 0));
            json_append(records, json_copy(r));
            return true;
        }
        json_put_num(a->answer, "code", json_num(m->body, "code", -1));
        json_put_num(a->answer, "signal", json_num(m->body, "signal", 0));
        json_put_str(a->answer, "stderr", json_str(m->body, "stderr", ""));
        a->effect = 0;
        session_changed(s);
        return true;
    }
    return false;
}
