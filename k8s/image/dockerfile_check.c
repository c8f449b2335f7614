/* dockerfile_check.c - what podium's own builder can't carry out is refused
 * before anything is built, at its place and with the way round it. */
#include "core/base/i18n.h"
#include "k8s/image/dockerfile.h"

/* Instructions that are understood but not carried out. */
static const struct refusal {
    enum df_op op;
    enum pd_code code;
    const char *why, *hint;
} refused[] = {
    {DF_RUN, PD_ENGINE, N_("RUN needs a container engine: podium's builder starts no process"),
     N_("COPY in what the command would make, start FROM an image that has it, or build with "
        "podman or buildah and push that image")},
    {DF_ADD, PD_UNSUPPORTED, N_("ADD is not carried out (it fetches and unpacks)"),
     N_("use COPY for files; unpack an archive or fetch a URL before the build")},
    {DF_HEALTHCHECK, PD_UNSUPPORTED, N_("HEALTHCHECK is not part of an OCI image"),
     N_("Kubernetes ignores it: write a livenessProbe in the pod")},
    {DF_ONBUILD, PD_UNSUPPORTED, N_("ONBUILD is not part of an OCI image"),
     N_("write the instruction into the Dockerfile that starts FROM this image")},
};

static enum pd_code refuse(const struct dockerfile *d, int line, int col, enum pd_code code,
                           const char *why, const char *hint, struct pd_err *err)
{
    pd_fail_at(err, code, d->name, line, col, "%s", why);
    return pd_set_hint(err, "%s", hint);
}

/* --chmod=0755, --chown=1000:1000 (numbers only), --link, --platform of us. */
static enum pd_code check_flag(const struct dockerfile *d, const struct df_word *f,
                               struct pd_err *err)
{
    if (str_eq(f->text, "--link") || str_eq(f->text, "--link=true") ||
        str_eq(f->text, "--platform=linux/amd64") || str_starts(f->text, "--chmod=") ||
        str_starts(f->text, "--chown="))
        return PD_OK;
    if (str_starts(f->text, "--from"))
        return refuse(d, f->line, f->col, PD_ENGINE,
                      _("COPY --from takes files from another image or stage: not carried out"),
                      _("start FROM that image, or put the files into the context"), err);
    if (str_starts(f->text, "--platform"))
        return refuse(d, f->line, f->col, PD_UNSUPPORTED,
                      _("podium's builder makes linux/amd64 images only"),
                      _("leave --platform away, or write --platform=linux/amd64"), err);
    pd_fail_at(err, PD_UNSUPPORTED, d->name, f->line, f->col,
               _("the flag %.80s is not carried out"), f->text);
    return pd_set_hint(err, _("leave it away, or build with an engine"));
}

static enum pd_code check_instr(const struct dockerfile *d, const struct df_instr *in,
                                struct pd_err *err)
{
    for (size_t i = 0; i < ARRAY_LEN(refused); i++)
        if (refused[i].op == in->op)
            return refuse(d, in->line, in->col, refused[i].code, _(refused[i].why),
                          _(refused[i].hint), err);
    for (size_t i = 0; i < in->nflags; i++) {
        enum pd_code rc = check_flag(d, &in->flags[i], err);
        if (rc != PD_OK)
            return rc;
    }
    if (in->op == DF_SHELL && !in->json)
        return refuse(d, in->line, in->col, PD_PARSE, _("SHELL needs the JSON form"),
                      _("write SHELL [\"/bin/sh\", \"-c\"]"), err);
    return PD_OK;
}

enum pd_code dockerfile_check(const struct dockerfile *d, struct pd_err *err)
{
    size_t stages = 0;
    if (d->n == 0) {
        pd_fail_at(err, PD_PARSE, d->name, 1, 1, _("the Dockerfile has no instructions"));
        return pd_set_hint(err, _("the first one is FROM: FROM scratch, or an image"));
    }
    for (size_t i = 0; i < d->n; i++) {
        const struct df_instr *in = &d->v[i];
        stages += in->op == DF_FROM;
        if (stages == 0 && in->op != DF_ARG) {
            pd_fail_at(err, PD_PARSE, d->name, in->line, in->col,
                       _("no build stage yet: %s stands before FROM"), dockerfile_op_name(in->op));
            return pd_set_hint(err, _("begin with FROM scratch, or FROM an image"));
        }
        if (stages > 1)
            return refuse(d, in->line, in->col, PD_ENGINE,
                          _("a second FROM: podium's builder makes one stage"),
                          _("keep the last stage and COPY in what the others would make"), err);
        enum pd_code rc = check_instr(d, in, err);
        if (rc != PD_OK)
            return rc;
    }
    if (stages == 0)
        return refuse(d, d->v[0].line, d->v[0].col, PD_PARSE, _("the Dockerfile has no FROM"),
                      _("add FROM scratch, or FROM an image"), err);
    return PD_OK;
}
