/* lint_runs.c - what RUN does: package managers, commands that are not there,
 * effects that do not last. It also learns what a stage has. */
#include <ctype.h>

#include "core/base/i18n.h"
#include "core/base/mem.h"
#include "k8s/image/lint_priv.h"

struct run {
    struct lint_work *w;
    const struct df_instr *in;
    struct stage_facts *s;
    struct sh_list l;
};

static bool is_apt(const struct sh_cmd *c)
{
    return str_eq(c->words.v[0], "apt-get") || str_eq(c->words.v[0], "apt") ||
           str_eq(c->words.v[0], "aptitude");
}

static const char *action(const struct sh_cmd *c)
{
    for (size_t i = 1; i < c->words.n; i++) {
        if (c->words.v[i][0] != '-')
            return c->words.v[i];
        if (str_eq(c->words.v[i], "-o") || str_eq(c->words.v[i], "-t"))
            i++;
    }
    return "";
}

static bool says_yes(const struct sh_cmd *c)
{
    for (size_t i = 1; i < c->words.n; i++) {
        const char *x = c->words.v[i];
        if (str_eq(x, "--yes") || str_eq(x, "--assume-yes") || str_eq(x, "-qq") ||
            str_starts(x, "--force-yes") || strstr(x, "Assume-Yes") ||
            (x[0] == '-' && x[1] != '-' && strchr(x, 'y')) ||
            (x[0] == '-' && x[1] != '-' && strstr(x, "qq")))
            return true;
    }
    return false;
}

/* Names of packages of an install command, versions cut off. */
static void packages(const struct sh_cmd *c, struct strv *out)
{
    bool behind = false;
    for (size_t i = 1; i < c->words.n; i++) {
        const char *x = c->words.v[i];
        if (str_eq(x, "-o") || str_eq(x, "-t") || str_eq(x, "--virtual")) {
            i++;
            continue;
        }
        if (behind && x[0] != '-' && x[0] != '>' && !strchr(x, '$'))
            strv_pushf(out, "%.*s", (int)strcspn(x, "=<>~:/"), x);
        behind = behind || str_eq(x, "install") || str_eq(x, "add") || str_eq(x, "groupinstall");
    }
}

static bool run_has(const struct run *r, const char *text)
{
    return strstr(r->in->rest, text) ||
           (r->in->nheredocs && strstr(r->in->heredocs[0].text, text));
}

static bool cache_mount(const struct run *r, const char *path)
{
    for (size_t i = 0; i < r->in->nflags; i++)
        if (strstr(r->in->flags[i].text, "type=cache") && strstr(r->in->flags[i].text, path))
            return true;
    return false;
}

static void python_package(struct run *r, const char *package)
{
    char distro[32];
    struct str have;
    const char *version = package + strlen("python");
    if (!str_starts(package, "python3.") || !isdigit((unsigned char)package[8]) ||
        run_has(r, "deadsnakes") || r->s->unknown)
        return;
    char number[16];
    str_fmt(number, sizeof number, "%.*s", (int)strspn(version, "0123456789."), version);
    int there = lint_facts_python(&r->s->base, number);
    bool any = r->s->base.cuda && there < 0;
    if (there == 1 || (there < 0 && !any))
        return;
    str_init(&have, 400);
    lint_facts_python_where(number, true, &have);
    struct lint_finding *f;
    struct place p = lint_find(r->w, r->in, package);
    if (there == 0) {
        lint_facts_distro(&r->s->base, distro);
        f = lint_add(r->w, "python-not-in-archive", LINT_ERROR, p,
                     _("%s is not in the archive of %s (\"E: Unable to locate package "
                       "%s\")"), package,
                     distro, package);
    } else {
        struct str not_there;
        str_init(&not_there, 400);
        lint_facts_python_where(number, false, &not_there);
        f = lint_add(r->w, "python-not-in-archive", LINT_WARNING, p,
                     _("%s is in the archive of %s only; it is not in that of %s, so the system in "
                       "the base image's tag decides"), package, have.len ? have.p : "-",
                     not_there.p);
        str_release(&not_there);
    }
    if (have.len)
        lint_next(f, _("install python3, or start from one of these: %s; or FROM python:%s-slim"),
                  have.p, number);
    else
        lint_next(f, _("install python3, or FROM python:%s-slim"), number);
    str_release(&have);
}

