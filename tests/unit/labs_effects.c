/* labs_effects.c - the runner on this machine: children, files, timers, cancel,
 * and a connection that can't be made. */
#include "tests/t.h"

#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/base/mem.h"
#include "core/base/path.h"
#include "labs/effects.h"

enum { MOST = 64 };

struct world {
    struct loop *l;
    struct effects_runner *r;
    struct effects out;
    struct msg *got[MOST];
    size_t n;
};

static void deliver(void *arg, struct msg *m)
{
    struct world *w = arg;
    CHECK(w->n < MOST);
    w->got[w->n++] = m;
}

static void open_world(struct world *w, const char *kubeconfig)
{
    memset(w, 0, sizeof *w);
    w->l = loop_new();
    struct effects_options o = {.deliver = deliver, .arg = w, .kubeconfig = kubeconfig};
    w->r = effects_runner_new(w->l, &o);
    effects_init(&w->out);
}

static void close_world(struct world *w)
{
    effects_runner_free(w->r);
    effects_release(&w->out);
    for (size_t i = 0; i < w->n; i++)
        msg_free(w->got[i]);
    loop_free(w->l);
}

static uint32_t run(struct world *w, enum effect_kind kind, const char *args)
{
    uint32_t id = effects_add(&w->out, kind, 0, 0, json_from(args));
    effects_run_all(w->r, &w->out);
    return id;
}

/* Turn until a message of this kind and effect is there, or 5 s passed. */
static const struct msg *await(struct world *w, enum msg_kind kind, uint32_t effect)
{
    int64_t end = clock_ms() + 5000;
    for (;;) {
        for (size_t i = 0; i < w->n; i++)
            if (w->got[i]->kind == kind && w->got[i]->effect == effect)
                return w->got[i];
        if (clock_ms() > end)
            t_fail(__FILE__, __LINE__, "no %s message", msg_kind_name(kind));
        loop_turn(w->l, 50);
    }
}

static void turns(struct world *w, int64_t ms)
{
    for (int64_t end = clock_ms() + ms; clock_ms() < end;)
        loop_turn(w->l, 20);
}

TEST(a_child_speaks_json_lines)
{
    struct world w;
    open_world(&w, NULL);
    uint32_t id = run(&w, EFF_SPAWN, "{\"argv\":[\"/bin/sh\",\"-c\",\"echo '{\\\"ev\\\":"
                                     "\\\"x\\\",\\\"n\\\":3}';"
                                     " echo plain; echo oops >&2; exit 4\"]}");
    CHECK_INT(w.n, 0);                             /* never from within effects_run_all */
    const struct msg *m = await(&w, MSG_CHILD_EXIT, id);
    CHECK_INT(json_int(m->body, "code", 0), 4);
    CHECK_HAS(json_str(m->body, "stderr", ""), "oops");
    CHECK_INT(w.n, 3);
    CHECK_INT(json_int(w.got[0]->body, "record.n", 0), 3);
    CHECK_STR(json_str(w.got[1]->body, "record.text", ""), "plain");
    CHECK_INT(effects_open(w.r), 0);
    close_world(&w);
}

TEST(a_missing_program_is_an_exit_too)
{
    struct world w;
    open_world(&w, NULL);
    uint32_t id = run(&w, EFF_SPAWN, "{\"argv\":[\"/nowhere/prog\"]}");
    const struct msg *m = await(&w, MSG_CHILD_EXIT, id);
    CHECK_INT(json_int(m->body, "code", 0), 127);
    CHECK(*json_str(m->body, "stderr", "") || json_has(m->body, "error"));
    close_world(&w);
}

TEST(cancel_ends_the_child_and_nothing_follows)
{
    struct world w;
    char cmd[600];
    char *mark = path_join(t_dir(), "mark");
    open_world(&w, NULL);
    snprintf(cmd, sizeof cmd,
             "{\"argv\":[\"/bin/sh\",\"-c\",\"echo hello; sleep 1; touch %s\"]}", mark);
    uint32_t id = run(&w, EFF_SPAWN, cmd);
    await(&w, MSG_CHILD_LINE, id);
    size_t before = w.n;
    snprintf(cmd, sizeof cmd, "{\"effect\":%u}", id);
    run(&w, EFF_CANCEL, cmd);
    turns(&w, 1500);
    CHECK_INT(w.n, before);
    CHECK(access(mark, F_OK) != 0);
    CHECK_INT(effects_open(w.r), 0);
    free(mark);
    close_world(&w);
}

TEST(timers_fire_once_and_can_be_cancelled)
{
    struct world w;
    char cancel[64];
    open_world(&w, NULL);
    uint32_t a = run(&w, EFF_TIMER, "{\"name\":\"a\",\"ms\":30}");
    uint32_t b = run(&w, EFF_TIMER, "{\"name\":\"b\",\"ms\":30}");
    snprintf(cancel, sizeof cancel, "{\"effect\":%u}", b);
    run(&w, EFF_CANCEL, cancel);
    CHECK_STR(json_str(await(&w, MSG_TIMER, a)->body, "name", ""), "a");
    turns(&w, 100);
    CHECK_INT(w.n, 1);
    close_world(&w);
}

static struct json *file_args(const char *path, const char *text)
{
    struct json *args = json_new_object();
    json_put_str(args, "path", path);
    json_put_str(args, "text", text);
    return args;
}

static void write_file(struct world *w, const char *path, const char *text, const char *flag)
{
    struct json *args = file_args(path, text);
    if (flag)
        json_put_bool(args, flag, true);
    effects_add(&w->out, EFF_WRITE, 0, 0, args);
    effects_run_all(w->r, &w->out);
}

