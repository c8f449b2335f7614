/* action_apply.c - a manifest of the work folder goes to the cluster by
 * server-side apply, document after document. What the server refuses comes
 * back with its line in the person's file.
 *
 * `replace: yes` is for kinds whose spec can't be changed (Job, Pod): what
 * stands there under the name is deleted by its uid first, and waited for. */
#include "core/base/i18n.h"
#include "k8s/rules/check.h"
#include "k8s/rules/conflict.h"
#include "labs/action_kinds.h"
#include "labs/session_priv.h"

static const struct lab_key keys[] = {
    {"file", LK_PATH, true}, {"replace", LK_BOOL, false}, {NULL, LK_ANY, false}};

enum { STAGE_LOOK, STAGE_DELETE, STAGE_WAIT, STAGE_GONE, STAGE_APPLY, STAGE_CONFLICT };
enum { APPLY_WAIT_MS = 300, APPLY_LIMIT_MS = 120000 };

static struct manifest *parse(struct session *s, const struct action_run *a, struct pd_err *err)
{
    return session_manifest_parse(s, json_str(a->args, "file", ""), a->list == LIST_DO, err);
}

/* Everything that a lab makes carries its label, so that it can be found again
 * to clear up; a Job's pods too. */
static struct json *labelled(const struct session *s, const struct json *object)
{
    struct json *o = json_copy(object);
    json_put_path(o, "metadata.labels['podium/lab']", json_new_string(s->lab->id));
    if (json_type(json_at(o, "spec.template")) == JSON_OBJECT)
        json_put_path(o, "spec.template.metadata.labels['podium/lab']",
                      json_new_string(s->lab->id));
    return o;
}

/* The object of the document at hand: work = {"doc": i, "object": {…}, "res"}. */
static const struct json *object(const struct action_run *a)
{
    return json_get(a->work, "object");
}

static struct json *target(const struct session *s, const struct action_run *a)
{
    struct json *args = json_new_object();
    json_put_str(args, "resource", json_str(a->work, "res", ""));
    json_put_str(args, "namespace", json_str(object(a), "metadata.namespace", s->cluster.ns));
    json_put_str(args, "name", json_str(object(a), "metadata.name", ""));
    return args;
}

static void apply(struct session *s, struct action_run *a, struct effects *out)
{
    struct json *args = json_new_object();
    json_set(args, "manifest", json_copy(object(a)));
    json_put_bool(args, "force", a->list != LIST_DO || session_priv(s)->force);
    a->stage = STAGE_APPLY;
    a->effect = session_effect(s, out, EFF_APPLY, args);
}

static void look(struct session *s, struct action_run *a, int stage, struct effects *out)
{
    a->stage = stage;
    a->effect = session_effect(s, out, EFF_GET, target(s, a));
}

/* Document i, or the end. */
static void document(struct session *s, struct action_run *a, int i, struct effects *out)
{
    struct pd_err err;
    struct manifest *m = parse(s, a, &err);
    if (!m) {
        action_fail_err(a, &err);
        return;
    }
    json_free(a->work);
    a->work = NULL;
    if ((size_t)i >= m->n) {
        a->state = ACTION_DONE;
        a->effect = 0;
    } else {
        const struct manifest_doc *d = &m->docs[i];
        a->work = json_new_object();
        json_put_num(a->work, "doc", i);
        json_set(a->work, "object", labelled(s, d->object));
        json_put_str(a->work, "res", d->res ? d->res->plural : "");
        bool fixed = d->res && (str_eq(d->res->kind, "Job") || str_eq(d->res->kind, "Pod"));
        if (!d->res) {
            pd_fail_at(&err, PD_INVALID, m->name, d->line, 1, _("podium does not know the kind %s"),
                       json_str(d->object, "kind", ""));
            action_fail_err(a, &err);
        } else if (fixed && json_bool(a->args, "replace", false)) {
            look(s, a, STAGE_LOOK, out);
        } else {
            apply(s, a, out);
        }
    }
    manifest_free(m);
}

