/* Rows that follow a table: after any changes they are those of a list made anew. */
#include "core/base/clock.h"
#include "core/base/mem.h"
#include "tests/t.h"
#include "tui/lists.h"

static unsigned seed = 515;

static unsigned draw(unsigned n)
{
    seed = seed * 1103515245u + 12345u;
    return (seed >> 8) % n;
}

static struct json *pod(int i, unsigned version)
{
    static const char *const phases[] = {"Running", "Pending", "Failed", "Succeeded"};
    char text[700];
    str_fmt(text, sizeof text,
            "{\"metadata\":{\"name\":\"Worker-%05d\",\"namespace\":\"n\",\"uid\":\"u%d\","
            "\"resourceVersion\":\"%u\",\"creationTimestamp\":\"2026-12-01T%02d:%02d:00Z\"},"
            "\"spec\":{\"nodeName\":\"node-%d\",\"containers\":[{\"name\":\"c\",\"resources\":"
            "{\"requests\":{\"cpu\":\"%d\"}}}]},\"status\":{\"phase\":\"%s\"}}",
            i, i, version, i % 23, i % 59, (i + (int)version) % 7, 1 + i % 3,
            phases[(i + (int)version) % 4]);
    return json_from(text);
}

static struct json *event(int i, unsigned version)
{
    char text[500];
    str_fmt(text, sizeof text,
            "{\"metadata\":{\"name\":\"e%d\",\"namespace\":\"n\",\"resourceVersion\":\"%u\"},"
            "\"type\":\"%s\",\"reason\":\"R%u\",\"message\":\"m %d\",\"involvedObject\":{\"kind\":"
            "\"Pod\",\"name\":\"p%d\"},\"lastTimestamp\":\"2026-12-01T00:%02d:%02uZ\"}",
            i, version, (i + (int)version) % 3 ? "Normal" : "Warning", version % 5, i, i % 50,
            i % 60, version % 60);
    return json_from(text);
}

static void choose(struct list_view *v)
{
    static const char *const filters[] = {"", "w", "wo", "worker-000", "worker-0001", "node-3",
                                          "Run", "!run", "W", "cpu 2", "R1", "pod/p1"};
    v->sort = (enum list_sort)draw(SORT_COUNT);
    v->reverse = draw(2);
    v->only = draw(4) == 0;
    str_copy(v->filter, sizeof v->filter, filters[draw(ARRAY_LEN(filters))]);
}

static void same_pods(struct lists_pods a, struct lists_pods b)
{
    CHECK_INT(a.n, b.n);
    CHECK_INT(a.total, b.total);
    for (int i = 0; i < a.n; i++) {
        CHECK_STR(lists_pod(&a, i)->name, lists_pod(&b, i)->name);
        CHECK_STR(lists_pod(&a, i)->status, lists_pod(&b, i)->status);
        CHECK_STR(lists_pod(&a, i)->hw, lists_pod(&b, i)->hw);
    }
}

static void same_events(struct lists_events a, struct lists_events b)
{
    CHECK_INT(a.n, b.n);
    CHECK_INT(a.total, b.total);
    CHECK_INT(a.warnings, b.warnings);
    for (int i = 0; i < a.n; i++) {
        const struct eventinfo *x = &a.v[a.order[i]], *y = &b.v[b.order[i]];
        CHECK_STR(x->message, y->message);
        CHECK_INT(x->place, y->place);
    }
}

static void change(struct table *t, struct json *(*make)(int, unsigned), unsigned step)
{
    for (unsigned n = draw(90); n-- > 0;) {
        struct json *o = make((int)draw(400), step);
        if (draw(3))
            table_put(t, o);
        else
            table_drop(t, o);
        json_free(o);
    }
}

TEST(rows_that_follow_equal_rows_made_anew)
{
    struct session *s = session_new(NULL);
    struct lists *follow = lists_new(NULL);
    struct table *pods = NULL, *events = NULL;
    for (int i = 0; i < SESSION_TABLES; i++) {
        pods = str_eq(s->tables[i].resource, "pods") ? &s->tables[i] : pods;
        events = str_eq(s->tables[i].resource, "events") ? &s->tables[i] : events;
    }
    for (unsigned step = 0; step < 150; step++) {
        struct list_view v = {.filter = ""};
        change(pods, pod, step);
        change(events, event, step);
        if (draw(4) == 0)
            lists_follow(follow, s);
        choose(&v);
        struct lists *anew = lists_new(NULL);
        same_pods(lists_pods(follow, s, &v), lists_pods(anew, s, &v));
        same_events(lists_events(follow, s, &v), lists_events(anew, s, &v));
        lists_free(anew);
    }
    lists_free(follow);
    session_free(s);
    CHECK_INT(json_share_use().bytes, 0);
}

