/* lint_vars.c - variables: unset ones, ARG before FROM that a stage does not know,
 * and names of a line that are not known yet in it. */
#include <ctype.h>

#include "core/base/i18n.h"
#include "core/base/mem.h"
#include "k8s/image/builder_priv.h"
#include "k8s/image/lint_priv.h"

/* Set without anybody's doing. */
static const char *const given[] = {
    "PATH", "HOME", "HTTP_PROXY", "HTTPS_PROXY", "FTP_PROXY", "NO_PROXY", "ALL_PROXY",
    "http_proxy", "https_proxy", "ftp_proxy", "no_proxy", "all_proxy", "SOURCE_DATE_EPOCH"};
/* Usable once ARG names them. */
static const char *const automatic[] = {
    "TARGETPLATFORM", "TARGETOS", "TARGETARCH", "TARGETVARIANT", "BUILDPLATFORM", "BUILDOS",
    "BUILDARCH", "BUILDVARIANT", "TARGETSTAGE"};

struct scope {
    struct lint_work *w;
    const struct df_instr *in;
    struct strv *known;
    struct strv unset;            /* found by the lookup */
};

static bool listed(const char *name, const char *const *v, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (str_eq(name, v[i]))
            return true;
    return false;
}

static const char *lookup(void *arg, const char *name)
{
    struct scope *s = arg;
    if (strv_has(s->known, name) || listed(name, given, ARRAY_LEN(given)))
        return "x";
    if (isalpha((unsigned char)name[0]) || name[0] == '_')
        strv_push(&s->unset, name);
    return NULL;
}

/* ${A:-x} and ${A:+x} say themselves that A may be unset. */
static bool has_default(const char *text, const char *name)
{
    char open[300];
    str_fmt(open, sizeof open, "${%.200s", name);
    const char *p = strstr(text, open);
    return p && strchr(":-+?", p[strlen(open)]) && p[strlen(open)];
}

static bool global_arg(const struct lint_work *w, const char *name, int *line)
{
    for (size_t i = 0; i < w->df->n && w->df->v[i].op == DF_ARG; i++)
        for (size_t k = 0; k < w->df->v[i].nwords; k++) {
            const char *text = w->df->v[i].words[k].text;
            size_t n = strcspn(text, "=");
            if (strlen(name) == n && strncmp(text, name, n) == 0) {
                *line = w->df->v[i].line;
                return true;
            }
        }
    return false;
}

static void report(struct lint_work *w, const struct df_instr *in, const char *name,
                   const struct strv *known, bool bare)
{
    char text[300];
    int line;
    struct place p = lint_find(w, in, str_fmt(text, sizeof text, "$%.250s", name));
    if (p.line == in->line && p.col == in->col)
        p = lint_find(w, in, str_fmt(text, sizeof text, "${%.250s", name));
    struct lint_finding *f = NULL;
    const char *near = str_nearest(name, (const char *const *)known->v, known->n);
    if (global_arg(w, name, &line)) {
        f = lint_add(w, "arg-before-from", LINT_ERROR, p,
                     _("$%s is empty here: ARG %s in line %d stands before FROM, and a stage does "
                       "not know it"), name, name, line);
        lint_next(f, _("add a line ARG %s behind FROM (without a value: it takes the one of line "
                       "%d)"), name, line);
    } else if (listed(name, automatic, ARRAY_LEN(automatic))) {
        f = lint_add(w, "undefined-var", LINT_WARNING, p,
                     _("$%s is empty here: the builder knows it, but a stage has to ask for it"),
                     name);
        lint_next(f, _("add a line ARG %s behind FROM"), name);
    } else if (near || bare) {
        f = lint_add(w, "undefined-var", near ? LINT_ERROR : LINT_WARNING, p,
                     _("$%s is not set: it becomes nothing"), name);
        if (near)
            lint_next(f, _("did you mean $%s?"), near);
        else
            lint_next(f, _("add ARG %s or ENV %s=… above, or write ${%s:-VALUE}"), name, name,
                      name);
    }
}

static void check_words(struct lint_work *w, const struct df_instr *in, struct strv *known,
                        bool bare)
{
    struct scope s = {.w = w, .in = in, .known = known};
    bool literal = in->json && in->op != DF_COPY && in->op != DF_ADD && in->op != DF_VOLUME;
    strv_init(&s.unset);
    for (size_t i = 0; i < in->nwords && !literal; i++) {
        struct str out;
        struct pd_err err = {0};
        struct df_word word = in->words[i];
        if (in->op == DF_ARG || in->op == DF_HEALTHCHECK || in->op == DF_MAINTAINER)
            word.text += strcspn(word.text, "=") + (strchr(word.text, '=') != NULL);
        str_init(&out, 1 << 16);
        if (dockerfile_expand(w->df, &word, lookup, &s, &out, &err) != PD_OK &&
            !strstr(word.text, ":?") && !strstr(word.text, "?")) {
            struct lint_finding *f = lint_add(w, "parse-error", LINT_ERROR,
                                              (struct place){err.line, err.col}, "%s", err.msg);
            lint_next(f, "%s", err.hint);
        }
        str_release(&out);
        for (size_t k = 0; k < s.unset.n; k++)
            if (!has_default(in->words[i].text, s.unset.v[k]))
                report(w, in, s.unset.v[k], known, bare);
        strv_release(&s.unset);
        strv_init(&s.unset);
    }
}

