/* k8s_live.c - the whole client against the practice cluster, over HTTPS with
 * its own CA and token: list, watch, apply, log, exec, attach, copy out, delete.
 * A small static program, built here, is the container. */
#include "tests/t.h"

#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/base/mem.h"
#include "core/base/path.h"
#include "k8s/copy.h"
#include "k8s/podlog.h"
#include "tests/unit/k8s_store.h"
#include "tests/unit/run_until.h"

static const char program[] =
    "#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n#include <time.h>\n"
    "int main(int n, char **v) {\n"
    "  if (n > 2 && !strcmp(v[1], \"lines\"))\n"
    "    for (int i = 0; i < atoi(v[2]); i++) {\n"
    "      printf(\"line %d\\n\", i); fflush(stdout);\n"
    "      struct timespec t = {0, 5000000}; nanosleep(&t, 0);\n"
    "    }\n"
    "  if (n > 1 && !strcmp(v[1], \"cat\")) {\n"
    "    static char b[65536]; size_t k, all = 0;\n"
    "    while ((k = fread(b, 1, sizeof b, stdin)) > 0) all += k;\n"
    "    printf(\"%zu bytes\\n\", all);\n"
    "  }\n"
    "  if (n > 1 && !strcmp(v[1], \"zeros\"))\n"
    "    for (int i = 0; i < 10 * 1024; i++) { static char z[1024]; fwrite(z, 1, 1024, stdout); }\n"
    "  if (n > 2 && !strcmp(v[1], \"exit\")) { fprintf(stderr, \"bad\\n\"); return atoi(v[2]); }\n"
    "  if (n > 2 && !strcmp(v[1], \"tar\")) {\n"
    "    static char h[512], d[512], z[1024]; unsigned s = 0;\n"
    "    snprintf(h, 100, \"out/hello\"); snprintf(h + 100, 8, \"%07o\", 0644);\n"
    "    snprintf(h + 124, 12, \"%011o\", 6); h[156] = '0'; memcpy(h + 257, \"ustar\\00000\", 8);\n"
    "    memset(h + 148, ' ', 8); for (int i = 0; i < 512; i++) s += (unsigned char)h[i];\n"
    "    snprintf(h + 148, 8, \"%06o\", s); memcpy(d, \"hello\\n\", 6);\n"
    "    fwrite(h, 1, 512, stdout); fwrite(d, 1, 512, stdout); fwrite(z, 1, 1024, stdout);\n"
    "  }\n"
    "  if (n > 1 && !strcmp(v[1], \"echo\")) {\n"
    "    char b[256];\n"
    "    printf(\"ready\\n\"); fflush(stdout);\n"
    "    while (fgets(b, sizeof b, stdin)) { printf(\"got %s\", b); fflush(stdout);\n"
    "      if (!strncmp(b, \"quit\", 4)) return 0; }\n"
    "  }\n"
    "  return 0;\n}\n";

static char bin[4096];
static struct loop *l;
static struct k8s *k;
static struct {
    int replies, status;
    struct json *object;
    struct pd_err err;
    struct str out, err_out;
    int exits, code, opens;
    int lines, ended, files, copied;
    bool in_order;
    char sum[65];
} got;

static int shell(const char *fmt, const char *a, const char *b)
{
    char *text = xasprintf("cd %s && exec >>log 2>&1; %s", t_dir(), fmt);
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0) {
        execl("/bin/sh", "sh", "-c", text, "sh", a, b, (char *)NULL);
        _exit(127);
    }
    int status;
    waitpid(pid, &status, 0);
    free(text);
    return status;
}

static void stop_cluster(void)
{
    shell("\"$1\"/podium-practice reset", bin, "");
}

static void find_programs(void)
{
    ssize_t n = readlink("/proc/self/exe", bin, sizeof bin - 1);
    CHECK(n > 0);
    bin[n] = '\0';
    for (int up = 0; up < 2; up++)
        *strrchr(bin, '/') = '\0';
    char *path = path_join(bin, "podium-practice");
    if (access(path, X_OK) != 0)
        t_skip("podium-practice is not built");
    free(path);
}

