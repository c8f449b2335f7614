/* ref.c - parses image references by hand: each part has a scanner that says
 * how far it matches. Grammar: github.com/distribution/reference. */
#include "k8s/image/ref.h"

#include <ctype.h>

#include "core/base/i18n.h"
#include "core/base/str.h"

static bool is_lower_alnum(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}

static bool is_alnum(char c)
{
    return is_lower_alnum(c) || (c >= 'A' && c <= 'Z');
}

static bool is_hex(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

/* Length of a separator inside a path component: "." "_" "__" or dashes. */
static size_t separator_len(const char *s)
{
    if (s[0] == '.')
        return 1;
    if (s[0] == '_')
        return s[1] == '_' ? 2 : 1;
    return strspn(s, "-");
}

/* Length of one path component at s, 0 when there is none. */
static size_t component_len(const char *s)
{
    size_t n = 0;
    while (is_lower_alnum(s[n]))
        n++;
    if (n == 0)
        return 0;
    for (;;) {
        size_t sep = separator_len(s + n), m = n + sep;
        while (is_lower_alnum(s[m]))
            m++;
        if (sep == 0 || m == n + sep)
            return n;
        n = m;
    }
}

static size_t repository_len(const char *s)
{
    size_t n = component_len(s);
    while (n > 0 && s[n] == '/') {
        size_t m = component_len(s + n + 1);
        if (m == 0)
            return n;
        n += 1 + m;
    }
    return n;
}

bool ref_repository_valid(const char *s)
{
    size_t n = repository_len(s);
    return n > 0 && s[n] == '\0' && n <= REF_REPO_MAX;
}

static size_t tag_len(const char *s)
{
    if (!is_alnum(s[0]) && s[0] != '_')
        return 0;
    size_t n = 1;
    while (n < REF_TAG_MAX && (is_alnum(s[n]) || (s[n] && strchr("_.-", s[n]))))
        n++;
    return n;
}

bool ref_tag_valid(const char *s)
{
    size_t n = tag_len(s);
    return n > 0 && s[n] == '\0';
}

bool ref_digest_valid(const char *s)
{
    static const struct {
        const char *prefix;
        size_t hex;
    } kinds[] = {{"sha256:", 64}, {"sha512:", 128}, {"sha384:", 96}};
    for (size_t k = 0; k < ARRAY_LEN(kinds); k++) {
        if (!str_starts(s, kinds[k].prefix))
            continue;
        const char *hex = s + strlen(kinds[k].prefix);
        return strspn(hex, "0123456789abcdef") == kinds[k].hex && hex[kinds[k].hex] == '\0';
    }
    return false;
}

/* One label of a host name: letters, digits and inner dashes. */
static size_t label_len(const char *s)
{
    size_t n = 0;
    while (is_alnum(s[n]) || (n > 0 && s[n] == '-'))
        n++;
    while (n > 0 && s[n - 1] == '-')
        n--;
    return n;
}

static size_t host_len(const char *s)
{
    if (s[0] == '[') {
        size_t n = 1;
        while (is_hex(s[n]) || s[n] == ':')
            n++;
        return n > 1 && s[n] == ']' ? n + 1 : 0;
    }
    size_t n = label_len(s);
    while (n > 0 && s[n] == '.') {
        size_t m = label_len(s + n + 1);
        if (m == 0)
            return n;
        n += 1 + m;
    }
    return n;
}

static bool registry_valid(const char *s)
{
    size_t n = host_len(s);
    if (n > 0 && s[n] == ':' && isdigit((unsigned char)s[n + 1])) {
        n++;
        n += strspn(s + n, "0123456789");
    }
    return n > 0 && s[n] == '\0';
}

static enum pd_code bad(struct pd_err *err, const char *text)
{
    pd_fail(err, PD_IMAGE, "%s", text);
    return pd_set_hint(err, _("write [HOST[:PORT]/]NAME[:TAG][@sha256:…], NAME in lower case"));
}

/* The registry of a reference; *rest is what follows. An upper-case first part
 * is a host, as in the reference package. */
static bool split_registry(const char *text, struct image_ref *out, const char **rest)
{
    const char *slash = strchr(text, '/');
    size_t n = slash ? (size_t)(slash - text) : 0;
    bool host = false;
    if (n > REF_REGISTRY_MAX)
        return false;
    char first[REF_REGISTRY_MAX + 1];
    memcpy(first, text, n);
    first[n] = '\0';
    for (const char *p = first; *p; p++)
        host = host || *p == '.' || *p == ':' || isupper((unsigned char)*p);
    if (n == 0 || (!host && !str_eq(first, "localhost"))) {
        str_copy(out->registry, sizeof out->registry, "docker.io");
        *rest = text;
        return true;
    }
    if (str_eq(first, "index.docker.io"))
        str_copy(first, sizeof first, "docker.io");
    str_copy(out->registry, sizeof out->registry, first);
    *rest = slash + 1;
    return registry_valid(first);
}

static enum pd_code take_repository(const char *rest, size_t n, struct image_ref *out,
                                    struct pd_err *err)
{
    char repo[2 * REF_REPO_MAX + 16];
    bool official = str_eq(out->registry, "docker.io") && !memchr(rest, '/', n);
    if (n > sizeof repo - 16)
        return bad(err, "repository name must not be more than 255 characters");
    str_fmt(repo, sizeof repo, "%s%.*s", official ? "library/" : "", (int)n, rest);
    for (const char *p = repo; *p; p++)
        if (isupper((unsigned char)*p)) {
            char msg[2 * REF_REPO_MAX + 80];
            str_fmt(msg, sizeof msg,
                    "invalid reference format: repository name (%s) must be lowercase", repo);
            return bad(err, msg);
        }
    size_t len = repository_len(repo);
    if (len == 0 || repo[len] != '\0')
        return bad(err, "invalid reference format");
    if (len > REF_REPO_MAX)
        return bad(err, "repository name must not be more than 255 characters");
    str_copy(out->repository, sizeof out->repository, repo);
    return PD_OK;
}

static enum pd_code take_digest(const char *s, struct image_ref *out, struct pd_err *err)
{
    const char *colon = strchr(s, ':');
    if (!colon || colon == s)
        return bad(err, "invalid reference format");
    if (!ref_digest_valid(s)) {
        size_t hex = strspn(colon + 1, "0123456789abcdefABCDEF");
        bool known = str_starts(s, "sha256:") || str_starts(s, "sha512:") ||
                     str_starts(s, "sha384:");
        if (hex < 32 || colon[1 + hex])
            return bad(err, "invalid reference format");
        return bad(err, known ? "invalid checksum digest length" : "unsupported digest algorithm");
    }
    str_copy(out->digest, sizeof out->digest, s);
    return PD_OK;
}

enum pd_code ref_parse(const char *text, struct image_ref *out, struct pd_err *err)
{
    struct image_ref r = {0};
    const char *rest;
    if (strlen(text) == 64 && strspn(text, "0123456789abcdef") == 64) {
        char msg[160];
        str_fmt(msg, sizeof msg,
                "invalid repository name (%s), cannot specify 64-byte hexadecimal strings", text);
        return bad(err, msg);
    }
    if (!split_registry(text, &r, &rest))
        return bad(err, "invalid reference format");
    size_t name = strcspn(rest, ":@");
    enum pd_code rc = take_repository(rest, name, &r, err);
    if (rc != PD_OK)
        return rc;
    const char *p = rest + name;
    if (*p == ':') {
        size_t n = tag_len(p + 1);
        if (n == 0)
            return bad(err, "invalid reference format");
        memcpy(r.tag, p + 1, n);
        p += 1 + n;
    }
    if (*p == '@') {
        if ((rc = take_digest(p + 1, &r, err)) != PD_OK)
            return rc;
        p += strlen(p);
    }
    if (*p)
        return bad(err, "invalid reference format");
    if (!r.tag[0] && !r.digest[0]) {
        str_copy(r.tag, sizeof r.tag, "latest");
        r.default_tag = true;
    }
    *out = r;
    return PD_OK;
}

char *ref_format(const struct image_ref *r, char buf[REF_TEXT_MAX])
{
    return str_fmt(buf, REF_TEXT_MAX, "%s/%s%s%s%s%s", r->registry, r->repository,
                   r->tag[0] ? ":" : "", r->tag, r->digest[0] ? "@" : "", r->digest);
}

const char *ref_target(const struct image_ref *r)
{
    return r->digest[0] ? r->digest : r->tag;
}

const char *ref_api_host(const struct image_ref *r)
{
    return str_eq(r->registry, "docker.io") ? "registry-1.docker.io" : r->registry;
}
