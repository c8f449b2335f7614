/* exec_cmd.c - podium exec: a command in a container, its input, output and exit
 * code those of this program (k8s/exec.h). */
#include <errno.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include "core/base/i18n.h"
#include "core/io/ws.h"
#include "k8s/exec.h"
#include "k8s/stream_cmd.h"

enum { PIECE = 32 << 10, NO_START = 1 };

static const char help[] =
    N_("usage: podium exec POD [-c CONTAINER] [-i] [-t] [-n NAMESPACE] [--context NAME]\n"
       "                   [--kubeconfig FILE] [--lang en|zh] -- COMMAND [ARGUMENT]...\n"
       "\n"
       "Runs COMMAND in a container of the pod. -i gives it this program's standard input, -t\n"
       "a terminal. Without -c the pod's default container.\n"
       "\n"
       "Exit codes: the command's own; 1 it did not run, 2 usage.\n");

static struct {
    struct stream_cmd cmd;
    const char *container;
    bool std_in, tty, raw, reading;
    struct termios before;
    struct exec *e;
    int code;
} app = {.cmd = {.name = "podium exec", .help = help}};

static void on_input(void *arg UNUSED, int fd UNUSED, int events UNUSED);

static void listen_for(void)
{
    bool want = app.reading && app.e && exec_pending(app.e) < WS_HIGH;
    if (want)
        loop_fd(app.cmd.loop, STDIN_FILENO, LOOP_READ, on_input, NULL);
    else
        loop_fd_remove(app.cmd.loop, STDIN_FILENO);
}

static void on_input(void *arg UNUSED, int fd UNUSED, int events UNUSED)
{
    char buf[PIECE];
    ssize_t n = read(STDIN_FILENO, buf, sizeof buf);
    if (n < 0 && (errno == EINTR || errno == EAGAIN))
        return;
    if (n > 0) {
        exec_send(app.e, buf, (size_t)n);
    } else {
        app.reading = false;
        if (!exec_close_stdin(app.e))
            fprintf(stderr, _("podium exec: this server can't be told that the input has ended "
                              "(it speaks v4); a command that waits for it must be stopped\n"));
    }
    listen_for();
}

static void send_size(void)
{
    struct winsize w;
    if (app.tty && app.e && ioctl(STDOUT_FILENO, TIOCGWINSZ, &w) == 0 && w.ws_col > 0)
        exec_resize(app.e, w.ws_col, w.ws_row);
}

static void on_winch(void *arg UNUSED, int signo UNUSED)
{
    send_size();
}

static void on_open(void *arg UNUSED, bool half_close UNUSED)
{
    app.reading = app.std_in;
    send_size();
    listen_for();
}

static void on_output(void *arg UNUSED, int channel, const char *p, size_t n)
{
    int fd = channel == 2 ? STDERR_FILENO : STDOUT_FILENO;
    while (n > 0) {
        ssize_t k = write(fd, p, n);
        if (k < 0 && errno == EINTR)
            continue;
        if (k < 0) {                     /* nobody reads any more */
            loop_stop(app.cmd.loop, 128 + SIGPIPE);
            return;
        }
        p += k;
        n -= (size_t)k;
    }
}

static void restore(void)
{
    if (app.raw)
        tcsetattr(STDIN_FILENO, TCSANOW, &app.before);
    app.raw = false;
}

static void on_exit_code(void *arg UNUSED, int code, const struct pd_err *err)
{
    app.e = NULL;
    app.reading = false;
    listen_for();
    restore();
    app.code = code < 0 ? NO_START : code;
    if (err)
        stream_cmd_fail(&app.cmd, err, 1);
    loop_stop(app.cmd.loop, app.code);
}

static void on_drained(void *arg UNUSED)
{
    listen_for();
}

static void make_raw(void)
{
    struct termios t;
    if (!app.tty || tcgetattr(STDIN_FILENO, &app.before) != 0)
        return;
    t = app.before;
    cfmakeraw(&t);
    app.raw = tcsetattr(STDIN_FILENO, TCSANOW, &t) == 0;
}

static int run(void)
{
    const char *pod = app.cmd.words.v[0], *slash = strchr(pod, '/');
    struct exec_spec spec = {.pod = slash ? slash + 1 : pod, .container = app.container,
                             .argv = app.cmd.rest, .std_in = app.std_in, .tty = app.tty};
    struct exec_handlers h = {.open = on_open, .output = on_output, .exit = on_exit_code,
                              .drained = on_drained};
    if (!stream_cmd_connect(&app.cmd))
        return stream_cmd_fail(&app.cmd, &app.cmd.err, NO_START);
    stream_cmd_signals(&app.cmd);
    loop_signal(app.cmd.loop, SIGWINCH, on_winch, NULL);
    if (!spec.container)
        spec.container = stream_cmd_container(&app.cmd, NULL, spec.pod);
    make_raw();
    app.e = exec_start(app.cmd.k, &spec, &h);
    int code = loop_run(app.cmd.loop);
    restore();
    exec_close(app.e);
    stream_cmd_release(&app.cmd);
    return code;
}

int exec_cmd(int argc, char **argv)
{
    bool both = false;
    const struct stream_option own[] = {{"-c", "--container", &app.container, NULL},
                                        {"-i", "--stdin", NULL, &app.std_in},
                                        {"-t", "--tty", NULL, &app.tty},
                                        {"-it", "-ti", NULL, &both}};
    int code = 0;
    if (!stream_cmd_parse(&app.cmd, argc, argv, own, ARRAY_LEN(own), &code))
        return code;
    app.std_in |= both;
    app.tty |= both;
    if (app.cmd.words.n != 1 || !app.cmd.rest || !app.cmd.rest[0])
        return stream_cmd_usage(&app.cmd, _("a pod, then -- and a command are needed"));
    return run();
}
