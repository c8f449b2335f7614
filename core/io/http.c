/* http.c - HTTP requests on the loop (http.h).
 *
 * libcurl's callbacks only store: a collected body grows in `body`, a streamed
 * one in `pending`, which is handed out by http_ready after curl_multi_perform
 * in pieces of at most 64 KiB. A sink that is slower than the network pauses
 * the transfer at 128 KiB. A request cancelled inside its own callback is freed
 * when that callback returns (`busy`), else at once.
 */
#include "core/io/http.h"

#include <curl/curl.h>
#include <errno.h>
#include <strings.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/base/i18n.h"
#include "core/base/mem.h"
#include "core/io/http_io.h"
#include "core/io/loop_io.h"
#include "core/io/url.h"

enum { PIECE = 64 << 10, PENDING_HIGH = 128 << 10, BODY_CEILING = 64 << 20 };

struct http {
    struct loop_transfer transfer;
    struct loop *loop;
    CURL *easy;                      /* NULL while it waits for credentials */
    struct http_wait wait;
    struct http_target *target;
    char method[16], *path;
    struct strv lines;               /* headers of the request itself */
    struct curl_slist *headers;
    struct http_setup setup;
    struct http_request q;           /* callbacks, arg and flags; texts are not kept */
    struct http_response r;
    struct str body, pending;
    char *upload;
    int64_t offset;                  /* of an upload from a descriptor */
    int64_t started_ms, sent, received, shown_sent, shown_received;
    uint32_t serial;                 /* of the credentials it was sent with */
    bool headers_in, head_called, paused, full, busy, cancelled;
    bool gzip, renewed, resend;            /* after a 401: once; this answer is dropped */
    struct pd_err err;
};

/* --- libcurl's callbacks: they store --- */

static void header_text(const char *line, const char *name, char *dst, size_t size, bool join)
{
    size_t n = strlen(name);
    if (strncasecmp(line, name, n) != 0 || line[n] != ':')
        return;
    const char *v = line + n + 1;
    v += strspn(v, " \t");
    size_t have = join ? strlen(dst) : 0;
    if (have && have + 1 < size)
        dst[have++] = '\n';
    str_copy(dst + have, size - have, v);
}

static void store_header(struct http_response *r, const char *line)
{
    char wait[32] = "";
    header_text(line, "Content-Type", r->content_type, sizeof r->content_type, false);
    header_text(line, "Location", r->location, sizeof r->location, false);
    header_text(line, "Docker-Content-Digest", r->digest, sizeof r->digest, false);
    header_text(line, "Range", r->range, sizeof r->range, false);
    header_text(line, "Warning", r->warning, sizeof r->warning, true);
    header_text(line, "WWW-Authenticate", r->www_authenticate, sizeof r->www_authenticate, true);
    header_text(line, "Retry-After", wait, sizeof wait, false);
    if (wait[0] >= '0' && wait[0] <= '9')
        r->retry_after = MIN(atoi(wait), 3600);
}

static size_t on_header(char *p, size_t size, size_t count, void *arg)
{
    struct http *h = arg;
    size_t n = size * count, keep = n;
    char line[2048];
    while (n > 0 && (p[n - 1] == '\r' || p[n - 1] == '\n'))
        n--;
    n = MIN(n, sizeof line - 1);
    memcpy(line, p, n);
    line[n] = '\0';
    if (str_starts(line, "HTTP/")) {
        memset(&h->r, 0, sizeof h->r);
        h->r.retry_after = -1;
        const char *space = strchr(line, ' ');
        h->r.status = space ? atoi(space + 1) : 0;
    } else if (n == 0 && h->r.status >= 200) {
        h->headers_in = true;
        if (h->setup.own_origin)
            curl_tls_look(h->easy, h->setup.target);
        loop_transfer_mark(&h->transfer);
    } else {
        store_header(&h->r, line);
    }
    return keep;
}

static bool streamed(const struct http *h)
{
    return h->q.data && !(h->q.no_body_on_error && h->r.status >= 400);
}

static size_t on_body(char *p, size_t size, size_t count, void *arg)
{
    struct http *h = arg;
    size_t n = size * count;
    if (!streamed(h)) {
        h->full = !str_append(&h->body, p, n);
        return h->full ? 0 : n;
    }
    loop_transfer_mark(&h->transfer);
    if (h->pending.len >= PENDING_HIGH) {
        h->paused = true;
        return CURL_WRITEFUNC_PAUSE;
    }
    str_append(&h->pending, p, n);
    return n;
}

