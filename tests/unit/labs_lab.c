/* labs_lab.c - the lab format: what is accepted, and how mistakes are told. */
#include "tests/t.h"

#include "core/base/i18n.h"
#include "core/base/path.h"
#include "core/base/str.h"
#include "labs/lab.h"
#include "labs/lab_keys.h"
#include "labs/match.h"
#include "labs/vars.h"

static const char head[] = "podium: 1\nid: x\ntitle: X\n";

static enum pd_code parse(const char *text, struct lab **lab, struct pd_err *err)
{
    return lab_parse("lab.yaml", text, strlen(text), NULL, lab, err);
}

/* text behind `head`; where and what the error must be. */
static const struct {
    const char *text;
    int line, col;
    const char *has;
} wrong[] = {
    {"steps: []\n", 4, 8, "at least one step"},
    {"stepz: []\n", 4, 1, "did you mean \"steps\"?"},
    {"steps:\n  - {id: a, title: A}\n", 5, 5, "no \"say\""},
    {"steps:\n  - {id: A b, title: A, say: s}\n", 5, 10, "is no id"},
    {"steps:\n  - {id: a, title: A, say: s}\n  - {id: a, title: A, say: s}\n", 6, 10, "two steps"},
    {"steps:\n  - {id: a, tittle: A, say: s}\n", 5, 13, "did you mean \"title\"?"},
    {"steps:\n  - {id: a, title: {zh: x}, say: s}\n", 5, 20, "no \"en\""},
    {"steps:\n  - {id: a, title: {en: x, fr: y}, say: s}\n", 5, 28, "no language"},
    {"steps:\n  - {id: a, title: [x], say: s}\n", 5, 20, "must be a text"},
    {"steps:\n  - id: a\n    title: A\n    say: s\n    checks:\n      - {title: T, objekt: {}}\n",
     9, 20, "did you mean \"object\"?"},
    {"steps:\n  - id: a\n    title: A\n    say: s\n    checks:\n"
     "      - {object: {kind: jobs}}\n", 9,
     9, "no \"title\""},
    {"steps:\n  - id: a\n    title: A\n    say: s\n    checks:\n"
     "      - {title: T, object: {kind: job, name: x}}\n",
     9, 35, "did you mean \"jobs\"?"},
    {"steps:\n  - id: a\n    title: A\n    say: s\n    checks:\n"
     "      - {title: T, object: {kind: jobs, expect: {a.b: {mim: 3}}}}\n",
     9, 56, "did you mean \"min\"?"},
    {"steps:\n  - id: a\n    title: A\n    say: s\n    checks:\n"
     "      - {title: T, file: {file: ../x, path: a}}\n",
     9, 33, "leaves the folder"},
    {"steps:\n  - id: a\n    title: A\n    say: s\n    do:\n      - {apply: {fil: x}}\n", 9, 18,
     "did you mean \"file\"?"},
    {"steps:\n  - id: a\n    title: A\n    say: s\n    do:\n      - {apply: {file: x}, push: "
     "{ref: y}}\n",
     9, 28, "two kinds"},
    {"steps:\n  - id: a\n    title: A\n    say: s\n    do:\n      - {push: {ref: \"${IMAG}\"}}"
     "\nvars: {IMAGE: x}\n",
     9, 22, "did you mean ${IMAGE}?"},
    {"vars: {IMAGE: x}\nsteps: [{id: a, title: A, say: \"${IMAGES}\"}]\n", 5, 32,
     "did you mean ${IMAGE}?"},
    {"vars: {image: x}\nsteps: [{id: a, title: A, say: s}]\n", 4, 15, "no variable's name"},
    {"vars: {A: {pick: []}}\nsteps: [{id: a, title: A, say: s}]\n", 4, 18, "nothing to pick"},
    {"vars: {A: {from: moon}}\nsteps: [{id: a, title: A, say: s}]\n", 4, 18, "no source"},
    {"requires: [{resource: cpu, min: x, why: w}]\nsteps: [{id: a, title: A, say: s}]\n", 4, 33,
     "must be a number"},
    {"steps:\n  - id: a\n    title: A\n    say: s\n"
     "    solve: [{file: f, find: x, put: y}]\n", 8, 13,
     "no file of this step"},
    {"steps: [{id: a, title: A, say: s}\n", 5, 1, ""},
    {"steps: [{id: a, title: A, say: s}]\nid: y\n", 5, 1, "id"},
};

