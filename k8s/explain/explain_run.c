/* explain_run.c - pods that run or have ended well: what still may be wrong around
 * them, and when nothing is (dx.h). */
#include "k8s/explain/dx.h"

static const char *env_value(const struct json *ctr, const char *name, int *index)
{
    *index = 0;
    for (const struct json *e = json_first(json_get(ctr, "env")); e; e = json_next(e), (*index)++)
        if (str_eq(json_str(e, "name", ""), name))
            return json_str(e, "value", NULL);
    return NULL;
}

static const struct json *owner_of(const struct json *pod)
{
    for (const struct json *o = json_first(json_at(pod, "metadata.ownerReferences")); o;
         o = json_next(o))
        if (json_bool(o, "controller", false))
            return o;
    return NULL;
}

static bool siblings(const struct json *a, const struct json *b)
{
    const struct json *x = owner_of(a), *y = owner_of(b);
    return x && y && str_eq(json_str(x, "name", ""), json_str(y, "name", "-")) &&
           str_eq(json_str(x, "kind", ""), json_str(y, "kind", "-"));
}

/* --- one rank waits for another ---------------------------------------------------------- */
void dx_peer(struct dx *d)
{
    int index, rank_at;
    const char *world = env_value(d->c.spec, "WORLD_SIZE", &index);
    const struct snap_list *pods = &d->s->list[SNAP_PODS];
    bool gave_up = dx_failing(d) && (dx_log(d, "clients joined") || dx_log(d, "DistStoreError") ||
                                     dx_log(d, "Watchdog caught collective"));
    if ((!str_eq(d->phase, "Running") && !gave_up) || !world || atoi(world) < 2)
        return;
    for (size_t i = 0; i < pods->n; i++) {
        const struct json *p = pods->v[i].o;
        const char *phase = json_str(p, "status.phase", "");
        if (p == d->o || !siblings(d->o, p) || str_eq(phase, "Running") ||
            str_eq(phase, "Succeeded"))
            continue;
        const char *rank = env_value(json_at(p, "spec.containers[0]"), "RANK", &rank_at);
        dx_found(d, "distributed-peer-missing", W_ROOT, SURE_CERTAIN,
                 _("%s waits for its peers: WORLD_SIZE is %s, and %s%s%s%s is %s."), d->name, world,
                 json_str(p, "metadata.name", ""), rank ? " (rank " : "", rank ? rank : "",
                 rank ? ")" : "", phase);
        dx_line(d, "%s",
                json_str(p, "status.conditions[?type=PodScheduled].message",
                         json_str(p, "status.message", "")));
        dx_cite(d, "status.phase");
        dx_cite_item(d, &pods->v[i], "status.phase");
        dx_cite_item(d, &pods->v[i], "status.conditions[0].message");
        dx_cite(d, "%s.env[%d].value", d->c.at_spec, index);
        dx_cite_log(d, dx_log_last(d));
        dx_fix(d,
               _("Look at %s: when it runs, this one goes on. It ends by itself after its "
                 "timeout."),
               json_str(p, "metadata.name", ""));
        dx_fix(d, "%s",
               _("Start all ranks together or none (gang scheduling), or free what the other "
                 "needs."));
        dx_command(d, "podium diagnose pod/%s -n %s", json_str(p, "metadata.name", ""), d->ns);
        return;
    }
}

/* --- nothing in the log -------------------------------------------------------------------- */
static bool runs_python(const struct json *ctr)
{
    char *text = json_text(ctr, 0);
    const char *command = json_has(ctr, "command") || json_has(ctr, "args") ? text : "";
    bool python =
        strstr(command, "python") || strstr(command, ".py") || strstr(command, "torchrun");
    free(text);
    return python;
}

/* CPython reads the variable as a number where it is one: "0" leaves buffering on. */
void dx_quiet(struct dx *d)
{
    int index;
    if (!dx_well(d) || !str_eq(d->phase, "Running") || !d->s->log || dx_log_last(d) ||
        !runs_python(d->c.spec))
        return;
    const char *value = env_value(d->c.spec, "PYTHONUNBUFFERED", &index);
    char *text = json_text(d->c.spec, 0);
    bool off = strstr(text, "\"-u\"") != NULL;
    free(text);
    if (off || (value && !str_eq(value, "0") && value[0]))
        return;
    dx_found(d, "stdout-buffered", W_HINT, SURE_LIKELY,
             value ? _("Running, and nothing is wrong with the pod; its log is empty because "
                       "Python buffers "
                       "its output: PYTHONUNBUFFERED=%s leaves the buffer on.")
                   : _("Running, and nothing is wrong with the pod; its log is empty because "
                       "Python buffers "
                       "its output when that is no terminal (PYTHONUNBUFFERED is not set).%s"),
             value ? value : "");
    dx_cite(d, "status.phase");
    if (value)
        dx_cite(d, "%s.env[%d].value", d->c.at_spec, index);
    dx_cite(d, "%s.command", d->c.at_spec);
    dx_cite_log(d, _("(empty)"));
    dx_fix(d, "%s",
           _("Set PYTHONUNBUFFERED=1, or run python3 -u; a first long step may also just take its "
             "time."));
}

