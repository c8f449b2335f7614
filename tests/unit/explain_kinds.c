/* explain_kinds.c - one small snapshot a kind of failure (tests/cases/kinds.yaml), other
 * forms of the same kinds (forms.yaml), with their near misses and with pods where nothing
 * is wrong: the primary cause, and words that must be said. */
#include "core/base/path.h"
#include "core/base/yaml.h"
#include "k8s/explain/explain.h"
#include "tests/t.h"

/* A case of the file: its texts point into it, ended by '\0'. */
struct kind {
    char *name, *cause, *mention[6], *text;
    int mentions;
    char log[2048];
};

static void read_case(struct snapshot *s, const char *text, const char *log)
{
    struct ydoc *docs = NULL;
    struct pd_err err;
    snapshot_init(s);
    CHECK_OK(yaml_parse("case", text, strlen(text), &docs, &err));
    for (const struct ydoc *d = docs; d; d = d->next)
        snapshot_add(s, yaml_to_json(d->root), "case.yaml");
    yaml_docs_free(docs);
    if (log)
        snapshot_log(s, log, "log.txt");
}

/* "#WORD rest" at *at: rest, ended; *at goes to the next line. */
static char *field(char **at, const char *word)
{
    size_t n = strlen(word);
    if (strncmp(*at, word, n) != 0 || (*at)[n] != ' ')
        return NULL;
    char *value = *at + n + 1;
    *at = value + strcspn(value, "\n");
    *(*at)++ = '\0';
    return value;
}

/* The next case; false at the end. */
static bool next_kind(char **at, struct kind *k)
{
    char *from = *at, *line;
    if (!from)
        return false;
    from++;
    k->log[0] = '\0';
    k->name = field(&from, "#case");
    k->cause = field(&from, "#cause");
    for (k->mentions = 0; k->mentions < (int)ARRAY_LEN(k->mention); k->mentions++)
        if (!(k->mention[k->mentions] = field(&from, "#mention")))
            break;
    while ((line = field(&from, "#log")))
        str_fmt(k->log + strlen(k->log), sizeof k->log - strlen(k->log), "%s\n", line);
    k->text = from;
    *at = strstr(from, "\n#case ");
    if (*at)
        **at = '\0';            /* the one before ends here; the next is found by its '#' */
    return true;
}

static void check_kind(const struct kind *k)
{
    struct snapshot s;
    struct str out;
    read_case(&s, k->text, k->log[0] ? k->log : NULL);
    struct explanation *e = explain(&s);
    str_init(&out, 1 << 20);
    explanation_print(e, 0, &out);
    CHECK_MSG(str_eq(e->v[0].cause, k->cause), "%s: %s, should be %s\n%s", k->name, e->v[0].cause,
              k->cause, out.p);
    for (int i = 0; i < k->mentions; i++)
        CHECK_MSG(strstr(out.p, k->mention[i]) != NULL, "%s does not mention %s:\n%s", k->name,
                  k->mention[i], out.p);
    str_release(&out);
    explanation_free(e);
    snapshot_release(&s);
}

static int check_file(const char *path)
{
    struct str file;
    struct pd_err err;
    struct kind k;
    int n = 0;
    str_init(&file, 1 << 20);
    CHECK_OK(path_read(path, 1 << 20, &file, &err));
    for (char *at = strstr(file.p, "\n#case "); next_kind(&at, &k); n++)
        check_kind(&k);
    str_release(&file);
    return n;
}

TEST(every_kind_is_told)
{
    CHECK(check_file(PODIUM_SOURCE_DIR "/tests/cases/kinds.yaml") >= 80);
}

TEST(other_forms_are_told)
{
    CHECK(check_file(PODIUM_SOURCE_DIR "/tests/cases/forms.yaml") >= 150);
}

static const char secret[] =
    "{kind: Pod, metadata: {name: p}}\n---\n"
    "{kind: Secret, metadata: {name: r, annotations: {\n"
    " kubectl.kubernetes.io/last-applied-configuration: c2VjcmV0}},\n"
    " type: Opaque, data: {token: c2VjcmV0}, stringData: {other: hidden-text}}\n";

TEST(no_value_of_a_secret_enters)
{
    struct snapshot s;
    read_case(&s, secret, NULL);
    char *text = json_text(s.list[SNAP_SECRETS].v[0].o, 0);
    CHECK(!strstr(text, "c2VjcmV0") && !strstr(text, "hidden-text"));
    CHECK(strstr(text, "token") != NULL);
    free(text);
    snapshot_release(&s);
}

/* What can't be read is told by its own kind of error, with a next step. */
TEST(a_folder_that_holds_nothing)
{
    static const struct {
        const char *dir;
        enum pd_code code;
        const char *hint;
    } rows[] = {{"/nowhere/at/all", PD_IO, ""},
                {PODIUM_SOURCE_DIR "/themes", PD_USAGE, "kubectl get pod"}};
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct snapshot s;
        struct pd_err err = {0};
        snapshot_init(&s);
        CHECK_INT(snapshot_read_dir(&s, rows[i].dir, &err), rows[i].code);
        CHECK(strstr(err.hint, rows[i].hint) != NULL);
        snapshot_release(&s);
    }
}

/* Text of the cluster can't control the terminal. */
TEST(texts_are_clean)
{
    struct snapshot s;
    struct str out;
    read_case(&s,
              "{kind: Pod, metadata: {name: p}, status: {phase: Failed, containerStatuses: [\n"
              " {name: c, state: {terminated: {exitCode: 1, reason: Error}}}]},\n"
              " spec: {nodeName: n, containers: [{name: c, image: x}]}}\n",
              "start\n\033]0;owned\a\033[31mValueError: red\n");
    struct explanation *e = explain(&s);
    str_init(&out, 1 << 20);
    explanation_print(e, 0, &out);
    CHECK(strchr(out.p, '\033') == NULL);
    CHECK(strstr(out.p, "ValueError: red") != NULL);
    str_release(&out);
    explanation_free(e);
    snapshot_release(&s);
}

T_MAIN
