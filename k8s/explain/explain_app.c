/* explain_app.c - causes that the program itself names in its log, read only of a
 * pod that fails (dx.h). */
#include "k8s/explain/dx.h"

/* --- with a look at the pod ------------------------------------------------------------ */
static const struct json *mount_of(const struct dx *d, const char *path, const char **at)
{
    const struct json *best = NULL;
    size_t most = 0;
    for (const struct json *m = json_first(json_get(d->c.spec, "volumeMounts")); m;
         m = json_next(m)) {
        const char *p = json_str(m, "mountPath", "-");
        size_t n = strlen(p);
        if (strncmp(path, p, n) == 0 && (path[n] == '/' || path[n] == '\0') && n > most) {
            best = m;
            most = n;
            *at = p;
        }
    }
    return best;
}

static bool args_in_one(struct dx *d)
{
    const char *line = dx_log(d, "unrecognized arguments");
    int i = 0;
    if (!line)
        return false;
    for (const struct json *a = json_first(json_get(d->c.spec, "args")); a; a = json_next(a), i++) {
        const char *text = json_string_value(a);
        if (!text || text[0] != '-' || !strchr(text, ' '))
            continue;
        dx_found(d, "args-not-split", W_APP + 5, SURE_CERTAIN,
                 _("One item of args holds several words (\"%s\"): the program gets them as one "
                   "argument "
                   "(exit code %d)."),
                 text, d->c.code);
        dx_cite_end(d, line);
        dx_cite(d, "%s.args[%d]", d->c.at_spec, i);
        dx_fix(d, "%s",
               _("Give each word its own list item in args (separate items), or write "
                 "--option=value."));
        return true;
    }
    dx_found(d, "argument-unknown", W_APP, SURE_CERTAIN,
             _("The program does not know an option that it was given: %s"), line);
    dx_cite_end(d, line);
    dx_cite(d, "%s.args", d->c.at_spec);
    dx_cite(d, "%s.command", d->c.at_spec);
    dx_fix(d, "%s", _("Compare with --help of this version of the program."));
    return true;
}

static const struct json *shm_volume(const struct dx *d, int *index)
{
    for (const struct json *m = json_first(json_get(d->c.spec, "volumeMounts")); m;
         m = json_next(m)) {
        if (!str_eq(json_str(m, "mountPath", ""), "/dev/shm"))
            continue;
        *index = 0;
        for (const struct json *v = json_first(json_at(d->o, "spec.volumes")); v;
             v = json_next(v), (*index)++)
            if (str_eq(json_str(v, "name", ""), json_str(m, "name", "-")))
                return v;
    }
    return NULL;
}

static void shm_full(struct dx *d, const char *line)
{
    dx_found(d, "shm-too-small", W_APP + 5, SURE_CERTAIN, "%s",
             _("Bus error: /dev/shm is full. Nothing is mounted there, so it has the runtime's 64 "
               "MB, too little for the data loader's workers or NCCL."));
    dx_cite_end(d, line);
    dx_cite(d, "%s.volumeMounts", d->c.at_spec);
    dx_fix(d, "%s",
           _("Mount an emptyDir with medium: Memory at /dev/shm (it counts against the memory "
             "limit), or use num_workers 0."));
}

/* The mounts whose files a program may map. */
static void mapped_mounts(struct dx *d)
{
    for (const struct json *m = json_first(json_get(d->c.spec, "volumeMounts")); m;
         m = json_next(m)) {
        const char *mount = json_str(m, "mountPath", "");
        int i = 0;
        if (str_starts(mount, "/dev/shm") || str_starts(mount, "/var/run/secrets"))
            continue;
        dx_line(d,
                _("Files that can be mapped lie below %s; one that was truncated or is still being "
                  "copied ends like this."),
                mount);
        for (const struct json *v = json_first(json_at(d->o, "spec.volumes")); v;
             v = json_next(v), i++)
            if (str_eq(json_str(v, "name", ""), json_str(m, "name", "-")) && json_has(v, "nfs"))
                dx_cite(d, "spec.volumes[%d].nfs.path", i);
    }
}

