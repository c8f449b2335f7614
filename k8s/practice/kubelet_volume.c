/* kubelet_volume.c - a pod's volumes as folders, and where containers see
 * them: emptyDir, persistentVolumeClaim, configMap, secret, downwardAPI,
 * projected. A hostPath is refused: the pod would see the machine. */
#include "k8s/practice/kubelet_in.h"

#include <openssl/evp.h>
#include <sys/stat.h>

#include "core/base/mem.h"
#include "core/base/path.h"

struct files {
    struct kpod *p;
    const char *dir;
    struct pd_err err;
    bool failed;
};

static void put_file(struct files *f, const char *rel, const void *data, size_t n, int mode)
{
    if (f->failed)
        return;
    if (!path_inside(rel)) {
        pd_fail(&f->err, PD_INVALID, "the path \"%s\" leaves the volume", rel);
        f->failed = true;
        return;
    }
    char *path = path_join(f->dir, rel), *dir = path_dir(path);
    f->failed = path_mkdirs(dir, 0755, &f->err) != PD_OK ||
                shim_file(path, mode, data, n, &f->err) != PD_OK;
    free(dir);
    free(path);
}

static void put_base64(struct files *f, const char *rel, const char *base64, int mode)
{
    size_t n = strlen(base64);
    unsigned char *out = xmalloc(n + 4);
    int got = EVP_DecodeBlock(out, (const unsigned char *)base64, (int)n);
    for (size_t i = n; got > 0 && i-- > 0 && base64[i] == '=';)
        got--;
    put_file(f, rel, out, (size_t)MAX(got, 0), mode);
    free(out);
}

static void put_key(struct files *f, const struct json *o, bool secret, const char *key,
                    const char *rel, int mode)
{
    const char *text = json_string_value(json_get(json_get(o, "data"), key));
    const char *binary = json_string_value(json_get(json_get(o, "binaryData"), key));
    if (text && !secret)
        put_file(f, rel, text, strlen(text), mode);
    else if (text || binary)
        put_base64(f, rel, text ? text : binary, mode);
}

static bool has_key(const struct json *o, const char *key)
{
    return json_get(json_get(o, "data"), key) || json_get(json_get(o, "binaryData"), key);
}

/* All keys, or the items that were chosen. */
static void put_object(struct files *f, const struct json *src, bool secret, const char *name,
                       int mode)
{
    const struct json *items = json_get(src, "items"), *i;
    bool optional = json_bool(src, "optional", false);
    struct json *o = api_get(f->p->k->api, res_by_plural("", secret ? "secrets" : "configmaps"),
                             f->p->ns, name);
    mode = (int)json_int(src, "defaultMode", mode);
    if (!o && !optional) {
        pd_fail(&f->err, PD_NOTFOUND, "%s \"%s\" not found", secret ? "secret" : "configmap", name);
        f->failed = true;
    }
    for (i = json_first(items); o && i; i = json_next(i)) {
        const char *key = json_str(i, "key", "");
        if (!has_key(o, key) && !optional) {
            pd_fail(&f->err, PD_NOTFOUND, "references non-existent %s key: %s",
                    secret ? "secret" : "config", key);
            f->failed = true;
        }
        put_key(f, o, secret, key, json_str(i, "path", key), (int)json_int(i, "mode", mode));
    }
    static const char *const members[] = {"data", "binaryData"};
    for (size_t k = 0; o && !items && k < ARRAY_LEN(members); k++)
        for (i = json_first(json_get(o, members[k])); i; i = json_next(i))
            put_key(f, o, secret, json_key(i), json_key(i), mode);
    json_free(o);
}

static void put_downward(struct files *f, const struct json *src, int mode)
{
    mode = (int)json_int(src, "defaultMode", mode);
    for (const struct json *i = json_first(json_get(src, "items")); i; i = json_next(i)) {
        const struct json *resource = json_get(i, "resourceFieldRef");
        char *text = resource ? kubelet_env_resource(f->p, resource,
                                                     json_str(resource, "containerName", ""))
                              : kubelet_env_field(f->p, json_str(i, "fieldRef.fieldPath", ""));
        if (text)
            put_file(f, json_str(i, "path", ""), text, strlen(text),
                     (int)json_int(i, "mode", mode));
        free(text);
    }
}

