/* node.c - the three simulated nodes, their heartbeat, and the start of all
 * parts (node.h). */
#include "k8s/practice/node.h"

#include <dirent.h>
#include <sys/socket.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/base/log.h"
#include "core/base/mem.h"
#include "core/base/path.h"
#include "k8s/image/image_cmd.h"
#include "k8s/practice/kobj.h"
#include "k8s/practice/kubelet_in.h"
#include "k8s/practice/shim.h"

enum { LEASE_MS = 10000, STATUS_MS = 300000 };

struct node {
    struct api *api;
    struct scheduler *scheduler;
    struct job_controller *jobs;
    struct pvc_controller *pvcs;
    struct gc *gc;
    struct kubelet *kubelet;
    uint32_t lease, status;
    bool stopped;
};

static const char *const groups[] = {"system:nodes", "system:authenticated", NULL};
static const struct api_user node_user = {"system:node", groups, true, "kubelet"};

/* What the classroom's cluster would have; the memory and processors of the
 * machine that runs it may be less, hence "simulated". */
static const struct machine {
    const char *name, *ip, *labels, *taints, *capacity, *allocatable;
} machines[] = {
    {"xeon-0", "127.77.0.1",
     "{\"feature.node.kubernetes.io/cpu-model.vendor_id\":\"Intel\","
     "\"feature.node.kubernetes.io/cpu-cpuid.AMXTILE\":\"true\","
     "\"feature.node.kubernetes.io/cpu-cpuid.AMXBF16\":\"true\","
     "\"feature.node.kubernetes.io/cpu-cpuid.AMXINT8\":\"true\","
     "\"feature.node.kubernetes.io/cpu-cpuid.AVX512F\":\"true\","
     "\"intel.feature.node.kubernetes.io/amx\":\"true\"}",
     NULL,
     "{\"cpu\":\"56\",\"memory\":\"480Gi\",\"ephemeral-storage\":\"400Gi\",\"pods\":\"110\","
     "\"hugepages-2Mi\":\"0\"}",
     "{\"cpu\":\"56\",\"memory\":\"480Gi\",\"ephemeral-storage\":\"380Gi\",\"pods\":\"110\","
     "\"hugepages-2Mi\":\"0\"}"},
    {"gaudi-0", "127.77.0.2",
     "{\"feature.node.kubernetes.io/cpu-model.vendor_id\":\"Intel\","
     "\"feature.node.kubernetes.io/pci-1da3.present\":\"true\","
     "\"habana.ai/gaudi.present\":\"true\",\"habana.ai/gaudi.product\":\"Gaudi3\"}",
     "[{\"key\":\"habana.ai/gaudi\",\"value\":\"true\",\"effect\":\"NoSchedule\"}]",
     "{\"cpu\":\"96\",\"memory\":\"1024Gi\",\"ephemeral-storage\":\"800Gi\",\"pods\":\"110\","
     "\"hugepages-2Mi\":\"0\",\"habana.ai/gaudi\":\"8\"}",
     "{\"cpu\":\"96\",\"memory\":\"1024Gi\",\"ephemeral-storage\":\"760Gi\",\"pods\":\"110\","
     "\"hugepages-2Mi\":\"0\",\"habana.ai/gaudi\":\"8\"}"},
    {"nvidia-0", "127.77.0.3",
     "{\"feature.node.kubernetes.io/pci-10de.present\":\"true\",\"nvidia.com/gpu.present\":"
     "\"true\",\"nvidia.com/gpu.count\":\"2\",\"nvidia.com/gpu.product\":\"NVIDIA-L40S\"}",
     NULL,
     "{\"cpu\":\"32\",\"memory\":\"256Gi\",\"ephemeral-storage\":\"400Gi\",\"pods\":\"110\","
     "\"hugepages-2Mi\":\"0\",\"nvidia.com/gpu\":\"2\"}",
     "{\"cpu\":\"32\",\"memory\":\"256Gi\",\"ephemeral-storage\":\"380Gi\",\"pods\":\"110\","
     "\"hugepages-2Mi\":\"0\",\"nvidia.com/gpu\":\"2\"}"},
};

