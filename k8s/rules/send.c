/* send.c - question and answer with a cluster (send.h). */
#include "k8s/rules/send.h"

#include <ctype.h>

#include "core/base/i18n.h"
#include "core/base/mem.h"

enum { TIMEOUT_MS = 30000 };

enum pd_code send_open(struct send *s, const struct kube_options *o, struct pd_err *err)
{
    struct kube_context ctx;
    struct k8s_hooks hooks = {0};
    memset(s, 0, sizeof *s);
    kube_context_init(&ctx);
    enum pd_code code = kubeconfig_open(o, &ctx, err);
    if (code == PD_OK) {
        s->loop = loop_new();
        s->k = k8s_open(s->loop, &ctx, 1, &hooks);
    }
    kube_context_release(&ctx);
    return code;
}

void send_close(struct send *s)
{
    json_free(s->object);
    if (s->k)
        k8s_close(s->k);
    if (s->loop)
        loop_free(s->loop);
    memset(s, 0, sizeof *s);
}

static void answered(void *arg, int status, const struct json *object, const struct pd_err *err)
{
    struct send *s = arg;
    s->status = status;
    s->object = json_copy(object);
    if (err)
        s->err = *err;
    loop_stop(s->loop, 0);
}

static void late(void *arg)
{
    struct send *s = arg;
    pd_fail(&s->err, PD_TIMEOUT, _("the cluster did not answer within %d s"), TIMEOUT_MS / 1000);
    loop_stop(s->loop, 1);
}

bool send_call(struct send *s, const char *method, const char *path, const char *type,
               const struct json *body)
{
    json_free(s->object);
    s->object = NULL;
    s->status = 0;
    struct k8s_call *call = k8s_request(s->k, method, path, type, body, answered, s);
    uint32_t timer = loop_timer(s->loop, TIMEOUT_MS, late, s, "send");
    if (loop_run(s->loop) != 0)
        k8s_cancel(call);
    loop_timer_cancel(s->loop, timer);
    return s->status >= 200 && s->status < 400;
}

static void rested(void *arg)
{
    loop_stop(((struct send *)arg)->loop, 0);
}

void send_rest(struct send *s, int ms)
{
    loop_timer(s->loop, ms, rested, s, "send");
    loop_run(s->loop);
}

/* --- paths --- */

static const char *namespace_of(const struct send *s, const struct json *object)
{
    return json_str(object, "metadata.namespace", k8s_namespace(s->k));
}

/* A kind that the table does not have: what the server says of its group. */
static enum pd_code discover(struct send *s, const struct json *object, bool collection,
                             char path[RES_PATH_MAX], struct pd_err *err)
{
    const char *gv = json_str(object, "apiVersion", ""), *kind = json_str(object, "kind", "");
    const char *name = json_str(object, "metadata.name", "");
    char root[300];
    str_fmt(root, sizeof root, "/%s/%s", strchr(gv, '/') ? "apis" : "api", gv);
    if (!send_call(s, "GET", root, NULL, NULL) && s->status != 404) {
        *err = s->err;
        return err->code;
    }
    const struct json *r = json_first(json_get(s->object, "resources"));
    while (r && (strcmp(json_str(r, "kind", ""), kind) != 0 ||
                 strchr(json_str(r, "name", ""), '/')))
        r = json_next(r);
    if (!r) {
        pd_fail(err, PD_NOTFOUND, "no matches for kind \"%s\" in version \"%s\"", kind, gv);
        return pd_set_hint(err, "%s", _("correct apiVersion and kind, or install the custom "
                                        "resource first"));
    }
    bool spaced = json_bool(r, "namespaced", false);
    str_fmt(path, RES_PATH_MAX, "%s%s%s/%s%s%s", root, spaced ? "/namespaces/" : "",
            spaced ? namespace_of(s, object) : "", json_str(r, "name", ""), collection ? "" : "/",
            collection ? "" : name);
    return PD_OK;
}

enum pd_code send_path(struct send *s, const struct json *object, bool collection,
                       char path[RES_PATH_MAX], struct pd_err *err)
{
    const struct res *r = res_of(object);
    if (!r)
        return discover(s, object, collection, path, err);
    res_path(r, namespace_of(s, object), collection ? NULL : json_str(object, "metadata.name", ""),
             NULL, path);
    return PD_OK;
}

const char *send_name(const struct json *object, char buf[400])
{
    const struct res *r = res_of(object);
    const char *gv = json_str(object, "apiVersion", ""), *slash = strchr(gv, '/');
    char kind[100];
    str_fmt(kind, sizeof kind, "%s", r ? r->singular : json_str(object, "kind", "?"));
    for (char *p = kind; *p; p++)
        *p = (char)tolower((unsigned char)*p);
    return str_fmt(buf, 400, "%s%s%.*s/%s", kind, slash ? "." : "",
                   slash ? (int)(slash - gv) : 0, gv,
                   json_str(object, "metadata.name",
                            json_str(object, "metadata.generateName", "")));
}
