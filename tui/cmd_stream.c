/* cmd_stream.c - what begins a stream of one's own into a pod: a shell, a port;
 * and the keys of their panes. */
#include "core/base/i18n.h"
#include "k8s/portforward.h"
#include "tui/cmd.h"
#include "tui/cmd_lists.h"

static const struct json *pod_of(const struct app *a, const char *name)
{
    const struct json *p = json_first(session_table(a->s, "pods")->items);
    while (p && !str_eq(json_str(p, "metadata.name", ""), name))
        p = json_next(p);
    return p;
}

/* --- shell ---------------------------------------------------------------------------- */

static const struct json *status_of(const struct json *pod, const char *container)
{
    const struct json *c = json_first(json_at(pod, "status.containerStatuses"));
    while (c && !str_eq(json_str(c, "name", ""), container))
        c = json_next(c);
    return c;
}

/* It runs, else a sentence says what it does instead. */
static bool container_runs(struct app *a, const struct json *pod, const char *container)
{
    const struct json *c = status_of(pod, container);
    if (!pod || json_has(c, "state.running"))
        return true;
    const char *why = json_str(c, "state.waiting.reason", NULL);
    if (!why)
        why = json_str(c, "state.terminated.reason", json_str(pod, "status.phase", "Pending"));
    app_note(a, true, _("container %s of %s does not run (%s): a shell needs it running"),
             container, json_str(pod, "metadata.name", ""), why);
    return false;
}

static void names_of(const struct json *pod, struct str *out)
{
    const struct json *all = json_at(pod, "spec.containers");
    for (const struct json *c = json_first(all); c; c = json_next(c))
        str_printf(out, "%s%s", out->len ? ", " : "", json_str(c, "name", ""));
}

static const char *default_container(const struct json *pod)
{
    const struct json *notes = json_at(pod, "metadata.annotations");
    const char *named = json_string_value(json_get(notes,
                                                   "kubectl.kubernetes.io/default-container"));
    return named ? named : json_str(pod, "spec.containers[0].name", "");
}

static void open_shell(struct app *a, const char *pod, const char *container, struct effects *out)
{
    if (container_runs(a, pod_of(a, pod), container))
        shell_start(a, pod, container, out);
}

/* Several containers: which. */
static void ask_container(struct app *a, const char *pod, const struct json *j)
{
    char title[160];
    struct str names;
    str_init(&names, 400);
    names_of(j, &names);
    str_fmt(title, sizeof title, _("Shell in container (%s)"), names.p);
    str_release(&names);
    str_copy(a->shell.asked, sizeof a->shell.asked, pod);
    cmd_ask(a, title, "shell.in", default_container(j));
}

void cmd_pod_shell(struct app *a, const char *arg, struct effects *out)
{
    const char *pod = arg && *arg ? arg : cmd_lists_pod(a);
    if (!pod)
        return;
    if (shell_runs(&a->shell)) {
        if (!str_eq(a->shell.pod, pod))
            app_note(a, false, _("the shell in %s is still open: end it first with %s"),
                     a->shell.pod, "^\\");
        app_over(a, PANEL_SHELL);
        return;
    }
    const struct json *j = pod_of(a, pod);
    if (json_count(json_at(j, "spec.containers")) > 1)
        ask_container(a, pod, j);
    else
        open_shell(a, pod, json_str(j, "spec.containers[0].name", ""), out);
}

void cmd_shell_in(struct app *a, const char *arg, struct effects *out)
{
    char pod[sizeof a->shell.asked];
    str_copy(pod, sizeof pod, a->shell.asked);
    const struct json *j = pod_of(a, pod);
    const struct json *c = json_first(json_at(j, "spec.containers"));
    while (c && !str_eq(json_str(c, "name", ""), arg ? arg : ""))
        c = json_next(c);
    if (c && !shell_runs(&a->shell))
        open_shell(a, pod, json_str(c, "name", ""), out);
    else if (!c)
        app_note(a, true, _("pod %s has no container %s"), pod, arg ? arg : "");
}

bool cmd_has_shell(const struct app *a)
{
    return a->shell.term != NULL;
}

bool cmd_shell_runs(const struct app *a)
{
    return shell_runs(&a->shell);
}

void cmd_shell_show(struct app *a, const char *arg UNUSED, struct effects *out UNUSED)
{
    app_over(a, PANEL_SHELL);
}

void cmd_shell_back(struct app *a, const char *arg UNUSED, struct effects *out UNUSED)
{
    if (shell_runs(&a->shell))
        app_note(a, false, _("the shell in %s goes on; s or :shell leads back to it"),
                 a->shell.pod);
    app_over_close(a);
}

void cmd_shell_end(struct app *a, const char *arg UNUSED, struct effects *out)
{
    shell_end(a, out);
    app_over_close(a);
}

static void scroll_shell(struct app *a, int by)
{
    int most = a->shell.term ? shell_term_history(a->shell.term) : 0;
    a->shell.back = MIN(MAX(a->shell.back + by, 0), most);
}

bool cmd_shell_above(const struct app *a)
{
    return a->shell.term && a->shell.back < shell_term_history(a->shell.term);
}

bool cmd_shell_below(const struct app *a)
{
    return a->shell.back > 0;
}

void cmd_shell_up(struct app *a, const char *arg UNUSED, struct effects *out UNUSED)
{
    scroll_shell(a, MAX(a->shell.rows - 1, 1));
}

void cmd_shell_down(struct app *a, const char *arg UNUSED, struct effects *out UNUSED)
{
    scroll_shell(a, -MAX(a->shell.rows - 1, 1));
}

/* --- ports ----------------------------------------------------------------------------- */

void cmd_pod_forward(struct app *a, const char *arg, struct effects *out UNUSED)
{
    const char *pod = arg && *arg ? arg : cmd_lists_pod(a);
    char title[160], port[16] = "";
    if (!pod)
        return;
    int64_t first = json_int(pod_of(a, pod), "spec.containers[0].ports[0].containerPort", 0);
    if (first > 0)
        str_fmt(port, sizeof port, "%d", (int)first);
    str_copy(a->forward_pod, sizeof a->forward_pod, pod);
    str_fmt(title, sizeof title, _("Port of %.80s ([HERE:]PORT)"), pod);
    cmd_ask(a, title, "forward.open", port);
}

void cmd_forward_open(struct app *a, const char *arg, struct effects *out)
{
    struct pd_err err;
    int local, remote;
    if (!arg || !*arg)
        return;
    if (portforward_parse(arg, &local, &remote, &err) != PD_OK) {
        app_fault(a, &err);
        return;
    }
    if (!forwards_start(a, a->forward_pod, local, remote, out)) {
        app_note(a, true, _("%d port-forwards are open: stop one first"), FORWARDS_MOST);
        return;
    }
    app_over(a, PANEL_FORWARDS);
}

void cmd_forwards(struct app *a, const char *arg UNUSED, struct effects *out UNUSED)
{
    app_over(a, PANEL_FORWARDS);
}

bool cmd_has_forward(const struct app *a)
{
    return a->forwards.n > 0;
}

void cmd_forward_stop(struct app *a, const char *arg UNUSED, struct effects *out)
{
    forwards_stop(a, a->sel[PANEL_FORWARDS], out);
}
