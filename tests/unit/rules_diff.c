/* rules_diff.c - differences of objects, judged by diff(1); conflicts of apply. */
#include "tests/t.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>

#include "core/base/mem.h"
#include "core/base/path.h"
#include "k8s/rules/conflict.h"
#include "k8s/rules/diff.h"

extern char **environ;

static struct pd_err err;
static uint64_t state = 88172645463325252u;

static unsigned roll(unsigned n)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (unsigned)((state >> 11) % n);
}

static void random_text(struct str *s, const struct str *near)
{
    if (!near) {
        for (unsigned i = 0, n = roll(60); i < n; i++)
            str_printf(s, "line %u\n", roll(20));
        return;
    }
    for (const char *p = near->p; *p;) {
        size_t n = strcspn(p, "\n") + 1;
        unsigned kind = roll(12);
        if (kind != 0)
            str_append(s, p, n);
        if (kind < 2)
            str_printf(s, "new %u\n", roll(9));
        p += n;
    }
}

/* patch(1) makes b of a with our difference. */
static void patched(const char *a, const char *b, const char *difference)
{
    char *file = path_join(t_dir(), "a"), *diff = path_join(t_dir(), "d");
    char *argv[] = {(char *)"patch", (char *)"-s", (char *)"-F0", file, diff, NULL};
    struct str got;
    pid_t pid;
    int status;
    CHECK_OK(path_write_atomic(file, 0600, a, strlen(a), &err));
    CHECK_OK(path_write_atomic(diff, 0600, difference, strlen(difference), &err));
    if (posix_spawnp(&pid, "patch", NULL, NULL, argv, environ))
        t_skip("there is no patch(1) to judge differences");
    CHECK(waitpid(pid, &status, 0) == pid);
    CHECK_MSG(WIFEXITED(status) && WEXITSTATUS(status) == 0, "patch refuses:\n%s", difference);
    str_init(&got, 1 << 20);
    CHECK_OK(path_read(file, 1 << 20, &got, &err));
    CHECK_STR(got.p, b);
    str_release(&got);
    free(file);
    free(diff);
}

TEST(diff_makes_one_text_of_the_other)
{
    for (int i = 0; i < 60; i++) {
        struct str a, b, d;
        str_init(&a, 1 << 20);
        str_init(&b, 1 << 20);
        str_init(&d, 1 << 20);
        random_text(&a, NULL);
        random_text(&b, roll(4) ? &a : NULL);
        diff_texts(a.p, b.p, "a", "b", &d);
        CHECK((d.len == 0) == !strcmp(a.p, b.p));
        if (d.len)
            patched(a.p, b.p, d.p);
        str_release(&a);
        str_release(&b);
        str_release(&d);
    }
}

TEST(diff_shows_three_lines_of_context)
{
    struct str d;
    str_init(&d, 1 << 16);
    diff_texts("1\n2\n3\n4\n5\n6\n7\n8\n9\n", "1\n2\n3\n4\nx\n6\n7\n8\n9\n", "a", "b", &d);
    CHECK_STR(d.p, "--- a\n+++ b\n@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+x\n 6\n 7\n 8\n");
    str_release(&d);
}

TEST(diff_masks_secrets_and_leaves_out_what_is_the_servers)
{
    struct json *a = json_from("{\"kind\":\"Secret\",\"metadata\":{\"name\":\"s\",\"uid\":\"u\","
                               "\"resourceVersion\":\"1\",\"managedFields\":[]},\"data\":{\"k\":"
                               "\"aHVudGVyMg==\",\"same\":\"c2FtZQ==\"}}");
    struct json *b = json_copy(a);
    struct str d;
    str_init(&d, 1 << 16);
    json_put_path(b, "metadata.resourceVersion", json_new_string("2"));
    diff_objects(a, b, "secret/s", &d);
    CHECK_STR(d.p, "");
    json_put_path(b, "data.k", json_new_string("b3RoZXI="));
    diff_objects(a, b, "secret/s", &d);
    CHECK_HAS(d.p, "-  k: \"*** (before)\"");
    CHECK_HAS(d.p, "+  k: \"*** (after)\"");
    CHECK(!strstr(d.p, "aHVudGVyMg") && !strstr(d.p, "b3RoZXI") && !strstr(d.p, "c2FtZQ"));
    str_clear(&d);
    diff_objects(NULL, b, "secret/s", &d);
    CHECK_HAS(d.p, "@@ -0,0 +1,");
    json_free(a);
    json_free(b);
    str_release(&d);
}

