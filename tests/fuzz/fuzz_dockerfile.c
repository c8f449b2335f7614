/* fuzz: core/base k8s/image/dockerfile.c k8s/image/dockerfile_lex.c
 * fuzz: k8s/image/dockerfile_check.c k8s/image/dockerfile_expand.c */
#include "k8s/image/dockerfile.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *lookup(void *arg, const char *name)
{
    (void)arg;
    return name[0] == 'A' ? "value" : name[0] == 'E' ? "" : NULL;
}

static void expand(const struct dockerfile *d, const struct df_word *v, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        struct pd_err err;
        struct str out;
        if (v[i].line < 1 || v[i].col < 1)
            abort();
        str_init(&out, 1 << 16);
        if (dockerfile_expand(d, &v[i], lookup, NULL, &out, &err) != PD_OK && err.line < 1)
            abort();
        str_release(&out);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct dockerfile *d = NULL;
    struct pd_err err = {0};
    if (dockerfile_parse("fuzz", (const char *)data, size, &d, &err) != PD_OK) {
        if (err.line < 1 || err.col < 1)      /* every error has its place */
            abort();
        return 0;
    }
    if (dockerfile_check(d, &err) != PD_OK && (err.line < 1 || err.col < 1))
        abort();
    for (size_t i = 0; i < d->n; i++) {
        expand(d, d->v[i].flags, d->v[i].nflags);
        expand(d, d->v[i].words, d->v[i].nwords);
    }
    dockerfile_free(d);
    return 0;
}
