/* Tables of the cluster's objects: found by name and uid, changed by the row. */
#include "core/base/clock.h"
#include "core/base/mem.h"
#include "labs/table.h"
#include "tests/t.h"

enum { NAMES = 300, STEPS = 100000 };

static unsigned seed = 5061;

static unsigned draw(unsigned n)
{
    seed = seed * 1103515245u + 12345u;
    return (seed >> 8) % n;
}

/* What the table should hold, kept the simple way. */
struct model {
    bool live;
    int uid, version, order;
};

static struct json *object(int name, int uid, int version)
{
    struct json *o = json_new_object(), *m = json_new_object();
    char text[32];
    json_put_str(m, "name", str_fmt(text, sizeof text, "pod-%d", name / 2));
    json_put_str(m, "namespace", name % 2 ? "a" : "b");
    json_put_str(m, "uid", str_fmt(text, sizeof text, "uid-%d", uid));
    json_put_str(m, "resourceVersion", str_fmt(text, sizeof text, "%d", version));
    json_set(o, "metadata", m);
    return o;
}

static const struct json *found(const struct table *t, int name)
{
    char text[32];
    return table_find(t, name % 2 ? "a" : "b", str_fmt(text, sizeof text, "pod-%d", name / 2));
}

static void agrees(const struct table *t, const struct model *m)
{
    size_t live = 0, rows = 0;
    int before = -1;
    for (int i = 0; i < NAMES; i++) {
        const struct json *o = found(t, i);
        char uid[32];
        CHECK((o != NULL) == m[i].live);
        if (!o)
            continue;
        live++;
        CHECK_STR(json_str(o, "metadata.uid", ""), str_fmt(uid, sizeof uid, "uid-%d", m[i].uid));
        CHECK_INT(atoi(json_str(o, "metadata.resourceVersion", "")), m[i].version);
        CHECK(json_share_same(table_find_uid(t, uid), o));
    }
    CHECK_INT(json_count(t->items), live);
    for (size_t i = 0; i < table_numbers(t); i++)
        rows += table_at(t, i) != NULL;
    CHECK_INT(rows, live);
    for (const struct json *o = json_first(t->items); o; o = json_next(o)) {
        int name = 2 * atoi(json_str(o, "metadata.name", "pod-") + 4);
        name += str_eq(json_str(o, "metadata.namespace", ""), "a");
        CHECK(m[name].order > before);           /* items stand in the order they came */
        before = m[name].order;
    }
}

TEST(random_events_keep_every_index_right)
{
    struct table t = {0};
    struct model m[NAMES] = {{0}};
    int uids = 0, order = 0;
    table_init(&t, "pods");
    for (int step = 0; step < STEPS; step++) {
        int i = (int)draw(NAMES);
        bool stale = draw(10) == 0, drop = draw(3) == 0;
        if (drop) {
            struct json *o = object(i, stale ? uids + 1000000 : m[i].uid, step);
            bool want = m[i].live && !stale;
            CHECK(table_drop(&t, o) == want);
            m[i].live = m[i].live && !want;
            json_free(o);
        } else {
            bool other = draw(4) == 0 || !m[i].live;
            m[i].uid = other ? ++uids : m[i].uid;
            m[i].order = m[i].live ? m[i].order : order++;
            m[i].version = step;
            m[i].live = true;
            struct json *o = object(i, m[i].uid, step);
            CHECK(table_put(&t, o));
            CHECK(!table_put(&t, o));            /* the same again is no news */
            json_free(o);
        }
        if (step % 5000 == 0)
            agrees(&t, m);
    }
    agrees(&t, m);
    table_release(&t);
    CHECK_INT(json_share_use().bytes, 0);
}

TEST(a_list_takes_away_what_it_does_not_bring)
{
    struct table t = {0};
    struct model m[NAMES] = {{0}};
    table_init(&t, "pods");
    for (int round = 0; round < 20; round++) {
        table_begin(&t);
        for (int i = 0; i < NAMES; i++)
            m[i].live = m[i].live && draw(3) > 0;
        for (int i = 0; i < NAMES; i++) {
            struct json *o = object(i, i, 7);
            if (m[i].live) {
                CHECK(!table_put(&t, o));
            }
            json_free(o);
        }
        for (int i = 0; i < NAMES; i++)
            if (!m[i].live && !found(&t, i) && draw(3) == 0) {
                struct json *o = object(i, i, 7);
                table_put(&t, o);
                m[i] = (struct model){true, i, 7, (round + 1) * NAMES + i};
                json_free(o);
            }
        table_end(&t);
        agrees(&t, m);
    }
    CHECK(!table_end(&t));                       /* an end without a list changes nothing */
    agrees(&t, m);
    table_clear(&t);
    CHECK_INT(json_count(t.items), 0);
    table_release(&t);
}

/* Who follows the log alone holds the same rows. */
TEST(the_log_tells_every_change)
{
    struct table t = {0};
    struct json *mine[NAMES] = {0};
    uint64_t at = 0;
    table_init(&t, "pods");
    for (int step = 0; step < 60000; step++) {
        int i = (int)draw(NAMES);
        struct json *o = object(i, i, step);
        if (draw(2))
            table_put(&t, o);
        else
            table_drop(&t, o);
        json_free(o);
        if (draw(50))
            continue;
        CHECK(at >= table_log_first(&t));
        for (; at < table_log_end(&t); at++) {
            size_t number = table_log(&t, at);
            CHECK(number < NAMES);
            json_free(mine[number]);
            mine[number] = json_share(table_at(&t, number));
        }
        for (size_t k = 0; k < table_numbers(&t); k++)
            CHECK(mine[k] ? json_share_same(mine[k], table_at(&t, k)) : !table_at(&t, k));
    }
    CHECK(table_log_first(&t) > 0);              /* the log is bounded */
    for (int i = 0; i < NAMES; i++)
        json_free(mine[i]);
    table_release(&t);
}

TEST(what_has_no_name_stands_alone)
{
    struct table t = {0};
    struct json *o = json_new_object();
    table_init(&t, "pods");
    table_put(&t, o);
    table_put(&t, o);
    CHECK_INT(json_count(t.items), 2);
    CHECK(!table_find_uid(&t, ""));
    table_begin(&t);
    table_put(&t, o);
    table_end(&t);
    CHECK_INT(json_count(t.items), 1);
    json_free(o);
    table_release(&t);
}

T_MAIN
