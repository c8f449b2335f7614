/* podium-shim and the sandbox with real processes: exit codes, signals, log
 * form and rotation, stdin, exec, attach, out of memory, as root and as an
 * unprivileged user. The image is one static busybox. */
#include "k8s/practice/crilog.h"
#include "k8s/practice/shim.h"
#include "tests/t.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/base/mem.h"
#include "core/base/path.h"

static const char *const applets[] = {"sh", "sleep", "echo", "cat", "id", "ls", "hostname",
                                      "seq", "dd", "tail", "env", "mkdir", "touch", "ps", "kill",
                                      "mknod"};

static char *shim_program(void)
{
    char *dir = path_program_dir(), *p = path_join(dir, "../podium-shim");
    free(dir);
    if (access(p, X_OK) != 0)
        t_skip("podium-shim is not built, or not within this user's reach");
    return p;
}

/* t_dir()/rootfs with busybox, t_dir()/c for the container. */
static char *container(struct shim_spec *s, const char *script)
{
    struct pd_err err;
    char *root = path_join(t_dir(), "rootfs"), *bin = path_join(root, "bin");
    if (access("/bin/busybox", X_OK) != 0)
        t_skip("busybox-static is not installed");
    CHECK_OK(path_mkdirs(bin, 0755, &err));
    chmod(t_dir(), 0755);
    struct str data;
    str_init(&data, 16 << 20);
    CHECK_OK(path_read("/bin/busybox", 16 << 20, &data, &err));
    char *exe = path_join(bin, "busybox");
    CHECK_OK(path_write_atomic(exe, 0755, data.p, data.len, &err));
    str_release(&data);
    free(exe);
    for (size_t i = 0; i < ARRAY_LEN(applets); i++) {
        char *link = path_join(bin, applets[i]);
        CHECK(symlink("busybox", link) == 0);
        free(link);
    }
    free(bin);
    char *dir = path_join(t_dir(), "c");
    CHECK_OK(path_mkdirs(dir, 0700, &err));
    shim_spec_init(s);
    s->name = xstrdup("c");
    s->rootfs = root;
    s->hostname = xstrdup("pod-1");
    s->log = path_join(dir, "0.log");
    s->cgroup = xasprintf("podium-test-%d", (int)getpid());
    strv_push(&s->argv, "sh");
    strv_push(&s->argv, "-c");
    strv_push(&s->argv, script);
    strv_push(&s->env, "PATH=/bin");
    return dir;
}

/* 0, or 1 with the sentence in text. */
static int start(const struct shim_spec *s, const char *dir, char text[512])
{
    struct pd_err err;
    char *program = shim_program();
    int fd[2];
    CHECK_OK(shim_spec_write(s, dir, &err));
    CHECK(pipe(fd) == 0);
    pid_t pid = fork();
    if (pid == 0) {
        dup2(fd[1], 2);
        execl(program, program, "run", dir, (char *)NULL);
        _exit(99);
    }
    close(fd[1]);
    ssize_t n = read(fd[0], text, 511);
    text[MAX(n, 0)] = '\0';
    close(fd[0]);
    int status;
    CHECK(waitpid(pid, &status, 0) == pid);
    free(program);
    return WEXITSTATUS(status);
}

static struct shim_state wait_end(const char *dir, int ms)
{
    struct shim_state st;
    for (int64_t end = clock_ms() + ms; clock_ms() < end; usleep(10000))
        if (shim_state_read(dir, &st) && st.finished_us)
            return st;
    t_fail(__FILE__, __LINE__, "no end within %d ms", ms);
}

static char *read_log(const struct shim_spec *s)
{
    struct pd_err err;
    struct str out;
    str_init(&out, 64 << 20);
    CHECK_OK(path_read(s->log, 64 << 20, &out, &err));
    return str_take(&out);
}

/* The texts of the records alone, "o:" and "e:" in front. */
static char *log_texts(const struct shim_spec *s)
{
    char *log = read_log(s), *p = log;
    struct str out;
    str_init(&out, 64 << 20);
    while (*p) {
        struct crilog_record r;
        size_t n = strcspn(p, "\n");
        CHECK_MSG(crilog_parse(p, n, &r), "no record: %.*s", (int)n, p);
        str_printf(&out, "%c:%.*s\n", r.stream == 1 ? 'o' : 'e', (int)r.len, r.text);
        p += n + 1;
    }
    free(log);
    return str_take(&out);
}

