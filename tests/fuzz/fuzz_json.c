/* fuzz: core/base */
#include "core/base/json.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct json *j = NULL, *again = NULL;
    struct pd_err err;
    if (json_parse((const char *)data, size, &j, &err) == PD_OK) {
        char *text = json_text(j, 0);
        if (json_parse(text, strlen(text), &again, &err) != PD_OK)
            abort();
        (void)json_str(j, "a.b[0]['c'][?x=y]", "");
        json_free(again);
        json_free(j);
        free(text);
    }
    return 0;
}
