/* Paths, atomic writes, redaction, messages, journal, errors. */
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/base/i18n.h"
#include "core/base/journal.h"
#include "core/base/log.h"
#include "core/base/mem.h"
#include "core/base/path.h"
#include "tests/t.h"

static struct pd_err err;

TEST(inside_refuses_ways_out)
{
    CHECK(path_inside("a/b") && path_inside("a..b") && path_inside("./a"));
    CHECK(!path_inside("../a") && !path_inside("a/../../b") && !path_inside("/a"));
    CHECK(!path_inside("") && !path_inside("a/.."));
}

TEST(homes_follow_xdg)
{
    char *want = xasprintf("%s/podium/x/y", t_dir());
    setenv("XDG_STATE_HOME", t_dir(), 1);
    char *got = path_home(PATH_STATE, "x/y"), *dir = path_dir(got);
    CHECK_STR(got, want);
    struct stat st;
    CHECK(stat(dir, &st) == 0 && (st.st_mode & 0777) == 0700);
    free(want);
    free(got);
    free(dir);
}

TEST(atomic_write_leaves_old_or_new)
{
    char *path = path_join(t_dir(), "f");
    struct str s;
    str_init(&s, 100);
    CHECK_OK(path_write_atomic(path, 0600, "old", 3, &err));
    CHECK_OK(path_write_atomic(path, 0600, "newer", 5, &err));
    CHECK_OK(path_read(path, 100, &s, &err));
    CHECK_STR(s.p, "newer");
    CHECK_INT(path_read(path, 3, &s, &err), PD_LIMIT);
    struct stat st;
    CHECK(stat(path, &st) == 0 && (st.st_mode & 0777) == 0600);
    CHECK_INT(path_write_atomic("/nonexistent/x", 0600, "a", 1, &err), PD_IO);
    CHECK_HAS(err.msg, "/nonexistent/x");
    str_release(&s);
    free(path);
}

TEST(remove_tree_does_not_follow_links)
{
    char *keep = path_join(t_dir(), "keep"), *tree = path_join(t_dir(), "tree/a");
    char *link = path_join(t_dir(), "tree/a/link"), *file = path_join(t_dir(), "keep/file");
    CHECK_OK(path_mkdirs(keep, 0700, &err));
    CHECK_OK(path_mkdirs(tree, 0700, &err));
    CHECK_OK(path_write_atomic(file, 0600, "x", 1, &err));
    CHECK(symlink(keep, link) == 0);
    char *top = path_join(t_dir(), "tree");
    CHECK_OK(path_remove_tree(top, &err));
    CHECK(access(top, F_OK) < 0 && access(file, F_OK) == 0);
    free(keep);
    free(tree);
    free(link);
    free(file);
    free(top);
}

static void redacts(const char *in, const char *secret)
{
    struct str out;
    str_init(&out, 10000);
    log_redact(in, strlen(in), &out);
    CHECK_MSG(!strstr(out.p, secret), "%s left in: %s", secret, out.p);
    CHECK_HAS(out.p, "***");
    str_release(&out);
}

TEST(secrets_are_masked)
{
    redacts("Authorization: Bearer abc.def-123", "abc.def");
    redacts("authorization: basic dXNlcjpwdw==", "dXNl");
    redacts("{\"token\":\"s3cr3t-token\"}", "s3cr3t");
    redacts("token: s3cr3t-token\n", "s3cr3t");
    redacts("password=hunter22 x", "hunter22");
    redacts("client-key-data: LS0tLS1CRUdJTg==", "LS0t");
    redacts("use hf_abcdefghijklmnop now", "hf_abc");
    redacts("-----BEGIN EC PRIVATE KEY-----\nMHcCAQ\n-----END EC PRIVATE KEY-----", "MHcCAQ");
    log_add_secret("my-own-bearer");
    redacts("x my-own-bearer y", "my-own");
    struct str out;
    str_init(&out, 1000);
    log_redact("nothing to hide: token count 5", 30, &out);
    CHECK_STR(out.p, "nothing to hide: token count 5");
    str_release(&out);
}

TEST(the_log_hides_secrets_and_levels)
{
    char *path = path_join(t_dir(), "log");
    struct str s;
    str_init(&s, 10000);
    CHECK_OK(log_open(path, LOG_INFO, &err));
    log_write(LOG_INFO, "Authorization: Bearer %s", "zzz-secret");
    log_write(LOG_DEBUG, "not this");
    log_close();
    CHECK_OK(path_read(path, 10000, &s, &err));
    CHECK_HAS(s.p, "INFO  Authorization: Bearer ***");
    CHECK(!strstr(s.p, "not this"));
    str_release(&s);
    free(path);
}

static int read_count;

static void count_msg(void *arg, struct msg *m)
{
    struct json *want = arg;
    if (read_count++ == 0) {
        CHECK_INT(m->kind, MSG_WATCH_EVENT);
        CHECK_INT(m->effect, 7);
        CHECK_INT(m->cluster, 2);
        CHECK_INT(m->epoch, 3);
        CHECK_INT(m->at_ms, 1234);
        CHECK(json_equal(m->body, want));
    }
    msg_free(m);
}

