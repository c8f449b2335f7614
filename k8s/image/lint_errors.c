/* lint_errors.c - what a build said, explained: a table of patterns. {1} in a
 * text is the first group of its pattern. The first rule that fits a line has
 * it; general ones stand at the end and speak only when no other did. */
#include <regex.h>

#include "core/base/i18n.h"
#include "core/base/mem.h"
#include "core/base/utf8.h"
#include "k8s/image/lint_priv.h"

enum { GROUPS = 4, ERROR_LINES = 4000 };

static const struct said {
    const char *rule, *pattern, *cause, *next;
    bool general;
} table[] = {
    {"rootless-uid-range",
     "insufficient UIDs or GIDs available in user namespace \\(requested ([0-9]+):([0-9]+) for "
     "([^)]*)\\)",
     N_("the build runs without root and can't give {3} to {1}:{2}: {ids}"),
     N_("use an id below {count}, or widen /etc/subuid and /etc/subgid and run podman system "
        "migrate"),
     false},
    {"rootless-uid-range",
     "not be enough IDs available in the namespace \\(requested ([0-9]+):([0-9]+) for ([^)]*)\\)",
     N_("the build or pull runs without root and can't give {3} to {1}:{2}: {ids}"),
     N_("give your user a line in /etc/subuid and /etc/subgid (usermod --add-subuids "
        "100000-165535 --add-subgids 100000-165535 USER), then podman system migrate"), false},
    {"rootless-uid-range", "(lchown|chown) ([^ :]+): invalid argument",
     N_("an owner outside the ids of this user namespace is wanted for {2}: {ids}"),
     N_("use an id below {count}, or widen /etc/subuid and /etc/subgid and run podman system "
        "migrate"),
     false},
    {"rootless-uid-range", "(newuidmap|newgidmap): (write to uid_map failed|.*not allowed)",
     N_("your user has no range in /etc/subuid and /etc/subgid: {ids}"),
     N_("usermod --add-subuids 100000-165535 --add-subgids 100000-165535 USER"), false},
    {"base-image-tag-missing", "manifest for ([^ ]+) not found",
     N_("the registry has no {1}: the tag is wrong or was removed"),
     N_("look at the repository's tags (skopeo list-tags docker://…) and name one"), false},
    {"base-image-tag-missing", "([a-z0-9./_-]+:[A-Za-z0-9._-]+): not found",
     N_("the registry has no {1}: the tag is wrong or was removed"),
     N_("look at the repository's tags (skopeo list-tags docker://…) and name one"), false},
    {"base-image-tag-missing", "(reading manifest|Error reading manifest) ([^ ]+) in ([^ "
                               ":]+).*manifest unknown",
     N_("{3} has no tag {2}"),
     N_("look at the repository's tags (skopeo list-tags docker://{3}) and name one"), false},
    {"base-image-tag-missing", "manifest unknown", N_("the registry has no such tag"),
     N_("look at the repository's tags (skopeo list-tags docker://…) and name one"), false},
    {"registry-rate-limit", "toomanyrequests|pull rate limit",
     N_("Docker Hub's limit of pulls without a login is used up for this address"),
     N_("docker login, or name a mirror; a class shares one address"), false},
    {"base-image-denied", "pull access denied for ([^ ,]+)",
     N_("there is no {1} that you may pull: a wrong name looks the same as a private image"),
     N_("compare the name letter by letter; for a private image docker login first"), false},
    {"registry-login", "unauthorized: authentication required|no basic auth credentials|401 "
                       "Unauthorized",
     N_("the registry wants a login and got none, or a wrong one"),
     N_("docker login REGISTRY (podium: --user and --password-file)"), false},
    {"registry-tls", "server gave HTTP response to HTTPS client",
     N_("the registry speaks plain HTTP, the builder asked with TLS"),
     N_("name it under insecure-registries, or give podium --plain-http"), false},
    {"registry-tls", "x509: certificate signed by unknown authority",
     N_("the registry's certificate is of a CA that the builder does not trust"),
     N_("put the CA into /etc/docker/certs.d/HOST/ca.crt (podium: --ca-file)"), false},
    {"copy-outside-context", "[Ff]orbidden path outside the build context: ([^ ]+)",
     N_("{1} lies outside the build context"),
     N_("build from a folder above it, or copy it beside the Dockerfile"), false},
    {"copy-missing-file", "\"/?([^\"]+)\": not found",
     N_("{1} is not in the build context, or .dockerignore leaves it out"),
     N_("look at ls and .dockerignore in the context folder; names are compared letter by "
        "letter"), false},
    {"copy-missing-file", "stat ([^ :]+): (file does not exist|no such file or directory)",
     N_("{1} is not in the build context, or .dockerignore leaves it out"),
     N_("look at ls and .dockerignore in the context folder; names are compared letter by "
        "letter"), false},
    {"copy-missing-file", "copier: stat: \\\\?\"/?([^\"\\\\]+)",
     N_("{1} is not in the build context, or .dockerignore leaves it out"),
     N_("look at ls and .dockerignore in the context folder; names are compared letter by "
        "letter"), false},
    {"dockerfile-missing", "failed to read dockerfile: open ([^ :]+)",
     N_("there is no {1} in the context folder"),
     N_("name it with -f, and give the context folder as the last argument"), false},
    {"undefined-arg-in-from", "base name \\(([^)]*)\\) should not be blank",
     N_("FROM {1} is empty: no ARG before the first FROM gives the variable a value"),
     N_("put ARG with a default above FROM, or give --build-arg"), false},
    {"target-missing", "target stage \"?([^\" ]+)\"? could not be found",
     N_("no stage is called {1}"), N_("look at the names behind AS"), false},
    {"copy-from-unknown-stage", "invalid from flag value ([^ :]+)",
     N_("--from={1} is neither a stage above nor an image that can be pulled"),
     N_("compare with the names behind AS"), false},
    {"parse-error", "parse error on line ([0-9]+): (.*)", N_("line {1} can't be read: {2}"),
     N_("look at line {1}, and whether the line before it ends with \\"), false},
    {"parse-error", "[Uu]nknown instruction: ([^ ]+)",
     N_("{1} is no instruction: a typing error, or the line before lost its \\"),
     N_("begin the line with an instruction, or end the one before with \\"), false},
    {"package-not-found", "E: Unable to locate package ([^ ]+)",
     N_("the package lists have no {1}: no apt-get update in this RUN, a wrong name, or a package "
        "of "
        "another release"),
     N_("RUN apt-get update && apt-get install -y …; apt-cache policy {1} in the base image "
        "tells"), false},
    {"package-gone", "Package '?([^' ]+)'? has no installation candidate",
     N_("{1} is named in the archive, but this release has none"),
     N_("look for its new name (python -> python3, libgl1-mesa-glx -> libgl1)"), false},
    {"package-lists-stale", "404 +Not Found",
     N_("the package lists are older than the archive: a cached apt-get update layer"),
     N_("put update and install into one RUN, or build with --no-cache"), false},
    {"package-lists-stale", "does not have a Release file|Release file .* (expired|not valid yet)",
     N_("the archive has no such release any more, or the clock is wrong"),
     N_("take a newer base image (old releases move to old-releases or archive), or set the "
        "clock"), false},
    {"package-key", "NO_PUBKEY ([0-9A-F]+)",
     N_("the key {1} that signs the repository is not in the image"),
     N_("add the key (signed-by=/usr/share/keyrings/…); NVIDIA's changed in April 2022: take a "
        "newer "
        "nvidia/cuda tag"), false},
    {"package-conflict", "unmet dependencies|held broken packages",
     N_("the packages asked for do not fit together in this release"),
     N_("leave versions away, and do not mix releases in sources.list"), false},
    {"apt-no-yes", "Do you want to continue\\? \\[Y/n\\]", N_("apt-get asked, and nobody answered"),
     N_("write apt-get install -y"), false},
    {"network-name", "(Temporary failure resolving|Could not resolve host:?) '?([^' ]+)",
     N_("{2} can't be resolved inside the build: no DNS, or a proxy is needed"),
     N_("check the daemon's DNS; give --build-arg HTTPS_PROXY=…"), false},
    {"pip-externally-managed", "externally-managed-environment",
     N_("the distribution keeps pip out of its own Python (PEP 668)"),
     N_("python3 -m venv /opt/venv and ENV PATH=/opt/venv/bin:$PATH, or FROM "
        "python:3.11-slim"), false},
    {"pip-no-version", "(No matching distribution found for|satisfies the requirement) ([^ ]+)",
     N_("pip finds no {2} for this Python and processor"),
     N_("compare with the Python version of the base image; for torch+cuXXX give --index-url "
        "https://download.pytorch.org/whl/cuXXX"), false},
    {"cuda-needs-devel", "CUDA_HOME environment variable is not set|nvcc: (command )?not found",
     N_("CUDA code is compiled, and there is no nvcc in the image"),
     N_("take the -devel- image of nvidia/cuda for the stage that compiles"), false},
    {"pip-build-failed", "command '([^']*g?cc|[^']*g\\+\\+)' failed: No such file",
     N_("a wheel has to be compiled, and {1} is not there"),
     N_("apt-get install -y build-essential python3-dev in the same RUN, or a version with a "
        "wheel"), false},
    {"pip-build-failed", "Python\\.h: No such file", N_("Python's header files are not there"),
     N_("apt-get install -y python3-dev"), false},
    {"disk-full", "no space left on device",
     N_("the disk of the builder is full (layers and cache are there)"),
     N_("docker builder prune, docker system df; a .dockerignore keeps data and .git out"), false},
    {"build-memory", "signal: killed|exit code: 137|Killed signal terminated program|exit status "
                     "137",
     N_("a command was killed (137): most likely the memory ran out"),
     N_("give the builder more memory, or compile with fewer jobs (MAX_JOBS=2)"), false},
    {"exec-format", "exec format error",
     N_("a program for another processor, or a script without #!"),
     N_("build with --platform=linux/amd64; begin scripts with #!/bin/sh"), false},
    {"exec-missing", "exec: \"([^\"]+)\": executable file not found",
     N_("there is no program {1} in the image's PATH"),
     N_("compare with what the image has (python3, not python?); write its whole path"), false},
    {"exec-missing", "exec ([^ ]+): no such file or directory",
     N_("{1} is not there, or the interpreter in its first line is not (CR LF line ends do that)"),
     N_("dos2unix {1}, and look at its first line"), false},
    {"exec-permission", "exec:? \"?([^\" ]+)\"?: permission denied", N_("{1} has no x bit"),
     N_("chmod +x, or COPY --chmod=755"), false},
    {"command-not-installed", "sh: ([0-9]+: )?([^ :]+): not found",
     N_("{2} is not in the image (exit code 127)"),
     N_("install its package in a RUN above, or take an image that has it"), false},
    {"buildkit-needed", "(the --[a-z]+ option requires BuildKit|[Uu]nknown flag: "
                        "(mount|chmod|link|parents))",
     N_("this builder is older than the flag: {1}"),
     N_("DOCKER_BUILDKIT=1, or docker buildx build"), false},
    {"daemon-down", "Cannot connect to the Docker daemon|permission denied while trying to "
                    "connect to "
     "the Docker daemon", N_("the Docker daemon does not run, or you may not use its socket"),
     N_("start it; or use podman, buildah or podium image build, which need none"), false},
    {"wrong-platform", "no match for platform in manifest|does not match the (specified|detected) "
     "platform", N_("the image is not there for this processor"),
     N_("take a tag that lists linux/amd64"), false},
    {"layer-limit", "max depth exceeded", N_("an image may have 127 layers"),
     N_("join RUN lines with &&"), false},
    {"library-missing", "(lib[A-Za-z0-9_+-]+\\.so[.0-9]*): cannot open shared object",
     N_("the shared library {1} is not in the image"),
     N_("install its package (libGL.so.1: libgl1; libcudart: a runtime image of that "
        "CUDA)"), false},
    {"run-failed", "(did not complete successfully: exit code: |returned a non-zero code: |exit "
     "status )([0-9]+)", N_("a RUN ended with exit code {2}; the cause stands above this line"),
     N_("read the lines above from the first error on"), true},
};

