/* session_world.c - what the cluster says: the link, the watched tables, the
 * requests made. */
#include "core/base/i18n.h"
#include "core/base/log.h"
#include "k8s/res.h"
#include "labs/errjson.h"
#include "labs/session_conn.h"
#include "labs/session_priv.h"

/* --- the link ---------------------------------------------------------------- */

/* Where clusters say which registry is theirs (KEP-1755); where they don't, or not to
 * this person, a ConfigMap of that name in the person's own namespace does. */
void session_ask_registry(struct session *s, struct effects *out)
{
    struct session_priv *p = session_priv(s);
    if (*p->registry || p->get_registry || s->cluster.link == LINK_OFF || !s->cluster.id)
        return;
    struct json *args = json_new_object();
    json_put_str(args, "resource", "configmaps");
    json_put_str(args, "namespace", p->registry_own ? s->cluster.ns : "kube-public");
    json_put_str(args, "name", "local-registry-hosting");
    p->get_registry = session_effect(s, out, EFF_GET, args);
}

static void watch(struct session *s, int i, struct effects *out)
{
    struct json *args = json_new_object();
    json_put_str(args, "resource", s->tables[i].resource);
    if (i > 0)
        json_put_str(args, "namespace", s->cluster.ns);
    session_priv(s)->watched[i] = true;
    session_effect(s, out, EFF_WATCH, args);
}

static bool names(const struct json *args, const char *resource)
{
    return str_eq(json_str(args, "kind", ""), resource) ||
           str_eq(json_str(args, "field.kind", ""), resource) ||
           str_eq(json_str(args, "count.kind", ""), resource) ||
           str_eq(json_str(args, "key_of.kind", ""), resource);
}

static bool lab_names(const struct lab *lab, const char *resource)
{
    for (int i = 0; i < lab->steps_n; i++) {
        const struct lab_step *st = &lab->steps[i];
        for (int k = 0; k < st->checks_n; k++)
            if (names(st->checks[k].args, resource))
                return true;
        for (int k = 0; k < st->quiz_n; k++)
            if (names(st->quiz[k].args, resource))
                return true;
    }
    return false;
}

void session_watch_lab(struct session *s, struct effects *out)
{
    for (int i = SESSION_WATCHED; s->lab && s->cluster.id && i < SESSION_TABLES; i++)
        if (!session_priv(s)->watched[i] && lab_names(s->lab, s->tables[i].resource))
            watch(s, i, out);
}

/* What is listed stays until the new list has come, and says where it is from. */
static void read_anew(struct table *t, const char *from, int64_t now_ms)
{
    if (json_count(t->items) > 0 && !t->from[0])
        str_copy(t->from, sizeof t->from, from);
    t->synced = t->forbidden = t->broken = t->quiet = false;
    t->poll_ms = 0;
    t->error[0] = '\0';
    t->next_ms = 0;
    t->asked_ms = now_ms;
}

static void watch_all(struct session *s, const char *from, int64_t now_ms, struct effects *out)
{
    uint64_t gone = s->all_pods.generation + 1;
    table_release(&s->all_pods);         /* what is held on nodes is asked for anew */
    s->all_pods.generation = gone;
    for (int i = 0; i < SESSION_TABLES; i++) {
        read_anew(&s->tables[i], from, now_ms);
        session_priv(s)->watched[i] = false;
        if (i < SESSION_WATCHED)
            watch(s, i, out);
    }
    session_watch_lab(s, out);
    session_need_forget(s);
    session_priv(s)->registry[0] = '\0';
    session_priv(s)->get_registry = 0;
    session_priv(s)->registry_own = false;
    session_priv(s)->pods_look = session_priv(s)->pod_delete = 0;
    session_log_again(s, out);
    session_ask_registry(s, out);
}

const char *session_kubeconfig(const struct session *s)
{
    return session_priv(s)->kubeconfig;
}

/* While the first answer waits for a plugin, that is what is going on. */
static void take_login(struct session *s, const char *name)
{
    struct cluster_state *k = &s->cluster;
    bool ran = k->login[0];
    session_clean(k->login, sizeof k->login, name);
    if (k->login[0] && !ran && k->link == LINK_CONNECTING)
        session_say(s, PD_OK, _("logging in with %s; Esc ends it"), k->login);
    else if (ran && !k->login[0] && !s->message_code)
        session_say(s, PD_OK, "%s", "");
}

