/* fuzz_check.c - any bytes as a manifest to be checked: it always ends, each finding
 * has a place inside the text, a sentence or a reason, and can be printed.
 * fuzz: core/base core/io k8s k8s/rules
 */
#include "core/base/mem.h"
#include "k8s/rules/check.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *var(void *arg, const char *name)
{
    (void)arg;
    return name[0] == 'N' ? "7" : name[0] == 'T' ? "text: {a}" : NULL;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct check_options o = {.ns = "ns", .var = size % 2 ? var : NULL};
    struct check_style style = {60, true};
    struct str out;
    char *text = xstrndup((const char *)data, size);
    int lines = 2;
    for (size_t i = 0; i < size; i++)
        lines += data[i] == '\n' || data[i] == '\r' || data[i] >= 0x80;
    struct check *c = check_run("m.yaml", text, strlen(text), &o);
    for (size_t i = 0; i < c->n; i++) {
        const struct check_finding *f = &c->v[i];
        if (f->line < 1 || f->col < 1 || f->line > lines || !*f->cause || !(*f->said || *f->why))
            abort();
    }
    str_init(&out, 8 << 20);
    check_print(c, text, strlen(text), &style, &out);
    struct json *j = check_json(c);
    json_print(j, 0, &out);
    json_free(j);
    str_release(&out);
    check_free(c);
    free(text);
    return 0;
}
