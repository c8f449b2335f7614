/* k8s_res.c - the resource table and quantities. */
#include "tests/t.h"

#include "k8s/quantity.h"
#include "k8s/res.h"

TEST(res_finds_by_every_name)
{
    static const struct {
        const char *name, *plural, *group;
    } cases[] = {
        {"pods", "pods", ""},        {"pod", "pods", ""},         {"po", "pods", ""},
        {"Pod", "pods", ""},         {"PODS", "pods", ""},        {"no", "nodes", ""},
        {"jobs", "jobs", "batch"},   {"job", "jobs", "batch"},    {"jobs.batch", "jobs", "batch"},
        {"jobs.v1.batch", "jobs", "batch"}, {"pods.v1", "pods", ""},
        {"pvc", "persistentvolumeclaims", ""},
        {"ev", "events", ""},        {"events", "events", ""},
        {"events.events.k8s.io", "events", "events.k8s.io"},
        {"events.v1.events.k8s.io", "events", "events.k8s.io"},
        {"deploy", "deployments", "apps"}, {"rs", "replicasets", "apps"}, {"cm", "configmaps", ""},
        {"sa", "serviceaccounts", ""}, {"sc", "storageclasses", "storage.k8s.io"},
        {"pc", "priorityclasses", "scheduling.k8s.io"}, {"quota", "resourcequotas", ""},
        {"limits", "limitranges", ""}, {"svc", "services", ""}, {"ns", "namespaces", ""},
        {"leases", "leases", "coordination.k8s.io"},
        {"roles", "roles", "rbac.authorization.k8s.io"},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        const struct res *r = res_by_name(cases[i].name);
        CHECK(r != NULL);
        CHECK_STR(r->plural, cases[i].plural);
        CHECK_STR(r->group, cases[i].group);
    }
    static const char *const unknown[] = {"", "podz", "pods.batch", "jobs.v2.batch", "."};
    for (size_t i = 0; i < ARRAY_LEN(unknown); i++)
        CHECK(res_by_name(unknown[i]) == NULL);
    CHECK_STR(res_nearest("podss"), "pods");
}

TEST(res_table_is_consistent)
{
    char version[64];
    for (size_t i = 0; i < res_count(); i++) {
        const struct res *r = res_row(i);
        CHECK(res_by_plural(r->group, r->plural) == r);
        CHECK(res_by_kind(res_api_version(r, version), r->kind) == r);
        CHECK(r->columns[0].name && r->verbs);
        for (const struct res_sub *s = r->subs; s->name; s++)
            CHECK(res_sub(r, s->name) == s && s->kind && s->verbs);
    }
    CHECK(res_by_kind("v1", "Job") == NULL);
    CHECK_STR(res_verb_name(RES_DELETECOLLECTION), "deletecollection");
}

TEST(res_paths_go_both_ways)
{
    static const struct {
        const char *name, *ns, *object, *sub, *path;
    } cases[] = {
        {"pods", "a", "p", "log", "/api/v1/namespaces/a/pods/p/log"},
        {"pods", "a", NULL, NULL, "/api/v1/namespaces/a/pods"},
        {"pods", "", NULL, NULL, "/api/v1/pods"},
        {"jobs", "a", "j", "status", "/apis/batch/v1/namespaces/a/jobs/j/status"},
        {"nodes", "a", "n", NULL, "/api/v1/nodes/n"},
        {"namespaces", NULL, "x", "finalize", "/api/v1/namespaces/x/finalize"},
        {"clusterroles", NULL, "system:a/b c", NULL,
         "/apis/rbac.authorization.k8s.io/v1/clusterroles/system:a%2Fb%20c"},
    };
    char buf[RES_PATH_MAX];
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct res_place at;
        const struct res *r = res_by_name(cases[i].name);
        res_path(r, cases[i].ns, cases[i].object, cases[i].sub, buf);
        CHECK_STR(buf, cases[i].path);
        CHECK(res_parse_path(buf, &at));
        CHECK(at.res == r);
        CHECK_STR(at.name, cases[i].object ? cases[i].object : "");
        CHECK_STR(at.sub, cases[i].sub ? cases[i].sub : "");
        CHECK_STR(at.ns, r->namespaced && cases[i].ns ? cases[i].ns : "");
    }
    struct res_place at;
    CHECK(res_parse_path("/api/v1/namespaces/a/pods?limit=500", &at) && !strcmp(at.ns, "a"));
    CHECK(!res_parse_path("/api", &at) && !res_parse_path("/api/v1", &at));
    CHECK(!res_parse_path("/version", &at) && !res_parse_path("/apis/batch/v2/jobs", &at));
    CHECK(!res_parse_path("/api/v1/pods/p/log/more", &at));
}

