/* lint_gaudi.c - what belongs together on Gaudi: the software of the base image,
 * optimum-habana, the DeepSpeed fork, and the examples that are cloned. The
 * table is that of the support matrix and of optimum-habana's releases. */
#include "core/base/i18n.h"
#include "core/base/mem.h"
#include "k8s/image/lint_priv.h"

static const struct pair {
    const char *software, *optimum;       /* beginnings of versions, blanks between */
} pairs[] = {
    {"1.16", "1.11 1.12"}, {"1.17", "1.13"},           {"1.18", "1.14"}, {"1.19", "1.15"},
    {"1.20", "1.16 1.17 1.18"}, {"1.21", "1.18"},      {"1.22", "1.19"}, {"1.23", "1.20"}};

/* ARGs by their defaults. */
static const char *arg_default(void *arg, const char *name)
{
    const struct lint_work *w = arg;
    size_t n = strlen(name);
    const char *found = NULL;
    for (size_t i = 0; i < w->df->n; i++)
        for (size_t k = 0; w->df->v[i].op == DF_ARG && k < w->df->v[i].nwords; k++) {
            const char *t = w->df->v[i].words[k].text;
            if (strncmp(t, name, n) == 0 && t[n] == '=')
                found = t + n + 1;
        }
    return found;
}

static bool begins_with_one(const char *list, const char *version, size_t n)
{
    struct strv v;
    bool hit = false;
    strv_init(&v);
    strv_split(&v, list, ' ');
    for (size_t i = 0; i < v.n; i++) {
        size_t len = strlen(v.v[i]);
        hit = hit || (len <= n && strncmp(v.v[i], version, len) == 0 &&
                      (len == n || version[len] == '.'));
    }
    strv_release(&v);
    return hit;
}

static void optimum(struct lint_work *w, const struct df_instr *in, const char *software,
                    const char *text)
{
    static const char mark[] = "optimum-habana==";
    const char *p = strstr(text, mark);
    size_t n = p ? strspn(p + strlen(mark), "0123456789.") : 0;
    for (size_t i = 0; n && i < ARRAY_LEN(pairs); i++) {
        const char *version = p + strlen(mark);
        size_t len = strlen(pairs[i].software);
        if (strncmp(software, pairs[i].software, len) != 0 || software[len] != '.' ||
            begins_with_one(pairs[i].optimum, version, n))
            continue;
        struct lint_finding *f =
            lint_add(w, "gaudi-versions", LINT_WARNING, lint_find(w, in, "optimum-habana"),
                     _("optimum-habana %.*s was not released for Gaudi software %s"), (int)n,
                     version, software);
        lint_next(f, _("take optimum-habana %s, or another base image"), pairs[i].optimum);
    }
}

static void deepspeed(struct lint_work *w, const struct df_instr *in, const char *software,
                      const char *text)
{
    static const char mark[] = "HabanaAI/DeepSpeed.git@";
    const char *p = strstr(text, mark);
    size_t n = p ? strspn(p + strlen(mark), "0123456789.") : 0;
    if (!n || (strlen(software) == n && strncmp(software, p + strlen(mark), n) == 0))
        return;
    struct lint_finding *f =
        lint_add(w, "gaudi-versions", LINT_WARNING, lint_find(w, in, "DeepSpeed"),
                 _("the DeepSpeed fork %.*s is not that of Gaudi software %s"), (int)n,
                 p + strlen(mark), software);
    lint_next(f, _("write HabanaAI/DeepSpeed.git@%s"), software);
}

static void clone(struct lint_work *w, const struct df_instr *in, const char *all)
{
    const char *p = strstr(in->rest, "git clone");
    if (!p || !strstr(p, "optimum-habana") || strstr(in->rest, "--branch") ||
        strstr(in->rest, " -b ") || strstr(in->rest, "git checkout") ||
        !strstr(all, "optimum-habana=="))
        return;
    struct lint_finding *f =
        lint_add(w, "gaudi-versions", LINT_WARNING, lint_find(w, in, "git clone"),
                 _("git clone takes the main branch of optimum-habana, and its examples ask for a "
                   "newer optimum-habana than the one that is installed "
                   "(check_optimum_habana_min_version)"));
    lint_next(f, "%s", _("write git clone --branch vVERSION with the installed version"));
}

void lint_gaudi(struct lint_work *w)
{
    struct str all;
    str_init(&all, 1 << 20);
    for (size_t i = 0; i < w->df->n; i++)
        if (w->df->v[i].op == DF_RUN)
            str_printf(&all, "%s\n", w->df->v[i].rest);
    for (size_t i = 0; i < w->df->n; i++) {
        static const char head[] = "vault.habana.ai/gaudi-docker/";
        const struct df_instr *in = &w->df->v[i];
        const struct stage_facts *s = lint_stage(w, i);
        if (in->op != DF_RUN || !s)
            continue;
        clone(w, in, all.p);
        if (!str_starts(s->base.repo, head))
            continue;
        struct df_word word = {in->rest, in->rest_line, in->rest_col};
        struct pd_err ignored;
        struct str text;
        char software[32];
        str_init(&text, 1 << 18);
        str_fmt(software, sizeof software, "%.*s",
                (int)MIN(strcspn(s->base.repo + strlen(head), "/"), sizeof software - 1),
                s->base.repo + strlen(head));
        if (dockerfile_expand_raw(w->df, &word, arg_default, w, &text, &ignored) == PD_OK) {
            optimum(w, in, software, text.p);
            deepspeed(w, in, software, text.p);
        }
        str_release(&text);
    }
    str_release(&all);
}
