/* api_write.c - the pipeline of create, update and delete (api_int.h): stamp,
 * default, admit, validate, note the owner, put.
 */
#include "core/base/clock.h"
#include "core/base/mem.h"
#include "k8s/practice/pipeline.h"

static const struct schema_type *type_of(const struct res *res)
{
    char gv[64];
    return schema_type(res_api_version(res, gv), res->kind);
}

static struct json *meta_of(struct json *obj)
{
    if (json_type(json_get(obj, "metadata")) != JSON_OBJECT)
        json_set(obj, "metadata", json_new_object());
    return json_get_mut(obj, "metadata");
}

static void set_kind(const struct res *res, struct json *obj)
{
    char gv[64];
    json_put_str(obj, "kind", res->kind);
    json_put_str(obj, "apiVersion", res_api_version(res, gv));
}

static bool has_status(const struct res *res)
{
    return res_sub(res, "status") != NULL;
}

static struct json *validate(const struct res *res, const struct json *obj, const struct json *old,
                             const char *sub)
{
    struct ferrs e;
    struct json *status = NULL;
    ferrs_init(&e);
    validate_meta(res, obj, &e);
    validate_object(res, obj, old, sub, &e);
    if (ferrs_count(&e))
        status = ferrs_status(&e, res, json_str(obj, "metadata.name", ""));
    ferrs_release(&e);
    return status;
}

/* --- create --- */

/* Five characters that spell no word, as the API server takes them. */
static void random_suffix(char out[6])
{
    static const char alphabet[] = "bcdfghjklmnpqrstvwxz2456789";
    char uid[40];
    api_uid(uid);
    uint64_t bits = strtoull(uid, NULL, 16) * 0x9e3779b97f4a7c15ull ^
                    strtoull(uid + 24, NULL, 16);
    for (int i = 0; i < 5; i++, bits /= 27)
        out[i] = alphabet[bits % 27];
    out[5] = '\0';
}

static void generate_name(struct json *meta)
{
    const char *stem = json_str(meta, "generateName", "");
    char suffix[6];
    if (*json_str(meta, "name", "") || !*stem)
        return;
    random_suffix(suffix);
    char *name = xasprintf("%.58s%s", stem, suffix);
    json_put_str(meta, "name", name);
    free(name);
}

static struct json *check_namespace(const struct api_write *w, struct json *meta)
{
    const char *given = json_str(meta, "namespace", "");
    if (!w->res->namespaced) {
        json_remove(meta, "namespace");
        return NULL;
    }
    if (*given && strcmp(given, w->ns) != 0)
        return status_bad_request("the namespace of the provided object does not match the "
                                  "namespace sent on the request");
    json_put_str(meta, "namespace", w->ns);
    return NULL;
}

static void stamp_new(struct json *meta)
{
    char uid[40], now[36];
    api_uid(uid);
    api_now(now);
    json_put_str(meta, "uid", uid);
    json_put_str(meta, "creationTimestamp", now);
    json_remove(meta, "resourceVersion");
    json_remove(meta, "deletionTimestamp");
    json_remove(meta, "deletionGracePeriodSeconds");
    json_remove(meta, "generation");
    json_remove(meta, "selfLink");
}

static bool counts_generations(const struct res *res)
{
    return has_status(res) && strcmp(res->plural, "persistentvolumeclaims") != 0 &&
           strcmp(res->plural, "namespaces") != 0 && strcmp(res->plural, "nodes") != 0 &&
           strcmp(res->plural, "services") != 0 && strcmp(res->plural, "resourcequotas") != 0 &&
           strcmp(res->plural, "persistentvolumes") != 0;
}

