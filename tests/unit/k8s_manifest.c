/* k8s_manifest.c - manifests to objects, variables, and server answers back to
 * lines and columns; accelerators by node. */
#include "tests/t.h"

#include "core/base/path.h"
#include "k8s/accel.h"
#include "k8s/manifest.h"

static struct manifest *m;
static struct pd_err err;

static const char *vars(void *arg UNUSED, const char *name)
{
    static const char *const table[][2] = {
        {"N", "8"}, {"NAME", "ft"}, {"FLAG", "true"}, {"FLOAT", "0.5"}, {"EMPTY", ""},
        {"EVIL", "x\nhostNetwork: true"}, {"LIST", "[1, 2]"}, {"OCTAL", "0755"},
        {"QUOTED", "\"8\""},
        {"COLON", "a: b"},
    };
    for (size_t i = 0; i < ARRAY_LEN(table); i++)
        if (!strcmp(table[i][0], name))
            return table[i][1];
    return NULL;
}

static enum pd_code parse(const char *text)
{
    return manifest_parse("m.yaml", text, strlen(text), vars, NULL, &m, &err);
}

#define HEAD "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n"

TEST(manifest_types_scalars_as_kubectl_does)
{
    CHECK_OK(parse("apiVersion: batch/v1\nkind: Job\nmetadata:\n  name: ft\nspec:\n"
                   "  parallelism: 2\n  suspend: no\n  x: '2'\n  y: 1.5\n  z: ~\n"));
    const struct json *o = m->docs[0].object;
    CHECK(m->docs[0].res && !strcmp(m->docs[0].res->plural, "jobs"));
    CHECK_INT(json_type(json_at(o, "spec.parallelism")), JSON_NUMBER);
    CHECK_INT(json_type(json_at(o, "spec.suspend")), JSON_BOOL);
    CHECK_INT(json_type(json_at(o, "spec.x")), JSON_STRING);
    CHECK_INT(json_type(json_at(o, "spec.z")), JSON_NULL);
    manifest_free(m);
}

TEST(manifest_replaces_variables_and_nothing_else)
{
    CHECK_OK(parse(HEAD "data:\n  num: ${N}\n  q: \"${N}\"\n  s: v-${N}.${NAME}\n  f: ${FLAG}\n"
                        "  d: ${FLOAT}\n  lit: $${NAME} and $HOME ${1} $(X)\n  e: ${EMPTY}\n"
                        "  evil: ${EVIL}\n  list: ${LIST}\n  quoted: ${QUOTED}\n  colon: ${COLON}\n"
                        "  seq: [a, \"${NAME}\"]\n"));
    const struct json *d = json_get(m->docs[0].object, "data");
    CHECK_INT(json_int(d, "num", 0), 8);
    CHECK_STR(json_str(d, "q", ""), "8");
    CHECK_STR(json_str(d, "s", ""), "v-8.ft");
    CHECK(json_bool(d, "f", false));
    CHECK_NEAR(json_num(d, "d", 0), 0.5, 0);
    CHECK_STR(json_str(d, "lit", ""), "${NAME} and $HOME ${1} $(X)");
    CHECK_STR(json_str(d, "evil", ""), "x\nhostNetwork: true");
    CHECK_STR(json_str(d, "list", ""), "[1, 2]");
    CHECK_STR(json_str(d, "quoted", ""), "\"8\"");
    CHECK_STR(json_str(d, "colon", ""), "a: b");
    CHECK_STR(json_str(d, "seq[1]", ""), "ft");
    CHECK(!json_has(m->docs[0].object, "hostNetwork"));
    manifest_free(m);
}

TEST(manifest_errors_have_a_place)
{
    static const struct {
        const char *text, *part;
        int line, col;
    } bad[] = {
        {HEAD "data:\n  a: ${NOPE}\n", "no variable ${NOPE}", 5, 6},
        {"kind: Job\nmetadata: {name: a}\n", "no apiVersion", 1, 1},
        {"apiVersion: v1\nmetadata: {name: a}\n", "no kind", 1, 1},
        {"apiVersion: v1\nkind: Pod\nmetadata:\n  labels: {}\n", "no metadata.name", 4, 3},
        {"---\n---\n# nothing\n", "no object", 1, 1},
        {"- a\n", "must be a map", 1, 1},
        {"apiVersion: v1\nkind: Pod\n kind: x\n", "", 3, 0},
    };
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        CHECK(parse(bad[i].text) != PD_OK);
        CHECK_HAS(err.msg, bad[i].part);
        CHECK_STR(err.src, "m.yaml");
        CHECK_INT(err.line, bad[i].line);
        CHECK(bad[i].col == 0 || bad[i].col == err.col);
    }
}