static void start(struct session *s, struct action_run *a, struct effects *out)
{
    a->until_ms = a->started_ms + APPLY_LIMIT_MS;
    if (a->list == LIST_DO)
        session_manifest_check(s, json_str(a->args, "file", ""));
    document(s, a, 0, out);
}

static void refused(struct session *s, struct action_run *a, const struct msg *m,
                    const struct json *live)
{
    struct pd_err err, place;
    struct manifest *mf = parse(s, a, &err);
    size_t i = (size_t)json_int(a->work, "doc", 0);
    const struct json *status = json_get(m->body, "object");
    if (mf && i < mf->n && json_type(status) == JSON_OBJECT &&
        check_refusal(mf, &mf->docs[i], (int)json_int(m->body, "status", 0), status, &place))
        action_fail_err(a, &place);
    manifest_free(mf);
    if (a->list == LIST_DO)
        session_manifest_refused(s, json_str(a->args, "file", ""), i,
                                 (int)json_int(m->body, "status", 0), status, live);
}

/* Fields belong to others: the error says the first, the notes all of them, with
 * what stands there now. */
static void conflict(struct session *s, struct action_run *a, const struct msg *m,
                     struct effects *out)
{
    json_set(a->work, "refusal", json_copy(m->body));
    a->err = (struct pd_err){0};
    a->state = ACTION_RUNNING;
    look(s, a, STAGE_CONFLICT, out);
}

static void conflict_seen(struct session *s, struct action_run *a, const struct msg *m)
{
    struct msg was = *m;
    was.body = json_get_mut(a->work, "refusal");
    action_reply_failed(a, &was);
    refused(s, a, &was, json_get(m->body, "object"));
    pd_set_hint(&a->err, "%s", _("leave the field out, or take it over: step.takeover"));
}

static void looked(struct session *s, struct action_run *a, const struct msg *m,
                   struct effects *out)
{
    bool absent = json_int(m->body, "status", 0) == 404;
    const struct json *obj = json_get(m->body, "object");
    if (absent) {
        apply(s, a, out);
        return;
    }
    if (action_reply_failed(a, m))
        return;
    if (a->stage == STAGE_LOOK) {
        struct json *args = target(s, a);
        json_put_str(args, "uid", json_str(obj, "metadata.uid", NULL));
        json_put_num(args, "grace", 0);
        a->stage = STAGE_DELETE;
        a->effect = session_effect(s, out, EFF_DELETE, args);
        return;
    }
    struct json *args = json_new_object();
    json_put_str(args, "name", "gone");
    json_put_num(args, "ms", APPLY_WAIT_MS);
    a->stage = STAGE_WAIT;
    a->effect = session_effect(s, out, EFF_TIMER, args);
}

static void message(struct session *s, struct action_run *a, const struct msg *m,
                    struct effects *out)
{
    if (m->effect != a->effect || !a->effect)
        return;
    if (m->kind == MSG_TIMER && a->stage == STAGE_WAIT) {
        look(s, a, STAGE_GONE, out);
        return;
    }
    if (m->kind != MSG_REPLY)
        return;
    a->effect = 0;
    switch (a->stage) {
    case STAGE_LOOK:
    case STAGE_GONE:
        looked(s, a, m, out);
        break;
    case STAGE_DELETE:
        if (json_int(m->body, "status", 0) == 404 || !action_reply_failed(a, m))
            look(s, a, STAGE_GONE, out);
        break;
    case STAGE_CONFLICT:
        conflict_seen(s, a, m);
        break;
    case STAGE_APPLY:
        if (conflict_is(json_get(m->body, "object"))) {
            conflict(s, a, m, out);
            break;
        }
        if (action_reply_failed(a, m)) {
            refused(s, a, m, NULL);
            break;
        }
        session_made(s, json_get(m->body, "object"), out);
        document(s, a, (int)json_int(a->work, "doc", 0) + 1, out);
        break;
    }
}

const struct action_kind action_apply = {"apply", keys, start, message};
