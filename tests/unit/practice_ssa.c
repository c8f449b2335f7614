/* practice_ssa.c - sets of fields, apply and its conflicts, strict decoding, and
 * protobuf bodies, on small objects.
 */
#include "core/base/base.h"

#include "core/base/mem.h"
#include "k8s/practice/pipeline.h"
#include "k8s/practice/proto.h"
#include "k8s/practice/ssa_set.h"
#include "tests/t.h"

#define DEPLOY(spec)                                                                              \
    "{\"apiVersion\":\"apps/v1\",\"kind\":\"Deployment\",\"metadata\":{\"name\":\"d\"},"          \
    "\"spec\":{" spec "}}"
#define CONTAINERS(list) "\"template\":{\"spec\":{\"containers\":[" list "]}}"

static const struct res *deployments(void)
{
    return res_by_plural("apps", "deployments");
}

/* Apply config as manager; returns the merged object (live is freed). */
static struct json *apply(struct json *live, const char *config, const char *manager, bool force,
                          struct json **refusal)
{
    struct json *c = json_from(config);
    struct json *out = ssa_apply(deployments(), schema_type("apps/v1", "Deployment"), live, c,
                                 manager, NULL, force, refusal);
    json_free(c);
    if (out)
        json_free(live);
    return out;
}

TEST(ssa_two_managers_conflict_and_share)
{
    struct json *no = NULL;
    struct json *o =
        apply(NULL, DEPLOY("\"replicas\":2," CONTAINERS("{\"name\":\"c\",\"image\":\"1\"}")),
              "alice", false, &no);
    CHECK(o && !no);
    CHECK(!apply(o, DEPLOY("\"replicas\":3," CONTAINERS("{\"name\":\"c\",\"image\":\"2\"}")), "bob",
                 false, &no));
    CHECK_STR(json_str(no, "message", ""),
              "Apply failed with 2 conflicts: conflicts with \"alice\":\n- .spec.replicas\n"
              "- .spec.template.spec.containers[name=\"c\"].image");
    CHECK_INT(json_count(json_at(no, "details.causes")), 2);
    json_free(no);
    o = apply(o, DEPLOY("\"replicas\":2"), "bob", false, &no);   /* the same value is shared */
    CHECK(o && !no);
    o = apply(o, DEPLOY(CONTAINERS("{\"name\":\"c\",\"image\":\"1\"}")), "alice", false, &no);
    CHECK(o && !no);
    CHECK_INT(json_int(o, "spec.replicas", 0), 2);               /* bob still owns it */
    o = apply(o, DEPLOY("\"paused\":true"), "bob", false, &no);
    CHECK(o && !json_has(o, "spec.replicas"));                   /* now nobody does */
    json_free(o);
}

TEST(ssa_apply_is_idempotent)
{
    struct json *no = NULL;
    static const char config[] = DEPLOY("\"replicas\":2," CONTAINERS(
        "{\"name\":\"c\",\"image\":\"1\",\"ports\":[{\"containerPort\":80}]}"));
    struct json *o = apply(NULL, config, "alice", false, &no), *before = json_copy(o);
    o = apply(o, config, "alice", false, &no);
    CHECK(o && json_equal(o, before));
    json_free(before);
    json_free(o);
}

TEST(ssa_removes_what_is_applied_no_more)
{
    struct json *no = NULL;
    struct json *o = apply(NULL, DEPLOY(CONTAINERS("{\"name\":\"a\",\"image\":\"1\"},"
                                                   "{\"name\":\"b\",\"image\":\"2\"}")),
                           "alice", false, &no);
    o = apply(o, DEPLOY(CONTAINERS("{\"name\":\"a\",\"image\":\"1\"}")), "alice", false, &no);
    CHECK_INT(json_count(json_at(o, "spec.template.spec.containers")), 1);
    CHECK_STR(json_str(o, "spec.template.spec.containers[0].name", ""), "a");
    json_free(o);
}

TEST(ssa_force_takes_the_field)
{
    struct json *no = NULL;
    struct json *o = apply(NULL, DEPLOY("\"replicas\":2,\"paused\":true"), "alice", false, &no);
    o = apply(o, DEPLOY("\"replicas\":3"), "bob", true, &no);
    CHECK(o && !no);
    const struct json *m = json_at(o, "metadata.managedFields");
    CHECK_INT(json_count(m), 2);
    CHECK(!json_has(json_item(m, 0), "fieldsV1['f:spec']['f:replicas']"));
    CHECK(json_has(json_item(m, 1), "fieldsV1['f:spec']['f:replicas']"));
    json_free(o);
}

TEST(ssa_updates_are_noted)
{
    const struct schema_type *t = schema_type("apps/v1", "Deployment");
    struct json *old = json_from(DEPLOY("\"replicas\":1")), *now = json_from(DEPLOY("\"replicas\":"
                                                                                    "1"));
    ssa_note_update(t, NULL, old, "creator", NULL);
    json_put_path(now, "metadata.managedFields", json_copy(json_at(old, "metadata.managedFields")));
    json_put_path(now, "spec.replicas", json_new_number(5));
    ssa_note_update(t, old, now, "scaler", NULL);
    const struct json *m = json_at(now, "metadata.managedFields");
    CHECK_INT(json_count(m), 1);                                  /* creator owns nothing now */
    CHECK_STR(json_str(json_item(m, 0), "manager", ""), "scaler");
    struct json *no = NULL;
    CHECK(!apply(now, DEPLOY("\"replicas\":2"), "alice", false, &no));
    CHECK_STR(json_str(no, "message", ""), "Apply failed with 1 conflict: conflict with \"scaler\" "
                                           "using apps/v1: .spec.replicas");
    json_free(no);
    json_free(old);
    json_free(now);
}