/* Everything of a create up to the put; a Status when refused. */
static struct json *prepare_create(struct api *a, const struct api_write *w, struct json *obj)
{
    struct json *meta = meta_of(obj), *no;
    if (*json_str(meta, "resourceVersion", ""))
        return status_bad_request("resourceVersion should not be set on objects to be created");
    set_kind(w->res, obj);
    if ((no = check_namespace(w, meta)) != NULL)
        return no;
    generate_name(meta);
    stamp_new(meta);
    if (counts_generations(w->res))
        json_put_num(meta, "generation", 1);
    if (w->manage != API_APPLIES)
        json_remove(meta, "managedFields");
    defaults_apply(w->res, obj);
    defaults_create(w->res, obj);
    if ((no = admit_create(a, w, obj)) != NULL)
        return no;
    if (!strcmp(w->res->plural, "pods"))
        defaults_qos(obj);
    if ((no = validate(w->res, obj, NULL, NULL)) != NULL)
        return no;
    const char *name = json_str(meta, "name", "");
    if (api_find(a, w->res, json_str(meta, "namespace", ""), name))
        return status_exists(w->res, name);
    return admit_quota(a, w, obj);
}

struct json *api_do_create(struct api *a, const struct api_write *w, struct json *obj,
                           struct api_version **out)
{
    struct json *no = prepare_create(a, w, obj);
    if (no) {
        json_free(obj);
        return no;
    }
    if (w->manage != API_APPLIES)
        ssa_note_update(type_of(w->res), NULL, obj, w->manager, NULL);
    if (w->dry_run) {
        struct api_version *v = xcalloc(1, sizeof *v);
        v->refs = 1;
        v->j = obj;
        *out = v;
        return NULL;
    }
    *out = api_put(a, w->res, obj, NULL);
    return NULL;
}

/* --- update --- */

/* Members of metadata that a client can't change. */
static void keep_meta(const struct json *old, struct json *obj)
{
    static const char *const fixed[] = {"uid",        "creationTimestamp", "deletionTimestamp",
                                        "generation", "deletionGracePeriodSeconds",
                                        "generateName"};
    const struct json *before = json_get(old, "metadata");
    struct json *meta = meta_of(obj);
    for (size_t i = 0; i < ARRAY_LEN(fixed); i++) {
        const struct json *v = json_get(before, fixed[i]);
        json_remove(meta, fixed[i]);
        if (v)
            json_set(meta, fixed[i], json_copy(v));
    }
    json_remove(meta, "selfLink");
    if (!json_get(meta, "managedFields") && json_get(before, "managedFields"))
        json_set(meta, "managedFields", json_copy(json_get(before, "managedFields")));
}

static void take_member(struct json *obj, const struct json *from, const char *key)
{
    const struct json *v = json_get(from, key);
    json_remove(obj, key);
    if (v)
        json_set(obj, key, json_copy(v));
}

/* The status subresource changes status alone, the main one everything else. */
static void keep_halves(const struct api_write *w, const struct json *old, struct json *obj)
{
    if (!has_status(w->res))
        return;
    if (!w->sub || strcmp(w->sub, "status") != 0) {
        take_member(obj, old, "status");
        return;
    }
    struct strv keys;
    strv_init(&keys);
    for (const struct json *m = json_first(obj); m; m = json_next(m))
        if (strcmp(json_key(m), "status") != 0 && strcmp(json_key(m), "metadata") != 0)
            strv_push(&keys, json_key(m));
    for (size_t i = 0; i < keys.n; i++)
        json_remove(obj, keys.v[i]);
    strv_release(&keys);
    for (const struct json *m = json_first(old); m; m = json_next(m))
        if (strcmp(json_key(m), "status") != 0 && strcmp(json_key(m), "metadata") != 0)
            json_set(obj, json_key(m), json_copy(m));
    take_member(meta_of(obj), json_get(old, "metadata"), "ownerReferences");
}

static struct json *check_locks(const struct api_write *w, const struct json *old,
                                const struct json *obj)
{
    const char *rv = json_str(obj, "metadata.resourceVersion", "");
    const char *uid = json_str(obj, "metadata.uid", w->uid ? w->uid : "");
    const char *now = json_str(old, "metadata.uid", "");
    if (*uid && strcmp(uid, now) != 0) {
        char why[256];
        str_fmt(why, sizeof why, "Precondition failed: UID in precondition: %s, UID in object "
                "meta: %s", uid, now);
        return status_stale(w->res, w->name, why);
    }
    if (*rv && strcmp(rv, json_str(old, "metadata.resourceVersion", "")) != 0)
        return status_stale(w->res, w->name, NULL);
    return NULL;
}

