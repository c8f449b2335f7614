/* image_dockerfile.c - the Dockerfile parser: what it understands, and the place
 * and words of every error. */
#include "tests/t.h"

#include "core/base/mem.h"
#include "core/base/path.h"
#include "k8s/image/dockerfile_plan.h"
#include "tests/unit/image_keep.h"

static struct dockerfile *parse(const char *text)
{
    struct dockerfile *d;
    struct pd_err err = {0};
    enum pd_code rc = dockerfile_parse("Dockerfile", text, strlen(text), &d, &err);
    CHECK_MSG(rc == PD_OK, "%s: %d:%d: %s", text, err.line, err.col, err.msg);
    return KEEP(d);
}

TEST(dockerfile_reads_instructions_and_words)
{
    struct dockerfile *d = parse("\xef\xbb\xbf# syntax=docker/dockerfile:1\r\n"
                                 "from scratch as base\r\n"
                                 "  # a comment\n"
                                 "Copy --chown=1:2 a b \\\n"
                                 "  # inside\n"
                                 "\n"
                                 "  /c/\n"
                                 "ENV A=1 B=\"two words\" C=x\\ y\n"
                                 "ENV OLD the rest  of it\n"
                                 "ENTRYPOINT [\"/x\", \"a b\"]\n"
                                 "CMD echo $HOME && true\n");
    CHECK_INT(d->n, 6);
    CHECK_INT(d->v[0].op, DF_FROM);
    CHECK_INT(d->v[0].nwords, 3);
    CHECK_INT(d->v[0].line, 2);
    CHECK_INT(d->v[1].op, DF_COPY);
    CHECK_INT(d->v[1].nflags, 1);
    CHECK_STR(d->v[1].flags[0].text, "--chown=1:2");
    CHECK_INT(d->v[1].nwords, 3);
    CHECK_STR(d->v[1].words[2].text, "/c/");
    CHECK_INT(d->v[1].words[2].line, 7);
    CHECK_INT(d->v[1].words[2].col, 3);
    CHECK_INT(d->v[2].nwords, 3);
    CHECK_STR(d->v[2].words[1].text, "B=\"two words\"");
    CHECK_STR(d->v[2].words[2].text, "C=x\\ y");
    CHECK_STR(d->v[3].words[0].text, "OLD=the rest  of it");
    CHECK(d->v[4].json);
    CHECK_STR(d->v[4].words[1].text, "a b");
    CHECK(!d->v[5].json);
    CHECK_STR(d->v[5].rest, "echo $HOME && true");
}

TEST(dockerfile_escape_directive_changes_continuation)
{
    struct dockerfile *d = parse("# escape=`\nFROM scratch\nCOPY a `\n  c:\\x\nLABEL a=b\\\n");
    CHECK_INT(d->n, 3);
    CHECK_INT(d->escape, '`');
    CHECK_STR(d->v[1].words[1].text, "c:\\x");
    CHECK_STR(d->v[2].words[0].text, "a=b\\");
    /* behind a comment it is a comment */
    d = parse("# hello\n# escape=`\nFROM scratch\nLABEL a=b`\n");
    CHECK_INT(d->escape, '\\');
}