TEST(ssa_sets_add_drop_and_meet)
{
    struct json *a = json_from("{\"f:x\":{\".\":{}},\"f:y\":{\"f:z\":{\".\":{}}}}");
    struct json *b = json_from("{\"f:y\":{\"f:z\":{\".\":{}},\"f:w\":{\".\":{}}}}");
    struct json *both = ssa_set_common(a, b);
    CHECK_INT(ssa_set_count(both), 1);
    ssa_set_add(a, b);
    CHECK_INT(ssa_set_count(a), 3);
    ssa_set_drop(a, b);
    CHECK_INT(ssa_set_count(a), 1);
    struct json *wire = ssa_set_compact(b), *again = ssa_set_expand(wire);
    CHECK(json_equal(again, b));
    json_free(a);
    json_free(b);
    json_free(both);
    json_free(wire);
    json_free(again);
}

/* --- strict decoding --- */

static void decode(const char *text, const char *unknown, const char *wrong)
{
    struct json *o = json_from(text);
    struct strv found;
    struct str joined;
    char *bad;
    strv_init(&found);
    str_init(&joined, 4096);
    strict_decode(schema_type("batch/v1", "Job"), o, &found, &bad);
    for (size_t i = 0; i < found.n; i++)
        str_printf(&joined, "%s%s", i ? ", " : "", found.v[i]);
    CHECK_STR(joined.p, unknown);
    CHECK_STR(bad ? bad : "", wrong);
    free(bad);
    str_release(&joined);
    strv_release(&found);
    json_free(o);
}

TEST(strict_says_what_the_server_says)
{
    decode("{\"spec\":{\"tmplate\":{},\"template\":{\"spec\":{\"containers\":[{\"name\":\"c\","
           "\"image\":\"a\",\"image\":\"b\",\"imagePullSecrets\":[]}]}}}}",
           "unknown field \"spec.tmplate\", duplicate field "
           "\"spec.template.spec.containers[0].image\", unknown field "
           "\"spec.template.spec.containers[0].imagePullSecrets\"", "");
    decode("{\"spec\":{\"parallelism\":\"3\"}}", "",
           "json: cannot unmarshal string into Go struct field JobSpec.spec.parallelism of type "
           "int32");
    decode("{\"metadata\":{\"labels\":{\"run\":17}}}", "",
           "json: cannot unmarshal number into Go struct field ObjectMeta.metadata.labels of type "
           "string");
    decode("{\"spec\":{\"template\":{\"spec\":{\"containers\":{\"name\":\"c\"}}}}}", "",
           "json: cannot unmarshal object into Go struct field "
           "PodSpec.spec.template.spec.containers "
           "of type []v1.Container");
    decode("{\"spec\":{\"template\":{\"spec\":{\"containers\":[{\"resources\":{\"limits\":"
           "{\"cpu\":\"lots\"}}}]}}}}", "",
           "quantities must match the regular expression "
           "'^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'");
}

TEST(strict_makes_quantities_canonical)
{
    struct json *o = json_from("{\"spec\":{\"hard\":{\"cpu\":0.5,\"memory\":\"1024Mi\",\"pods\":3}}"
                               "}");
    struct strv found;
    char *bad;
    strv_init(&found);
    strict_decode(schema_type("v1", "ResourceQuota"), o, &found, &bad);
    CHECK(!bad && found.n == 0);
    CHECK_STR(json_str(o, "spec.hard.cpu", ""), "500m");
    CHECK_STR(json_str(o, "spec.hard.memory", ""), "1Gi");
    CHECK_STR(json_str(o, "spec.hard.pods", ""), "3");
    json_free(o);
}

/* --- protobuf --- */

/* What kubectl create configmap sends: metadata.name, data {a: b}. */
static const unsigned char config_map[] =
    "k8s\0\x0a\x0f\x0a\x02v1\x12\x09" "ConfigMap\x12\x13\x0a\x09\x0a\x01x\x12\x00\x1a\x00\x22\x00"
    "\x12\x06\x0a\x01" "a\x12\x01" "b\x1a\x00";

TEST(proto_reads_a_config_map)
{
    struct json *o;
    struct pd_err err;
    CHECK_OK(proto_decode(config_map, sizeof config_map - 1, &o, &err));
    CHECK_STR(json_str(o, "kind", ""), "ConfigMap");
    CHECK_STR(json_str(o, "metadata.name", ""), "x");
    CHECK(!json_has(o, "metadata.namespace"));
    CHECK_STR(json_str(o, "data.a", ""), "b");
    json_free(o);
}

TEST(proto_refuses_what_is_cut_or_foreign)
{
    struct json *o;
    struct pd_err err;
    for (size_t n = 4; n < sizeof config_map - 3; n++) {
        enum pd_code code = proto_decode(config_map, n, &o, &err);
        if (code == PD_OK)
            json_free(o);
    }
    CHECK_INT(proto_decode("{}", 2, &o, &err), PD_PARSE);
    CHECK_INT(proto_decode(config_map, 16, &o, &err), PD_PARSE);
}

T_MAIN