/* A new generation when anything outside metadata and status changed, or a
 * graceful deletion began. */
static void count_generation(const struct res *res, const struct json *old, struct json *obj)
{
    if (!counts_generations(res))
        return;
    bool same = true;
    for (const struct json *m = json_first(obj); m && same; m = json_next(m))
        if (strcmp(json_key(m), "status") != 0 && strcmp(json_key(m), "metadata") != 0)
            same = json_equal(m, json_get(old, json_key(m)));
    same = same && json_equal(json_get(old, "spec"), json_get(obj, "spec"));
    if (!same)
        json_put_num(meta_of(obj), "generation", json_int(old, "metadata.generation", 0) + 1);
}

/* Equal but for resourceVersion and managedFields: nothing to write. */
static bool same_object(const struct json *old, const struct json *obj)
{
    struct json *a = json_copy(old), *b = json_copy(obj);
    static const char *const skip[] = {"resourceVersion", "managedFields"};
    for (size_t i = 0; i < ARRAY_LEN(skip); i++) {
        json_remove(json_get_mut(a, "metadata"), skip[i]);
        json_remove(json_get_mut(b, "metadata"), skip[i]);
    }
    bool same = json_equal(a, b);
    json_free(a);
    json_free(b);
    return same;
}

/* managedFields without their times. */
static bool same_owners(const struct json *old, const struct json *obj)
{
    struct json *a = json_copy(json_at(old, "metadata.managedFields"));
    struct json *b = json_copy(json_at(obj, "metadata.managedFields"));
    for (struct json *m = json_first_mut(a); m; m = json_next_mut(m))
        json_remove(m, "time");
    for (struct json *m = json_first_mut(b); m; m = json_next_mut(m))
        json_remove(m, "time");
    bool same = json_equal(a, b) || (!json_count(a) && !json_count(b));
    json_free(a);
    json_free(b);
    return same;
}

/* An object on its way out goes when nothing holds it any more. */
static bool may_go(const struct json *obj)
{
    return json_has(obj, "metadata.deletionTimestamp") &&
           json_int(obj, "metadata.deletionGracePeriodSeconds", 0) == 0 &&
           json_count(json_at(obj, "metadata.finalizers")) == 0 &&
           json_count(json_at(obj, "spec.finalizers")) == 0;
}

static struct json *prepare_update(const struct api_write *w, const struct json *old,
                                   struct json *obj)
{
    struct json *meta = meta_of(obj), *no;
    const char *name = json_str(meta, "name", ""), *ns = json_str(meta, "namespace", "");
    if (strcmp(name, w->name) != 0)
        return status_bad_request("the name of the object (%s) does not match the name on the "
                                  "URL (%s)", name, w->name);
    if (w->res->namespaced && *ns && strcmp(ns, w->ns) != 0)
        return status_bad_request("the namespace of the object (%s) does not match the namespace "
                                  "on the request (%s)", ns, w->ns);
    if ((no = check_locks(w, old, obj)) != NULL)
        return no;
    set_kind(w->res, obj);
    if (w->res->namespaced)
        json_put_str(meta, "namespace", w->ns);
    keep_meta(old, obj);
    keep_halves(w, old, obj);
    defaults_apply(w->res, obj);
    count_generation(w->res, old, obj);
    return validate(w->res, obj, old, w->sub);
}

static struct api_version *loose(struct json *obj)
{
    struct api_version *v = xcalloc(1, sizeof *v);
    v->refs = 1;
    v->j = obj;
    return v;
}

