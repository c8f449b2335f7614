/* fuzz_manifest.c - any bytes as a manifest: an error with a place, or objects
 * in which every path can be placed, whatever a server says.
 * fuzz: core/base core/io k8s
 */
#include "k8s/manifest.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *var(void *arg, const char *name)
{
    (void)arg;
    return name[0] == 'A' ? "a: [1, {b: c}]" : name[0] == 'B' ? "7" : NULL;
}

static void causes(const struct manifest *m, const char *text)
{
    struct manifest_cause c[4];
    struct pd_err err;
    int line, col;
    struct json *status = json_new_object();
    json_put_str(status, "message", text);
    for (size_t i = 0; i < m->n; i++) {
        manifest_place(&m->docs[i], text, &line, &col);
        if (line < 1 || col < 1)
            abort();
        manifest_causes(&m->docs[i], status, c, 4);
        if (manifest_error(m, &m->docs[i], 422, status, &err) == PD_OK)
            abort();
    }
    json_free(status);
}

/* The first line is what the server says, the rest is the manifest. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct manifest *m;
    struct pd_err err = {.msg = ""};
    char said[300];
    const uint8_t *end = memchr(data, '\n', size);
    size_t first = end ? (size_t)(end - data) : 0;
    size_t n = MIN(first, sizeof said - 1);
    memcpy(said, data, n);
    said[n] = '\0';
    const char *text = (const char *)data + (end ? first + 1 : 0);
    size_t len = size - (end ? first + 1 : 0);
    if (manifest_parse("m", text, len, var, NULL, &m, &err) != PD_OK) {
        if (!err.msg[0])
            abort();
        return 0;
    }
    causes(m, said);
    manifest_free(m);
    return 0;
}
