/* practice_store.c - what the store acknowledged is there after kill -9, what a
 * full disk refused is not.
 */
#include "core/base/base.h"

#include <signal.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/base/path.h"
#include "tests/unit/practice_fixture.h"

static int seen;
static int64_t newest;

static void count(void *arg, const struct store_change *c)
{
    (void)arg;
    seen++;
    newest = c->rv > newest ? c->rv : newest;
}

TEST(store_keeps_acknowledged_writes_after_kill)
{
    struct pd_err err;
    char *path = path_join(t_dir(), "c.db");
    int ack[2];
    CHECK(pipe(ack) == 0);
    pid_t pid = fork();
    if (pid == 0) {
        struct store *s;
        if (store_open(path, &s, &err) != PD_OK)
            _exit(1);
        for (int i = 1;; i++) {
            char name[32];
            struct store_change c = {"/configmaps", "default", str_fmt(name, sizeof name, "n%d", i),
                                     i, "{\"a\":1}"};
            if (store_write(s, &c, 1, i, &err) != PD_OK || write(ack[1], &i, sizeof i) < 0)
                _exit(1);
        }
    }
    close(ack[1]);
    int last = 0;
    while (last < 200)
        CHECK(read(ack[0], &last, sizeof last) == sizeof last);
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    for (int more; read(ack[0], &more, sizeof more) == sizeof more;)
        last = more;
    struct store *s;
    CHECK_OK(store_open(path, &s, &err));
    CHECK_OK(store_load(s, count, NULL, &err));
    CHECK_MSG(seen >= last, "%d acknowledged, %d found", last, seen);
    CHECK(store_revision(s) >= last);
    CHECK_INT(newest, store_revision(s));
    store_close(s);
    free(path);
}

TEST(store_deletion_keeps_the_revision)
{
    struct pd_err err;
    struct store *s;
    char *path = path_join(t_dir(), "c.db");
    struct store_change put = {"/pods", "default", "p", 7, "{}"},
                        gone = {"/pods", "default", "p", 8, NULL};
    CHECK_OK(store_open(path, &s, &err));
    CHECK_OK(store_write(s, &put, 1, 7, &err));
    CHECK_OK(store_write(s, &gone, 1, 8, &err));
    store_close(s);
    CHECK_OK(store_open(path, &s, &err));
    CHECK_INT(store_revision(s), 8);
    seen = 0;
    CHECK_OK(store_load(s, count, NULL, &err));
    CHECK_INT(seen, 0);
    store_close(s);
    free(path);
}

static int acknowledged, refused;

static void on_done(void *arg, const struct pd_err *err)
{
    (void)arg;
    if (err)
        refused++;
    else
        acknowledged++;
}

static void fill(struct fixture *f, int n)
{
    char big[8192], name[32];
    memset(big, 'x', sizeof big - 1);
    big[sizeof big - 1] = '\0';
    for (int i = 0; i < n; i++) {
        struct api_result r;
        struct json *o = json_from("{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{},"
                                   "\"data\":{}}");
        json_put_path(o, "metadata.name", json_new_string(str_fmt(name, sizeof name, "big%d", i)));
        json_put_path(o, "data.x", json_new_string(big));
        api_create(f->api, &tester, res_by_plural("", "configmaps"), "default", o, &r);
        api_on_commit(f->api, on_done, NULL);
        api_result_release(&r);
        json_free(o);
        (void)api_flush(f->api);
    }
}

static size_t maps(struct fixture *f)
{
    struct api_versions all;
    api_snapshot(f->api, res_by_plural("", "configmaps"), "default", &all);
    size_t n = all.n;
    api_snapshot_release(&all);
    return n - 1;                             /* kube-root-ca.crt */
}

/* The files may not grow: SQLite hears "full" or an I/O error. */
TEST(api_never_acknowledges_on_a_full_disk)
{
    struct fixture f;
    const char *dir = t_dir();
    fixture_open(&f, dir);
    signal(SIGXFSZ, SIG_IGN);
    struct rlimit r = {600 << 10, 600 << 10};
    CHECK(setrlimit(RLIMIT_FSIZE, &r) == 0);
    fill(&f, 200);
    CHECK(acknowledged > 0 && refused > 0);
    CHECK_INT(maps(&f), acknowledged);        /* what was refused was taken back */
    size_t before = maps(&f);
    r.rlim_cur = r.rlim_max;
    fixture_close(&f);
    pid_t pid = fork();                       /* and is not there after a restart */
    if (pid == 0) {
        struct fixture again;
        fixture_open(&again, dir);
        _exit(maps(&again) == before ? 0 : 1);
    }
    int status;
    waitpid(pid, &status, 0);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

T_MAIN
