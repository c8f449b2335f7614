/* image_dockerfile.c - the Dockerfile parser: what it understands, and the place
 * and words of every error. */
#include "tests/t.h"

#include "core/base/mem.h"
#include "core/base/path.h"
#include "k8s/image/dockerfile.h"
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
        {"FROM scratch\nCOPY <<EOF /a\nhi\nEOF\n", 2, 6, "here-documents (<<EOF)", "COPY"},
        {"FROM scratch\nRUN cat <<-'EOT' > x\nhi\nEOT\n", 2, 9, "here-documents", "COPY"},
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

TEST(dockerfile_refuses_what_it_cannot_carry_out)
{
    static const struct {
        const char *text;
        enum pd_code code;
        int line, col;
        const char *msg;
    } cases[] = {
        {"FROM scratch\nRUN make\n", PD_ENGINE, 2, 1, "RUN needs a container engine"},
        {"FROM scratch\nADD a b\n", PD_UNSUPPORTED, 2, 1, "ADD is not carried out"},
        {"FROM scratch\nONBUILD COPY a b\n", PD_UNSUPPORTED, 2, 1, "ONBUILD"},
        {"FROM scratch\nHEALTHCHECK NONE\n", PD_UNSUPPORTED, 2, 1, "HEALTHCHECK"},
        {"FROM scratch\nCOPY --from=x a b\n", PD_ENGINE, 2, 6, "--from"},
        {"FROM scratch\nCOPY --parents a b\n", PD_UNSUPPORTED, 2, 6, "--parents"},
        {"FROM --platform=linux/arm64 x\n", PD_UNSUPPORTED, 1, 6, "linux/amd64"},
        {"FROM a\nFROM b\n", PD_ENGINE, 2, 1, "a second FROM"},
        {"COPY a b\nFROM b\n", PD_PARSE, 1, 1, "COPY stands before FROM"},
        {"ARG X=1\n", PD_PARSE, 1, 1, "has no FROM"},
        {"# nothing\n", PD_PARSE, 1, 1, "has no instructions"},
        {"FROM scratch\nSHELL /bin/sh\n", PD_PARSE, 2, 1, "SHELL needs the JSON form"},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct dockerfile *d = parse(cases[i].text);
        struct pd_err err = {0};
        CHECK_INT(dockerfile_check(d, &err), cases[i].code);
        CHECK_HAS(err.msg, cases[i].msg);
        CHECK_MSG(err.line == cases[i].line && err.col == cases[i].col, "case %zu: %d:%d", i,
                  err.line, err.col);
        CHECK(err.hint[0]);
    }
    struct dockerfile *d = parse("ARG V=1\nFROM scratch\nCOPY --chmod=755 --chown=1:1 a b\n");
    struct pd_err err = {0};
    CHECK_OK(dockerfile_check(d, &err));
}

static const char *lookup(void *arg UNUSED, const char *name)
{
    if (str_eq(name, "A"))
        return "one";
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
        {"${A#b}", "not supported", 7},
        {"${}", "a name must follow", 7},
        {"${NO:?must}", "is not", 7},
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

/* Dockerfiles of real trouble: what a person is told about them. */
TEST(dockerfile_cases_are_answered)
{
    static const struct {
        const char *file;
        enum pd_code code;
        int line;
        const char *says;
    } cases[] = {
        {"tests/cases/dockerfile/002-cuda-base-tag/Dockerfile", PD_ENGINE, 2, "RUN"},
        {"tests/cases/dockerfile/005-rootless-high-uid/Dockerfile", PD_OK, 0, ""},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        char *path = KEEP(path_join(PODIUM_SOURCE_DIR, cases[i].file));
        struct str text;
        struct pd_err err = {0};
        str_init(&text, 1 << 16);
        CHECK_OK(path_read(path, 1 << 16, &text, &err));
        KEEP(text.p);
        struct dockerfile *d = parse(text.p);
        CHECK_INT(dockerfile_check(d, &err), cases[i].code);
        CHECK_INT(err.line, cases[i].line);
        CHECK_HAS(err.msg, cases[i].says);
    }
}

T_MAIN
