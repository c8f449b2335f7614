/* session_need.c - what the cluster must have for the shown step, and what
 * becomes of the step without it: skipped, only read, or simulated. */
#include "core/base/i18n.h"
#include "k8s/quantity.h"
#include "labs/session_priv.h"

enum met { MET, MET_SIMULATED, UNMET, ASKING };

void session_need_forget(struct session *s)
{
    struct need_asks *n = &session_priv(s)->need;
    json_free(n->rights);
    json_free(n->classes);
    memset(n, 0, sizeof *n);
}

/* --- asking -------------------------------------------------------------------- */

static void ask_right(struct session *s, const char *what, struct effects *out)
{
    struct need_asks *n = &session_priv(s)->need;
    const char *sep = strchr(what, ' ');
    for (size_t i = 0; i < ARRAY_LEN(n->effect); i++) {
        if (n->effect[i])
            continue;
        struct json *args = json_new_object();
        json_set(args, "verb", json_new_string_n(what, (size_t)(sep - what)));
        json_put_str(args, "resource", sep + 1);
        json_put_str(args, "namespace", s->cluster.ns);
        n->effect[i] = session_effect(s, out, EFF_CAN, args);
        json_put_num(n->rights, what, n->effect[i]);     /* the answer replaces its number */
        return;
    }
}

static void ask_classes(struct session *s, struct effects *out)
{
    struct json *args = json_new_object();
    json_put_str(args, "resource", "storageclasses");
    session_priv(s)->need.storage_effect = session_effect(s, out, EFF_LIST, args);
}

static void ask_all(struct session *s, const struct lab_require *list, int n, struct effects *out)
{
    struct need_asks *a = &session_priv(s)->need;
    for (int i = 0; i < n; i++) {
        if (list[i].kind == LAB_NEED_CAN && !json_get(a->rights, list[i].resource))
            ask_right(s, list[i].resource, out);
        if (list[i].kind == LAB_NEED_STORAGE && !a->storage_effect)
            ask_classes(s, out);
    }
}

void session_need_ask(struct session *s, struct effects *out)
{
    struct need_asks *n = &session_priv(s)->need;
    if (n->asked || !s->lab || s->cluster.link != LINK_UP || !s->cluster.id)
        return;
    n->asked = true;
    n->rights = json_new_object();
    ask_all(s, s->lab->requires, s->lab->requires_n, out);
    for (int i = 0; i < s->lab->steps_n; i++)
        ask_all(s, s->lab->steps[i].requires, s->lab->steps[i].requires_n, out);
}

static void take_classes(struct need_asks *n, const struct msg *m)
{
    static const char is_default[] =
        "metadata.annotations['storageclass.kubernetes.io/is-default-class']";
    struct json *list = json_new_array();
    const struct json *items = json_at(m->body, "object.items");
    for (const struct json *o = json_first(items); o; o = json_next(o)) {
        json_append(list, json_new_string(json_str(o, "metadata.name", "")));
        if (str_eq(json_str(o, is_default, ""), "true"))
            json_append(list, json_new_string(""));
    }
    json_free(n->classes);
    n->classes = list;
}

static void take_right(struct need_asks *n, uint32_t effect, bool allowed)
{
    for (struct json *r = json_first_mut(n->rights); r; r = json_next_mut(r))
        if (json_type(r) == JSON_NUMBER && json_number_value(r) == effect) {
            char *key = xstrdup(json_key(r));
            json_put_bool(n->rights, key, allowed);
            free(key);
            return;
        }
}

bool session_need_message(struct session *s, const struct msg *m)
{
    struct need_asks *n = &session_priv(s)->need;
    if (m->kind != MSG_REPLY || !m->effect)
        return false;
    if (m->effect == n->storage_effect) {
        take_classes(n, m);
        session_changed(s);
        return true;
    }
    for (size_t i = 0; i < ARRAY_LEN(n->effect); i++)
        if (n->effect[i] == m->effect) {
            n->effect[i] = 0;
            /* a server that can't say lets the work itself find out */
            take_right(n, m->effect, json_bool(m->body, "object.status.allowed",
                                               json_has(m->body, "error")));
            session_changed(s);
            return true;
        }
    return false;
}

/* --- judging ------------------------------------------------------------------- */

static bool usable(const struct json *node)
{
    return str_eq(json_str(node, "status.conditions[?type=Ready].status", "True"), "True");
}

static enum met met_resource(const struct session *s, const struct lab_require *q, char *found,
                             size_t size)
{
    const struct table *t = session_table(s, "nodes");
    char path[200];
    double sum = 0;
    bool real = false;
    if (!t->synced)
        return t->forbidden ? MET : ASKING;     /* who may not look can't be told */
    str_fmt(path, sizeof path, "status.allocatable['%s']", q->resource);
    for (const struct json *n = json_first(t->items); n; n = json_next(n)) {
        struct quantity v;
        if (!usable(n) || !quantity_parse(json_str(n, path, ""), &v) || v.nano <= 0)
            continue;
        sum += (double)v.nano / 1e9;
        real |= !str_eq(json_str(n, "metadata.labels['podium.dev/simulated']", ""), "true");
    }
    str_fmt(found, size, "%.4g", sum);
    if (sum < q->min)
        return UNMET;
    return real || q->otherwise != LAB_ELSE_SIMULATE ? MET : MET_SIMULATED;
}