static size_t on_read(char *p, size_t size, size_t count, void *arg)
{
    struct http *h = arg;
    ssize_t n = pread(h->q.body_fd, p, size * count, (off_t)h->offset);
    if (n < 0)
        return CURL_READFUNC_ABORT;
    h->offset += n;
    return (size_t)n;
}

static int on_seek(void *arg, curl_off_t offset, int origin)
{
    struct http *h = arg;
    if (origin != SEEK_SET)
        return CURL_SEEKFUNC_CANTSEEK;
    h->offset = offset;
    return CURL_SEEKFUNC_OK;
}

static int on_progress(void *arg, curl_off_t dl_total UNUSED, curl_off_t dl,
                       curl_off_t ul_total UNUSED, curl_off_t ul)
{
    struct http *h = arg;
    if (dl != h->received || ul != h->sent) {
        h->received = dl;
        h->sent = ul;
        loop_transfer_mark(&h->transfer);
    }
    return 0;
}

/* --- the loop's callbacks: they hand out --- */

static void send_again(struct http *h);

static void end_transfer(struct http *h)
{
    if (!h->easy)
        return;
    loop_transfer_remove(h->loop, &h->transfer, h->easy);
    curl_easy_cleanup(h->easy);
    curl_slist_free_all(h->headers);
    http_setup_release(&h->setup);
    h->easy = NULL;
    h->headers = NULL;
}

static void http_free(struct http *h)
{
    end_transfer(h);
    http_wait_cancel(h->target, &h->wait);
    http_target_unref(h->target);
    free(h->path);
    strv_release(&h->lines);
    str_release(&h->body);
    str_release(&h->pending);
    free(h->upload);
    if (h->q.body_fd > 0)
        close(h->q.body_fd);
    free(h);
}

static void fill_response(struct http *h)
{
    h->r.body = h->body.p;
    h->r.body_len = h->body.len;
    h->r.ms = clock_us() / 1000 - h->started_ms;
    h->r.err = h->err.code != PD_OK ? &h->err : NULL;
}

static void call_head(struct http *h)
{
    h->head_called = true;
    if (!h->q.head)
        return;
    struct loop_mark m = loop_mark_begin(h->loop);
    fill_response(h);
    h->q.head(h->q.arg, &h->r);
    loop_mark_end(h->loop, m, "http head");
}

static void call_progress(struct http *h)
{
    if (!h->q.progress || (h->sent == h->shown_sent && h->received == h->shown_received))
        return;
    h->shown_sent = h->sent;
    h->shown_received = h->received;
    h->q.progress(h->q.arg, h->sent, h->received);
}

static void call_data(struct http *h)
{
    size_t at = 0, n = h->pending.len;
    while (at < n && !h->cancelled) {
        size_t piece = MIN(n - at, (size_t)PIECE);
        struct loop_mark m = loop_mark_begin(h->loop);
        h->q.data(h->q.arg, h->pending.p + at, piece);
        loop_mark_end(h->loop, m, "http data");
        at += piece;
    }
    str_consume(&h->pending, n);
}

/* Everything stored so far goes out, in order. */
static void hand_out(struct http *h)
{
    h->busy = true;
    if (h->headers_in && !h->head_called)
        call_head(h);
    if (!h->cancelled)
        call_progress(h);
    if (!h->cancelled)
        call_data(h);
    h->busy = false;
}

/* A 401 whose credentials are being renewed is nobody's answer. */
static bool dropped(struct http *h)
{
    if (h->headers_in && !h->head_called && h->r.status == 401 && !h->renewed) {
        h->renewed = true;
        h->resend = http_target_renews(h->target, h->serial);
    }
    if (h->resend)
        str_clear(&h->pending);
    return h->resend;
}

static void http_ready(void *arg)
{
    struct http *h = arg;
    dial_swap(&h->setup.dial);
    if (!dropped(h))
        hand_out(h);
    if (h->cancelled) {
        http_free(h);
        return;
    }
    if (h->paused) {
        h->paused = false;
        curl_easy_pause(h->easy, CURLPAUSE_CONT);
    }
}

static void limit_error(struct http *h)
{
    pd_fail(&h->err, PD_LIMIT, _("the answer is longer than %zu bytes"), h->body.ceiling);
    str_copy(h->err.src, sizeof h->err.src, h->setup.shown);
}