static struct shim_state run(struct shim_spec *s, const char *script, char **log)
{
    char text[512], *dir = container(s, script);
    CHECK_INT(start(s, dir, text), 0);
    struct shim_state st = wait_end(dir, 10000);
    *log = log_texts(s);
    for (int i = 0; i < 500 && shim_alive(dir); i++)
        usleep(10000);
    CHECK_MSG(!shim_alive(dir), "the shim stays");
    free(dir);
    return st;
}

TEST(exit_code_and_streams)
{
    struct shim_spec s;
    char *log;
    struct shim_state st = run(&s, "echo out; echo err >&2; exit 7", &log);
    CHECK_INT(st.exit_code, 7);
    CHECK_STR(st.reason, "Error");
    CHECK_INT(st.signal, 0);
    CHECK(st.finished_us >= st.started_us && st.started_us > 0);
    CHECK_HAS(log, "o:out\n");
    CHECK_HAS(log, "e:err\n");
    free(log);
    shim_spec_release(&s);
}

TEST(success_is_completed)
{
    struct shim_spec s;
    char *log;
    struct shim_state st = run(&s, "echo -n no newline", &log);
    CHECK_INT(st.exit_code, 0);
    CHECK_STR(st.reason, "Completed");
    CHECK_STR(log, "o:no newline\n");
    free(log);
    shim_spec_release(&s);
}

TEST(nothing_of_the_starter_is_inherited)
{
    struct shim_spec s;
    char *log;
    setenv("PODIUM_TEST_SECRET", "x", 1);
    int fd = open("/dev/null", O_RDONLY);
    CHECK(fcntl(fd, F_SETFD, 0) == 0 && dup2(fd, 9) == 9);
    run(&s, "env; ls /proc/self/fd; pwd; hostname", &log);
    CHECK(!strstr(log, "SECRET"));
    CHECK(!strstr(log, "o:9\n"));
    CHECK(!strstr(log, "HOME"));
    CHECK_HAS(log, "o:/\n");
    if (geteuid() == 0)
        CHECK_HAS(log, "o:pod-1\n");
    free(log);
    shim_spec_release(&s);
}

TEST(a_missing_program_is_a_start_error)
{
    struct shim_spec s;
    char text[512], *dir = container(&s, "");
    strv_release(&s.argv);
    strv_init(&s.argv);
    strv_push(&s.argv, "nope");
    CHECK_INT(start(&s, dir, text), 1);
    CHECK_STR(text, "exec: \"nope\": executable file not found in $PATH\n");
    struct shim_state st = wait_end(dir, 1000);
    CHECK_INT(st.exit_code, 128);
    CHECK_STR(st.reason, "StartError");
    free(dir);
    shim_spec_release(&s);
}

TEST(a_missing_path_is_named)
{
    struct shim_spec s;
    char text[512], *dir = container(&s, "");
    strv_release(&s.argv);
    strv_init(&s.argv);
    strv_push(&s.argv, "/app/train");
    CHECK_INT(start(&s, dir, text), 1);
    CHECK_STR(text, "exec: \"/app/train\": stat /app/train: no such file or directory\n");
    free(dir);
    shim_spec_release(&s);
}

/* --- connections ------------------------------------------------------------- */

static void send_frame(int fd, char type, const char *p, size_t n)
{
    struct str out;
    str_init(&out, SHIM_FRAME_MAX + 100);
    CHECK(shim_frame(&out, type, p, n));
    CHECK(write(fd, out.p, out.len) == (ssize_t)out.len);
    str_release(&out);
}

