/* url.c - the parts of a URL (url.h). */
#include "core/io/url.h"

#include <strings.h>

#include "core/base/mem.h"
#include "core/base/str.h"

bool url_absolute(const char *path)
{
    return strncasecmp(path, "http://", 7) == 0 || strncasecmp(path, "https://", 8) == 0;
}

static const char *last_at(const char *p, size_t n)
{
    const char *at = NULL;
    for (size_t i = 0; i < n; i++)
        if (p[i] == '@')
            at = p + i;
    return at;
}

bool url_split(const char *url, struct url_parts *u)
{
    u->https = strncasecmp(url, "https://", 8) == 0;
    if (!url_absolute(url))
        return false;
    const char *p = url + (u->https ? 8 : 7);
    size_t n = strcspn(p, "/?#");
    u->rest = p + n;
    const char *at = last_at(p, n), *end = p + n, *host = at ? at + 1 : p, *colon = NULL;
    n = (size_t)(end - host);
    if (*host == '[') {
        const char *close = memchr(host, ']', n);
        if (!close)
            return false;
        colon = close + 1 < end && close[1] == ':' ? close + 1 : NULL;
        host++;
        n = (size_t)(close - host);
    } else {
        colon = memchr(host, ':', n);
        n = colon ? (size_t)(colon - host) : n;
    }
    if (n == 0 || n >= sizeof u->host)
        return false;
    memcpy(u->host, host, n);
    u->host[n] = '\0';
    bool given = colon && colon + 1 < end;
    u->port = given ? atoi(colon + 1) : u->https ? 443 : 80;
    return u->port > 0 && u->port < 65536;
}

bool url_same_origin(const char *a, const char *b)
{
    struct url_parts x, y;
    return url_split(a, &x) && url_split(b, &y) && x.https == y.https && x.port == y.port &&
           !strcasecmp(x.host, y.host);
}

bool url_loopback(const char *host)
{
    return !strcmp(host, "localhost") || str_starts(host, "127.") || !strcmp(host, "::1");
}

char *url_shown(const char *url)
{
    const char *p = strstr(url, "://");
    p = p ? p + 3 : url;
    const char *at = last_at(p, strcspn(p, "/?#"));
    return at ? xasprintf("%.*s***%s", (int)(p - url), url, at) : xstrdup(url);
}