static const char note[] =
    "This node is simulated: its processors, memory and accelerators are figures for practice. "
    "Its pods are real processes of this machine, and share its network.";

/* --- node objects ------------------------------------------------------------------- */

static struct json *metadata(const struct machine *m)
{
    struct json *meta = json_new_object(), *labels = json_from(m->labels);
    struct json *notes = json_new_object();
    json_put_str(meta, "name", m->name);
    json_put_str(labels, "kubernetes.io/hostname", m->name);
    json_put_str(labels, "kubernetes.io/os", "linux");
    json_put_str(labels, "kubernetes.io/arch", "amd64");
    json_put_str(labels, "beta.kubernetes.io/os", "linux");
    json_put_str(labels, "beta.kubernetes.io/arch", "amd64");
    json_put_str(labels, "podium.dev/simulated", "true");
    json_set(meta, "labels", labels);
    json_put_str(notes, "podium.dev/simulated", note);
    json_set(meta, "annotations", notes);
    return meta;
}

static struct json *machine_info(void)
{
    struct utsname u;
    struct pd_err err;
    struct str id;
    struct json *info = json_new_object();
    char machine[64] = "", boot[64] = "";
    str_init(&id, 256);
    if (path_read("/etc/machine-id", 256, &id, &err) == PD_OK)
        str_fmt(machine, sizeof machine, "%.32s", id.p);
    str_clear(&id);
    if (path_read("/proc/sys/kernel/random/boot_id", 256, &id, &err) == PD_OK)
        str_fmt(boot, sizeof boot, "%.36s", id.p);
    str_release(&id);
    uname(&u);
    json_put_str(info, "machineID", machine);
    json_put_str(info, "systemUUID", machine);
    json_put_str(info, "bootID", boot);
    json_put_str(info, "kernelVersion", u.release);
    json_put_str(info, "osImage", "Debian GNU/Linux 12 (bookworm)");
    json_put_str(info, "containerRuntimeVersion", "podium://" PODIUM_VERSION);
    json_put_str(info, "kubeletVersion", "v1.34.4");
    json_put_str(info, "kubeProxyVersion", "");
    json_put_str(info, "operatingSystem", "linux");
    json_put_str(info, "architecture", "amd64");
    return info;
}

static void put_conditions(struct json *node)
{
    static const struct {
        const char *type, *status, *reason, *message;
    } all[] = {
        {"MemoryPressure", "False", "KubeletHasSufficientMemory",
         "kubelet has sufficient memory available"},
        {"DiskPressure", "False", "KubeletHasNoDiskPressure", "kubelet has no disk pressure"},
        {"PIDPressure", "False", "KubeletHasSufficientPID",
         "kubelet has sufficient PID available"},
        {"Ready", "True", "KubeletReady", "kubelet is posting ready status"},
    };
    char now[36];
    for (size_t i = 0; i < ARRAY_LEN(all); i++)
        kobj_condition(node, all[i].type, all[i].status, all[i].reason, all[i].message, false);
    struct json *list = json_at_mut(node, "status.conditions");
    for (struct json *c = json_first_mut(list); c; c = json_next_mut(c)) {
        json_remove(c, "lastProbeTime");
        json_put_str(c, "lastHeartbeatTime", kobj_now(now));
    }
}

static void put_status(const struct machine *m, struct json *node)
{
    struct json *st = kobj_member(node, "status"), *addresses = json_new_array();
    const struct {
        const char *type, *address;
    } a[] = {{"InternalIP", m->ip}, {"Hostname", m->name}};
    for (size_t i = 0; i < ARRAY_LEN(a); i++) {
        struct json *one = json_new_object();
        json_put_str(one, "type", a[i].type);
        json_put_str(one, "address", a[i].address);
        json_append(addresses, one);
    }
    json_set(st, "addresses", addresses);
    json_set(st, "capacity", json_from(m->capacity));
    json_set(st, "allocatable", json_from(m->allocatable));
    json_set(st, "nodeInfo", machine_info());
    json_set(st, "daemonEndpoints", json_from("{\"kubeletEndpoint\":{\"Port\":10250}}"));
    put_conditions(node);
}

