/* dockerfile_check.c - what must hold of any Dockerfile, and what podium's own
 * builder can't carry out: refused before anything is built, at its place and
 * with the way round it. */
#include <ctype.h>

#include "core/base/i18n.h"
#include "k8s/image/dockerfile_plan.h"

static enum pd_code refuse(const struct dockerfile *d, int line, int col, enum pd_code code,
                           const char *why, const char *hint, struct pd_err *err)
{
    pd_fail_at(err, code, d->name, line, col, "%s", why);
    return pd_set_hint(err, "%s", hint);
}

/* A stage's name: a letter, then letters, digits, "-", "_" and ".". */
static bool stage_name_valid(const char *s)
{
    if (!isalpha((unsigned char)*s))
        return false;
    while (isalnum((unsigned char)*s) || (*s && strchr("-_.", *s)))
        s++;
    return !*s;
}

static enum pd_code check_from(const struct dockerfile *d, const struct df_instr *in,
                               struct pd_err *err)
{
    if (in->nwords < 3)
        return PD_OK;
    const struct df_word *w = &in->words[2];
    if (strcasecmp(w->text, "scratch") == 0)
        return refuse(d, w->line, w->col, PD_PARSE, _("\"scratch\" is no name for a stage"),
                      _("it stands for the empty image: choose another name"), err);
    if (stage_name_valid(w->text))
        return PD_OK;
    pd_fail_at(err, PD_PARSE, d->name, w->line, w->col, _("invalid name for a stage: \"%.80s\""),
               w->text);
    return pd_set_hint(err, _("a letter first, then letters, digits, - _ and ."));
}

enum pd_code dockerfile_check(const struct dockerfile *d, struct pd_err *err)
{
    size_t stages = 0;
    if (d->n == 0)
        return refuse(d, 1, 1, PD_PARSE, _("the Dockerfile has no instructions"),
                      _("the first one is FROM: FROM scratch, or an image"), err);
    for (size_t i = 0; i < d->n; i++) {
        const struct df_instr *in = &d->v[i];
        enum pd_code rc = PD_OK;
        stages += in->op == DF_FROM;
        if (stages == 0 && in->op != DF_ARG) {
            pd_fail_at(err, PD_PARSE, d->name, in->line, in->col,
                       _("no build stage yet: %s stands before FROM"), dockerfile_op_name(in->op));
            return pd_set_hint(err, _("begin with FROM scratch, or FROM an image"));
        }
        if (in->op == DF_FROM)
            rc = check_from(d, in, err);
        else if (in->op == DF_SHELL && !in->json)
            rc = refuse(d, in->line, in->col, PD_PARSE, _("SHELL needs the JSON form"),
                        _("write SHELL [\"/bin/sh\", \"-c\"]"), err);
        if (rc != PD_OK)
            return rc;
    }
    if (stages == 0)
        return refuse(d, d->v[0].line, d->v[0].col, PD_PARSE, _("the Dockerfile has no FROM"),
                      _("add FROM scratch, or FROM an image"), err);
    return PD_OK;
}

/* --- what the own builder can't do ------------------------------------------------ */

static const struct refusal {
    enum df_op op;
    enum pd_code code;
    const char *why, *hint;
} refused[] = {
    {DF_RUN, PD_ENGINE, N_("RUN needs a container engine: podium's builder starts no process"),
     N_("COPY in what the command would make, start FROM an image that has it, or build with "
        "podman or buildah and push that image")},
    {DF_SHELL, PD_UNSUPPORTED,
     N_("SHELL is not carried out: it sets the shell of RUN, and no RUN is run here"),
     N_("take the line out, and write CMD and ENTRYPOINT with their shell: "
        "CMD [\"/bin/bash\", \"-c\", \"…\"]")},
};

static enum pd_code check_platform(const struct dockerfile *d, const struct df_word *f,
                                   struct pd_err *err)
{
    static const char *const ours[] = {
        "linux/amd64", "linux/amd64/v1", "linux/x86_64", "amd64", "linux", "$TARGETPLATFORM",
        "${TARGETPLATFORM}", "$BUILDPLATFORM", "${BUILDPLATFORM}", "linux/$TARGETARCH",
        "linux/${TARGETARCH}"};
    for (size_t i = 0; i < ARRAY_LEN(ours); i++)
        if (str_eq(f->text + strlen("--platform="), ours[i]))
            return PD_OK;
    return refuse(d, f->line, f->col, PD_UNSUPPORTED,
                  _("podium's builder makes linux/amd64 images only"),
                  _("leave --platform away, or write --platform=linux/amd64"), err);
}

static bool is_git(const char *s)
{
    size_t url = strcspn(s, "#");
    return str_starts(s, "git@") || str_starts(s, "git://") || str_starts(s, "ssh://") ||
           (str_starts(s, "http") && url > 4 && strncmp(s + url - 4, ".git", 4) == 0);
}

