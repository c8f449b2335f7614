/* rest_pod.c - what a pod answers beside its object: log, exec and attach over
 * WebSocket (v5, v4 and the plain channel protocol), eviction, binding, scale.
 */
#include "core/base/clock.h"
#include "core/base/mem.h"
#include "core/io/ws.h"
#include "k8s/practice/kobj.h"
#include "k8s/practice/patch.h"
#include "k8s/practice/rest.h"

enum { FRAME_CEILING = 1 << 20, RESIZE = 4, CLOSE_CHANNEL = 255, INPUT_CEILING = 4 << 20 };

struct api_stream {
    struct call *call;
    bool log, started, ended;
    int version;                 /* 5, 4 or 1 */
    struct api_stream_ops ops;
    struct str in, message;      /* bytes not yet parsed; the message under way */
};

/* --- common --- */

static void on_gone(void *arg)
{
    struct api_stream *s = arg;
    struct api_stream_ops ops = s->ops;
    memset(&s->ops, 0, sizeof s->ops);
    if (ops.closed)
        ops.closed(ops.arg);
    str_release(&s->in);
    str_release(&s->message);
    s->call->q = NULL;
    rest_release(s->call);
    free(s);
}

static struct api_stream *stream_new(struct call *c, bool log)
{
    struct api_stream *s = xcalloc(1, sizeof *s);
    s->call = c;
    s->log = log;
    str_init(&s->in, INPUT_CEILING);
    str_init(&s->message, INPUT_CEILING);
    server_on_gone(c->q, on_gone, s);
    return s;
}

void api_stream_set(struct api_stream *s, const struct api_stream_ops *ops)
{
    s->ops = *ops;
}

size_t api_stream_pending(const struct api_stream *s)
{
    if (!s->call->q)
        return 0;
    return s->log ? server_stream_pending(s->call->q) : server_upgrade_pending(s->call->q);
}

static void start_log(struct api_stream *s)
{
    if (!s->started)
        server_stream(s->call->q, 200, "text/plain", NULL, NULL);
    s->started = true;
}

static void frame(struct api_stream *s, int opcode, const void *p, size_t n)
{
    struct str f;
    str_init(&f, n + 32);
    ws_build(&f, opcode, true, false, p, n);
    server_upgrade_write(s->call->q, f.p, f.len);
    str_release(&f);
}

void api_stream_write(struct api_stream *s, int channel, const void *p, size_t n)
{
    if (!s->call->q || s->ended)
        return;
    if (s->log) {
        start_log(s);
        server_stream_write(s->call->q, p, n);
        return;
    }
    char *m = xmalloc(n + 1);
    m[0] = (char)channel;
    memcpy(m + 1, p, n);
    frame(s, WS_BINARY, m, n + 1);
    free(m);
}

void api_stream_end(struct api_stream *s)
{
    if (!s->call->q || s->ended)
        return;
    if (s->log) {
        start_log(s);
        server_stream_end(s->call->q);
    } else {
        frame(s, WS_CLOSE, "\x03\xe8", 2);
        server_upgrade_close(s->call->q);
    }
    s->ended = true;
}

/* The pod and the kubelet are there, else an answer was sent. */
static struct api_version *pod_of(struct call *c)
{
    (void)api_flush(c->rest->api);
    struct api_version *v = api_find(c->rest->api, c->res, c->at.ns, c->at.name);
    if (!v)
        rest_refuse(c, status_not_found(c->res, c->at.name));
    else if (!api_kubelet(c->rest->api)) {
        rest_refuse(c, status_new(503, "ServiceUnavailable", NULL, NULL,
                                  "no kubelet runs in the practice cluster"));
        v = NULL;
    }
    return v;
}

static bool has_container(const struct json *pod, const char *name)
{
    static const char *const lists[] = {"spec.containers", "spec.initContainers",
                                        "spec.ephemeralContainers"};
    for (size_t i = 0; i < ARRAY_LEN(lists); i++)
        for (const struct json *c = json_first(json_at(pod, lists[i])); c; c = json_next(c))
            if (!strcmp(json_str(c, "name", ""), name))
                return true;
    return false;
}