TEST(journal_round_trip_and_torn_end)
{
    char *path = path_join(t_dir(), "j");
    struct json *body = json_from("{\"watch\":1,\"object\":{\"a\":[1,2]}}"), *header = NULL;
    struct journal *j = NULL;
    clock_fake(1234);
    CHECK_OK(journal_create(path, NULL, &j, &err));
    struct msg *m = msg_new(MSG_WATCH_EVENT, json_copy(body));
    m->effect = 7;
    m->cluster = 2;
    m->epoch = 3;
    journal_write(j, m);
    journal_write(j, m);
    journal_close(j);
    msg_free(m);
    FILE *f = fopen(path, "a");
    fputs("{\"msg\":\"tick\",\"a", f);
    fclose(f);
    CHECK_OK(journal_read(path, &header, count_msg, body, &err));
    CHECK_INT(read_count, 2);
    CHECK_INT(json_int(header, "podium_journal", 0), 1);
    json_free(header);
    json_free(body);
    free(path);
}

TEST(the_journal_hides_secrets)
{
    char *path = path_join(t_dir(), "j");
    struct journal *j = NULL;
    struct str s;
    str_init(&s, 10000);
    CHECK_OK(journal_create(path, NULL, &j, &err));
    struct msg *m = msg_new(MSG_REQUEST, json_from("{\"head\":\"Bearer qqq-secret\"}"));
    journal_write(j, m);
    msg_free(m);
    journal_close(j);
    CHECK_OK(path_read(path, 10000, &s, &err));
    CHECK(!strstr(s.p, "qqq-secret") && strstr(s.p, "Bearer ***"));
    str_release(&s);
    free(path);
}

TEST(every_kind_has_a_name_that_reads_back)
{
    for (int k = 0; k < MSG_KIND_COUNT; k++) {
        struct msg *m = msg_new((enum msg_kind)k, NULL), *back = NULL;
        struct json *j = msg_to_json(m);
        CHECK_OK(msg_from_json(j, &back, &err));
        CHECK_INT(back->kind, k);
        msg_free(m);
        msg_free(back);
        json_free(j);
    }
}

TEST(effects_have_fresh_ids)
{
    struct effects e;
    effects_init(&e);
    uint32_t a = effects_add(&e, EFF_GET, 1, 2, json_new_object());
    effects_clear(&e);
    uint32_t b = effects_add(&e, EFF_QUIT, 0, 0, NULL);
    CHECK(a == 1 && b == 2 && e.n == 1);
    effects_release(&e);
}

TEST(every_error_has_id_message_and_hint)
{
    for (int c = PD_OK + 1; c < PD_CODE_COUNT; c++) {
        enum pd_code code = (enum pd_code)c;
        CHECK(str_starts(pd_id(code), "PD-") && pd_message(code)[0] && pd_hint(code)[0]);
        for (int d = PD_OK; d < c; d++)
            CHECK(strcmp(pd_id(code), pd_id((enum pd_code)d)) != 0);
    }
}

TEST(errors_describe_themselves)
{
    char buf[1200];
    CHECK_INT(pd_fail_at(&err, PD_LAB, "a.yaml", 3, 9, "unknown key \"%s\"", "x"), PD_LAB);
    CHECK_STR(pd_describe(&err, buf, sizeof buf),
              "a.yaml:3:9: unknown key \"x\" (correct it at the place named) [PD-LAB]");
    pd_fail(&err, PD_IO, "again: %s", err.msg);       /* an argument inside err itself */
    CHECK_STR(err.msg, "again: unknown key \"x\"");
    CHECK_INT(err.line, 0);
}

static void died(void)
{
    static const char note[] = "terminal restored\n";
    CHECK(write(2, note, sizeof note - 1) > 0);
}

TEST(a_bug_runs_the_hook_and_aborts)
{
    int fds[2], status;
    CHECK(pipe(fds) == 0);
    pid_t pid = fork();
    if (pid == 0) {
        dup2(fds[1], 2);
        pd_on_die(died);
        PD_BUG("reason %d", 5);
    }
    close(fds[1]);
    char buf[400] = "";
    ssize_t n, got = 0;
    while ((n = read(fds[0], buf + got, sizeof buf - 1 - (size_t)got)) > 0)
        got += n;
    waitpid(pid, &status, 0);
    CHECK(WIFSIGNALED(status));
    CHECK_HAS(buf, "terminal restored\npodium: bug at ");
    CHECK_HAS(buf, "reason 5");
}

TEST(languages_are_values)
{
    setenv("LC_ALL", "C", 1);
    i18n_init("zh_CN.UTF-8");
    CHECK_STR(i18n_lang(), "zh");
    CHECK(i18n_set("en"));
    CHECK_STR(i18n_lang(), "en");
    CHECK(!i18n_set("fr"));
    CHECK_STR(_("PODIUM-NO-SUCH-KEY"), "PODIUM-NO-SUCH-KEY");
    CHECK_STR(_(""), "");
}

T_MAIN
