/* session_clean.c - clearing up: everything that carries the lab's label, told
 * first and deleted when the person said yes; then looked for again, until
 * nothing is left.
 *
 * What belongs to no namespace may be another person's of the same lab: it goes
 * only when this attempt made it, by its uid. */
#include "core/base/i18n.h"
#include "k8s/res.h"
#include "labs/errjson.h"
#include "labs/session_priv.h"

static const char *const kinds[] = {
    "jobs", "cronjobs", "deployments", "statefulsets", "daemonsets", "replicasets", "pods",
    "services", "configmaps", "secrets", "persistentvolumeclaims", "serviceaccounts", "roles",
    "rolebindings", "resourcequotas", "limitranges", "networkpolicies", "persistentvolumes",
    "priorityclasses", "storageclasses", "namespaces"};
enum { CLEAN_AGAIN_MS = 300, CLEAN_TRIES = 60 };

struct clean_run {
    uint32_t lists[ARRAY_LEN(kinds)];
    int open;                     /* answers that are awaited */
    uint32_t deletes[256];
    uint32_t timer;
    struct json *found;           /* [{resource, namespace, name, uid}] */
    bool go, acted;               /* go: the person said yes */
    int tries;
};

static struct clean_run *run_of(struct session *s)
{
    struct session_priv *p = session_priv(s);
    if (!p->clean)
        p->clean = xcalloc(1, sizeof *p->clean);
    return p->clean;
}

void session_clean_forget(struct session *s, struct effects *out)
{
    struct session_priv *p = session_priv(s);
    (void)out;
    if (p->clean)
        json_free(p->clean->found);
    free(p->clean);
    p->clean = NULL;
    json_free(s->clean.items);
    memset(&s->clean, 0, sizeof s->clean);
}

static void failed(struct session *s, const char *why)
{
    s->clean.state = CLEAN_FAILED;
    session_clean(s->clean.text, sizeof s->clean.text, why);
    session_say(s, PD_LAB, _("clearing up failed: %s"), s->clean.text);
}

/* --- looking --------------------------------------------------------------------- */

static void list_all(struct session *s, struct effects *out)
{
    struct clean_run *c = run_of(s);
    char label[80];
    json_free(c->found);
    c->found = json_new_array();
    c->open = 0;
    str_fmt(label, sizeof label, "podium/lab=%s", s->lab->id);
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
        if (!res_by_name(kinds[i]))
            continue;
        struct json *args = json_new_object();
        json_put_str(args, "resource", kinds[i]);
        json_put_str(args, "namespace", s->cluster.ns);
        json_put_str(args, "labelSelector", label);
        c->lists[i] = session_effect(s, out, EFF_LIST, args);
        c->open++;
    }
}

static bool ours(const struct session *s, const struct res *res, const struct json *o)
{
    char key[320];
    if (res && res->namespaced)
        return true;
    str_fmt(key, sizeof key, "%s/%s", res ? res->plural : "?", json_str(o, "metadata.name", ""));
    const struct json *made = json_get(session_fact(s, "made"), key);
    return str_eq(json_str(made, "uid", ""), json_str(o, "metadata.uid", "?"));
}

static void take_list(struct session *s, const char *kind, const struct msg *m)
{
    const struct res *res = res_by_name(kind);
    const struct json *items = json_at(m->body, "object.items");
    for (const struct json *o = json_first(items); o; o = json_next(o)) {
        if (!ours(s, res, o))
            continue;
        struct json *f = json_new_object();
        json_put_str(f, "resource", kind);
        json_put_str(f, "namespace", json_str(o, "metadata.namespace", NULL));
        json_put_str(f, "name", json_str(o, "metadata.name", ""));
        json_put_str(f, "uid", json_str(o, "metadata.uid", NULL));
        json_append(run_of(s)->found, f);
    }
}

static void tell(struct session *s)
{
    char name[400], clean[400];
    json_free(s->clean.items);
    s->clean.items = json_new_array();
    for (const struct json *f = json_first(run_of(s)->found); f; f = json_next(f)) {
        str_fmt(name, sizeof name, "%s/%s", json_str(f, "resource", ""), json_str(f, "name", ""));
        session_clean(clean, sizeof clean, name);
        json_append(s->clean.items, json_new_string(clean));
    }
}

/* --- deleting ----------------------------------------------------------------------- */

static void delete_all(struct session *s, struct effects *out)
{
    struct clean_run *c = run_of(s);
    c->open = 0;
    memset(c->deletes, 0, sizeof c->deletes);
    for (const struct json *f = json_first(c->found); f; f = json_next(f)) {
        if (c->open == (int)ARRAY_LEN(c->deletes))
            break;                /* the rest is found again */
        struct json *args = json_copy(f);
        json_put_num(args, "grace", 0);
        c->deletes[c->open++] = session_effect(s, out, EFF_DELETE, args);
    }
}

