/* lint_stages.c - stages and the way instructions are written: BuildKit's own
 * checks of style and structure. */
#include <ctype.h>

#include "core/base/i18n.h"
#include "k8s/image/lint_priv.h"

static bool all_case(const char *s, int (*is)(int))
{
    for (; *s; s++)
        if (isalpha((unsigned char)*s) && !is((unsigned char)*s))
            return false;
    return true;
}

static void casing(struct lint_work *w)
{
    size_t upper = 0, lower = 0;
    for (size_t i = 0; i < w->df->n; i++) {
        upper += all_case(w->df->v[i].word, isupper);
        lower += all_case(w->df->v[i].word, islower);
    }
    for (size_t i = 0; i < w->df->n; i++) {
        const struct df_instr *in = &w->df->v[i];
        bool ok = upper >= lower ? all_case(in->word, isupper) : all_case(in->word, islower);
        if (ok)
            continue;
        struct lint_finding *f = lint_add(w, "consistent-instruction-casing", LINT_NOTE,
                                          lint_at(in), _("%s is written otherwise than the other "
                                                         "instructions of this file"), in->word);
        lint_next(f, _("write %s"), upper >= lower ? dockerfile_op_name(in->op) : _("small "
            "letters"));
    }
}

static void from_line(struct lint_work *w, const struct df_instr *in)
{
    if (in->nwords < 3)
        return;
    struct lint_finding *f = NULL;
    const struct df_word *as = &in->words[1], *name = &in->words[2];
    if (all_case(in->word, isupper) != all_case(as->text, isupper)) {
        f = lint_add(w, "from-as-casing", LINT_NOTE, lint_at_word(as),
                     _("%s and %s are not in the same letters"), in->word, as->text);
        lint_next(f, _("write %s"), all_case(in->word, isupper) ? "AS" : "as");
    }
    if (!all_case(name->text, islower)) {
        f = lint_add(w, "stage-name-casing", LINT_NOTE, lint_at_word(name),
                     _("the stage name %s has capital letters; names of stages are compared "
                       "without regard to them"), name->text);
        lint_next(f, "%s", _("write it in small letters"));
    }
}

static void platform(struct lint_work *w, const struct df_instr *in)
{
    const char *p = dockerfile_flag(in, "platform");
    if (!p)
        return;
    struct lint_finding *f = NULL;
    if (strstr(p, "TARGETPLATFORM")) {
        f = lint_add(w, "redundant-target-platform", LINT_NOTE, lint_at_word(&in->flags[0]),
                     _("--platform=%s is what FROM takes anyway"), p);
        lint_next(f, "%s", _("leave the flag away"));
    } else if (!strchr(p, '$') && !str_starts(p, "linux/amd64")) {
        f = lint_add(w, "wrong-platform", LINT_WARNING, lint_at_word(&in->flags[0]),
                     _("the stage is built for %s: on linux/amd64 nodes its programs end with "
                       "\"exec format error\""), p);
        lint_next(f, "%s", _("leave --platform away, or write --platform=$BUILDPLATFORM for a "
                             "stage that only compiles"));
    } else if (!strchr(p, '$')) {
        f = lint_add(w, "from-platform-const", LINT_NOTE, lint_at_word(&in->flags[0]),
                     _("FROM names the platform %s itself: nobody can build for another"), p);
        lint_next(f, "%s", _("leave --platform away and give it to the build"));
    }
}

static void names(struct lint_work *w)
{
    for (size_t i = 0; i < w->plan.n; i++)
        for (size_t k = 0; k < i; k++) {
            const char *a = w->plan.v[i].name, *b = w->plan.v[k].name;
            if (!*a || strcasecmp(a, b) != 0)
                continue;
            const struct df_instr *in = &w->df->v[w->plan.v[i].from];
            struct lint_finding *f =
                lint_add(w, "duplicate-stage-name", LINT_ERROR, lint_at_word(&in->words[2]),
                         _("two stages are called %s (line %d and line %d): --from=%s means the "
                           "last one above it"), a, w->df->v[w->plan.v[k].from].line, in->line, a);
            lint_next(f, "%s", _("give one of them another name"));
        }
}

static void unreachable(struct lint_work *w)
{
    for (size_t i = 0; i < w->plan.n; i++) {
        if (w->plan.v[i].needed)
            continue;
        const struct df_instr *in = &w->df->v[w->plan.v[i].from];
        char number[24];
        const char *name = *w->plan.v[i].name ? w->plan.v[i].name
                                              : str_fmt(number, sizeof number, "%zu", i);
        struct lint_finding *f =
            lint_add(w, "unreachable-stage", LINT_NOTE, lint_at(in),
                     _("the stage %s (line %d) is not part of the image: nothing that the last "
                       "stage needs copies from it or starts from it"), name, in->line);
        lint_next(f, _("delete it, copy from it with COPY --from=%s, or build it alone with "
                       "--target %s"), name, name);
    }
}

