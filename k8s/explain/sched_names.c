/* sched_names.c - the tables of sched_names.h. */
#include "k8s/explain/sched_names.h"

#include "core/base/i18n.h"
#include "core/base/str.h"

static const struct sched_name mig_mixed = {
    "mig-resource-name",
    N_("The pod asks for whole GPUs (%s), but node %s is cut into MIG slices and offers %s."),
    N_("Ask for a slice by its name, for example %s: 1, or have the node use the MIG strategy "
       "single.")};
static const struct sched_name mig_none = {"mig-resource-name",
                                           N_("The pod asks for the MIG slice %s; node %s is not "
                                              "cut that way and offers %s."),
                                           N_("Ask for %s.")};
static const struct sched_name shared = {"resource-name-renamed",
                                         N_("The pod asks for %s, but node %s shares its GPUs and "
                                            "offers them as %s."),
                                         N_("Ask for %s, knowing that memory is not kept apart.")};
static const struct sched_name wrong = {
    "resource-name-wrong", N_("No node offers a resource named %s; node %s offers %s."),
    N_("Write the name as the node announces it: %s.")};

/* Part before the slash. */
static bool same_vendor(const char *a, const char *b)
{
    size_t n = strcspn(a, "/");
    return a[n] == '/' && strncmp(a, b, n + 1) == 0;
}

static bool family(const char *a, const char *b)
{
    static const char *const words[] = {"habana", "gaudi", "nvidia", "gpu.intel", "amd.com"};
    for (size_t i = 0; i < ARRAY_LEN(words); i++)
        if (strstr(a, words[i]) && (strstr(b, words[i]) || (i < 2 && strstr(b, words[1 - i]))))
            return true;
    return false;
}

const struct sched_name *sched_names(const char *asked, const char *offered)
{
    bool mig_asked = strstr(asked, "/mig-") != NULL, mig_offered = strstr(offered, "/mig-") != NULL;
    const char *one[] = {offered};
    if (str_eq(asked, offered) || !strchr(offered, '/'))
        return NULL;
    if (str_eq(asked, "nvidia.com/gpu") && mig_offered)
        return &mig_mixed;
    if (mig_asked && str_starts(offered, "nvidia.com/"))
        return &mig_none;
    if (str_eq(asked, "nvidia.com/gpu") && str_eq(offered, "nvidia.com/gpu.shared"))
        return &shared;
    if (same_vendor(asked, offered) || family(asked, offered) || str_nearest(asked, one, 1))
        return &wrong;
    return NULL;
}

const struct sched_plugin *sched_plugin_of(const char *resource)
{
    static const struct sched_plugin plugins[] = {
        {"nvidia.com/", "nvidia-device-plugin-daemonset", "gpu-operator"},
        {"habana.ai/", "habanalabs-device-plugin-daemonset", "habana-system"},
        {"gpu.intel.com/", "intel-gpu-plugin", "inteldeviceplugins-system"}};
    for (size_t i = 0; i < ARRAY_LEN(plugins); i++)
        if (str_starts(resource, plugins[i].vendor))
            return &plugins[i];
    return NULL;
}

const struct sched_message sched_messages[] = {
    {"untolerated taint", "untolerated-taint",
     N_("Nodes have a taint that the pod does not tolerate."),
     N_("Add a toleration for the taint of the node that is meant.")},
    {"had taint", "untolerated-taint", N_("Nodes have a taint that the pod does not tolerate."),
     N_("Add a toleration for the taint of the node that is meant.")},
    {"Insufficient ", "insufficient-resource",
     N_("No node has enough %s free for what the pod asks."),
     N_("Ask for less, wait until others end, or ask whether a node offers it at all.")},
    {"node affinity/selector", "node-selector-no-match",
     N_("No node matches the pod's nodeSelector or node affinity."),
     N_("Compare the selector with the labels of the nodes.")},
    {"existing pods anti-affinity", "pod-anti-affinity",
     N_("Pods that run already do not want this one beside them (their anti-affinity selects its "
        "labels)."),
     N_("Wait until those pods have ended, or give this one labels that they do not select.")},
    {"pod anti-affinity", "pod-anti-affinity",
     N_("The pod's anti-affinity keeps it from every node."),
     N_("Free a node, or make the anti-affinity preferred.")},
    {"pod affinity", "pod-affinity-no-match",
     N_("The pod's affinity to other pods leaves no node."),
     N_("See where the pods run that it wants to stand beside.")},
    {"were unschedulable", "node-cordoned", N_("Nodes are cordoned: they take no new pods."),
     N_("Ask who cordoned them and why.")},
    {"Too many pods", "too-many-pods", N_("Nodes hold as many pods as they may."),
     N_("Delete pods that have ended, or ask for another node.")},
    {"free ports", "host-port-conflict", N_("The host port that the pod asks for is taken."),
     N_("Use a Service instead of hostPort, or another port.")},
    {"topology spread", "topology-spread",
     N_("The pod's topology spread constraints leave no node."),
     N_("Set whenUnsatisfiable: ScheduleAnyway, or free nodes in the other zones.")},
};
const size_t sched_messages_n = ARRAY_LEN(sched_messages);
