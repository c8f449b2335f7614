/* session_check.c - the checks of the shown step, evaluated whenever the state
 * changed, and the questions that asking checks have. */
#include "core/base/i18n.h"
#include "labs/session_priv.h"
#include "labs/vars.h"

enum { ANSWER_RECORDS = 200 };

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

/* The first requirement that the ready nodes do not meet, or NULL. */
static const struct lab_require *unmet(const struct session *s)
{
    const struct table *t = session_table(s, "nodes");
    for (int i = 0; t->synced && i < s->lab->requires_n; i++) {
        const struct lab_require *q = &s->lab->requires[i];
        char path[200];
        double sum = 0;
        str_fmt(path, sizeof path, "status.allocatable['%s']", q->resource);
        for (const struct json *n = json_first(t->items); n; n = json_next(n)) {
            double v;
            if (str_to_f64(json_str(n, path, ""), &v))
                sum += v;
        }
        if (sum < q->min)
            return q;
    }
    return NULL;
}

/* What stands in front of every check of the step: true when ev is final. */
static bool before(const struct session *s, struct evidence *ev)
{
    const struct session_priv *p = session_priv(s);
    if (!p->progress) {
        check_set(ev, CHECK_UNKNOWN, "%s", _("the progress is being read"));
        return true;
    }
    for (int i = 0; i < s->step; i++)
        if (s->progress[i].state != STEP_DONE) {
            check_set(ev, CHECK_BLOCKED, _("step %d \"%s\" comes first"), i + 1,
                      ltext_get(&s->lab->steps[i].title));
            return true;
        }
    const struct lab_require *q = unmet(s);
    if (q) {
        check_set(ev, CHECK_SKIPPED, "%s: %s", q->resource, ltext_get(&q->why));
        return true;
    }
    return false;
}

static void explain(const struct lab_check *check, struct evidence *ev)
{
    for (int i = 0; i < check->because_n && ev->result != CHECK_PASS; i++) {
        const struct lab_because *b = &check->because[i];
        if (!strstr(ev->actual, b->has) && !strstr(ev->event, b->has))
            continue;
        str_copy(ev->because, sizeof ev->because, ltext_get(&b->tell));
        return;
    }
}

static struct check_ctx context(const struct session *s, int i, const struct json *args)
{
    const struct session_priv *p = session_priv(s);
    const struct lab_step *step = session_step(s);
    return (struct check_ctx){.s = s, .step = step, .check = &step->checks[i], .args = args,
                              .answer = p->asks && !p->asks[i].effect ? p->asks[i].answer : NULL,
                              .asking = p->asks && (p->asks[i].effect || p->asks[i].wanted)};
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
    if (before(s, &ev)) {
        /* nothing to look at yet */
    } else if (!args) {
        check_set(&ev, CHECK_UNKNOWN, _("the value of %s is not known yet"), missing);
    } else {
        struct check_ctx c = context(s, i, args);
        struct json *ask = p->asks[i].wanted && !p->asks[i].effect && kind->ask ? kind->ask(&c)
                                                                              : NULL;
        if (ask) {
            p->asks[i].wanted = false;
            json_free(p->asks[i].answer);
            p->asks[i].answer = NULL;
            p->asks[i].effect = effects_add(out, EFF_SPAWN, 0, 0, ask);
            c = context(s, i, args);
        }
        kind->eval(&c, &ev);
        explain(check, &ev);
    }
    clean_all(&ev);
    struct evidence *old = &s->progress[s->step].checks[i];
    if (ev.result == old->result && str_eq(ev.actual, old->actual))
        ev.at_ms = old->at_ms ? old->at_ms : ev.at_ms;
    if (memcmp(&ev, old, sizeof ev))
        session_changed(s);
    *old = ev;
    json_free(args);
}

void session_checks(struct session *s, struct effects *out)
{
    const struct lab_step *step = session_step(s);
    struct session_priv *p = session_priv(s);
    if (!step || !s->progress || p->asks_step != s->step)
        return;
    bool all = step->checks_n > 0;
    for (int i = 0; i < step->checks_n; i++) {
        evaluate(s, i, out);
        all &= s->progress[s->step].checks[i].result == CHECK_PASS;
    }
    bool busy = p->act.state == ACTION_RUNNING && p->act.step == s->step;
    if (s->progress[s->step].state != STEP_DONE)
        s->progress[s->step].state = busy ? STEP_RUNNING
                                     : s->progress[s->step].state == STEP_RUNNING
                                         ? STEP_OPEN
                                         : s->progress[s->step].state;
    if (all && !busy && s->progress[s->step].state == STEP_OPEN)
        session_step_done(s, s->step, out);
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

bool session_check_message(struct session *s, const struct msg *m)
{
    struct session_priv *p = session_priv(s);
    const struct lab_step *step = session_step(s);
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