static void make_node(struct node *n, const struct machine *m)
{
    const struct res *res = res_by_plural("", "nodes");
    struct json *node = api_get(n->api, res, NULL, m->name);
    struct api_result r;
    if (!node) {
        node = json_from("{\"apiVersion\":\"v1\",\"kind\":\"Node\",\"spec\":{}}");
        json_set(node, "metadata", metadata(m));
        if (m->taints)
            json_set(json_get_mut(node, "spec"), "taints", json_from(m->taints));
        put_status(m, node);
        api_create(n->api, &node_user, res, NULL, node, &r);
        if (r.code >= 400)
            log_write(LOG_ERROR, "node %s: %s", m->name, kobj_result_message(&r));
        api_result_release(&r);
        json_free(node);
        node = api_get(n->api, res, NULL, m->name);
    }
    if (node) {
        put_status(m, node);
        kobj_write(n->api, &node_user, "status", node, NULL, 0);
    }
    json_free(node);
}

/* --- heartbeat: leases, which the store does not keep --------------------------------- */

static void renew(struct node *n, const char *name)
{
    const struct res *res = res_by_plural("coordination.k8s.io", "leases");
    struct json *lease = res ? api_get(n->api, res, "kube-node-lease", name) : NULL;
    struct api_result r;
    char now[36];
    bool fresh = !lease;
    if (!res)
        return;
    if (fresh) {
        lease = json_from("{\"apiVersion\":\"coordination.k8s.io/v1\",\"kind\":\"Lease\","
                          "\"metadata\":{\"namespace\":\"kube-node-lease\"},"
                          "\"spec\":{\"leaseDurationSeconds\":40}}");
        json_put_path(lease, "metadata.name", json_new_string(name));
        json_put_path(lease, "spec.holderIdentity", json_new_string(name));
    }
    clock_rfc3339(clock_wall_ms() * 1000, 6, now);
    json_put_path(lease, "spec.renewTime", json_new_string(now));
    if (fresh) {
        api_create(n->api, &node_user, res, "kube-node-lease", lease, &r);
        api_result_release(&r);
    } else {
        kobj_write(n->api, &node_user, NULL, lease, NULL, 0);
    }
    json_free(lease);
}

static void on_lease(void *arg)
{
    struct node *n = arg;
    if (n->stopped)
        return;
    for (size_t i = 0; i < ARRAY_LEN(machines); i++) {
        struct json *node = api_get(n->api, res_by_plural("", "nodes"), NULL, machines[i].name);
        if (node)
            renew(n, machines[i].name);
        json_free(node);
    }
    n->lease = loop_timer(api_loop(n->api), LEASE_MS, on_lease, n, "node-lease");
}

static void on_status(void *arg)
{
    struct node *n = arg;
    if (n->stopped)
        return;
    for (size_t i = 0; i < ARRAY_LEN(machines); i++) {
        struct json *node = api_get(n->api, res_by_plural("", "nodes"), NULL, machines[i].name);
        if (node) {
            put_conditions(node);
            kobj_write(n->api, &node_user, "status", node, NULL, 0);
        }
        json_free(node);
    }
    n->status = loop_timer(api_loop(n->api), STATUS_MS, on_status, n, "node-status");
}

/* --- start and stop --------------------------------------------------------------------- */

struct node *node_start(struct api *a, const struct node_options *opt)
{
    struct node *n = xcalloc(1, sizeof *n);
    double speed = kobj_speed(opt ? opt->speed : 0);
    n->api = a;
    if (!opt || !opt->no_nodes)
        for (size_t i = 0; i < ARRAY_LEN(machines); i++)
            make_node(n, &machines[i]);
    n->gc = gc_start(a);
    n->pvcs = pvc_controller_start(a);
    n->jobs = job_controller_start(a, speed);
    n->kubelet = kubelet_start(a, opt);
    n->scheduler = scheduler_start(a, speed);
    on_lease(n);
    n->status = loop_timer(api_loop(a), STATUS_MS, on_status, n, "node-status");
    return n;
}

