/* kubelet_env.c - command line, environment, user and limits of a container:
 * the image's config under the pod's spec, $(VAR) expansion, the downward API,
 * config maps and secrets. Errors are the kubelet's sentences. */
#include "k8s/practice/kubelet_in.h"

#include <openssl/evp.h>

#include "core/base/mem.h"
#include "k8s/practice/sched_filter.h"
#include "k8s/quantity.h"

static const char *env_get(const struct strv *env, const char *name, size_t n)
{
    for (size_t i = env->n; i-- > 0;)
        if (strncmp(env->v[i], name, n) == 0 && env->v[i][n] == '=')
            return env->v[i] + n + 1;
    return NULL;
}

/* Later ones replace earlier ones in their place. */
static void env_set(struct strv *env, const char *name, const char *value)
{
    size_t n = strlen(name);
    for (size_t i = 0; i < env->n; i++)
        if (strncmp(env->v[i], name, n) == 0 && env->v[i][n] == '=') {
            free(env->v[i]);
            env->v[i] = xasprintf("%s=%s", name, value);
            return;
        }
    strv_pushf(env, "%s=%s", name, value);
}

/* $(NAME) with a known name; $$ is one $; everything else stays as it is. */
void kubelet_env_expand(const char *text, const struct strv *env, struct str *out)
{
    for (const char *p = text; *p; p++) {
        if (*p == '$' && p[1] == '$') {
            str_addc(out, '$');
            p++;
            continue;
        }
        const char *end = *p == '$' && p[1] == '(' ? strchr(p, ')') : NULL;
        const char *value = end ? env_get(env, p + 2, (size_t)(end - p - 2)) : NULL;
        if (value)
            str_add(out, value);
        else if (end)
            str_append(out, p, (size_t)(end - p + 1));
        else
            str_addc(out, *p);
        if (end)
            p = end;
    }
}

/* --- the downward API ------------------------------------------------------------------ */

/* metadata.labels['a'] of the pod; or all as key="value" lines. */
static char *map_field(const struct kpod *p, const char *path, const char *map)
{
    const struct json *m = json_get(json_get(p->pod, "metadata"), map);
    size_t n = strlen("metadata.") + strlen(map);
    if (path[n] == '\0') {
        struct str out;
        str_init(&out, 1 << 20);
        for (const struct json *e = json_first(m); e; e = json_next(e))
            str_printf(&out, "%s%s=\"%s\"", out.len ? "\n" : "", json_key(e),
                       json_string_value(e));
        return str_take(&out);
    }
    if (path[n] != '[' || path[n + 1] != '\'')
        return NULL;
    char *key = xstrdup(path + n + 2);
    key[strcspn(key, "'")] = '\0';
    const char *v = json_string_value(json_get(m, key));
    free(key);
    return xstrdup(v ? v : "");
}

char *kubelet_env_field(const struct kpod *p, const char *path)
{
    static const char *const plain[] = {"metadata.name", "metadata.namespace", "metadata.uid",
                                        "spec.nodeName", "spec.serviceAccountName"};
    for (size_t i = 0; i < ARRAY_LEN(plain); i++)
        if (strcmp(path, plain[i]) == 0)
            return xstrdup(json_str(p->pod, path, ""));
    if (strcmp(path, "status.podIP") == 0 || strcmp(path, "status.podIPs") == 0)
        return xstrdup(p->ip);
    if (strcmp(path, "status.hostIP") == 0 || strcmp(path, "status.hostIPs") == 0)
        return xstrdup(json_str(p->pod, "status.hostIP", "127.0.0.1"));
    if (str_starts(path, "metadata.labels"))
        return map_field(p, path, "labels");
    if (str_starts(path, "metadata.annotations"))
        return map_field(p, path, "annotations");
    return NULL;
}

