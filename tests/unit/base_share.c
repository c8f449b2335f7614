/* Shared JSON trees: the same answers as ordinary ones, each part stored once. */
#include "core/base/json_share.h"
#include "core/base/mem.h"
#include "tests/t.h"

static struct pd_err err;

static struct json *shared(const char *text, const struct json_shape *shape)
{
    struct json *j = NULL;
    if (json_share_parse(text, strlen(text), shape, &j, &err) != PD_OK)
        t_fail(__FILE__, __LINE__, "%s: %s", text, err.msg);
    return j;
}

static unsigned seed = 20261;

static unsigned draw(unsigned n)
{
    seed = seed * 1103515245u + 12345u;
    return (seed >> 8) % n;
}

static void random_text(struct str *s)
{
    static const char *const pieces[] = {
        "a", "pod", "\\n", "\\\"", "\\u00e9", "中", "\\ud83d\\ude00", " ", "{", "]",
        "kube-api-access-x7k", "\\\\", "/"};
    str_addc(s, '"');
    for (unsigned n = draw(5); n-- > 0;)
        str_add(s, pieces[draw(ARRAY_LEN(pieces))]);
    str_addc(s, '"');
}

static void random_value(struct str *s, int depth)
{
    static const char *const leaves[] = {"true",  "false", "null",  "0",      "-12",
                                         "3.25", "1e3",   "-0.5e-7", "123456789012345678", "\"\""};
    unsigned kind = draw(depth > 5 ? 6 : 10);
    if (kind < 4) {
        str_add(s, leaves[draw(ARRAY_LEN(leaves))]);
        return;
    }
    if (kind < 6) {
        random_text(s);
        return;
    }
    bool object = kind < 8;
    str_addc(s, object ? '{' : '[');
    for (unsigned n = draw(6), i = 0; i < n; i++) {
        str_add(s, i ? " , " : "");
        if (object)
            str_printf(s, "\"k%u\" : ", i);
        random_value(s, depth + 1);
    }
    str_addc(s, object ? '}' : ']');
}

TEST(random_trees_read_and_print_as_ordinary_ones)
{
    for (int i = 0; i < 3000; i++) {
        struct str s;
        struct json *plain = NULL;
        str_init(&s, 1 << 20);
        random_value(&s, 0);
        CHECK(json_parse(s.p, s.len, &plain, &err) == PD_OK);
        struct json *j = shared(s.p, NULL), *again = json_share(plain), *copy = json_copy(j);
        char *want = json_text(plain, 2), *got = json_text(j, 2), *third = json_text(copy, 2);
        CHECK_STR(got, want);
        CHECK_STR(third, want);
        CHECK(json_equal(j, plain) && json_equal(plain, again));
        if (json_type(plain) >= JSON_ARRAY)
            CHECK(json_share_same(j, again));
        free(want);
        free(got);
        free(third);
        json_free(plain);
        json_free(j);
        json_free(again);
        json_free(copy);
        str_release(&s);
    }
    CHECK_INT(json_share_use().bytes, 0);
}

TEST(paths_find_the_same)
{
    struct json *j = shared("{\"metadata\":{\"labels\":{\"app.io/name\":\"x\"}},\"n\":[1,2,3],"
                            "\"status\":{\"conditions\":[{\"type\":\"A\",\"status\":\"False\"},"
                            "{\"type\":\"Ready\",\"status\":\"True\",\"n\":5}]},\"t\":true}",
                            NULL);
    CHECK_STR(json_str(j, "metadata.labels['app.io/name']", ""), "x");
    CHECK_STR(json_str(j, "status.conditions[?type=Ready].status", ""), "True");
    CHECK_STR(json_str(j, "status.conditions[?n=5].type", ""), "Ready");
    CHECK_STR(json_str(j, "status.conditions[7].type", "none"), "none");
    CHECK_INT(json_int(j, "n[-1]", 0), 3);
    CHECK(json_bool(j, "t", false) && !json_bool(j, "n", false));
    CHECK_INT(json_count(json_at(j, "status.conditions")), 2);
    CHECK_STR(json_key(json_first(j)), "metadata");
    CHECK(json_at(j, "") == j && !json_next(j) && !json_key(j));
    json_free(j);
}

TEST(what_is_no_json_is_refused)
{
    static const char *const bad[] = {
        "", "{", "[1,]", "{\"a\":}", "{\"a\" 1}", "{a:1}", "01", "1.", "+1", "-", "1e", "nul",
        "tru", "\"\\x\"", "\"\\u12\"", "\"\\ud800\"", "\"\\udc00\"", "\"open", "[1 2]", "{} {}",
        "[\"a\\", "{\"a\":1,}", "\"\\ud800\\u0041\""};
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        struct json *j = NULL;
        CHECK_MSG(json_share_parse(bad[i], strlen(bad[i]), NULL, &j, &err) == PD_PARSE, "%s",
                  bad[i]);
    }
    char deep[500];
    memset(deep, '[', sizeof deep);
    struct json *j;
    CHECK_INT(json_share_parse(deep, sizeof deep, NULL, &j, &err), PD_LIMIT);
    CHECK_INT(json_share_use().bytes, 0);
}

