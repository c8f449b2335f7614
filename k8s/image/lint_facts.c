/* lint_facts.c - facts about well-known images and archives, by name alone.
 * Python of the archives: packages.ubuntu.com, packages.debian.org (2025). */
#include <ctype.h>

#include "k8s/image/lint_priv.h"
#include "k8s/image/ref.h"

/* --- releases ------------------------------------------------------------------- */

static const struct release {
    enum distro distro;
    int major, minor;
    const char *code, *pythons;   /* python3.X packages of its archive */
} releases[] = {
    {DISTRO_UBUNTU, 18, 4, "bionic", "3.6 3.7 3.8"}, {DISTRO_UBUNTU, 20, 4, "focal", "3.8 3.9"},
    {DISTRO_UBUNTU, 22, 4, "jammy", "3.10 3.11"},    {DISTRO_UBUNTU, 24, 4, "noble", "3.12"},
    {DISTRO_UBUNTU, 24, 10, "oracular", "3.12 3.13"}, {DISTRO_UBUNTU, 25, 4, "plucky", "3.13"},
    {DISTRO_DEBIAN, 10, 0, "buster", "3.7"},         {DISTRO_DEBIAN, 11, 0, "bullseye", "3.9"},
    {DISTRO_DEBIAN, 12, 0, "bookworm", "3.11"},      {DISTRO_DEBIAN, 13, 0, "trixie", "3.13"},
};

static bool has_word(const char *list, const char *word)
{
    size_t n = strlen(word);
    for (const char *p = list; (p = strstr(p, word)); p += n)
        if ((p == list || p[-1] == ' ') && (p[n] == ' ' || !p[n]))
            return true;
    return false;
}

const char *lint_facts_distro(const struct base_facts *b, char buf[32])
{
    if (b->distro == DISTRO_UBUNTU && b->major)
        return str_fmt(buf, 32, "Ubuntu %d.%02d", b->major, b->minor);
    if (b->distro == DISTRO_DEBIAN && b->major)
        return str_fmt(buf, 32, "Debian %d", b->major);
    return b->distro == DISTRO_UBUNTU ? "Ubuntu" : b->distro == DISTRO_DEBIAN ? "Debian"
         : b->distro == DISTRO_ALPINE ? "Alpine" : "";
}

int lint_facts_python(const struct base_facts *b, const char *version)
{
    for (size_t i = 0; i < ARRAY_LEN(releases); i++)
        if (releases[i].distro == b->distro && releases[i].major == b->major &&
            releases[i].minor == b->minor)
            return has_word(releases[i].pythons, version);
    return -1;
}

void lint_facts_python_where(const char *version, bool have, struct str *out)
{
    for (size_t i = 0; i < ARRAY_LEN(releases); i++) {
        struct base_facts b = {.distro = releases[i].distro, .major = releases[i].major,
                               .minor = releases[i].minor};
        char name[32];
        if (has_word(releases[i].pythons, version) != have || b.minor == 10)
            continue;
        str_printf(out, "%s%s", out->len ? ", " : "", lint_facts_distro(&b, name));
    }
}

/* A release in a tag: "22.04", "jammy", "ubuntu22.04", "12", "bookworm-slim". */
static void read_release(const char *tag, enum distro hint, struct base_facts *out)
{
    for (size_t i = 0; i < ARRAY_LEN(releases); i++) {
        const struct release *r = &releases[i];
        char number[16], named[32];
        str_fmt(number, sizeof number, r->distro == DISTRO_UBUNTU ? "%d.%02d" : "%d", r->major,
                r->minor);
        str_fmt(named, sizeof named, "ubuntu%s", number);
        size_t n = strlen(number);
        bool plain = hint == r->distro && str_starts(tag, number) &&
                     (!tag[n] || tag[n] == '-' || tag[n] == '.');
        if (strstr(tag, r->code) || plain || (r->distro == DISTRO_UBUNTU && strstr(tag, named))) {
            out->distro = r->distro;
            out->major = r->major;
            out->minor = r->minor;
        }
    }
    if (strstr(tag, "alpine"))
        out->distro = DISTRO_ALPINE;
    if (strstr(tag, "rockylinux") || strstr(tag, "ubi") || strstr(tag, "centos"))
        out->distro = DISTRO_RPM;
}

/* --- images ---------------------------------------------------------------------- */