static const char job[] = "apiVersion: batch/v1\n"              /* 1 */
                          "kind: Job\n"
                          "metadata:\n"
                          "  name: ft\n"
                          "spec:\n"                             /* 5 */
                          "  tmplate: {}\n"
                          "  template:\n"
                          "    spec:\n"
                          "      containers:\n"
                          "      - name: a\n"                   /* 10 */
                          "        image: x\n"
                          "      - name: train\n"
                          "        image: y\n"
                          "        resources:\n"
                          "          limits:\n"                 /* 15 */
                          "            nvidia.com/gpu: 3\n"
                          "            cpu: 1\n";

TEST(manifest_places_paths_of_every_style)
{
    static const struct {
        const char *path;
        int line, col;
    } cases[] = {
        {"spec.tmplate", 6, 3},
        {".spec.template.spec.containers[name=\"train\"].image", 13, 9},
        {"spec.template.spec.containers[1].resources.limits[nvidia.com/gpu]", 16, 13},
        {"spec.template.spec.containers[1].resources.limits.nvidia.com/gpu", 16, 13},
        {"spec.template.spec.restartPolicy", 8, 5},          /* the nearest that is there */
        {"spec.template.spec.containers[7].image", 9, 7},
        {"spec.template.spec.containers[name=\"no\"].image", 9, 7},
        {"metadata.name", 4, 3},
        {"nope", 1, 1},
        {"", 1, 1},
        {"spec.template.spec.containers[", 9, 7},
    };
    CHECK_OK(parse(job));
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        int line, col;
        manifest_place(&m->docs[0], cases[i].path, &line, &col);
        CHECK_INT(line, cases[i].line);
        CHECK_INT(col, cases[i].col);
    }
    manifest_free(m);
}

TEST(manifest_maps_the_servers_causes)
{
    static const struct {
        int http;
        const char *status, *part;
        enum pd_code code;
        int line, n;
    } cases[] = {
        {400, "{'message':'Job in version \\'v1\\' cannot be handled as a Job: strict decoding "
              "error: "
              "unknown field \\'spec.tmplate\\', duplicate field "
              "\\'spec.template.spec.containers[0].image\\'','reason':'BadRequest','code':400}",
         "unknown field \"spec.tmplate\"", PD_INVALID, 6, 2},
        {422, "{'message':'Job.batch is invalid','reason':'Invalid','details':{'causes':[{'reason':"
              "'FieldValueRequired','message':'Required value: valid values: \\'OnFailure\\', "
              "\\'Never\\'','field':'spec.template.spec.restartPolicy'}]},'code':422}",
         "spec.template.spec.restartPolicy: Required value: valid values: \"OnFailure\"",
         PD_INVALID, 8, 1},
        {500, "{'message':'failed to create typed patch object (/ft; batch/v1, Kind=Job): "
              ".spec.tmplate: field not declared in schema','code':500}",
         "spec.tmplate: field not declared", PD_INVALID, 6, 1},
        {500, "{'message':'failed to create typed patch object (/ft; batch/v1, Kind=Job): errors:"
              "\\n  .spec.template.spec.containers[name=\\'train\\'].image: expected string, got &"
              "value.valueUnstructured{Value:3}\\n  .spec.template.spec.containers[name=\\'a\\']."
              "image: expected string, got &value.valueUnstructured{Value:4}','code':500}",
         "expected string", PD_HTTP, 13, 2},
        {409, "{'message':'Apply failed with 1 conflict: conflict with \\'alice\\': .spec.template."
              "spec.containers[name=\\'train\\'].image','reason':'Conflict','details':{'causes':["
              "{'reason':'FieldManagerConflict','message':'conflict with \\'alice\\'','field':"
              "'.spec.template.spec.containers[name=\\'train\\'].image'}]},'code':409}",
         "conflict with \"alice\"", PD_CONFLICT, 13, 1},
        {403, "{'message':'jobs.batch is forbidden: exceeded quota: q, requested: requests.cpu=2',"
              "'reason':'Forbidden','code':403}", "exceeded quota", PD_QUOTA, 1, 0},
    };
    CHECK_OK(parse(job));
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct manifest_cause cause[8];
        char *text = strdup(cases[i].status);
        for (char *p = text; *p; p++)
            *p = *p == '\'' ? '"' : *p;
        struct json *status = json_from(text);
        CHECK_INT((long long)manifest_causes(&m->docs[0], status, cause, 8), cases[i].n);
        CHECK_INT(manifest_error(m, &m->docs[0], cases[i].http, status, &err), cases[i].code);
        CHECK_HAS(err.msg, cases[i].part);
        CHECK_INT(err.line, cases[i].line);
        CHECK_STR(err.src, "m.yaml");
        json_free(status);
        free(text);
    }
    manifest_free(m);
}