TEST(a_shape_leaves_managed_fields_out_and_names_the_kind)
{
    struct json_shape shape = {"Pod", "v1", false, true};
    struct json *j = shared("{\"metadata\":{\"managedFields\":[{\"a\":\"]}\\\"\",\"b\":[1]}],"
                            "\"name\":\"x\",\"managedFields\":{}},"
                            "\"spec\":{\"managedFields\":[1]}}", &shape);
    char *text = json_text(j, 0);
    CHECK_STR(text, "{\"metadata\":{\"name\":\"x\"},\"spec\":{\"managedFields\":[1]},"
                    "\"kind\":\"Pod\",\"apiVersion\":\"v1\"}");
    free(text);
    json_free(j);
    shape.event = true;
    j = shared("{\"type\":\"ADDED\",\"object\":{\"kind\":\"P\","
               "\"metadata\":{\"managedFields\":[ ]}}}", &shape);
    text = json_text(json_get(j, "object"), 0);
    CHECK_STR(text, "{\"kind\":\"P\",\"metadata\":{},\"apiVersion\":\"v1\"}");
    CHECK_STR(json_str(j, "kind", "none"), "none");
    free(text);
    json_free(j);
}

TEST(equal_parts_are_stored_once)
{
    struct json *rows = json_rows_new();
    size_t one = 0;
    for (int i = 0; i < 1000; i++) {
        char text[512];
        str_fmt(text, sizeof text,
                "{\"metadata\":{\"name\":\"p-%d\"},\"spec\":{\"containers\":[{\"image\":\"x:1\","
                "\"resources\":{\"limits\":{\"cpu\":\"1\",\"memory\":\"1Gi\"}}}],"
                "\"nodeName\":\"n\"}}", i);
        struct json *j = shared(text, NULL);
        json_rows_put(rows, (size_t)i, j);
        json_free(j);
        if (i == 0)
            one = json_share_use().blocks;
    }
    struct json_share_use u = json_share_use();
    CHECK(json_share_same(json_at(rows, "[0].spec"), json_at(rows, "[999].spec")));
    CHECK_INT(u.blocks, one + 2 * 999);      /* the object and its metadata */
    CHECK_MSG(u.bytes < 1000 * 250, "%zu bytes", u.bytes);
    json_free(rows);
    CHECK_INT(json_share_use().bytes, 0);
}

TEST(a_shared_tree_hangs_in_an_ordinary_one)
{
    struct json *body = json_new_object(), *list = json_new_array();
    struct json *j = shared("{\"a\":[1,{\"b\":\"c\"}]}", NULL);
    json_set(body, "object", json_share(j));
    json_set(body, "object", json_share(j));
    json_append(list, json_share(json_at(j, "a[1]")));
    json_append(list, json_share(json_at(j, "a[0]")));
    json_set(body, "list", list);
    char *text = json_text(body, 0);
    CHECK_STR(text, "{\"object\":{\"a\":[1,{\"b\":\"c\"}]},\"list\":[{\"b\":\"c\"},1]}");
    free(text);
    CHECK_STR(json_key(json_first(body)), "object");
    struct json *kept = json_copy_kept(body), *own = json_copy(body);
    CHECK(json_share_same(json_get(kept, "object"), j));
    json_put_path(own, "object.a[1].b", json_new_string("d"));
    CHECK_STR(json_str(j, "a[1].b", ""), "c");
    struct json *out = json_detach(body, "object");
    json_free(body);
    json_free(kept);
    json_free(own);
    json_free(j);
    CHECK_STR(json_str(out, "a[1].b", ""), "c");
    json_free(out);
    CHECK_INT(json_share_use().bytes, 0);
}

TEST(rows_keep_their_order)
{
    struct json *rows = json_rows_new();
    for (int i = 0; i < 100; i++) {
        struct json *o = json_new_object();
        json_put_num(o, "n", i);
        json_rows_put(rows, (size_t)i, o);
        json_free(o);
    }
    int walked = 0;
    for (const struct json *r = json_first(rows); r; r = json_next(r))
        walked++;
    CHECK_INT(walked, 100);
    json_rows_remove(rows, 99);
    json_rows_remove(rows, 0);
    size_t kept = 0;
    for (size_t i = 0; i < 98; i++)
        if (json_int(json_item(rows, (int)i), "n", 0) % 2)
            json_rows_move(rows, i, kept++);
    json_rows_cut(rows, kept);
    int64_t want = 1;
    for (const struct json *r = json_first(rows); r; r = json_next(r), want += 2)
        CHECK_INT(json_int(r, "n", -1), want);
    CHECK_INT(want, 99);
    CHECK_INT(json_count(rows), 49);
    struct json *all = json_share(rows);     /* a list that no longer changes */
    json_free(rows);
    CHECK_INT(json_int(all, "[48].n", -1), 97);
    json_free(all);
    CHECK_INT(json_share_use().bytes, 0);
}

T_MAIN