static void expand(const char *template, const char *line, const regmatch_t *m, const char *ids,
                   int64_t count, struct str *out)
{
    for (const char *p = template; *p; p++) {
        if (p[0] == '{' && p[1] >= '1' && p[1] <= '3' && p[2] == '}') {
            const regmatch_t *g = &m[p[1] - '0'];
            if (g->rm_so >= 0)
                utf8_clean(line + g->rm_so, MIN((size_t)(g->rm_eo - g->rm_so), (size_t)200), false,
                           out);
            p += 2;
        } else if (str_starts(p, "{ids}")) {
            str_add(out, ids);
            p += 4;
        } else if (str_starts(p, "{count}")) {
            str_printf(out, "%lld", (long long)count);
            p += 6;
        } else {
            str_addc(out, *p);
        }
    }
}

static void found(struct lint_work *w, const struct said *s, const char *name, int number,
                  const char *line, const regmatch_t *m)
{
    char entry[128];
    int64_t count = lint_subuid_count(w->in->subuid, entry);
    struct str text, ids;
    str_init(&text, 2000);
    str_init(&ids, 400);
    str_printf(&ids, *entry ? _("subuid says %2$s, that is %1$lld ids")
                            : _("subuid and subgid give %lld ids as a "
                                "rule"), (long long)count, entry);
    expand(_(s->cause), line, m, ids.p, count, &text);
    struct place at = {number, 1 + (int)m[0].rm_so};
    struct lint_finding *f = lint_add(w, s->rule, LINT_ERROR, at, "%s", text.p);
    if (f) {
        free(f->file);
        f->file = xstrdup(name);
        str_clear(&text);
        utf8_clean(line, MIN(strlen(line), (size_t)300), false, &text);
        lint_evidence(f, "%s:%d: %s", name, number, text.p);
        str_clear(&text);
        expand(_(s->next), line, m, ids.p, count, &text);
        lint_next(f, "%s", text.p);
    }
    str_release(&text);
    str_release(&ids);
}