TEST(conflicts_name_manager_field_and_both_values)
{
    struct json *status = json_from(
        "{\"details\":{\"causes\":[{\"reason\":\"FieldManagerConflict\",\"message\":\"conflict "
        "with \\\"alice\\\" using apps/v1\",\"field\":\".spec.template.spec.containers["
        "name=\\\"c\\\"].image\"},"
        "{\"reason\":\"FieldManagerConflict\",\"message\":\"conflict with \\\"x\\\" with "
        "subresource \\\"scale\\\"\",\"field\":\".spec.replicas\"},{\"reason\":"
        "\"FieldManagerConflict\",\"message\":\"conflict with \\\"b\\\"\",\"field\":\".metadata."
        "labels.a.b/c\"}]}}");
    struct json *live = json_from("{\"metadata\":{\"labels\":{\"a.b/c\":\"1\"}},\"spec\":{"
                                  "\"replicas\":3,\"template\":{\"spec\":{\"containers\":["
                                  "{\"name\":"
                                  "\"d\"},{\"name\":\"c\",\"image\":\"x:1\"}]}}}}");
    struct json *ours = json_from("{\"spec\":{\"template\":{\"spec\":{\"containers\":[{\"name\":"
                                  "\"c\",\"image\":\"x:2\"}]}}}}");
    struct conflicts c;
    CHECK(conflict_is(status));
    conflicts_read(&c, status, live, ours);
    CHECK_INT(c.n, 3);
    CHECK_STR(c.v[0].manager, "alice");
    CHECK_STR(c.v[0].live, "\"x:1\"");
    CHECK_STR(c.v[0].ours, "\"x:2\"");
    CHECK_STR(c.v[1].manager, "x with subresource \"scale\"");
    CHECK_STR(c.v[1].live, "3");
    CHECK_STR(c.v[1].ours, "");
    CHECK_STR(c.v[2].live, "\"1\"");
    conflicts_release(&c);
    json_free(status);
    json_free(live);
    json_free(ours);
}

TEST(conflicts_mask_secrets)
{
    struct json *status = json_from("{\"details\":{\"causes\":[{\"reason\":"
                                    "\"FieldManagerConflict\",\"message\":\"conflict with "
                                    "\\\"a\\\"\",\"field\":\".data.k\"}]}}");
    struct json *o = json_from("{\"kind\":\"Secret\",\"data\":{\"k\":\"aHVudGVyMg==\"}}");
    struct conflicts c;
    conflicts_read(&c, status, o, o);
    CHECK_STR(c.v[0].live, "***");
    CHECK_STR(c.v[0].ours, "***");
    conflicts_release(&c);
    json_free(status);
    json_free(o);
}

TEST(conflict_paths_of_all_kinds_are_found)
{
    struct json *o = json_from("{\"a\":{\"ports\":[{\"containerPort\":80,\"protocol\":\"TCP\"},"
                               "{\"containerPort\":80,\"protocol\":\"UDP\",\"name\":\"u\"}],"
                               "\"set\":[\"x\",\"y\"],\"list\":[1,2]}}");
    static const char *const cases[][2] = {
        {".a.ports[containerPort=80,protocol=\"UDP\"].name", "\"u\""}, {".a.set[=\"y\"]", "\"y\""},
        {".a.list[1]", "2"}, {".a.ports[containerPort=81,protocol=\"UDP\"].name", NULL},
        {".a.ports[", NULL}, {".nope", NULL}};
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        const struct json *v = conflict_at(o, cases[i][0]);
        char *text = v ? json_text(v, 0) : NULL;
        CHECK_MSG(str_eq(text, cases[i][1]), "%s: %s", cases[i][0], text ? text : "nothing");
        free(text);
    }
    json_free(o);
}

T_MAIN
