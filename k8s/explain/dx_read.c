/* dx_read.c - the rules' view of the objects: the container in trouble, events in
 * time order, lines of the log (dx.h). */
#include "k8s/explain/dx.h"

/* --- containers ------------------------------------------------------------------ */
static const struct json *by_member(const struct json *list, const char *name, int *index)
{
    int i = 0;
    for (const struct json *c = json_first(list); c; c = json_next(c), i++)
        if (str_eq(json_str(c, "name", ""), name)) {
            *index = i;
            return c;
        }
    return NULL;
}

static void read_end(struct dx_ctr *c)
{
    static const char *const states[] = {"state", "lastState"};
    char path[96];
    for (size_t i = 0; i < ARRAY_LEN(states) && !c->ended; i++) {
        str_fmt(path, sizeof path, "%s.terminated", states[i]);
        c->ended = json_at(c->status, path);
        c->ended_now = c->ended && i == 0;
        if (c->ended)
            str_fmt(c->ended_at, sizeof c->ended_at, "%.40s.%.40s", c->at, path);
    }
    c->code = (int)json_int(c->ended, "exitCode", -1);
    c->reason = json_str(c->ended, "reason", "");
}

bool dx_container(const struct json *pod, int i, struct dx_ctr *out)
{
    const struct json *inits = json_at(pod, "spec.initContainers");
    int n = (int)json_count(inits), at = 0;
    memset(out, 0, sizeof *out);
    out->init = i < n;
    out->spec =
        json_item(out->init ? inits : json_at(pod, "spec.containers"), out->init ? i : i - n);
    if (!out->spec)
        return false;
    out->name = json_str(out->spec, "name", "");
    out->image = json_str(out->spec, "image", "");
    const char *list = out->init ? "initContainerStatuses" : "containerStatuses";
    char path[64];
    str_fmt(path, sizeof path, "status.%s", list);
    out->status = by_member(json_at(pod, path), out->name, &at);
    str_fmt(out->at, sizeof out->at, "status.%s[%d]", list, at);
    str_fmt(out->at_spec, sizeof out->at_spec, "spec.%s[%d]",
            out->init ? "initContainers" : "containers", out->init ? i : i - n);
    out->waiting = json_str(out->status, "state.waiting.reason", "");
    out->message = json_str(out->status, "state.waiting.message", "");
    out->restarts = (int)json_int(out->status, "restartCount", 0);
    out->ready = json_bool(out->status, "ready", false);
    out->running = json_has(out->status, "state.running");
    read_end(out);
    return true;
}

/* How much a container's state is in the way. */
static int trouble(const struct dx_ctr *c)
{
    bool bad_end = c->ended && (c->code != 0 || str_eq(c->reason, "OOMKilled"));
    if (c->waiting[0] && !str_eq(c->waiting, "PodInitializing") &&
        !str_eq(c->waiting, "ContainerCreating"))
        return 6 + c->init;
    if (c->ended_now && bad_end)
        return 5;
    if (!c->ready && !c->init && c->restarts > 0)
        return 4;
    if (c->init && c->running)
        return 3;
    if (bad_end && c->restarts > 0)
        return 2;
    return !c->ready && !c->init && !c->ended_now;
}

static void find_culprit(const struct json *pod, struct dx_ctr *out)
{
    struct dx_ctr c;
    int worst = 0;
    memset(out, 0, sizeof *out);
    out->name = out->image = out->waiting = out->message = out->reason = "";
    out->code = -1;
    for (int i = 0; dx_container(pod, i, &c); i++)
        if (trouble(&c) > worst || !out->name[0]) {
            worst = trouble(&c);
            *out = c;
        }
}

const char *explain_container(const struct json *pod, bool *previous)
{
    struct dx_ctr c;
    find_culprit(pod, &c);
    *previous = c.running && c.ended && !c.ended_now;
    return c.running || c.ended ? json_str(c.spec, "name", NULL) : NULL;
}

/* --- events ---------------------------------------------------------------------- */
static const char *event_time(const struct json *e)
{
    static const char *const places[] = {"series.lastObservedTime", "lastTimestamp", "eventTime",
                                         "firstTimestamp", "metadata.creationTimestamp"};
    for (size_t i = 0; i < ARRAY_LEN(places); i++) {
        const char *t = json_str(e, places[i], NULL);
        if (t && *t)
            return t;
    }
    return "";
}

static int by_time(const void *a, const void *b)
{
    const struct snap_item *x = a, *y = b;
    int c = strncmp(event_time(x->o), event_time(y->o), 19); /* whole seconds */
    return c ? c : x < y ? -1 : 1;
}

