/* fuzz: core/base k8s/image/ref.c */
#include "core/base/mem.h"
#include "core/base/str.h"
#include "k8s/image/ref.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = xstrndup((const char *)data, size), full[REF_TEXT_MAX];
    struct image_ref r, again;
    struct pd_err err;
    if (ref_parse(text, &r, &err) == PD_OK) {
        char second[REF_TEXT_MAX];
        /* what was read is valid, and its complete form reads the same */
        if (!ref_repository_valid(r.repository) || (r.tag[0] && !ref_tag_valid(r.tag)) ||
            (r.digest[0] && !ref_digest_valid(r.digest)))
            abort();
        ref_format(&r, full);
        if (ref_parse(full, &again, &err) != PD_OK || !str_eq(ref_format(&again, second), full))
            abort();
    }
    free(text);
    return 0;
}
