/* kubelet_image.c - images of a node: presence, pull policy, pulling and
 * unpacking in children of this very program. */
#include "k8s/practice/kubelet_in.h"

#include <openssl/evp.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/base/mem.h"
#include "core/base/path.h"
#include "k8s/image/image.h"
#include "k8s/image/ref.h"
#include "k8s/image/registry_client.h"
#include "k8s/image/unpack.h"

enum { PULL_MS = 10000, PULL_MAX_MS = 300000 };

/* --- what the node has ----------------------------------------------------------------- */

char *kubelet_image_store(struct kubelet *k)
{
    return path_join(k->dir, "node-images");
}

/* One small file a reference: {"image","digest","image_id","bytes","config":{}}. */
static char *meta_path(const char *store, const char *image)
{
    unsigned char md[EVP_MAX_MD_SIZE];
    unsigned n = 0;
    char hex[65] = "";
    EVP_Digest(image, strlen(image), md, &n, EVP_sha256(), NULL);
    for (unsigned i = 0; i < n && i < 32; i++)
        str_fmt(hex + i * 2, sizeof hex - i * 2, "%02x", md[i]);
    return xasprintf("%s.refs/%s.json", store, hex);
}

struct json *kubelet_image_meta(struct kubelet *k, const char *image)
{
    struct pd_err err;
    struct json *j = NULL;
    char *store = kubelet_image_store(k), *path = meta_path(store, image);
    if (access(path, F_OK) == 0 && json_read_file(path, 4 << 20, &j, &err) != PD_OK)
        j = NULL;
    free(path);
    free(store);
    return j;
}

/* --- pulling ------------------------------------------------------------------------------ */

/* Go prints a duration as "1.234s", "345ms". */
static char *duration(int64_t ms, char buf[32])
{
    if (ms < 1000)
        return str_fmt(buf, 32, "%" PRId64 "ms", ms);
    str_fmt(buf, 32, "%" PRId64 ".%03" PRId64, ms / 1000, ms % 1000);
    for (size_t n = strlen(buf); buf[n - 1] == '0' || buf[n - 1] == '.'; n--) {
        bool point = buf[n - 1] == '.';
        buf[n - 1] = '\0';
        if (point)
            break;
    }
    size_t n = strlen(buf);
    str_copy(buf + n, 32 - n, "s");
    return buf;
}

static void failed(struct kctr *c, const char *text)
{
    struct kpod *p = c->pod;
    const char *image = json_str(kubelet_pod_spec(c), "image", "");
    kubelet_event(p, c, "Warning", "Failed", "Failed to pull image \"%s\": %s", image, text);
    kubelet_event(p, c, "Warning", "Failed", "Error: ErrImagePull");
    kubelet_ctr_wait(c, "ErrImagePull", "%s", text);
    str_fmt(c->pull_error, sizeof c->pull_error, "ErrImagePull: %s", text);
    c->pull_backoff_ms = c->pull_backoff_ms ? MIN(c->pull_backoff_ms * 2, PULL_MAX_MS) : PULL_MS;
    c->busy = KCTR_IDLE;
    c->try_at_ms = clock_ms() + kubelet_ctr_scaled(p->k, c->pull_backoff_ms);
    /* the next look, a moment later, says ImagePullBackOff */
    kubelet_status_write(p);
    kubelet_wake(p, kubelet_ctr_scaled(p->k, 1500));
}

static void on_pulled(void *arg, int code, int signo UNUSED, const char *text)
{
    struct kctr *c = arg;
    struct kpod *p = c->pod;
    const char *image = json_str(kubelet_pod_spec(c), "image", "");
    struct json *meta = kubelet_image_meta(p->k, image);
    char took[32];
    c->child = NULL;
    c->busy = KCTR_IDLE;
    if (code != 0 || !meta) {
        char why[900];
        str_copy(why, sizeof why, *text ? text : "the puller was killed");
        why[strcspn(why, "\n")] = '\0';
        failed(c, why);
    } else {
        duration(clock_ms() - c->busy_since_ms, took);
        kubelet_event(p, c, "Normal", "Pulled",
                      "Successfully pulled image \"%s\" in %s (%s including waiting). Image size: "
                      "%" PRId64 " bytes.",
                      image, took, took, json_int(meta, "bytes", 0));
        c->pull_backoff_ms = 0;
        c->pull_error[0] = '\0';
        str_copy(c->image_id, sizeof c->image_id, json_str(meta, "image_id", ""));
        kubelet_ctr_create(c, meta);
    }
    json_free(meta);
}