/* Of the object itself, of its claims, and of nothing else. */
static bool concerns(const struct dx *d, const struct json *e)
{
    const char *kind = json_str(e, "involvedObject.kind", json_str(e, "regarding.kind", ""));
    const char *name = json_str(e, "involvedObject.name", json_str(e, "regarding.name", ""));
    const char *uid = json_str(e, "involvedObject.uid", ""),
               *own = json_str(d->o, "metadata.uid", "");
    if (str_eq(kind, d->job ? "Job" : "Pod") && str_eq(name, d->name))
        return !*uid || !*own || str_eq(uid, own);
    if (!str_eq(kind, "PersistentVolumeClaim"))
        return false;
    for (const struct json *v = json_first(json_at(d->o, "spec.volumes")); v; v = json_next(v))
        if (str_eq(json_str(v, "persistentVolumeClaim.claimName", ""), name))
            return true;
    return false;
}

static void read_events(struct dx *d)
{
    const struct snap_list *l = &d->s->list[SNAP_EVENTS];
    d->event = xcalloc(l->n + 1, sizeof *d->event);
    for (size_t i = 0; i < l->n; i++)
        if (concerns(d, l->v[i].o))
            d->event[d->events++] = l->v[i];
    if (d->events)
        qsort(d->event, d->events, sizeof *d->event, by_time);
}

const struct snap_item *dx_event(const struct dx *d, const char *reason, const char *has)
{
    for (size_t i = d->events; i-- > 0;) {
        const struct json *e = d->event[i].o;
        if ((!reason[0] || str_eq(json_str(e, "reason", ""), reason)) &&
            strstr(json_str(e, "message", json_str(e, "note", "")), has))
            return &d->event[i];
    }
    return NULL;
}

bool dx_went_on(const struct dx *d, const struct snap_item *event)
{
    static const char *const steps[] = {"Pulling", "Pulled", "Created", "Started"};
    for (size_t i = d->events; i-- > 0;) {
        if (d->event[i].o == event->o)
            return false;
        for (size_t s = 0; s < ARRAY_LEN(steps); s++)
            if (str_eq(json_str(d->event[i].o, "reason", ""), steps[s]))
                return true;
    }
    return false;
}

/* --- the case -------------------------------------------------------------------- */
void dx_open(struct dx *d, const struct snapshot *s, struct explanation *out)
{
    memset(d, 0, sizeof *d);
    d->s = s;
    d->out = out;
    d->o = s->object;
    d->job = str_eq(json_str(d->o, "kind", "Pod"), "Job");
    d->name = json_str(d->o, "metadata.name", "");
    d->ns = json_str(d->o, "metadata.namespace", "default");
    d->phase = d->job ? "" : json_str(d->o, "status.phase", "");
    read_events(d);
    find_culprit(d->o, &d->c);
}

void dx_close(struct dx *d)
{
    free(d->event);
    d->event = NULL;
}

const struct snap_item *dx_find(const struct dx *d, enum snap list, const char *ns,
                                const char *name)
{
    const struct snap_list *l = &d->s->list[list];
    for (size_t i = 0; i < l->n; i++)
        if (str_eq(json_str(l->v[i].o, "metadata.name", ""), name) &&
            (!ns || str_eq(json_str(l->v[i].o, "metadata.namespace", ns), ns)))
            return &l->v[i];
    return NULL;
}

const struct json *dx_condition(const struct dx *d, const char *type, char at[64])
{
    str_fmt(at, 64, "status.conditions[?type=%s]", type);
    return json_at(d->o, at);
}

bool dx_well(const struct dx *d)
{
    char at[64];
    return str_eq(d->phase, "Succeeded") ||
           (str_eq(d->phase, "Running") &&
            str_eq(json_str(dx_condition(d, "Ready", at), "status", ""), "True"));
}

bool dx_failing(const struct dx *d)
{
    bool loops = str_eq(d->c.waiting, "CrashLoopBackOff");
    bool ended = d->c.ended && (d->c.code != 0 || str_eq(d->c.reason, "OOMKilled"));
    return str_eq(d->phase, "Failed") || loops || (ended && !dx_well(d));
}

/* --- the log ---------------------------------------------------------------------- */
static const char *line_at(const struct dx *d, const char *at)
{
    const char *from = at;
    while (from > d->s->log && from[-1] != '\n')
        from--;
    size_t n = strcspn(from, "\r\n");
    char *copy = arena_alloc(&d->out->arena, n + 1);
    memcpy(copy, from, n);
    return copy;
}

const char *dx_log(const struct dx *d, const char *has)
{
    const char *at = d->s->log ? strstr(d->s->log, has) : NULL;
    return at ? line_at(d, at) : NULL;
}

const char *dx_log_last(const struct dx *d)
{
    size_t n = d->s->log ? strlen(d->s->log) : 0;
    while (n > 0 && (unsigned char)d->s->log[n - 1] <= ' ')
        n--;
    return n ? line_at(d, d->s->log + n - 1) : NULL;
}

const char *dx_between(struct dx *d, const char *text, const char *before, const char *stops)
{
    const char *at = text ? strstr(text, before) : NULL;
    if (!at)
        return NULL;
    at += strlen(before);
    return dx_say(d, "%.*s", (int)MIN(strcspn(at, stops), 1000), at);
}