static const char *bus_line(struct dx *d)
{
    static const char *const words[] = {"Bus error", "bus error encountered",
                                        "insufficient shared memory"};
    const char *full = dx_log(d, "No space left on device");
    for (size_t i = 0; i < ARRAY_LEN(words); i++)
        if (dx_log(d, words[i]))
            return dx_log(d, words[i]);
    return full && strstr(full, "/dev/shm") ? full : NULL;
}

static bool bus_error(struct dx *d)
{
    const char *line = bus_line(d), *at = NULL;
    int index = 0;
    if (!line && d->c.code != 135)
        return false;
    const struct json *shm = shm_volume(d, &index);
    if (!shm && !json_bool(d->o, "spec.hostIPC", false)) {
        shm_full(d, line);
        return true;
    }
    const char *path = dx_between(d, d->s->log, "stat ", ": ");
    const char *file = path && path[0] == '/' && mount_of(d, path, &at) ? path : NULL;
    dx_found(d, "bus-error-file-backed", W_APP + 5, SURE_LIKELY,
             _("Bus error, and /dev/shm is large (%s): a mapped (mmap) file became shorter than "
               "the program expects%s%s."),
             json_str(shm, "emptyDir.sizeLimit", "hostIPC"), file ? ": " : "", file ? file : "");
    mapped_mounts(d);
    dx_cite_end(d, file ? dx_log(d, "stat ") : line);
    dx_cite_log(d, line);
    dx_cite(d, "spec.volumes[%d].emptyDir.sizeLimit", index);
    dx_fix(d, "%s",
           _("Compare the file's size and checksum with the original, restore it, and train only "
             "when the copy is complete."));
    return true;
}

static bool forbidden(struct dx *d)
{
    const char *line = dx_log(d, "system:serviceaccount:");
    const char *who = line ? dx_between(d, line, "system:serviceaccount:", "\"\\ ") : NULL;
    const char *verb = line ? dx_between(d, line, "cannot ", " ") : NULL;
    const char *what = line ? dx_between(d, line, "resource ", " ") : NULL;
    struct str plain;
    if (!who || !verb || !what)
        return false;
    str_init(&plain, 128);
    for (const char *p = what; *p; p++)
        if (*p != '"' && *p != '\\')
            str_addc(&plain, *p);
    dx_found(d, "rbac-forbidden-in-pod", W_APP + 6, SURE_CERTAIN,
             _("The program in the pod asks the Kubernetes API as its service account "
               "system:serviceaccount:%s, which may not %s %s."),
             who, verb, plain.p);
    dx_cite_end(d, line);
    dx_cite(d, "spec.serviceAccountName");
    dx_fix(d,
           _("Bind a Role that allows %s on %s to a service account of namespace %s, and name it "
             "in "
             "serviceAccountName."),
           verb, plain.p, d->ns);
    dx_command(d, "kubectl -n %s auth can-i %s %s --as system:serviceaccount:%s", d->ns, verb,
               plain.p, who);
    str_release(&plain);
    return true;
}

static bool file_missing(struct dx *d)
{
    const char *line = dx_log(d, "FileNotFoundError");
    if (!line)
        line = dx_log(d, "can't open file");
    const char *path = line ? dx_between(d, line, "'", "'") : NULL, *at = NULL;
    if (!path)
        return false;
    dx_found(d, "application-file-not-found", W_APP, SURE_CERTAIN,
             _("The program does not find the file %s."), path);
    if (path[0] == '/' && mount_of(d, path, &at))
        dx_line(d, _("A volume is mounted at %s: the file is not on it."), at);
    else if (path[0] == '/')
        dx_line(d,
                _("No volume is mounted there: the path is inside the image. Mounts of %s: %zu."),
                d->c.name, json_count(json_get(d->c.spec, "volumeMounts")));
    dx_cite_end(d, line);
    dx_cite(d, "%s.volumeMounts", d->c.at_spec);
    dx_fix(d, _("Correct the path, or put %s there."), path);
    return true;
}