static void pull(struct kctr *c, const char *image)
{
    struct pd_err err;
    struct kubelet *k = c->pod->k;
    char *store = kubelet_image_store(k), sub[] = "pull-image";
    char *argv[] = {k->self, sub, store, (char *)(uintptr_t)api_registry_host(k->api),
                    (char *)(uintptr_t)api_ca_file(k->api), (char *)(uintptr_t)image, NULL};
    struct child_spec spec = {.argv = argv, .want_stdin = true, .exit = on_pulled, .arg = c};
    kubelet_event(c->pod, c, "Normal", "Pulling", "Pulling image \"%s\"", image);
    c->busy = KCTR_PULLING;
    if (child_start(k->loop, &spec, &c->child, &err) != PD_OK) {
        failed(c, err.msg);
    } else {
        const char *token = api_system_token(k->api);      /* never on a command line */
        if (token)
            child_write(c->child, token, strlen(token));
        child_close_stdin(c->child);
    }
    free(store);
}

static void invalid(struct kctr *c, const char *image, const char *why)
{
    char text[600];
    str_fmt(text, sizeof text,
            "Failed to apply default image tag \"%s\": couldn't parse image name \"%s\": %.200s",
            image, image, why);
    kubelet_event(c->pod, c, "Warning", "InspectFailed", "%s", text);
    kubelet_event(c->pod, c, "Warning", "Failed", "Error: InvalidImageName");
    kubelet_ctr_wait(c, "InvalidImageName", "%s", text);
    c->invalid_image = true;            /* no time will mend it */
}

static bool still_backing_off(struct kctr *c, const char *image)
{
    if (!c->pull_error[0] || clock_ms() >= c->try_at_ms)
        return false;
    if (strcmp(c->reason, "ImagePullBackOff") != 0) {
        kubelet_event(c->pod, c, "Normal", "BackOff", "Back-off pulling image \"%s\"", image);
        kubelet_event(c->pod, c, "Warning", "Failed", "Error: ImagePullBackOff");
        kubelet_ctr_wait(c, "ImagePullBackOff", "Back-off pulling image \"%s\": %s", image,
                         c->pull_error);
    }
    kubelet_wake(c->pod, c->try_at_ms - clock_ms());
    return true;
}

void kubelet_image_ensure(struct kctr *c)
{
    struct pd_err err;
    struct image_ref ref;
    const struct json *spec = kubelet_pod_spec(c);
    const char *image = json_str(spec, "image", "");
    if (ref_parse(image, &ref, &err) != PD_OK) {
        invalid(c, image, err.msg);
        return;
    }
    const char *policy = json_str(spec, "imagePullPolicy",
                                  ref.default_tag || strcmp(ref.tag, "latest") == 0
                                      ? "Always" : "IfNotPresent");
    struct json *meta = strcmp(policy, "Always") == 0 ? NULL
                                                      : kubelet_image_meta(c->pod->k, image);
    if (meta) {
        kubelet_event(c->pod, c, "Normal", "Pulled",
                      "Container image \"%s\" already present on machine", image);
        str_copy(c->image_id, sizeof c->image_id, json_str(meta, "image_id", ""));
        kubelet_ctr_create(c, meta);
        json_free(meta);
    } else if (strcmp(policy, "Never") == 0) {
        kubelet_event(c->pod, c, "Warning", "ErrImageNeverPull",
                      "Container image \"%s\" is not present with pull policy of Never", image);
        kubelet_event(c->pod, c, "Warning", "Failed", "Error: ErrImageNeverPull");
        kubelet_ctr_wait(c, "ErrImageNeverPull",
                         "Container image \"%s\" is not present with pull policy of Never", image);
        c->try_at_ms = clock_ms() + kubelet_ctr_scaled(c->pod->k, PULL_MS);
        kubelet_wake(c->pod, kubelet_ctr_scaled(c->pod->k, PULL_MS));
    } else if (!still_backing_off(c, image)) {
        pull(c, image);
    }
}

/* --- the children ---------------------------------------------------------------------------- */

static struct json *strings(const struct strv *v)
{
    struct json *a = json_new_array();
    for (size_t i = 0; i < v->n; i++)
        json_append(a, json_new_string(v->v[i]));
    return a;
}