TEST(every_mistake_has_its_place)
{
    for (size_t i = 0; i < ARRAY_LEN(wrong); i++) {
        struct lab *lab = NULL;
        struct pd_err err;
        char text[1024], all[1024];
        snprintf(text, sizeof text, "%s%s", head, wrong[i].text);
        enum pd_code rc = parse(text, &lab, &err);
        CHECK_MSG(rc == PD_LAB, "case %zu: accepted or another code: %s", i, pd_id(rc));
        pd_describe(&err, all, sizeof all);
        CHECK_MSG(err.line == wrong[i].line && err.col == wrong[i].col,
                  "case %zu: %s, want %d:%d", i, all, wrong[i].line, wrong[i].col);
        CHECK_HAS(err.msg, wrong[i].has);
        CHECK_STR(err.src, "lab.yaml");
    }
}

TEST(versions_and_missing_keys)
{
    struct lab *lab = NULL;
    struct pd_err err;
    CHECK_INT(parse("podium: 2\nid: x\ntitle: X\nsteps: [{id: a, title: A, say: s}]\n", &lab, &err),
              PD_LAB);
    CHECK_HAS(err.msg, "version 1");
    CHECK_INT(err.line, 1);
    CHECK_INT(parse("id: x\ntitle: X\nsteps: []\n", &lab, &err), PD_LAB);
    CHECK_HAS(err.msg, "no \"podium\"");
    CHECK_INT(parse("", &lab, &err), PD_LAB);
    CHECK_INT(parse("[1, 2]", &lab, &err), PD_LAB);
}

TEST(own_keys_are_accepted_everywhere)
{
    struct lab *lab = NULL;
    struct pd_err err;
    CHECK_OK(parse("podium: 1\nid: x\ntitle: {en: X, x-note: 1}\nx-acme: {a: 1}\n"
                   "vars: {x-v: 1, A: b}\n"
                   "steps:\n  - id: a\n    title: A\n    say: s\n    x-points: 5\n"
                   "    checks:\n      - {title: T, x-w: 1, log: {has: y, x-z: 2}}\n",
                   &lab, &err));
    CHECK_INT(lab->vars_n, 1);
    CHECK_STR(lab->steps[0].checks[0].kind_name, "log");
    lab_free(lab);
}

TEST(texts_follow_the_language)
{
    struct lab *lab = NULL;
    struct pd_err err;
    i18n_init("en");
    CHECK_OK(parse("podium: 1\nid: x\ntitle: {en: Hello, zh: 你好}\n"
                   "steps: [{id: a, title: Same, say: s}]\n",
                   &lab, &err));
    CHECK_STR(ltext_get(&lab->title), "Hello");
    CHECK(i18n_set("zh"));
    CHECK_STR(ltext_get(&lab->title), "你好");
    CHECK_STR(ltext_get(&lab->steps[0].title), "Same");
    lab_free(lab);
}

TEST(aliases_can_not_blow_it_up)
{
    struct str s;
    struct lab *lab = NULL;
    struct pd_err err;
    str_init(&s, 8 << 20);
    str_printf(&s, "podium: 1\nid: x\ntitle: X\nsteps:\n  - id: a\n    title: A\n    say: &t \"");
    for (int i = 0; i < 1 << 20; i++)
        str_addc(&s, 'x');
    str_add(&s, "\"\n");
    for (int i = 0; i < 60; i++)
        str_printf(&s, "  - {id: a%d, title: A, say: *t}\n", i);
    CHECK_INT(lab_parse("l", s.p, s.len, NULL, &lab, &err), PD_LAB);
    CHECK_HAS(err.msg, "24 MiB");
    str_release(&s);
}

static void each_text(const struct ltext *t, const char *where)
{
    CHECK_MSG(*t->en && *t->zh, "%s lacks a language", where);
    CHECK_MSG(strcmp(t->en, t->zh) != 0, "%s is the same in both languages: %s", where, t->en);
}