/* The container meant; NULL: answered. */
static const char *container_of(struct call *c, const struct json *pod)
{
    const char *name = rest_param(c, "container");
    const struct json *all = json_at(pod, "spec.containers");
    if (*name && has_container(pod, name))
        return name;
    if (*name) {
        rest_refuse(c, status_bad_request("container %s is not valid for pod %s", name,
                                          c->at.name));
        return NULL;
    }
    const char *chosen =
        json_str(pod, "metadata.annotations['kubectl.kubernetes.io/default-container']", "");
    if (json_count(all) == 1 || !*chosen)
        chosen = json_str(json_first(all), "name", "");
    if (json_count(all) == 1 || (has_container(pod, chosen) && json_has(pod, "metadata.annotations["
                                                                             "'kubectl.kubernetes."
                                                                             "io/"
                                                                             "default-container'"
                                                                             "]")))
        return chosen;
    struct str names;
    str_init(&names, 8192);
    for (const struct json *x = json_first(all); x; x = json_next(x))
        str_printf(&names, "%s%s", names.len ? " " : "", json_str(x, "name", ""));
    rest_refuse(c, status_bad_request("a container name must be specified for pod %s, choose one "
                                      "of: [%s]", c->at.name, names.p));
    str_release(&names);
    return NULL;
}

static void kubelet_refusal(struct call *c, int http, const struct pd_err *err)
{
    bool bad = http == 400;
    rest_refuse(c, status_new(http, bad ? "BadRequest" : http == 404 ? "NotFound" : "InternalError",
                              NULL, NULL, "%s", err->msg));
}

/* --- log --- */

static int64_t since(struct call *c)
{
    int64_t us, seconds = rest_int(c, "sinceSeconds", -1);
    if (seconds >= 0)
        return MAX(clock_wall_ms() - kobj_ms(seconds), 0) * 1000;
    return clock_parse_rfc3339(rest_param(c, "sinceTime"), &us) ? us : -1;
}

void rest_pod_log(struct call *c)
{
    struct api_version *pod = pod_of(c);
    struct api_log_options o = {0};
    struct pd_err err = {0};
    int http = 500;
    if (!pod || !(o.container = container_of(c, pod->j)))
        return;
    o.follow = rest_flag(c, "follow");
    o.previous = rest_flag(c, "previous");
    o.timestamps = rest_flag(c, "timestamps");
    o.tail_lines = rest_int(c, "tailLines", -1);
    o.limit_bytes = rest_int(c, "limitBytes", -1);
    o.since_us = since(c);
    const struct api_kubelet_ops *k = api_kubelet(c->rest->api);
    struct api_stream *s = stream_new(c, true);
    if (k->log(k->arg, pod->j, &o, s, &http, &err) != PD_OK) {
        memset(&s->ops, 0, sizeof s->ops);
        kubelet_refusal(c, http, &err);
        return;
    }
    if (c->q && !s->ended)
        start_log(s);
}

/* --- exec and attach --- */

static void resize(struct api_stream *s, const char *p, size_t n)
{
    struct json *j;
    struct pd_err err;
    if (json_parse(p, n, &j, &err) != PD_OK)
        return;
    if (s->ops.resize)
        s->ops.resize(s->ops.arg, (int)json_int(j, "Width", 80), (int)json_int(j, "Height", 24));
    json_free(j);
}

static void on_message(struct api_stream *s, const char *p, size_t n)
{
    if (n == 0)
        return;
    int channel = (unsigned char)p[0];
    if (channel == 0 && n > 1 && s->ops.input)
        s->ops.input(s->ops.arg, p + 1, n - 1);
    else if (channel == RESIZE)
        resize(s, p + 1, n - 1);
    else if (channel == CLOSE_CHANNEL && s->version == 5 && n > 1 && p[1] == 0 && s->ops.input_end)
        s->ops.input_end(s->ops.arg);
}

static void on_frame(struct api_stream *s, const struct ws_frame *f)
{
    switch (f->opcode) {
    case WS_PING: frame(s, WS_PONG, f->payload, f->n); return;
    case WS_CLOSE: api_stream_end(s); return;
    case WS_PONG: return;
    default: break;
    }
    if (!str_append(&s->message, f->payload, f->n)) {
        api_stream_end(s);                    /* beyond 4 MiB: nothing is lost silently */
    } else if (f->fin) {
        on_message(s, s->message.p, s->message.len);
        str_clear(&s->message);
    }
}