static enum pd_code write_meta(const struct layout *l, const char *store, const char *image,
                               const struct image_ref *ref, const struct image_desc *d,
                               struct pd_err *err)
{
    struct image *im;
    struct image_run run;
    enum pd_code rc = image_load(l, d, &im, err);
    if (rc != PD_OK)
        return rc;
    image_run_init(im, &run);
    struct json *j = json_new_object(), *config = json_new_object();
    char *path = meta_path(store, image), *id = xasprintf("%s/%s@%s", ref->registry,
                                                          ref->repository, d->digest);
    json_put_str(j, "image", image);
    json_put_str(j, "digest", d->digest);
    json_put_str(j, "image_id", id);
    json_put_num(j, "bytes", (double)im->bytes);
    json_set(config, "entrypoint", strings(&run.entrypoint));
    json_set(config, "cmd", strings(&run.cmd));
    json_set(config, "env", strings(&run.env));
    json_put_str(config, "workdir", run.workdir);
    json_put_str(config, "user", run.user);
    json_set(j, "config", config);
    char *text = json_text(j, 0), *dir = path_dir(path);
    rc = path_mkdirs(dir, 0700, err);
    if (rc == PD_OK)
        rc = path_write_atomic(path, 0600, text, strlen(text), err);
    free(dir);
    free(text);
    free(path);
    free(id);
    json_free(j);
    image_run_release(&run);
    image_free(im);
    return rc;
}

/* In the words of a CRI runtime. */
static void say(const char *image, const struct pd_err *err)
{
    if (err->code == PD_NOTFOUND)
        fprintf(stderr, "rpc error: code = NotFound desc = failed to pull and unpack image \"%s\": "
                        "failed to resolve reference \"%s\": %s: not found\n", image, image, image);
    else
        fprintf(stderr, "rpc error: code = Unknown desc = failed to pull and unpack image \"%s\": "
                        "failed to resolve reference \"%s\": %s\n", image, image, err->msg);
}

static enum pd_code read_auth(const char *host, const char *ca_file, struct registry_auth *auth,
                              struct pd_err *err)
{
    struct str ca;
    char token[4096];
    size_t n = fread(token, 1, sizeof token - 1, stdin);
    token[n] = '\0';
    str_init(&ca, 1 << 20);
    if (*ca_file && path_read(ca_file, 1 << 20, &ca, err) != PD_OK) {
        str_release(&ca);
        return err->code;
    }
    *auth = (struct registry_auth){.token = n ? xstrdup(token) : NULL, .host = xstrdup(host),
                                   .ca_pem = *ca_file ? str_take(&ca) : NULL};
    str_release(&ca);
    return PD_OK;
}

/* pull-image STORE HOST CA_FILE IMAGE; the token of HOST comes on stdin. */
int kubelet_image_pull_main(int argc, char **argv)
{
    struct pd_err err;
    struct image_ref ref;
    struct image_desc d;
    struct registry_auth auth = {0};
    struct layout *l = NULL;
    if (argc != 5)
        return 2;
    const char *store = argv[1], *host = argv[2], *image = argv[4];
    enum pd_code rc = ref_parse(image, &ref, &err);
    bool here = rc == PD_OK && strcmp(ref_api_host(&ref), host) == 0;
    if (rc == PD_OK && here)
        rc = read_auth(host, argv[3], &auth, &err);
    if (rc == PD_OK)
        rc = layout_open(store, true, &l, &err);
    if (rc == PD_OK)
        rc = registry_client_pull(l, &ref, here ? &auth : NULL, NULL, &d, &err);
    if (rc == PD_OK)
        rc = write_meta(l, store, image, &ref, &d, &err);
    if (rc != PD_OK)
        say(image, &err);
    layout_close(l);
    registry_auth_release(&auth);
    return rc != PD_OK;
}

/* unpack-image STORE DIGEST ROOTFS */
int kubelet_image_unpack_main(int argc, char **argv)
{
    struct pd_err err;
    struct layout *l = NULL;
    struct image *im = NULL;
    struct unpack_stats stats = {0};
    struct unpack_options opt = {.keep_owner = geteuid() == 0};
    struct image_desc d = {.size = -1};
    if (argc != 4)
        return 2;
    str_copy(d.digest, sizeof d.digest, argv[2]);
    str_copy(d.media_type, sizeof d.media_type, MT_OCI_MANIFEST);
    enum pd_code rc = layout_open(argv[1], false, &l, &err);
    if (rc == PD_OK)
        rc = image_load(l, &d, &im, &err);
    if (rc == PD_OK && access(argv[3], F_OK) == 0)      /* of a start that came to nothing */
        rc = path_remove_tree(argv[3], &err);
    if (rc == PD_OK)
        rc = unpack_image(l, im, argv[3], &opt, &stats, &err);
    if (rc != PD_OK)
        fprintf(stderr, "%s\n", err.msg);
    image_free(im);
    layout_close(l);
    return rc != PD_OK;
}
