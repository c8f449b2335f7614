/* k8s_exec.c - exec and attach: channels, exit codes, v5 and v4, stdin, 10 MB,
 * a recorded session; and copying out. */
#include "tests/api/client_fakews.h"

#include <sys/stat.h>

#include "core/base/clock.h"
#include "core/base/path.h"
#include "k8s/copy.h"
#include "tests/unit/run_until.h"

static struct fake f;
static struct loop *l;
static struct k8s *k;
static struct exec *e;
static struct {
    int opens, exits, code;
    bool half_close;
    struct str out, err_out;
    struct pd_err err;
} got;

static void on_open(void *arg UNUSED, bool half_close)
{
    got.opens++;
    got.half_close = half_close;
}

static void on_output(void *arg UNUSED, int channel, const char *p, size_t n)
{
    str_append(channel == 1 ? &got.out : &got.err_out, p, n);
}

static void on_end(void *arg UNUSED, int code, const struct pd_err *err)
{
    got.exits++;
    got.code = code;
    if (err)
        got.err = *err;
}

static const struct exec_handlers handlers = {.open = on_open, .output = on_output, .exit = on_end};

static void begin(fake_fn *fn)
{
    char base[64];
    struct kube_context x;
    f = fake_start(fn);
    l = loop_new();
    kube_context_init(&x);
    x.server = xstrdup(fake_base(&f, base));
    x.ns = xstrdup("lab");
    x.token = xstrdup("t0ken");
    k = k8s_open(l, &x, 1, NULL);
    kube_context_release(&x);
    str_init(&got.out, 64 << 20);
    str_init(&got.err_out, 64 << 20);
}

static void start(char *const *argv, bool std_in)
{
    struct exec_spec spec = {.pod = "p", .container = "c", .argv = argv, .std_in = std_in};
    e = exec_start(k, &spec, &handlers);
}

static void finish(void)
{
    k8s_close(k);
    loop_free(l);
    str_release(&got.out);
    str_release(&got.err_out);
}

static const char exit_7[] =
    "{\"metadata\":{},\"status\":\"Failure\",\"message\":\"command terminated with non-zero exit "
    "code\",\"reason\":\"NonZeroExitCode\",\"details\":{\"causes\":[{\"reason\":\"ExitCode\","
    "\"message\":\"7\"}]}}";

static void serve_exit_7(struct fake_conn *c)
{
    CHECK(fake_request(c));
    fake_ws_accept(c, "v5.channel.k8s.io");
    fake_ws_channel(c, 1, "");
    fake_ws_channel(c, 1, "out put\n");
    fake_ws_channel(c, 2, "err\n");
    fake_ws_channel(c, 3, exit_7);
    fake_ws_close(c, 1000);
}

TEST(exec_gives_output_and_exit_code)
{
    char *argv[] = {"sh", "-c", "a & b", NULL};
    begin(serve_exit_7);
    start(argv, false);
    RUN_UNTIL(got.exits == 1);
    CHECK_INT(got.code, 7);
    CHECK_INT(got.opens, 1);
    CHECK(got.half_close);
    CHECK_STR(got.out.p, "out put\n");
    CHECK_STR(got.err_out.p, "err\n");
    CHECK_STR(f.s->line[0], "GET /api/v1/namespaces/lab/pods/p/exec?command=sh&command=-c&"
                            "command=a%20%26%20b&container=c&stdout=true&stderr=true");
    CHECK_HAS(f.s->head, "Sec-WebSocket-Protocol: v5.channel.k8s.io, v4.channel.k8s.io\r\n");
    CHECK_HAS(f.s->head, "Authorization: Bearer t0ken\r\n");
    finish();
}

/* Echoes stdin; on the v5 half close it says what it counted. */
static void serve_cat(struct fake_conn *c)
{
    struct ws_frame fr;
    static char in[70000];
    char text[64];
    long long n = 0;
    bool v4 = strstr(c->head, "none") != NULL;
    CHECK(fake_request(c));
    v4 = strstr(c->path, "container=v4") != NULL;
    fake_ws_accept(c, v4 ? "v4.channel.k8s.io" : "v5.channel.k8s.io");
    while (fake_ws_read(c, &fr, in, sizeof in)) {
        if (fr.opcode != WS_BINARY)
            continue;
        if (in[0] == 0) {
            n += (long long)fr.n - 1;
            if (fr.n < 100)
                fake_ws_channel(c, 1, in + 1);
        } else if (in[0] == 4) {
            fake_ws_channel(c, 1, in + 1);
        } else if ((unsigned char)in[0] == 255 && in[1] == 0) {
            snprintf(text, sizeof text, "%lld bytes", n);
            fake_ws_channel(c, 1, text);
            fake_ws_channel(c, 3, "{\"status\":\"Success\"}");
            fake_ws_close(c, 1000);
        }
    }
}