static void on_bytes(void *arg, const void *p, size_t n)
{
    struct api_stream *s = arg;
    str_append(&s->in, p, n);
    while (s->in.len > 0 && !s->ended) {
        struct ws_frame f;
        long used = ws_parse((unsigned char *)s->in.p, s->in.len, true, FRAME_CEILING, &f);
        if (used < 0)
            api_stream_end(s);
        if (used <= 0)
            return;
        on_frame(s, &f);
        str_consume(&s->in, (size_t)used);
    }
}

/* The best protocol of the offer: 5, 4, 1 (none offered), 0 (none of ours). */
static int choose_protocol(const char *offer)
{
    if (!offer || !*offer)
        return 1;
    if (strstr(offer, "v5.channel.k8s.io"))
        return 5;
    if (strstr(offer, "v4.channel.k8s.io"))
        return 4;
    return !strcmp(offer, "channel.k8s.io") ? 1 : 0;
}

static int handshake(struct call *c)
{
    const char *upgrade = server_header(c->q, "Upgrade"), *key = server_header(c->q, "Sec-"
                                                                                     "WebSocket-"
                                                                                     "Key");
    const char *offer = server_header(c->q, "Sec-WebSocket-Protocol");
    char accept[32];
    int version = choose_protocol(offer);
    if (!upgrade || strcasecmp(upgrade, "websocket") != 0 || !key) {
        rest_refuse(c, status_bad_request("Upgrade request required"));
        return 0;
    }
    if (version == 0) {
        rest_refuse(c, status_new(403, "Forbidden", NULL, NULL,
                                  "unable to upgrade: the protocols offered (%s) are not served: "
                                  "v5.channel.k8s.io, v4.channel.k8s.io", offer));
        return 0;
    }
    ws_accept_key(key, accept);
    server_add_header(c->q, "Sec-WebSocket-Accept", accept);
    if (version > 1)
        server_add_header(c->q, "Sec-WebSocket-Protocol",
                          version == 5 ? "v5.channel.k8s.io" : "v4.channel.k8s.io");
    else if (offer && *offer)
        server_add_header(c->q, "Sec-WebSocket-Protocol", offer);
    return version;
}

/* A refusal of the kubelet travels in the stream: clients take an HTTP error at
 * this point for a server that knows no WebSocket. */
static void say_refusal(struct api_stream *s, int http, const struct pd_err *err)
{
    struct json *status = status_new(http, http == 400 ? "BadRequest" : "InternalError", NULL, NULL,
                                     "%s", err->msg);
    char *text = json_text(status, 0);
    api_stream_write(s, 3, text, strlen(text));
    api_stream_end(s);
    free(text);
    json_free(status);
}

static bool exec_options(struct call *c, bool attach, struct api_exec_options *o)
{
    strv_init(&o->command);
    server_query_all(c->q, "command", &o->command);
    o->std_in = rest_flag(c, "stdin");
    o->std_out = rest_flag(c, "stdout");
    o->std_err = rest_flag(c, "stderr");
    o->tty = rest_flag(c, "tty");
    o->attach = attach;
    if (attach || o->command.n > 0)
        return true;
    rest_refuse(c, status_bad_request("you must specify at least 1 command for the container"));
    return false;
}

void rest_pod_exec(struct call *c, bool attach)
{
    struct api_version *pod = pod_of(c);
    struct api_exec_options o = {0};
    struct pd_err err = {0};
    int http = 500, version = 0;
    if (!pod || !(o.container = container_of(c, pod->j)))
        return;
    if (!exec_options(c, attach, &o) || !(version = handshake(c))) {
        strv_release(&o.command);
        return;
    }
    const struct api_kubelet_ops *k = api_kubelet(c->rest->api);
    struct api_stream *s = stream_new(c, false);
    s->version = version;
    struct server_upgrade u = {"websocket", on_bytes, s};
    int lowest = o.std_out ? 1 : o.std_err && !o.tty ? 2 : 3;
    api_stream_write(s, lowest, "", 0);
    if (k->exec(k->arg, pod->j, &o, s, &http, &err) != PD_OK) {
        memset(&s->ops, 0, sizeof s->ops);
        say_refusal(s, http, &err);
    }
    server_upgrade(c->q, &u);
    strv_release(&o.command);
}