TEST(quantity_values_are_exact)
{
    static const struct {
        const char *text;
        int64_t units, milli;
    } cases[] = {
        {"0", 0, 0},           {"1", 1, 1000},          {"500m", 1, 500},
        {"1500m", 2, 1500},    {"0.5", 1, 500},         {".5", 1, 500},
        {"1.", 1, 1000},       {"256Gi", 274877906944, 274877906944000},
        {"1Ki", 1024, 1024000}, {"1.5Gi", 1610612736, 1610612736000},
        {"1k", 1000, 1000000}, {"1M", 1000000, 1000000000}, {"12e6", 12000000, 12000000000},
        {"1E3", 1000, 1000000}, {"2e-3", 1, 2}, {"1E", 1000000000000000000, -1},
        {"100u", 1, 1},        {"1n", 1, 1},            {"-1", -1, -1000},
        {"-1500m", -1, -1500}, {"+3", 3, 3000},         {"8", 8, 8000},
        {"0.1Ki", 103, 102400}, {"9223372036854775807", INT64_MAX, -1},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        int64_t v;
        CHECK(quantity_units(cases[i].text, &v));
        CHECK_INT(v, cases[i].units);
        if (cases[i].milli == -1) {
            CHECK(!quantity_milli(cases[i].text, &v));
            continue;
        }
        CHECK(quantity_milli(cases[i].text, &v));
        CHECK_INT(v, cases[i].milli);
    }
    static const char *const bad[] = {"", "x", "1x", "1 Gi", "Gi", "1gi", "1.2.3", "--1", "1KI",
                                      "-",
                                      "1e", "0x10", "9223372036854775808", "10Ei", "1e99", "1 "};
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        int64_t v;
        CHECK(!quantity_units(bad[i], &v));
    }
}

TEST(quantity_prints_the_canonical_form)
{
    static const struct {
        const char *a, *b, *sum;
    } cases[] = {
        {"1.5Gi", "0", "1536Mi"}, {"1Gi", "1Gi", "2Gi"},     {"500m", "1", "1500m"},
        {"500m", "500m", "1"},    {"1000", "0", "1k"},       {"0", "2Gi", "2Gi"},
        {"12e6", "0", "12e6"},    {"100", "28", "128"},      {"1Gi", "1k", "1073742824"},
        {"0.001", "0", "1m"},     {"1023Ki", "1Ki", "1Mi"},  {"-1", "0", "-1"},
        {"0", "0", "0"},          {"1500000", "0", "1500k"},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct quantity a, b;
        char buf[64];
        CHECK(quantity_parse(cases[i].a, &a) && quantity_parse(cases[i].b, &b));
        quantity_add(&a, &b);
        CHECK_STR(quantity_text(&a, buf), cases[i].sum);
        quantity_sub(&a, &b);
        struct quantity again;
        CHECK(quantity_parse(cases[i].a, &again));
        CHECK_INT(quantity_compare(&a, &again), 0);
    }
    char buf[32];
    CHECK_STR(quantity_bytes(1610612736, buf), "1.50 GiB");
    CHECK_STR(quantity_bytes(512, buf), "512 B");
    CHECK_STR(quantity_bytes(13 << 20, buf), "13.0 MiB");
}

T_MAIN
