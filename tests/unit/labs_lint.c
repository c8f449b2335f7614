/* labs_lint.c - the rules of `podium lab lint`, drawn variables, and the labs
 * that ship. */
#include "tests/t.h"

#include <dirent.h>

#include "core/base/i18n.h"
#include "core/base/mem.h"
#include "core/base/path.h"
#include "labs/lab_lint.h"
#include "labs/vars.h"

#define HEAD "podium: 1\nid: x\ntitle: {en: T t, zh: 题}\n"
#define STEP "  - id: a\n    title: {en: A a, zh: 甲}\n    say: {en: S s, zh: 说}\n"

struct seen {
    char text[4096];
    int errors;
};

static void take(void *arg, const struct lab_finding *f)
{
    struct seen *s = arg;
    size_t n = strlen(s->text);
    snprintf(s->text + n, sizeof s->text - n, "%d:%d %s%s\n", f->line, f->col,
             f->advice ? "advice " : "", f->rule);
}

static struct seen lint(const char *yaml)
{
    struct seen s = {.text = ""};
    struct lab *lab = NULL;
    struct ydoc *doc = NULL;
    struct pd_err err;
    CHECK_OK(lab_parse("l.yaml", yaml, strlen(yaml), NULL, &lab, &err));
    CHECK_OK(yaml_parse("l.yaml", yaml, strlen(yaml), &doc, &err));
    s.errors = lab_lint_rules(lab, doc->root, take, &s);
    yaml_docs_free(doc);
    lab_free(lab);
    return s;
}

TEST(missing_translations_are_told_where_others_have_them)
{
    struct seen s = lint(HEAD "steps:\n" STEP "    hints: [{en: only english}, both]\n");
    CHECK_STR(s.text, "8:18 translation\n");
    CHECK_INT(s.errors, 1);
    s = lint(HEAD "steps:\n" STEP "    notes: A plain sentence.\n");
    CHECK_STR(s.text, "8:12 translation\n");
    /* a lab in one language is one */
    s = lint("podium: 1\nid: x\ntitle: T t\nsteps:\n  - {id: a, title: A a, say: S s}\n");
    CHECK_STR(s.text, "");
}

TEST(a_translation_of_an_older_text_is_told)
{
    char hash[16];
    char *yaml = xasprintf(HEAD "steps:\n" STEP "    notes: {en: New text, zh: 新, x-en: \"%s\"}\n",
                           lab_lint_hash("New text", hash));
    struct seen s = lint(yaml);
    CHECK_STR(s.text, "");
    free(yaml);
    yaml = xasprintf(HEAD "steps:\n" STEP "    notes: {en: New text, zh: 新, x-en: \"%s\"}\n",
                     lab_lint_hash("Old text", hash));
    s = lint(yaml);
    CHECK_STR(s.text, "8:31 stale\n");
    free(yaml);
}

TEST(a_hint_gives_nothing_away_before_the_last)
{
    static const char yaml[] =
        HEAD "steps:\n" STEP "    files: [{name: f, from: f, edit: yes}]\n"
             "    hints:\n      - {en: \"n: 42, say\", zh: 写}\n      - {en: \"n: 42\", zh: 写}\n"
             "    solve: [{file: f, find: a, put: \"n: 42\"}]\n"
             "    checks: [{title: {en: C c, zh: 查}, count: {kind: pods, is: 1}}]\n";
    struct seen s = lint(yaml);
    CHECK_STR(s.text, "10:9 hint-solves\n");
}

TEST(unused_variables_and_silent_requirements_are_told)
{
    struct seen s = lint(HEAD "vars: {USED: a, IDLE: b}\n"
                              "requires: [{resource: cpu, why: {en: w w, zh: 因}}]\nsteps:\n"
                              "  - {id: a, title: T, say: {en: \"${USED} x\", zh: \"${USED}\"}}\n");
    CHECK_STR(s.text, "5:12 else\n4:17 unused-var\n");
    CHECK_INT(s.errors, 2);
}

