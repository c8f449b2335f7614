/* gc.c - dependents follow their owners, and namespaces empty themselves
 * (node.h). Background: when the owner is gone. Foreground: before it goes,
 * held by the finalizer foregroundDeletion. Orphan: they lose the reference. */
#include "k8s/practice/node.h"

#include "core/base/mem.h"
#include "k8s/practice/kobj.h"

static const struct api_user gc_user = {
    "system:serviceaccount:kube-system:generic-garbage-collector", NULL, true,
    "kube-controller-manager"};

struct gc {
    struct api *api;
    bool stopped;
};

/* Objects that refer to one owner, or live in one namespace. */
struct found {
    const char *uid;                  /* of the owner, or NULL: everything */
    const struct res *res;
    struct item {
        const struct res *res;
        struct json *obj;
    } *v;
    size_t n;
};

static bool refers(const struct json *obj, const char *uid)
{
    for (const struct json *r = json_first(json_at(obj, "metadata.ownerReferences")); r;
         r = json_next(r))
        if (strcmp(json_str(r, "uid", ""), uid) == 0)
            return true;
    return false;
}

static void take(void *arg, const struct json *obj)
{
    struct found *f = arg;
    if (f->uid && !refers(obj, f->uid))
        return;
    f->v = xrealloc_array(f->v, f->n + 1, sizeof *f->v);
    f->v[f->n].res = f->res;
    f->v[f->n++].obj = json_copy(obj);
}

static bool collectable(const struct res *r)
{
    return (r->verbs & RES_DELETE) && (r->verbs & RES_LIST) &&
           !(strcmp(r->kind, "Event") == 0 && *r->group);
}

static void find(struct gc *g, const char *ns, const char *uid, struct found *f)
{
    *f = (struct found){.uid = uid};
    for (size_t i = 0; i < res_count(); i++) {
        f->res = res_row(i);
        if (collectable(f->res) && (f->res->namespaced || !*ns))
            api_each(g->api, f->res, *ns ? ns : NULL, take, f);
    }
}

static void found_release(struct found *f)
{
    for (size_t i = 0; i < f->n; i++)
        json_free(f->v[i].obj);
    free(f->v);
}

static void delete_one(struct gc *g, const struct item *i, const char *policy)
{
    struct api_result r;
    struct json *options = json_new_object();
    json_put_str(options, "propagationPolicy", policy);
    json_put_path(options, "preconditions.uid", json_new_string(kobj_uid(i->obj)));
    api_delete(g->api, &gc_user, i->res, kobj_ns(i->obj), kobj_name(i->obj), options, &r);
    api_result_release(&r);
    json_free(options);
}

/* Is any other owner of obj still there? */
static bool other_owner(struct gc *g, const struct json *obj, const char *uid)
{
    for (const struct json *r = json_first(json_at(obj, "metadata.ownerReferences")); r;
         r = json_next(r)) {
        const struct res *res = res_by_kind(json_str(r, "apiVersion", ""), json_str(r, "kind", ""));
        if (!res || strcmp(json_str(r, "uid", ""), uid) == 0)
            continue;
        struct json *o = api_get(g->api, res, res->namespaced ? kobj_ns(obj) : NULL,
                                 json_str(r, "name", ""));
        bool there = o && strcmp(kobj_uid(o), json_str(r, "uid", "")) == 0;
        json_free(o);
        if (there)
            return true;
    }
    return false;
}

static void owner_gone(struct gc *g, const struct json *owner)
{
    struct found f;
    find(g, kobj_ns(owner), kobj_uid(owner), &f);
    for (size_t i = 0; i < f.n; i++)
        if (!kobj_deleting(f.v[i].obj) && !other_owner(g, f.v[i].obj, kobj_uid(owner)))
            delete_one(g, &f.v[i], "Background");
    found_release(&f);
}

static void drop_finalizer(struct gc *g, const struct json *obj, const char *name)
{
    struct json *fresh = api_get(g->api, res_of(obj), kobj_ns(obj), kobj_name(obj));
    if (fresh && strcmp(kobj_uid(fresh), kobj_uid(obj)) == 0 && kobj_drop_finalizer(fresh, name))
        kobj_write(g->api, &gc_user, NULL, fresh, NULL, 0);
    json_free(fresh);
}