static void old_names(struct run *r, const char *package)
{
    static const struct { const char *old, *instead; } table[] = {
        {"python", "python3"}, {"python-pip", "python3-pip"}, {"python-dev", "python3-dev"},
        {"python-virtualenv", "python3-venv"}, {"libgl1-mesa-glx", "libgl1"},
        {"netcat", "netcat-openbsd"}, {"mysql-client", "default-mysql-client"}};
    const struct base_facts *b = &r->s->base;
    bool fresh = (b->distro == DISTRO_UBUNTU && b->major >= 20) ||
                 (b->distro == DISTRO_DEBIAN && b->major >= 11);
    bool glx = (b->distro == DISTRO_UBUNTU && b->major >= 24) ||
               (b->distro == DISTRO_DEBIAN && b->major >= 12);
    for (size_t i = 0; fresh && i < ARRAY_LEN(table); i++) {
        if (!str_eq(package, table[i].old) || (i >= 4 && !glx) ||
            (i == 6 && b->distro == DISTRO_UBUNTU))
            continue;
        char distro[32];
        struct lint_finding *f =
            lint_add(r->w, "package-gone", LINT_ERROR, lint_find(r->w, r->in, package),
                     _("the package %s is no more in %s (\"Package '%s' has no installation "
                       "candidate\")"), package, lint_facts_distro(b, distro), package);
        lint_next(f, _("install %s"), table[i].instead);
    }
}

static void apt_install(struct run *r, const struct sh_cmd *c, bool updated_here)
{
    struct lint_work *w = r->w;
    struct place p = lint_find(w, r->in, c->words.v[0]);
    struct lint_finding *f;
    struct strv names;
    strv_init(&names);
    packages(c, &names);
    if (!says_yes(c)) {
        f = lint_add(w, "apt-no-yes", LINT_ERROR, p,
                     _("%s %s asks \"Do you want to continue? [Y/n]\", nobody answers in a build, "
                       "and it "
                       "aborts"), c->words.v[0], action(c));
        lint_next(f, _("write %s %s -y"), c->words.v[0], action(c));
    }
    if (!updated_here && !cache_mount(r, "/var/lib/apt") && names.n && !r->s->unknown) {
        f = lint_add(w, "apt-no-update", r->s->updated ? LINT_WARNING
                     : r->s->base.bare ? LINT_ERROR : LINT_WARNING, p,
                     r->s->updated
                         ? _("apt-get update stands in another RUN: its layer is cached, and "
                             "install asks for packages (%s) that are no more there")
                         : _("there are no package lists in the image: \"E: Unable to locate "
                             "package "
                             "%s\""), names.v[0]);
        lint_next(f, "%s", _("write RUN apt-get update && apt-get install -y … in one RUN"));
    }
    if (str_eq(c->words.v[0], "apt")) {
        f = lint_add(w, "apt-for-people", LINT_NOTE, p,
                     _("apt is made for people at a terminal; its options and output change"));
        lint_next(f, "%s", _("write apt-get"));
    }
    if (!run_has(r, "/var/lib/apt/lists") && !cache_mount(r, "/var/lib/apt")) {
        f = lint_add(w, "apt-lists-kept", LINT_NOTE, p,
                     _("the package lists (about 40 MB) stay in the layer"));
        lint_next(f, "%s", _("end the RUN with && rm -rf /var/lib/apt/lists/*"));
    }
    for (size_t i = 0; i < names.n; i++) {
        python_package(r, names.v[i]);
        old_names(r, names.v[i]);
        if ((str_eq(names.v[i], "tzdata") || str_eq(names.v[i], "keyboard-configuration")) &&
            !run_has(r, "noninteractive") && !strv_has(&r->s->packages, "DEBIAN_FRONTEND")) {
            f = lint_add(w, "apt-asks", LINT_WARNING, lint_find(w, r->in, names.v[i]),
                         _("%s asks for your region while it is installed, and the build waits for "
                           "ever"), names.v[i]);
            lint_next(f, "%s", _("write DEBIAN_FRONTEND=noninteractive apt-get install -y …"));
        }
        strv_push(&r->s->packages, names.v[i]);
    }
    strv_release(&names);
}