static enum pd_code check_add(const struct dockerfile *d, const struct df_instr *in,
                              struct pd_err *err)
{
    const char *sum = dockerfile_flag(in, "checksum");
    for (size_t i = 0; i + 1 < in->nwords; i++) {
        const struct df_word *w = &in->words[i];
        if (is_git(w->text))
            return refuse(d, w->line, w->col, PD_UNSUPPORTED,
                          _("ADD of a git repository is not carried out"),
                          _("git clone it beside the Dockerfile and COPY it"), err);
        if ((str_starts(w->text, "http://") || str_starts(w->text, "https://")) && !sum)
            return refuse(d, w->line, w->col, PD_UNSUPPORTED,
                          _("ADD of a URL without --checksum: the image would differ from day to "
                            "day"),
                          _("write ADD --checksum=sha256:… URL (sha256sum of the file tells it)"),
                          err);
    }
    if (sum && in->nwords > 2)
        return refuse(d, in->line, in->col, PD_PARSE, _("--checksum is for one URL"),
                      _("write an ADD line for each URL"), err);
    if (sum && !str_starts(in->words[0].text, "http"))
        return refuse(d, in->words[0].line, in->words[0].col, PD_PARSE,
                      _("--checksum is for a URL, this is a file of the context"),
                      _("leave --checksum away"), err);
    return PD_OK;
}

static enum pd_code check_from_stage(const struct dockerfile *d, const struct df_plan *p,
                                     size_t i, struct pd_err *err)
{
    const struct df_instr *in = &d->v[i];
    const char *from = dockerfile_flag(in, "from");
    int at = dockerfile_plan_at(p, i);
    if (!from || dockerfile_plan_find(p, (size_t)at, from) >= 0)
        return PD_OK;
    const struct df_word *w = &in->flags[0];
    for (size_t f = 0; f < in->nflags; f++)
        if (str_starts(in->flags[f].text, "--from="))
            w = &in->flags[f];
    int64_t number;
    struct strv names;
    strv_init(&names);
    for (int s = 0; s < at; s++)
        strv_push(&names, p->v[s].name);
    const char *near = str_nearest(from, (const char *const *)names.v, names.n);
    enum pd_code rc = PD_OK;
    if (strchr(from, '$')) {
        rc = refuse(d, w->line, w->col, PD_PARSE, _("--from takes no variable"),
                    _("name a stage for it: FROM $IMAGE AS tools, then COPY --from=tools"), err);
    } else if (dockerfile_plan_find(p, p->n, from) >= 0) {
        pd_fail_at(err, PD_PARSE, d->name, w->line, w->col,
                   _("the stage %.80s stands further down, or is this one"), from);
        rc = pd_set_hint(err, _("a stage copies from stages above it: move it up"));
    } else if (str_to_i64(from, &number)) {
        pd_fail_at(err, PD_PARSE, d->name, w->line, w->col,
                   _("there is no stage %.20s above: %d stand there, counted from 0"), from, at);
        rc = pd_set_hint(err, _("name the stage: FROM … AS NAME, then --from=NAME"));
    } else if (near && *near && !strpbrk(from, "/:@")) {
        pd_fail_at(err, PD_PARSE, d->name, w->line, w->col, _("there is no stage \"%.80s\""),
                   from);
        rc = pd_set_hint(err, _("did you mean %s?"), near);
    }
    strv_release(&names);
    return rc;
}

static enum pd_code refuse_one(const struct dockerfile *d, const struct df_plan *p, size_t i,
                               struct pd_err *err)
{
    const struct df_instr *in = &d->v[i];
    for (size_t r = 0; r < ARRAY_LEN(refused); r++)
        if (refused[r].op == in->op)
            return refuse(d, in->line, in->col, refused[r].code, _(refused[r].why),
                          _(refused[r].hint), err);
    for (size_t f = 0; in->op == DF_FROM && f < in->nflags; f++) {
        enum pd_code rc = check_platform(d, &in->flags[f], err);
        if (rc != PD_OK)
            return rc;
    }
    if (in->op == DF_ADD)
        return check_add(d, in, err);
    return in->op == DF_COPY ? check_from_stage(d, p, i, err) : PD_OK;
}

enum pd_code dockerfile_refuse(const struct dockerfile *d, const struct df_plan *p,
                               struct pd_err *err)
{
    for (size_t i = 0; i < d->n; i++) {
        int at = dockerfile_plan_at(p, i);
        if (at < 0 || !p->v[at].needed)
            continue;
        enum pd_code rc = refuse_one(d, p, i, err);
        if (rc != PD_OK)
            return rc;
    }
    return PD_OK;
}