static void start_cluster(void)
{
    struct pd_err err;
    find_programs();
    setenv("HOME", t_dir(), 1);
    unsetenv("KUBECONFIG");
    unsetenv("XDG_STATE_HOME");
    unsetenv("XDG_DATA_HOME");
    unsetenv("XDG_RUNTIME_DIR");
    unsetenv("XDG_CONFIG_HOME");
    unsetenv("XDG_CACHE_HOME");
    CHECK(chdir(t_dir()) == 0);
    CHECK_OK(path_write_atomic("p.c", 0600, program, strlen(program), &err));
    CHECK_INT(shell("mkdir img && cc -O1 -static -o img/p p.c && "
                    "printf 'FROM scratch\\nCOPY p /p\\nENTRYPOINT [\"/p\"]\\n' > "
                    "img/Dockerfile && "
                    "\"$1\"/podium-practice start && "
                    "\"$1\"/podium-practice kubeconfig > config", bin, ""), 0);
    atexit(stop_cluster);
}

static void connect_client(void)
{
    struct pd_err err;
    struct kube_context x;
    struct kube_options o = {.kubeconfig = "config"};
    l = loop_new();
    CHECK_OK(kubeconfig_open(&o, &x, &err));
    CHECK(str_starts(x.server, "https://127.0.0.1:"));
    k = k8s_open(l, &x, 1, NULL);
    str_init(&got.out, 64 << 20);
    str_init(&got.err_out, 64 << 20);
    char *ref = xasprintf("%s/p:1", x.server + 8);
    CHECK_INT(shell("\"$1\"/podium image build -t \"$2\" --push --kubeconfig config "
                    "img", bin, ref), 0);
    setenv("T_IMAGE", ref, 1);
    free(ref);
    kube_context_release(&x);
}

static void on_reply(void *arg UNUSED, int status, const struct json *object,
                     const struct pd_err *err)
{
    got.replies++;
    got.status = status;
    json_free(got.object);
    got.object = object ? json_copy(object) : NULL;
    memset(&got.err, 0, sizeof got.err);
    if (err)
        got.err = *err;
}

static void apply(const char *name, const char *args, bool std_in)
{
    int before = got.replies;
    char *text = xasprintf("{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"%s\"},"
                           "\"spec\":{\"restartPolicy\":\"Never\",\"containers\":[{\"name\":\"c\","
                           "\"image\":\"%s\",\"stdin\":%s,\"args\":%s}]}}", name, getenv("T_IMAGE"),
                           std_in ? "true" : "false", args);
    struct json *o = json_from(text);
    k8s_apply(k, o, false, false, on_reply, NULL);
    RUN_UNTIL(got.replies == before + 1);
    CHECK_STR(got.err.msg, "");
    CHECK_INT(got.status, 201);
    json_free(o);
    free(text);
}

static const char *phase(const struct store *s, const char *name)
{
    return json_str(store_find(s, "default", name), "status.phase", "");
}

static void on_line(void *arg UNUSED, int64_t ts_ns, const char *text, size_t n UNUSED,
                    bool cut UNUSED)
{
    char want[32];
    str_fmt(want, sizeof want, "line %d", got.lines++);
    got.in_order &= !strcmp(text, want) && ts_ns > 0;
}

static void on_log_state(void *arg UNUSED, enum podlog_state s, const struct pd_err *err UNUSED)
{
    got.ended += s == PODLOG_ENDED;
}