static void wrong_manager(struct run *r, const struct sh_cmd *c)
{
    static const struct { const char *program; enum distro distro; const char *instead; } of[] = {
        {"apt-get", DISTRO_DEBIAN, ""}, {"apt", DISTRO_DEBIAN, ""},
        {"apk", DISTRO_ALPINE, ""}, {"yum", DISTRO_RPM, ""}, {"dnf", DISTRO_RPM, ""},
        {"microdnf", DISTRO_RPM, ""}};
    static const char *const managers[] = {[DISTRO_UBUNTU] = "apt-get install -y",
                                           [DISTRO_DEBIAN] = "apt-get install -y",
                                           [DISTRO_ALPINE] = "apk add --no-cache",
                                           [DISTRO_RPM] = "dnf install -y",
                                           [DISTRO_NONE] = "", [DISTRO_UNKNOWN] = ""};
    enum distro d = r->s->base.distro;
    for (size_t i = 0; i < ARRAY_LEN(of); i++) {
        bool fits = of[i].distro == d || (of[i].distro == DISTRO_DEBIAN && d == DISTRO_UBUNTU);
        if (!str_eq(c->words.v[0], of[i].program) || d == DISTRO_UNKNOWN || fits ||
            r->s->unknown)
            continue;
        struct lint_finding *f =
            lint_add(r->w, "wrong-package-manager", LINT_ERROR,
                     lint_find(r->w, r->in, of[i].program),
                     _("%s is not in %s%s%s (\"%s: not found\", exit code 127)"), of[i].program,
                     r->s->base.repo, *r->s->base.tag ? ":" : "", r->s->base.tag, of[i].program);
        lint_next(f, *managers[d] ? _("write %s") : _("this image has no package manager%s: COPY "
                                                      "--from another stage"), managers[d]);
    }
}

/* Does a package that is installed bring it? */
static bool brought(const struct stage_facts *s, const char *program, const char *package)
{
    static const char *const own[] = {"wget", "unzip", "ping", "ps"};       /* busybox */
    bool compiler = strstr("gcc g++ make cc", program) != NULL;
    for (size_t i = 0; s->base.distro == DISTRO_ALPINE && i < ARRAY_LEN(own); i++)
        if (str_eq(program, own[i]))
            return true;
    for (size_t i = 0; i < s->packages.n; i++) {
        const char *p = s->packages.v[i];
        if (str_eq(p, package) || str_eq(p, program) ||
            (compiler && (str_eq(p, "build-essential") || str_eq(p, "build-base"))) ||
            (str_starts(package, "python3") && str_starts(p, "python")))
            return true;
    }
    return false;
}

/* A program that comes with no package so far. Only where all is known. */
static void not_there(struct run *r, const struct sh_cmd *c)
{
    const char *program = c->words.v[0], *package = lint_facts_package(program);
    const struct stage_facts *s = r->s;
    if (!package || !s->base.bare || s->unknown || s->base.distro == DISTRO_NONE ||
        (s->base.cuda && str_eq(s->base.flavour, "devel")))
        return;
    if (brought(s, program, package))
        return;
    struct lint_finding *f =
        lint_add(r->w, "command-not-installed", LINT_ERROR, lint_find(r->w, r->in, program),
                 _("%s is not in %s%s%s and no line above installs it (\"%s: not found\", exit "
                   "code "
                   "127)"), program, s->base.repo, *s->base.tag ? ":" : "", s->base.tag, program);
    lint_next(f, s->base.distro == DISTRO_ALPINE ? _("add RUN apk add --no-cache %s above")
                                                 : _("add it above: apt-get update && apt-get "
                                                     "install -y %s"), package);
}

/* --- effects that end with the RUN ------------------------------------------------ */

