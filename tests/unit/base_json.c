/* JSON trees and YAML documents. */
#include "core/base/json.h"
#include "core/base/mem.h"
#include "core/base/yaml.h"
#include "tests/t.h"

static struct pd_err err;

static void prints_as(struct json *j, const char *want)
{
    char *text = json_text(j, 0);
    CHECK_STR(text, want);
    free(text);
}

TEST(paths_reach_everything)
{
    struct json *j = json_from(
        "{\"metadata\":{\"labels\":{\"app.io/name\":\"x\"}},"
        "\"status\":{\"conditions\":[{\"type\":\"A\",\"status\":\"False\"},"
        "{\"type\":\"Ready\",\"status\":\"True\",\"n\":5}]}}");
    CHECK_STR(json_str(j, "metadata.labels['app.io/name']", ""), "x");
    CHECK_STR(json_str(j, "status.conditions[?type=Ready].status", ""), "True");
    CHECK_STR(json_str(j, "status.conditions[?n=5].type", ""), "Ready");
    CHECK_STR(json_str(j, "status.conditions[-1].type", ""), "Ready");
    CHECK_STR(json_str(j, "status.conditions[7].type", "none"), "none");
    CHECK_STR(json_str(j, "status.nothing[0].at.all", "none"), "none");
    CHECK_INT(json_int(j, "status.conditions[1].n", 0), 5);
    CHECK_INT(json_count(json_at(j, "status.conditions")), 2);
    CHECK(json_at(j, "") == j);
    json_free(j);
}

TEST(setters_replace_in_place)
{
    struct json *j = json_from("{\"a\":1,\"b\":2,\"c\":3}");
    json_put_str(j, "b", "two");
    json_put_path(j, "d.e['x/y']", json_new_bool(true));
    json_remove(j, "a");
    prints_as(j, "{\"b\":\"two\",\"c\":3,\"d\":{\"e\":{\"x/y\":true}}}");
    struct json *moved = json_detach(j, "c");
    json_set(j, "z", moved);
    prints_as(j, "{\"b\":\"two\",\"d\":{\"e\":{\"x/y\":true}},\"z\":3}");
    json_free(j);
}

TEST(numbers_print_shortest)
{
    struct json *j = json_from("[0,-0,1,1.5,2e-4,1e21,123456789012345,0.1]");
    prints_as(j, "[0,0,1,1.5,0.0002,1e+21,123456789012345,0.1]");
    json_free(j);
}

TEST(strings_are_escaped)
{
    struct json *j = json_new_string("a\"b\\c\n\x01中");
    prints_as(j, "\"a\\\"b\\\\c\\n\\u0001中\"");
    json_free(j);
}

TEST(bad_json_has_a_place)
{
    struct json *j = NULL;
    const char *text = "{\"a\": 1,\n  \"b\": oops}";
    CHECK_INT(json_parse(text, strlen(text), &j, &err), PD_PARSE);
    CHECK_INT(err.line, 2);
    CHECK_INT(json_parse("{} x", 4, &j, &err), PD_PARSE);
    char deep[600];
    memset(deep, '[', sizeof deep);
    CHECK_INT(json_parse(deep, sizeof deep, &j, &err), PD_LIMIT);
}

TEST(equality_ignores_member_order)
{
    struct json *a = json_from("{\"x\":[1,{\"p\":null,\"q\":\"s\"}],\"y\":true}");
    struct json *b = json_from("{\"y\":true,\"x\":[1,{\"q\":\"s\",\"p\":null}]}");
    struct json *c = json_from("{\"y\":true,\"x\":[{\"q\":\"s\",\"p\":null},1]}");
    CHECK(json_equal(a, b) && !json_equal(a, c));
    json_free(a);
    json_free(b);
    json_free(c);
}

static struct ydoc *parse(const char *text)
{
    struct ydoc *docs = NULL;
    CHECK_OK(yaml_parse("t.yaml", text, strlen(text), &docs, &err));
    return docs;
}

static void yaml_is(const char *text, const char *want)
{
    struct ydoc *docs = parse(text);
    struct json *j = yaml_to_json(docs->root);
    prints_as(j, want);
    json_free(j);
    yaml_docs_free(docs);
}

TEST(yaml_types_as_kubectl_does)
{
    yaml_is("{a: yes, b: 'yes', c: 012, d: 0o14, e: 1_000, f: 1.5e3, g: ~, h: 1.2.3, i: 0x1F}",
            "{\"a\":true,\"b\":\"yes\",\"c\":10,\"d\":12,\"e\":1000,\"f\":1500,\"g\":null,"
            "\"h\":\"1.2.3\",\"i\":31}");
    yaml_is("x: !!str 12\nw: 256Gi\nz: 2026-11-30\n",
            "{\"x\":\"12\",\"w\":\"256Gi\",\"z\":\"2026-11-30\"}");
}

TEST(yaml_merges_and_aliases)
{
    yaml_is("base: &b {p: 1, q: 2}\nuse:\n  <<: *b\n  q: 3\n",
            "{\"base\":{\"p\":1,\"q\":2},\"use\":{\"p\":1,\"q\":3}}");
}

