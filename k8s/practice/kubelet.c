/* kubelet.c - which pods are ours, when to look at them, and their end
 * (kubelet_in.h, node.h). */
#include "k8s/practice/kubelet_in.h"

#include <dirent.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/base/log.h"
#include "core/base/mem.h"
#include "core/base/path.h"

static const char *const groups[] = {"system:nodes", "system:authenticated", NULL};
const struct api_user kubelet_user = {"system:node", groups, true, "kubelet"};

static const struct res *pods_res(void)
{
    return res_by_plural("", "pods");
}

struct kpod *kubelet_find(struct kubelet *k, const char *uid)
{
    for (struct kpod *p = k->pods; p; p = p->next)
        if (strcmp(p->uid, uid) == 0)
            return p;
    return NULL;
}

void kubelet_event(struct kpod *p, const struct kctr *c, const char *type, const char *reason,
                   const char *fmt, ...)
{
    char *field = c ? xasprintf("spec.%s{%s}", c->init ? "initContainers" : "containers", c->name)
                    : NULL;
    char text[1024];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    api_event(p->k->api, p->pod, field, type, reason, "kubelet", p->node, false, "%s", text);
    free(field);
}

static void on_wake(void *arg)
{
    struct kpod *p = arg;
    p->timer = 0;
    if (!p->k->stopped)
        kubelet_pod_sync(p);
}

void kubelet_wake(struct kpod *p, int64_t ms)
{
    int64_t due = clock_ms() + ms;
    if (p->timer && p->due_ms <= due)
        return;
    loop_timer_cancel(p->k->loop, p->timer);
    p->due_ms = due;
    p->timer = loop_timer(p->k->loop, ms, on_wake, p, "kubelet-pod");
}

/* Folders can be large: a child removes them. */
static void remove_tree(struct kubelet *k, const char *dir)
{
    struct pd_err err;
    struct child *c;
    char *argv[] = {k->self, (char *)(uintptr_t)"remove-tree", (char *)(uintptr_t)dir, NULL};
    struct child_spec spec = {.argv = argv};
    if (access(dir, F_OK) == 0 && child_start(k->loop, &spec, &c, &err) != PD_OK)
        log_write(LOG_WARN, "%s stays: %s", dir, err.msg);
}

static void release(struct kpod *p)
{
    loop_timer_cancel(p->k->loop, p->timer);
    for (size_t i = 0; i < p->n; i++)
        kubelet_ctr_release(&p->ctr[i]);
    strv_release(&p->devices);
    json_free(p->pod);
    free(p->ctr);
    free(p->ns);
    free(p->name);
    free(p->node);
    free(p->dir);
    free(p);
}

void kubelet_forget(struct kpod *gone)
{
    struct kubelet *k = gone->k;
    for (struct kpod **p = &k->pods; *p; p = &(*p)->next)
        if (*p == gone) {
            *p = gone->next;
            break;
        }
    remove_tree(k, gone->dir);
    release(gone);
}

/* --- a new pod ------------------------------------------------------------------- */

static void add_containers(struct kpod *p, const char *path, bool init)
{
    for (const struct json *c = json_first(json_at(p->pod, path)); c; c = json_next(c)) {
        struct kctr *k = &p->ctr[p->n++];
        k->pod = p;
        k->init = init;
        k->name = xstrdup(json_str(c, "name", ""));
        kubelet_ctr_init(k);
        p->inits += init;
    }
}

/* A pod has an address of its own below 127.88: it works for what listens on
 * all addresses, since the network is the machine's. */
static void give_ip(struct kpod *p)
{
    const char *old = json_str(p->pod, "status.podIP", "");
    if (*old) {
        str_copy(p->ip, sizeof p->ip, old);
        const char *tail = strrchr(old, '.'), *mid = tail;
        while (mid && mid > old && mid[-1] != '.')
            mid--;
        uint32_t n = tail && mid ? (uint32_t)(atoi(mid) * 256 + atoi(tail + 1)) : 0;
        p->k->next_ip = MAX(p->k->next_ip, n);
        return;
    }
    uint32_t n = ++p->k->next_ip;
    str_fmt(p->ip, sizeof p->ip, "127.88.%u.%u", n / 254 % 254, n % 254 + 1);
}