static void take_cluster(struct session *s, const struct msg *m, struct effects *out)
{
    static const char *const states[] = {"off", "connecting", "up", "down"};
    struct cluster_state *k = &s->cluster;
    const char *state = json_str(m->body, "state", "");
    struct pd_err err;
    char from[200];
    str_fmt(from, sizeof from, "%s/%s", k->context, k->ns);
    bool fresh = m->cluster != k->id || m->epoch != k->epoch, was_up = k->link == LINK_UP;
    for (size_t i = 0; i < ARRAY_LEN(states); i++)
        if (str_eq(states[i], state))
            k->link = (enum link_state)i;
    if (fresh && !str_eq(k->context, json_str(m->body, "context", k->context))) {
        k->last_ok_ms = k->latency_ms = 0;       /* were those of the other one */
        k->version[0] = k->user[0] = k->server[0] = '\0';
    }
    k->id = m->cluster;
    k->epoch = m->epoch;
    session_clean(k->context, sizeof k->context, json_str(m->body, "context", k->context));
    session_clean(k->ns, sizeof k->ns, json_str(m->body, "namespace", k->ns));
    session_clean(k->server, sizeof k->server, json_str(m->body, "server", k->server));
    session_clean(k->user, sizeof k->user, json_str(m->body, "user", k->user));
    session_clean(k->version, sizeof k->version, json_str(m->body, "version", k->version));
    str_copy(session_priv(s)->kubeconfig, sizeof session_priv(s)->kubeconfig,
             json_str(m->body, "kubeconfig", session_priv(s)->kubeconfig));
    k->latency_ms = json_int(m->body, "latency_ms", k->latency_ms);
    if (k->link != LINK_DOWN)
        k->next_try_ms = 0;
    k->next_try_ms = json_int(m->body, "next_try_ms", k->next_try_ms);
    k->error[0] = '\0';
    take_login(s, json_str(m->body, "login", ""));
    if (errjson_read(json_get(m->body, "error"), &err)) {
        session_clean(k->error, sizeof k->error, err.msg);
        s->last_error = err;
        session_say(s, err.code, "%s", k->error);
    }
    if (k->link == LINK_UP || (k->link == LINK_DOWN && was_up))
        k->last_ok_ms = m->at_ms;
    if (k->link == LINK_UP) {
        if (s->message_code)
            session_say(s, PD_OK, "%s", "");
        session_vars_update(s);
    }
    if (fresh && k->id)
        watch_all(s, from, m->at_ms, out);
    session_conn_take(s, m, fresh);
    session_changed(s);
}

/* --- tables ------------------------------------------------------------------ */

static struct table *table_of(struct session *s, const struct msg *m)
{
    const char *name = json_str(m->body, "resource", "");
    for (int i = 0; i < SESSION_TABLES; i++)
        if (str_eq(s->tables[i].resource, name))
            return &s->tables[i];
    return NULL;
}

static void touched(struct session *s, struct table *t, const struct msg *m)
{
    t->generation++;
    t->changed_ms = m->at_ms;
    if (t == &s->tables[0])
        session_vars_update(s);
    session_changed(s);
}

/* A list comes in parts: `from` counts what came before, `more` follows. */
void session_list_take(struct session *s, struct table *t, const struct msg *m)
{
    bool more = json_bool(m->body, "more", false);
    if (json_int(m->body, "from", 0) == 0) {
        if (t->from[0])
            table_clear(t);
        t->from[0] = '\0';
        table_begin(t);
    }
    for (const struct json *o = json_first(json_get(m->body, "items")); o; o = json_next(o))
        table_put(t, o);
    t->seen_ms = m->at_ms;
    if (!more) {
        table_end(t);
        t->synced = true;
        t->forbidden = t->broken = t->quiet = false;
        if (!t->poll_ms)                  /* else it says why it is not watched */
            t->error[0] = '\0';
        t->next_ms = 0;
    }
    touched(s, t, m);
}

static void take_list(struct session *s, const struct msg *m)
{
    struct table *t = table_of(s, m);
    if (t && !session_list_part(s, m))
        session_list_take(s, t, m);
}

static void take_event(struct session *s, const struct msg *m)
{
    struct table *t = table_of(s, m);
    const struct json *obj = json_get(m->body, "object");
    if (!t || !obj)
        return;
    t->seen_ms = m->at_ms;
    if (str_eq(json_str(m->body, "type", ""), "DELETED"))
        table_drop(t, obj);
    else
        table_put(t, obj);
    touched(s, t, m);
}