char *kubelet_env_resource(const struct kpod *p, const struct json *ref, const char *container)
{
    const char *name = json_str(ref, "containerName", container);
    const char *what = json_str(ref, "resource", ""), *dot = strchr(what, '.');
    const struct json *list = json_at(p->pod, "spec.containers"), *c;
    struct json *node = NULL;
    int64_t v = 0, per = 1;
    for (c = json_first(list); c; c = json_next(c))
        if (strcmp(json_str(c, "name", ""), name) == 0)
            break;
    if (!c || !dot)
        return NULL;
    bool cpu = strcmp(dot + 1, "cpu") == 0;
    char kind[16];
    str_copy(kind, MIN(sizeof kind, (size_t)(dot - what) + 1), what);
    const char *q = json_string_value(json_get(json_get(json_get(c, "resources"), kind), dot + 1));
    if (!q && strcmp(kind, "limits") == 0) {     /* no limit: what the node has */
        node = api_get(p->k->api, res_by_plural("", "nodes"), NULL, p->node);
        q = json_string_value(json_get(json_at(node, "status.allocatable"), dot + 1));
    }
    const char *divisor = json_str(ref, "divisor", "1");
    bool ok = !q || (cpu ? quantity_milli(q, &v) : quantity_units(q, &v));
    if (ok && strcmp(divisor, "0") != 0)
        ok = cpu ? quantity_milli(divisor, &per) : quantity_units(divisor, &per);
    else if (cpu)
        per = 1000;
    json_free(node);
    return ok ? xasprintf("%" PRId64, (v + MAX(per, 1) - 1) / MAX(per, 1)) : NULL;
}

/* --- config maps and secrets -------------------------------------------------------------- */

/* NULL with err filled, or NULL with PD_OK when optional. */
static struct json *fetch(const struct kpod *p, const char *plural, const char *name,
                          bool optional, struct pd_err *err)
{
    struct json *o = api_get(p->k->api, res_by_plural("", plural), p->ns, name);
    err->code = PD_OK;
    if (!o && !optional)
        pd_fail(err, PD_NOTFOUND, "%.*s \"%s\" not found", (int)strlen(plural) - 1, plural, name);
    return o;
}

static char *decode(const char *base64)
{
    size_t n = strlen(base64);
    unsigned char *out = xmalloc(n + 4);
    int got = EVP_DecodeBlock(out, (const unsigned char *)base64, (int)n);
    for (size_t i = n; got > 0 && i-- > 0 && base64[i] == '=';)
        got--;
    out[MAX(got, 0)] = '\0';
    return (char *)out;
}

/* data.KEY as text, NULL when it is not there. */
static char *data_value(const struct json *o, const char *key, bool secret)
{
    const char *v = json_string_value(json_get(json_get(o, "data"), key));
    return !v ? NULL : secret ? decode(v) : xstrdup(v);
}

static enum pd_code key_ref(const struct kpod *p, const struct json *ref, bool secret, char **out,
                            struct pd_err *err)
{
    const char *name = json_str(ref, "name", ""), *key = json_str(ref, "key", "");
    bool optional = json_bool(ref, "optional", false);
    struct json *o = fetch(p, secret ? "secrets" : "configmaps", name, optional, err);
    if (!o)
        return err->code;
    *out = data_value(o, key, secret);
    json_free(o);
    if (!*out && !optional)
        return pd_fail(err, PD_NOTFOUND, "couldn't find key %s in %s %s/%s", key,
                       secret ? "Secret" : "ConfigMap", p->ns, name);
    return PD_OK;
}

static enum pd_code env_from(const struct kpod *p, const struct json *from, struct strv *env,
                             struct pd_err *err)
{
    bool secret = json_has(from, "secretRef");
    const struct json *ref = json_get(from, secret ? "secretRef" : "configMapRef");
    const char *prefix = json_str(from, "prefix", "");
    struct json *o = fetch(p, secret ? "secrets" : "configmaps", json_str(ref, "name", ""),
                           json_bool(ref, "optional", false), err);
    for (const struct json *d = json_first(json_get(o, "data")); d; d = json_next(d)) {
        char *name = xasprintf("%s%s", prefix, json_key(d)), *value = data_value(o, json_key(d),
                                                                                secret);
        if (value)
            env_set(env, name, value);
        free(name);
        free(value);
    }
    json_free(o);
    return err->code;
}

