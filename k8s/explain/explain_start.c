/* explain_start.c - a container that is never started: its configuration, its
 * program, its sandbox, its init containers (dx.h). */
#include "k8s/explain/dx.h"

/* --- configuration ------------------------------------------------------------------ */
static void cite_waiting(struct dx *d)
{
    dx_cite(d, "%s.state.waiting.reason", d->c.at);
    dx_cite(d, "%s.state.waiting.message", d->c.at);
    dx_cite_event(d, dx_event(d, "Failed", ""));
}

static bool missing_object(struct dx *d, const char *word, const char *kind, const char *cause)
{
    const char *name = dx_between(d, d->c.message, word, "\"");
    if (!name || !strstr(d->c.message, "not found"))
        return false;
    dx_found(d, cause, W_ROOT, SURE_CERTAIN,
             _("Container %s takes values from the %s %s, which does not exist in namespace %s."),
             d->c.name, kind, name, d->ns);
    cite_waiting(d);
    dx_cite(d, "%s.env", d->c.at_spec);
    dx_cite(d, "%s.envFrom", d->c.at_spec);
    dx_fix(d, _("Create the %s %s in namespace %s; the kubelet then goes on by itself."), kind,
           name, d->ns);
    dx_command(d, "kubectl -n %s get %ss", d->ns, str_eq(kind, "Secret") ? "secret" : "configmap");
    return true;
}

/* "couldn't find key token in Secret llm-lab/hf" */
static bool missing_key(struct dx *d)
{
    const char *key = dx_between(d, d->c.message, "couldn't find key ", " ");
    const char *where = key ? dx_between(d, d->c.message, " in ", "\n") : NULL;
    if (!where)
        return false;
    const char *name = strchr(where, '/') ? strchr(where, '/') + 1 : where;
    dx_found(d, "secret-key-missing", W_ROOT, SURE_CERTAIN,
             _("Container %s wants the key %s of %s, which has no such key."), d->c.name, key,
             where);
    if (str_starts(where, "ConfigMap"))
        d->f->cause = "configmap-key-missing";
    const struct snap_item *o =
        dx_find(d, str_starts(where, "ConfigMap") ? SNAP_CONFIGMAPS : SNAP_SECRETS, d->ns, name);
    if (o && json_count(json_get(o->o, "keys")) > 0)
        dx_line(d, _("Keys there are: %s and %zu more."), json_str(o->o, "keys[0]", ""),
                json_count(json_get(o->o, "keys")) - 1);
    cite_waiting(d);
    dx_cite_item(d, o, "keys");
    dx_cite(d, "%s.env", d->c.at_spec);
    dx_fix(d, "%s", _("Correct the key in valueFrom, or put the key into the object."));
    return true;
}

static bool non_root(struct dx *d)
{
    bool named = strstr(d->c.message, "non-numeric user") != NULL;
    if (!strstr(d->c.message, "runAsNonRoot"))
        return false;
    dx_found(d, "run-as-non-root-violation", W_ROOT, SURE_CERTAIN,
             named ? _("runAsNonRoot is set, and the image of %s names its user by a word: the "
                       "kubelet "
                       "can't see that it is not root.")
                   : _("runAsNonRoot is set, but the image of %s would run as root: it has no USER "
                       "and the "
                       "pod no runAsUser."),
             d->c.name);
    cite_waiting(d);
    dx_cite(d, "spec.securityContext.runAsNonRoot");
    dx_cite_image(d, "config.User");
    dx_cite(d, "%s.securityContext.runAsNonRoot", d->c.at_spec);
    dx_fix(d, "%s",
           _("Set runAsUser to a number that the image supports, or put USER 1000 into its "
             "Dockerfile."));
    return true;
}

void dx_config(struct dx *d)
{
    if (!str_eq(d->c.waiting, "CreateContainerConfigError"))
        return;
    if (missing_object(d, "secret \"", "Secret", "secret-not-found") ||
        missing_object(d, "configmap \"", "ConfigMap", "configmap-not-found") || missing_key(d) ||
        non_root(d))
        return;
    dx_found(d, "container-config-error", W_GENERIC, SURE_LIKELY,
             _("The configuration of container %s can't be put together: %s"), d->c.name,
             d->c.message);
    cite_waiting(d);
    dx_fix(d, "%s", _("The text names the field to correct."));
}