static void put_projected(struct files *f, const struct json *v)
{
    int mode = (int)json_int(v, "defaultMode", 0644);
    for (const struct json *s = json_first(json_get(v, "sources")); s; s = json_next(s)) {
        const struct json *one;
        if ((one = json_get(s, "configMap")) != NULL)
            put_object(f, one, false, json_str(one, "name", ""), mode);
        else if ((one = json_get(s, "secret")) != NULL)
            put_object(f, one, true, json_str(one, "name", ""), mode);
        else if ((one = json_get(s, "downwardAPI")) != NULL)
            put_downward(f, one, mode);
        else if (json_has(s, "serviceAccountToken"))
            f->failed = pd_fail(&f->err, PD_UNSUPPORTED, "failed to fetch token: the practice "
                                "cluster issues no service account tokens") != PD_OK;
    }
}

static char *volume_dir(const struct kpod *p, const char *name)
{
    return xasprintf("%s/volumes/%s", p->dir, name);
}

/* Where the claim's volume is on this machine; NULL with why filled. */
static char *claim_path(const struct kpod *p, const char *claim, char why[512])
{
    struct json *pvc = api_get(p->k->api, res_by_plural("", "persistentvolumeclaims"), p->ns,
                               claim);
    const char *name = json_str(pvc, "spec.volumeName", "");
    struct json *pv = *name ? api_get(p->k->api, res_by_plural("", "persistentvolumes"), NULL, name)
                            : NULL;
    const char *path = json_str(pv, "spec.hostPath.path", json_str(pv, "spec.local.path", ""));
    char *out = NULL;
    if (!pvc)
        str_fmt(why, 512, "error processing PVC %s/%s: failed to fetch PVC from API server: "
                "persistentvolumeclaims \"%s\" not found", p->ns, claim, claim);
    else if (!pv)
        str_fmt(why, 512, "error processing PVC %s/%s: PVC is not bound", p->ns, claim);
    else if (!pvc_own_folder(p->k->dir, path))
        str_fmt(why, 512, "MountVolume.SetUp failed for volume \"%s\" : the practice cluster "
                "mounts volumes of its own storage class alone", name);
    else
        out = xstrdup(path);
    json_free(pvc);
    json_free(pv);
    return out;
}

static bool mount_one(struct kpod *p, const struct json *v, char why[512])
{
    const char *name = json_str(v, "name", "");
    char *dir = volume_dir(p, name);
    struct files f = {.p = p, .dir = dir};
    const struct json *src;
    bool ok = path_mkdirs(dir, 0755, &f.err) == PD_OK;
    if (ok && json_has(v, "hostPath"))
        ok = pd_fail(&f.err, PD_UNSUPPORTED, "hostPath volumes are refused in the practice "
                     "cluster, since a pod would see the machine itself; use emptyDir or a "
                     "persistentVolumeClaim") == PD_OK;
    else if (ok && (src = json_get(v, "configMap")) != NULL)
        put_object(&f, src, false, json_str(src, "name", ""), 0644);
    else if (ok && (src = json_get(v, "secret")) != NULL)
        put_object(&f, src, true, json_str(src, "secretName", ""), 0644);
    else if (ok && (src = json_get(v, "downwardAPI")) != NULL)
        put_downward(&f, src, 0644);
    else if (ok && (src = json_get(v, "projected")) != NULL)
        put_projected(&f, src);
    else if (ok && json_has(v, "emptyDir"))
        ok = chmod(dir, 01777) == 0 || pd_fail_errno(&f.err, PD_IO, "%s", dir) == PD_OK;
    else if (ok && (src = json_get(v, "persistentVolumeClaim")) != NULL) {
        char *path = claim_path(p, json_str(src, "claimName", ""), why);
        bool there = path != NULL;
        free(path);
        free(dir);
        return there;
    } else if (ok) {
        ok = pd_fail(&f.err, PD_UNSUPPORTED, "this kind of volume is not supported") == PD_OK;
    }
    if (!ok || f.failed)
        str_fmt(why, 512, "MountVolume.SetUp failed for volume \"%s\" : %s", name, f.err.msg);
    free(dir);
    return ok && !f.failed;
}