TEST(dockerfile_errors_have_their_place)
{
    static const struct {
        const char *text;
        int line, col;
        const char *msg, *hint;
    } cases[] = {
        {"FORM scratch\n", 1, 1, "unknown instruction: FORM", "did you mean FROM?"},
        {"FROM scratch\n\n  COPPY a b\n", 3, 3, "unknown instruction: COPPY", "did you mean COPY?"},
        {"FROM scratch\nCOPY \\\n  a\n", 3, 3, "wrong number of arguments for COPY", ""},
        {"FROM scratch\nCOPY\n", 2, 1, "COPY needs an argument", ""},
        {"FROM\n", 1, 1, "FROM needs an argument", ""},
        {"FROM a b\n", 1, 8, "wrong number of arguments for FROM", ""},
        {"FROM scratch\nENV A=1 B\n", 2, 9, "can't find = in \"B\"", ""},
        {"FROM scratch\nENV A\n", 2, 5, "ENV must have two arguments", ""},
        {"FROM scratch\nLABEL =x\n", 2, 7, "can't find =", ""},
        {"FROM scratch\nCMD [\"a\" \"b\"]\n", 2, 5, "no JSON array", "double quotes"},
        {"FROM scratch\nENTRYPOINT ['/x']\n", 2, 12, "no JSON array", "double quotes"},
        {"FROM scratch\nCMD [\"a\", 1]\n", 2, 5, "element 2 of the array is no string", ""},
        {"FROM scratch\nCOPY --chow=1:1 a b\n", 2, 6, "unknown flag: --chow", "--chown"},
        {"FROM scratch\nWORKDIR --x /a\n", 2, 9, "unknown flag: --x", "no flags"},
        {"FROM scratch\nCOPY <<EOF /a\nhi\n EOF\n", 2, 6, "no line is just EOF", "no blanks"},
        {"FROM scratch\nRUN cat <<-'EOT' > x\nhi\n", 2, 9, "no end", "EOT"},
        {"FROM scratch\nCOPY --from=a --from=b a b\n", 2, 15, "--from stands twice", ""},
        {"FROM scratch\nCOPY --from a b\n", 2, 6, "--from needs a value", "--from=VALUE"},
        {"FROM scratch\nCOPY --link=maybe a b\n", 2, 6, "true or false", "--link"},
        {"FROM scratch\nRUN --mount=type=chache,target=/x a\n", 2, 5, "knows no \"chache\"",
         "cache"},
        {"FROM scratch\nRUN --mount=type=cache,tarjet=/x a\n", 2, 5, "knows no \"tarjet\"",
         "target"},
        {"FROM scratch\nRUN --mount=type=cache a\n", 2, 5, "needs a target", "target="},
        {"FROM scratch\nRUN --network=nome a\n", 2, 5, "--network", "none"},
        {"FROM scratch\nRUN\n", 2, 1, "RUN needs an argument", ""},
        {"FROM scratch\nHEALTHCHECK COMMAND x\n", 2, 13, "NONE or CMD", "HEALTHCHECK CMD"},
        {"FROM scratch\nHEALTHCHECK NONE x\n", 2, 18, "takes no arguments", ""},
        {"FROM scratch\nONBUILD FROM x\n", 2, 9, "FROM can't stand behind ONBUILD", "COPY"},
        {"FROM scratch\nONBUILD ONBUILD ENV A=1\n", 2, 9, "ONBUILD can't stand", ""},
        {"FROM scratch\nONBUILD COPPY a b\n", 2, 9, "unknown instruction: COPPY", "COPY"},
        {"FROM scratch\nONBUILD\n", 2, 1, "ONBUILD needs an argument", ""},
        {"# escape=x\nFROM scratch\n", 1, 10, "the escape character must be", ""},
        {"# escape=`\n# escape=`\nFROM scratch\n", 2, 1, "stands twice", ""},
        {"FROM scratch\nARG =x\n", 2, 5, "ARG needs a name", ""},
        {"FROM scratch\nLABEL 标=值 坏\n", 2, 11, "can't find = in", ""},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct dockerfile *d;
        struct pd_err err = {0};
        enum pd_code rc = dockerfile_parse("D", cases[i].text, strlen(cases[i].text), &d, &err);
        CHECK_MSG(rc == PD_PARSE, "case %zu was taken", i);
        CHECK_MSG(err.line == cases[i].line && err.col == cases[i].col, "case %zu (%s): %d:%d", i,
                  err.msg, err.line, err.col);
        CHECK_HAS(err.msg, cases[i].msg);
        CHECK_HAS(err.hint, cases[i].hint);
        CHECK_STR(err.src, "D");
    }
}

static const char *lookup(void *arg, const char *name);

