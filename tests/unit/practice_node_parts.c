/* Small parts of the node half, in this process: CRI log files, $(VAR)
 * expansion, index sets, the sentence's order, frames. */
#include "k8s/practice/crilog.h"
#include "k8s/practice/job_in.h"
#include "k8s/practice/kubelet_in.h"
#include "k8s/practice/sched_filter.h"
#include "tests/t.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/path.h"

static char *read_all(const char *path)
{
    struct pd_err err;
    struct str s;
    str_init(&s, 8 << 20);
    CHECK_OK(path_read(path, 8 << 20, &s, &err));
    return str_take(&s);
}

TEST(log_records)
{
    struct pd_err err;
    struct crilog w;
    struct crilog_record r;
    char *path = path_join(t_dir(), "0.log");
    CHECK_OK(crilog_open(&w, path, 0, 0, &err));
    crilog_write(&w, 1, "one\ntw", 6);
    crilog_write(&w, 2, "err\n", 4);
    crilog_write(&w, 1, "o\n\nlast", 7);
    crilog_close(&w);
    static const struct {
        int stream;
        const char *text;
    } want[] = {{1, "one"}, {2, "err"}, {1, "two"}, {1, ""}, {1, "last"}};
    char *all = read_all(path), *p = all;
    for (size_t i = 0; i < ARRAY_LEN(want); i++) {
        size_t n = strcspn(p, "\n");
        CHECK(crilog_parse(p, n, &r) && r.full && r.us > 0);
        CHECK_INT(r.stream, want[i].stream);
        CHECK_INT(r.len, strlen(want[i].text));
        CHECK(memcmp(r.text, want[i].text, r.len) == 0);
        CHECK_INT(r.stamp_len, strlen("2026-11-30T22:15:31.864983336Z"));
        p += n + 1;
    }
    CHECK_STR(p, "");
    CHECK(!crilog_parse("no record", 9, &r));
    CHECK(!crilog_parse("2026-11-30T22:15:31Z stdxxx F x", 31, &r));
    free(all);
    free(path);
}

TEST(log_lines_longer_than_16k_come_in_pieces)
{
    struct pd_err err;
    struct crilog w;
    struct crilog_record r;
    char *path = path_join(t_dir(), "0.log"), *line = malloc(40000);
    CHECK_OK(crilog_open(&w, path, 0, 0, &err));
    memset(line, 'x', 40000);
    line[39999] = '\n';
    crilog_write(&w, 1, line, 40000);
    crilog_close(&w);
    char *all = read_all(path), *p = all;
    static const bool full[] = {false, false, true};
    size_t sum = 0;
    for (size_t i = 0; i < ARRAY_LEN(full); i++) {
        size_t n = strcspn(p, "\n");
        CHECK(crilog_parse(p, n, &r));
        CHECK_INT(r.full, full[i]);
        sum += r.len;
        p += n + 1;
    }
    CHECK_INT(sum, 39999);
    CHECK_STR(p, "");
    free(line);
    free(all);
    free(path);
}

TEST(log_rotates_and_drops_the_oldest)
{
    struct pd_err err;
    struct crilog w;
    struct strv files;
    char *path = path_join(t_dir(), "0.log");
    CHECK_OK(crilog_open(&w, path, 1000, 3, &err));
    for (int i = 0; i < 500; i++)
        crilog_write(&w, 1, "a line of some length\n", 22);
    crilog_close(&w);
    strv_init(&files);
    crilog_files(path, &files);
    CHECK_INT(files.n, 4);
    CHECK_STR(files.v[3], path);
    CHECK(strcmp(files.v[0], files.v[1]) < 0 && strcmp(files.v[1], files.v[2]) < 0);
    strv_release(&files);
    free(path);
}

static void expands(const char *text, const char *want)
{
    struct strv env;
    struct str out;
    strv_init(&env);
    strv_push(&env, "A=1");
    strv_push(&env, "B_C=two");
    str_init(&out, 1000);
    kubelet_env_expand(text, &env, &out);
    CHECK_STR(out.p, want);
    str_release(&out);
    strv_release(&env);
}

TEST(variables_expand_as_in_a_pod)
{
    expands("x $(A)$(B_C) y", "x 1two y");
    expands("$$(A) $(NOPE) $A ${A}", "$(A) $(NOPE) $A ${A}");
    expands("$$$(A)", "$1");
    expands("$(A", "$(A");
    expands("$", "$");
    expands("", "");
}

