/* lint_bases.c - FROM: tags that are not there, that move, or that are a near
 * miss. Tables of what a repository's tags look like, no look-up. */
#include <ctype.h>
#include <stdlib.h>

#include "core/base/i18n.h"
#include "k8s/image/lint_priv.h"

/* --- nvidia/cuda: X.Y.Z-[cudnnN-]base|runtime|devel-OS ----------------------------- */

static int version_number(const char *s)
{
    int major = atoi(s);
    const char *dot = strchr(s, '.');
    return major * 100 + (dot ? atoi(dot + 1) : 0);
}

/* The oldest and newest CUDA (major * 100 + minor) with images for an OS. */
static const struct cuda_os {
    const char *os;
    int from, to;
} cuda_os[] = {
    {"ubuntu24.04", 1206, 9999}, {"ubuntu22.04", 1107, 9999}, {"ubuntu20.04", 1100, 1209},
    {"ubuntu18.04", 900, 1202},  {"ubuntu16.04", 800, 1102},  {"rockylinux9", 1107, 9999},
    {"rockylinux8", 1103, 9999}, {"ubi9", 1107, 9999},        {"ubi8", 1100, 9999},
    {"ubi7", 900, 1107},         {"centos7", 800, 1204},      {"centos8", 1100, 1107},
    {"amzn2023", 1300, 9999},    {"oraclelinux", 1100, 9999},
};

static const char *good_os(int version)
{
    if (version >= 1206)
        return "ubuntu24.04";
    return version >= 1107 ? "ubuntu22.04" : version >= 1100 ? "ubuntu20.04" : "ubuntu18.04";
}

static void cuda(struct lint_work *w, const struct df_word *at, const char *image,
                 const struct base_facts *b)
{
    struct lint_finding *f = NULL;
    const struct cuda_os *os = NULL;
    int version = version_number(b->cuda_version);
    for (size_t i = 0; i < ARRAY_LEN(cuda_os); i++)
        if (strstr(b->tag, cuda_os[i].os))
            os = &cuda_os[i];
    if (!*b->tag || str_eq(b->tag, "latest")) {
        f = lint_add(w, "base-image-tag-missing", LINT_ERROR, lint_at_word(at),
                     _("%s: nvidia/cuda has no tag latest; the pull ends with \"manifest "
                       "unknown\""),
                     image);
        lint_next(f, "%s", _("name version, kind and system: "
                             "nvidia/cuda:12.4.1-runtime-ubuntu22.04"));
    } else if (!os) {
        f = lint_add(w, "base-image-tag-missing", LINT_ERROR, lint_at_word(at),
                     _("the tag %s of %s is not in the repository: every tag of nvidia/cuda ends "
                       "with a system, such as -ubuntu20.04; the pull ends with \"manifest "
                       "unknown\""), b->tag, image);
        const char *dot = strchr(b->cuda_version, '.');
        lint_next(f, _("write nvidia/cuda:%s%s-%s-%s, or a current tag of "
                       "hub.docker.com/r/nvidia/cuda"),
                  b->cuda_version, dot && !strchr(dot + 1, '.') ? ".0" : "",
                  *b->flavour ? b->flavour : "base",
                  version >= 1107 && version < 1200 ? "ubuntu20.04" : good_os(version));
    } else if (version && (version < os->from || version > os->to)) {
        f = lint_add(w, "base-image-tag-missing", LINT_ERROR, lint_at_word(at),
                     _("%s: CUDA %s was not published for %s (probably \"manifest "
                       "unknown\")"), image,
                     b->cuda_version, os->os);
        lint_next(f, _("take -%s for this CUDA, or another CUDA for %s"), good_os(version), os->os);
    } else if (version >= 1101 && strchr(b->cuda_version, '.') == strrchr(b->cuda_version, '.')) {
        f = lint_add(w, "base-image-tag-missing", LINT_ERROR, lint_at_word(at),
                     _("%s: tags of nvidia/cuda have three numbers, %s has two (probably "
                       "\"manifest unknown\")"), image, b->cuda_version);
        lint_next(f, _("write %s.0 or %s.1"), b->cuda_version, b->cuda_version);
    } else if (!*b->flavour) {
        f = lint_add(w, "base-image-tag-missing", LINT_ERROR, lint_at_word(at),
                     _("%s names no kind: tags of nvidia/cuda have -base-, -runtime- or -devel- "
                       "before the system"), image);
        lint_next(f, _("write nvidia/cuda:%s-runtime-%s"), b->cuda_version, os->os);
    }
}

/* --- the others ------------------------------------------------------------------ */