/* Which right the list lacks: the server's sentence says it, else the resource. */
static void denied(struct table *t, const struct pd_err *err, const char *ns)
{
    struct denied *d = &t->denied;
    const struct res *r = res_by_name(t->resource);
    if (denied_of(d, err))
        return;
    memset(d, 0, sizeof *d);
    str_copy(d->verb, sizeof d->verb, "list");
    str_copy(d->resource, sizeof d->resource, t->resource);
    str_copy(d->group, sizeof d->group, r ? r->group : "");
    str_copy(d->ns, sizeof d->ns, r && !r->namespaced ? "" : ns);
}

/* Neither pods nor Jobs: most likely it is the wrong namespace. */
static void look_elsewhere(struct session *s)
{
    const struct table *pods = session_table(s, "pods"), *jobs = session_table(s, "jobs");
    if (!pods->forbidden || !jobs->forbidden || s->conn.blind)
        return;
    s->conn.blind = true;
    session_say(s, PD_FORBIDDEN,
                _("you may see nothing in the namespace %s; ns goes to another one"),
                s->cluster.ns);
}

/* How old the rows are, and when the next try is. */
static void take_times(struct session *s, struct table *t, const struct msg *m)
{
    const char *state = json_str(m->body, "state", "");
    int64_t age_ms = json_int(m->body, "age_ms", -1), next_ms = json_int(m->body, "next_ms", 0);
    t->next_ms = next_ms > 0 ? m->at_ms + next_ms : 0;
    if (age_ms >= 0)
        t->seen_ms = m->at_ms - age_ms;
    else if (str_eq(state, "forbidden") || str_eq(state, "live"))
        t->seen_ms = m->at_ms;
    if (t->broken && t->next_ms && s->cluster.next_try_ms < m->at_ms)
        s->cluster.next_try_ms = t->next_ms;
    if (t->broken && t->next_ms)
        s->cluster.next_try_ms = MIN(s->cluster.next_try_ms, t->next_ms);
}

static void take_watch_state(struct session *s, const struct msg *m)
{
    struct table *t = table_of(s, m);
    struct pd_err err = {.code = PD_OK};
    if (!t)
        return;
    const char *state = json_str(m->body, "state", "");
    /* asked anew, it stays forbidden until there is another answer */
    t->forbidden = str_eq(state, "forbidden") || (t->forbidden && str_eq(state, "listing"));
    t->broken = str_eq(state, "retrying");
    t->quiet = str_eq(state, "quiet");
    t->poll_ms = json_int(m->body, "poll_ms", 0);
    s->conn.retries += t->broken;
    if (!t->forbidden || json_has(m->body, "error"))
        t->error[0] = '\0';
    if (errjson_read(json_get(m->body, "error"), &err))
        session_clean(t->error, sizeof t->error, err.msg);
    t->code = err.code;
    if (t->poll_ms)                          /* why it is not watched, if it is a right */
        memset(&t->denied, 0, sizeof t->denied);
    if (str_eq(state, "forbidden") || (t->poll_ms && err.code == PD_FORBIDDEN))
        denied(t, &err, s->cluster.ns);
    if (t->forbidden && t->from[0]) {        /* what one may not see here is not there's */
        table_clear(t);
        t->from[0] = '\0';
    }
    look_elsewhere(s);
    take_times(s, t, m);
    touched(s, t, m);
}

/* --- requests ---------------------------------------------------------------- */

static struct api_row *api_row(struct session *s, uint32_t id)
{
    for (size_t i = s->api_n; i-- > 0;)
        if (s->api[i].id == id)
            return &s->api[i];
    if (s->api_n == SESSION_API_ROWS) {
        free(s->api[0].path);
        free(s->api[0].kubectl);
        free(s->api[0].body);
        free(s->api[0].warning);
        memmove(s->api, s->api + 1, (SESSION_API_ROWS - 1) * sizeof *s->api);
        s->api_n--;
    }
    struct api_row *r = &s->api[s->api_n++];
    memset(r, 0, sizeof *r);
    r->id = id;
    return r;
}

/* What the API panel shows: a token in a manifest or a command stays off the
 * screen. */
static char *masked(const char *text)
{
    struct str s;
    str_init(&s, 8 << 20);
    log_redact(text, strlen(text), &s);
    return str_take(&s);
}

/* How long a stream stays open is no answer's time. */
static bool streams(const char *path)
{
    static const char *const marks[] = {"watch=1", "watch=true", "follow=true", "/exec?",
                                        "/attach?", "/portforward"};
    for (size_t i = 0; i < ARRAY_LEN(marks); i++)
        if (strstr(path, marks[i]))
            return true;
    return false;
}