static void indexes(const char *text)
{
    bool set[12] = {false};
    struct str out;
    str_init(&out, 1000);
    job_index_parse(text, set, 12);
    job_index_print(set, 12, &out);
    CHECK_STR(out.p, text);
    str_release(&out);
}

TEST(index_sets_survive_text)
{
    indexes("");
    indexes("0");
    indexes("0,1");
    indexes("0-2");
    indexes("0,2-5,7,8,10");
    indexes("0-11");
}

TEST(reasons_are_sorted_as_strings)
{
    struct strv reasons[12];
    bool hopeless[12] = {false};
    struct str out;
    for (int i = 0; i < 12; i++) {
        strv_init(&reasons[i]);
        strv_push(&reasons[i], i < 2 ? "Insufficient cpu" : "node(s) were unschedulable");
        hopeless[i] = i >= 2;
    }
    str_init(&out, 4096);
    sched_fit_error(reasons, hopeless, 12, NULL, false, &out);
    CHECK_STR(out.p,
              "0/12 nodes are available: 10 node(s) were unschedulable, 2 Insufficient cpu. "
              "preemption: 0/12 nodes are available: 10 Preemption is not helpful for scheduling, "
              "2 No preemption victims found for incoming pod.");
    str_clear(&out);
    sched_fit_error(reasons, hopeless, 12, NULL, true, &out);
    CHECK_HAS(out.p, " preemption: not eligible due to preemptionPolicy=Never.");
    for (int i = 0; i < 12; i++)
        strv_release(&reasons[i]);
    str_release(&out);
}

static int64_t asks(const char *pod, const char *name)
{
    struct sched_amounts a = {0};
    struct json *j = json_from(pod);
    sched_amounts_pod(j, &a);
    int64_t v = sched_amounts_get(&a, name);
    sched_amounts_release(&a);
    json_free(j);
    return v;
}

TEST(a_pod_asks_for_its_sum_or_its_largest_init_container)
{
    static const char pod[] =
        "{\"spec\":{\"containers\":[{\"resources\":{\"requests\":{\"cpu\":\"500m\",\"memory\":"
        "\"1Gi\"}}},{\"resources\":{\"limits\":{\"cpu\":\"1\",\"x/y\":\"2\"}}}],\"initContainers\":"
        "[{\"resources\":{\"requests\":{\"cpu\":\"4\"}}},{\"resources\":{\"requests\":{\"cpu\":"
        "\"1\",\"memory\":\"100Mi\"}}}],\"overhead\":{\"cpu\":\"250m\"}}}";
    CHECK_INT(asks(pod, "cpu"), 4250);
    CHECK_INT(asks(pod, "memory"), INT64_C(1) << 30);
    CHECK_INT(asks(pod, "x/y"), 2);
    CHECK_INT(asks(pod, "nope"), 0);
}

TEST(frames_survive_any_cut)
{
    struct str out;
    char type;
    const char *p;
    size_t n;
    str_init(&out, 1000);
    CHECK(shim_frame(&out, SHIM_STDOUT, "hello", 5));
    for (size_t i = 0; i < out.len; i++)
        CHECK_INT(shim_parse(out.p, i, &type, &p, &n), 0);
    CHECK_INT(shim_parse(out.p, out.len, &type, &p, &n), 10);
    CHECK(type == SHIM_STDOUT && n == 5 && memcmp(p, "hello", 5) == 0);
    out.p[4] = (char)0xff;
    CHECK_INT(shim_parse(out.p, out.len, &type, &p, &n), -1);
    str_release(&out);
}

TEST(finalizers_and_conditions)
{
    struct json *o = json_from("{\"metadata\":{\"finalizers\":[\"a\",\"b\"]}}");
    CHECK(kobj_drop_finalizer(o, "a"));
    CHECK(!kobj_drop_finalizer(o, "a"));
    CHECK(kobj_has_finalizer(o, "b"));
    CHECK(kobj_drop_finalizer(o, "b"));
    CHECK(!json_has(o, "metadata.finalizers"));
    CHECK(kobj_condition(o, "Ready", "True", "R", "m", false));
    CHECK(!kobj_condition(o, "Ready", "True", "R", "m", false));
    CHECK(kobj_condition(o, "Ready", "True", NULL, NULL, false));
    CHECK(!json_has(o, "status.conditions[0].reason"));
    CHECK_INT(json_count(json_at(o, "status.conditions")), 1);
    json_free(o);
}