static const struct repo_rule {
    const char *repo;
    const char *names;            /* tags, or what they begin with when "*" ends them */
    bool latest;                  /* is there a latest? */
    const char *like;
} repos[] = {
    {"ubuntu", "12.04* 14.* 15.* 16.* 17.* 18.* 19.* 20.* 21.* 22.04* 22.10* 23.* 24.04* 24.10* "
               "25.04* 25.10* 26.04* trusty* "
               "xenial* bionic* focal* jammy* noble* oracular* plucky* questing* rolling devel "
               "latest", true, "ubuntu:22.04"},
    {"debian", "7* 8* 9* 10* 11* 12* 13* 14* sid* stable* testing* unstable* oldstable* "
               "oldoldstable* bookworm* bullseye* buster* trixie* forky* stretch* jessie* wheezy* "
               "experimental* rc-buggy* latest", true, "debian:bookworm-slim"},
    {"alpine", "2.* 3* edge* latest 20*", true, "alpine:3.20"},
    {"python", "2* 3* latest slim* alpine* bookworm* bullseye* trixie* buster* windowsservercore* "
               "rc*", true, "python:3.11-slim"},
};

static bool tag_fits(const char *names, const char *tag)
{
    struct strv v;
    bool hit = false;
    strv_init(&v);
    strv_split(&v, names, ' ');
    for (size_t i = 0; i < v.n; i++) {
        size_t n = strlen(v.v[i]);
        bool open = n && v.v[i][n - 1] == '*';
        hit = hit || (open ? strncmp(tag, v.v[i], n - 1) == 0 : str_eq(tag, v.v[i]));
    }
    strv_release(&v);
    return hit;
}

/* python:3.11-slim-jammy, python:3.11-ubuntu: Debian and Alpine only. */
static const char *wrong_part(const struct base_facts *b)
{
    static const char *const never[] = {"ubuntu", "jammy", "focal", "noble", "cuda", "gpu",
                                        "centos", "minimal", "lite", "small"};
    for (size_t i = 0; str_eq(b->repo, "python") && i < ARRAY_LEN(never); i++)
        if (strstr(b->tag, never[i]))
            return never[i];
    return NULL;
}

static bool pytorch_tag(const char *tag)
{
    if (str_eq(tag, "latest") || str_ends(tag, "-nightly"))
        return true;
    return (strstr(tag, "-runtime") || strstr(tag, "-devel")) && strstr(tag, "-cuda") &&
           strstr(tag, "-cudnn");
}

static void published(struct lint_work *w, const struct df_word *at, const char *image,
                      const struct base_facts *b)
{
    struct lint_finding *f = NULL;
    const char *part = wrong_part(b);
    for (size_t i = 0; i < ARRAY_LEN(repos); i++) {
        if (!str_eq(repos[i].repo, b->repo) || !*b->tag ||
            (tag_fits(repos[i].names, b->tag) && !part))
            continue;
        f = lint_add(w, "base-image-tag-missing", LINT_ERROR, lint_at_word(at),
                     _("%s: %s has no tag like %s%s%s (probably \"manifest unknown\")"), image,
                     b->repo, b->tag, part ? _(", there is none with ") : "", part ? part : "");
        lint_next(f, _("take a tag such as %s"), repos[i].like);
    }
    if (str_eq(b->repo, "pytorch/pytorch") && *b->tag && !pytorch_tag(b->tag)) {
        f = lint_add(w, "base-image-tag-missing", LINT_ERROR, lint_at_word(at),
                     _("%s: tags of pytorch/pytorch name version, CUDA, cuDNN and kind; %s does "
                       "not (probably \"manifest unknown\")"), image, b->tag);
        lint_next(f, "%s", _("write e.g. pytorch/pytorch:2.4.0-cuda12.4-cudnn9-runtime"));
    }
    if (str_starts(b->repo, "nvcr.io/nvidia/pytorch") && *b->tag && !strstr(b->tag, "-py3")) {
        f = lint_add(w, "base-image-tag-missing", LINT_ERROR, lint_at_word(at),
                     _("%s: tags of nvcr.io/nvidia/pytorch end with -py3"), image);
        lint_next(f, _("write %s:%s-py3"), b->repo, b->tag);
    }
}

/* vault.habana.ai/gaudi-docker/SW/OS/habanalabs/pytorch-installer-TORCH */
static void habana(struct lint_work *w, const struct df_word *at, const char *image)
{
    static const struct { const char *sw, *torch; } triples[] = {
        {"1.16.2", "2.2.2"}, {"1.17.0", "2.3.1"}, {"1.17.1", "2.3.1"}, {"1.18.0", "2.4.0"},
        {"1.19.0", "2.5.1"}, {"1.20.0", "2.6.0"}, {"1.21.0", "2.6.0"}, {"1.22.0", "2.7.1"},
        {"1.23.0", "2.9.0"}, {"1.24.0", "2.10.0"}};
    static const char head[] = "vault.habana.ai/gaudi-docker/", mark[] = "pytorch-installer-";
    const char *torch = strstr(image, mark);
    if (!str_starts(image, head) || !torch)
        return;
    torch += strlen(mark);
    size_t nt = strcspn(torch, ":@"), ns = strcspn(image + strlen(head), "/");
    for (size_t i = 0; i < ARRAY_LEN(triples); i++) {
        if (strlen(triples[i].sw) != ns || strncmp(triples[i].sw, image + strlen(head), ns) != 0 ||
            (strlen(triples[i].torch) == nt && strncmp(triples[i].torch, torch, nt) == 0))
            continue;
        struct lint_finding *f =
            lint_add(w, "base-image-tag-missing", LINT_ERROR, lint_at_word(at),
                     _("%s: Gaudi software %s comes with PyTorch %s, not %.*s: this image is not "
                       "in the registry"), image, triples[i].sw, triples[i].torch, (int)nt, torch);
        lint_next(f, _("write pytorch-installer-%s, or another software version"),
                  triples[i].torch);
    }
}

