/* fuzz: core/base k8s/image/ignore.c k8s/image/pattern.c */
#include "core/base/mem.h"
#include "core/base/str.h"
#include "k8s/image/ignore.h"
#include "k8s/image/pattern.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The input: a path, a NUL, and the file. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *text = (const char *)data;
    size_t n = strnlen(text, size);
    char *path = xstrndup(text, n), *clean = xmalloc(n + 2), *twice = xmalloc(n + 4);
    struct ignore *ig = NULL;
    struct pd_err err = {0};
    ignore_clean(path, clean);
    ignore_clean(clean, twice);
    if (!str_eq(clean, twice))                /* cleaning is done after one time */
        abort();
    size_t rest = n < size ? size - n - 1 : 0;
    if (ignore_parse("fuzz", text + size - rest, rest, &ig, &err) == PD_OK) {
        ignore_match(ig, clean);
        ignore_free(ig);
    } else if (err.line < 1) {
        abort();
    }
    struct pattern *p = pattern_new(path, 0);
    if (p)
        pattern_match(p, clean);
    pattern_free(p);
    free(twice);
    free(clean);
    free(path);
    return 0;
}