static enum pd_code value_from(struct kctr *c, const struct json *from, char **out,
                               struct pd_err *err)
{
    const struct kpod *p = c->pod;
    const struct json *ref;
    if ((ref = json_get(from, "fieldRef")) != NULL) {
        const char *path = json_str(ref, "fieldPath", "");
        *out = kubelet_env_field(p, path);
        return *out ? PD_OK : pd_fail(err, PD_INVALID, "unsupported fieldPath: %s", path);
    }
    if ((ref = json_get(from, "resourceFieldRef")) != NULL) {
        *out = kubelet_env_resource(p, ref, c->name);
        return *out ? PD_OK : pd_fail(err, PD_INVALID, "unsupported container resource : %s",
                                      json_str(ref, "resource", ""));
    }
    if ((ref = json_get(from, "configMapKeyRef")) != NULL)
        return key_ref(p, ref, false, out, err);
    if ((ref = json_get(from, "secretKeyRef")) != NULL)
        return key_ref(p, ref, true, out, err);
    return pd_fail(err, PD_UNSUPPORTED, "this source of a variable is not supported");
}

/* What device plugins tell a container; the devices are simulated, and say so. */
static void device_env(const struct kpod *p, struct strv *env)
{
    static const struct {
        const char *resource, *variable;
    } known[] = {{"habana.ai/gaudi", "HABANA_VISIBLE_DEVICES"},
                 {"nvidia.com/gpu", "NVIDIA_VISIBLE_DEVICES"}};
    for (size_t d = 0; d < p->devices.n; d++) {
        char *line = xstrdup(p->devices.v[d]), *list = strchr(line, ' ');
        if (list)
            *list++ = '\0';
        for (char *s = list; s && *s; s++)
            *s = *s == ' ' ? ',' : *s;
        for (size_t k = 0; list && k < ARRAY_LEN(known); k++)
            if (strcmp(line, known[k].resource) == 0)
                env_set(env, known[k].variable, list);
        env_set(env, "PODIUM_SIMULATED_DEVICES", line);
        free(line);
    }
}

static bool asks_devices(const struct json *spec)
{
    for (const struct json *m = json_first(json_at(spec, "resources.limits")); m; m = json_next(m))
        if (strchr(json_key(m), '/'))
            return true;
    return false;
}

static void base_env(struct kctr *c, const struct json *config, struct strv *env)
{
    const char *host = api_registry_host(c->pod->k->api), *colon = strrchr(host ? host : "", ':');
    env_set(env, "PATH", "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin");
    env_set(env, "HOSTNAME", c->pod->name);
    for (const struct json *e = json_first(json_get(config, "env")); e; e = json_next(e)) {
        char *line = xstrdup(json_string_value(e)), *eq = strchr(line, '=');
        if (eq) {
            *eq = '\0';
            env_set(env, line, eq + 1);
        }
        free(line);
    }
    env_set(env, "KUBERNETES_SERVICE_HOST", "127.0.0.1");
    env_set(env, "KUBERNETES_SERVICE_PORT", colon ? colon + 1 : "443");
    env_set(env, "KUBERNETES_SERVICE_PORT_HTTPS", colon ? colon + 1 : "443");
    if (asks_devices(kubelet_pod_spec(c)))
        device_env(c->pod, env);
}

static enum pd_code fill_env(struct kctr *c, const struct json *spec, const struct json *config,
                             struct strv *env, struct pd_err *err)
{
    base_env(c, config, env);
    for (const struct json *f = json_first(json_get(spec, "envFrom")); f; f = json_next(f))
        if (env_from(c->pod, f, env, err) != PD_OK)
            return err->code;
    for (const struct json *e = json_first(json_get(spec, "env")); e; e = json_next(e)) {
        const struct json *from = json_get(e, "valueFrom");
        struct str value;
        char *text = NULL;
        str_init(&value, 1 << 20);
        kubelet_env_expand(json_str(e, "value", ""), env, &value);
        enum pd_code rc = from && !value.len ? value_from(c, from, &text, err) : PD_OK;
        if (rc == PD_OK && (text || !from || value.len))
            env_set(env, json_str(e, "name", ""), text ? text : value.p);
        free(text);
        str_release(&value);
        if (rc != PD_OK)
            return rc;
    }
    return PD_OK;
}

