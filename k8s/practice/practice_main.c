/* practice_main.c - podium-practice: start, stop and look at the practice
 * cluster.
 */
#include "core/base/base.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/base/i18n.h"
#include "core/base/json.h"
#include "core/base/mem.h"
#include "core/base/path.h"
#include "core/io/http.h"
#include "k8s/practice/node.h"
#include "k8s/practice/practice.h"

enum { DONE = 0, FAILED = 1, WRONG_USE = 2, START_MS = 15000, STOP_MS = 10000, GRACE_MS = 3000 };

static const char usage[] = N_(
    "usage: podium practice start              start it (or find it running)\n"
    "       podium practice stop [--pods]      stop the server; --pods ends its containers too\n"
    "       podium practice status [--json]    does it run, and where\n"
    "       podium practice kubeconfig [--admin]  print the kubeconfig\n"
    "       podium practice reset              stop it, end its containers, delete all it keeps\n"
    "       podium practice serve              serve in the foreground\n"
    "\n"
    "A small Kubernetes cluster on this machine, for practice. podium-practice is the\n"
    "same program.\n"
    "\n"
    "  --help, --version\n"
    "\n"
    "Exit codes: 0 done, 1 failed or not running, 2 wrong use.\n");

static int fail(const struct pd_err *err)
{
    char line[1100];
    fprintf(stderr, "podium practice: %s\n", pd_describe(err, line, sizeof line));
    return FAILED;
}

static int bad_use(const char *what)
{
    fprintf(stderr, _("podium practice: %s: not understood; see podium practice --help\n"), what);
    return WRONG_USE;
}

static void say_where(const char *dir, int port)
{
    printf(_("The practice cluster serves https://127.0.0.1:%d\n"), port);
    printf(_("  kubeconfig: %s/kubeconfig\n"), dir);
    printf(_("  try:        kubectl --kubeconfig %s/kubeconfig get nodes\n"), dir);
}

/* --- start --- */

/* The child: a session of its own, no terminal, stdio to the log. */
NORETURN static void become_server(const char *dir, int ready_fd)
{
    char *log = path_join(dir, "practice.out"), fd_text[16];
    setsid();
    int null = open("/dev/null", O_RDWR), out = open(log, O_WRONLY | O_CREAT | O_APPEND, 0600);
    dup2(null, 0);
    dup2(out >= 0 ? out : null, 1);
    dup2(out >= 0 ? out : null, 2);
    dup2(ready_fd, 3);
    for (int fd = 4; fd < 256; fd++)
        close(fd);
    if (chdir("/") != 0)
        _exit(FAILED);
    str_fmt(fd_text, sizeof fd_text, "%d", 3);
    char *const argv[] = {"podium-practice", "serve", "--ready-fd", fd_text, NULL};
    execv("/proc/self/exe", argv);
    _exit(FAILED);
}

/* The text that the server wrote until it was ready or ended. */
static void read_answer(int fd, struct str *out)
{
    int64_t until = clock_ms() + START_MS;
    char buf[1024];
    while (!strchr(out->p, '\n')) {
        struct pollfd p = {.fd = fd, .events = POLLIN};
        int64_t left = until - clock_ms();
        if (left <= 0 || poll(&p, 1, (int)left) <= 0)
            return;
        ssize_t n = read(fd, buf, sizeof buf);
        if (n <= 0)
            return;
        str_append(out, buf, (size_t)n);
    }
}

static enum pd_code launch(const char *dir, int *port, struct pd_err *err)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
        return pd_fail_errno(err, PD_IO, "no pipe");
    pid_t pid = fork();
    if (pid < 0)
        return pd_fail_errno(err, PD_IO, "no process");
    if (pid == 0)
        become_server(dir, ends[1]);
    close(ends[1]);
    struct str text;
    int64_t got = 0;
    str_init(&text, 4096);
    read_answer(ends[0], &text);
    close(ends[0]);
    if (str_starts(text.p, "ready "))
        text.p[strcspn(text.p, "\n")] = '\0';
    if (str_starts(text.p, "ready ") && str_to_i64(text.p + 6, &got))
        *port = (int)got;
    else if (text.len)
        pd_fail(err, PD_IO, "%.*s", (int)strcspn(text.p, "\n"), text.p);
    else
        pd_fail(err, PD_TIMEOUT, _("the server did not get ready; see %s/practice.out"), dir);
    str_release(&text);
    if (got == 0)
        waitpid(pid, NULL, WNOHANG);
    return got ? PD_OK : err->code;
}