/* Collect frames until `stop` comes: outputs to out, the payload of stop to end. */
static void collect(int fd, char stop, struct str *out, char end[512])
{
    struct str in;
    str_init(&in, 64 << 20);
    for (int64_t until = clock_ms() + 10000; clock_ms() < until;) {
        char buf[65536], type;
        const char *p;
        size_t n;
        struct pollfd pf = {fd, POLLIN, 0};
        long used;
        while ((used = shim_parse(in.p, in.len, &type, &p, &n)) > 0) {
            if (type == SHIM_STDOUT || type == SHIM_STDERR)
                str_append(out, p, n);
            if (type == stop || type == SHIM_ERROR) {
                str_copy(end, MIN(512, n + 1), p);
                str_release(&in);
                return;
            }
            str_consume(&in, (size_t)used);
        }
        poll(&pf, 1, 100);
        ssize_t got = read(fd, buf, sizeof buf);
        CHECK_MSG(got != 0, "the shim closed without '%c'", stop);
        if (got > 0)
            str_append(&in, buf, (size_t)got);
    }
    t_fail(__FILE__, __LINE__, "no '%c' frame", stop);
}

static int connect_to(const char *dir)
{
    int fd = shim_connect(dir);
    CHECK_MSG(fd >= 0, "connect: %s", strerror(errno));
    return fd;
}

TEST(exec_has_its_own_code_and_streams)
{
    struct shim_spec s;
    char text[512], end[512], *dir = container(&s, "sleep 100");
    struct str out;
    str_init(&out, 1 << 20);
    CHECK_MSG(start(&s, dir, text) == 0, "%s", text);
    int fd = connect_to(dir);
    static const char req[] = "ioe\0sh\0-c\0cat; echo done; hostname; ls /bin/busybox; exit 3";
    send_frame(fd, SHIM_EXEC, req, sizeof req - 1);
    send_frame(fd, SHIM_STDIN, "hello\n", 6);
    send_frame(fd, SHIM_STDIN_END, "", 0);
    collect(fd, SHIM_EXIT, &out, end);
    CHECK_STR(end, "3");
    CHECK_HAS(out.p, "hello\ndone\n");
    CHECK_HAS(out.p, "/bin/busybox\n");
    close(fd);
    fd = connect_to(dir);
    send_frame(fd, SHIM_EXEC, "oe\0nope", 7);
    collect(fd, SHIM_EXIT, &out, end);
    CHECK_STR(end, "exec: \"nope\": executable file not found in $PATH");
    close(fd);
    fd = connect_to(dir);
    send_frame(fd, SHIM_STOP, "0", 1);
    CHECK_INT(wait_end(dir, 5000).exit_code, 137);
    close(fd);
    str_release(&out);
    free(dir);
    shim_spec_release(&s);
}

TEST(exec_with_a_terminal)
{
    struct shim_spec s;
    char text[512], end[512], *dir = container(&s, "sleep 100");
    struct str out;
    str_init(&out, 1 << 20);
    CHECK_MSG(start(&s, dir, text) == 0, "%s", text);
    int fd = connect_to(dir);
    static const char req[] = "iot\0sh\0-c\0[ -t 0 ] && echo terminal; read a; echo got $a";
    send_frame(fd, SHIM_EXEC, req, sizeof req - 1);
    send_frame(fd, SHIM_RESIZE, "101 33", 6);
    send_frame(fd, SHIM_STDIN, "line\n", 5);
    collect(fd, SHIM_EXIT, &out, end);
    CHECK_STR(end, "0");
    CHECK_HAS(out.p, "terminal\r\n");
    CHECK_HAS(out.p, "got line\r\n");
    close(fd);
    fd = connect_to(dir);
    send_frame(fd, SHIM_STOP, "0", 1);
    wait_end(dir, 5000);
    close(fd);
    str_release(&out);
    free(dir);
    shim_spec_release(&s);
}

TEST(ten_megabytes_through_exec_without_loss)
{
    struct shim_spec s;
    char text[512], end[512], *dir = container(&s, "sleep 100");
    struct str out;
    str_init(&out, 32 << 20);
    CHECK_MSG(start(&s, dir, text) == 0, "%s", text);
    int fd = connect_to(dir);
    static const char req[] = "oe\0dd\0if=/dev/zero\0bs=65536\0count=160\0status=none";
    send_frame(fd, SHIM_EXEC, req, sizeof req - 1);
    collect(fd, SHIM_EXIT, &out, end);
    CHECK_STR(end, "0");
    CHECK_INT(out.len, 160 * 65536);
    close(fd);
    fd = connect_to(dir);
    send_frame(fd, SHIM_STOP, "0", 1);
    wait_end(dir, 5000);
    str_release(&out);
    free(dir);
    shim_spec_release(&s);
}