struct json *api_do_update(struct api *a, const struct api_write *w, struct json *obj,
                           struct api_version **out)
{
    struct api_version *old = api_find(a, w->res, w->ns, w->name);
    struct json *no = old ? prepare_update(w, old->j, obj) : status_not_found(w->res, w->name);
    if (no) {
        json_free(obj);
        return no;
    }
    if (w->manage != API_APPLIES)
        ssa_note_update(type_of(w->res), old->j, obj, w->manager, w->sub);
    if (same_object(old->j, obj) && same_owners(old->j, obj)) {
        json_free(obj);
        *out = api_version_ref(old);
        return NULL;
    }
    if (w->dry_run) {
        *out = loose(obj);
        return NULL;
    }
    api_version_ref(old);
    if (may_go(obj)) {
        struct api_version *last = api_put(a, w->res, obj, old);
        api_drop(a, w->res, last);
        *out = last;
    } else {
        *out = api_put(a, w->res, obj, old);
    }
    api_version_unref(old);
    return NULL;
}

/* --- delete --- */

static struct json *check_preconditions(const struct api_write *w, const struct json *obj,
                                        const struct json *options)
{
    const char *uid = json_str(options, "preconditions.uid", "");
    const char *rv = json_str(options, "preconditions.resourceVersion", "");
    char why[256] = "";
    if (*uid && strcmp(uid, json_str(obj, "metadata.uid", "")) != 0)
        str_fmt(why, sizeof why, "Precondition failed: UID in precondition: %s, UID in object "
                "meta: %s", uid, json_str(obj, "metadata.uid", ""));
    else if (*rv && strcmp(rv, json_str(obj, "metadata.resourceVersion", "")) != 0)
        str_fmt(why, sizeof why, "Precondition failed: ResourceVersion in precondition: %s, "
                "ResourceVersion in object meta: %s", rv,
                json_str(obj, "metadata.resourceVersion", ""));
    return *why ? status_stale(w->res, w->name, why) : NULL;
}

static bool has_finalizer(const struct json *obj, const char *name)
{
    for (const struct json *f = json_first(json_at(obj, "metadata.finalizers")); f;
         f = json_next(f))
        if (str_eq(json_string_value(f), name))
            return true;
    return false;
}

static void add_finalizer(struct json *obj, const char *name)
{
    struct json *meta = meta_of(obj);
    if (has_finalizer(obj, name))
        return;
    if (!json_get(meta, "finalizers"))
        json_set(meta, "finalizers", json_new_array());
    json_append(json_get_mut(meta, "finalizers"), json_new_string(name));
}

static const char *policy_of(const struct api_write *w, const struct json *options)
{
    const char *p = json_str(options, "propagationPolicy", "");
    if (*p)
        return p;
    if (json_type(json_get(options, "orphanDependents")) == JSON_BOOL)
        return json_bool(options, "orphanDependents", false) ? "Orphan" : "Background";
    if (strcmp(w->res->plural, "jobs") != 0)
        return "Background";
    if (w->warnings && !w->user->system)
        strv_push(w->warnings, "child pods are preserved by default when jobs are deleted; set "
                               "propagationPolicy=Background to remove them or set "
                               "propagationPolicy=Orphan to suppress this warning");
    return "Orphan";
}

/* Seconds a pod gets to end: 0 when no kubelet has it or it has ended. */
static int64_t pod_grace(const struct json *pod, const struct json *options)
{
    const char *phase = json_str(pod, "status.phase", "");
    int64_t grace = json_int(options, "gracePeriodSeconds",
                             json_int(pod, "spec.terminationGracePeriodSeconds", 30));
    if (!*json_str(pod, "spec.nodeName", "") || !strcmp(phase, "Succeeded") ||
        !strcmp(phase, "Failed"))
        return 0;
    return grace < 0 ? 1 : grace;
}