static bool permission(struct dx *d)
{
    const char *line = dx_log(d, "PermissionError");
    if (!line)
        line = dx_log(d, "Permission denied");
    const char *path = line ? dx_between(d, line, "'", "'") : NULL, *at = NULL;
    if (!line || d->c.code == 126)
        return false;
    bool mounted = path && path[0] == '/' && mount_of(d, path, &at);
    if (mounted)
        dx_found(d, "volume-permission-denied", W_APP, SURE_CERTAIN,
                 _("The program may not write or read %s on the volume mounted at %s: the files "
                   "belong to "
                   "another user than the one it runs as."),
                 path, at);
    else
        dx_found(d, "permission-denied", W_APP, SURE_LIKELY,
                 _("The program may not use a file: %s"), line);
    dx_cite_end(d, line);
    dx_cite(d, "spec.securityContext");
    dx_cite(d, "%s.securityContext", d->c.at_spec);
    if (path && strstr(path, "/.cache"))
        dx_fix(d, "%s",
               _("Caches go to the home folder: set HF_HOME (or HOME) to a folder that may be "
                 "written, on a volume."));
    dx_fix(d, "%s",
           mounted ? _("Set securityContext.fsGroup of the pod to a group that may, or change the "
                       "owner on the server (NFS ignores fsGroup).")
                   : _("Check runAsUser and the owner of the file in the image."));
    return true;
}

/* The program, or what starts it, is for another processor than the node's. */
static bool other_processor(struct dx *d)
{
    const char *line = dx_log(d, "exec format error");
    const struct snap_item *node =
        dx_find(d, SNAP_NODES, NULL, json_str(d->o, "spec.nodeName", ""));
    const char *image = json_str(d->s->image, "architecture", "");
    const char *has = node ? json_str(node->o, "status.nodeInfo.architecture", "") : "";
    if (!line)
        return false;
    bool differ = image[0] && has[0] && !str_eq(image, has);
    if (differ)
        dx_found(d, "image-architecture-mismatch", W_APP, SURE_CERTAIN,
                 _("The image is built for %s, the node %s is %s (exec format error)."), image,
                 json_str(d->o, "spec.nodeName", ""), has);
    else
        dx_found(d, "image-architecture-mismatch", W_APP, SURE_CERTAIN,
                 _("The program is built for another processor, or is a script without its first "
                   "line: %s"),
                 line);
    dx_cite_end(d, line);
    dx_cite_image(d, "architecture");
    dx_cite_item(d, node, "status.nodeInfo.architecture");
    dx_cite(d, "%s.image", d->c.at_spec);
    dx_fix(d, "%s",
           _("Build the image for the node's architecture, or select nodes of the image's."));
    return true;
}

/* A child was killed: inside a container with a limit that is the kernel's doing. */
static bool child_killed(struct dx *d)
{
    const char *line = dx_log(d, "killed by signal: Killed");
    const char *limit = json_str(d->c.spec, "resources.limits.memory", NULL);
    if (!line && d->c.code == 137 && dx_log_last(d) && strstr(dx_log_last(d), "Killed"))
        line = dx_log_last(d);
    if (!line || !limit)
        return false;
    dx_found(d, "oom-killed", W_APP, SURE_LIKELY,
             _("A process of container %s was killed (SIGKILL); with a memory limit of %s that is "
               "the kernel's answer to too much memory (OOM)."),
             d->c.name, limit);
    dx_cite_end(d, line);
    dx_cite(d, "%s.resources.limits.memory", d->c.at_spec);
    dx_fix(d, "%s",
           _("Lower what it needs: batch size, sequence length, workers of the data loader, "
             "offloading to host memory."));
    dx_fix(d, "%s", _("Or raise limits.memory, if the node and the quota allow it."));
    dx_command(d, "kubectl -n %s top pod %s --containers", d->ns, d->name);
    return true;
}

