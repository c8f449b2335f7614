/* api.c - objects in memory, their commit to the store, and who hears of it
 * (api.h, api_int.h). The write pipeline is api_write.c.
 */
#include "k8s/practice/api_int.h"

#include <sys/random.h>

#include "core/base/clock.h"
#include "core/base/log.h"
#include "core/base/mem.h"
#include "core/base/path.h"

const struct api_user api_admin = {"system:apiserver", NULL, true, "kube-apiserver"};

/* Revisions that may pass without a write to disk (leases are not kept): a
 * start skips as many, so that no revision is given twice. */
enum { UNWRITTEN = 500 };

struct entry {
    char *key;                   /* "ns/name" */
    struct api_version *v;
};
struct objects {
    struct entry *v;             /* sorted by key */
    size_t n, cap;
};

struct api_sub {
    struct api_sub *next;
    const struct res *res;
    api_delta_fn *fn;            /* NULL: removed, freed after the round */
    void *arg;
};

struct waiter {
    api_done_fn *fn;
    void *arg;
};

struct old_sub {                 /* adapts api_watch_fn */
    api_watch_fn *fn;
    void *arg;
    struct old_sub *next;
};

struct api {
    struct api_config c;
    struct store *store;
    struct objects *objects;     /* one a row of the resource table */
    int64_t rv, committed;
    int64_t on_disk;             /* the revision that the store knows */
    struct api_delta *pending;
    size_t pending_n, pending_cap;
    struct api_delta ring[API_RING];
    size_t ring_at, ring_n;      /* next slot, filled slots */
    int64_t ring_floor;          /* changes up to this one are not in the ring */
    struct api_sub *subs;
    struct old_sub *old_subs;
    int telling;                 /* depth of notification rounds */
    struct waiter *waiter;
    size_t waiters, waiter_cap;
    bool commit_queued;
    struct api_kubelet_ops kubelet;
};

/* --- versions --- */

static struct api_version *version_new(struct json *j, int64_t rv)
{
    struct api_version *v = xcalloc(1, sizeof *v);
    v->refs = 1;
    v->j = j;
    v->rv = rv;
    return v;
}

struct api_version *api_version_ref(struct api_version *v)
{
    if (v)
        v->refs++;
    return v;
}

void api_version_unref(struct api_version *v)
{
    if (!v || --v->refs > 0)
        return;
    json_free(v->j);
    free(v->text);
    free(v->item);
    free(v);
}

const char *api_version_text(struct api_version *v, size_t *len)
{
    if (!v->text) {
        v->text = json_text(v->j, 0);
        v->len = strlen(v->text);
    }
    *len = v->len;
    return v->text;
}

const char *api_version_item(struct api_version *v, size_t *len)
{
    if (!v->item) {                           /* shared and constant, but for this moment */
        struct json *kind = json_detach(v->j, "kind");
        struct json *api = json_detach(v->j, "apiVersion");
        v->item = json_text(v->j, 0);
        v->item_len = strlen(v->item);
        if (kind)
            json_set(v->j, "kind", kind);
        if (api)
            json_set(v->j, "apiVersion", api);
    }
    *len = v->item_len;
    return v->item;
}

/* --- the cache --- */

const struct res *api_storage_res(const struct res *res)
{
    if (!strcmp(res->kind, "Event") && *res->group)
        return res_by_plural("", "events");
    return res;
}

static struct objects *objects_of(struct api *a, const struct res *res)
{
    return &a->objects[api_storage_res(res) - res_row(0)];
}