static void lost(struct run *r)
{
    static const struct { const char *word, *what, *next; } table[] = {
        {"cd", N_("the folder of cd is forgotten: the next instruction starts in WORKDIR again"),
         N_("write WORKDIR")},
        {"export", N_("the variable of export is forgotten: each RUN is a new shell"),
         N_("write ENV")},
        {"alias", N_("the alias is forgotten: each RUN is a new shell"), N_("write a script for "
            "it:")},
        {"source", N_("what source sets is forgotten: each RUN is a new shell"),
         N_("write ENV lines for what it sets, or use it in the RUN that needs it:")},
        {".", N_("what the script sets is forgotten: each RUN is a new shell"),
         N_("write ENV PATH=… for what it sets, or use it in the RUN that needs it:")},
        {"conda", N_("conda activate is forgotten: each RUN is a new shell"),
         N_("write ENV PATH=/opt/conda/envs/NAME/bin:$PATH, or conda run -n")}};
    const struct sh_cmd *last = r->l.n ? &r->l.v[r->l.n - 1] : NULL;
    if (!last || r->in->json)
        return;
    for (size_t i = 0; i < ARRAY_LEN(table); i++) {
        const char *arg = last->words.n > 1 ? last->words.v[last->words.n - 1] : "";
        if (!str_eq(last->words.v[0], table[i].word) ||
            (str_eq(table[i].word, "conda") && !lint_word(last, "activate")) ||
            (last->before && last->before != '&' && last->before != ';'))
            continue;
        struct lint_finding *f = lint_add(r->w, "lost-after-run", LINT_WARNING,
                                          lint_find(r->w, r->in, last->words.v[0]), "%s",
                                          _(table[i].what));
        lint_next(f, "%s %s", _(table[i].next), arg);
    }
}

static void shell_words(struct run *r, const struct sh_cmd *c)
{
    struct lint_finding *f = NULL;
    bool dash = r->s->base.distro == DISTRO_UBUNTU || r->s->base.distro == DISTRO_DEBIAN;
    if (!dash || r->s->bash || r->in->json || (r->in->nheredocs && run_has(r, "#!")))
        return;
    if (str_eq(c->words.v[0], "source")) {
        f = lint_add(r->w, "bash-word-in-sh", LINT_ERROR, lint_find(r->w, r->in, "source"),
                     _("RUN uses /bin/sh, which is dash here: it has no source (\"source: not "
                       "found\")"));
        lint_next(f, _("write . %s"), c->words.n > 1 ? c->words.v[1] : "FILE");
    } else if (str_eq(c->words.v[0], "[[") || str_eq(c->words.v[0], "pushd") ||
               str_eq(c->words.v[0], "shopt")) {
        f = lint_add(r->w, "bash-word-in-sh", LINT_ERROR, lint_find(r->w, r->in, c->words.v[0]),
                     _("RUN uses /bin/sh, which is dash here: it has no %s"), c->words.v[0]);
        lint_next(f, "%s", _("write it for sh, or RUN [\"/bin/bash\", \"-c\", \"…\"]"));
    }
}

static void sudo(struct run *r)
{
    bool command = false;
    for (const char *p = r->in->rest; (p = strstr(p, "sudo ")) && !command; p++) {
        const char *q = p;
        while (q > r->in->rest && isspace((unsigned char)q[-1]))
            q--;
        command = q == r->in->rest || strchr("&|;({", q[-1]);
    }
    if (!command || strv_has(&r->s->packages, "sudo") || !r->s->base.bare || r->s->unknown)
        return;
    struct lint_finding *f =
        lint_add(r->w, "sudo-in-build", LINT_ERROR, lint_find(r->w, r->in, "sudo"),
                 _("sudo is not in %s, and RUN is root anyway (\"sudo: not found\")"),
                 r->s->base.repo);
    lint_next(f, "%s", _("leave sudo away"));
}