/* --- by its words alone ------------------------------------------------------------------ */
static const struct {
    const char *has, *also;
    const char *cause;
    enum sure sure;
    const char *text; /* %s: the line (gettext key) */
    const char *fix, *fix2;
} words[] = {
    {"ModuleNotFoundError", NULL, "python-module-missing", SURE_CERTAIN,
     N_("A Python module is not installed in the image: %s"),
     N_("Install it in the Dockerfile (pip install), for the interpreter that the command uses."),
     NULL},
    {"libcuda.so.1", NULL, "gpu-not-in-container", SURE_CERTAIN,
     N_("The driver's library is not inside the container, so it got no GPU: %s"),
     N_("Ask for one in limits (nvidia.com/gpu: 1), and for the runtime class that the cluster "
        "uses."),
     NULL},
    {"cannot open shared object file", NULL, "shared-library-missing", SURE_CERTAIN,
     N_("A shared library is not in the image: %s"),
     N_("Install the package that holds it in the Dockerfile, or set LD_LIBRARY_PATH."), NULL},
    {"does not recognize this architecture", NULL, "library-version-mismatch", SURE_CERTAIN,
     N_("The image's Transformers is older than the model: %s"),
     N_("Install a newer transformers in the image, or take a model that this one knows."), NULL},
    {"HeaderTooLarge", NULL, "model-file-is-lfs-pointer", SURE_LIKELY,
     N_("A model file is no safetensors file, probably a Git LFS pointer of a few lines: %s"),
     N_("Look at the file's size; get the real one (git lfs pull, hf download)."), NULL},
    {"MetadataIncompleteBuffer", NULL, "model-file-truncated", SURE_LIKELY,
     N_("A model file is cut short: %s"),
     N_("Compare its size and checksum with the original, and copy it again."), NULL},
    {"InvalidHeaderDeserialization", NULL, "model-file-broken", SURE_LIKELY,
     N_("A model file is no whole safetensors file: %s"),
     N_("Compare its size and checksum with the original, and copy it again."), NULL},
    {"ImportError", NULL, "python-import-error", SURE_CERTAIN,
     N_("A Python module can't be imported: %s"),
     N_("Versions that do not fit each other, or a shared library that is missing: the line names "
        "it."),
     NULL},
    {"CUDA out of memory", NULL, "gpu-out-of-memory", SURE_CERTAIN,
     N_("The GPU's own memory is full (not the pod's): %s"),
     N_("Smaller per_device_train_batch_size with more gradient_accumulation_steps, gradient "
        "checkpointing, "
        "shorter sequences, LoRA or 4-bit."),
     N_("A limit on the pod's memory does not change it.")},
    {"torch.OutOfMemoryError", NULL, "gpu-out-of-memory", SURE_CERTAIN,
     N_("The GPU's own memory is full (not the pod's): %s"),
     N_("Smaller per_device_train_batch_size with more gradient_accumulation_steps, gradient "
        "checkpointing, "
        "shorter sequences, LoRA or 4-bit."),
     N_("A limit on the pod's memory does not change it.")},
    {"Device already acquired", NULL, "gaudi-device-busy", SURE_CERTAIN,
     N_("Another process holds the Gaudi card (synStatus 20): %s"),
     N_("Let the device plugin choose the card: no HABANA_VISIBLE_DEVICES=all, and one process a "
        "card."),
     NULL},
    {"Device acquire failed", NULL, "gaudi-device-acquire-failed", SURE_LIKELY,
     N_("The Gaudi card can't be opened: %s"),
     N_("Ask for it in limits (habana.ai/gaudi), and see hl-smi on the node."), NULL},
    {"PT_DEVMEM Allocation failed", NULL, "hpu-out-of-memory", SURE_CERTAIN,
     N_("The Gaudi card's own memory is full (not the pod's): %s"),
     N_("Smaller per_device_train_batch_size with more gradient_accumulation_steps, gradient "
        "checkpointing, "
        "shorter sequences, LoRA or 4-bit."),
     N_("A limit on the pod's memory does not change it.")},
    {"invalid device ordinal", NULL, "gpu-count-mismatch", SURE_CERTAIN,
     N_("The program wants more GPUs than the container has: %s"),
     N_("Let --nproc_per_node (or --num_processes) be the number in limits."), NULL},
    {"Duplicate GPU detected", NULL, "gpu-count-mismatch", SURE_CERTAIN,
     N_("Two processes use one GPU: %s"),
     N_("Let --nproc_per_node (or --num_processes) be the number in limits."), NULL},
    {"uncorrectable ECC error", NULL, "gpu-hardware-error", SURE_CERTAIN,
     N_("The GPU itself is faulty: %s"),
     N_("Tell who runs the cluster; use another node until the card is reset or replaced."), NULL},
    {"NVIDIA driver on your system is too old", NULL, "cuda-driver-too-old", SURE_CERTAIN,
     N_("The node's NVIDIA driver is older than the image's CUDA needs: %s"),
     N_("Use an image with an older CUDA, or have the driver renewed."), NULL},
    {"Torch not compiled with CUDA enabled", NULL, "torch-without-cuda", SURE_CERTAIN,
     N_("The image's PyTorch is a build for CPUs: %s"),
     N_("Install the build of PyTorch for CUDA, or train on the CPU."), NULL},
    {"CUDA driver version is insufficient", NULL, "cuda-driver-too-old", SURE_CERTAIN,
     N_("The node's NVIDIA driver is older than the image's CUDA needs: %s"),
     N_("Use an image with an older CUDA, or have the driver renewed."), NULL},
    {"no kernel image is available", NULL, "gpu-architecture-unsupported", SURE_CERTAIN,
     N_("The image's PyTorch has no code for this GPU: %s"),
     N_("Use a PyTorch build that supports the GPU's compute capability."), NULL},
    {"Found no NVIDIA driver", NULL, "gpu-not-in-container", SURE_CERTAIN,
     N_("No GPU is inside the container: %s"),
     N_("Ask for one in limits (nvidia.com/gpu: 1), and for the runtime class that the cluster "
        "uses."),
     NULL},
    {"No CUDA GPUs are available", NULL, "gpu-not-in-container", SURE_CERTAIN,
     N_("No GPU is inside the container: %s"),
     N_("Ask for one in limits (nvidia.com/gpu: 1), and for the runtime class that the cluster "
        "uses."),
     NULL},
    {"Read-only file system", NULL, "read-only-filesystem", SURE_CERTAIN,
     N_("The program writes where it may only read: %s"),
     N_("Write to a volume, or mount an emptyDir at that path (readOnlyRootFilesystem, readOnly "
        "mounts)."),
     NULL},
    {"Disk quota exceeded", NULL, "disk-quota-exceeded", SURE_CERTAIN,
     N_("The quota of a file system is used up: %s"),
     N_("Delete what is not needed there, or write to another volume."), NULL},
    {"Too many open files", NULL, "too-many-open-files", SURE_CERTAIN,
     N_("The limit on open files is reached: %s"),
     N_("Fewer data loader workers, torch.multiprocessing.set_sharing_strategy('file_system'), or "
        "a higher ulimit in the runtime."),
     NULL},
    {"can't start new thread", NULL, "pid-limit", SURE_LIKELY,
     N_("The limit on processes and threads of the pod is reached: %s"),
     N_("Fewer workers and threads (OMP_NUM_THREADS), or a higher podPidsLimit on the node."),
     NULL},
    {"No space left on device", NULL, "disk-full", SURE_CERTAIN, N_("A disk is full: %s"),
     N_("See which mount the path belongs to; write checkpoints and caches (HF_HOME) to a volume "
        "that has "
        "room."),
     NULL},
    {"Temporary failure in name resolution", NULL, "dns-failure", SURE_LIKELY,
     N_("A name can't be resolved inside the pod: %s"),
     N_("Check the name, the cluster's DNS (CoreDNS) and network policies; without internet use a "
        "mirror "
        "(HF_ENDPOINT) or files on a volume (HF_HUB_OFFLINE=1)."),
     NULL},
    {"Name or service not known", NULL, "dns-failure", SURE_LIKELY,
     N_("A name can't be resolved inside the pod: %s"),
     N_("Check the name (service.namespace), the cluster's DNS (CoreDNS) and network policies."),
     NULL},
    {"Watchdog caught collective operation timeout", NULL, "nccl-timeout", SURE_LIKELY,
     N_("A rank waited in vain for the others in a collective operation: %s"),
     N_("Look at the other ranks first: one that died or never started is the cause."), NULL},
    {"no socket interface found", NULL, "nccl-socket-interface", SURE_CERTAIN,
     N_("NCCL finds no network interface of the name that it was given: %s"),
     N_("Set NCCL_SOCKET_IFNAME to an interface of the pod (eth0), or leave it away."), NULL},
    {"clients joined", NULL, "rendezvous-timeout", SURE_LIKELY,
     N_("Not all ranks came to the meeting point in time: %s"),
     N_("Look at the other ranks first: one that is Pending or failed is the cause. Then "
        "MASTER_ADDR, port and WORLD_SIZE."),
     NULL},
    {"NCCL error", NULL, "nccl-error", SURE_LIKELY, N_("NCCL failed: %s"),
     N_("Set NCCL_DEBUG=INFO; check NCCL_SOCKET_IFNAME, /dev/shm and that all ranks run."), NULL},
    {"EADDRINUSE", NULL, "port-in-use", SURE_CERTAIN, N_("The port is taken inside the pod: %s"),
     N_("Two programs (or hostNetwork) want one port: choose another."), NULL},
    {"address already in use", NULL, "port-in-use", SURE_CERTAIN,
     N_("The port is taken inside the pod: %s"),
     N_("Two programs (or hostNetwork) want one port: choose another."), NULL},
    {"following arguments are required", NULL, "argument-missing", SURE_CERTAIN,
     N_("The program was not given an option that it must have: %s"),
     N_("Add the option to args."), NULL},
    {": invalid choice: ", NULL, "argument-invalid", SURE_CERTAIN,
     N_("An option has a value that the program does not know: %s"),
     N_("Choose one of the values that the line names."), NULL},
    {": expected one argument", NULL, "argument-invalid", SURE_CERTAIN,
     N_("An option stands without its value: %s"),
     N_("Give the value as the next item of args; one that begins with - needs --option=value."),
     NULL},
    {"Address already in use", NULL, "port-in-use", SURE_CERTAIN,
     N_("The port is taken inside the pod: %s"),
     N_("Two programs (or hostNetwork) want one port: choose another."), NULL},
    {"UnicodeDecodeError", NULL, "data-unreadable", SURE_CERTAIN,
     N_("A data file is not in the encoding that is expected: %s"),
     N_("Convert the file to UTF-8."), NULL},
    {"JSONDecodeError", NULL, "data-unreadable", SURE_CERTAIN,
     N_("A data file is no valid JSON: %s"), N_("Correct the record that the line names."), NULL},
    {"loss is nan", NULL, "training-nan", SURE_LIKELY, N_("The training diverged: %s"),
     N_("Lower the learning rate, use warm-up and clipping, and look at the batch of that step."),
     NULL},
    {"command not found", NULL, "command-not-found", SURE_CERTAIN,
     N_("A command is not in the image or not on its PATH: %s"),
     N_("Use an image that has it installed, or write its whole path."), NULL},
};

void dx_app(struct dx *d)
{
    static bool (*const looks[])(struct dx *d) = {args_in_one, bus_error, forbidden,
                                                  other_processor, child_killed, dx_hub,
                                                  file_missing, permission};
    if (!d->s->log || !dx_failing(d) || d->c.init || str_eq(d->c.reason, "OOMKilled"))
        return;
    for (size_t i = 0; i < ARRAY_LEN(looks); i++)
        if (looks[i](d))
            return;
    for (size_t i = 0; i < ARRAY_LEN(words); i++) {
        const char *line = dx_log(d, words[i].has);
        if (!line || (words[i].also && !strstr(line, words[i].also)))
            continue;
        dx_found(d, words[i].cause, W_APP, words[i].sure, "%s",
                 dx_fill(d, words[i].text, line, "", ""));
        if (d->c.code > 0)
            dx_line(d, _("Exit code %d."), d->c.code);
        dx_cite_end(d, line);
        dx_cite(d, "%s.command", d->c.at_spec);
        dx_cite(d, "%s.args", d->c.at_spec);
        dx_fix(d, "%s", _(words[i].fix));
        if (words[i].fix2)
            dx_fix(d, "%s", _(words[i].fix2));
        return;
    }
}