/* A longer "without" lets in what a shorter one left out. */
TEST(a_longer_without_shows_more)
{
    struct session *s = session_new(NULL);
    struct lists *l = lists_new(NULL);
    struct list_view v = {.filter = "!worker"};
    for (int i = 0; i < SESSION_TABLES; i++)
        for (int k = 0; k < 20 && str_eq(s->tables[i].resource, "pods"); k++) {
            struct json *o = pod(k, 0);
            table_put(&s->tables[i], o);
            json_free(o);
        }
    CHECK_INT(lists_pods(l, s, &v).n, 0);
    str_copy(v.filter, sizeof v.filter, "!worker-0001");
    CHECK_INT(lists_pods(l, s, &v).n, 10);
    lists_free(l);
    session_free(s);
}

/* Ordered the plain way: by the key, then by the name. */
TEST(the_order_is_that_of_the_keys)
{
    struct session *s = session_new(NULL);
    struct lists *l = lists_new(NULL);
    struct table *pods = NULL;
    for (int i = 0; i < SESSION_TABLES; i++)
        pods = str_eq(s->tables[i].resource, "pods") ? &s->tables[i] : pods;
    for (unsigned step = 0; step < 60; step++) {
        struct list_view v = {.filter = "", .sort = (enum list_sort)(step % SORT_COUNT)};
        change(pods, pod, step);
        struct lists_pods r = lists_pods(l, s, &v);
        CHECK_INT(r.n, json_count(pods->items));
        for (int i = 1; i < r.n; i++) {
            const struct podinfo *a = lists_pod(&r, i - 1), *b = lists_pod(&r, i);
            int c = v.sort == SORT_AGE      ? (a->created_ms < b->created_ms) -
                                             (a->created_ms > b->created_ms)
                    : v.sort == SORT_STATUS ? strcmp(a->status, b->status)
                    : v.sort == SORT_NODE   ? strcmp(a->node, b->node)
                                            : 0;
            CHECK(c < 0 || (c == 0 && strcmp(a->name, b->name) < 0));
        }
    }
    lists_free(l);
    session_free(s);
}

/* Fifteen thousand rows: what a key, a change and a filter may cost. Counted in
 * allocations, and in time with room for a slow machine. */
TEST(a_change_costs_no_list)
{
    enum { MANY = 15000 };
    struct session *s = session_new(NULL);
    struct lists *l = lists_new(NULL);
    struct table *pods = NULL;
    struct list_view v = {.filter = ""};
    for (int i = 0; i < SESSION_TABLES; i++)
        pods = str_eq(s->tables[i].resource, "pods") ? &s->tables[i] : pods;
    for (int i = 0; i < MANY; i++) {
        struct json *o = pod(i, 0);
        table_put(pods, o);
        json_free(o);
        if (i % 50 == 0)
            lists_follow(l, s);
    }
    CHECK_INT(lists_pods(l, s, &v).n, MANY);
    CHECK_MSG(json_share_use().bytes < (size_t)MANY * 1000, "%zu bytes", json_share_use().bytes);
    struct json *o = pod(77, 1);
    table_put(pods, o);
    json_free(o);
    uint64_t before = mem_allocations();
    CHECK_INT(lists_pods(l, s, &v).n, MANY);
    CHECK_MSG(mem_allocations() - before < 20, "%d allocations",
              (int)(mem_allocations() - before));
    int64_t from = clock_us();
    str_copy(v.filter, sizeof v.filter, "worker-01");
    CHECK_INT(lists_pods(l, s, &v).n, 1000);
    int64_t first = clock_us() - from;
    str_copy(v.filter, sizeof v.filter, "worker-0123");
    CHECK_INT(lists_pods(l, s, &v).n, 10);
    CHECK_MSG(first < 50000, "%d us to filter", (int)first);
    CHECK_MSG(clock_us() - from - first < 50000, "to narrow");
    lists_free(l);
    session_free(s);
}

T_MAIN