/* --- creation ----------------------------------------------------------------------- */
struct start_rule {
    const char *has, *cause;
    enum sure sure;
    const char *text; /* %s: container, what is named (gettext key) */
    const char *fix;
};

static const struct start_rule starts[] = {
    {"OOM-killed", "oom-killed", SURE_CERTAIN,
     N_("Container %s was killed for lack of memory while it was being started: its memory limit "
        "is too low (%s)."),
     N_("Raise limits.memory; mind the unit: Mi and Gi.")},
    {"driver/library version mismatch", "nvidia-driver-mismatch", SURE_CERTAIN,
     N_("The GPU can't be set up for %s: the node's NVIDIA driver was renewed, but the old kernel "
        "module is still loaded (driver/library version mismatch): %s."),
     N_("Have the node restarted (or the module reloaded); until then it can run no GPU pod.")},
    {"chdir to cwd", "working-directory", SURE_CERTAIN,
     N_("The working directory of container %s can't be entered: %s."),
     N_("Correct workingDir, or the rights of that folder for the user that it runs as.")},
    {"not a directory", "mount-path-is-file", SURE_CERTAIN,
     N_("A mount of container %s puts a folder over a file, or a file over a folder: %s."),
     N_("With subPath the key must exist in the ConfigMap or Secret; else mount the folder.")},
    {"executable file not found in $PATH", "command-not-found", SURE_CERTAIN,
     N_("The program of container %s is not in the image or not on its PATH: %s."),
     N_("Correct command, or use an image that has the program installed.")},
    {"exec format error", "image-architecture-mismatch", SURE_CERTAIN,
     N_("The program of container %s is built for another processor (exec format error), or is a "
        "script "
        "without its first line: %s."),
     N_("Build the image for the node's architecture, or select nodes of the image's.")},
    {"unsatisfied condition: cuda", "cuda-driver-too-old", SURE_CERTAIN,
     N_("The image of %s needs a newer NVIDIA driver than the node has: %s."),
     N_("Use an image with an older CUDA, or have the node's driver renewed.")},
    {"nvidia-container-cli", "nvidia-runtime-error", SURE_LIKELY,
     N_("The NVIDIA runtime can't set up the GPU for %s: %s."),
     N_("See nvidia-smi on the node: driver loaded, library of the same version.")},
    {"no such file or directory", "command-not-found", SURE_CERTAIN,
     N_("The program of container %s is not in the image: %s."),
     N_("Correct the path in command, or put the file into the image; a script also needs its "
        "interpreter (and no CRLF line ends).")},
    {"permission denied", "command-not-executable", SURE_CERTAIN,
     N_("The program of container %s may not be executed (permission denied): %s."),
     N_("Give the file its x bit in the image (COPY --chmod=755), or name its interpreter in "
        "command.")},
    {"is a directory", "command-not-executable", SURE_CERTAIN,
     N_("The command of container %s names a folder: %s."), N_("Name the program in it.")},
    {"failed to create subPath", "volume-subpath", SURE_CERTAIN,
     N_("The subPath of a mount of container %s can't be made: %s."),
     N_("Check the subPath and the rights on the volume.")},
    {"stat ", "volume-subpath", SURE_LIKELY,
     N_("A file that container %s mounts is not there: %s."), N_("Check the mount's paths.")},
};

/* 512m of memory is half a byte. */
static bool memory_in_milli(struct dx *d)
{
    struct dx_ctr c;
    for (int i = 0; dx_container(d->o, i, &c); i++) {
        static const char *const places[] = {"limits", "requests"};
        for (size_t p = 0; p < 2; p++) {
            char path[48];
            str_fmt(path, sizeof path, "resources.%s.memory", places[p]);
            const char *v = json_str(c.spec, path, "");
            if (!str_ends(v, "m") || dx_well(d))
                continue;
            dx_found(d, "memory-unit-milli", W_ROOT + 2, SURE_CERTAIN,
                     _("memory: %s of container %s means thousandths of a byte, less than one byte "
                       "in "
                       "all: m is not Mi. Nothing can start in that."),
                     v, c.name);
            dx_cite(d, "%s.resources.%s.memory", c.at_spec, places[p]);
            dx_cite(d, "%s.state.waiting.message", d->c.at);
            dx_cite_event(d, dx_event(d, "FailedCreatePodSandBox", ""));
            dx_cite_event(d, dx_event(d, "Failed", ""));
            dx_fix(d, _("Write %.*sMi."), (int)strlen(v) - 1, v);
            return true;
        }
    }
    return false;
}