static void check_file(const char *path, const char *want)
{
    struct str s;
    struct pd_err err;
    str_init(&s, 1 << 16);
    CHECK_OK(path_read(path, 1 << 16, &s, &err));
    CHECK_STR(s.p, want);
    str_release(&s);
}

TEST(files_are_written_appended_and_never_overwritten_by_a_template)
{
    struct world w;
    char *path = path_join(t_dir(), "deep/er/f");
    open_world(&w, NULL);
    write_file(&w, path, "one\n", "if_missing");
    write_file(&w, path, "template\n", "if_missing");
    check_file(path, "one\n");
    write_file(&w, path, "two\n", "append");
    check_file(path, "one\ntwo\n");
    write_file(&w, path, "three\n", NULL);
    check_file(path, "three\n");
    turns(&w, 20);
    CHECK_INT(w.n, 4);                             /* each is answered */
    write_file(&w, "/proc/no/such", "x", NULL);
    turns(&w, 20);
    CHECK(json_has(w.got[4]->body, "error"));
    free(path);
    close_world(&w);
}

TEST(a_watched_file_tells_each_change_once)
{
    struct world w;
    char *path = path_join(t_dir(), "job.yaml"), *tmp = path_join(t_dir(), "tmp");
    open_world(&w, NULL);
    effects_add(&w.out, EFF_WATCH_FILE, 0, 0, file_args(path, NULL));
    effects_run_all(w.r, &w.out);
    turns(&w, 30);
    CHECK_INT(w.n, 1);
    CHECK(json_bool(w.got[0]->body, "missing", false));
    FILE *fp = fopen(path, "w");
    CHECK(fp != NULL);
    fputs("a: 1\n", fp);
    fclose(fp);
    turns(&w, 300);
    CHECK_INT(w.n, 2);
    CHECK_STR(json_str(w.got[1]->body, "text", ""), "a: 1\n");
    /* as editors do: a new file is renamed over it */
    fp = fopen(tmp, "w");
    fputs("a: 2\n", fp);
    fclose(fp);
    CHECK(rename(tmp, path) == 0);
    turns(&w, 300);
    CHECK_INT(w.n, 3);
    CHECK_STR(json_str(w.got[2]->body, "text", ""), "a: 2\n");
    fp = fopen(path, "w");                         /* the same again: nothing to tell */
    fputs("a: 2\n", fp);
    fclose(fp);
    turns(&w, 300);
    CHECK_INT(w.n, 3);
    unlink(path);
    turns(&w, 300);
    CHECK_INT(w.n, 4);
    CHECK(json_bool(w.got[3]->body, "missing", false));
    free(path);
    free(tmp);
    close_world(&w);
}

TEST(a_missing_kubeconfig_is_one_clear_sentence)
{
    struct world w;
    open_world(&w, "/nowhere/config");
    uint32_t id = run(&w, EFF_CONNECT, "{}");
    const struct msg *m = await(&w, MSG_CLUSTER, id);
    CHECK_STR(json_str(m->body, "state", ""), "down");
    CHECK_HAS(json_str(m->body, "error.text", ""), "/nowhere/config");
    close_world(&w);
}

TEST(effects_of_a_cluster_that_is_not_there_are_refused)
{
    struct world w;
    open_world(&w, NULL);
    uint32_t id = run(&w, EFF_GET, "{\"resource\":\"pods\",\"name\":\"x\"}");
    CHECK(json_has(await(&w, MSG_REPLY, id)->body, "error"));
    close_world(&w);
}

/* With no kubeconfig at all, the default cluster's own commands are run. */
TEST(the_default_cluster_is_a_command_of_the_configuration)
{
    struct world w;
    struct pd_err err;
    char *conf = path_join(t_dir(), "podium/default-cluster.yaml"), *dir = path_dir(conf), *text;
    unsetenv("KUBECONFIG");
    setenv("HOME", t_dir(), 1);
    setenv("XDG_CONFIG_HOME", t_dir(), 1);
    setenv("XDG_STATE_HOME", t_dir(), 1);
    CHECK_OK(path_mkdirs(dir, 0700, &err));
    text = xasprintf("start: [/bin/sh, -c, 'touch %s/started']\n"
                     "kubeconfig: [/bin/sh, -c, 'printf \"%%s\\n\" \"apiVersion: v1\" \"kind: "
                     "Config\" "
                     "\"current-context: x\" \"clusters: [{name: x, cluster: {server: http:"
                     "//127.0.0.1:1}}]\""
                     " \"users: [{name: u, user: {}}]\" \"contexts: [{name: x, context: {cluster:"
                     " x, user: u, "
                     "namespace: class}}]\"']\n", t_dir());
    CHECK_OK(path_write_atomic(conf, 0600, text, strlen(text), &err));
    open_world(&w, NULL);
    uint32_t id = run(&w, EFF_CONNECT, "{}");
    const struct msg *m = await(&w, MSG_CLUSTER, id);
    CHECK_MSG(str_eq(json_str(m->body, "state", ""), "connecting"), "%s",
              json_str(m->body, "error.text", "?"));
    CHECK_STR(json_str(m->body, "namespace", ""), "class");
    CHECK_INT(m->cluster, 1);
    char *mark = path_join(t_dir(), "started");
    CHECK(access(mark, F_OK) == 0);
    struct stat sb;
    CHECK(stat(json_str(m->body, "kubeconfig", ""), &sb) == 0);
    CHECK_INT(sb.st_mode & 0777, 0600);
    free(mark);
    free(text);
    free(dir);
    free(conf);
    close_world(&w);
}

T_MAIN