TEST(attach_feeds_stdin_and_sees_output)
{
    struct shim_spec s;
    char text[512], end[512], *dir = container(&s, "read a; echo got $a; read b; echo then $b");
    struct str out;
    str_init(&out, 1 << 20);
    s.std_in = true;
    CHECK_MSG(start(&s, dir, text) == 0, "%s", text);
    int fd = connect_to(dir);
    send_frame(fd, SHIM_ATTACH, "ioe", 3);
    send_frame(fd, SHIM_STDIN, "one\n", 4);
    usleep(200000);
    close(fd);                         /* stdinOnce is off: stdin stays open */
    fd = connect_to(dir);
    send_frame(fd, SHIM_ATTACH, "ioe", 3);
    send_frame(fd, SHIM_STDIN, "two\n", 4);
    collect(fd, SHIM_EXIT, &out, end);
    CHECK_STR(end, "0");
    CHECK_HAS(out.p, "then two\n");
    char *log = log_texts(&s);
    CHECK_STR(log, "o:got one\no:then two\n");
    free(log);
    close(fd);
    str_release(&out);
    free(dir);
    shim_spec_release(&s);
}

TEST(stdin_once_ends_with_the_first_client)
{
    struct shim_spec s;
    char text[512], *dir = container(&s, "cat; exit 5");
    s.std_in = s.stdin_once = true;
    CHECK_MSG(start(&s, dir, text) == 0, "%s", text);
    int fd = connect_to(dir);
    send_frame(fd, SHIM_ATTACH, "i", 1);
    send_frame(fd, SHIM_STDIN, "x\n", 2);
    usleep(100000);
    close(fd);
    CHECK_INT(wait_end(dir, 5000).exit_code, 5);
    free(dir);
    shim_spec_release(&s);
}

TEST(watch_hears_of_the_end_after_it_is_on_disk)
{
    struct shim_spec s;
    char text[512], end[512], *dir = container(&s, "sleep 1; exit 9");
    struct str out;
    str_init(&out, 1 << 20);
    CHECK_MSG(start(&s, dir, text) == 0, "%s", text);
    int fd = connect_to(dir);
    send_frame(fd, SHIM_WATCH, "", 0);
    collect(fd, SHIM_STATE, &out, end);
    CHECK_HAS(end, "finished_us 0\n");
    collect(fd, SHIM_STATE, &out, end);
    CHECK_HAS(end, "exit_code 9\n");
    struct shim_state st;
    CHECK(shim_state_read(dir, &st) && st.exit_code == 9);
    close(fd);
    str_release(&out);
    free(dir);
    shim_spec_release(&s);
}

/* --- signals and limits -------------------------------------------------------- */

TEST(stop_is_sigterm_then_sigkill)
{
    struct shim_spec s;
    char text[512], *dir = container(&s, "trap 'exit 4' TERM; while :; do sleep 0.05; done");
    CHECK_MSG(start(&s, dir, text) == 0, "%s", text);
    usleep(200000);
    int fd = connect_to(dir);
    send_frame(fd, SHIM_STOP, "5000", 4);
    CHECK_INT(wait_end(dir, 4000).exit_code, 4);
    close(fd);
    free(dir);
    shim_spec_release(&s);
}

TEST(what_ignores_sigterm_is_killed_after_its_grace)
{
    struct shim_spec s;
    char text[512], *dir = container(&s, "trap '' TERM; while :; do sleep 0.05; done");
    CHECK_MSG(start(&s, dir, text) == 0, "%s", text);
    usleep(100000);
    int fd = connect_to(dir);
    int64_t began = clock_ms();
    send_frame(fd, SHIM_STOP, "600", 3);
    struct shim_state st = wait_end(dir, 5000);
    CHECK_INT(st.exit_code, 137);
    CHECK_INT(st.signal, SIGKILL);
    CHECK(clock_ms() - began >= 590);
    close(fd);
    free(dir);
    shim_spec_release(&s);
}

TEST(the_container_outlives_its_starter)
{
    struct shim_spec s;
    char *dir = container(&s, "sleep 0.7; echo still here; exit 6"), text[512];
    pid_t pid = fork();
    if (pid == 0) {
        start(&s, dir, text);
        raise(SIGKILL);
    }
    int status;
    CHECK(waitpid(pid, &status, 0) == pid && WIFSIGNALED(status));
    CHECK(shim_alive(dir));
    CHECK_INT(wait_end(dir, 5000).exit_code, 6);
    char *log = log_texts(&s);
    CHECK_STR(log, "o:still here\n");
    free(log);
    free(dir);
    shim_spec_release(&s);
}

