/* k8s_kubectl_types.c - YAML is typed exactly as kubectl types it: generated
 * scalars and documents, held against what kubectl itself makes of them.
 * PODIUM_SEED repeats a run. */
#include "tests/t.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/base/path.h"
#include "k8s/manifest.h"

extern char **environ;

enum { SCALARS = 700, DOCUMENTS = 300, TEXT_MAX = 4 << 20 };

static struct pd_err err;
static uint64_t seed, state;
static char said[2000];             /* by kubectl, on stderr */

static unsigned roll(unsigned n)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (unsigned)((state >> 11) % n);
}

static void start(void)
{
    const char *given = getenv("PODIUM_SEED");
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    seed = given ? strtoull(given, NULL, 10) : (uint64_t)now.tv_nsec + (uint64_t)now.tv_sec;
    state = seed * 0x9E3779B97F4A7C15u + 1;
    printf("seed %" PRIu64 "\n", seed);
    fflush(stdout);
}

/* With a cluster it can be `kubectl create` itself; without one the local way of the
 * same reader. */
static bool creates(void)
{
    return getenv("PODIUM_KUBECTL_CREATE") != NULL;
}

/* kubectl ARGS into out; false when it refuses. Skips where there is none. */
static bool kubectl(const char *file, struct str *out)
{
    const char *program = getenv("KUBECTL");
    char *result = path_join(t_dir(), "out.json"), *words_of_it = path_join(t_dir(), "said");
    char *own = (char *)(program && *program ? program : "kubectl");
    char *local[] = {own, (char *)"annotate", (char *)"--local", (char *)"--overwrite",
                     (char *)"-f", (char *)file, (char *)"seen=by-kubectl", (char *)"-o",
                     (char *)"json", NULL};
    char *create[] = {own, (char *)"create", (char *)"--dry-run=client", (char *)"--validate=false",
                      (char *)"-f", (char *)file, (char *)"-o", (char *)"json", NULL};
    char **argv = creates() ? create : local;
    posix_spawn_file_actions_t fa;
    pid_t pid;
    int status;
    posix_spawn_file_actions_init(&fa);
    posix_spawn_file_actions_addopen(&fa, 1, result, O_CREAT | O_TRUNC | O_WRONLY, 0600);
    posix_spawn_file_actions_addopen(&fa, 2, words_of_it, O_CREAT | O_TRUNC | O_WRONLY, 0600);
    int rc = posix_spawnp(&pid, argv[0], &fa, NULL, argv, environ);
    posix_spawn_file_actions_destroy(&fa);
    if (rc)
        t_skip("there is no kubectl to compare with (KUBECTL or PATH)");
    CHECK(waitpid(pid, &status, 0) == pid);
    str_clear(out);
    CHECK_OK(path_read(result, TEXT_MAX, out, &err));
    struct str words_read;
    str_init(&words_read, TEXT_MAX);
    CHECK_OK(path_read(words_of_it, TEXT_MAX, &words_read, &err));
    str_fmt(said, sizeof said, "%s", words_read.p);
    str_release(&words_read);
    free(words_of_it);
    free(result);
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/* --- scalars --- */

static const char *const words[] = {
    "yes", "No", "ON", "off", "y", "N", "true", "False", "TRUE", "null", "Null", "~", "nil", "None",
    "0", "-0", "+0", "00", "007", "08", "-017", "0o17", "-0o17", "0O7", "0b101", "-0b11", "0B1",
    "0b2", "0x1F", "0XfF", "-0x10", "0x", "0xg", "+12", "1_000", "_1", "1_", "1__0", "0_7", "1e3",
    "1E3", "1e+3", "1e-3", "1.", ".5", "-.5", "+.5", "._5", ".5_0", "1.5e3", "1e400", "-1e400",
    "1e-400", "12e03", "1.2.3", "1,000", "12:30", "12:30:45", "190:20:30.15", "2001-12-14",
    "2001-1-2", "2001-13-45", "2001-12-14t21:59:43.10-05:00", "2001-12-14 21:59:43.10 -5",
    "256Gi", "500m", "9007199254740993", "-9007199254740993", "9223372036854775807",
    "9223372036854775808", "-9223372036854775808", "-9223372036854775809", "18446744073709551615",
    "18446744073709551616", "123456789012345678901234567890", "0xFFFFFFFFFFFFFFFF",
    "0x7FFFFFFFFFFFFFFF", "0.1", "0.30000000000000004", "1e21", "1e20", "123456789.125", "1e-6",
    "1e-7", "0.000001", "5e-324", "1.7976931348623157e308", "-", "+", ".", "..", "=", "<<", "e3",
    "0e0", "1e", "0.0.0", "v1", "a: b", "- x", "#x", "a #b", "a#b", "*x", "&x", "!x", "@x", "`x",
    "%x", "[x", "{x", "x]", "'", "\"", "it's", "100%", "a\\b", "${X}", "1 2", " 1", "1 ",
    "Infinity",
    "NaN", "inf", "nan", "0777", "0o8", "1_0.5_0", "1e1_0", "+1e3", "--1", "+-1", "0x1p4", "TRUE ",
    "yEs", "oN", "1d", "1f", "é", "中文", "\xF0\x9F\x98\x80"};

static void digits(char *buf, size_t n, const char *from)
{
    for (size_t i = 0; i < n; i++)
        buf[i] = from[roll((unsigned)strlen(from))];
    buf[n] = '\0';
}

/* A scalar's text: a word, a number, or something that looks like one. */
static void scalar_text(char buf[64])
{
    static const char *const alphabets[] = {"0123456789", "01", "0123456789._", "0123456789abcdefx",
                                            "0123456789eE+-.", "01234567o", "-0123456789:T ",
                                            "ynNoYesfFtrue.~", "0123456789_", ".0123456789e"};
    static const char *const heads[] = {"", "", "-", "+", "0x", "0o", "0b", "0", ".", "1."};
    unsigned kind = roll(10);
    if (kind < 4) {
        str_copy(buf, 64, words[roll(ARRAY_LEN(words))]);
    } else if (kind < 6) {
        double v = ((double)roll(1u << 30) - (1 << 29)) / (1 + roll(1000));
        for (int i = (int)roll(40) - 20; i; i += i < 0 ? 1 : -1)
            v = i < 0 ? v / 10 : v * 10;
        str_fmt(buf, 64, "%.*g", 1 + (int)roll(17), v);
    } else {
        const char *head = heads[roll(ARRAY_LEN(heads))];
        char tail[32];
        digits(tail, roll(22), alphabets[roll(ARRAY_LEN(alphabets))]);
        str_fmt(buf, 64, "%s%s", head, tail);
    }
}

/* What can stand as a plain scalar behind "k: " without changing the document. */
static bool plain(const char *s)
{
    size_t n = strlen(s);
    return n > 0 && s[n - 1] != ' ' && s[0] != ' ' && !strpbrk(s, "\"'`@%&*!|>{}[]#\\") &&
           !strstr(s, ": ") && s[n - 1] != ':' &&
           !(strchr("-?:", s[0]) && (n == 1 || s[1] == ' ')) && strcmp(s, "<<") != 0 &&
           strcmp(s, "=") != 0;
}

static void quote(const char *s, char mark, struct str *out)
{
    str_addc(out, mark);
    for (; *s; s++) {
        if (*s == mark || (mark == '"' && *s == '\\'))
            str_addc(out, mark == '"' ? '\\' : mark);
        str_addc(out, *s);
    }
    str_addc(out, mark);
}

static void scalar(struct str *out)
{
    char buf[64];
    scalar_text(buf);
    unsigned style = roll(8);
    if (style == 0)
        quote(buf, '"', out);
    else if (style == 1 || !plain(buf))
        quote(buf, '\'', out);
    else
        str_printf(out, "%s%s", style == 2 ? "!!str " : "", buf);
}

/* The deepest pair that differs, for the report. */
static void same(const struct json *ours, const struct json *theirs, const char *where)
{
    const struct json *c, *o = json_type(ours) == JSON_ARRAY ? json_first(theirs) : NULL;
    if (json_equal(ours, theirs))
        return;
    for (c = json_first(ours); c && json_type(ours) == json_type(theirs); c = json_next(c)) {
        same(c, json_key(c) ? json_get(theirs, json_key(c)) : o, json_key(c) ? json_key(c) : where);
        o = json_next(o);
    }
    char *a = json_text(ours, 0), *b = json_text(theirs, 0);
    t_fail(__FILE__, __LINE__, "%s: %s, kubectl: %s (PODIUM_SEED=%" PRIu64 ")", where, a, b, seed);
}

static const char *write_text(const struct str *text)
{
    char *file = path_join(t_dir(), "m.yaml");
    CHECK_OK(path_write_atomic(file, 0600, text->p, text->len, &err));
    return file;
}

/* Both readings of one text, object after object. What kubectl prints is plain
 * JSON, which leaves nothing to be typed. */
static void compare(const struct str *text, size_t want)
{
    struct str out;
    struct manifest *ours = NULL, *theirs = NULL;
    const char *file = write_text(text);
    str_init(&out, TEXT_MAX);
    CHECK_MSG(kubectl(file, &out), "kubectl refuses (PODIUM_SEED=%" PRIu64 "): %s", seed, said);
    CHECK_OK(manifest_parse("m.yaml", text->p, text->len, NULL, NULL, &ours, &err));
    CHECK_OK(manifest_parse("out.json", out.p, out.len, NULL, NULL, &theirs, &err));
    CHECK_INT(theirs->n, want);
    CHECK_INT(ours->n, want);
    for (size_t i = 0; i < want; i++) {
        if (creates())
            json_remove(json_get_mut(theirs->docs[i].object, "metadata"), "namespace");
        else
            json_put_path(ours->docs[i].object, "metadata.annotations.seen",
                          json_new_string("by-kubectl"));
        same(ours->docs[i].object, theirs->docs[i].object, "object");
    }
    manifest_free(ours);
    manifest_free(theirs);
    str_release(&out);
    free((char *)file);
}

TEST(scalars_are_typed_as_kubectl_types_them)
{
    struct str text;
    start();
    str_init(&text, TEXT_MAX);
    str_add(&text, "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: scalars}\ndata:\n");
    for (size_t i = 0; i < ARRAY_LEN(words); i++)
        if (plain(words[i]))
            str_printf(&text, "  w%zu: %s\n", i, words[i]);
    for (int i = 0; i < SCALARS; i++) {
        str_printf(&text, "  k%d: ", i);
        scalar(&text);
        str_addc(&text, '\n');
    }
    compare(&text, 1);
    str_release(&text);
}

TEST(keys_are_named_as_kubectl_names_them)
{
    struct str text;
    char buf[64];
    start();
    str_init(&text, TEXT_MAX);
    str_add(&text, "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: keys}\ndata:\n");
    for (int i = 0; i < 300; i++) {
        do
            scalar_text(buf);
        while (!plain(buf) || strlen(buf) > 17 || strchr("~nN", buf[0]) ||
               str_starts(buf, "0xFFFF"));
        str_printf(&text, "  k%d: {%s: %d}\n", i, strpbrk(buf, ",:?") ? "x" : buf, i);
    }
    compare(&text, 1);
    str_release(&text);
}

/* --- documents --- */

static void indent(struct str *out, int depth)
{
    for (int i = 0; i < depth; i++)
        str_add(out, "  ");
}

static void flow(struct str *out, int depth)
{
    unsigned n = roll(4);
    bool map = roll(2);
    char buf[64];
    str_addc(out, map ? '{' : '[');
    for (unsigned i = 0; i < n; i++) {
        str_printf(out, "%s", i ? ", " : "");
        if (map)
            str_printf(out, "f%u: ", i);
        if (depth < 3 && roll(4) == 0) {
            flow(out, depth + 1);
            continue;
        }
        scalar_text(buf);
        if (plain(buf) && !strpbrk(buf, ",:?"))
            str_add(out, buf);
        else
            quote(buf, '"', out);
    }
    str_addc(out, map ? '}' : ']');
}

static void block_text(struct str *out, int depth)
{
    static const char *const heads[] = {"|", "|-", "|+", ">", ">-", ">+"};
    static const char *const lines[] = {"one", "two: 2", "  deeper", "", "# no comment", "- item",
                                        "tab\there", "last"};
    str_printf(out, "%s\n", heads[roll(ARRAY_LEN(heads))]);
    indent(out, depth + 1);
    str_add(out, "first\n");
    for (unsigned i = 0, n = roll(5); i < n; i++) {
        const char *line = lines[roll(ARRAY_LEN(lines))];
        if (*line)
            indent(out, depth + 1);
        str_printf(out, "%s\n", line);
    }
}

static void value(struct str *out, int depth, int *anchors);

static void block_map(struct str *out, int depth, int *anchors)
{
    for (unsigned i = 0, n = 1 + roll(4); i < n; i++) {
        indent(out, depth);
        str_printf(out, "m%u:", i);
        value(out, depth, anchors);
    }
    if (*anchors && roll(5) == 0) {
        indent(out, depth);
        str_printf(out, "<<: *a%d\n", 1 + (int)roll((unsigned)*anchors));
    }
}

static void block_seq(struct str *out, int depth, int *anchors)
{
    for (unsigned i = 0, n = 1 + roll(3); i < n; i++) {
        indent(out, depth);
        str_add(out, "-");
        value(out, depth, anchors);
    }
}

/* Behind a key or a dash: a value and the end of its line. */
static void value(struct str *out, int depth, int *anchors)
{
    unsigned kind = roll(depth > 4 ? 6 : 10);
    if (kind < 4) {
        str_addc(out, ' ');
        scalar(out);
        str_add(out, roll(6) ? "\n" : "   # said\n");
    } else if (kind == 4) {
        str_addc(out, ' ');
        flow(out, 0);
        str_addc(out, '\n');
    } else if (kind == 5) {
        str_addc(out, ' ');
        block_text(out, depth);
    } else if (kind == 6) {
        str_printf(out, " &a%d\n", ++*anchors);
        int inside = 0;
        block_map(out, depth + 1, &inside);
    } else if (kind == 7 && roll(2)) {
        str_add(out, roll(2) ? "\n" : " \n");
    } else if (kind == 8) {
        str_addc(out, '\n');
        block_seq(out, depth + 1, anchors);
    } else {
        str_addc(out, '\n');
        block_map(out, depth + 1, anchors);
    }
}

TEST(documents_are_read_as_kubectl_reads_them)
{
    static const char *const between[] = {"---\n", "---\n---\n", "--- # next\n",
                                          "---\n\n# c\n---\n"};
    struct str text, crlf;
    start();
    str_init(&text, TEXT_MAX);
    str_init(&crlf, TEXT_MAX);
    for (int i = 0; i < DOCUMENTS; i++) {
        int anchors = 0;
        str_add(&text, between[roll(ARRAY_LEN(between))]);
        str_printf(&text, "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: d%d\ndata:\n", i);
        block_map(&text, 1, &anchors);
    }
    str_add(&text, "---\n");
    compare(&text, DOCUMENTS);
    str_add(&crlf, "\xEF\xBB\xBF");              /* and once with a BOM and CRLF */
    for (size_t i = 0; i < text.len; i++)
        str_printf(&crlf, "%s%c", text.p[i] == '\n' ? "\r" : "", text.p[i]);
    compare(&crlf, DOCUMENTS);
    str_release(&crlf);
    str_release(&text);
}

TEST(json_and_lists_are_read_as_kubectl_reads_them)
{
    static const char json[] =
        "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"name\":\"a\"},\n"
        "\t\"data\":{\"s\":\"\\/ \\ud83d\\ude00 \\u4e2d \\\" \\\\u0041 \\t\",\"n\":1E3,\"z\":-0,"
        "\"big\":9007199254740993,\"f\":1.50,\"y\":\"yes\",\"e\":{},\"l\":[]}}\n"
        "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"name\":\"b\"}} "
        "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"name\":\"c\"}}\n";
    struct str text;
    str_init(&text, TEXT_MAX);
    str_add(&text, json);
    compare(&text, 3);
    str_clear(&text);
    str_add(&text, "apiVersion: v1\nkind: List\nitems:\n- apiVersion: v1\n  kind: Secret\n"
                   "  metadata: {name: a}\n- apiVersion: v1\n  kind: ConfigMap\n"
                   "  metadata: {name: b}\n---\napiVersion: v1\nkind: ConfigMapList\nitems:\n"
                   "- metadata: {name: c}\n");
    compare(&text, 3);
    str_release(&text);
}

TEST(what_kubectl_refuses_is_refused)
{
#define HEAD "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n"
    static const char *const bad[] = {
        HEAD "data: {x: .inf}\n", HEAD "data: {x: -.INF}\n", HEAD "data: {x: .nan}\n",
        HEAD "data: {~: x}\n", HEAD "data: {x: !!int y}\n", HEAD "data: {x: *none}\n",
        HEAD "data:\n\tx: 1\n", HEAD "data: {x: !!bool 3}\n", HEAD "data: {<<: 3}\n",
        HEAD "--- b\nx: 1\n", HEAD "data: {18446744073709551615: x}\n",
        HEAD "data: {? [a] : b}\n"};
    struct str text, out;
    str_init(&text, TEXT_MAX);
    str_init(&out, TEXT_MAX);
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        struct manifest *m = NULL;
        str_clear(&text);
        str_add(&text, bad[i]);
        const char *file = write_text(&text);
        CHECK_MSG(!kubectl(file, &out), "kubectl takes: %s", bad[i]);
        CHECK_MSG(manifest_parse("m", text.p, text.len, NULL, NULL, &m, &err) != PD_OK,
                  "podium takes: %s", bad[i]);
        free((char *)file);
    }
    str_release(&out);
    str_release(&text);
}

T_MAIN
