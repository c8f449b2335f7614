/* proxy.c - which proxy (proxy.h). The rules of the environment are those of
 * golang.org/x/net/http/httpproxy. */
#include "core/io/proxy.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <strings.h>

#include "core/base/mem.h"
#include "core/base/str.h"
#include "core/io/url.h"

static const char *either(const char *upper, const char *lower, const char **name)
{
    const char *v = getenv(upper);
    *name = v && *v ? upper : lower;
    v = v && *v ? v : getenv(lower);
    return v && *v ? v : NULL;
}

const char *proxy_bad_scheme(const char *fixed, char buf[32])
{
    static const char *const known[] = {"http", "https", "socks5"};
    const char *end = strstr(fixed, "://");
    str_fmt(buf, 32, "%.*s", end ? (int)MIN(end - fixed, 31) : 0, fixed);
    for (size_t i = 0; i < ARRAY_LEN(known); i++)
        if (!strcasecmp(buf, known[i]))
            return NULL;
    return buf;
}

/* libcurl's socks5h is Go's socks5: the proxy looks the name up. */
static char *for_curl(const char *text)
{
    const char *end = strstr(text, "://");
    size_t n = end ? (size_t)(end - text) : 0;
    if ((n == 6 && !strncasecmp(text, "socks5", 6)) || (n == 7 && !strncasecmp(text, "socks5h", 7)))
        return xasprintf("socks5h%s", end);
    if ((n == 4 && !strncasecmp(text, "http", 4)) || (n == 5 && !strncasecmp(text, "https", 5)))
        return xstrdup(text);
    return xasprintf("http://%s", text);
}

/* --- exceptions --- */

struct address {
    int family, bits;
    unsigned char bytes[16];
};

static bool parse_address(const char *text, struct address *a)
{
    a->family = inet_pton(AF_INET, text, a->bytes) == 1    ? AF_INET
                : inet_pton(AF_INET6, text, a->bytes) == 1 ? AF_INET6
                                                           : 0;
    a->bits = a->family == AF_INET ? 32 : 128;
    return a->family != 0;
}

static bool parse_cidr(const char *text, struct address *a)
{
    char net[64];
    const char *slash = strchr(text, '/');
    int64_t bits;
    if (!slash || !parse_address(str_fmt(net, sizeof net, "%.*s", (int)MIN(slash - text, 63), text),
                                 a) ||
        !str_to_i64(slash + 1, &bits) || bits < 0 || bits > a->bits)
        return false;
    a->bits = (int)bits;
    return true;
}

static bool within(const struct address *net, const struct address *a)
{
    if (net->family != a->family)
        return false;
    for (int i = 0; i < net->bits; i++)
        if ((net->bytes[i / 8] ^ a->bytes[i / 8]) & 0x80 >> i % 8)
            return false;
    return true;
}

/* "host:port", "[v6]:port" or "host": port -1 when none; false: not usable. */
static bool split_port(char *word, char **host, int *port)
{
    char *close = *word == '[' ? strchr(word, ']') : NULL;
    char *colon = close ? (close[1] == ':' ? close + 1 : NULL) : strchr(word, ':');
    *port = -1;
    *host = word;
    if (colon && (close || !strchr(colon + 1, ':'))) {
        int64_t n;
        if (str_to_i64(colon + 1, &n))
            *port = (int)n;
        *colon = '\0';
    }
    if (close) {
        *close = '\0';
        *host = word + 1;
    }
    return **host != '\0';
}

static bool domain_holds(const char *host, const char *rule)
{
    if (str_starts(rule, "*."))
        rule++;
    if (*rule == '.')
        return str_ends(host, rule);
    size_t h = strlen(host), r = strlen(rule);
    return !strcmp(host, rule) || (h > r && host[h - r - 1] == '.' && str_ends(host, rule));
}

static bool word_holds(char *word, const char *host, int port)
{
    struct address net, a;
    bool numeric = parse_address(host, &a);
    char *name;
    int only;
    if (!strcmp(word, "*"))
        return true;
    if (parse_cidr(word, &net))
        return numeric && within(&net, &a);
    if (!split_port(word, &name, &only) || (only >= 0 && only != port))
        return false;
    if (parse_address(name, &net))
        return numeric && within(&net, &a);
    return !numeric && domain_holds(host, name);
}

static char *trimmed_lower(const char *text)
{
    char *s = xstrdup(text + strspn(text, " \t"));
    size_t n = strlen(s);
    while (n > 0 && isspace((unsigned char)s[n - 1]))
        s[--n] = '\0';
    for (char *p = s; *p; p++)
        *p = (char)tolower((unsigned char)*p);
    return s;
}

/* The exception of NO_PROXY that holds for the host, into out. */
static bool excepted(const struct url_parts *u, char *out, size_t size)
{
    const char *name, *list = either("NO_PROXY", "no_proxy", &name);
    bool held = false;
    struct strv words;
    char *host = trimmed_lower(u->host);
    if (!strcmp(host, "localhost") || url_loopback(host)) {
        str_copy(out, size, "loopback");
        free(host);
        return true;
    }
    strv_init(&words);
    strv_split(&words, list ? list : "", ',');
    for (size_t i = 0; i < words.n && !held; i++) {
        char *word = trimmed_lower(words.v[i]);
        str_copy(out, size, word);
        held = *word && word_holds(word, host, u->port);
        free(word);
    }
    if (!held)
        *out = '\0';
    strv_release(&words);
    free(host);
    return held;
}

void proxy_for(const char *url, const char *fixed, struct proxy *out)
{
    struct url_parts u;
    *out = (struct proxy){.url = NULL};
    if (fixed && *fixed) {
        out->url = for_curl(fixed);
        return;
    }
    if (!url_split(url, &u))
        return;
    const char *value = u.https ? either("HTTPS_PROXY", "https_proxy", &out->variable)
                                : either("HTTP_PROXY", "http_proxy", &out->variable);
    if (!value)
        out->variable = NULL;
    else if (!excepted(&u, out->except, sizeof out->except))
        out->url = for_curl(value);
}

void proxy_release(struct proxy *p)
{
    free(p->url);
    p->url = NULL;
}