static const char eat[] = "exec dd if=/dev/zero of=/dev/null bs=200M count=200";

TEST(too_much_memory_is_oomkilled)
{
    struct shim_spec s;
    char text[512], *dir = container(&s, eat);
    s.memory = 32 << 20;
    CHECK_MSG(start(&s, dir, text) == 0, "%s", text);
    struct shim_state st = wait_end(dir, 20000);
    CHECK_INT(st.exit_code, 137);
    CHECK_STR(st.reason, "OOMKilled");
    free(dir);
    shim_spec_release(&s);
}

TEST(the_log_rotates_and_loses_nothing_recent)
{
    struct shim_spec s;
    char text[512], *dir = container(&s, "seq 1 20000");
    s.log_max = 200 << 10;
    s.log_keep = 50;
    CHECK_MSG(start(&s, dir, text) == 0, "%s", text);
    wait_end(dir, 20000);
    struct strv files;
    strv_init(&files);
    crilog_files(s.log, &files);
    CHECK(files.n > 3);
    int next = 1;
    for (size_t i = 0; i < files.n; i++) {
        struct pd_err err;
        struct str t;
        str_init(&t, 8 << 20);
        CHECK_OK(path_read(files.v[i], 8 << 20, &t, &err));
        CHECK_MSG(t.len <= (200 << 10) + 100, "%s is too long", files.v[i]);
        for (char *p = t.p; *p; p += strcspn(p, "\n") + 1) {
            struct crilog_record r;
            CHECK(crilog_parse(p, strcspn(p, "\n"), &r));
            CHECK_INT(strtol(r.text, NULL, 10), next);
            next++;
        }
        str_release(&t);
    }
    CHECK_INT(next, 20001);
    strv_release(&files);
    free(dir);
    shim_spec_release(&s);
}

TEST(a_long_line_comes_in_pieces)
{
    struct shim_spec s;
    char *log;
    run(&s, "dd if=/dev/zero bs=20000 count=1 status=none; echo", &log);
    free(log);
    log = read_log(&s);
    const char *nl = memchr(log, '\n', CRILOG_LINE_MAX + 100);
    struct crilog_record r;
    CHECK(nl && crilog_parse(log, (size_t)(nl - log), &r));
    CHECK(!r.full);
    CHECK_INT(r.len, CRILOG_LINE_MAX);
    free(log);
    shim_spec_release(&s);
}

/* --- binds, users, and people without rights ------------------------------------ */

TEST(binds_are_read_only_when_asked_and_stay_inside)
{
    struct shim_spec s;
    char text[512],
        *dir = container(&s, "cat /cfg/a; touch /cfg/b || echo ro; touch /data/x && echo rw");
    struct pd_err err;
    char *cfg = path_join(t_dir(), "cfg"), *data = path_join(t_dir(), "data"),
         *out = path_join(t_dir(), "outside"), *link = path_join(s.rootfs, "data"),
         *a = path_join(cfg, "a"), *hit = path_join(out, "x"), *x = path_join(data, "x");
    CHECK_OK(path_mkdirs(cfg, 0755, &err));
    CHECK_OK(path_mkdirs(data, 0755, &err));
    CHECK_OK(path_mkdirs(out, 0755, &err));
    CHECK_OK(path_write_atomic(a, 0644, "A\n", 2, &err));
    CHECK(symlink(out, link) == 0);    /* an evil image: /data points out of it */
    shim_spec_add_bind(&s, cfg, NULL, "/cfg", true);
    shim_spec_add_bind(&s, data, NULL, "/data", false);
    CHECK_MSG(start(&s, dir, text) == 0, "%s", text);
    struct shim_state st = wait_end(dir, 5000);
    char *log = log_texts(&s);
    if (strcmp(st.isolation, "proot") != 0)
        CHECK_HAS(log, "o:ro\n");
    CHECK_HAS(log, "o:A\n");
    CHECK_HAS(log, "o:rw\n");
    CHECK_MSG(access(hit, F_OK) != 0, "the mount left the image");
    CHECK(access(x, F_OK) == 0);
    char *const own[] = {log, dir, cfg, data, out, link, a, hit, x};
    for (size_t i = 0; i < ARRAY_LEN(own); i++)
        free(own[i]);
    shim_spec_release(&s);
}