static void wait_a_bit(struct session *s, struct effects *out)
{
    struct json *args = json_new_object();
    json_put_str(args, "name", "clean");
    json_put_num(args, "ms", CLEAN_AGAIN_MS);
    run_of(s)->timer = effects_add(out, EFF_TIMER, 0, 0, args);
}

static void done(struct session *s, struct effects *out)
{
    s->clean.state = CLEAN_DONE;
    s->clean.left = 0;
    /* the scene is gone: who goes on has it made again */
    session_set_fact(s, "made", json_new_object(), out);
    if (json_first(session_fact(s, "scene")))
        session_set_fact(s, "scene", json_new_object(), out);
    session_say(s, PD_OK, _("cleared up: %d objects deleted, none is left"), s->clean.deleted);
}

/* Every kind was listed: ask, delete, or see that nothing is left. */
static void listed(struct session *s, struct effects *out)
{
    struct clean_run *c = run_of(s);
    int n = (int)json_count(c->found);
    s->clean.left = n;
    if (s->clean.state == CLEAN_LOOKING) {
        tell(s);
        s->clean.state = CLEAN_ASKING;
        session_say(s, PD_OK, n ? _("%d objects of this lab are in the cluster; lab.cleanup yes "
                                    "deletes them")
                                : _("no object of this lab is in the cluster"), n);
        if (c->go)
            session_clean_go(s, out);
    } else if (n == 0) {
        done(s, out);
    } else if (c->tries++ >= CLEAN_TRIES) {
        tell(s);
        failed(s, _("some objects do not go; see the list"));
    } else {
        delete_all(s, out);
    }
    session_changed(s);
}

void session_clean_look(struct session *s, struct effects *out)
{
    if (s->cluster.link != LINK_UP) {
        failed(s, _("the cluster can't be seen"));
        return;
    }
    if (s->clean.state == CLEAN_LOOKING || s->clean.state == CLEAN_RUNNING)
        return;
    session_clean_forget(s, out);
    s->clean.state = CLEAN_LOOKING;
    list_all(s, out);
    session_changed(s);
}

void session_clean_acted(struct session *s, bool bad, struct effects *out)
{
    if (bad)
        failed(s, session_priv(s)->act.err.msg);
    else if (s->clean.state == CLEAN_RUNNING)
        list_all(s, out);
}

void session_clean_go(struct session *s, struct effects *out)
{
    if (s->clean.state != CLEAN_ASKING) {
        session_clean_look(s, out);
        run_of(s)->go = s->clean.state == CLEAN_LOOKING;
        return;
    }
    if (session_priv(s)->act.state == ACTION_RUNNING)
        session_act_cancel(s, out);
    s->clean.state = CLEAN_RUNNING;
    s->clean.deleted = (int)json_count(run_of(s)->found);
    if (s->lab->cleanup_n)
        session_act_list(s, LIST_CLEANUP, s->step, 0, out);
    else if (s->clean.deleted)
        delete_all(s, out);
    else
        done(s, out);
    session_changed(s);
}

static void answered(struct session *s, struct effects *out)
{
    struct clean_run *c = run_of(s);
    if (--c->open > 0)
        return;
    if (c->lists[0]) {
        memset(c->lists, 0, sizeof c->lists);
        listed(s, out);
    } else {
        wait_a_bit(s, out);
    }
}

/* A kind that the server does not have, or that the person may not see, is none
 * of ours. Deleting what is gone, or what has another uid by now, is fine. */
static bool harmless(int64_t status)
{
    return status == 200 || status == 202 || status == 403 || status == 404 || status == 405 ||
           status == 409;
}

void session_clean_message(struct session *s, const struct msg *m, struct effects *out)
{
    struct clean_run *c = session_priv(s)->clean;
    if (!c || !s->lab || !m->effect || s->clean.state == CLEAN_FAILED)
        return;
    if (m->kind == MSG_TIMER && m->effect == c->timer) {
        c->timer = 0;
        list_all(s, out);
        return;
    }
    if (m->kind != MSG_REPLY)
        return;
    bool mine = false;
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
        if (c->lists[i] == m->effect) {
            mine = true;
            take_list(s, kinds[i], m);
        }
    for (size_t i = 0; i < ARRAY_LEN(c->deletes); i++)
        mine |= c->deletes[i] == m->effect;
    struct pd_err err;
    if (mine && !harmless(json_int(m->body, "status", 0)) &&
        errjson_read(json_get(m->body, "error"), &err))
        failed(s, err.msg);
    else if (mine)
        answered(s, out);
}