static void sandbox(struct dx *d)
{
    const struct snap_item *e = dx_event(d, "FailedCreatePodSandBox", "");
    bool waits = str_eq(d->phase, "Pending") &&
                 (str_eq(d->c.waiting, "ContainerCreating") ||
                  str_eq(d->c.waiting, "PodInitializing") || !d->c.waiting[0]);
    const char *text = e ? json_str(e->o, "message", "") : "";
    if (!e || !waits)
        return;
    const char *handler = dx_between(d, text, "no runtime for \"", "\"");
    if (!handler)
        handler = dx_between(d, text, "RuntimeHandler \"", "\"");
    if (handler) {
        dx_found(d, "runtime-class-handler-missing", W_ROOT, SURE_CERTAIN,
                 _("The node's container runtime has no handler \"%s\", which the pod's "
                   "runtimeClass asks "
                   "for."),
                 handler);
        dx_cite(d, "spec.runtimeClassName");
        dx_fix(d,
               _("Configure the runtime %s on the node (for nvidia: the container toolkit), or "
                 "leave "
                 "runtimeClassName away."),
               handler);
    } else if (strstr(text, "cni") || strstr(text, "network")) {
        dx_found(d, "pod-network-failed", W_NAMED, SURE_LIKELY,
                 _("The pod's network can't be set up on %s: the CNI plugin fails."),
                 json_str(d->o, "spec.nodeName", ""));
        dx_fix(d, "%s", _("See the pods of the network plugin on that node."));
    } else {
        dx_found(d, "sandbox-failed", W_GENERIC, SURE_LIKELY,
                 _("The pod's sandbox can't be made on %s."), json_str(d->o, "spec.nodeName", ""));
        dx_fix(d, "%s",
               _("The event's text names the reason; the log of the container runtime on the node "
                 "says more."));
    }
    dx_line(d, "%s", text);
    dx_cite_event(d, e);
}

static const char *start_message(struct dx *d)
{
    static const char *const reasons[] = {"CreateContainerError", "RunContainerError", "StartError",
                                          "PostStartHookError"};
    for (size_t i = 0; i < ARRAY_LEN(reasons); i++)
        if (str_eq(d->c.waiting, reasons[i]))
            return d->c.message;
    if (str_eq(d->c.reason, "StartError") || str_eq(d->c.reason, "ContainerCannotRun"))
        return json_str(d->c.ended, "message", "");
    return NULL;
}

/* A whole command line in one item is looked for as a file of that name. */
static void one_word(struct dx *d)
{
    const char *first = json_str(d->c.spec, "command[0]", "");
    if (json_count(json_get(d->c.spec, "command")) != 1 || !strchr(first, ' '))
        return;
    dx_line(d, _("command has one item with spaces (\"%s\"): it is taken for one file name."),
            first);
    dx_fix(d, "%s",
           _("Give each word its own list item in command, or write [\"sh\", \"-c\", \"...\"]."));
}

static const char *named_in(struct dx *d, const char *message)
{
    if (strstr(message, "OOM-killed"))
        return json_str(d->c.spec, "resources.limits.memory", "?");
    if (strstr(message, "not a directory"))
        return dx_between(d, message, "at \"", "\"");
    if (strstr(message, "chdir to cwd"))
        return dx_between(d, message, "(\"", "\"");
    const char *name = dx_between(d, message, "exec: \"", "\"");
    if (!name)
        name = dx_between(d, message, "exec ", ":");
    return name ? name : json_str(d->c.spec, "command[0]", json_str(d->c.spec, "args[0]", message));
}