static void count(struct session *s, const struct msg *m, const struct api_row *r)
{
    bool good = r->status > 0 && r->status < 500 && r->status != 429;
    if (str_starts(json_str(m->body, "path", ""), "http"))
        return;                      /* of another server */
    if (r->status == 0)
        conn_began(&s->conn, m->at_ms);
    else if (!good || !streams(json_str(m->body, "path", "")))
        conn_ended(&s->conn, r->ms, good);
    if (r->status > 0 && s->cluster.link == LINK_UP)
        s->cluster.last_ok_ms = m->at_ms;
}

static void take_request(struct session *s, const struct msg *m)
{
    struct api_row *r = api_row(s, (uint32_t)json_int(m->body, "id", 0));
    const struct json *body = json_get(m->body, "body");
    if (!r->at_ms)
        r->at_ms = m->at_ms;
    str_copy(r->method, sizeof r->method, json_str(m->body, "method", r->method));
    r->status = (int)json_int(m->body, "status", 0);
    r->ms = json_int(m->body, "ms", 0);
    int64_t retry_ms = json_int(m->body, "retry_ms", 0);
    r->retry_at_ms = retry_ms > 0 ? m->at_ms + retry_ms : 0;
    session_warned(s, r, json_str(m->body, "warning", ""));
    count(s, m, r);
    /* what is broken on purpose is for the person to find */
    if (!r->path && session_priv(s)->scene_hides && !str_eq(r->method, "GET")) {
        r->path = xstrdup(_("(part of the scene)"));
        r->kubectl = xstrdup("");
        r->body = xstrdup("");
    }
    if (!r->path)
        r->path = masked(json_str(m->body, "path", ""));
    if (!r->kubectl)
        r->kubectl = masked(json_str(m->body, "kubectl", ""));
    if (!r->body && body && json_type(body) != JSON_NULL) {
        char *text = json_text(body, 2);
        r->body = masked(text);
        free(text);
    }
    session_changed(s);
}

/* --- answers that nobody else waits for --------------------------------------- */

static void take_registry(struct session *s, const struct msg *m, struct effects *out)
{
    struct session_priv *p = session_priv(s);
    const char *text = json_str(m->body, "object.data['localRegistryHosting.v1']", NULL);
    struct ydoc *doc = NULL;
    struct pd_err err;
    p->get_registry = 0;
    if (!text || yaml_parse("local-registry-hosting", text, strlen(text), &doc, &err)) {
        bool silent = s->cluster.link != LINK_UP;     /* that is said already */
        bool said = errjson_read(json_get(m->body, "error"), &err) && err.code != PD_NOTFOUND;
        p->registry_own = !p->registry_own && !silent;
        if (p->registry_own)
            session_ask_registry(s, out);
        else if (said && !silent)
            session_say(s, err.code, _("the cluster's registry is not known: %s"), err.msg);
        return;
    }
    str_copy(p->registry, sizeof p->registry,
             doc && doc->root ? yaml_str(doc->root, "host", "") : "");
    yaml_docs_free(doc);
    session_vars_update(s);
    session_changed(s);
}

static void take_reply(struct session *s, const struct msg *m, struct effects *out)
{
    struct session_priv *p = session_priv(s);
    struct pd_err err;
    if (session_list_message(s, m))
        return;
    if (m->effect && m->effect == p->get_registry)
        take_registry(s, m, out);
    else if (m->effect != p->act.effect && errjson_read(json_get(m->body, "error"), &err)) {
        s->last_error = err;
        session_say(s, err.code, "%s", err.msg);
    }
}

static void take_file(struct session *s, const struct msg *m)
{
    struct session_priv *p = session_priv(s);
    const char *path = json_str(m->body, "path", "");
    size_t n = p->work_dir ? strlen(p->work_dir) : 0;
    if (!n || strncmp(path, p->work_dir, n) || path[n] != '/')
        return;
    const char *text = json_str(m->body, "text", NULL);
    json_set(p->files, path + n + 1, text ? json_new_string(text) : json_new_null());
    session_changed(s);
}

void session_world(struct session *s, const struct msg *m, struct effects *out)
{
    switch (m->kind) {
    case MSG_CLUSTER: take_cluster(s, m, out); break;
    case MSG_LIST: take_list(s, m); break;
    case MSG_WATCH_EVENT: take_event(s, m); break;
    case MSG_WATCH_STATE: take_watch_state(s, m); break;
    case MSG_REQUEST: take_request(s, m); break;
    case MSG_REPLY: take_reply(s, m, out); break;
    case MSG_FILE: take_file(s, m); break;
    default: break;
    }
}
