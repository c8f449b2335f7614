/* practice_cases.c - the recorded manifests under tests/cases that a server must
 * refuse: its answer has every word that the case asks for.
 */
#include "core/base/base.h"

#include "core/base/yaml.h"
#include "k8s/practice/pipeline.h"
#include "tests/unit/practice_fixture.h"

#define CASES PODIUM_SOURCE_DIR "/tests/cases/manifest/"

static struct ydoc *read_case(const char *name, const char *file)
{
    struct ydoc *doc = NULL;
    struct pd_err err;
    char path[512];
    str_fmt(path, sizeof path, CASES "%s/%s", name, file);
    CHECK_OK(yaml_read_file(path, &doc, &err));
    CHECK(doc && doc->root);
    return doc;
}

/* What a strict server says to the manifest: "" when it takes it. */
static void answer(struct fixture *f, const char *name, struct str *out)
{
    struct ydoc *doc = read_case(name, "manifest.yaml");
    struct json *o = yaml_to_json(doc->root);
    const struct res *res = res_of(o);
    struct strv unknown;
    struct api_result r;
    char gv[64], *wrong;
    strv_init(&unknown);
    strict_decode(schema_type(res_api_version(res, gv), res->kind), o, &unknown, &wrong);
    for (size_t i = 0; i < unknown.n; i++)
        str_printf(out, "%s ", unknown.v[i]);
    if (wrong)
        str_add(out, wrong);
    api_create(f->api, &tester, res, "default", o, &r);
    if (r.code >= 400)
        str_add(out, json_str(r.body, "message", ""));
    api_result_release(&r);
    free(wrong);
    strv_release(&unknown);
    json_free(o);
    yaml_docs_free(doc);
}

static void check_words(const char *name, const char *text)
{
    struct ydoc *doc = read_case(name, "expected.yaml");
    const struct ynode *words = yaml_get(doc->root, "must_mention");
    CHECK(words && words->first);
    for (const struct ynode *w = words->first; w; w = w->next)
        CHECK_MSG(strcasestr(text, w->text), "%s: \"%s\" does not mention %s", name, text, w->text);
    yaml_docs_free(doc);
}

static void run_case(const char *name)
{
    struct fixture f;
    struct str out;
    str_init(&out, 1 << 20);
    fixture_open(&f, t_dir());
    answer(&f, name, &out);
    check_words(name, out.p);
    str_release(&out);
    fixture_close(&f);
}

TEST(case_job_without_restart_policy)
{
    run_case("002-job-no-restart-policy");
}

TEST(case_extended_resource_mismatch)
{
    run_case("005-extended-resource-mismatch");
}

TEST(case_pull_secret_in_container)
{
    struct fixture f;
    struct str out;
    str_init(&out, 1 << 20);
    fixture_open(&f, t_dir());
    answer(&f, "008-pull-secret-in-container", &out);
    CHECK_HAS(out.p, "unknown field \"spec.template.spec.containers[0].imagePullSecrets\"");
    check_words("008-pull-secret-in-container", out.p);
    str_release(&out);
    fixture_close(&f);
}

TEST(case_label_values)
{
    struct fixture f;
    struct str out;
    str_init(&out, 1 << 20);
    fixture_open(&f, t_dir());
    answer(&f, "011-label-value", &out);
    CHECK_HAS(out.p, "metadata.labels");
    CHECK_HAS(out.p, "cannot unmarshal number");          /* run: 17 */
    CHECK_HAS(out.p, "\"li wei\"");
    CHECK_HAS(out.p, "\"2025-03-11T08:00\"");
    CHECK_HAS(out.p, "must be no more than 63 characters");
    str_release(&out);
    fixture_close(&f);
}

T_MAIN