/* What stands in a stage that isn't needed is no reason to refuse. */
TEST(dockerfile_refuses_what_it_cannot_carry_out)
{
    static const struct {
        const char *text;
        enum pd_code code;
        int line, col;
        const char *msg;
    } cases[] = {
        {"FROM scratch\nRUN make\n", PD_ENGINE, 2, 1, "RUN needs a container engine"},
        {"FROM a AS b\nRUN x\nFROM scratch\nCOPY --from=b /x /\n", PD_ENGINE, 2, 1, "RUN"},
        {"FROM a AS b\nRUN x\nFROM b\n", PD_ENGINE, 2, 1, "RUN"},
        {"FROM a AS b\nRUN x\nFROM scratch\nCOPY x /\n", PD_OK, 0, 0, ""},
        {"FROM a AS b\nSHELL [\"/bin/bash\", \"-c\"]\n", PD_UNSUPPORTED, 2, 1, "SHELL is not"},
        {"FROM a AS b\nSHELL [\"/bin/bash\"]\nFROM scratch\n", PD_OK, 0, 0, ""},
        {"FROM --platform=linux/arm64 x\n", PD_UNSUPPORTED, 1, 6, "linux/amd64"},
        {"FROM --platform=$BUILDPLATFORM x\n", PD_OK, 0, 0, ""},
        {"FROM scratch\nADD https://a/b /\n", PD_UNSUPPORTED, 2, 5, "without --checksum"},
        {"FROM scratch\nADD https://a/b.git#v1 /\n", PD_UNSUPPORTED, 2, 5, "git repository"},
        {"FROM scratch\nADD --checksum=sha256:0 f /\n", PD_PARSE, 2, 25, "for a URL"},
        {"FROM a AS build\nFROM scratch\nCOPY --from=biuld a b\n", PD_PARSE, 3, 6,
         "no stage \"biuld\""},
        {"FROM a\nFROM scratch\nCOPY --from=1 a b\n", PD_PARSE, 3, 6, "further down, or is this"},
        {"FROM a\nFROM scratch\nCOPY --from=7 a b\n", PD_PARSE, 3, 6, "no stage 7 above"},
        {"FROM a\nFROM scratch\nCOPY --from=$X a b\n", PD_PARSE, 3, 6, "takes no variable"},
        {"FROM a AS x\nFROM scratch\nCOPY --from=busybox a b\n", PD_OK, 0, 0, ""},
        {"COPY a b\nFROM b\n", PD_PARSE, 1, 1, "COPY stands before FROM"},
        {"ARG X=1\n", PD_PARSE, 1, 1, "has no FROM"},
        {"# nothing\n", PD_PARSE, 1, 1, "has no instructions"},
        {"FROM scratch\nSHELL /bin/sh\n", PD_PARSE, 2, 1, "SHELL needs the JSON form"},
        {"FROM a AS 1st\n", PD_PARSE, 1, 11, "invalid name for a stage"},
        {"FROM a AS scratch\n", PD_PARSE, 1, 11, "no name for a stage"},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct dockerfile *d = parse(cases[i].text);
        struct df_plan p = {0};
        struct pd_err err = {0};
        enum pd_code rc = dockerfile_check(d, &err);
        if (rc == PD_OK)
            rc = dockerfile_plan(d, NULL, lookup, NULL, &p, &err);
        if (rc == PD_OK)
            rc = dockerfile_refuse(d, &p, &err);
        CHECK_MSG(rc == cases[i].code, "case %zu: %s %s", i, pd_id(rc), err.msg);
        CHECK_HAS(err.msg, cases[i].msg);
        CHECK_MSG(err.line == cases[i].line && err.col == cases[i].col, "case %zu: %d:%d", i,
                  err.line, err.col);
        CHECK(rc == PD_OK || err.hint[0]);
        dockerfile_plan_release(&p);
    }
}

TEST(dockerfile_reads_heredocs)
{
    struct dockerfile *d = parse("FROM scratch\n"
                                 "COPY --chmod=755 <<one <<-'two' /d/\n"
                                 "a $A\n"
                                 "# not a comment \\\n"
                                 "one\n"
                                 "\t\tb $A\n"
                                 "\ttwo\n"
                                 "RUN <<EOF\n"
                                 "echo hi <<x\n"
                                 "EOF\n"
                                 "RUN cat <<<here # <<nodoc\n"
                                 "RUN 3<<\"E F\" \\\n"
                                 "  cat\r\n"
                                 "x\r\n"
                                 "E F\r\n"
                                 "CMD [\"x\"]\n");
    CHECK_INT(d->n, 6);
    const struct df_instr *c = &d->v[1];
    CHECK_INT(c->nheredocs, 2);
    CHECK_STR(c->heredocs[0].text, "a $A\n# not a comment \\\n");
    CHECK_INT(c->heredocs[0].line, 3);
    CHECK(c->heredocs[0].expand && !c->heredocs[1].expand);
    CHECK_STR(c->heredocs[1].name, "two");
    CHECK_STR(c->heredocs[1].text, "b $A\n");
    CHECK(dockerfile_heredoc(c, "<<-'two'") == &c->heredocs[1]);
    CHECK(dockerfile_heredoc(c, "/d/") == NULL);
    CHECK_STR(d->v[2].heredocs[0].text, "echo hi <<x\n");
    CHECK_INT(d->v[3].nheredocs, 0);
    CHECK_STR(d->v[4].heredocs[0].name, "E F");
    CHECK_STR(d->v[4].heredocs[0].text, "x\n");
    CHECK_INT(d->v[5].line, 16);
}