void dx_create(struct dx *d)
{
    if (memory_in_milli(d))
        return;
    sandbox(d);
    const char *message = start_message(d);
    for (size_t i = 0; message && i < ARRAY_LEN(starts); i++) {
        const struct start_rule *r = &starts[i];
        if (!strstr(message, r->has))
            continue;
        dx_found(d, r->cause, W_ROOT, r->sure, "%s",
                 dx_fill(d, r->text, d->c.name, named_in(d, message), ""));
        if (d->c.code > 0)
            dx_line(d, _("Exit code %d."), d->c.code);
        dx_line(d, "%s", message);
        one_word(d);
        if (str_eq(r->cause, "oom-killed"))
            dx_cite(d, "%s.resources.limits.memory", d->c.at_spec);
        cite_waiting(d);
        dx_cite(d, "%s.message", d->c.ended_at);
        dx_cite(d, "%s.exitCode", d->c.ended_at);
        dx_cite(d, "%s.command", d->c.at_spec);
        dx_fix(d, "%s", _(r->fix));
        return;
    }
    if (!message)
        return;
    dx_found(d, "container-start-failed", W_GENERIC, SURE_LIKELY,
             _("The runtime can't start container %s: %s"), d->c.name, message);
    cite_waiting(d);
    dx_cite(d, "%s.message", d->c.ended_at);
    dx_fix(d, "%s", _("The text names what is missing."));
}

/* --- init containers ------------------------------------------------------------------ */
/* A word of the log that is also in the container's command and looks like a name. */
static const char *waited_for(struct dx *d)
{
    char *command = json_text(d->c.spec, 0);
    const char *log = d->s->log ? d->s->log : "", *found = NULL;
    static const char chars[] = "abcdefghijklmnopqrstuvwxyz0123456789-.";
    for (const char *p = log; *p && !found; p++) {
        size_t n = strspn(p, chars);
        if (n < 3 || (p > log && (strchr(chars, p[-1]) || p[-1] == '/'))) {
            p += n ? n - 1 : 0;
            continue;
        }
        const char *word = dx_say(d, "%.*s", (int)MIN(n, 200), p);
        if (strchr(word, '-') && strstr(command, word) && !str_eq(word, d->c.name))
            found = word;
        p += n - 1;
    }
    free(command);
    return found;
}

void dx_init(struct dx *d)
{
    if (!d->c.init || !str_eq(d->phase, "Pending") ||
        (!dx_failing(d) && !d->c.running && !str_eq(d->c.waiting, "CrashLoopBackOff")))
        return;
    const char *host = waited_for(d);
    char first[64] = "";
    if (host)
        str_fmt(first, sizeof first, "%.*s", (int)MIN(strcspn(host, "."), 63), host);
    bool known = d->s->list[SNAP_PODS].known || d->s->list[SNAP_SERVICES].known;
    bool there =
        host && (dx_find(d, SNAP_PODS, NULL, first) || dx_find(d, SNAP_SERVICES, NULL, first));
    if (host && known && !there) {
        dx_found(d, "init-container-dependency-missing", W_ROOT, SURE_CERTAIN,
                 _("Init container %s waits for %s, and there is neither a pod nor a service of "
                   "that name; "
                   "the main container has not begun."),
                 d->c.name, first);
        dx_fix(d,
               _("Find out why %s does not exist (the log of its operator, quota, webhook); this "
                 "pod is "
                 "only waiting for it."),
               first);
        dx_command(d, "kubectl -n %s get pods,services", d->ns);
    } else if (dx_failing(d)) {
        dx_found(d, "init-container-failing", W_EXIT + 5, SURE_CERTAIN,
                 _("Init container %s ends with exit code %d, so the main container never begins."),
                 d->c.name, d->c.code);
        dx_fix(d, _("Read the log of %s; it must end with 0."), d->c.name);
        dx_command(d, "kubectl -n %s logs %s -c %s", d->ns, d->name, d->c.name);
    } else {
        dx_found(d, "init-container-running", W_HINT, SURE_LIKELY,
                 _("Init container %s is still running; the main container begins after it."),
                 d->c.name);
        dx_fix(d, _("See what %s is doing in its log."), d->c.name);
        dx_command(d, "kubectl -n %s logs %s -c %s", d->ns, d->name, d->c.name);
    }
    dx_cite(d, "%s.state.waiting.reason", d->c.at);
    dx_cite(d, "%s.exitCode", d->c.ended_at);
    dx_cite(d, "status.containerStatuses[0].state.waiting.reason");
    dx_cite(d, "%s.command", d->c.at_spec);
    dx_cite_log(d, host ? dx_log(d, host) : dx_log_last(d));
}