static const struct known {
    const char *repo;             /* a "/" at the end: all below it */
    enum distro distro;
    bool bare, python;
} known[] = {
    {"ubuntu", DISTRO_UBUNTU, true, false},      {"debian", DISTRO_DEBIAN, true, false},
    {"alpine", DISTRO_ALPINE, true, false},      {"busybox", DISTRO_NONE, true, false},
    {"scratch", DISTRO_NONE, true, false},       {"nvidia/cuda", DISTRO_UBUNTU, true, false},
    {"python", DISTRO_DEBIAN, false, true},      {"pytorch/pytorch", DISTRO_UBUNTU, false, true},
    {"tensorflow/tensorflow", DISTRO_UBUNTU, false, true},
    {"nvcr.io/nvidia/pytorch", DISTRO_UBUNTU, false, true},
    {"nvcr.io/nvidia/tensorflow", DISTRO_UBUNTU, false, true},
    {"continuumio/", DISTRO_DEBIAN, false, true}, {"condaforge/", DISTRO_UBUNTU, false, true},
    {"jupyter/", DISTRO_UBUNTU, false, true},    {"quay.io/jupyter/", DISTRO_UBUNTU, false, true},
    {"huggingface/", DISTRO_UBUNTU, false, true},
    {"vault.habana.ai/gaudi-docker/", DISTRO_UBUNTU, false, true},
    {"node", DISTRO_DEBIAN, false, false},       {"golang", DISTRO_DEBIAN, false, false},
    {"rust", DISTRO_DEBIAN, false, false},       {"gcc", DISTRO_DEBIAN, false, false},
    {"nginx", DISTRO_DEBIAN, false, false},      {"fedora", DISTRO_RPM, false, false},
    {"rockylinux", DISTRO_RPM, false, false},    {"almalinux", DISTRO_RPM, false, false},
    {"centos", DISTRO_RPM, false, false},        {"amazonlinux", DISTRO_RPM, false, false},
    {"registry.access.redhat.com/", DISTRO_RPM, false, false},
    {"gcr.io/distroless/", DISTRO_NONE, false, false},
};

static const struct known *find_known(const char *repo)
{
    for (size_t i = 0; i < ARRAY_LEN(known); i++)
        if (str_ends(known[i].repo, "/") ? str_starts(repo, known[i].repo)
                                         : str_eq(repo, known[i].repo))
            return &known[i];
    return NULL;
}

static void read_cuda(struct base_facts *out)
{
    static const char *const flavours[] = {"devel", "runtime", "base"};
    size_t n = strspn(out->tag, "0123456789.");
    str_fmt(out->cuda_version, sizeof out->cuda_version, "%.*s", (int)MIN(n, (size_t)15),
            out->tag);
    out->cuda = true;
    for (size_t i = 0; i < ARRAY_LEN(flavours); i++)
        if (strstr(out->tag, flavours[i]))
            str_copy(out->flavour, sizeof out->flavour, flavours[i]);
}

void lint_facts_base(const char *image, struct base_facts *out)
{
    static const char *const homes[] = {"docker.io/library/", "docker.io/", "index.docker.io/",
                                        "library/"};
    memset(out, 0, sizeof *out);
    for (size_t i = 0; i < ARRAY_LEN(homes); i++)
        if (str_starts(image, homes[i]))
            image += strlen(homes[i]);
    const char *at = strchr(image, '@'), *slash = strrchr(image, '/');
    const char *colon = strchr(slash ? slash : image, ':');
    size_t end = at ? (size_t)(at - image) : strlen(image);
    if (colon && at && colon > at)
        colon = NULL;
    str_fmt(out->repo, sizeof out->repo, "%.*s", (int)(colon ? (size_t)(colon - image) : end),
            image);
    if (colon)
        str_fmt(out->tag, sizeof out->tag, "%.*s", (int)(end - (size_t)(colon + 1 - image)),
                colon + 1);
    out->digest = at != NULL;
    const struct known *k = find_known(out->repo);
    if (k) {
        out->distro = k->distro;
        out->bare = k->bare;
        out->python = out->pip = k->python;
    }
    if (k && k->distro != DISTRO_NONE)
        read_release(str_starts(out->repo, "vault.habana.ai/") ? out->repo : out->tag, k->distro,
                     out);
    if (str_eq(out->repo, "nvidia/cuda"))
        read_cuda(out);
    /* without its own release a tag of python, node… means the newest Debian */
    if (k && str_eq(k->repo, "nvidia/cuda") && !out->major && out->distro == DISTRO_UBUNTU)
        out->distro = DISTRO_UNKNOWN;
}

/* --- programs -------------------------------------------------------------------- */

const char *lint_facts_package(const char *program)
{
    static const struct { const char *program, *package; } table[] = {
        {"curl", "curl"},      {"wget", "wget"},         {"git", "git"},
        {"python3", "python3"}, {"python", "python3"},   {"pip", "python3-pip"},
        {"pip3", "python3-pip"}, {"make", "make"},       {"gcc", "gcc"},
        {"g++", "g++"},        {"cc", "gcc"},            {"cmake", "cmake"},
        {"unzip", "unzip"},    {"vim", "vim"},           {"nano", "nano"},
        {"ping", "iputils-ping"}, {"sudo", "sudo"},      {"jq", "jq"},
        {"node", "nodejs"},    {"npm", "npm"},           {"java", "default-jre-headless"},
        {"ssh", "openssh-client"}, {"rsync", "rsync"},   {"xz", "xz-utils"},
        {"gpg", "gnupg"},      {"add-apt-repository", "software-properties-common"},
        {"ffmpeg", "ffmpeg"},  {"ps", "procps"},         {"ip", "iproute2"}};
    for (size_t i = 0; i < ARRAY_LEN(table); i++)
        if (str_eq(table[i].program, program))
            return table[i].package;
    return NULL;
}