TEST(the_shipped_lab_is_whole_in_both_languages)
{
    struct lab *lab = NULL;
    struct pd_err err;
    int edits = 0;
    CHECK_OK(lab_read(PODIUM_SOURCE_DIR "/labs/content/first-finetune/lab.yaml", &lab, &err));
    each_text(&lab->title, "title");
    each_text(&lab->goal, "goal");
    for (int i = 0; i < lab->steps_n; i++) {
        const struct lab_step *s = &lab->steps[i];
        each_text(&s->title, s->id);
        each_text(&s->say, s->id);
        edits += s->solves_n > 0;
        CHECK_MSG(s->hints_n > 0, "%s has no hint", s->id);
        for (int k = 0; k < s->hints_n; k++)
            each_text(&s->hints[k], s->id);
        for (int k = 0; k < s->checks_n; k++)
            each_text(&s->checks[k].title, s->id);
    }
    CHECK_MSG(edits >= 2, "only %d steps need an edit of the student's own", edits);
    lab_free(lab);
}

/* Before the last hint, no hint may hold a solution. */
TEST(hints_do_not_give_it_away_at_once)
{
    struct lab *lab = NULL;
    struct pd_err err;
    CHECK_OK(lab_read(PODIUM_SOURCE_DIR "/labs/content/first-finetune/lab.yaml", &lab, &err));
    for (int i = 0; i < lab->steps_n; i++)
        for (int k = 0; k + 1 < lab->steps[i].hints_n; k++)
            for (int v = 0; v < lab->steps[i].solves_n; v++)
                CHECK(!strstr(lab->steps[i].hints[k].en, lab->steps[i].solves[v].put));
    lab_free(lab);
}

TEST(a_broken_lab_does_not_hide_the_others)
{
    struct pd_err err;
    char *dir = xasprintf("%s/a", t_dir()), *good = xasprintf("%s/a/g/lab.yaml", t_dir()),
         *bad = xasprintf("%s/a/b/lab.yaml", t_dir()), *d2;
    d2 = path_dir(good);
    CHECK_OK(path_mkdirs(d2, 0700, &err));
    free(d2);
    d2 = path_dir(bad);
    CHECK_OK(path_mkdirs(d2, 0700, &err));
    free(d2);
    const char ok[] = "podium: 1\nid: g\ntitle: X\nsteps: [{id: a, title: A, say: s}]\n";
    CHECK_OK(path_write_atomic(good, 0600, ok, strlen(ok), &err));
    CHECK_OK(path_write_atomic(bad, 0600, "podium: 1\nidd: b\n", 17, &err));
    struct lab_list *l = lab_list_load(dir);
    CHECK_INT(l->n, 2);
    CHECK(lab_list_find(l, "g") != NULL);
    CHECK(!l->v[0].lab);
    CHECK_INT(l->v[0].err.line, 2);
    lab_list_free(l);
    free(dir);
    free(good);
    free(bad);
}

/* --- variables ------------------------------------------------------------------------ */

static const char var_lab[] = "podium: 1\nid: x\ntitle: X\n"
                              "vars: {A: {from: registry}, B: \"${A}/x\", C: {pick: [1, 2, 3, 4]}"
                              "}\n"
                              "steps: [{id: a, title: A, say: s}]\n";

TEST(variables_wait_for_what_they_need)
{
    struct lab *lab = NULL;
    struct pd_err err;
    char missing[64] = "";
    struct str s;
    CHECK_OK(parse(var_lab, &lab, &err));
    struct json *vars = vars_draw(lab, 1, NULL);
    struct json *args = json_from("{\"r\":[\"${B}:1\",2,\"$${B}\"]}");
    CHECK(!json_has(vars, "B"));
    CHECK(!vars_json(vars, args, missing));
    CHECK_STR(missing, "B");
    CHECK(vars_give(lab, vars, "registry", "host:5"));
    CHECK(!vars_give(lab, vars, "registry", "host:5"));
    struct json *got = vars_json(vars, args, missing);
    CHECK_STR(json_str(got, "r[0]", ""), "host:5/x:1");
    CHECK_INT(json_int(got, "r[1]", 0), 2);
    CHECK_STR(json_str(got, "r[2]", ""), "${B}");
    str_init(&s, 100);
    vars_fill(vars, "a ${NO} ${A} $${A}", &s);
    CHECK_STR(s.p, "a ${NO} host:5 ${A}");
    str_release(&s);
    json_free(got);
    json_free(args);
    json_free(vars);
    lab_free(lab);
}