/* Every line against every pattern of one kind; how many were found. */
static size_t scan(struct lint_work *w, const char *name, const struct strv *lines, bool general)
{
    size_t before = w->out->n;
    bool *told = xcalloc(lines->n + 1, sizeof *told);
    for (size_t t = 0; t < ARRAY_LEN(table); t++) {
        regex_t re;
        regmatch_t m[GROUPS];
        if (table[t].general != general)
            continue;
        if (regcomp(&re, table[t].pattern, REG_EXTENDED) != 0)
            PD_BUG("pattern %s", table[t].pattern);
        for (size_t i = 0; i < MIN(lines->n, (size_t)ERROR_LINES); i++) {
            if (told[i] || strlen(lines->v[i]) > 4000 ||
                regexec(&re, lines->v[i], GROUPS, m, 0) != 0)
                continue;
            told[i] = true;
            bool known = false;               /* the same cause in other words, once */
            for (size_t k = before; k < w->out->n; k++)
                known = known || str_eq(w->out->v[k].rule, table[t].rule);
            if (!known)
                found(w, &table[t], name, (int)i + 1, lines->v[i], m);
        }
        regfree(&re);
    }
    free(told);
    return w->out->n - before;
}

void lint_errors(struct lint_work *w, const char *name, const char *text)
{
    struct strv lines;
    size_t n = 0;
    strv_init(&lines);
    strv_split(&lines, text, '\n');
    for (size_t i = 0; i < lines.n; i++) {
        size_t len = strlen(lines.v[i]);
        if (len && lines.v[i][len - 1] == '\r')
            lines.v[i][len - 1] = '\0';
        n += len > 0;
    }
    if (n && scan(w, name, &lines, false) == 0 && scan(w, name, &lines, true) == 0) {
        struct lint_finding *f =
            lint_add(w, "error-unknown", LINT_NOTE, (struct place){1, 1},
                     _("no rule knows this error: it can't be told from the text what is wrong"));
        if (f) {
            free(f->file);
            f->file = xstrdup(name);
            lint_evidence(f, "%s:1: %.200s", name, lines.v[0]);
        }
        lint_next(f, "%s", _("give the whole output of the build, from the first error on"));
    }
    strv_release(&lines);
}