/* --- eviction --- */

void rest_pod_eviction(struct call *c)
{
    struct json *e = rest_decode(c, schema_type("policy/v1", "Eviction"), "policy/v1", "Eviction");
    struct api_version *v = NULL;
    char uid[40] = "";
    if (!e)
        return;
    struct api_write w = {.user = &c->who, .res = c->res, .ns = c->at.ns, .name = c->at.name,
                          .manager = c->manager, .dry_run = c->dry_run, .warnings = &c->warnings};
    struct json *no = api_do_delete(c->rest->api, &w, json_get(e, "deleteOptions"), &v, uid);
    json_free(e);
    api_version_unref(v);
    if (no) {
        rest_refuse(c, no);
        return;
    }
    struct api_version *done = xcalloc(1, sizeof *done);
    done->refs = 1;
    done->j = json_from("{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"metadata\":{},"
                        "\"status\":\"Success\",\"code\":201}");
    rest_answer_later(c, 201, done);
}

/* --- scale of Deployments and ReplicaSets --- */

static struct json *scale_of(const struct json *obj)
{
    static const char *const keep[] = {"name", "namespace", "uid", "resourceVersion",
                                       "creationTimestamp"};
    struct json *s = json_from("{\"kind\":\"Scale\",\"apiVersion\":\"autoscaling/v1\","
                               "\"metadata\":{},\"spec\":{},\"status\":{}}");
    for (size_t i = 0; i < ARRAY_LEN(keep); i++) {
        const struct json *v = json_get(json_get(obj, "metadata"), keep[i]);
        if (v)
            json_set(json_get_mut(s, "metadata"), keep[i], json_copy(v));
    }
    json_put_path(s, "spec.replicas", json_new_number(json_num(obj, "spec.replicas", 0)));
    json_put_path(s, "status.replicas", json_new_number(json_num(obj, "status.replicas", 0)));
    return s;
}

static void set_scale(struct call *c, struct api_version *old, struct json *scale)
{
    struct api_version *v = NULL;
    struct api_write w = {.user = &c->who, .res = c->res, .ns = c->at.ns, .name = c->at.name,
                          .sub = "scale", .manager = c->manager, .dry_run = c->dry_run};
    struct json *obj = json_copy(old->j);
    json_put_path(obj, "spec.replicas", json_new_number(json_num(scale, "spec.replicas", 0)));
    const char *rv = json_str(scale, "metadata.resourceVersion", "");
    if (*rv)
        json_put_path(obj, "metadata.resourceVersion", json_new_string(rv));
    struct json *no = api_do_update(c->rest->api, &w, obj, &v);
    if (no) {
        rest_refuse(c, no);
        return;
    }
    struct api_version *answer = xcalloc(1, sizeof *answer);
    answer->refs = 1;
    answer->j = scale_of(v->j);
    api_version_unref(v);
    rest_answer_later(c, 200, answer);
}

void rest_scale(struct call *c)
{
    struct api_version *old = api_find(c->rest->api, c->res, c->at.ns, c->at.name);
    if (!old) {
        rest_refuse(c, status_not_found(c->res, c->at.name));
        return;
    }
    struct json *scale = scale_of(old->j);
    if (!strcmp(c->verb, "get")) {
        rest_send(c, 200, scale);
    } else if (!strcmp(c->verb, "patch")) {
        struct json *p = rest_parse(c);
        if (p) {
            patch_merge(&scale, p);
            set_scale(c, old, scale);
        }
        json_free(p);
    } else {
        struct json *body = rest_decode(c, schema_type("autoscaling/v1", "Scale"),
                                        "autoscaling/v1", "Scale");
        if (body)
            set_scale(c, old, body);
        json_free(body);
    }
    json_free(scale);
}