TEST(a_value_is_never_looked_at_again)
{
    struct lab *lab = NULL;
    struct pd_err err;
    CHECK_OK(parse(var_lab, &lab, &err));
    struct json *vars = vars_draw(lab, 1, NULL);
    vars_give(lab, vars, "registry", "${C}");
    CHECK_STR(json_str(vars, "B", ""), "${C}/x");
    json_free(vars);
    lab_free(lab);
}

TEST(random_values_are_sticky_and_vary)
{
    struct lab *lab = NULL;
    struct pd_err err;
    bool seen[5] = {false};
    CHECK_OK(parse(var_lab, &lab, &err));
    for (uint64_t seed = 0; seed < 64; seed++) {
        struct json *a = vars_draw(lab, seed, NULL), *b = vars_draw(lab, seed, NULL);
        CHECK(json_equal(a, b));
        seen[atoi(json_str(a, "C", "0"))] = true;
        json_free(a);
        json_free(b);
    }
    CHECK(seen[1] && seen[2] && seen[3] && seen[4] && !seen[0]);
    lab_free(lab);
}

/* --- matching ------------------------------------------------------------------------- */

TEST(values_match)
{
    static const struct {
        const char *actual, *want;
        bool ok;
    } cases[] = {
        {"1", "1", true},          {"\"1\"", "1", true},          {"\"1000m\"", "1", true},
        {"\"1Gi\"", "\"1024Mi\"", true}, {"\"a\"", "\"a\"", true}, {"\"a\"", "\"b\"", false},
        {"true", "true", true},    {"true", "\"true\"", true},    {"null", "1", false},
        {"\"512Mi\"", "{\"min\":\"256Mi\",\"max\":\"1Gi\"}", true},
        {"\"128Mi\"", "{\"min\":\"256Mi\",\"max\":\"1Gi\"}", false},
        {"\"384M\"", "{\"min\":\"384Mi\"}", false},
        {"\"2Gi\"", "{\"min\":\"256Mi\",\"max\":\"1Gi\"}", false},
        {"\"lots\"", "{\"min\":\"256Mi\"}", false},
        {"\"b\"", "{\"in\":[\"a\",\"b\"]}", true}, {"\"c\"", "{\"in\":[\"a\",\"b\"]}", false},
        {"\"xyz\"", "{\"has\":\"y\"}", true},      {"\"xyz\"", "{\"starts\":\"y\"}", false},
        {"\"a\"", "{\"lacks\":\"b\"}", true}, {"\"\"", "{\"lacks\":\"b\"}", false},
        {"\"ab\"", "{\"lacks\":\"b\"}", false},
        {"\"a\"", "{\"not\":\"b\"}", true},        {"\"b\"", "{\"not\":\"b\"}", false},
        {"1", "{\"exists\":true}", true},
        {"{\"a\":1,\"b\":2}", "{\"a\":1}", true},  {"{\"a\":1}", "{\"a\":1,\"b\":2}", false},
        {"[1,2]", "[1]", true},                    {"[1]", "[1,2]", false},
        {"[{\"n\":\"x\",\"v\":1}]", "[{\"v\":{\"min\":1}}]", true},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct json *a = json_from(cases[i].actual), *w = json_from(cases[i].want);
        CHECK_MSG(match_value(a, w) == cases[i].ok, "%s against %s", cases[i].actual,
                  cases[i].want);
        json_free(a);
        json_free(w);
    }
    struct json *w = json_from("{\"exists\":false}"), *n = json_from("{\"not\":\"b\"}");
    CHECK(match_value(NULL, w));
    CHECK(!match_value(NULL, n));                  /* what is not there is not "not b" */
    json_free(w);
    json_free(n);
}

T_MAIN