static void copy_from(struct lint_work *w, size_t i, const struct df_instr *in)
{
    const char *from = in->op == DF_COPY ? dockerfile_flag(in, "from") : NULL;
    int at = dockerfile_plan_at(&w->plan, i);
    if (!from || dockerfile_plan_find(&w->plan, (size_t)at, from) >= 0)
        return;
    struct strv names;
    int64_t number;
    strv_init(&names);
    for (int s = 0; s < at; s++)
        if (*w->plan.v[s].name)
            strv_push(&names, w->plan.v[s].name);
    const char *near = str_nearest(from, (const char *const *)names.v, names.n);
    struct place p = lint_find(w, in, "--from");
    struct lint_finding *f = NULL;
    bool later = dockerfile_plan_find(&w->plan, w->plan.n, from) >= 0;
    if (strchr(from, '$')) {
        f = lint_add(w, "copy-from-unknown-stage", LINT_ERROR, p,
                     _("COPY --from=%s: variables are not expanded there"), from);
        lint_next(f, "%s", _("write FROM $IMAGE AS tools above, and COPY --from=tools"));
    } else if (later || str_to_i64(from, &number)) {
        f = lint_add(w, "copy-from-unknown-stage", LINT_ERROR, p,
                     _("COPY --from=%s: there is no such stage above this line"), from);
        lint_next(f, "%s", later ? _("move the stage up, before the one that copies from it")
                                 : _("count the FROM lines from 0, or give the stage a name"));
    } else if (!strpbrk(from, "/:@.") && (near || names.n)) {
        f = lint_add(w, "copy-from-unknown-stage", near ? LINT_ERROR : LINT_WARNING, p,
                     _("COPY --from=%s: no stage has this name, so an image called %s is pulled "
                       "from docker.io"), from, from);
        if (near)
            lint_next(f, _("did you mean %s?"), near);
        else
            lint_next(f, _("write the image with its tag (%s:1.2), or name a stage AS %s"), from,
                      from);
    }
    strv_release(&names);
}

static void old_forms(struct lint_work *w, const struct df_instr *in)
{
    struct lint_finding *f = NULL;
    if (in->op == DF_MAINTAINER) {
        f = lint_add(w, "maintainer-deprecated", LINT_NOTE, lint_at(in),
                     _("MAINTAINER is deprecated"));
        lint_next(f, _("write LABEL org.opencontainers.image.authors=\"%s\""), in->words[0].text);
    }
    if (in->old_form && (in->op == DF_ENV || in->op == DF_LABEL)) {
        size_t n = strcspn(in->words[0].text, "=");
        f = lint_add(w, "legacy-key-value-format", LINT_NOTE, lint_at(in),
                     _("%s NAME VALUE is the old form: one name a line, and the value goes to the "
                       "line's end"), dockerfile_op_name(in->op));
        lint_next(f, _("write %s %.*s=\"%s\""), dockerfile_op_name(in->op), (int)n,
                  in->words[0].text, in->words[0].text + n + 1);
    }
}

/* "COPY a b # why": only a whole line can be a comment. */
static void inline_comment(struct lint_work *w, const struct df_instr *in)
{
    static const enum df_op ops[] = {DF_FROM, DF_COPY, DF_ADD, DF_EXPOSE, DF_WORKDIR, DF_USER,
                                     DF_VOLUME, DF_ARG, DF_ENV, DF_CMD, DF_ENTRYPOINT};
    const char *p = strstr(in->rest, " #");
    bool asked = false;
    for (size_t i = 0; i < ARRAY_LEN(ops); i++)
        asked = asked || ops[i] == in->op;
    if (!asked || !p || strchr("\"'", in->rest[0]) || in->json || in->nheredocs ||
        (p[2] != ' ' && !isalpha((unsigned char)p[2])) ||
        ((in->op == DF_CMD || in->op == DF_ENTRYPOINT) && in->rest[0] != '['))
        return;
    struct lint_finding *f =
        lint_add(w, "inline-comment", LINT_ERROR, lint_find(w, in, p + 1),
                 _("the # here starts no comment: what follows it becomes part of %s"),
                 dockerfile_op_name(in->op));
    lint_next(f, "%s", _("put the comment on a line of its own"));
}

static void volume(struct lint_work *w, size_t i, const struct df_instr *in)
{
    for (size_t k = i + 1; k < w->df->n && w->df->v[k].op != DF_FROM; k++) {
        const struct df_instr *later = &w->df->v[k];
        for (size_t v = 0; v < in->nwords; v++) {
            if (later->op != DF_RUN || !strstr(later->rest, in->words[v].text))
                continue;
            struct lint_finding *f =
                lint_add(w, "change-after-volume", LINT_WARNING, lint_at(later),
                         _("%s is a VOLUME since line %d: what this RUN writes there is thrown "
                           "away by some builders"), in->words[v].text, in->line);
            lint_next(f, "%s", _("move VOLUME to the end of the stage"));
        }
    }
}

void lint_stages(struct lint_work *w)
{
    casing(w);
    names(w);
    unreachable(w);
    for (size_t i = 0; i < w->df->n; i++) {
        const struct df_instr *in = &w->df->v[i];
        if (in->op == DF_FROM) {
            from_line(w, in);
            platform(w, in);
        }
        copy_from(w, i, in);
        old_forms(w, in);
        inline_comment(w, in);
        if (in->op == DF_VOLUME)
            volume(w, i, in);
        if (in->op == DF_WORKDIR && in->words[0].text[0] != '/' && in->words[0].text[0] != '$' &&
            !lint_stage(w, i)->workdir && lint_stage(w, i)->base.bare == false) {
            struct lint_finding *f = lint_add(
                w, "workdir-relative-path", LINT_NOTE, lint_at_word(&in->words[0]),
                _("WORKDIR %s is relative: where it leads depends on the base image"),
                in->words[0].text);
            lint_next(f, _("write WORKDIR /%s"), in->words[0].text);
        }
        if (in->op == DF_WORKDIR && lint_stage(w, i))
            lint_stage(w, i)->workdir = true;
    }
}
