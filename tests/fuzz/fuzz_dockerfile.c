/* fuzz: core/base k8s/image/dockerfile.c k8s/image/dockerfile_lex.c
 * fuzz: k8s/image/dockerfile_args.c k8s/image/dockerfile_flags.c
 * fuzz: k8s/image/dockerfile_heredoc.c k8s/image/dockerfile_plan.c k8s/image/glob.c
 * fuzz: k8s/image/dockerfile_check.c k8s/image/dockerfile_expand.c */
#include "k8s/image/dockerfile_plan.h"

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

static void instr(const struct dockerfile *d, const struct df_instr *in)
{
    char buf[256];
    expand(d, in->flags, in->nflags);
    expand(d, in->words, in->nwords);
    for (size_t i = 0; i < in->nheredocs; i++) {
        struct df_word w = {in->heredocs[i].text, in->heredocs[i].line, 1};
        struct str out;
        struct pd_err err;
        str_init(&out, 1 << 16);
        if (dockerfile_expand_raw(d, &w, lookup, NULL, &out, &err) != PD_OK && err.line < 1)
            abort();
        str_release(&out);
    }
    for (size_t i = 0; i < in->nwords; i++)
        dockerfile_heredoc(in, in->words[i].text);
    for (size_t i = 0; i < in->nflags; i++)
        dockerfile_plan_mount_from(in->flags[i].text, buf);
    if (in->sub)
        instr(d, in->sub);
}

/* The reader that goes on behind errors keeps what the other one keeps. */
struct count {
    size_t n;
};

static void error(void *arg, const struct pd_err *err)
{
    struct count *c = arg;
    c->n++;
    if (err->line < 1 || err->col < 1)        /* every error has its place */
        abort();
}

static void plan(const struct dockerfile *d)
{
    struct df_plan p;
    struct pd_err err = {0};
    if (dockerfile_plan(d, NULL, lookup, NULL, &p, &err) != PD_OK)
        return;
    for (size_t i = 0; i < d->n; i++) {
        int at = dockerfile_plan_at(&p, i);
        if (at >= (int)p.n || (at >= 0 && p.v[at].parent >= at))
            abort();
    }
    if (dockerfile_refuse(d, &p, &err) != PD_OK && (err.line < 1 || err.col < 1))
        abort();
    dockerfile_plan_release(&p);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct dockerfile *d = NULL, *all = NULL;
    struct pd_err err = {0};
    struct count errors = {0};
    dockerfile_read("fuzz", (const char *)data, size, error, &errors, &all);
    bool ok = dockerfile_parse("fuzz", (const char *)data, size, &d, &err) == PD_OK;
    if (ok != (errors.n == 0) || (ok && d->n != all->n))
        abort();
    for (size_t i = 0; i < all->n; i++)
        instr(all, &all->v[i]);
    if (ok) {
        bool good = dockerfile_check(d, &err) == PD_OK;
        if (!good && (err.line < 1 || err.col < 1))
            abort();
        if (good)
            plan(d);
    }
    dockerfile_free(d);
    dockerfile_free(all);
    return 0;
}