/* "v1.31.2-eks" as 1031; 0: no version. */
static int version_number(const char *text)
{
    int major = 0, minor = 0;
    text += *text == 'v';
    return sscanf(text, "%d.%d", &major, &minor) == 2 ? major * 1000 + minor : 0;
}

static enum met met_version(const struct session *s, const struct lab_require *q, char *found,
                            size_t size)
{
    const char *want = q->resource;
    size_t op = strspn(want, "<>=");
    while (want[op] == ' ')
        op++;
    int is = version_number(s->cluster.version), limit = version_number(want + op);
    if (!is)
        return ASKING;
    str_copy(found, size, s->cluster.version);
    bool ok = want[0] == '<' ? (want[1] == '=' ? is <= limit : is < limit)
              : want[0] == '=' ? is == limit
              : want[0] == '>' && want[1] != '=' ? is > limit
                                                 : is >= limit;
    return ok ? MET : UNMET;
}

static enum met met_right(const struct session *s, const struct lab_require *q)
{
    const struct json *r = json_get(session_priv(s)->need.rights, q->resource);
    if (json_type(r) != JSON_BOOL)
        return ASKING;
    return json_bool_value(r) ? MET : UNMET;
}

static enum met met_storage(const struct session *s, const struct lab_require *q)
{
    const struct json *list = session_priv(s)->need.classes;
    const char *want = str_eq(q->resource, "default") ? "" : q->resource;
    bool any = str_eq(q->resource, "any");
    for (const struct json *c = json_first(list); c; c = json_next(c))
        if (any || str_eq(json_string_value(c), want))
            return MET;
    return list ? UNMET : ASKING;
}

static enum met met(const struct session *s, const struct lab_require *q, char *found, size_t size)
{
    *found = '\0';
    switch (q->kind) {
    case LAB_NEED_RESOURCE: return met_resource(s, q, found, size);
    case LAB_NEED_KUBERNETES: return met_version(s, q, found, size);
    case LAB_NEED_CAN: return met_right(s, q);
    case LAB_NEED_STORAGE: return met_storage(s, q);
    }
    return MET;
}

static void unmet(const struct lab_require *q, const char *found, struct step_need *need)
{
    char there[96] = "";
    if (*found)
        str_fmt(there, sizeof there, _(" (here: %s)"), found);
    need->mode = q->otherwise == LAB_ELSE_READING ? MODE_READING : MODE_SKIPPED;
    if (q->otherwise == LAB_ELSE_SIMULATE && q->recorded_text) {
        need->mode = MODE_SIMULATED;
        need->recorded = true;
    }
    str_fmt(need->why, sizeof need->why, "%s%s: %s%s", q->resource, there, ltext_get(&q->why),
            q->otherwise == LAB_ELSE_SIMULATE && !need->recorded
                ? _(" - the command lab.simulate takes it on the practice cluster")
                : "");
}

/* The first that is not met decides. */
static const struct lab_require *judge(const struct session *s, const struct lab_require *list,
                                       int n, struct step_need *need)
{
    char found[64];
    for (int i = 0; i < n; i++) {
        enum met m = met(s, &list[i], found, sizeof found);
        if (m == UNMET) {
            unmet(&list[i], found, need);
            return &list[i];
        }
        if (m == ASKING) {
            need->mode = MODE_ASKING;
            str_fmt(need->why, sizeof need->why, _("it is being asked whether the cluster has %s"),
                    list[i].resource);
        } else if (m == MET_SIMULATED && need->mode == MODE_REAL) {
            need->mode = MODE_SIMULATED;
            str_fmt(need->why, sizeof need->why, "%s: %s", list[i].resource,
                    ltext_get(&list[i].why));
        }
    }
    return NULL;
}

void session_need_update(struct session *s, struct effects *out)
{
    struct session_priv *p = session_priv(s);
    const struct lab_step *step = session_step(s);
    struct step_need need = {.mode = MODE_REAL};
    if (!step || !p->progress || s->cluster.link != LINK_UP)
        return;
    session_need_ask(s, out);
    const struct lab_require *q = judge(s, s->lab->requires, s->lab->requires_n, &need);
    need.whole = q != NULL;
    if (!q)
        q = judge(s, step->requires, step->requires_n, &need);
    if (memcmp(&need, &s->need, sizeof need))
        session_changed(s);
    s->need = need;
    if (need.recorded && !p->recorded)
        session_recorded(s, q->recorded_text);
    else if (!need.recorded && p->recorded)
        session_recorded(s, NULL);
}
