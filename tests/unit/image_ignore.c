/* image_ignore.c - patterns and .dockerignore by Docker's rules. */
#include "tests/t.h"

#include "core/base/clock.h"
#include "core/base/mem.h"
#include "core/base/str.h"
#include "k8s/image/ignore.h"
#include "k8s/image/pattern.h"

TEST(pattern_matches_as_filepath_match)
{
    static const struct {
        const char *pattern, *path;
        bool match;
    } cases[] = {
        {"abc", "abc", true},           {"*", "abc", true},          {"*c", "abc", true},
        {"a*", "a", true},              {"a*", "ab/c", false},       {"a*/b", "abc/b", true},
        {"a*/b", "a/c/b", false},       {"a*b*c*d*e*/f", "axbxcxdxe/f", true},
        {"a*b*c*d*e*/f", "axbxcxdxe/xxx/f", false},
        {"a*b?c*x", "abxbbxdbxebxczzx", true},
        {"ab[c]", "abc", true},         {"ab[b-d]", "abc", true},    {"ab[e-g]", "abc", false},
        {"ab[^c]", "abc", false},       {"ab[^e-g]", "abc", true},   {"a\\*b", "a*b", true},
        {"a\\*b", "ab", false},         {"a?b", "a\xe2\x98\xba" "b", true},
        {"a[^a]b", "a\xe2\x98\xba" "b", true},
        {"a???b", "a\xe2\x98\xba" "b", false},
        {"[a-\xce\xb6]*", "\xce\xb1", true},
        {"*[a-\xce\xb6]", "A", false},  {"a?b", "a/b", false},       {"a*b", "a/b", false},
        {"[\\]a]", "]", true},          {"[\\-]", "-", true},        {"[x\\-]", "x", true},
        {"*x", "xxx", true},            {"**", "a/b", false},        {"*.py", "x.py", true},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct pattern *p = pattern_new(cases[i].pattern, 0);
        CHECK_MSG(p, "%s is refused", cases[i].pattern);
        CHECK_MSG(pattern_match(p, cases[i].path) == cases[i].match, "%s against %s",
                  cases[i].pattern, cases[i].path);
        pattern_free(p);
    }
}

TEST(pattern_refuses_malformed)
{
    static const char *const bad[] = {"[", "[^", "[a", "[]a]", "[-]", "[x-]", "[-x]", "a[", "\\",
                                      "[^bc", "[a-b-c]", "a\\"};
    for (size_t i = 0; i < ARRAY_LEN(bad); i++)
        CHECK_MSG(!pattern_new(bad[i], 0), "%s was taken", bad[i]);
}

TEST(pattern_takes_no_exponential_time)
{
    char text[4096], path[4096];
    for (int i = 0; i < 500; i++)
        memcpy(text + 2 * i, i % 2 ? "**" : "*a", 2);
    text[1000] = '\0';
    memset(path, 'a', 2000);
    path[2000] = '\0';
    struct pattern *p = pattern_new(text, PATTERN_GLOBSTAR);
    int64_t start = clock_us();
    pattern_match(p, path);
    CHECK(clock_us() - start < 2000000);
    pattern_free(p);
}

TEST(ignore_follows_dockers_rules)
{
    static const struct {
        const char *lines, *path;
        bool ignored;
    } cases[] = {
        {"a", "a", true},               {"a", "a/b", true},          {"a", "b/a", false},
        {"*.tmp", "x.tmp", true},       {"*.tmp", "d/x.tmp", false}, {"**/*.tmp", "d/x.tmp", true},
        {"**/*.tmp", "x.tmp", true},    {"a/**", "a/b/c", true},     {"a/**/z", "a/z", true},
        {"a/**/z", "a/b/c/z", true},    {"a/**/z", "a/b/zz", false}, {"**", "any/thing", true},
        {"**/x", "a/b/x/c", true},      {"/a", "a", true},           {"./a", "a", true},
        {"a/", "a/b", true},            {"a//b/../c", "a/c", true},  {"# a", "# a", false},
        {" # a", "# a", true},          {"  a  ", "a", true},        {"\r\na\r\n", "a", true},
        {"*\n!a", "a", false},          {"*\n!a", "b", true},        {"*\n!a", "a/b", false},
        {"!a\n*", "a", true},           {"*.md\n!README*.md\nREADME-x.md", "README-x.md", true},
        {"*.md\n!README*.md\nREADME-x.md", "README-y.md", false},
        {"dir\n!dir/keep", "dir/keep", false},
        {"dir\n!dir/keep", "dir/other", true},
        {"? b", "a b", true},           {"a.b", "axb", false},       {"a+b", "a+b", true},
        {"(x)", "(x)", true},           {"\\#a", "#a", true},        {"! a\nb", "a", false},
        {"\xef\xbb\xbf" "a", "a", true},{"", "a", false},            {"**/.git", ".git/x", true},
        {"..", "a", false},             {"x\n!x\nx", "x", true},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct ignore *ig;
        struct pd_err err = {0};
        CHECK_OK(ignore_parse("f", cases[i].lines, strlen(cases[i].lines), &ig, &err));
        CHECK_MSG(ignore_match(ig, cases[i].path) == cases[i].ignored, "\"%s\" against %s",
                  cases[i].lines, cases[i].path);
        ignore_free(ig);
    }
}

TEST(ignore_names_the_bad_line)
{
    struct ignore *ig;
    struct pd_err err = {0};
    CHECK_INT(ignore_parse("f", "ok\n\n[x\n", 7, &ig, &err), PD_PARSE);
    CHECK_INT(err.line, 3);
    CHECK_HAS(err.msg, "[x");
    CHECK_INT(ignore_parse("f", "!\n", 2, &ig, &err), PD_PARSE);
    CHECK_INT(err.line, 1);
}

TEST(ignore_cleans_paths_as_go)
{
    static const struct {
        const char *in, *out;
    } cases[] = {
        {"", "."},        {"abc", "abc"},     {"abc/", "abc"},        {"a/./b", "a/b"},
        {"a//b", "a/b"},  {"/", "/"},         {"/..", "/"},           {"/../a", "/a"},
        {"../a", "../a"}, {"../../a", "../../a"}, {"a/..", "."},      {"a/../..", ".."},
        {"a/../../b", "../b"}, {"/a/../..", "/"}, {"..", ".."},       {"a/b/../..", "."},
        {"./..", ".."},   {"a/b/../../../c", "../c"},                 {"/a/b/..", "/a"},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        char out[100];
        ignore_clean(cases[i].in, out);
        CHECK_MSG(str_eq(out, cases[i].out), "%s gives %s", cases[i].in, out);
    }
}

T_MAIN
