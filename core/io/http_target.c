/* http_target.c - where requests go and as whom, and the requests that wait
 * until that is known (http.h). */
#include "core/base/mem.h"
#include "core/io/http_io.h"

struct http_target *http_target_new(const char *base)
{
    struct http_target *t = xcalloc(1, sizeof *t);
    t->refs = 1;
    t->base = xstrdup(base);
    for (size_t n = strlen(t->base); n > 0 && t->base[n - 1] == '/'; n--)
        t->base[n - 1] = '\0';
    strv_init(&t->headers);
    return t;
}

struct http_target *http_target_ref(struct http_target *t)
{
    t->refs++;
    return t;
}

static void free_secret(char *s)
{
    if (s)
        explicit_bzero(s, strlen(s));
    free(s);
}

void http_target_unref(struct http_target *t)
{
    if (!t || --t->refs > 0)
        return;
    free(t->base);
    free(t->ca_pem);
    free(t->cert_pem);
    free_secret(t->key_pem);
    free(t->tls_server_name);
    free(t->proxy);
    free_secret(t->bearer);
    free(t->user);
    free_secret(t->password);
    strv_release(&t->headers);
    free(t);
}

/* --- credentials that come and go --- */

bool http_target_wait(struct http_target *t, struct http_wait *w)
{
    if (!t->creds.ready || t->creds.ready(t->creds.arg))
        return false;
    w->queued = true;
    w->next = NULL;
    w->prev = t->waits_last;
    if (w->prev)
        w->prev->next = w;
    else
        t->waits = w;
    t->waits_last = w;
    return true;
}

void http_wait_cancel(struct http_target *t, struct http_wait *w)
{
    if (!w->queued)
        return;
    w->queued = false;
    if (w->prev)
        w->prev->next = w->next;
    else
        t->waits = w->next;
    if (w->next)
        w->next->prev = w->prev;
    else
        t->waits_last = w->prev;
}

/* Whoever is called may add and cancel others. */
void http_target_wake(struct http_target *t, const struct pd_err *err)
{
    struct http_wait *last = t->waits_last;
    http_target_ref(t);
    for (bool more = last != NULL; more && t->waits;) {
        struct http_wait *w = t->waits;
        more = w != last;
        http_wait_cancel(t, w);
        w->go(w->arg, err);
    }
    http_target_unref(t);
}

bool http_target_renews(struct http_target *t, uint32_t serial)
{
    return t->creds.refused && t->creds.refused(t->creds.arg, serial);
}