TEST(manifest_case_014_bom_crlf_and_empty_documents)
{
    CHECK_OK(manifest_read(PODIUM_SOURCE_DIR
                           "/tests/cases/manifest/014-bom-crlf-multidoc/manifest.yaml", NULL, NULL,
                           &m, &err));
    CHECK_INT((long long)m->n, 2);
    CHECK_STR(json_str(m->docs[0].object, "metadata.name", ""), "ft");
    CHECK_STR(json_str(m->docs[1].object, "metadata.name", ""), "train-config");
    char *text = json_text(m->docs[0].object, 0);
    CHECK(!strstr(text, "\\r"));
    free(text);
    manifest_free(m);
}

/* --- accelerators --- */

TEST(accel_counts_what_the_scheduler_counts)
{
    struct json *node = json_from("{\"metadata\":{\"name\":\"g\",\"labels\":"
                                  "{\"nvidia.com/gpu.product\":"
                                  "\"A100\"}},\"status\":{\"capacity\":"
                                  "{\"cpu\":\"8\",\"nvidia.com/gpu\":"
                                  "\"4\"},\"allocatable\":"
                                  "{\"cpu\":\"7500m\",\"nvidia.com/gpu\":\"4\"}}}");
    struct json *pods = json_from(
        "[{\"spec\":{\"nodeName\":\"g\",\"containers\":[{\"resources\":{\"requests\":"
        "{\"cpu\":\"500m\"},"
        "\"limits\":{\"nvidia.com/gpu\":\"1\"}}},{\"resources\":{\"requests\":{\"cpu\":\"1\"}}}]}},"
        "{\"spec\":{\"nodeName\":\"g\",\"containers\":[{\"resources\":{\"limits\":"
        "{\"nvidia.com/gpu\":2}}}]},"
        "\"status\":{\"phase\":\"Succeeded\"}},"
        "{\"spec\":{\"nodeName\":\"other\",\"containers\":[{\"resources\":{\"limits\":"
        "{\"nvidia.com/gpu\":2}}}]}},"
        "{\"spec\":{\"nodeName\":\"g\",\"initContainers\":"
        "[{\"restartPolicy\":\"Always\",\"resources\":"
        "{\"requests\":{\"cpu\":\"1\"}}},{\"resources\":{\"requests\":{\"cpu\":\"3\"}}}],"
        "\"containers\":[{\"resources\":{\"requests\":{\"cpu\":\"2\"}}}]}}]");
    const struct accel_vendor *gpu = accel_by_resource("nvidia.com/gpu");
    const struct accel_vendor *cpu = accel_vendor(accel_count() - 1);
    struct accel_use u = accel_node(gpu, node, pods);
    CHECK_INT(u.capacity, 4);
    CHECK_INT(u.used, 1);
    CHECK_STR(u.product, "A100");
    u = accel_node(cpu, node, pods);
    CHECK_INT(u.allocatable, 7500);
    CHECK_INT(u.used, 1500 + 4000);              /* the init phase: 1 + 3 */
    CHECK(accel_of_node(node) == gpu);
    u = accel_node(accel_by_resource("habana.ai/gaudi"), node, pods);
    CHECK_INT(u.capacity, -1);                   /* unknown is not zero */
    json_free(node);
    json_free(pods);
}

T_MAIN