static void foreground(struct gc *g, const struct json *owner)
{
    struct found f;
    find(g, kobj_ns(owner), kobj_uid(owner), &f);
    for (size_t i = 0; i < f.n; i++)
        if (!kobj_deleting(f.v[i].obj))
            delete_one(g, &f.v[i], "Foreground");
    if (f.n == 0)
        drop_finalizer(g, owner, "foregroundDeletion");
    found_release(&f);
}

static void orphan(struct gc *g, const struct json *owner)
{
    struct found f;
    find(g, kobj_ns(owner), kobj_uid(owner), &f);
    for (size_t i = 0; i < f.n; i++) {
        struct json *meta = json_get_mut(f.v[i].obj, "metadata"), *keep = json_new_array();
        for (const struct json *r = json_first(json_get(meta, "ownerReferences")); r;
             r = json_next(r))
            if (strcmp(json_str(r, "uid", ""), kobj_uid(owner)) != 0)
                json_append(keep, json_copy(r));
        if (json_count(keep)) {
            json_set(meta, "ownerReferences", keep);
        } else {
            json_free(keep);
            json_remove(meta, "ownerReferences");
        }
        kobj_write(g->api, &gc_user, NULL, f.v[i].obj, NULL, 0);
    }
    found_release(&f);
    drop_finalizer(g, owner, "orphan");
}

/* Everything in it first; when it is empty its own finalizer goes. */
static void empty_namespace(struct gc *g, const char *name)
{
    struct found f;
    struct json *ns = api_get(g->api, res_by_plural("", "namespaces"), NULL, name);
    if (!ns || !kobj_deleting(ns)) {
        json_free(ns);
        return;
    }
    find(g, name, NULL, &f);
    for (size_t i = 0; i < f.n; i++)
        if (!kobj_deleting(f.v[i].obj))
            delete_one(g, &f.v[i], "Background");
    found_release(&f);
    find(g, name, NULL, &f);
    if (f.n == 0) {
        json_remove(json_get_mut(ns, "spec"), "finalizers");
        kobj_write(g->api, &gc_user, "finalize", ns, NULL, 0);
    }
    found_release(&f);
    json_free(ns);
}

static void on_change(void *arg, enum api_change change, const struct json *obj,
                      const struct json *old UNUSED)
{
    struct gc *g = arg;
    if (g->stopped)
        return;
    if (strcmp(json_str(obj, "kind", ""), "Namespace") == 0) {
        if (change != API_DELETED)
            empty_namespace(g, kobj_name(obj));
        return;
    }
    if (change != API_DELETED) {
        if (kobj_deleting(obj) && kobj_has_finalizer(obj, "foregroundDeletion"))
            foreground(g, obj);
        else if (kobj_deleting(obj) && kobj_has_finalizer(obj, "orphan"))
            orphan(g, obj);
        return;
    }
    owner_gone(g, obj);
    for (const struct json *r = json_first(json_at(obj, "metadata.ownerReferences")); r;
         r = json_next(r)) {
        const struct res *res = res_by_kind(json_str(r, "apiVersion", ""), json_str(r, "kind", ""));
        struct json *owner = res ? api_get(g->api, res, res->namespaced ? kobj_ns(obj) : NULL,
                                           json_str(r, "name", ""))
                                 : NULL;
        if (owner && kobj_deleting(owner) && kobj_has_finalizer(owner, "foregroundDeletion"))
            foreground(g, owner);
        json_free(owner);
    }
    if (*kobj_ns(obj))
        empty_namespace(g, kobj_ns(obj));
}

static void existing(void *arg, const struct json *obj)
{
    if (kobj_deleting(obj))
        on_change(arg, API_MODIFIED, obj, NULL);
}

struct gc *gc_start(struct api *a)
{
    struct gc *g = xcalloc(1, sizeof *g);
    g->api = a;
    for (size_t i = 0; i < res_count(); i++)
        if (collectable(res_row(i)) && strcmp(res_row(i)->kind, "Lease") != 0 &&
            strcmp(res_row(i)->kind, "Event") != 0)
            api_subscribe(a, res_row(i), on_change, g);
    for (size_t i = 0; i < res_count(); i++)
        if (collectable(res_row(i)))
            api_each(a, res_row(i), NULL, existing, g);
    return g;
}

void gc_stop(struct gc *g)
{
    if (g)
        g->stopped = true;
    free(g);
}