/* A server that answers is no dying one that still holds the lock. */
static bool answers(const char *dir, int port)
{
    struct pd_err err;
    struct str ca, body;
    struct http_response r = {0};
    struct http_request q = {.method = "GET", .path = "/livez", .timeout_ms = PRACTICE_WAIT_MS};
    char *path = path_join(dir, "pki/ca.crt"), base[64];
    str_init(&ca, 64 << 10);
    str_init(&body, 64 << 10);
    struct http_target *t = http_target_new(str_fmt(base, sizeof base, "https://127.0.0.1:%d",
                                                    port));
    bool ok = port > 0 && path_read(path, 64 << 10, &ca, &err) == PD_OK;
    t->ca_pem = xstrdup(ca.p);
    ok = ok && http_run(t, &q, &r, &body, &err) == PD_OK && r.status == 200;
    http_target_unref(t);
    str_release(&ca);
    str_release(&body);
    free(path);
    return ok;
}

/* Find it running, or wait until what is left of it is gone and launch it. */
static enum pd_code find_or_launch(const char *dir, int *port, struct pd_err *err)
{
    struct practice_state s;
    int64_t until = clock_ms() + PRACTICE_WAIT_MS;
    for (;; poll(NULL, 0, 20)) {
        practice_look(dir, &s);
        *port = s.port;
        if (!s.running)
            return launch(dir, port, err);
        if (answers(dir, s.port))
            return PD_OK;
        if (clock_ms() < until)
            continue;
        pd_fail(err, PD_TIMEOUT, _("a server holds %s/lock, but nothing answers on port %d"), dir,
                s.port);
        return pd_set_hint(err, "podium practice stop");
    }
}

static int start(const char *dir)
{
    struct pd_err err = {0};
    int lock = practice_lock(dir, "start.lock", -1), port = 0;
    enum pd_code code = find_or_launch(dir, &port, &err);
    if (lock >= 0)
        close(lock);
    if (code != PD_OK)
        return fail(&err);
    say_where(dir, port);
    return DONE;
}

/* --- stop, reset --- */

static bool wait_gone(const char *dir, int64_t ms)
{
    struct practice_state s;
    for (int64_t until = clock_ms() + ms; clock_ms() < until;) {
        practice_look(dir, &s);
        if (!s.running)
            return true;
        poll(NULL, 0, 20);
    }
    return false;
}

static bool stop_server(const char *dir)
{
    struct practice_state s;
    practice_look(dir, &s);
    if (!s.running)
        return true;
    if (s.pid > 1)
        kill(s.pid, SIGTERM);
    if (wait_gone(dir, STOP_MS))
        return true;
    if (s.pid > 1)
        kill(s.pid, SIGKILL);
    return wait_gone(dir, 2000);
}

static int stop(const char *dir, bool pods, bool reset)
{
    struct pd_err err = {0};
    int lock = practice_lock(dir, "start.lock", -1), code = DONE;
    if (!stop_server(dir)) {
        pd_fail(&err, PD_TIMEOUT, _("the server does not end"));
        code = fail(&err);
    }
    if (code == DONE && (pods || reset)) {
        int n = node_stop_pods(dir, GRACE_MS);
        printf(_("Containers ended: %d\n"), n);
    }
    if (code == DONE && reset && path_remove_tree(dir, &err) != PD_OK)
        code = fail(&err);
    if (lock >= 0)
        close(lock);
    if (code == DONE)
        printf("%s\n", reset ? _("The practice cluster is gone; start makes a fresh one.")
                             : _("The practice cluster is stopped."));
    return code;
}

/* --- status, kubeconfig --- */