static void mark_deleted(struct json *obj, int64_t grace)
{
    char at[36];
    struct json *meta = meta_of(obj);
    bool first = !json_get(meta, "deletionTimestamp");
    clock_rfc3339((clock_wall_ms() / 1000 + grace) * 1000000, 0, at);
    if (first || grace < json_int(meta, "deletionGracePeriodSeconds", 0)) {
        json_put_str(meta, "deletionTimestamp", at);
        json_put_num(meta, "deletionGracePeriodSeconds", (double)grace);
    }
    if (first && json_get(meta, "generation"))
        json_put_num(meta, "generation", json_num(meta, "generation", 0) + 1);
}

/* Put what a delete leaves standing, or drop it. NULL: gone. */
static struct api_version *put_deleted(struct api *a, const struct api_write *w,
                                       struct api_version *old, struct json *obj)
{
    if (may_go(obj)) {
        json_free(obj);
        if (!w->dry_run)
            api_drop(a, w->res, old);
        return NULL;
    }
    if (w->dry_run || same_object(old->j, obj)) {
        json_free(obj);
        return api_version_ref(old);
    }
    return api_put(a, w->res, obj, old);
}

struct json *api_do_delete(struct api *a, const struct api_write *w, const struct json *options,
                           struct api_version **out, char gone[40])
{
    struct api_version *old = api_find(a, w->res, w->ns, w->name);
    struct json *no = old ? check_preconditions(w, old->j, options)
                          : status_not_found(w->res, w->name);
    *out = NULL;
    if (no)
        return no;
    api_version_ref(old);
    str_copy(gone, 40, json_str(old->j, "metadata.uid", ""));
    struct json *obj = json_copy(old->j);
    const char *policy = policy_of(w, options);
    if (!strcmp(policy, "Foreground"))
        add_finalizer(obj, "foregroundDeletion");
    else if (!strcmp(policy, "Orphan"))
        add_finalizer(obj, "orphan");
    bool pod = !strcmp(w->res->plural, "pods");
    mark_deleted(obj, pod ? pod_grace(obj, options) : 0);
    if (!strcmp(w->res->plural, "namespaces"))
        json_put_path(obj, "status.phase", json_new_string("Terminating"));
    *out = put_deleted(a, w, old, obj);
    api_version_unref(old);
    return NULL;
}

/* --- for the components (api.h) --- */

static void finish(struct api_result *out, struct json *no, struct api_version *v, int code)
{
    memset(out, 0, sizeof *out);
    strv_init(&out->warnings);
    out->code = no ? status_code(no) : code;
    out->body = no ? no : v ? json_copy(v->j) : NULL;
    api_version_unref(v);
}

void api_result_release(struct api_result *r)
{
    json_free(r->body);
    strv_release(&r->warnings);
    r->body = NULL;
}

void api_create(struct api *a, const struct api_user *u, const struct res *res, const char *ns,
                const struct json *obj, struct api_result *out)
{
    struct api_write w = {.user = u, .res = res, .ns = ns, .manager = u->manager};
    struct api_version *v = NULL;
    struct json *no = api_do_create(a, &w, json_copy(obj), &v);
    finish(out, no, v, 201);
}

void api_update(struct api *a, const struct api_user *u, const struct res *res, const char *sub,
                const struct json *obj, struct api_result *out)
{
    struct api_write w = {.user = u, .res = res, .ns = json_str(obj, "metadata.namespace", ""),
                          .name = json_str(obj, "metadata.name", ""), .sub = sub,
                          .manager = u->manager};
    struct api_version *v = NULL;
    struct json *no = api_do_update(a, &w, json_copy(obj), &v);
    finish(out, no, v, 200);
}

void api_delete(struct api *a, const struct api_user *u, const struct res *res, const char *ns,
                const char *name, const struct json *options, struct api_result *out)
{
    struct api_write w = {.user = u, .res = res, .ns = ns, .name = name, .manager = u->manager};
    struct api_version *v = NULL;
    char uid[40] = "";
    struct json *no = api_do_delete(a, &w, options, &v, uid);
    if (!no && !v) {
        finish(out, NULL, NULL, 200);
        out->body = status_success(res, name, uid);
        return;
    }
    finish(out, no, v, 200);
}
