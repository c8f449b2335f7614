/* proxy.h - through which proxy a URL is asked for, as client-go decides it.
 *
 * The kubeconfig's proxy-url is used for every host. Else the environment:
 * HTTPS_PROXY or https_proxy for https://, HTTP_PROXY or http_proxy for
 * http://; NO_PROXY or no_proxy makes exceptions ("*", host and what lies
 * below it, ".host" for what lies below alone, address, CIDR, each with or
 * without :port), and loopback addresses are never proxied. socks5 leaves the
 * look-up of the name to the proxy.
 */
#ifndef CORE_IO_PROXY_H
#define CORE_IO_PROXY_H

#include "core/base/base.h"

struct proxy {
    char *url;                   /* as libcurl takes it, NULL: none */
    const char *variable;        /* of the environment, NULL: none is set, or proxy-url is */
    char except[128];            /* the exception that held, "" when none; "loopback" */
};

/* `fixed`: proxy-url or NULL. Release with proxy_release. */
void proxy_for(const char *url, const char *fixed, struct proxy *out);
void proxy_release(struct proxy *p);
/* NULL, or what is wrong with a proxy-url ("ftp"): its scheme. */
const char *proxy_bad_scheme(const char *fixed, char buf[32]);

#endif