static void finish(struct http *h)
{
    hand_out(h);
    if (!h->cancelled && h->q.done) {
        h->busy = true;
        if (h->err.code != PD_OK && !h->headers_in)
            h->r.status = 0;
        fill_response(h);
        struct loop_mark m = loop_mark_begin(h->loop);
        h->q.done(h->q.arg, &h->r);
        loop_mark_end(h->loop, m, "http done");
    }
    http_free(h);
}

static void http_done(void *arg, int curl_code)
{
    struct http *h = arg;
    if (dropped(h)) {
        send_again(h);
        return;
    }
    if (h->full)
        limit_error(h);
    else if (curl_code != CURLE_OK)
        http_setup_error(&h->setup, curl_code, &h->err);
    finish(h);
}

static void http_drop(void *arg)
{
    http_free(arg);
}

void http_cancel(struct http *h)
{
    if (!h || h->cancelled)
        return;
    h->cancelled = true;
    if (!h->busy)
        http_free(h);
}

/* --- start --- */

static void set_body(struct http *h)
{
    CURL *c = h->easy;
    const char *method = h->method;
    bool sends = h->upload || !strcmp(method, "POST") || !strcmp(method, "PUT") ||
                 !strcmp(method, "PATCH");
    if (h->q.body_fd > 0) {
        h->offset = 0;
        curl_easy_setopt(c, CURLOPT_UPLOAD, 1L);
        curl_easy_setopt(c, CURLOPT_READFUNCTION, on_read);
        curl_easy_setopt(c, CURLOPT_READDATA, h);
        curl_easy_setopt(c, CURLOPT_SEEKFUNCTION, on_seek);
        curl_easy_setopt(c, CURLOPT_SEEKDATA, h);
        curl_easy_setopt(c, CURLOPT_INFILESIZE_LARGE, (curl_off_t)h->q.body_fd_size);
    } else if (sends) {
        curl_easy_setopt(c, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)h->q.body_len);
        curl_easy_setopt(c, CURLOPT_POSTFIELDS, h->upload ? h->upload : "");
    } else if (!strcmp(method, "HEAD")) {
        curl_easy_setopt(c, CURLOPT_NOBODY, 1L);
    }
    if (strcmp(method, "GET") != 0 && strcmp(method, "HEAD") != 0)
        curl_easy_setopt(c, CURLOPT_CUSTOMREQUEST, method);
}

static void set_headers(struct http *h)
{
    struct strv lines;
    strv_init(&lines);
    http_setup_headers(&h->setup, &lines);
    for (size_t i = 0; i < lines.n; i++)
        h->headers = curl_slist_append(h->headers, lines.v[i]);
    for (size_t i = 0; i < h->lines.n; i++)
        h->headers = curl_slist_append(h->headers, h->lines.v[i]);
    strv_release(&lines);
    curl_easy_setopt(h->easy, CURLOPT_HTTPHEADER, h->headers);
    if (h->gzip && !h->setup.target->plain)
        curl_easy_setopt(h->easy, CURLOPT_ACCEPT_ENCODING, "gzip");
}

/* With the target's credentials of this moment. */
static void launch(struct http *h)
{
    CURL *c = h->easy = http_setup_init(&h->setup, h->target, h->path);
    h->serial = h->target->serial;
    h->started_ms = clock_us() / 1000;            /* waiting for a login is not latency */
    set_body(h);
    set_headers(h);
    curl_easy_setopt(c, CURLOPT_HEADERFUNCTION, on_header);
    curl_easy_setopt(c, CURLOPT_HEADERDATA, h);
    curl_easy_setopt(c, CURLOPT_WRITEFUNCTION, on_body);
    curl_easy_setopt(c, CURLOPT_WRITEDATA, h);
    if (h->q.progress) {
        curl_easy_setopt(c, CURLOPT_NOPROGRESS, 0L);
        curl_easy_setopt(c, CURLOPT_XFERINFOFUNCTION, on_progress);
        curl_easy_setopt(c, CURLOPT_XFERINFODATA, h);
    }
    if (h->q.fresh_connection)
        curl_easy_setopt(c, CURLOPT_FRESH_CONNECT, 1L);
    if (h->q.timeout_ms > 0)
        curl_easy_setopt(c, CURLOPT_TIMEOUT_MS, (long)h->q.timeout_ms);
    h->setup.transfer = &h->transfer;
    h->transfer = (struct loop_transfer){
        .ready = http_ready, .done = http_done, .drop = http_drop, .arg = h};
    loop_transfer_add(h->loop, &h->transfer, c);
}