TEST(a_link_in_a_volume_does_not_lead_out_of_it)
{
    struct shim_spec s;
    char text[512], *dir = container(&s, "cat /deep/secret; cat /made/x; touch /new/n");
    struct pd_err err;
    char *volume = path_join(t_dir(), "volume"), *out = path_join(t_dir(), "outside"),
         *link = path_join(volume, "link"), *secret = path_join(out, "secret"),
         *in = path_join(volume, "sub"), *x = path_join(in, "x"),
         *n = path_join(volume, "a/b/n");
    CHECK_OK(path_mkdirs(in, 0755, &err));
    CHECK_OK(path_mkdirs(out, 0755, &err));
    CHECK_OK(path_write_atomic(secret, 0644, "of the machine\n", 15, &err));
    CHECK_OK(path_write_atomic(x, 0644, "of the pod\n", 11, &err));
    CHECK(symlink(out, link) == 0);    /* as another container of the pod may leave it */
    shim_spec_add_bind(&s, volume, "link", "/deep", false);
    shim_spec_add_bind(&s, volume, "sub", "/made", false);
    shim_spec_add_bind(&s, volume, "a/b", "/new", false);
    CHECK_MSG(start(&s, dir, text) == 0, "%s", text);
    wait_end(dir, 5000);
    char *log = log_texts(&s);
    CHECK_MSG(!strstr(log, "of the machine"), "the volume's link was followed");
    CHECK_HAS(log, "o:of the pod\n");
    CHECK_MSG(access(n, F_OK) == 0, "a missing subPath is made");
    char *const own[] = {log, dir, volume, out, link, secret, in, x, n};
    for (size_t i = 0; i < ARRAY_LEN(own); i++)
        free(own[i]);
    shim_spec_release(&s);
}

/* Where the container's root is the machine's: neither a device of the image,
 * nor one it makes, nor the kernel's switches. */
TEST(root_in_a_container_is_no_root_of_the_machine)
{
    struct shim_spec s;
    if (geteuid() != 0)
        t_skip("needs root");
    char text[512], *dir = container(&s, "cat /null && echo image; mknod /tmp/n c 1 3 && echo made;"
                                         "mknod /dev/n c 1 3 && echo made;"
                                         "cat /dev/null && echo null;"
                                         "cat /proc/sys/vm/swappiness >/dev/null && echo reads;"
                                         "echo 60 >/proc/sys/vm/swappiness && echo writes;"
                                         "echo >/proc/sysrq-trigger && echo sysrq");
    char *device = path_join(s.rootfs, "null");
    if (mknod(device, S_IFCHR | 0666, 1 << 8 | 3) != 0)
        t_skip("devices can't be made here");
    CHECK_MSG(start(&s, dir, text) == 0, "%s", text);
    struct shim_state st = wait_end(dir, 5000);
    char *log = log_texts(&s);
    if (strcmp(st.isolation, "proot") == 0)
        t_skip("proot isolates nothing");
    CHECK_MSG(!strstr(log, "o:image"), "a device of the image works");
    CHECK_MSG(!strstr(log, "o:made"), "a device can be made");
    CHECK_MSG(!strstr(log, "o:writes"), "a sysctl can be set");
    CHECK_MSG(!strstr(log, "o:sysrq"), "sysrq can be asked");
    CHECK_HAS(log, "o:null\n");
    CHECK_HAS(log, "o:reads\n");
    free(device);
    free(log);
    free(dir);
    shim_spec_release(&s);
}

static void become_nobody(void)
{
    if (geteuid() != 0)
        return;
    CHECK(chown(t_dir(), 65534, 65534) == 0);
    CHECK(setgroups(0, NULL) == 0 && setresgid(65534, 65534, 65534) == 0 &&
          setresuid(65534, 65534, 65534) == 0);
    prctl(PR_SET_DUMPABLE, 1);
}

