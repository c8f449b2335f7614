/* fuzz_selector.c - label and field selectors.
 * fuzz: core/base k8s/res.c k8s/practice/selector.c
 */
#include "core/base/base.h"

#include "core/base/mem.h"
#include "k8s/practice/selector.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    static struct json *pod;
    struct selector s;
    struct pd_err err;
    char *text = xstrndup((const char *)data, n);
    if (!pod)
        pod = json_from("{\"metadata\":{\"name\":\"p\",\"labels\":{\"a\":\"b\",\"n\":\"3\"}}}");
    selector_init(&s);
    if (selector_labels(text, &s, &err) == PD_OK)
        (void)selector_match_labels(&s, json_at(pod, "metadata.labels"));
    selector_release(&s);
    if (selector_fields(res_by_plural("", "pods"), text, &s, &err) == PD_OK)
        (void)selector_match_fields(&s, pod);
    selector_release(&s);
    free(text);
    return 0;
}
