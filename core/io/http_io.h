/* http_io.h - what ws.c borrows from http.c: a libcurl handle that speaks as
 * an http_target does, and libcurl's failures as errors of podium. Easy handles
 * are void * so that libcurl stays inside the two .c files.
 */
#ifndef CORE_IO_HTTP_IO_H
#define CORE_IO_HTTP_IO_H

#include "core/io/dial.h"
#include "core/io/http.h"
#include "core/io/loop_io.h"

/* A request that waits for its target's credentials. http_target_wait: true
 * when it has to, then go follows once, unless cancelled. */
struct http_wait {
    void (*go)(void *arg, const struct pd_err *err);
    void *arg;
    bool queued;
    struct http_wait *prev, *next;
};
bool http_target_wait(struct http_target *t, struct http_wait *w);
void http_wait_cancel(struct http_target *t, struct http_wait *w);
/* A 401 came: true when the request should be made anew, once. */
bool http_target_renews(struct http_target *t, uint32_t serial);

/* Lists and texts that must live as long as the handle. */
struct http_setup {
    void *connect_to;            /* curl_slist */
    char *url;                   /* as libcurl gets it */
    char *shown;                 /* without the tls_server_name trick: for errors */
    char *host_header;           /* "host:port" or NULL */
    bool own_origin;             /* the URL is the target's own: credentials may go there */
    char errors[256];            /* CURLOPT_ERRORBUFFER */
    struct http_target *target;  /* borrowed */
    struct pd_err dial_err;
    struct dial dial;
    struct loop_transfer *transfer;  /* marked when a dialed socket waits for dial_swap */
};

/* A new handle for target + path (or absolute URL). Returns CURL *. */
void *http_setup_init(struct http_setup *s, struct http_target *t, const char *path);
void http_setup_release(struct http_setup *s);
/* The header lines of the target: Authorization, Host, impersonation, user agent. */
void http_setup_headers(const struct http_setup *s, struct strv *out);
/* Fill err from a CURLcode other than CURLE_OK. */
enum pd_code http_setup_error(const struct http_setup *s, int curl_code, struct pd_err *err);
/* curl_tls.c: keep what TLS the handle's connection speaks in t->tls. */
void curl_tls_look(void *easy, struct http_target *t);

#endif
