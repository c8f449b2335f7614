/* fuzz_patch.c - a document and a patch, separated by a line feed, through JSON
 * Patch, Merge Patch, the strategic merge and server-side apply, which must
 * leave an applied object alone when it is applied again.
 * fuzz: core/base k8s/schema.c k8s/schema_data.c k8s/res.c k8s/practice/patch.c
 * fuzz: k8s/practice/patch_strategic.c k8s/practice/ssa.c k8s/practice/ssa_set.c
 * fuzz: k8s/practice/ssa_walk.c k8s/practice/status.c k8s/rules/ferrs.c
 */
#include "core/base/base.h"

#include "k8s/practice/patch.h"
#include "k8s/practice/pipeline.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

void api_now(char buf[36])
{
    str_copy(buf, 36, "2026-01-01T00:00:00Z");
}

static void patches(const struct json *doc, const struct json *patch)
{
    struct pd_err err;
    struct json *a = json_copy(doc), *b = json_copy(doc), *c = json_copy(doc);
    char *before = json_text(doc, 0);         /* text: duplicate keys equal nothing */
    if (patch_json(&a, patch, &err) != PD_OK) {
        char *after = json_text(a, 0);
        if (strcmp(before, after) != 0)
            abort();
        free(after);
    }
    free(before);
    patch_merge(&b, patch);
    if (patch_strategic(schema_type("v1", "Pod"), c, patch, &err) == PD_OK)
        free(json_text(c, 0));
    json_free(a);
    json_free(b);
    json_free(c);
}

static void apply(const struct json *doc, const struct json *config)
{
    const struct res *res = res_by_plural("", "pods");
    const struct schema_type *t = schema_type("v1", "Pod");
    struct json *no = NULL;
    if (json_type(doc) != JSON_OBJECT || json_type(config) != JSON_OBJECT)
        return;
    struct json *live = json_copy(doc);
    if (json_type(json_get(live, "metadata")) != JSON_OBJECT)
        json_set(live, "metadata", json_new_object());
    json_remove(json_get_mut(live, "metadata"), "managedFields");
    struct json *one = ssa_apply(res, t, live, config, "fuzz", NULL, true, &no);
    json_free(no);
    json_free(one);
    json_free(live);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    const uint8_t *cut = memchr(data, '\n', n);
    struct json *doc, *patch;
    struct pd_err err;
    if (!cut || json_parse((const char *)data, (size_t)(cut - data), &doc, &err) != PD_OK)
        return 0;
    if (json_parse((const char *)cut + 1, n - (size_t)(cut - data) - 1, &patch, &err) == PD_OK) {
        patches(doc, patch);
        apply(doc, patch);
        json_free(patch);
    }
    json_free(doc);
    return 0;
}