static void read_devices(struct kpod *p)
{
    struct pd_err err;
    struct str text;
    char *path = path_join(p->dir, "devices");
    str_init(&text, 64 << 10);
    strv_init(&p->devices);
    if (access(path, F_OK) == 0 && path_read(path, 64 << 10, &text, &err) == PD_OK) {
        strv_split(&p->devices, text.p, '\n');
        while (p->devices.n && !*p->devices.v[p->devices.n - 1])
            free(p->devices.v[--p->devices.n]);
        p->devices.v[p->devices.n] = NULL;
    }
    str_release(&text);
    free(path);
}

static struct kpod *add(struct kubelet *k, const struct json *pod)
{
    struct kpod *p = xcalloc(1, sizeof *p);
    p->k = k;
    p->pod = json_copy(pod);
    str_copy(p->uid, sizeof p->uid, kobj_uid(pod));
    p->ns = xstrdup(kobj_ns(pod));
    p->name = xstrdup(kobj_name(pod));
    p->node = xstrdup(json_str(pod, "spec.nodeName", ""));
    p->dir = xasprintf("%s/pods/%s", k->dir, p->uid);
    p->ctr = xcalloc(json_count(json_at(pod, "spec.initContainers")) +
                         json_count(json_at(pod, "spec.containers")) + 1,
                     sizeof *p->ctr);
    p->started_ms = kobj_time_ms(pod, "status.startTime");
    read_devices(p);
    give_ip(p);
    add_containers(p, "spec.initContainers", true);
    add_containers(p, "spec.containers", false);
    p->next = k->pods;
    k->pods = p;
    for (size_t i = 0; i < p->n; i++)
        kubelet_ctr_adopt(&p->ctr[i]);
    p->admitted = p->started_ms != 0;
    kubelet_wake(p, 0);
    return p;
}

static bool ours(struct kubelet *k, const struct json *pod)
{
    const char *name = json_str(pod, "spec.nodeName", "");
    struct json *node = *name ? api_get(k->api, res_by_plural("", "nodes"), NULL, name) : NULL;
    bool is = strcmp(json_str(node, "metadata.labels['podium.dev/simulated']", ""), "true") == 0;
    json_free(node);
    return is;
}

static void on_pod(void *arg, enum api_change change, const struct json *pod,
                   const struct json *old UNUSED)
{
    struct kubelet *k = arg;
    if (k->stopped)
        return;
    struct kpod *p = kubelet_find(k, kobj_uid(pod));
    if (p) {
        json_free(p->pod);
        p->pod = json_copy(pod);
        p->gone = p->gone || change == API_DELETED;
        kubelet_wake(p, 0);
    } else if (change != API_DELETED && ours(k, pod) &&
               (!kobj_terminal(pod) || kobj_deleting(pod))) {
        add(k, pod);
    }
}

/* --- start and stop ------------------------------------------------------------------ */

static void on_existing(void *arg, const struct json *pod)
{
    struct kubelet *k = arg;
    if (ours(k, pod))
        add(k, pod);
}

/* Folders of pods that are no more: their processes end, the folders go. */
static void clean_strangers(struct kubelet *k)
{
    char *dir = xasprintf("%s/pods", k->dir);
    DIR *d = opendir(dir);
    struct dirent *e;
    while (d && (e = readdir(d))) {
        if (e->d_name[0] == '.' || kubelet_find(k, e->d_name))
            continue;
        char *path = path_join(dir, e->d_name);
        remove_tree(k, path);
        free(path);
    }
    if (d)
        closedir(d);
    free(dir);
}

struct kubelet *kubelet_start(struct api *a, const struct node_options *opt)
{
    struct kubelet *k = xcalloc(1, sizeof *k);
    char *bin = path_program_dir();
    k->api = a;
    k->loop = api_loop(a);
    k->speed = kobj_speed(opt ? opt->speed : 0);
    k->dir = xstrdup(api_state_dir(a));
    k->shim = opt && opt->shim ? xstrdup(opt->shim) : path_join(bin, "podium-shim");
    k->self = opt && opt->self ? xstrdup(opt->self) : path_join(bin, "podium-practice");
    free(bin);
    api_subscribe(a, pods_res(), on_pod, k);
    api_each(a, pods_res(), NULL, on_existing, k);
    clean_strangers(k);
    struct api_kubelet_ops ops = {.log = kubelet_log, .exec = kubelet_exec, .arg = k};
    api_set_kubelet(a, &ops);
    return k;
}

void kubelet_stop(struct kubelet *k)
{
    if (!k)
        return;
    k->stopped = true;
    loop_timer_cancel(k->loop, k->log_timer);
    while (k->pods) {
        struct kpod *p = k->pods;
        k->pods = p->next;
        release(p);
    }
    free(k->shim);
    free(k->self);
    free(k->dir);
    free(k);
}