TEST(yaml_has_places)
{
    struct ydoc *docs = parse("a:\n  - name: x\n    image: y\n---\nb: 1\n");
    const struct ynode *n = yaml_at(docs->root, "a[0].image");
    CHECK(n && n->line == 3 && n->col == 12 && n->key_col == 5);
    CHECK_INT(yaml_locate(docs->root, "a[0].nothing.there")->line, 2);
    CHECK(docs->next && yaml_get(docs->next->root, "b"));
    CHECK_INT(yaml_get(docs->next->root, "b")->line, 5);
    yaml_docs_free(docs);
}

static void yaml_fails(const char *text, int line, int col, const char *part)
{
    struct ydoc *docs = NULL;
    CHECK_INT(yaml_parse("t.yaml", text, strlen(text), &docs, &err), PD_PARSE);
    CHECK_HAS(err.msg, part);
    CHECK_INT(err.line, line);
    CHECK_INT(err.col, col);
    CHECK_STR(err.src, "t.yaml");
}

TEST(yaml_errors_have_places)
{
    yaml_fails("a: 1\nb: 2\na: 3\n", 3, 1, "stands twice; first at line 1");
    yaml_fails("a: *nope\n", 1, 4, "*nope");
    yaml_fails("a:\n\t- x\n", 2, 1, "not valid YAML");
    yaml_fails("? [x]\n: 1\n", 1, 3, "a key that is a list");
}

TEST(yaml_refuses_a_billion_laughs)
{
    struct str s;
    struct ydoc *docs = NULL;
    str_init(&s, 10000);
    str_add(&s, "a0: &a0 [x,x,x,x,x,x,x,x,x,x]\n");
    for (int i = 1; i < 9; i++) {
        str_printf(&s, "a%d: &a%d [", i, i);
        for (int k = 0; k < 10; k++)
            str_printf(&s, "*a%d%s", i - 1, k < 9 ? "," : "]\n");
    }
    CHECK_INT(yaml_parse("t", s.p, s.len, &docs, &err), PD_PARSE);
    CHECK_HAS(err.msg, "100,000");
    str_release(&s);
}

TEST(yaml_reads_bom_and_crlf)
{
    yaml_is("\xEF\xBB\xBF" "a: 1\r\nb: x\r\n", "{\"a\":1,\"b\":\"x\"}");
}

T_MAIN

TEST(yaml_types_what_is_odd_as_go_does)
{
    yaml_is("a: 08\nb: 0o17\nc: 9007199254740993\nd: 12345678901234567890\ne: 1e3\nf: 1e21\n"
            "g: 1e-7\nh: 12:30:45\ni: 0b11\nj: -0x1F\nk: 1e400\nl: .5\nm: +1.\nnn: 0x\no: ._5\n"
            "p: -9223372036854775808\nq: 0.00001\nr: 1__0\ns: _1\nt: 0.1\nu: 123456.789\n",
            "{\"a\":8,\"b\":15,\"c\":9007199254740993,\"d\":12345678901234567000,\"e\":1000,"
            "\"f\":1e+21,\"g\":1e-7,\"h\":\"12:30:45\",\"i\":3,\"j\":-31,\"k\":\"1e400\",\"l\":0.5,"
            "\"m\":1,\"nn\":\"0x\",\"o\":\"._5\",\"p\":-9223372036854775808,\"q\":0.00001,\"r\":10,"
            "\"s\":\"_1\",\"t\":0.1,\"u\":123456.789}");
    yaml_is("yes: 1\n010: 2\n1.5: 3\n0x10: 4\n2001-01-01: 5\n\"no\": 6\n1e30: 7\n",
            "{\"true\":1,\"8\":2,\"1.5\":3,\"16\":4,\"2001-01-01\":5,\"no\":6,\"1e+30\":7}");
    yaml_is("a: !!int '12'\nb: !!float 3\nc: !!str yes\nd: !x 5\ne: ! 7\nf: '<<'\n",
            "{\"a\":12,\"b\":3,\"c\":\"yes\",\"d\":\"5\",\"e\":\"7\",\"f\":\"<<\"}");
}

TEST(yaml_merges_in_place_as_go_does)
{
    yaml_is("k: {<<: {p: 1, q: 3}, p: 2}\nl: {p: 2, <<: {p: 1}}\nm: {<<: [{a: 1}, {a: 2, b: 3}]}\n",
            "{\"k\":{\"p\":2,\"q\":3},\"l\":{\"p\":1},\"m\":{\"a\":1,\"b\":3}}");
    yaml_is("&k a: 1\nb: {*k : 2, '<<': 3}\n", "{\"a\":1,\"b\":{\"a\":2,\"<<\":3}}");
    yaml_fails("a: {<<: 3}\n", 1, 5, "no map");
}

TEST(yaml_marks_what_json_can_not_hold)
{
    struct ydoc *docs = NULL;
    static const char *const flawed[] = {"a: .inf\n", "a: -.INF\n", "a: .NaN\n", "~: 1\n",
                                         "a: !!int x\n", "12345678901234567890: 1\n"};
    for (size_t i = 0; i < ARRAY_LEN(flawed); i++) {
        CHECK_OK(yaml_parse("t", flawed[i], strlen(flawed[i]), &docs, &err));
        CHECK(docs->root->first->flaw != NULL);
        yaml_docs_free(docs);
    }
}
