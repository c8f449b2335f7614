/* lint_pip.c - pip: whether it is there and may write, its cache, and PyTorch's
 * CUDA beside the base image's. */
#include <ctype.h>

#include "core/base/i18n.h"
#include "core/base/mem.h"
#include "k8s/image/lint_priv.h"

static bool has_package(const struct stage_facts *s, const char *head)
{
    for (size_t i = 0; i < s->packages.n; i++)
        if (str_starts(s->packages.v[i], head))
            return true;
    return false;
}

/* Word index of "install" when this is pip install; 0: it is not. */
static size_t pip_install(const struct sh_cmd *c)
{
    const struct strv *v = &c->words;
    size_t at = 0;
    if (str_starts(v->v[0], "pip") && strcspn(v->v[0], "/") == strlen(v->v[0]))
        at = 1;
    else if (str_starts(v->v[0], "python") && v->n > 3 && str_eq(v->v[1], "-m") &&
             str_eq(v->v[2], "pip"))
        at = 3;
    for (; at && at < v->n; at++)
        if (v->v[at][0] != '-')
            return str_eq(v->v[at], "install") ? at : 0;
    return 0;
}

/* Debian from 12 and Ubuntu from 23.04 keep pip out of the system's Python. */
static bool guarded(const struct base_facts *b)
{
    return b->bare && ((b->distro == DISTRO_DEBIAN && b->major >= 12) ||
                       (b->distro == DISTRO_UBUNTU && b->major >= 24));
}

static void pip_there(struct lint_work *w, const struct df_instr *in, const struct stage_facts *s,
                      const struct sh_cmd *c)
{
    struct place p = lint_find(w, in, c->words.v[0]);
    struct lint_finding *f = NULL;
    bool deb = s->base.distro == DISTRO_UBUNTU || s->base.distro == DISTRO_DEBIAN || s->base.cuda;
    if (!s->base.bare || s->unknown || !deb)
        return;
    const char *python = NULL;
    for (size_t i = 0; i < s->packages.n; i++)
        if (str_eq(s->packages.v[i], "python3") || str_starts(s->packages.v[i], "python3."))
            python = s->packages.v[i];
    bool pip = has_package(s, "python3-pip") || has_package(s, "python-pip");
    if (!pip && python) {
        f = lint_add(w, "pip-not-installed", LINT_ERROR, p,
                     _("%s brings no pip: it is a package of its own, python3-pip (\"No module "
                       "named "
                       "pip\", or \"pip: not found\")"), python);
        lint_next(f, "%s", _("install python3-pip in the same line"));
    } else if (pip && python && str_starts(python, "python3.") &&
               str_starts(c->words.v[0], "pip")) {
        f = lint_add(w, "pip-of-another-python", LINT_WARNING, p,
                     _("%s belongs to the system's python3, not to %s"), c->words.v[0], python);
        char name[24];
        str_fmt(name, sizeof name, "%.*s", (int)MIN(strspn(python, "python0123456789."),
                                                    sizeof name - 1), python);
        lint_next(f, _("write %s -m pip install …"), name);
    }
}

static void pip_guard(struct lint_work *w, const struct df_instr *in, const struct stage_facts *s,
                      const struct sh_list *l, const struct sh_cmd *c)
{
    char distro[32];
    for (size_t i = 0; i < l->n; i++)
        if (lint_word(&l->v[i], "venv") || lint_word_starts(&l->v[i], "virtualenv"))
            return;
    if (!guarded(&s->base) || s->unknown || lint_word(c, "--break-system-packages") ||
        lint_word(c, "--user") || lint_word(c, "--target") || lint_word(c, "-t") ||
        lint_word_starts(c, "--prefix") || lint_word_starts(c, "--root"))
        return;
    struct lint_finding *f =
        lint_add(w, "pip-externally-managed", LINT_ERROR, lint_find(w, in, c->words.v[0]),
                 _("the Python of %s refuses pip install (\"error: externally-managed-"
                   "environment\")"), lint_facts_distro(&s->base, distro));
    lint_next(f, "%s", _("make a venv first: RUN python3 -m venv /opt/venv, then ENV "
                         "PATH=/opt/venv/bin:$PATH; or FROM python:3.11-slim"));
}