/* Does this bring programs that no table knows? */
static bool brings_unknown(const struct run *r, const struct sh_cmd *c)
{
    static const char *const bringers[] = {"sh", "bash", "make", "tar", "dpkg", "ln", "cp", "mv",
                                           "unzip", "conda", "mamba", "rpm", "install", "go",
                                           "cargo", "npm", "cmake", "./configure", "uv", "rsync",
                                           "update-alternatives"};
    bool alias = (str_eq(c->words.v[0], "ln") || str_eq(c->words.v[0], "update-alternatives")) &&
                 strstr(c->text, "python");
    if (alias) {                          /* a name for python, nothing more */
        strv_push(&r->s->packages, "python");
        return false;
    }
    for (size_t i = 0; i < ARRAY_LEN(bringers); i++)
        if (str_eq(c->words.v[0], bringers[i]))
            return true;
    return strchr(c->words.v[0], '/') || run_has(r, "add-apt-repository") ||
           run_has(r, "sources.list") ||
           ((str_eq(c->words.v[0], "curl") || str_eq(c->words.v[0], "wget")));
}

static void one_command(struct run *r, struct sh_cmd *c, bool *updated)
{
    wrong_manager(r, c);
    if (is_apt(c) && str_eq(action(c), "update"))
        *updated = true;
    if (is_apt(c) && (str_eq(action(c), "install") || str_eq(action(c), "upgrade") ||
                      str_eq(action(c), "dist-upgrade")))
        apt_install(r, c, *updated);
    else if (str_eq(c->words.v[0], "apk") || str_eq(c->words.v[0], "yum") ||
             str_eq(c->words.v[0], "dnf") || str_eq(c->words.v[0], "microdnf"))
        packages(c, &r->s->packages);
    else
        not_there(r, c);
    shell_words(r, c);
    lint_pip(r->w, r->in, r->s, &r->l, c);
    if (brings_unknown(r, c))
        r->s->unknown = true;
    if (str_eq(c->words.v[0], "git") || str_eq(c->words.v[0], "curl") ||
        str_eq(c->words.v[0], "wget") || str_eq(c->words.v[0], "tee") || run_has(r, ">"))
        r->s->files = true;
}

static void one_run(struct run *r)
{
    bool updated = false;
    lint_shell_split(r->in, &r->l);
    for (size_t i = 0; i < r->l.n; i++)
        one_command(r, &r->l.v[i], &updated);
    sudo(r);
    lost(r);
    if (updated && !run_has(r, "/var/lib/apt/lists"))
        r->s->updated = true;
    lint_shell_release(&r->l);
}

static void inherit(struct stage_facts *to, const struct stage_facts *from)
{
    to->base = from->base;
    to->unknown = from->unknown;
    to->updated = from->updated;
    to->files = from->files;
    to->bash = from->bash;
    to->workdir = from->workdir;
    for (size_t i = 0; i < from->packages.n; i++)
        strv_push(&to->packages, from->packages.v[i]);
}

/* What other instructions tell about a stage. */
static void learn(struct stage_facts *s, const struct df_instr *in)
{
    if (in->op == DF_SHELL)
        s->bash = in->nwords && !str_eq(in->words[0].text, "/bin/sh");
    if (in->op == DF_ENV && strstr(in->rest, "DEBIAN_FRONTEND"))
        strv_push(&s->packages, "DEBIAN_FRONTEND");
    if (in->op == DF_ARG && strstr(in->rest, "DEBIAN_FRONTEND"))
        strv_push(&s->packages, "DEBIAN_FRONTEND");
    if (in->op == DF_ENV && strstr(in->rest, "PATH="))
        s->unknown = true;
    if (in->op == DF_COPY || in->op == DF_ADD) {
        const char *dest = in->nwords ? in->words[in->nwords - 1].text : "";
        s->files = true;
        s->unknown = s->unknown || strstr(dest, "bin") || strstr(dest, "/usr") ||
                     (str_eq(dest, "/") && !strchr(in->words[0].text, '.')) ||
                     dockerfile_flag(in, "from") || in->op == DF_ADD;
    }
}

void lint_runs(struct lint_work *w)
{
    for (size_t i = 0; i < w->df->n; i++) {
        int at = dockerfile_plan_at(&w->plan, i);
        if (at < 0)
            continue;
        struct run r = {.w = w, .in = &w->df->v[i], .s = &w->stages[at]};
        if (r.in->op == DF_FROM && w->plan.v[at].parent >= 0)
            inherit(r.s, &w->stages[w->plan.v[at].parent]);
        if (r.in->op == DF_RUN)
            one_run(&r);
        else
            learn(r.s, r.in);
    }
}
