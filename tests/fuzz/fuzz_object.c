/* fuzz_object.c - a body on its way in: protobuf or JSON, held against the schema,
 * defaulted and validated as the kind that the first byte chooses.
 * fuzz: core/base k8s/schema.c k8s/schema_data.c k8s/res.c k8s/quantity.c
 * fuzz: k8s/practice/proto.c k8s/rules/strict.c k8s/rules/defaults.c
 * fuzz: k8s/rules/defaults_create.c k8s/rules/validate.c
 * fuzz: k8s/rules/validate_pod.c k8s/rules/validate_job.c k8s/rules/validate_kinds.c
 * fuzz: k8s/rules/validate_field.c k8s/rules/validate_container.c k8s/rules/validate_volume.c
 * fuzz: k8s/practice/status.c k8s/rules/ferrs.c k8s/practice/table.c
 * fuzz: k8s/practice/table_cells.c k8s/practice/table_pod.c
 */
#include "core/base/base.h"

#include "k8s/practice/pipeline.h"
#include "k8s/practice/proto.h"
#include "k8s/practice/table.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static void take(const struct res *res, struct json *o)
{
    char gv[64], *wrong;
    struct strv unknown;
    struct ferrs e;
    strv_init(&unknown);
    strict_decode(schema_type(res_api_version(res, gv), res->kind), o, &unknown, &wrong);
    if (!wrong) {
        if (json_type(json_get(o, "metadata")) != JSON_OBJECT)
            json_set(o, "metadata", json_new_object());
        defaults_apply(res, o);
        defaults_create(res, o);
        ferrs_init(&e);
        validate_meta(res, o, &e);
        validate_object(res, o, NULL, NULL, &e);
        json_free(ferrs_status(&e, res, "x"));
        ferrs_release(&e);
        struct json *t = table_new(res, true);
        table_add(t, res, o, TABLE_OBJECT);
        json_free(t);
    }
    free(wrong);
    strv_release(&unknown);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct json *o = NULL;
    struct pd_err err;
    if (n < 2)
        return 0;
    const struct res *res = res_row(data[0] % res_count());
    if (proto_decode(data + 1, n - 1, &o, &err) != PD_OK &&
        json_parse((const char *)data + 1, n - 1, &o, &err) != PD_OK)
        return 0;
    if (json_type(o) == JSON_OBJECT)
        take(res, o);
    json_free(o);
    return 0;
}