TEST(exec_sends_stdin_and_half_closes)
{
    static char big[10 << 20];
    char *argv[] = {"cat", NULL};
    begin(serve_cat);
    start(argv, true);
    exec_send(e, "hi", 2);
    exec_resize(e, 80, 24);
    exec_send(e, big, sizeof big);
    CHECK(exec_close_stdin(e));
    RUN_UNTIL(got.exits == 1);
    CHECK_INT(got.code, 0);
    CHECK_STR(got.out.p, "hi{\"Width\":80,\"Height\":24}10485762 bytes");
    finish();
}

TEST(attach_on_v4_says_that_it_cannot_half_close)
{
    begin(serve_cat);
    struct exec_spec spec = {.pod = "p", .container = "v4", .std_in = true};
    e = exec_start(k, &spec, &handlers);
    RUN_UNTIL(got.opens == 1);
    CHECK(!got.half_close);
    CHECK(!exec_close_stdin(e));
    CHECK_HAS(f.s->line[0], "/pods/p/attach?container=v4&stdin=true&stdout=true");
    exec_close(e);
    for (int i = 0; i < 3; i++)
        loop_turn(l, 5);
    CHECK_INT(got.exits, 0);
    finish();
}

static void serve_10mb(struct fake_conn *c)
{
    static char data[32769];
    CHECK(fake_request(c));
    fake_ws_accept(c, "v5.channel.k8s.io");
    data[0] = 1;
    for (int i = 0; i < 320; i++) {
        memset(data + 1, 'a' + i % 26, sizeof data - 1);
        fake_ws_frame(c, WS_BINARY, true, data, sizeof data, 0);
    }
    fake_ws_channel(c, 3, "{\"status\":\"Success\"}");
    fake_ws_close(c, 1000);
}

TEST(exec_loses_nothing_of_10_mib)
{
    char *argv[] = {"cat", "big", NULL};
    begin(serve_10mb);
    start(argv, false);
    RUN_UNTIL(got.exits == 1);
    CHECK_INT((long long)got.out.len, 10 << 20);
    for (int i = 0; i < 320; i++)
        CHECK(got.out.p[i * 32768 + 5] == 'a' + i % 26);
    finish();
}

/* Says all, then drops the link with our bytes unread: the kernel sends RST. */
static void serve_reset(struct fake_conn *c)
{
    CHECK(fake_request(c));
    fake_ws_accept(c, "v5.channel.k8s.io");
    fake_sleep(300);                             /* the client's stdin arrives */
    fake_ws_channel(c, 1, "said");
    fake_ws_channel(c, 3, exit_7);
    fake_ws_close(c, 1000);
    close(c->fd);
    _exit(0);
}

TEST(exec_hears_what_was_said_before_a_reset)
{
    static char big[4 << 20];
    char *argv[] = {"x", NULL};
    begin(serve_reset);
    start(argv, true);
    exec_send(e, big, sizeof big);
    RUN_UNTIL(got.opens == 1);
    fake_sleep(600);                             /* all of it is here, the link is not */
    RUN_UNTIL(got.exits == 1);
    CHECK_INT(got.code, 7);
    CHECK_STR(got.out.p, "said");
    finish();
}

static void serve_failures(struct fake_conn *c)
{
    CHECK(fake_request(c));
    if (strstr(c->path, "container=gone")) {
        fake_json(c, 404, "{\"kind\":\"Status\",\"reason\":\"NotFound\",\"code\":404,"
                          "\"message\":\"pods \\\"p\\\" not found\"}");
    } else if (strstr(c->path, "container=die")) {
        fake_ws_accept(c, "v5.channel.k8s.io");
        fake_ws_channel(c, 1, "half");
    } else if (strstr(c->path, "container=shut")) {
        fake_ws_accept(c, "v5.channel.k8s.io");
        fake_ws_close(c, 1000);
    } else {
        fake_ws_accept(c, "v5.channel.k8s.io");
        fake_ws_channel(c, 3, "{\"kind\":\"Status\",\"status\":\"Failure\",\"reason\":\"Internal"
                              "Error\","
                              "\"code\":500,\"message\":\"exec failed: no such file\"}");
        fake_ws_close(c, 1000);
    }
}

