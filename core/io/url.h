/* url.h - the parts of an http:// or https:// URL.
 */
#ifndef CORE_IO_URL_H
#define CORE_IO_URL_H

#include "core/base/base.h"

struct url_parts {
    bool https;
    char host[256];                  /* without user:password@ and the brackets of IPv6 */
    int port;                        /* 443 or 80 when none is written */
    const char *rest;                /* from the path on, within the text given */
};

bool url_split(const char *url, struct url_parts *u);    /* false: another scheme, no host */
bool url_absolute(const char *path);                     /* begins with a scheme of ours */
bool url_same_origin(const char *a, const char *b);
bool url_loopback(const char *host);
/* A copy whose user:password@, if any, reads ***@ ; caller frees. */
char *url_shown(const char *url);

#endif