static void push_expanded(struct strv *argv, const struct json *list, const struct strv *env)
{
    for (const struct json *a = json_first(list); a; a = json_next(a)) {
        struct str out;
        str_init(&out, 1 << 20);
        if (env)
            kubelet_env_expand(json_string_value(a), env, &out);
        else
            str_add(&out, json_string_value(a));
        strv_push(argv, out.p);
        str_release(&out);
    }
}

/* command replaces ENTRYPOINT and, alone, drops CMD; args replace CMD. */
static enum pd_code fill_argv(const struct json *spec, const struct json *config,
                              struct shim_spec *s, struct pd_err *err)
{
    const struct json *command = json_get(spec, "command"), *args = json_get(spec, "args");
    if (json_count(command) > 0)
        push_expanded(&s->argv, command, &s->env);
    else
        push_expanded(&s->argv, json_get(config, "entrypoint"), NULL);
    if (json_count(args) > 0)
        push_expanded(&s->argv, args, &s->env);
    else if (json_count(command) == 0)
        push_expanded(&s->argv, json_get(config, "cmd"), NULL);
    if (s->argv.n == 0)
        return pd_fail(err, PD_SANDBOX, "no command specified");
    return PD_OK;
}

static enum pd_code fill_security(struct kctr *c, const struct json *spec,
                                  const struct json *config, struct shim_spec *s,
                                  struct pd_err *err)
{
    const struct json *pod = json_at(c->pod->pod, "spec.securityContext");
    const struct json *own = json_get(spec, "securityContext");
    int64_t pod_uid = json_int(pod, "runAsUser", -1), pod_gid = json_int(pod, "runAsGroup", -1);
    bool non_root = json_bool(own, "runAsNonRoot", json_bool(pod, "runAsNonRoot", false));
    const char *user = json_str(config, "user", "");
    s->uid = (int)json_int(own, "runAsUser", pod_uid);
    s->gid = (int)json_int(own, "runAsGroup", pod_gid);
    if (!non_root || s->uid > 0)
        return PD_OK;
    if (s->uid == 0)
        return pd_fail(err, PD_SANDBOX,
                       "container's runAsUser breaks non-root policy (pod: \"%s_%s(%s)\", "
                       "container: %s)", c->pod->name, c->pod->ns, c->pod->uid, c->name);
    if (!*user || strcmp(user, "root") == 0 || str_starts(user, "0:") || strcmp(user, "0") == 0)
        return pd_fail(err, PD_SANDBOX,
                       "container has runAsNonRoot and image will run as root (pod: "
                       "\"%s_%s(%s)\", container: %s)",
                       c->pod->name, c->pod->ns, c->pod->uid, c->name);
    return PD_OK;
}

enum pd_code kubelet_env_fill(struct kctr *c, const struct json *meta, struct shim_spec *s,
                              struct pd_err *err)
{
    const struct json *spec = kubelet_pod_spec(c), *config = json_get(meta, "config");
    const struct json *limits = json_at(spec, "resources.limits");
    const char *memory = json_str(limits, "memory", NULL), *cpu = json_str(limits, "cpu", NULL);
    const char *host = json_str(c->pod->pod, "spec.hostname", c->pod->name);
    if ((memory && !quantity_units(memory, &s->memory)) ||
        (cpu && !quantity_milli(cpu, &s->cpu_millis)))
        return pd_fail(err, PD_INVALID, "the limits of container %s are no quantities", c->name);
    s->hostname = xstrndup(host, 63);
    s->cwd = xstrdup(json_str(spec, "workingDir", json_str(config, "workdir", "/")));
    s->std_in = json_bool(spec, "stdin", false);
    s->stdin_once = json_bool(spec, "stdinOnce", false);
    s->tty = json_bool(spec, "tty", false);
    enum pd_code rc = fill_env(c, spec, config, &s->env, err);
    if (rc == PD_OK)
        rc = fill_security(c, spec, config, s, err);
    return rc == PD_OK ? fill_argv(spec, config, s, err) : rc;
}