/* Where key is, or would be. */
static size_t search(const struct objects *o, const char *key, bool *found)
{
    size_t lo = 0, hi = o->n;
    *found = false;
    while (lo < hi) {
        size_t mid = (lo + hi) / 2;
        int c = strcmp(o->v[mid].key, key);
        if (c == 0) {
            *found = true;
            return mid;
        }
        if (c < 0)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

static char *key_of(const char *ns, const char *name)
{
    return xasprintf("%s/%s", ns ? ns : "", name);
}

/* Make v the current version of its key (NULL: none). Takes a reference. */
static void set_current(struct api *a, const struct res *res, const struct json *obj,
                        struct api_version *v)
{
    struct objects *o = objects_of(a, res);
    char *key = key_of(json_str(obj, "metadata.namespace", ""), json_str(obj, "metadata.name", ""));
    bool found;
    size_t at = search(o, key, &found);
    if (found) {
        api_version_unref(o->v[at].v);
        o->v[at].v = api_version_ref(v);
        if (!v) {
            free(o->v[at].key);
            memmove(&o->v[at], &o->v[at + 1], (o->n - at - 1) * sizeof *o->v);
            o->n--;
        }
        free(key);
        return;
    }
    if (!v) {
        free(key);
        return;
    }
    if (o->n == o->cap) {
        o->cap = o->cap ? o->cap * 2 : 16;
        o->v = xrealloc_array(o->v, o->cap, sizeof *o->v);
    }
    memmove(&o->v[at + 1], &o->v[at], (o->n - at) * sizeof *o->v);
    o->v[at].key = key;
    o->v[at].v = api_version_ref(v);
    o->n++;
}

struct api_version *api_find(struct api *a, const struct res *res, const char *ns,
                             const char *name)
{
    struct objects *o = objects_of(a, res);
    char *key = key_of(res->namespaced ? ns : "", name);
    bool found;
    size_t at = search(o, key, &found);
    free(key);
    return found ? o->v[at].v : NULL;
}

void api_snapshot(struct api *a, const struct res *res, const char *ns, struct api_versions *out)
{
    struct objects *o = objects_of(a, res);
    size_t from = 0, to = o->n;
    bool found;
    if (ns && *ns) {
        char *low = xasprintf("%s/", ns), *high = xasprintf("%s0", ns);   /* '0' follows '/' */
        from = search(o, low, &found);
        to = search(o, high, &found);
        free(low);
        free(high);
    }
    out->n = to - from;
    out->v = xcalloc(out->n + 1, sizeof *out->v);
    for (size_t i = 0; i < out->n; i++)
        out->v[i] = api_version_ref(o->v[from + i].v);
}

void api_snapshot_release(struct api_versions *s)
{
    for (size_t i = 0; i < s->n; i++)
        api_version_unref(s->v[i]);
    free(s->v);
    s->v = NULL;
    s->n = 0;
}

int64_t api_revision(struct api *a)
{
    return a->committed;
}

/* --- commit --- */

static void delta_release(struct api_delta *d)
{
    api_version_unref(d->now);
    api_version_unref(d->old);
    memset(d, 0, sizeof *d);
}

static void ring_add(struct api *a, const struct api_delta *d)
{
    struct api_delta *slot = &a->ring[a->ring_at];
    if (a->ring_n == API_RING) {
        a->ring_floor = slot->rv;
        delta_release(slot);
    } else {
        a->ring_n++;
    }
    *slot = *d;
    a->ring_at = (a->ring_at + 1) % API_RING;
}

static void sweep_subs(struct api *a)
{
    for (struct api_sub **p = &a->subs; *p;) {
        struct api_sub *s = *p;
        if (s->fn) {
            p = &s->next;
            continue;
        }
        *p = s->next;
        free(s);
    }
}

static void tell(struct api *a, const struct api_delta *d)
{
    a->telling++;
    for (struct api_sub *s = a->subs; s; s = s->next)
        if (s->fn && s->res == d->res)
            s->fn(s->arg, d);
    if (--a->telling == 0)
        sweep_subs(a);
}

/* Leases come every few seconds and mean nothing after a restart. */
static bool kept(const struct res *res)
{
    return strcmp(res->plural, "leases") != 0;
}

static enum pd_code write_pending(struct api *a, struct pd_err *err)
{
    struct store_change *c = xcalloc(a->pending_n, sizeof *c);
    char **kind = xcalloc(a->pending_n, sizeof *kind);
    size_t n = 0, len;
    for (size_t i = 0; i < a->pending_n; i++) {
        const struct api_delta *d = &a->pending[i];
        if (!kept(d->res))
            continue;
        kind[n] = xasprintf("%s/%s", d->res->group, d->res->plural);
        c[n].kind = kind[n];
        c[n].ns = json_str(d->now->j, "metadata.namespace", "");
        c[n].name = json_str(d->now->j, "metadata.name", "");
        c[n].rv = d->rv;
        c[n].text = d->change == API_DELETED ? NULL : api_version_text(d->now, &len);
        n++;
    }
    enum pd_code code = PD_OK;
    if (n > 0 || a->rv - a->on_disk >= UNWRITTEN) {
        code = store_write(a->store, c, n, a->rv, err);
        a->on_disk = code == PD_OK ? a->rv : a->on_disk;
    }
    for (size_t i = 0; i < n; i++)
        free(kind[i]);
    free(kind);
    free(c);
    return code;
}

/* Take the pending writes back, newest first. */
static void undo(struct api *a, struct api_delta *d, size_t n)
{
    for (size_t i = n; i-- > 0;) {
        set_current(a, d[i].res, d[i].now->j, d[i].old);
        delta_release(&d[i]);
    }
}

static void answer_waiters(struct api *a, const struct pd_err *err)
{
    struct waiter *w = a->waiter;
    size_t n = a->waiters;
    a->waiter = NULL;
    a->waiters = a->waiter_cap = 0;
    for (size_t i = 0; i < n; i++)
        w[i].fn(w[i].arg, err);
    free(w);
}

bool api_flush(struct api *a)
{
    if (a->pending_n == 0 || a->telling > 0)  /* a round of news comes to its end first */
        return true;
    struct pd_err err;
    struct api_delta *d = a->pending;
    size_t n = a->pending_n;
    enum pd_code code = write_pending(a, &err);
    a->pending = NULL;
    a->pending_n = a->pending_cap = 0;
    if (code != PD_OK) {
        log_write(LOG_ERROR, "commit of %zu writes failed: %s", n, err.msg);
        undo(a, d, n);
        free(d);
        answer_waiters(a, &err);
        return false;
    }
    a->committed = d[n - 1].rv;
    for (size_t i = 0; i < n; i++)
        ring_add(a, &d[i]);
    answer_waiters(a, NULL);
    for (size_t i = 0; i < n; i++) {          /* the ring may drop them meanwhile: hold them */
        api_version_ref(d[i].now);
        api_version_ref(d[i].old);
    }
    for (size_t i = 0; i < n; i++) {
        tell(a, &d[i]);
        delta_release(&d[i]);
    }
    free(d);
    return true;
}

static void commit(void *arg)
{
    struct api *a = arg;
    a->commit_queued = false;
    (void)api_flush(a);
}

void api_on_commit(struct api *a, api_done_fn *fn, void *arg)
{
    if (a->pending_n == 0) {
        fn(arg, NULL);
        return;
    }
    if (a->waiters == a->waiter_cap) {
        a->waiter_cap = a->waiter_cap ? a->waiter_cap * 2 : 8;
        a->waiter = xrealloc_array(a->waiter, a->waiter_cap, sizeof *a->waiter);
    }
    a->waiter[a->waiters].fn = fn;
    a->waiter[a->waiters++].arg = arg;
}

static void pend(struct api *a, const struct api_delta *d)
{
    if (a->pending_n == a->pending_cap) {
        a->pending_cap = a->pending_cap ? a->pending_cap * 2 : 16;
        a->pending = xrealloc_array(a->pending, a->pending_cap, sizeof *a->pending);
    }
    a->pending[a->pending_n++] = *d;
    if (!a->commit_queued) {
        a->commit_queued = true;
        loop_defer(a->c.loop, commit, a);
    }
}

static void stamp(struct json *obj, int64_t rv)
{
    char text[24];
    str_fmt(text, sizeof text, "%" PRId64, rv);
    json_put_str(json_get_mut(obj, "metadata"), "resourceVersion", text);
}

struct api_version *api_put(struct api *a, const struct res *res, struct json *obj,
                            struct api_version *old)
{
    struct api_delta d = {.rv = ++a->rv, .change = old ? API_MODIFIED : API_ADDED,
                          .res = api_storage_res(res), .old = api_version_ref(old)};
    stamp(obj, d.rv);
    d.now = version_new(obj, d.rv);
    set_current(a, d.res, obj, d.now);
    pend(a, &d);
    return api_version_ref(d.now);
}

void api_drop(struct api *a, const struct res *res, struct api_version *old)
{
    struct api_delta d = {.rv = ++a->rv, .change = API_DELETED, .res = api_storage_res(res),
                          .old = api_version_ref(old)};
    struct json *last = json_copy(old->j);
    stamp(last, d.rv);
    d.now = version_new(last, d.rv);
    set_current(a, d.res, old->j, NULL);
    pend(a, &d);
}

/* --- hearing --- */

bool api_since(struct api *a, const struct res *res, int64_t rv,
               void (*fn)(void *arg, const struct api_delta *d), void *arg)
{
    if (rv < a->ring_floor)
        return false;
    res = api_storage_res(res);
    for (size_t i = 0; i < a->ring_n; i++) {
        const struct api_delta *d = &a->ring[(a->ring_at + API_RING - a->ring_n + i) % API_RING];
        if (fn && d->rv > rv && d->res == res)
            fn(arg, d);
    }
    return true;
}

int64_t api_ring_floor(struct api *a)
{
    return a->ring_floor;
}

struct api_sub *api_sub_add(struct api *a, const struct res *res, api_delta_fn *fn, void *arg)
{
    struct api_sub *s = xcalloc(1, sizeof *s), **end = &a->subs;
    s->res = api_storage_res(res);
    s->fn = fn;
    s->arg = arg;
    while (*end)
        end = &(*end)->next;
    *end = s;
    return s;
}

void api_sub_remove(struct api *a, struct api_sub *s)
{
    if (!s)
        return;
    s->fn = NULL;
    if (a->telling == 0)
        sweep_subs(a);
}

static void pass_on(void *arg, const struct api_delta *d)
{
    struct old_sub *s = arg;
    s->fn(s->arg, d->change, d->now->j, d->old ? d->old->j : NULL);
}

void api_subscribe(struct api *a, const struct res *res, api_watch_fn *fn, void *arg)
{
    struct old_sub *s = xcalloc(1, sizeof *s);
    s->fn = fn;
    s->arg = arg;
    s->next = a->old_subs;
    a->old_subs = s;
    (void)api_sub_add(a, res, pass_on, s);
}

/* --- opening --- */

static void load_one(void *arg, const struct store_change *c)
{
    struct api *a = arg;
    struct pd_err err;
    struct json *j;
    char group[128];
    const char *slash = strrchr(c->kind, '/');
    if (!slash || (size_t)(slash - c->kind) >= sizeof group)
        return;
    memcpy(group, c->kind, (size_t)(slash - c->kind));
    group[slash - c->kind] = '\0';
    const struct res *res = res_by_plural(group, slash + 1);
    if (!res || json_parse(c->text, strlen(c->text), &j, &err) != PD_OK) {
        log_write(LOG_ERROR, "the store holds an unreadable object %s %s/%s", c->kind, c->ns,
                  c->name);
        return;
    }
    struct api_version *v = version_new(j, c->rv);
    set_current(a, res, j, v);
    api_version_unref(v);
}

enum pd_code api_open(const struct api_config *c, struct api **out, struct pd_err *err)
{
    struct api *a = xcalloc(1, sizeof *a);
    char *path = path_join(c->dir, "cluster.db");
    a->objects = xcalloc(res_count(), sizeof *a->objects);
    a->c.loop = c->loop;
    a->c.dir = xstrdup(c->dir);
    a->c.registry_host = xstrdup(c->registry_host);
    a->c.ca_file = xstrdup(c->ca_file);
    a->c.system_token = xstrdup(c->system_token);
    enum pd_code code = store_open(path, &a->store, err);
    if (code == PD_OK)
        code = store_load(a->store, load_one, a, err);
    free(path);
    if (code != PD_OK) {
        api_close(a);
        return code;
    }
    a->on_disk = store_revision(a->store);
    a->rv = a->committed = a->ring_floor = a->on_disk ? a->on_disk + UNWRITTEN : 0;
    *out = a;
    return PD_OK;
}

static void free_objects(struct api *a)
{
    for (size_t i = 0; i < res_count(); i++) {
        struct objects *o = &a->objects[i];
        for (size_t k = 0; k < o->n; k++) {
            free(o->v[k].key);
            api_version_unref(o->v[k].v);
        }
        free(o->v);
    }
    free(a->objects);
}

void api_close(struct api *a)
{
    if (!a)
        return;
    while (a->pending_n > 0 && api_flush(a))
        ;
    for (size_t i = 0; i < API_RING; i++)
        delta_release(&a->ring[i]);
    while (a->subs) {
        struct api_sub *s = a->subs;
        a->subs = s->next;
        free(s);
    }
    while (a->old_subs) {
        struct old_sub *s = a->old_subs;
        a->old_subs = s->next;
        free(s);
    }
    free_objects(a);
    store_close(a->store);
    free((char *)(uintptr_t)a->c.dir);
    free((char *)(uintptr_t)a->c.registry_host);
    free((char *)(uintptr_t)a->c.ca_file);
    free((char *)(uintptr_t)a->c.system_token);
    free(a);
}

/* --- small --- */

struct store *api_store(struct api *a)
{
    return a->store;
}

struct loop *api_loop(struct api *a)
{
    return a->c.loop;
}

const char *api_state_dir(struct api *a)
{
    return a->c.dir;
}

const char *api_registry_host(struct api *a)
{
    return a->c.registry_host;
}

const char *api_ca_file(struct api *a)
{
    return a->c.ca_file;
}

const char *api_system_token(struct api *a)
{
    return a->c.system_token;
}

void api_set_kubelet(struct api *a, const struct api_kubelet_ops *ops)
{
    a->kubelet = *ops;
}

const struct api_kubelet_ops *api_kubelet(struct api *a)
{
    return a->kubelet.log ? &a->kubelet : NULL;
}

void api_now(char buf[36])
{
    clock_rfc3339(clock_wall_ms() / 1000 * 1000000, 0, buf);
}

void api_uid(char buf[40])
{
    unsigned char b[16];
    if (getrandom(b, sizeof b, 0) != sizeof b)
        PD_BUG("getrandom failed");
    b[6] = (unsigned char)((b[6] & 0x0f) | 0x40);
    b[8] = (unsigned char)((b[8] & 0x3f) | 0x80);
    str_fmt(buf, 40, "%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x", b[0],
            b[1], b[2], b[3], b[4], b[5], b[6], b[7], b[8], b[9], b[10], b[11], b[12], b[13],
            b[14], b[15]);
}

struct json *api_get(struct api *a, const struct res *res, const char *ns, const char *name)
{
    struct api_version *v = api_find(a, res, ns, name);
    return v ? json_copy(v->j) : NULL;
}

void api_each(struct api *a, const struct res *res, const char *ns,
              void (*fn)(void *arg, const struct json *obj), void *arg)
{
    struct api_versions s;
    api_snapshot(a, res, ns, &s);
    for (size_t i = 0; i < s.n; i++)
        fn(arg, s.v[i]->j);
    api_snapshot_release(&s);
}