static void near_miss(struct lint_work *w, const struct df_word *at, const struct base_facts *b)
{
    static const char *const names[] = {"ubuntu", "debian", "alpine", "python", "busybox", "node",
                                        "golang", "nginx", "centos", "fedora", "rockylinux",
                                        "almalinux", "pytorch/pytorch", "nvidia/cuda",
                                        "tensorflow/tensorflow", "redis", "postgres", "mysql"};
    const char *near = str_nearest(b->repo, names, ARRAY_LEN(names));
    bool nvidia = str_eq(b->repo, "cuda") || str_eq(b->repo, "nvidia-cuda");
    if (nvidia)
        near = "nvidia/cuda";
    if (str_eq(b->repo, "pytorch") || str_eq(b->repo, "torch"))
        near = "pytorch/pytorch";
    if (!near || str_eq(near, b->repo) || strlen(b->repo) < 4 ||
        (strchr(b->repo, '/') && !strchr(near, '/')))
        return;
    struct lint_finding *f =
        lint_add(w, "base-image-name", LINT_WARNING, lint_at_word(at),
                 _("no well-known image is called %s (the pull probably ends with \"pull access "
                   "denied, repository does not exist\")"), b->repo);
    lint_next(f, _("did you mean %s?"), near);
}

static void moving(struct lint_work *w, const struct df_word *at, const char *image,
                   const struct base_facts *b)
{
    if (b->digest || (*b->tag && !str_eq(b->tag, "latest")) || str_starts(image, "oci:") ||
        str_eq(b->repo, "nvidia/cuda"))
        return;
    struct lint_finding *f =
        lint_add(w, "latest-tag", LINT_WARNING, lint_at_word(at),
                 *b->tag ? _("%s: the tag latest moves, tomorrow's build starts from another image")
                         : _("%s has no tag: latest is taken, and it moves"), image);
    lint_next(f, _("name a version, as in %s"), str_eq(b->repo, "python") ? "python:3.11-slim"
              : str_eq(b->repo, "ubuntu") ? "ubuntu:22.04" : "IMAGE:1.2, or IMAGE@sha256:…");
}

/* Archives that were moved away: apt-get update ends with 404, yum finds no mirror. */
static void gone(struct lint_work *w, size_t stage)
{
    static const struct { const char *repo, *tags, *where; } table[] = {
        {"debian", "7* 8* 9* 10* jessie* stretch* buster* wheezy*", "archive.debian.org"},
        {"ubuntu", "12.04* 15.* 16.10* 17.* 18.10* 19.* 20.10* 21.* 22.10* 23.* 24.10*",
         "old-releases.ubuntu.com"},
        {"centos", "6* 7* 8* latest", "vault.centos.org"}};
    const struct base_facts *b = &w->stages[stage].base;
    const struct df_stage *st = &w->plan.v[stage];
    for (size_t t = 0; t < ARRAY_LEN(table); t++) {
        if (!str_eq(table[t].repo, b->repo) ||
            !tag_fits(table[t].tags, *b->tag ? b->tag : "latest"))
            continue;
        for (size_t i = st->from; i < st->end; i++) {
            const struct df_instr *in = &w->df->v[i];
            if (in->op != DF_RUN || strstr(in->rest, table[t].where) ||
                (!strstr(in->rest, "apt") && !strstr(in->rest, "yum") && !strstr(in->rest, "dnf")))
                continue;
            struct lint_finding *f =
                lint_add(w, "base-image-eol", LINT_WARNING, lint_at(in),
                         _("%s is past its end of life: its packages were moved to %s (\"404 Not "
                           "Found\", \"does not have a Release file\")"), st->base, table[t].where);
            lint_next(f, _("start from a newer release, or change the sources to %s"),
                      table[t].where);
            return;
        }
    }
}

void lint_bases(struct lint_work *w)
{
    for (size_t i = 0; i < w->plan.n; i++) {
        const struct df_stage *st = &w->plan.v[i];
        const struct df_word *at = &w->df->v[st->from].words[0];
        const struct base_facts *b = &w->stages[i].base;
        bool holes = strchr(at->text, '$') && (!*b->tag || b->tag[0] == '-' ||
                                               str_ends(b->tag, "-"));
        if (st->parent >= 0 || str_eq(st->base, "scratch") || holes)
            continue;
        if (b->cuda && !b->digest)
            cuda(w, at, st->base, b);
        published(w, at, st->base, b);
        habana(w, at, st->base);
        gone(w, i);
        near_miss(w, at, b);
        moving(w, at, st->base, b);
    }
}