TEST(advice_is_no_error)
{
    struct seen s = lint(HEAD "steps:\n" STEP
                              "    checks: [{title: {en: C c, zh: 查}, object: {kind: jobs, "
                              "name: j, expect: {spec.a: 1}}}]\n");
    CHECK_HAS(s.text, "advice no-hints");
    CHECK_HAS(s.text, "advice because");
    CHECK_INT(s.errors, 0);
}

/* --- the labs and templates that ship ------------------------------------------------ */

static void lint_folder(const char *dir)
{
    DIR *d = opendir(dir);
    int n = 0;
    CHECK(d != NULL);
    for (struct dirent *e; (e = readdir(d));) {
        char *path = xasprintf("%s/%s/lab.yaml", dir, e->d_name);
        struct lab *lab = NULL;
        struct ydoc *doc = NULL;
        struct pd_err err;
        struct seen s = {.text = ""};
        if (e->d_name[0] == '.' || yaml_read_file(path, &doc, &err)) {
            free(path);
            continue;
        }
        if (lab_read(path, &lab, &err) == PD_OK) {
            s.errors = lab_lint_rules(lab, doc->root, take, &s);
            CHECK_MSG(s.errors == 0 && !*s.text, "%s:\n%s", path, s.text);
            n++;
        } else {
            CHECK_MSG(strstr(path, "templates") != NULL, "%s: %s", path, err.msg);
            CHECK_HAS(err.msg, "LAB-ID");                /* the id that `new` puts in */
            n++;
        }
        lab_free(lab);
        yaml_docs_free(doc);
        free(path);
    }
    closedir(d);
    CHECK(n >= 2);
}

TEST(what_ships_is_clean)
{
    lint_folder(PODIUM_SOURCE_DIR "/labs/content");
    lint_folder(PODIUM_SOURCE_DIR "/labs/templates");
}

/* --- variables ---------------------------------------------------------------------------- */

TEST(drawn_values_depend_on_their_name_and_seed_alone)
{
    static const char one[] = "podium: 1\nid: x\ntitle: T\nvars:\n  N: {number: [1, 1000]}\n"
                              "  W: {word: 8}\n  P: {pick: [a, b, c, d, e, f, g]}\n"
                              "steps: [{id: a, title: A, say: s}]\n";
    static const char two[] = "podium: 1\nid: x\ntitle: T\nvars:\n  NEW: {word: 3}\n"
                              "  P: {pick: [a, b, c, d, e, f, g]}\n  W: {word: 8}\n"
                              "  N: {number: [1, 1000]}\nsteps: [{id: a, title: A, say: s}]\n";
    struct lab *a = NULL, *b = NULL;
    struct pd_err err;
    int differ = 0;
    CHECK_OK(lab_parse("a", one, strlen(one), NULL, &a, &err));
    CHECK_OK(lab_parse("b", two, strlen(two), NULL, &b, &err));
    struct json *first = vars_draw(a, 1, NULL);
    for (uint64_t seed = 1; seed < 50; seed++) {
        struct json *x = vars_draw(a, seed, NULL), *y = vars_draw(b, seed, NULL);
        static const char *const names[] = {"N", "W", "P"};
        for (size_t i = 0; i < ARRAY_LEN(names); i++)
            CHECK_STR(json_str(y, names[i], "?"), json_str(x, names[i], ""));
        int64_t n;
        CHECK(str_to_i64(json_str(x, "N", ""), &n) && n >= 1 && n <= 1000);
        CHECK_INT(strlen(json_str(x, "W", "")), 8);
        CHECK(json_str(x, "W", "0")[0] >= 'a');
        differ += !json_equal(x, first);
        json_free(x);
        json_free(y);
    }
    CHECK(differ > 40);
    /* what was drawn stays, whatever the seed and the list say now */
    struct json *kept = json_from("{\"P\":\"gone\",\"N\":\"3\"}"), *z = vars_draw(a, 9, kept);
    CHECK_STR(json_str(z, "P", ""), "gone");
    CHECK_STR(json_str(z, "N", ""), "3");
    json_free(kept);
    json_free(z);
    json_free(first);
    lab_free(a);
    lab_free(b);
}

T_MAIN
