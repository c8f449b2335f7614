/* explain_cases.c - failures of pods and Jobs, as snapshots of their objects, and
 * what an explanation must hold: the cause, what it must mention, the fields that
 * it must cite. Every folder of tests/cases/{pod,job}-diagnosis is one. */
#include <dirent.h>
#include <ctype.h>

#include "core/base/i18n.h"
#include "core/base/yaml.h"
#include "k8s/explain/explain.h"
#include "tests/t.h"

#define CASES PODIUM_SOURCE_DIR "/tests/cases/"

/* Does `text` hold one of the alternatives of "a|b"? Numbers count as whole words. */
static bool mentions(const char *text, const char *any)
{
    struct strv parts;
    bool found = false;
    strv_init(&parts);
    strv_split(&parts, any, '|');
    for (size_t i = 0; i < parts.n; i++) {
        size_t n = strlen(parts.v[i]);
        bool number = strspn(parts.v[i], "0123456789") == n;
        for (const char *p = text; *p && !found; p++)
            found = strncasecmp(p, parts.v[i], n) == 0 &&
                    (!number || ((p == text || !isalnum((unsigned char)p[-1])) &&
                                 !isalnum((unsigned char)p[n])));
    }
    strv_release(&parts);
    return found;
}

static bool in_list(const struct ynode *list, const char *word)
{
    for (const struct ynode *n = list ? list->first : NULL; n; n = n->next)
        if (str_eq(n->text, word))
            return true;
    return false;
}

/* The cited field, or one below or above it. */
static bool cited(const struct explanation *e, const char *file, const char *path)
{
    for (int i = 0; i < e->v[0].proofs; i++) {
        const struct proof *p = &e->v[0].proof[i];
        struct str own;
        str_init(&own, 4096);
        if (strstr(p->file, ": ")) /* "pods.json: items[0]" of a Job's pod */
            str_printf(&own, "%s.%s", strstr(p->file, ": ") + 2, p->path);
        else
            str_add(&own, p->path);
        bool same =
            str_starts(p->file, file) && (str_starts(own.p, path) || str_starts(path, own.p));
        str_release(&own);
        if (same)
            return true;
    }
    return false;
}

static void check_case(const char *dir, const char *name)
{
    struct snapshot s;
    struct ydoc *want = NULL;
    struct pd_err err;
    char path[512], at[600];
    str_fmt(path, sizeof path, "%s%s/%s", CASES, dir, name);
    str_fmt(at, sizeof at, "%s/expected.yaml", path);
    CHECK_OK(yaml_read_file(at, &want, &err));
    snapshot_init(&s);
    CHECK_OK(snapshot_read_dir(&s, path, &err));
    struct explanation *e = explain(&s);
    struct str out;
    str_init(&out, 1 << 20);
    explanation_print(e, 0, &out);
    const struct ynode *root = want->root;
    const char *cause = yaml_str(root, "primary_cause", "");
    bool right =
        str_eq(cause, e->v[0].cause) || in_list(yaml_get(root, "also_acceptable"), e->v[0].cause);
    CHECK_MSG(right, "%s: %s, should be %s", name, e->v[0].cause, cause);
    const char *sure = yaml_str(root, "confidence", "");
    if (str_eq(cause, e->v[0].cause))
        CHECK_STR(sure_name(e->v[0].sure), sure);
    const struct ynode *mention = yaml_get(root, "must_mention");
    for (const struct ynode *m = mention ? mention->first : NULL; m; m = m->next) {
        CHECK_MSG(mentions(out.p, m->text), "%s does not mention %s:\n%s", name, m->text, out.p);
    }
    const struct ynode *proof = yaml_get(root, "evidence");
    for (const struct ynode *p = proof ? proof->first : NULL; p; p = p->next) {
        const char *file = yaml_str(p, "file", ""), *field = yaml_str(p, "path", "");
        CHECK_MSG(cited(e, file, field), "%s does not cite %s %s:\n%s", name, file, field, out.p);
    }
    str_release(&out);
    explanation_free(e);
    snapshot_release(&s);
    yaml_docs_free(want);
}

static void check_dir(const char *dir)
{
    char path[512];
    struct strv names;
    strv_init(&names);
    str_fmt(path, sizeof path, "%s%s", CASES, dir);
    DIR *d = opendir(path);
    CHECK(d != NULL);
    for (struct dirent *e = d ? readdir(d) : NULL; e; e = readdir(d))
        if (e->d_name[0] != '.')
            strv_push(&names, e->d_name);
    if (d)
        closedir(d);
    CHECK(names.n > 0);
    for (size_t i = 0; i < names.n; i++)
        check_case(dir, names.v[i]);
    strv_release(&names);
}

TEST(pods)
{
    check_dir("pod-diagnosis");
}

TEST(jobs)
{
    check_dir("job-diagnosis");
}

T_MAIN
