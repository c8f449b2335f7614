/* check_words.c - the reason and the next step for each of the API server's
 * sentences (check_in.h). */
#include "k8s/rules/check_in.h"

#include "core/base/i18n.h"
#include "core/base/mem.h"

/* The first row whose end of the path and part of the sentence fit. */
static const struct {
    const char *path, *part, *cause, *why, *next;
} rows[] = {
    {"spec.restartPolicy", "valid values: \"OnFailure\"", "job-restart-policy-missing",
     N_("a Job ends, and Always, the default of a pod, would start it for ever"),
     N_("add restartPolicy: Never (a new pod at each try) or OnFailure (the same pod) to the "
        "template's spec")},
    {"restartPolicy", "Unsupported value", "restart-policy-invalid",
     N_("the value is written in one way only, capitals included"),
     N_("write one of the values named; a Job takes Never or OnFailure, a Deployment Always")},
    {"restartPolicy", "podFailurePolicy", "restart-policy-invalid",
     N_("a pod failure policy looks at pods that have ended; OnFailure restarts them in place"),
     N_("write restartPolicy: Never")},
    {"requests", "must be equal to", "extended-resource-requests-limits",
     N_("devices and huge pages can't be shared out further: request and limit must be equal"),
     N_("write limits alone (the request follows), or the same number in both")},
    {"limits", "non overcommitable", "extended-resource-requests-limits",
     N_("devices and huge pages are given by their limit; a request alone asks for nothing (both "
        "must be equal)"),
     N_("write the resource under limits")},
    {"", "must be an integer", "extended-resource-fraction",
     N_("a device can't be shared: a pod gets whole ones"), N_("write a whole number such as 1")},
    {"requests", "must be less than or equal to", "request-above-limit",
     N_("what is requested is reserved, and may not exceed the limit"),
     N_("lower the request or raise the limit")},
    {"", "HugePages require cpu or memory", "hugepages-alone",
     N_("huge pages are counted beside cpu or memory"), N_("add requests or limits of memory and "
                                                           "cpu")},
    {"", "must be a standard resource", "resource-name-invalid",
     N_("a container can ask for cpu, memory, ephemeral-storage, hugepages-SIZE, and for devices "
        "by their full name"),
     N_("write the full name of the device, such as nvidia.com/gpu or habana.ai/gaudi")},
    {"", "a valid label must be an empty string", "label-value-invalid",
     N_("a label's value holds letters, digits, '-', '_' and '.', at most 63, and begins and ends "
        "with a letter or digit"),
     N_("replace blanks and ':' by '-' or '.'; free text belongs into metadata.annotations")},
    {"labels", "must be no more than 63 characters", "label-value-invalid",
     N_("a label's value is at most 63 characters long"),
     N_("shorten it; free text belongs into metadata.annotations")},
    {"nodeSelector", "must be no more than 63 characters", "label-value-invalid",
     N_("a label's value is at most 63 characters long"), N_("use the value that the node has")},
    {"", "`selector` does not match", "selector-mismatch",
     N_("the selector must find the pods of its own template"),
     N_("write the same labels under spec.selector.matchLabels and under "
        "spec.template.metadata.labels")},
    {"labels", "", "label-key-invalid",
     N_("a label's key is PREFIX/NAME or NAME: letters, digits, '-', '_', '.', the name at most "
        "63"), N_("rename the key")},
    {"annotations", "", "annotation-invalid",
     N_("an annotation's key is PREFIX/NAME or NAME; all together hold at most 256 KiB"),
     N_("rename the key, or keep large texts in a ConfigMap")},
    {"metadata.name", "name or generateName is required", "name-missing",
     N_("the object has no name"), N_("add metadata.name")},
    {"metadata.name", "will not able to create pod", "name-invalid",
     N_("pods of an Indexed Job are called NAME-INDEX, at most 63 characters"),
     N_("take a shorter name")},
    {"name", "RFC 1123", "name-invalid",
     N_("a name holds small letters, digits and '-' (and '.' where dots are allowed), and begins "
        "and ends with a letter or digit"),
     N_("write it in small letters, with '-' instead of '_' and blanks")},
    {"name", "DNS-1035", "name-invalid",
     N_("the name of a Service begins with a small letter, then small letters, digits and '-'"),
     N_("rename it")},
    {"name", "must be no more than", "name-invalid", N_("the name is too long"),
     N_("take a shorter one")},
    {"", "RFC 1123", "name-invalid",
     N_("a name holds small letters, digits and '-' (and '.' where dots are allowed), and begins "
        "and ends with a letter or digit"),
     N_("write it in small letters, with '-' instead of '_' and blanks")},
    {"image", "Required value", "image-missing", N_("a container needs an image"),
     N_("add image: REGISTRY/NAME:TAG")},
    {"containers", "Required value", "containers-missing", N_("a pod has at least one container"),
     N_("add containers: with a name and an image to the pod's spec (in a Job: "
        "spec.template.spec)")},
    {"name", "Duplicate value", "duplicate-name", N_("the name stands twice in the list"),
     N_("give each entry a name of its own")},
    {"name", "Not found", "volume-mount-without-volume",
     N_("a container mounts a volume that the pod does not have"),
     N_("add the volume to volumes: of the pod's spec, or correct the name")},
    {"mountPath", "must be unique", "mount-path-twice", N_("two volumes can't be mounted at the "
                                                           "same place"),
     N_("give one of them another mountPath")},
    {"imagePullPolicy", "Unsupported value", "image-pull-policy-invalid",
     N_("the value is written in one way only, capitals included"),
     N_("write Always, IfNotPresent or Never")},
    {"operator", "Unsupported value", "toleration-operator",
     N_("a toleration compares with Equal or only asks whether the key Exists"),
     N_("write operator: Exists (without value) or operator: Equal (with value)")},
    {"operator", "value must be empty", "toleration-operator",
     N_("Exists asks for the key only"), N_("take value away, or write operator: Equal")},
    {"operator", "operator must be Exists", "toleration-operator",
     N_("without a key a toleration takes every taint, and then only Exists makes sense"),
     N_("add the key of the taint, or write operator: Exists")},
    {"effect", "", "toleration-effect", N_("a taint has one of three effects"),
     N_("write NoSchedule, PreferNoSchedule or NoExecute")},
    {"", "must be between 1 and 65535", "port-range", N_("a port is a number from 1 to 65535"),
     N_("correct the port")},
    {"containerPort", "Required value", "port-missing", N_("a port needs its number"),
     N_("add containerPort")},
    {"hostPort", "must match", "host-port", N_("with hostNetwork a container's port is the "
                                               "host's"),
     N_("take hostPort away")},
    {"ports", "Required value", "service-without-ports", N_("a Service needs at least one port"),
     N_("add ports: with port: and targetPort:")},
    {"activeDeadlineSeconds", "", "deadline-invalid",
     N_("the deadline of a pod is 1 second or more, that of a Job 0 or more"),
     N_("write a number of seconds, or take it away: no deadline")},
    {"", "must be greater than or equal to 0", "negative-number",
     N_("the number can't be below 0"), N_("write 0 or more, or take the field away for its "
                                           "default")},
    {"accessModes", "at least 1", "pvc-access-modes",
     N_("a claim must say how it will be mounted"), N_("add accessModes: [ReadWriteOnce]")},
    {"accessModes", "", "pvc-access-modes",
     N_("there are four access modes, written in one way only"),
     N_("write ReadWriteOnce (one node), ReadOnlyMany, ReadWriteMany (needs storage such as NFS) "
        "or ReadWriteOncePod")},
    {"resources[storage]", "Required value", "pvc-size", N_("a claim must say how much it wants"),
     N_("add resources: {requests: {storage: 10Gi}} to spec")},
    {"resources[storage]", "", "pvc-size", N_("the size of a claim is above 0"),
     N_("write such as 10Gi")},
    {"", "not auto-generated", "selector-mismatch",
     N_("a Job makes its selector itself"), N_("take spec.selector away")},
    {"selector", "empty selector", "selector-mismatch",
     N_("an empty selector would take every pod"),
     N_("add matchLabels")},
    {"selector", "Required value", "selector-mismatch", N_("the selector says which pods belong to "
                                                           "it"),
     N_("add spec.selector.matchLabels with the labels of the template")},
    {"", "field is immutable", "field-immutable",
     N_("this field can't be changed once the object is there"),
     N_("delete the object and create it anew, or give the new one another name")},
    {"", "pod updates may not change fields", "field-immutable",
     N_("of a pod that is there only its image and a few more fields can be changed"),
     N_("delete the pod and create it anew, or let a Job or Deployment make pods")},
    {"", "spec is immutable after creation", "field-immutable",
     N_("of a claim that is there only the size can be changed"),
     N_("delete the claim (its data may go too) and create it anew, or take another name")},
    {"", "when `immutable` is set", "field-immutable",
     N_("the object was made immutable: true"), N_("make a new one under another name")},
    {"completions", "when completion mode is Indexed", "completions-missing",
     N_("an Indexed Job counts to completions"), N_("add completions")},
    {"", "requires indexed completion mode", "completion-mode",
     N_("the field is for Jobs whose pods have an index"), N_("add completionMode: Indexed and "
                                                              "completions, or take it away")},
    {"", "may not specify more than 1 volume type", "volume-two-types",
     N_("a volume has one source"), N_("make two volumes of it")},
    {"type", "BlockDevice", "host-path-type", N_("hostPath has a few types, written in one way "
                                                 "only"),
     N_("write Directory, DirectoryOrCreate, File or FileOrCreate, or take type away")},
    {"claimName", "Required value", "claim-name-missing", N_("the volume must name its claim"),
     N_("add persistentVolumeClaim: {claimName: NAME}")},
    {"", "may not be specified when `value` is not empty", "env-two-values",
     N_("a variable has a value or a valueFrom, not both"), N_("keep one of them")},
    {"", "must specify one of", "source-missing", N_("it must say where the value comes from"),
     N_("add one of the fields named")},
    {"", "a valid environment variable name", "env-name-invalid",
     N_("the name of a variable can't hold '=' or what can't be printed"), N_("rename it")},
    {"", "a valid config key", "data-key-invalid",
     N_("a key of data becomes a file's name: letters, digits, '-', '_' and '.'"),
     N_("rename it; a folder can't be written as a/b")},
    {"", "Too long: may not be more than 1048576", "too-large",
     N_("all data of a ConfigMap or Secret together holds at most 1 MiB"),
     N_("put large files on a volume (PVC) or into the image")},
    {"", "Unsupported value", "value-not-supported",
     N_("the field takes a few values, written in one way only"),
     N_("write one of the values named")},
    {"", "Required value", "field-missing", N_("the field must be there"), N_("add it")},
    {"", "Duplicate value", "duplicate-name", N_("the entry stands twice"),
     N_("keep one of the two")},
    {"", "", "invalid", N_("the API server refuses the value"), N_("correct the field named")}};

/* The path without what stands in brackets at its end. */
static bool ends_with(const char *path, const char *end)
{
    if (!*end)
        return true;
    size_t n = strlen(path), m = strlen(end);
    return n >= m && !strcmp(path + n - m, end) &&
           (n == m || strchr(".[", path[n - m - 1]) || strchr(".[", end[0]));
}

static bool within(const char *path, const char *list)
{
    char part[64];
    str_fmt(part, sizeof part, "%s[", list);
    return strstr(path, part) != NULL;
}

void check_words(struct check_finding *f)
{
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        bool fits = (ends_with(f->path, rows[i].path) || within(f->path, rows[i].path)) &&
                    strstr(f->said, rows[i].part);
        if (!fits)
            continue;
        str_copy(f->cause, sizeof f->cause, rows[i].cause);
        check_say(f, xstrdup(_(rows[i].why)), xstrdup(_(rows[i].next)));
        break;
    }
}