TEST(only_a_folder_of_its_own_class_is_a_volume)
{
    CHECK(pvc_own_folder("/state", "/state/volumes/pvc-1"));
    static const char *const others[] = {"/state/volumes/", "/state/volumes/.", "/state/volumes/..",
                                         "/state/volumes/a/b", "/state/volumes/../pods",
                                         "/state/volumes", "/state", "/etc", "/state2/volumes/a",
                                         ""};
    for (size_t i = 0; i < ARRAY_LEN(others); i++)
        CHECK_MSG(!pvc_own_folder("/state", others[i]), "%s", others[i]);
}

/* An image is not trusted: its etc/passwd may be a link out of it or a FIFO. */
TEST(users_are_looked_up_inside_the_image)
{
    struct pd_err err;
    struct shim_spec s;
    char *etc = path_join(t_dir(), "root/etc"), *passwd = path_join(etc, "passwd"),
         *group = path_join(etc, "group"), *out = path_join(t_dir(), "passwd"),
         *etc_passwd = path_join(etc, "real");
    static const char text[] = "root:x:0:0:root:/:/bin/sh\nstudent:x:1000:1001::/:/bin/sh\n";
    CHECK_OK(path_mkdirs(etc, 0755, &err));
    CHECK_OK(path_write_atomic(etc_passwd, 0644, text, sizeof text - 1, &err));
    CHECK(symlink("/etc/real", passwd) == 0);       /* as the image sees it */
    shim_spec_init(&s);
    s.rootfs = path_join(t_dir(), "root");
    s.uid = s.gid = -1;
    CHECK(kubelet_user_resolve("student", &s));
    CHECK_INT(s.uid, 1000);
    CHECK_INT(s.gid, 1001);
    s.uid = s.gid = -1;
    CHECK(kubelet_user_resolve("7:8", &s) && s.uid == 7 && s.gid == 8);
    CHECK_OK(path_write_atomic(out, 0644, text, sizeof text - 1, &err));
    CHECK(unlink(passwd) == 0 && symlink(out, passwd) == 0);
    s.uid = s.gid = -1;
    CHECK_MSG(!kubelet_user_resolve("student", &s), "read outside of the image");
    CHECK(mkfifo(group, 0644) == 0);
    s.uid = s.gid = -1;
    CHECK(!kubelet_user_resolve("0:staff", &s));
    shim_spec_release(&s);
    char *const own[] = {etc, passwd, group, out, etc_passwd};
    for (size_t i = 0; i < ARRAY_LEN(own); i++)
        free(own[i]);
}

/* What a pod left in its volume must not have the remover speak to a socket of
 * the machine. */
TEST(a_volume_is_removed_without_asking_what_is_in_it)
{
    struct pd_err err;
    char *fake = path_join(t_dir(), "volumes/v/ctr/c/0"), *volume = path_join(t_dir(), "volumes/v"),
         *lock = path_join(fake, "lock"), *sock = path_join(fake, "sock"),
         *real = path_join(t_dir(), "sock"), text[] = "podium-practice", sub[] = "remove-tree",
         *argv[] = {text, sub, volume, NULL};
    CHECK_OK(path_mkdirs(fake, 0755, &err));
    int server = shim_listen(t_dir()), code = -1, held = open(lock, O_RDWR | O_CREAT, 0600);
    CHECK(server >= 0 && held >= 0 && flock(held, LOCK_EX) == 0 && symlink(real, sock) == 0);
    CHECK(node_child_main(3, argv, &code));
    CHECK_INT(code, 0);
    CHECK(access(volume, F_OK) != 0 && access(real, F_OK) == 0);
    CHECK_MSG(accept(server, NULL, NULL) < 0 && errno == EAGAIN, "it was spoken to");
    close(server);
    close(held);
    char *const own[] = {fake, volume, lock, sock, real};
    for (size_t i = 0; i < ARRAY_LEN(own); i++)
        free(own[i]);
}

T_MAIN