static void go(void *arg, const struct pd_err *err)
{
    struct http *h = arg;
    if (!err) {
        launch(h);
        return;
    }
    h->err = *err;
    h->r.status = 0;
    finish(h);
}

/* The 401 is forgotten; what it asked for is sent again. */
static void send_again(struct http *h)
{
    end_transfer(h);
    h->resend = h->headers_in = h->paused = h->full = false;
    h->err.code = PD_OK;
    memset(&h->r, 0, sizeof h->r);
    h->r.retry_after = -1;
    str_clear(&h->body);
    str_clear(&h->pending);
    if (!http_target_wait(h->target, &h->wait))
        launch(h);
}

/* Texts of the request are the caller's: kept, since it may be sent later or twice. */
static void keep_request(struct http *h, const struct http_request *q)
{
    const char *accept = q->accept ? q->accept : "application/json";
    h->q = *q;
    str_copy(h->method, sizeof h->method, q->method);
    h->path = xstrdup(q->path);
    strv_init(&h->lines);
    strv_pushf(&h->lines, "Accept: %s", accept);
    strv_push(&h->lines, "Expect:");
    strv_pushf(&h->lines, q->content_type ? "Content-Type: %s" : "Content-Type:%s",
               q->content_type ? q->content_type : "");
    for (size_t i = 0; q->headers && i < q->headers->n; i++)
        strv_push(&h->lines, q->headers->v[i]);
    h->gzip = strstr(accept, "json") != NULL;
    if (q->body && q->body_fd <= 0)
        h->upload = xstrndup(q->body, q->body_len);
    h->q.body_len = h->upload ? q->body_len : 0;
    h->q.method = h->q.path = h->q.content_type = h->q.accept = NULL;
    h->q.body = NULL;
    h->q.headers = NULL;
}

struct http *http_start(struct loop *l, struct http_target *t, const struct http_request *q)
{
    struct http *h = xcalloc(1, sizeof *h);
    h->loop = l;
    h->target = http_target_ref(t);
    keep_request(h, q);
    h->r.retry_after = -1;
    h->started_ms = clock_us() / 1000;
    h->wait = (struct http_wait){.go = go, .arg = h};
    str_init(&h->body, q->ceiling ? q->ceiling : BODY_CEILING);
    str_init(&h->pending, 2 * PENDING_HIGH + CURL_MAX_READ_SIZE);
    bool ours = !url_absolute(q->path) || url_same_origin(t->base, q->path);
    h->renewed = !ours;
    if (!ours || !http_target_wait(t, &h->wait))
        launch(h);
    return h;
}

/* --- the blocking form --- */

struct run {
    const struct http_request *q;
    struct http_response *r;
    struct loop *loop;
    struct str *out;
    struct pd_err *err;
    enum pd_code code;
};

static void run_data(void *arg, const char *p, size_t n)
{
    struct run *run = arg;
    run->q->data(run->q->arg, p, n);
}

static void run_head(void *arg, const struct http_response *r)
{
    struct run *run = arg;
    run->q->head(run->q->arg, r);
}

static void run_progress(void *arg, int64_t sent, int64_t received)
{
    struct run *run = arg;
    run->q->progress(run->q->arg, sent, received);
}

static void run_done(void *arg, const struct http_response *r)
{
    struct run *run = arg;
    *run->r = *r;
    str_clear(run->out);
    str_append(run->out, r->body, r->body_len);
    run->r->body = run->out->p;
    run->r->body_len = run->out->len;
    run->r->err = NULL;
    if (r->err) {
        *run->err = *r->err;
        run->code = r->err->code;
    }
    loop_stop(run->loop, 0);
}

/* One private loop a process keeps its connections between calls. */
static struct loop *run_loop(void)
{
    static struct loop *l;
    static pid_t owner;
    if (!l || owner != getpid()) {
        l = loop_new();
        loop_unlimited(l);
        owner = getpid();
    }
    return l;
}

enum pd_code http_run(struct http_target *t, const struct http_request *q, struct http_response *r,
                      struct str *out, struct pd_err *err)
{
    struct loop *l = run_loop();
    struct run run = {.q = q, .r = r, .loop = l, .out = out, .err = err, .code = PD_OK};
    struct http_request mine = *q;
    mine.data = q->data ? run_data : NULL;
    mine.head = q->head ? run_head : NULL;
    mine.progress = q->progress ? run_progress : NULL;
    mine.done = run_done;
    mine.arg = &run;
    http_start(l, t, &mine);
    loop_run(l);
    return run.code;
}