TEST(dockerfile_reads_what_is_in_other_instructions)
{
    struct dockerfile *d = parse("# syntax=docker/dockerfile:1\n# check=skip=all\n"
                                 "FROM scratch\n"
                                 "ONBUILD COPY --chown=1 a b\n"
                                 "HEALTHCHECK --interval=5s --retries=2 CMD [\"a\", \"b\"]\n"
                                 "healthcheck cmd curl x || exit 1\n"
                                 "RUN --mount=type=bind,from=x,target=/y --network=none [\"a\"]\n"
                                 "COPY --link --parents --exclude=*.o --exclude=*.a a b\n");
    CHECK_INT(d->directives.n, 2);
    CHECK_STR(d->directives.v[1], "check=skip=all");
    CHECK_INT(d->v[1].sub->op, DF_COPY);
    CHECK_INT(d->v[1].sub->col, 9);
    CHECK_STR(dockerfile_flag(d->v[1].sub, "chown"), "1");
    CHECK_INT(d->v[2].nwords, 3);
    CHECK(d->v[2].json);
    CHECK_STR(d->v[3].rest, "curl x || exit 1");
    CHECK(d->v[4].json && d->v[4].nflags == 2);
    char buf[256];
    CHECK_STR(dockerfile_plan_mount_from(d->v[4].flags[0].text + 8, buf), "x");
    CHECK(dockerfile_flag_on(&d->v[5], "link") && dockerfile_flag_on(&d->v[5], "parents"));
    CHECK(!dockerfile_flag_on(&d->v[5], "from"));
}

static void collect(void *arg, const struct pd_err *err)
{
    struct strv *v = arg;
    strv_pushf(v, "%d:%d", err->line, err->col);
}

TEST(dockerfile_reads_past_errors)
{
    static const char text[] = "FROM scratch\nCOPPY a b\nENV A\nCMD [\"a\"]\nCOPY <<E /x\nCMD b\n";
    struct strv v;
    struct dockerfile *d;
    strv_init(&v);
    dockerfile_read("D", text, strlen(text), collect, &v, &d);
    KEEP(d);
    CHECK_INT(v.n, 3);
    CHECK_STR(v.v[0], "2:1");
    CHECK_STR(v.v[2], "5:6");
    CHECK_INT(d->n, 2);
    strv_release(&v);
}

TEST(dockerfile_plans_what_the_target_needs)
{
    struct dockerfile *d = parse("ARG B=base\n"
                                 "FROM golang AS base\nFROM ${B} AS one\nFROM node AS two\n"
                                 "FROM scratch AS three\nCOPY --from=one a b\nCOPY --from=0 a b\n"
                                 "FROM scratch AS four\nRUN --mount=from=two,target=/x y\n");
    static const struct { const char *target; int need[5]; } cases[] = {
        {NULL, {0, 0, 1, 0, 1}}, {"three", {1, 1, 0, 1, 0}}, {"ONE", {1, 1, 0, 0, 0}},
        {"2", {0, 0, 1, 0, 0}}};
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct df_plan p;
        struct pd_err err = {0};
        CHECK_OK(dockerfile_plan(d, cases[i].target, lookup, NULL, &p, &err));
        CHECK_INT(p.n, 5);
        CHECK_INT(p.v[1].parent, 0);
        for (size_t s = 0; s < 5; s++)
            CHECK_MSG(p.v[s].needed == cases[i].need[s], "case %zu stage %zu", i, s);
        CHECK_INT(dockerfile_plan_at(&p, 0), -1);
        CHECK_INT(dockerfile_plan_at(&p, 6), 3);
        dockerfile_plan_release(&p);
    }
    struct df_plan p;
    struct pd_err err = {0};
    CHECK_INT(dockerfile_plan(d, "thre", lookup, NULL, &p, &err), PD_USAGE);
    CHECK_HAS(err.hint, "three");
}