static void unprivileged(const char *kind)
{
    struct shim_spec s;
    become_nobody();
    char text[512], end[512],
        *dir = container(&s, "id; [ -d /proc/1 ] && echo proc; trap 'exit 3' TERM;"
                             " while :; do sleep 0.05; done");
    struct str out;
    str_init(&out, 1 << 20);
    s.force = xstrdup(kind);
    if (start(&s, dir, text) != 0)
        t_skip(text);
    int fd = connect_to(dir);
    static const char req[] = "oe\0sh\0-c\0ls /bin/busybox; exit 3";
    send_frame(fd, SHIM_EXEC, req, sizeof req - 1);
    collect(fd, SHIM_EXIT, &out, end);
    CHECK_STR(end, "3");
    CHECK_STR(out.p, "/bin/busybox\n");
    close(fd);
    usleep(200000);
    fd = connect_to(dir);
    send_frame(fd, SHIM_STOP, "3000", 4);
    struct shim_state st = wait_end(dir, 5000);
    CHECK_STR(st.isolation, kind);
    CHECK_INT(st.exit_code, 3);
    char *log = log_texts(&s);
    CHECK_HAS(log, "o:uid=0");
    CHECK_HAS(log, "o:proc\n");
    if (strcmp(kind, "proot") == 0)
        CHECK_HAS(st.missing, "not isolated");
    free(log);
    close(fd);
    str_release(&out);
    free(dir);
    shim_spec_release(&s);
}

TEST(an_unprivileged_user_gets_a_user_namespace)
{
    unprivileged("user-namespace");
}

TEST(without_namespaces_proot_shows_the_image)
{
    unprivileged("proot");
}

TEST(an_unprivileged_memory_limit_is_sampled)
{
    struct shim_spec s;
    become_nobody();
    char text[512], *dir = container(&s, eat);
    s.memory = 32 << 20;
    if (start(&s, dir, text) != 0)
        t_skip(text);
    struct shim_state st = wait_end(dir, 20000);
    CHECK_INT(st.exit_code, 137);
    CHECK_STR(st.reason, "OOMKilled");
    if (strstr(st.missing, "sampled"))
        CHECK_HAS(st.message, "sampled every 100 ms");
    free(dir);
    shim_spec_release(&s);
}

TEST(another_user_has_no_capabilities)
{
    struct shim_spec s;
    if (geteuid() != 0)
        t_skip("needs root");
    char text[512], *dir = container(&s, "id; cat /proc/self/status");
    s.uid = 65532;
    s.gid = 65532;
    CHECK_MSG(start(&s, dir, text) == 0, "%s", text);
    wait_end(dir, 5000);
    char *log = log_texts(&s);
    CHECK_HAS(log, "o:uid=65532 gid=65532");
    CHECK_HAS(log, "CapEff:\t0000000000000000");
    CHECK_HAS(log, "NoNewPrivs:\t1");
    free(log);
    free(dir);
    shim_spec_release(&s);
}

TEST(a_spec_survives_the_file)
{
    struct shim_spec s, r;
    struct pd_err err;
    shim_spec_init(&s);
    s.name = xstrdup("c");
    s.rootfs = xstrdup("/r");
    s.log = xstrdup("/l");
    s.cwd = xstrdup("/with space\nand \\ more");
    s.memory = INT64_C(5) << 33;
    strv_push(&s.argv, "a b\n\\n");
    strv_push(&s.argv, "");
    shim_spec_add_bind(&s, "/x y", "a b", "/z", true);
    shim_spec_add_bind(&s, "/q", NULL, "/w", false);
    CHECK_OK(shim_spec_write(&s, t_dir(), &err));
    CHECK_OK(shim_spec_read(t_dir(), &r, &err));
    CHECK_STR(r.cwd, s.cwd);
    CHECK_INT(r.argv.n, 2);
    CHECK_STR(r.argv.v[0], s.argv.v[0]);
    CHECK_STR(r.argv.v[1], "");
    CHECK_INT(r.memory, s.memory);
    CHECK_INT(r.binds, 2);
    CHECK_STR(r.bind[0].from, "/x y");
    CHECK_STR(r.bind[0].sub, "a b");
    CHECK(r.bind[0].read_only && !r.bind[1].read_only && !r.bind[1].sub);
    shim_spec_release(&s);
    shim_spec_release(&r);
}

T_MAIN
