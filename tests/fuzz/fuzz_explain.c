/* fuzz_explain.c - any objects around any Pod or Job: an explanation, never a crash,
 * and no byte in it that could control a terminal.
 * fuzz: core/base core/io k8s k8s/explain
 */
#include "core/base/yaml.h"
#include "k8s/explain/explain.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void look(const struct snapshot *s)
{
    struct explanation *e = explain(s);
    struct str out;
    str_init(&out, 1 << 20);
    explanation_print(e, 40, &out);
    for (size_t i = 0; i < out.len; i++)
        if ((unsigned char)out.p[i] < ' ' && out.p[i] != '\n')
            abort();
    struct json *j = explanation_json(e);
    if (!*json_str(j, "primary.cause", ""))
        abort();
    json_free(j);
    str_release(&out);
    explanation_free(e);
}

/* What stands behind a NUL is the log. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct ydoc *docs = NULL;
    struct pd_err err;
    struct snapshot s;
    const uint8_t *end = memchr(data, 0, size);
    size_t n = end ? (size_t)(end - data) : size;
    if (yaml_parse("fuzz", (const char *)data, n, &docs, &err))
        return 0;
    snapshot_init(&s);
    for (const struct ydoc *d = docs; d; d = d->next)
        snapshot_add(&s, yaml_to_json(d->root), "fuzz");
    if (end) {
        char *log = xstrndup((const char *)end + 1, size - n - 1);
        snapshot_log(&s, log, "log");
        free(log);
    }
    if (s.object)
        look(&s);
    yaml_docs_free(docs);
    snapshot_release(&s);
    return 0;
}
