/* portforward_cmd.c - podium port-forward: ports of this machine that lead into
 * a pod, until Ctrl-C (k8s/portforward.h). */
#include "core/base/i18n.h"
#include "k8s/portforward.h"
#include "k8s/stream_cmd.h"

enum { PORTS = 16, STOPPED = 130 };

static const char help[] =
    N_("usage: podium port-forward POD [LOCAL:]REMOTE... [-n NAMESPACE] [--address ADDRESS]\n"
       "                           [--channels]\n"
       "                           [--context NAME] [--kubeconfig FILE] [--lang en|zh]\n"
       "\n"
       "Opens LOCAL (the same as REMOTE when left out; 0 or nothing before the colon: any free\n"
       "one) on 127.0.0.1 and ::1, and leads each connection to REMOTE of the pod, until\n"
       "Ctrl-C. It outlives a restart of the pod's containers. POD or pod/POD. --channels does\n"
       "without the SPDY tunnel, as API servers before 1.31 do by themselves.\n"
       "\n"
       "Exit codes: 0 ended by Ctrl-C, 1 a port can't be opened or no cluster, 2 usage.\n");

static struct {
    struct stream_cmd cmd;
    struct portforward *f[PORTS];
    int n;
    bool channels;
} app = {.cmd = {.name = "podium port-forward", .help = help}};

static void on_said(void *arg, bool lasting UNUSED, const struct pd_err *what)
{
    const struct portforward *f = *(struct portforward **)arg;
    fprintf(stderr, "%d: %s\n", f ? portforward_port(f) : 0, what->msg);
    if (what->hint[0])
        fprintf(stderr, "  %s\n", what->hint);
    fflush(stderr);
}

static bool start_one(const char *pod, const char *address, const char *text)
{
    char where[64];
    struct portforward_spec spec = {.pod = pod, .address = address, .channels = app.channels};
    struct portforward_handlers h = {.said = on_said, .arg = &app.f[app.n]};
    if (portforward_parse(text, &spec.local, &spec.remote, &app.cmd.err) != PD_OK ||
        portforward_start(app.cmd.k, &spec, &h, &app.f[app.n], &app.cmd.err) != PD_OK)
        return false;
    for (int i = 0; i < 2; i++)
        if (portforward_place(app.f[app.n], i, where))
            printf(_("Forwarding from %s -> %d\n"), where, spec.remote);
    app.n++;
    return true;
}

static int run(const char *address)
{
    const char *pod = app.cmd.words.v[0];
    const char *slash = strchr(pod, '/');
    for (size_t i = 1; i < app.cmd.words.n; i++)
        if (!start_one(slash ? slash + 1 : pod, address, app.cmd.words.v[i]))
            return stream_cmd_fail(&app.cmd, &app.cmd.err, app.cmd.err.code == PD_USAGE ? 2 : 1);
    fflush(stdout);
    stream_cmd_signals(&app.cmd);
    int code = loop_run(app.cmd.loop);
    return code == STOPPED ? 0 : code;
}

static void say_sums(void)
{
    for (int i = 0; i < app.n; i++) {
        struct portforward_stats s;
        portforward_stats(app.f[i], &s);
        printf(_("%d: %d connections, %lld bytes sent, %lld received\n"),
               portforward_port(app.f[i]), s.total, (long long)s.sent, (long long)s.received);
        portforward_stop(app.f[i]);
    }
}

static bool is_pod(const char *word)
{
    return !strchr(word, '/') || str_starts(word, "pod/") || str_starts(word, "pods/") ||
           str_starts(word, "po/");
}

int portforward_cmd(int argc, char **argv)
{
    const char *address = NULL;
    const struct stream_option own[] = {{"--address", "", &address, NULL},
                                        {"--channels", "", NULL, &app.channels}};
    int code = 0;
    if (!stream_cmd_parse(&app.cmd, argc, argv, own, ARRAY_LEN(own), &code))
        return code;
    if (app.cmd.words.n < 2 || app.cmd.words.n > PORTS)
        code = stream_cmd_usage(&app.cmd, _("a pod and one to fifteen ports are needed"));
    else if (!is_pod(app.cmd.words.v[0]))
        code = stream_cmd_usage(&app.cmd, _("only pods can be forwarded to: name the pod itself"));
    else if (!stream_cmd_connect(&app.cmd))
        code = stream_cmd_fail(&app.cmd, &app.cmd.err, 1);
    else
        code = run(address);
    say_sums();
    if (app.cmd.k)
        stream_cmd_release(&app.cmd);
    return code;
}