TEST(exec_failures_have_a_reason_and_no_invented_code)
{
    static const struct {
        const char *container, *part;
        enum pd_code code;
    } cases[] = {{"gone", "pods \"p\" not found", PD_NOTFOUND},
                 {"die", "without a WebSocket Close", PD_NET},
                 {"shut", "before the exit code", PD_PROTO},
                 {"inner", "no such file", PD_HTTP}};
    char *argv[] = {"x", NULL};
    begin(serve_failures);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct exec_spec spec = {.pod = "p", .container = cases[i].container, .argv = argv};
        exec_start(k, &spec, &handlers);
        RUN_UNTIL(got.exits == (int)i + 1);
        CHECK_INT(got.code, -1);
        CHECK_INT(got.err.code, cases[i].code);
        CHECK_HAS(got.err.msg, cases[i].part);
    }
    finish();
}

/* A recorded session: 4-byte length, then the message. */
TEST(exec_reads_the_recorded_session)
{
    struct str s;
    struct pd_err err;
    struct exec_result r = {.ended = false};
    str_init(&s, 1 << 20);
    str_init(&got.out, 1 << 20);
    str_init(&got.err_out, 1 << 20);
    CHECK_OK(path_read(PODIUM_SOURCE_DIR
                       "/tests/cases/watch-log-exec/005-exec-exit-code/frames.bi"
                       "n", 1 << 20, &s, &err));
    for (size_t at = 0; at + 4 <= s.len;) {
        const unsigned char *p = (const unsigned char *)s.p + at;
        size_t n = (size_t)p[0] << 24 | (size_t)p[1] << 16 | (size_t)p[2] << 8 | p[3];
        CHECK(at + 4 + n <= s.len);
        exec_message(&r, &handlers, s.p + at + 4, n);
        at += 4 + n;
    }
    CHECK(r.ended);
    CHECK_INT(r.code, 5);
    CHECK_STR(got.out.p, "out put\n");
    CHECK_STR(got.err_out.p, "err\n");
    str_release(&s);
    str_release(&got.out);
    str_release(&got.err_out);
}

/* --- copy --- */

static struct {
    int files, dones;
    char names[1000], sums[1000], all[65];
    struct pd_err err;
    int64_t last;
} copied;

static void on_file(void *arg UNUSED, const char *path, int64_t size, const char *sha256)
{
    size_t n = strlen(copied.names);
    copied.files++;
    str_fmt(copied.names + n, sizeof copied.names - n, "%s:%lld ", path, (long long)size);
    n = strlen(copied.sums);
    str_fmt(copied.sums + n, sizeof copied.sums - n, "%s ", sha256);
}

static void on_copy_progress(void *arg UNUSED, int64_t done, int64_t total UNUSED,
                             const char *path UNUSED)
{
    CHECK(done > copied.last);
    copied.last = done;
}

static void on_done(void *arg UNUSED, const char *sha256, int files UNUSED,
                    const struct pd_err *err)
{
    copied.dones++;
    str_copy(copied.all, sizeof copied.all, sha256);
    if (err)
        copied.err = *err;
}

static char tar_path[300];

/* Sends the tar file of the test on stdout. */
static void serve_tar(struct fake_conn *c)
{
    char buf[9001];
    FILE *file = fopen(tar_path, "r");
    size_t n;
    CHECK(fake_request(c));
    fake_ws_accept(c, "v5.channel.k8s.io");
    buf[0] = 1;
    while ((n = fread(buf + 1, 1, sizeof buf - 1, file)) > 0)
        fake_ws_frame(c, WS_BINARY, true, buf, n + 1, 0);
    fake_ws_channel(c, 3, strstr(c->path, "command=fail") ? exit_7 : "{\"status\":\"Success\"}");
    fake_ws_close(c, 1000);
}

static void make_tar(const char *script)
{
    char *line = xasprintf("cd %s && mkdir src && cd src && %s", t_dir(), script);
    char *argv[] = {"sh", "-c", line, NULL};
    str_fmt(tar_path, sizeof tar_path, "%s/a.tar", t_dir());
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0) {
        execvp("sh", argv);
        _exit(127);
    }
    int status;
    waitpid(pid, &status, 0);
    CHECK_INT(status, 0);
    free(line);
}

static void copy_to(char to[300], const char *command)
{
    char *argv[] = {(char *)(uintptr_t)command, NULL};
    struct copy_handlers h = {on_copy_progress, on_file, on_done, NULL};
    str_fmt(to, 300, "%s/out", t_dir());
    struct copy_spec spec = {.pod = "p", .argv = argv, .to = to};
    begin(serve_tar);
    copy_start(k, &spec, &h);
    RUN_UNTIL(copied.dones == 1);
}