static int status(const char *dir, bool json)
{
    struct practice_state s;
    practice_look(dir, &s);
    if (json) {
        struct json *j = json_new_object();
        char *url = xasprintf("https://127.0.0.1:%d", s.port), *config = path_join(dir, "kubeconfi"
                                                                                        "g");
        json_put_bool(j, "running", s.running);
        json_put_str(j, "dir", dir);
        if (s.running) {
            json_put_num(j, "pid", s.pid);
            json_put_str(j, "server", url);
            json_put_str(j, "kubeconfig", config);
            json_put_num(j, "up_seconds", (double)((clock_wall_ms() - s.since_ms) / 1000));
        }
        char *text = json_text(j, 0);
        puts(text);
        free(text);
        free(url);
        free(config);
        json_free(j);
    } else if (s.running) {
        char age[16];
        say_where(dir, s.port);
        printf(_("  process:    %d, up for %s\n"), s.pid,
               clock_age(clock_wall_ms() - s.since_ms, age));
    } else {
        printf(_("The practice cluster does not run. Start it: podium practice start\n"));
    }
    return s.running ? DONE : FAILED;
}

static int kubeconfig(const char *dir, bool admin)
{
    struct pd_err err = {0};
    struct str text;
    char *path = path_join(dir, admin ? "admin.kubeconfig" : "kubeconfig");
    int code = DONE;
    str_init(&text, 64 << 10);
    if (access(path, F_OK) != 0) {
        pd_fail(&err, PD_KUBECONFIG, _("there is no practice cluster yet"));
        pd_set_hint(&err, "podium practice start");
        code = fail(&err);
    } else if (path_read(path, 64 << 10, &text, &err) != PD_OK) {
        code = fail(&err);
    } else {
        fputs(text.p, stdout);
    }
    str_release(&text);
    free(path);
    return code;
}

/* --- serve --- */

static int serve(const char *dir, int argc, char **argv)
{
    struct pd_err err = {0};
    int64_t fd = -1;
    char line[1100];
    if (argc == 2 && !strcmp(argv[0], "--ready-fd") && !str_to_i64(argv[1], &fd))
        return bad_use(argv[1]);
    if (argc != 0 && fd < 0)
        return bad_use(argv[0]);
    if (fd > 2)
        fcntl((int)fd, F_SETFD, FD_CLOEXEC);
    i18n_set("en");              /* the API answers in Kubernetes' own words */
    if (practice_serve(dir, (int)fd, &err) == PD_OK)
        return DONE;
    pd_describe(&err, line, sizeof line);
    if (fd > 2)
        dprintf((int)fd, "%s\n", line);
    return fail(&err);
}

static int run(const char *dir, const char *command, int argc, char **argv)
{
    const char *option = argc == 1 ? argv[0] : NULL;
    if (!strcmp(command, "serve"))
        return serve(dir, argc, argv);
    if (argc > 1)
        return bad_use(argv[1]);
    if (!strcmp(command, "start") && !option)
        return start(dir);
    if (!strcmp(command, "stop") && (!option || !strcmp(option, "--pods")))
        return stop(dir, option != NULL, false);
    if (!strcmp(command, "reset") && !option)
        return stop(dir, true, true);
    if (!strcmp(command, "status") && (!option || !strcmp(option, "--json")))
        return status(dir, option != NULL);
    if (!strcmp(command, "kubeconfig") && (!option || !strcmp(option, "--admin")))
        return kubeconfig(dir, option != NULL);
    return bad_use(option ? option : command);
}

int main(int argc, char **argv)
{
    int code;
    struct pd_err err = {0};
    if (node_child_main(argc, argv, &code))
        return code;
    i18n_init(NULL);
    if (argc < 2) {
        fputs(_(usage), stderr);
        return WRONG_USE;
    }
    if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "help")) {
        fputs(_(usage), stdout);
        return DONE;
    }
    if (!strcmp(argv[1], "--version")) {
        printf("podium-practice %s\n", PODIUM_VERSION);
        return DONE;
    }
    char *dir = practice_dir(&err);
    if (!dir)
        return fail(&err);
    code = run(dir, argv[1], argc - 2, argv + 2);
    free(dir);
    return code;
}