static void on_open(void *arg UNUSED, bool half_close)
{
    got.opens++;
    CHECK(half_close);
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

static struct exec *run(const char *pod, const char *const *argv, bool std_in)
{
    char *v[8] = {NULL};
    for (int i = 0; argv && argv[i]; i++)
        v[i] = (char *)(uintptr_t)argv[i];
    struct exec_spec spec = {.pod = pod, .container = "c", .argv = argv ? v : NULL,
                             .std_in = std_in};
    got.exits = got.opens = 0;
    got.err.msg[0] = '\0';
    str_clear(&got.out);
    str_clear(&got.err_out);
    return exec_start(k, &spec, &handlers);
}

static void check_exec(void)
{
    static char big[3 << 20];
    run("worker", (const char *[]){"/p", "exit", "7", NULL}, false);
    RUN_UNTIL(got.exits == 1);
    CHECK_STR(got.err.msg, "");
    CHECK_INT(got.code, 7);
    CHECK_STR(got.err_out.p, "bad\n");
    struct exec *e = run("worker", (const char *[]){"/p", "cat", NULL}, true);
    exec_send(e, big, sizeof big);
    exec_close_stdin(e);
    RUN_UNTIL(got.exits == 1);
    CHECK_STR(got.out.p, "3145728 bytes\n");
    CHECK_INT(got.code, 0);
    run("worker", (const char *[]){"/p", "zeros", NULL}, false);
    RUN_UNTIL(got.exits == 1);
    CHECK_INT((long long)got.out.len, 10 << 20);
    run("worker", (const char *[]){"/not-there", NULL}, false);
    RUN_UNTIL(got.exits == 1);
    CHECK(got.code != 0);
}

static void on_file(void *arg UNUSED, const char *path, int64_t size, const char *sha256)
{
    got.files++;
    CHECK_STR(path, "out/hello");
    CHECK_INT(size, 6);
    str_copy(got.sum, sizeof got.sum, sha256);
}

static void on_copied(void *arg UNUSED, const char *sha256 UNUSED, int files,
                      const struct pd_err *err)
{
    got.copied++;
    CHECK_STR(err ? err->msg : "", "");
    CHECK_INT(files, 1);
}

static void check_copy(void)
{
    char *argv[] = {"/p", "tar", "x", NULL};
    struct copy_spec spec = {.pod = "worker", .container = "c", .argv = argv, .to = "copied"};
    struct copy_handlers h = {.file = on_file, .done = on_copied};
    copy_start(k, &spec, &h);
    RUN_UNTIL(got.copied == 1);
    CHECK_STR(got.sum, "5891b5b522d5df086d0ff0b110fbd9d21bb4fc7163af34d08286a2e846f6be03");
}

static void check_attach(struct store *s)
{
    struct exec *e = run("worker", NULL, true);
    RUN_UNTIL(got.opens == 1);
    exec_send(e, "hello\n", 6);
    RUN_UNTIL(strstr(got.out.p, "got hello\n"));
    exec_send(e, "quit\n", 5);
    RUN_UNTIL(!strcmp(phase(s, "worker"), "Succeeded"));
    RUN_UNTIL(got.exits == 1);
    CHECK_HAS(got.out.p, "got quit\n");
}

TEST(live_client_against_the_practice_cluster)
{
    struct store *nodes = store_new(), *pods = store_new();
    start_cluster();
    connect_client();
    struct watch_spec ns = {.res = "nodes"}, ps = {.res = "pods"};
    struct watch_handlers nh = store_handlers(nodes, NULL, NULL);
    struct watch_handlers ph = store_handlers(pods, NULL, NULL);
    struct watch *nw = watch_start(k, &ns, &nh), *pw = watch_start(k, &ps, &ph);
    RUN_UNTIL(store_synced(nodes) && store_synced(pods) && watch_state(pw) == WATCH_LIVE);
    CHECK_INT((long long)store_count(nodes), 3);

    apply("logger", "[\"lines\",\"300\"]", false);
    apply("worker", "[\"echo\"]", true);
    RUN_UNTIL(!strcmp(phase(pods, "logger"), "Running"));
    struct podlog_spec ls = {.pod = "logger", .container = "c", .follow = true, .tail = -1};
    struct podlog_handlers lh = {on_line, on_log_state, NULL};
    got.in_order = true;
    podlog_start(k, &ls, &lh);
    RUN_UNTIL(!strcmp(phase(pods, "worker"), "Running"));
    check_exec();
    check_copy();
    check_attach(pods);
    RUN_UNTIL(got.ended == 1);
    CHECK_INT(got.lines, 300);
    CHECK(got.in_order);

    int before = got.replies;
    k8s_delete(k, "pods", NULL, "worker", "another-uid", -1, on_reply, NULL);
    RUN_UNTIL(got.replies == before + 1);
    CHECK_INT(got.status, 409);
    const char *uid = json_str(store_find(pods, "default", "worker"), "metadata.uid", "");
    k8s_delete(k, "pods", NULL, "worker", uid, 0, on_reply, NULL);
    RUN_UNTIL(store_find(pods, "default", "worker") == NULL);
    watch_stop(nw);
    watch_stop(pw);
    k8s_close(k);
    loop_free(l);
    store_free(nodes);
    store_free(pods);
    json_free(got.object);
    str_release(&got.out);
    str_release(&got.err_out);
}

T_MAIN