static const char *lookup(void *arg UNUSED, const char *name)
{
    if (str_eq(name, "A"))
        return "one";
    if (str_eq(name, "B"))
        return "base";
    if (str_eq(name, "P"))
        return "/usr/lib/a.tar.gz";
    if (str_eq(name, "ZH"))
        return "\xe6\x95\xb0\xe6\x8d\xae.txt";
    return str_eq(name, "EMPTY") ? "" : NULL;
}

TEST(dockerfile_expands_as_buildkit_does)
{
    static const struct {
        const char *word, *want;
    } cases[] = {
        {"$A", "one"},          {"${A}x", "onex"},      {"$Ax", ""},
        {"\\$A", "$A"},         {"'$A'", "$A"},         {"\"$A b\"", "one b"},
        {"${NO:-d}", "d"},      {"${A:-d}", "one"},     {"${EMPTY:-d}", "d"},
        {"${EMPTY-d}", ""},     {"${A:+s}", "s"},       {"${NO:+s}", ""},
        {"${NO:-${A}/$A}", "one/one"},                  {"a\\ b", "a b"},
        {"\"a\\\"b\\x\"", "a\"b\\x"},                   {"$", "$"},
        {"a$/b", "a$/b"},       {"'it'\"s\"", "its"},   {"${NO:-'}'}", "}"},
        {"${P#*/}", "usr/lib/a.tar.gz"},                {"${P##*/}", "a.tar.gz"},
        {"${P%.*}", "/usr/lib/a.tar"},                  {"${P%%.*}", "/usr/lib/a"},
        {"${P#x}", "/usr/lib/a.tar.gz"},                {"${P##*}", ""},
        {"${P%?z}", "/usr/lib/a.tar."},                 {"${NO#x}y", "y"},
        {"${P/lib/bin}", "/usr/bin/a.tar.gz"},          {"${P/a*/b}", "/usr/lib/b"},
        {"${P//a/A}", "/usr/lib/A.tAr.gz"},             {"${P//\\//-}", "-usr-lib-a.tar.gz"},
        {"${P//t*r/$A}", "/usr/lib/a.one.gz"},          {"${ZH#?}", "\xe6\x8d\xae.txt"},
        {"${ZH%.*}", "\xe6\x95\xb0\xe6\x8d\xae"},       {"${A/\\*/x}", "one"},
        {"${P##/usr/*/}", "a.tar.gz"},                  {"${A:?no}", "one"},
    };
    struct dockerfile *d = parse("FROM scratch\n");
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct df_word w = {(char *)(uintptr_t)cases[i].word, 3, 7};
        struct pd_err err = {0};
        struct str out;
        str_init(&out, 1000);
        CHECK_OK(dockerfile_expand(d, &w, lookup, NULL, &out, &err));
        CHECK_MSG(str_eq(out.p, cases[i].want), "%s gives \"%s\", want \"%s\"", cases[i].word,
                  out.p, cases[i].want);
        str_release(&out);
    }
}

TEST(dockerfile_expand_errors_have_their_place)
{
    static const struct {
        const char *word, *msg;
        int col;
    } cases[] = {
        {"ab'cd", "matching single quote", 9},
        {"\"cd", "matching double quote", 7},
        {"x${A", "looking for }", 8},
        {"x${", "looking for }", 8},
        {"${A!b}", "not known", 7},          {"${A/b}", "looking for /", 7},
        {"a${A#b", "looking for }", 8},      {"${NO:?say why}", "NO: say why", 7},
        {"${}", "a name must follow", 7},
        {"${NO:?must}", "NO: must", 7},
    };
    struct dockerfile *d = parse("FROM scratch\n");
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct df_word w = {(char *)(uintptr_t)cases[i].word, 3, 7};
        struct pd_err err = {0};
        struct str out;
        str_init(&out, 1000);
        CHECK_INT(dockerfile_expand(d, &w, lookup, NULL, &out, &err), PD_PARSE);
        CHECK_HAS(err.msg, cases[i].msg);
        CHECK_INT(err.line, 3);
        CHECK_INT(err.col, cases[i].col);
        str_release(&out);
    }
}

T_MAIN