static void pip_cache(struct lint_work *w, const struct df_instr *in, const struct sh_cmd *c)
{
    bool off = lint_word(c, "--no-cache-dir") || strstr(in->rest, "PIP_NO_CACHE_DIR") ||
               strstr(in->rest, "/.cache");
    for (size_t i = 0; i < in->nflags; i++)
        off = off || strstr(in->flags[i].text, "type=cache");
    for (size_t i = 0; i < w->df->n; i++)
        off = off || (w->df->v[i].op != DF_RUN && strstr(w->df->v[i].rest, "PIP_NO_CACHE_DIR"));
    if (off)
        return;
    struct lint_finding *f = lint_add(w, "pip-cache-kept", LINT_NOTE,
                                      lint_find(w, in, c->words.v[0]),
                                      _("pip keeps what it downloaded in /root/.cache, in this "
                                        "layer"));
    lint_next(f, "%s", _("write pip install --no-cache-dir …"));
}

/* cu118, cu121 in a version or an index URL. */
static const char *wheel_cuda(const struct sh_cmd *c, char out[8])
{
    for (size_t i = 0; i < c->words.n; i++)
        for (const char *p = c->words.v[i]; (p = strstr(p, "cu")); p += 2) {
            size_t n = strspn(p + 2, "0123456789");
            bool starts = p == c->words.v[i] || p[-1] == '+' || p[-1] == '/';
            if (starts && (n == 2 || n == 3) && (!p[2 + n] || p[2 + n] == '/'))
                return str_fmt(out, 8, "%.*s", (int)n, p + 2);
        }
    return NULL;
}

static bool compiles(const struct sh_cmd *c, const char **what)
{
    static const char *const builds[] = {"flash-attn", "flash_attn", "apex", "deepspeed",
                                         "mamba-ssm", "causal-conv1d", "transformer-engine",
                                         "grouped_gemm"};
    for (size_t i = 0; i < ARRAY_LEN(builds); i++)
        if ((*what = lint_word_starts(c, builds[i])))
            return true;
    return false;
}

static void torch(struct lint_work *w, const struct df_instr *in, const struct stage_facts *s,
                  const struct sh_cmd *c)
{
    char digits[8], base[8];
    const char *wheel = wheel_cuda(c, digits), *what = NULL;
    const char *v = s->base.cuda_version, *dot = strchr(v, '.');
    struct lint_finding *f = NULL;
    if (!s->base.cuda || !dot)
        return;
    str_fmt(base, sizeof base, "%.*s%.*s", (int)(dot - v), v, (int)strspn(dot + 1, "0123456789"),
            dot + 1);
    if (wheel && !str_eq(wheel, base)) {
        bool major = strncmp(wheel, base, strlen(wheel) == 3 ? 2 : 1) != 0;
        f = lint_add(w, "torch-cuda-mismatch", LINT_WARNING, lint_find(w, in, wheel),
                     _("PyTorch for CUDA %.*s.%s (cu%s) on a base image with CUDA %s: PyTorch "
                       "brings "
                       "its own CUDA and runs, but what is compiled here with nvcc %s does not "
                       "%s"), (int)strlen(wheel) - 1, wheel, wheel + strlen(wheel) - 1, wheel, v, v,
                     major ? _("fit it (\"The detected CUDA version mismatches the version that "
                               "was "
                               "used to compile PyTorch\")") : _("match it exactly"));
        lint_next(f, _("take cu%s, or a base image with CUDA %.*s.%s"), base,
                  (int)strlen(wheel) - 1, wheel, wheel + strlen(wheel) - 1);
    }
    if (compiles(c, &what) && !str_eq(s->base.flavour, "devel") && *s->base.flavour) {
        f = lint_add(w, "cuda-needs-devel", LINT_WARNING, lint_find(w, in, what),
                     _("%s compiles CUDA code, and the %s image has no nvcc (\"CUDA_HOME "
                       "environment "
                       "variable is not set\", \"nvcc: not found\")"), what, s->base.flavour);
        lint_next(f, _("build it in a stage FROM nvidia/cuda:%s-devel-…, and COPY --from it"), v);
    }
}

void lint_pip(struct lint_work *w, const struct df_instr *in, struct stage_facts *s,
              const struct sh_list *l, const struct sh_cmd *c)
{
    if (str_eq(c->words.v[0], "nvcc") && s->base.cuda && *s->base.flavour &&
        !str_eq(s->base.flavour, "devel") && !has_package(s, "cuda")) {
        struct lint_finding *f =
            lint_add(w, "cuda-needs-devel", LINT_ERROR, lint_find(w, in, "nvcc"),
                     _("nvcc is in the -devel- images of nvidia/cuda, not in -%s-"),
                     s->base.flavour);
        lint_next(f, _("FROM nvidia/cuda:%s-devel-… for the stage that compiles"),
                  s->base.cuda_version);
    }
    if (!pip_install(c))
        return;
    pip_there(w, in, s, c);
    pip_guard(w, in, s, l, c);
    pip_cache(w, in, c);
    torch(w, in, s, c);
}
