/* Small parts of the node half, in this process: CRI log files, $(VAR)
 * expansion, index sets, the sentence's order, frames. */
#include "k8s/practice/crilog.h"
#include "k8s/practice/job_in.h"
#include "k8s/practice/kubelet_in.h"
#include "k8s/practice/sched_filter.h"
#include "tests/t.h"

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

T_MAIN