bool kubelet_volume_mount(struct kpod *p, char why[512])
{
    for (const struct json *v = json_first(json_at(p->pod, "spec.volumes")); v; v = json_next(v))
        if (!mount_one(p, v, why))
            return false;
    return true;
}

/* --- what a container sees --------------------------------------------------------------- */

static const struct json *find_volume(const struct kpod *p, const char *name)
{
    for (const struct json *v = json_first(json_at(p->pod, "spec.volumes")); v; v = json_next(v))
        if (strcmp(json_str(v, "name", ""), name) == 0)
            return v;
    return NULL;
}

static enum pd_code bind_mount(struct kctr *c, const struct json *m, struct shim_spec *s,
                               struct pd_err *err)
{
    char why[512] = "";
    const char *name = json_str(m, "name", ""), *sub = json_str(m, "subPath", "");
    const struct json *v = find_volume(c->pod, name);
    const char *claim = json_str(v, "persistentVolumeClaim.claimName", NULL);
    struct str expanded;
    char *from = claim ? claim_path(c->pod, claim, why) : volume_dir(c->pod, name);
    if (!v || !from)
        return pd_fail(err, PD_NOTFOUND, "%s", v ? why : "the volume of a mount is not there");
    str_init(&expanded, 4096);
    kubelet_env_expand(json_str(m, "subPathExpr", ""), &s->env, &expanded);
    if (expanded.len)
        sub = expanded.p;
    bool content = json_has(v, "configMap") || json_has(v, "secret") || json_has(v, "projected") ||
                   json_has(v, "downwardAPI");
    bool ro = content || json_bool(m, "readOnly", false) ||
              json_bool(v, "persistentVolumeClaim.readOnly", false);
    enum pd_code rc = PD_OK;
    if (*sub && !path_inside(sub))
        rc = pd_fail(err, PD_INVALID, "subPath \"%s\" must not leave the volume", sub);
    else
        shim_spec_add_bind(s, from, *sub ? sub : NULL, json_str(m, "mountPath", ""), ro);
    str_release(&expanded);
    free(from);
    return rc;
}

/* /etc/hosts as a kubelet writes it, and the machine's resolver. */
static enum pd_code bind_etc(struct kctr *c, struct shim_spec *s, struct pd_err *err)
{
    struct kpod *p = c->pod;
    struct stat st;
    char *hosts = path_join(p->dir, "etc-hosts");
    char *text = xasprintf("# Kubernetes-managed hosts file.\n127.0.0.1\tlocalhost\n"
                           "::1\tlocalhost ip6-localhost ip6-loopback\n%s\t%s\n",
                           p->ip, json_str(p->pod, "spec.hostname", p->name));
    enum pd_code rc = shim_file(hosts, 0644, text, strlen(text), err);
    if (rc == PD_OK) {
        shim_spec_add_bind(s, hosts, NULL, "/etc/hosts", false);
        if (stat("/etc/resolv.conf", &st) == 0)
            shim_spec_add_bind(s, "/etc/resolv.conf", NULL, "/etc/resolv.conf", true);
    }
    free(text);
    free(hosts);
    return rc;
}

enum pd_code kubelet_volume_binds(struct kctr *c, struct shim_spec *s, struct pd_err *err)
{
    const struct json *spec = kubelet_pod_spec(c);
    const char *message = json_str(spec, "terminationMessagePath", "/dev/termination-log");
    char *note = path_join(c->dir, "termination-log");
    enum pd_code rc = bind_etc(c, s, err);
    if (rc == PD_OK)
        rc = shim_file(note, 0666, "", 0, err);
    if (rc == PD_OK)
        shim_spec_add_bind(s, note, NULL, message, false);
    for (const struct json *m = json_first(json_get(spec, "volumeMounts")); m && rc == PD_OK;
         m = json_next(m))
        rc = bind_mount(c, m, s, err);
    free(note);
    return rc;
}