void node_stop(struct node *n)
{
    if (!n)
        return;
    n->stopped = true;
    loop_timer_cancel(api_loop(n->api), n->lease);
    loop_timer_cancel(api_loop(n->api), n->status);
    scheduler_stop(n->scheduler);
    kubelet_stop(n->kubelet);
    job_controller_stop(n->jobs);
    pvc_controller_stop(n->pvcs);
    gc_stop(n->gc);
    free(n);
}

/* Every container folder below state_dir/pods: pods/UID/ctr/NAME/ATTEMPT. */
static void each_container(const char *dir, int depth, void (*fn)(void *, const char *), void *arg)
{
    DIR *d = opendir(dir);
    struct dirent *e;
    while (d && (e = readdir(d))) {
        if (e->d_name[0] == '.')
            continue;
        char *path = path_join(dir, e->d_name);
        if (depth == 1 && strcmp(e->d_name, "ctr") != 0)
            ;                           /* logs, volumes, devices */
        else if (depth == 3)
            fn(arg, path);
        else
            each_container(path, depth + 1, fn, arg);
        free(path);
    }
    if (d)
        closedir(d);
}

struct stopping {
    int64_t grace_ms;
    int alive;
};

static void stop_one(void *arg, const char *dir)
{
    struct stopping *s = arg;
    struct str out;
    char text[32];
    int fd = shim_alive(dir) ? shim_connect(dir) : -1;
    if (fd < 0)
        return;
    str_init(&out, 256);
    str_fmt(text, sizeof text, "%" PRId64, s->grace_ms);
    shim_frame(&out, SHIM_STOP, text, strlen(text));
    if (send(fd, out.p, out.len, MSG_NOSIGNAL) == (ssize_t)out.len)
        s->alive++;
    str_release(&out);
    close(fd);
}

static void count_alive(void *arg, const char *dir)
{
    *(int *)arg += shim_alive(dir);
}

int node_stop_pods(const char *state_dir, int64_t grace_ms)
{
    struct stopping s = {grace_ms, 0};
    char *dir = path_join(state_dir, "pods");
    each_container(dir, 0, stop_one, &s);
    for (int64_t end = clock_ms() + grace_ms + 1000; s.alive && clock_ms() < end; usleep(20000)) {
        int left = 0;
        each_container(dir, 0, count_alive, &left);
        if (left == 0)
            break;
    }
    free(dir);
    return s.alive;
}

/* --- children ------------------------------------------------------------------------------ */

static void end_one(void *arg, const char *dir)
{
    (void)arg;
    stop_one(&(struct stopping){0, 0}, dir);
    for (int i = 0; i < 200 && shim_alive(dir); i++)
        usleep(20000);
}

/* Only what lies in pods/ has containers: in a volume or an image a folder "ctr"
 * is somebody else's, and its "sock" may lead anywhere. */
static bool is_pod(const char *dir)
{
    char *above = path_dir(dir);
    bool is = strcmp(path_base(above), "pods") == 0;
    free(above);
    return is;
}

/* remove-tree DIR...: of a pod: its processes end first. */
static int remove_main(int argc, char **argv)
{
    struct pd_err err;
    int code = 0;
    for (int i = 1; i < argc; i++) {
        if (is_pod(argv[i]))
            each_container(argv[i], 1, end_one, NULL);
        if (access(argv[i], F_OK) == 0 && path_remove_tree(argv[i], &err) != PD_OK) {
            fprintf(stderr, "%s\n", err.msg);
            code = 1;
        }
    }
    return code;
}

bool node_child_main(int argc, char **argv, int *code)
{
    static const struct {
        const char *name;
        int (*fn)(int argc, char **argv);
    } children[] = {{"pull-image", kubelet_image_pull_main},
                    {"unpack-image", kubelet_image_unpack_main},
                    {"remove-tree", remove_main},
                    {"image", image_main}};
    for (size_t i = 0; argc > 1 && i < ARRAY_LEN(children); i++)
        if (strcmp(argv[1], children[i].name) == 0) {
            *code = children[i].fn(argc - 1, argv + 1);
            return true;
        }
    return false;
}
