/* fuzz: core/base */
#include "core/base/yaml.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct ydoc *docs = NULL;
    struct pd_err err;
    if (yaml_parse("fuzz", (const char *)data, size, &docs, &err) == PD_OK) {
        struct json *j = yaml_to_json(docs ? docs->root : NULL);
        json_free(j);
        yaml_docs_free(docs);
    }
    return 0;
}