/* ENV A=1 B=$A: A is what it was before the line. */
static void same_line(struct lint_work *w, const struct df_instr *in, const struct strv *known)
{
    for (size_t i = 1; i < in->nwords; i++)
        for (size_t k = 0; k < i; k++) {
            size_t n = strcspn(in->words[k].text, "=");
            char *one = xasprintf("$%.*s", (int)n, in->words[k].text);
            char *two = xasprintf("${%.*s}", (int)n, in->words[k].text);
            char *name = xstrndup(in->words[k].text, n);
            const char *p = strstr(in->words[i].text, one);
            bool used = (p && !isalnum((unsigned char)p[n + 1]) && p[n + 1] != '_') ||
                        strstr(in->words[i].text, two);
            if (used && !strv_has(known, name) && !str_eq(name, "PATH")) {
                struct lint_finding *f =
                    lint_add(w, "env-same-line", LINT_WARNING, lint_at_word(&in->words[i]),
                             _("%s is used in the ENV line that sets it: it has its new value from "
                               "the next line on, here it is empty"), one);
                lint_next(f, "%s", _("write two ENV lines"));
            }
            free(name);
            free(one);
            free(two);
        }
}

static void env_path(struct lint_work *w, const struct df_instr *in)
{
    for (size_t i = 0; i < in->nwords; i++) {
        const char *t = in->words[i].text;
        if (!str_starts(t, "PATH=") || strstr(t, "$PATH") || strstr(t, "${PATH") ||
            strstr(t, "/usr/bin"))
            continue;
        struct lint_finding *f =
            lint_add(w, "path-overwritten", LINT_ERROR, lint_at_word(&in->words[i]),
                     _("PATH is replaced, not extended: sh, python and all other programs are not "
                       "found any more"));
        lint_next(f, _("write ENV PATH=\"%s:$PATH\""), t + 5);
    }
}

static void from_words(struct lint_work *w, const struct df_instr *in)
{
    struct strv known;
    struct scope s = {.w = w, .in = in, .known = &known};
    struct pd_err err;
    struct str out;
    strv_init(&known);
    strv_init(&s.unset);
    for (size_t i = 0; i < w->df->n && w->df->v[i].op == DF_ARG; i++)
        for (size_t k = 0; k < w->df->v[i].nwords; k++)
            strv_pushf(&known, "%.*s", (int)strcspn(w->df->v[i].words[k].text, "="),
                       w->df->v[i].words[k].text);
    for (size_t i = 0; i < ARRAY_LEN(automatic); i++)
        strv_push(&known, automatic[i]);
    str_init(&out, 4096);
    (void)!dockerfile_expand(w->df, &in->words[0], lookup, &s, &out, &err);
    for (size_t i = 0; i < s.unset.n; i++) {
        if (has_default(in->words[0].text, s.unset.v[i]))
            continue;
        const char *near = str_nearest(s.unset.v[i], (const char *const *)known.v, known.n);
        struct lint_finding *f =
            lint_add(w, "undefined-arg-in-from", LINT_ERROR, lint_at_word(&in->words[0]),
                     _("FROM uses $%s, and no ARG before the first FROM declares it (\"base name "
                       "should not be blank\")"), s.unset.v[i]);
        if (near)
            lint_next(f, _("did you mean $%s?"), near);
        else
            lint_next(f, _("put ARG %s=VALUE above the first FROM"), s.unset.v[i]);
    }
    str_release(&out);
    strv_release(&known);
    strv_release(&s.unset);
}

static void take_names(const struct df_instr *in, struct strv *known)
{
    for (size_t k = 0; k < in->nwords; k++)
        strv_pushf(known, "%.*s", (int)strcspn(in->words[k].text, "="), in->words[k].text);
}

/* A shell may set what it likes itself: only ARGs before FROM are known to be
 * missing. */
static void run_words(struct lint_work *w, const struct df_instr *in, const struct strv *known)
{
    int line;
    for (size_t g = 0; g < w->globals.n; g++) {
        char *name = xstrndup(w->globals.v[g], strcspn(w->globals.v[g], "="));
        char *one = xasprintf("$%s", name), *two = xasprintf("${%s}", name);
        const char *p = strstr(in->rest, one);
        bool used = (p && !isalnum((unsigned char)p[strlen(one)]) && p[strlen(one)] != '_') ||
                    strstr(in->rest, two);
        if (used && !strv_has(known, name) && global_arg(w, name, &line))
            report(w, in, name, known, false);
        free(name);
        free(one);
        free(two);
    }
}

void lint_vars(struct lint_work *w)
{
    struct strv *known = xcalloc(w->plan.n, sizeof *known);
    for (size_t i = 0; i < w->df->n; i++) {
        const struct df_instr *in = &w->df->v[i];
        int at = dockerfile_plan_at(&w->plan, i);
        if (in->op == DF_FROM) {
            from_words(w, in);
            strv_init(&known[at]);
            int parent = w->plan.v[at].parent;
            for (size_t k = 0; parent >= 0 && k < known[parent].n; k++)
                strv_push(&known[at], known[parent].v[k]);
        }
        if (at < 0 || in->op == DF_FROM)
            continue;
        int root = at;
        while (w->plan.v[root].parent >= 0)
            root = w->plan.v[root].parent;
        bool bare = w->stages[root].base.bare && !w->stages[root].base.cuda;
        bool shell = in->op == DF_RUN || in->op == DF_CMD || in->op == DF_ENTRYPOINT ||
                     in->op == DF_SHELL || in->op == DF_ONBUILD || in->op == DF_HEALTHCHECK;
        if (!shell)
            check_words(w, in, &known[at], bare);
        if (in->op == DF_ENV) {
            same_line(w, in, &known[at]);
            env_path(w, in);
        }
        if (in->op == DF_ENV || in->op == DF_ARG)
            take_names(in, &known[at]);
        if (in->op == DF_RUN)
            run_words(w, in, &known[at]);
    }
    for (size_t i = 0; i < w->plan.n; i++)
        strv_release(&known[i]);
    free(known);
}