TEST(copy_unpacks_with_checksums)
{
    char to[300], path[400];
    struct str s;
    struct pd_err err;
    make_tar("mkdir -p d/e; echo hello > d/a.txt; : > d/e/empty; "
             "head -c 3000000 /dev/zero | tr '\\0' z > d/e/big; "
             "long=$(printf 'x%.0s' $(seq 1 140)); echo l > d/$long; "
             "tar cf ../a.tar --format=pax ./d");
    copy_to(to, "tar");
    CHECK_INT(copied.err.code, PD_OK);
    CHECK_INT(copied.files, 4);
    CHECK_HAS(copied.names, "d/a.txt:6 ");
    CHECK_HAS(copied.names, "d/e/big:3000000 ");
    CHECK_HAS(copied.sums, "5891b5b522d5df086d0ff0b110fbd9d21bb4fc7163af34d08286a2e846f6be03");
    str_fmt(path, sizeof path, "%s/d/a.txt", to);
    str_init(&s, 100);
    CHECK_OK(path_read(path, 100, &s, &err));
    CHECK_STR(s.p, "hello\n");
    CHECK_INT((long long)strlen(copied.all), 64);
    str_release(&s);
    finish();
}

TEST(copy_reads_gnu_long_names_too)
{
    char to[300];
    make_tar("long=$(printf 'y%.0s' $(seq 1 140)); mkdir d; echo l > d/$long; "
             "tar cf ../a.tar --format=gnu d");
    copy_to(to, "tar");
    CHECK_INT(copied.err.code, PD_OK);
    CHECK_HAS(copied.names, "d/yyyyyyyyyyyyyyyyyyyyyyyyyyyy");
    finish();
}

TEST(copy_refuses_paths_that_leave_the_folder)
{
    char to[300], path[400];
    struct stat st;
    make_tar("mkdir d; echo x > d/f; tar cf ../a.tar --transform 's,^d,../outside,' d/f");
    copy_to(to, "tar");
    CHECK_INT(copied.err.code, PD_IO);
    CHECK_HAS(copied.err.msg, "leaves the folder");
    str_fmt(path, sizeof path, "%s/outside", t_dir());
    CHECK(stat(path, &st) < 0);
    finish();
}

TEST(copy_refuses_links)
{
    char to[300];
    make_tar("mkdir d; ln -s /etc d/link; tar cf ../a.tar d");
    copy_to(to, "tar");
    CHECK_HAS(copied.err.msg, "neither a plain file nor a folder");
    finish();
}

TEST(copy_does_not_follow_a_link_that_is_there)
{
    char to[300], line[700];
    make_tar("mkdir d; echo x > d/f; tar cf ../a.tar d");
    str_fmt(line, sizeof line, "%s/out", t_dir());
    CHECK(mkdir(line, 0700) == 0);
    str_fmt(line, sizeof line, "%s/out/d", t_dir());
    CHECK(symlink("/tmp", line) == 0);
    copy_to(to, "tar");
    CHECK_HAS(copied.err.msg, "no folder");
    finish();
}

TEST(copy_says_when_the_archive_is_cut_or_the_command_fails)
{
    char to[300], path[400];
    struct stat st;
    make_tar("mkdir d; head -c 100000 /dev/zero > d/f; tar cf ../b.tar d; "
             "head -c 50000 ../b.tar > ../a.tar");
    copy_to(to, "tar");
    CHECK_INT(copied.err.code, PD_PROTO);
    CHECK_HAS(copied.err.msg, "cut off at d/f");
    str_fmt(path, sizeof path, "%s/d/f", to);
    CHECK(stat(path, &st) < 0);                  /* no half file under its name */
    str_fmt(path, sizeof path, "%s/d/f.part", to);
    CHECK(stat(path, &st) < 0);
    finish();
    memset(&copied, 0, sizeof copied);
    copy_to(to, "fail");
    CHECK_HAS(copied.err.msg, "ended with 7");
    finish();
}

TEST(untar_takes_any_split)
{
    struct str s;
    struct pd_err err;
    char to[300];
    make_tar("mkdir d; echo hello > d/a; echo world > d/b; tar cf ../a.tar --format=pax d");
    str_init(&s, 1 << 20);
    CHECK_OK(path_read(tar_path, 1 << 20, &s, &err));
    str_fmt(to, sizeof to, "%s/out", t_dir());
    for (size_t piece = 1; piece < 1100; piece += piece < 20 ? 1 : 97) {
        struct untar *u = untar_new(to, on_file, NULL);
        copied.files = 0;
        copied.names[0] = copied.sums[0] = '\0';
        for (size_t at = 0; at < s.len; at += piece)
            CHECK_OK(untar_feed(u, s.p + at, MIN(piece, s.len - at), &err));
        CHECK_OK(untar_end(u, &err));
        CHECK_INT(copied.files, 2);
        untar_free(u);
    }
    str_release(&s);
}

T_MAIN
