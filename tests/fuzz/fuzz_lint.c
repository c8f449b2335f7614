/* Any text as a Dockerfile and as what a build said: the rules bear it, and each
 * finding has its place and says something.
 * fuzz: core/base core/io k8s/image k8s */
#include "k8s/image/lint.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1);
    struct lint l;
    if (!text)
        return 0;
    memcpy(text, data, size);
    text[size] = '\0';
    struct lint_input in = {.name = "fuzz", .text = text, .len = size, .error_name = "error.txt",
                            .error = text, .subuid = text};
    lint_run(&in, &l);
    for (size_t i = 0; i < l.n; i++)
        if (l.v[i].line < 1 || l.v[i].col < 1 || !*l.v[i].cause)
            abort();
    lint_release(&l);
    free(text);
    return 0;
}