/* --- the result lies where it is lost ------------------------------------------------------ */
static bool covered(const struct json *ctr, const char *path)
{
    for (const struct json *m = json_first(json_get(ctr, "volumeMounts")); m; m = json_next(m)) {
        const char *at = json_str(m, "mountPath", "-");
        size_t n = strlen(at);
        if (strncmp(path, at, n) == 0 && (path[n] == '/' || path[n] == '\0'))
            return true;
    }
    return false;
}

void dx_output(struct dx *d)
{
    static const char *const words[] = {"Saving model checkpoint to ",
                                        "saved to ",
                                        "Saved to ",
                                        "Saving model to ",
                                        "Model saved in ",
                                        "saved in ",
                                        "adapter saved to ",
                                        "Configuration saved in "};
    if (!str_eq(d->phase, "Succeeded") || !d->s->log)
        return;
    for (size_t i = 0; i < ARRAY_LEN(words); i++) {
        const char *line = dx_log(d, words[i]);
        const char *path = line ? dx_between(d, line, words[i], " '\"\n") : NULL;
        if (!path || path[0] != '/' || covered(d->c.spec, path) || covered(d->c.spec, "/"))
            continue;
        dx_found(d, "output-not-on-volume", W_NAMED, SURE_LIKELY,
                 _("The run succeeded, but saved its result to %s, which is on no volume: it goes "
                   "with the "
                   "container."),
                 path);
        for (const struct json *m = json_first(json_get(d->c.spec, "volumeMounts")); m;
             m = json_next(m))
            if (!str_starts(json_str(m, "mountPath", ""), "/var/run/secrets"))
                dx_line(d, _("A volume is mounted at %s."), json_str(m, "mountPath", ""));
        dx_cite_log(d, line);
        dx_cite(d, "%s.volumeMounts", d->c.at_spec);
        dx_cite(d, "status.phase");
        dx_fix(d, "%s",
               _("Set the output folder (output_dir) below the volume's mountPath and run again."));
        return;
    }
}

/* --- nothing is wrong ------------------------------------------------------------------------ */
static void cite_health(struct dx *d)
{
    dx_cite(d, "status.phase");
    dx_cite(d, "%s.ready", d->c.at);
    dx_cite(d, "status.conditions[?type=Ready].status");
}

/* Young and on its way: the steps of a start are no faults. */
static bool starting(const struct dx *d)
{
    bool waits = !d->c.waiting[0] || str_eq(d->c.waiting, "ContainerCreating") ||
                 str_eq(d->c.waiting, "PodInitializing");
    for (size_t i = 0; i < d->events; i++) {
        const char *reason = json_str(d->event[i].o, "reason", "");
        bool over = str_eq(reason, "FailedScheduling") ||
                    (str_eq(reason, "FailedMount") && dx_went_on(d, &d->event[i]));
        if (str_eq(json_str(d->event[i].o, "type", ""), "Warning") && !over)
            return false;
    }
    return str_eq(d->phase, "Pending") && json_str(d->o, "spec.nodeName", NULL) && waits &&
           !d->c.ended;
}

void dx_healthy(struct dx *d)
{
    if (d->out->n > 0)
        return;
    if (str_eq(d->phase, "Succeeded")) {
        dx_found(d, "none", W_HEALTHY, SURE_CERTAIN,
                 _("Nothing is wrong: %s has ended well (Succeeded)."), d->name);
        dx_cite(d, "%s.exitCode", d->c.ended_at);
    } else if (dx_well(d)) {
        dx_found(d, "none", W_HEALTHY, SURE_CERTAIN,
                 _("Nothing is wrong: %s is Running and Ready."), d->name);
        if (dx_event(d, "FailedScheduling", ""))
            dx_line(d, "%s", _("Its older scheduling warnings are history: it was placed since."));
        if (d->c.restarts > 0)
            dx_line(d, _("Container %s was restarted %d times and runs now."), d->c.name,
                    d->c.restarts);
    } else if (starting(d)) {
        const struct snap_item *e = dx_event(d, "Pulling", "");
        dx_found(d, "none", W_HEALTHY, SURE_LIKELY,
                 e ? _("%s is starting: its image is being pulled.") : _("%s is starting."),
                 d->name);
        dx_cite_event(d, e);
        dx_cite(d, "%s.state.waiting.reason", d->c.at);
    } else if (str_eq(d->phase, "Running") && d->c.running && d->c.restarts == 0) {
        dx_found(d, "none", W_HEALTHY, SURE_LIKELY, _("%s is Running; it is not Ready yet."),
                 d->name);
        dx_line(d, "%s", _("No probe has failed: it may still be starting."));
    } else {
        return;
    }
    cite_health(d);
    dx_fix(d, "%s", _("Nothing to do."));
}
