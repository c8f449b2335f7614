/* spdy.c - SPDY/3.1 frames and header blocks (spdy.h). The dictionary of the
 * header blocks is that of the SPDY/3 draft, section 2.6.10.1: words with their
 * length in front, then one run of text. */
#include "core/io/spdy.h"

#include <zlib.h>

#include "core/base/mem.h"

enum { HEAD = 8, VERSION = 3, BLOCK_MAX = 64 << 10, DICTIONARY = 1423 };

static const char *const words[] = {
    "options", "head", "post", "put", "delete", "trace", "accept", "accept-charset",
    "accept-encoding", "accept-language", "accept-ranges", "age", "allow", "authorization",
    "cache-control", "connection", "content-base", "content-encoding", "content-language",
    "content-length", "content-location", "content-md5", "content-range", "content-type", "date",
    "etag", "expect", "expires", "from", "host", "if-match", "if-modified-since",
    "if-none-match", "if-range", "if-unmodified-since", "last-modified", "location",
    "max-forwards", "pragma", "proxy-authenticate", "proxy-authorization", "range", "referer",
    "retry-after", "server", "te", "trailer", "transfer-encoding", "upgrade", "user-agent",
    "vary", "via", "warning", "www-authenticate", "method", "get", "status", "200 OK", "version",
    "HTTP/1.1", "url", "public", "set-cookie", "keep-alive", "origin",
};
static const char tail[] =
    "1001012012022052063003023033043053063074024054064074084094104114124134144154164175025045"
    "05203 Non-Authoritative Information204 No Content301 Moved Permanently400 Bad Request401"
    " Unauthorized403 Forbidden404 Not Found500 Internal Server Error501 Not Implemented503 S"
    "ervice UnavailableJan Feb Mar Apr May Jun Jul Aug Sept Oct Nov Dec 00:00:00 Mon, Tue, We"
    "d, Thu, Fri, Sat, Sun, GMTchunked,text/html,image/png,image/jpg,image/gif,application/xm"
    "l,application/xhtml+xml,text/plain,text/javascript,publicprivatemax-age=gzip,deflate,sdc"
    "hcharset=utf-8charset=iso-8859-1,utf-,*,enq=0.";

struct spdy_zip {
    z_stream out, in;
    unsigned char dictionary[DICTIONARY];
};

static void put32(unsigned char *p, uint32_t v)
{
    for (int i = 0; i < 4; i++)
        p[i] = (unsigned char)(v >> (24 - 8 * i));
}

static uint32_t get32(const unsigned char *p)
{
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static size_t put_words(unsigned char *p)
{
    size_t at = 0;
    for (size_t i = 0; i < ARRAY_LEN(words); i++) {
        size_t n = strlen(words[i]);
        put32(p + at, (uint32_t)n);
        memcpy(p + at + 4, words[i], n);
        at += 4 + n;
    }
    memcpy(p + at, tail, sizeof tail - 1);
    return at + sizeof tail - 1;
}

struct spdy_zip *spdy_zip_new(void)
{
    struct spdy_zip *z = xcalloc(1, sizeof *z);
    if (put_words(z->dictionary) != DICTIONARY)
        PD_BUG("the SPDY dictionary has a wrong length");
    if (deflateInit(&z->out, Z_BEST_COMPRESSION) != Z_OK || inflateInit(&z->in) != Z_OK ||
        deflateSetDictionary(&z->out, z->dictionary, DICTIONARY) != Z_OK)
        PD_BUG("zlib can't be initialised");
    return z;
}

void spdy_zip_free(struct spdy_zip *z)
{
    if (!z)
        return;
    deflateEnd(&z->out);
    inflateEnd(&z->in);
    free(z);
}

/* --- frames --- */

long spdy_parse(const unsigned char *p, size_t n, struct spdy_frame *out)
{
    if (n < HEAD)
        return 0;
    bool control = p[0] & 0x80;
    size_t len = (size_t)p[5] << 16 | (size_t)p[6] << 8 | p[7];
    if (control && (((p[0] & 0x7f) << 8 | p[1]) != VERSION || len > BLOCK_MAX))
        return -1;
    if (n - HEAD < len)
        return 0;
    *out = (struct spdy_frame){.type = SPDY_DATA, .flags = p[4], .p = p + HEAD, .n = len};
    if (control) {
        static const size_t least[] = {[SPDY_SYN_STREAM] = 10, [SPDY_SYN_REPLY] = 4,
                                       [SPDY_RST_STREAM] = 8, [SPDY_PING] = 4,
                                       [SPDY_GOAWAY] = 4, [SPDY_HEADERS] = 4,
                                       [SPDY_WINDOW_UPDATE] = 8};
        out->type = p[2] << 8 | p[3];
        if (out->type < (int)ARRAY_LEN(least) && len < least[out->type])
            return -1;
        out->stream = len >= 4 ? get32(p + HEAD) & 0x7fffffff : 0;
        if (out->type == SPDY_RST_STREAM || out->type == SPDY_GOAWAY)
            out->status = len >= 8 ? get32(p + HEAD + 4) : 0;
    } else {
        out->stream = get32(p) & 0x7fffffff;
    }
    return (long)(HEAD + len);
}

void spdy_data(struct str *out, uint32_t stream, bool fin, const void *p, size_t n)
{
    unsigned char head[HEAD];
    put32(head, stream);
    put32(head + 4, (uint32_t)n);
    head[4] = fin ? SPDY_FIN : 0;
    str_append(out, head, HEAD);
    str_append(out, p, n);
}

void spdy_control(struct str *out, int type, int flags, const void *p, size_t n)
{
    unsigned char head[HEAD] = {0x80, VERSION, (unsigned char)(type >> 8), (unsigned char)type};
    put32(head + 4, (uint32_t)n);
    head[4] = (unsigned char)flags;
    str_append(out, head, HEAD);
    str_append(out, p, n);
}

void spdy_reset(struct str *out, uint32_t stream, uint32_t status)
{
    unsigned char p[8];
    put32(p, stream);
    put32(p + 4, status);
    spdy_control(out, SPDY_RST_STREAM, 0, p, sizeof p);
}

/* --- header blocks --- */

static void deflate_block(struct spdy_zip *z, const struct str *plain, struct str *out)
{
    unsigned char buf[4096];
    z->out.next_in = (unsigned char *)plain->p;
    z->out.avail_in = (uInt)plain->len;
    do {
        z->out.next_out = buf;
        z->out.avail_out = sizeof buf;
        if (deflate(&z->out, Z_SYNC_FLUSH) == Z_STREAM_ERROR)
            PD_BUG("zlib failed");
        str_append(out, buf, sizeof buf - z->out.avail_out);
    } while (z->out.avail_out == 0);
}

static void put_text(struct str *s, const char *text)
{
    unsigned char n[4];
    put32(n, (uint32_t)strlen(text));
    str_append(s, n, 4);
    str_add(s, text);
}

void spdy_syn(struct spdy_zip *z, struct str *out, int type, uint32_t stream, int flags,
              const char *const *pairs)
{
    static const size_t skip[] = {[SPDY_SYN_STREAM] = 10, [SPDY_SYN_REPLY] = 4};
    unsigned char head[10] = {0};
    struct str plain, block;
    uint32_t n = 0;
    str_init(&plain, BLOCK_MAX);
    str_init(&block, BLOCK_MAX);
    put32(head, stream);
    str_append(&block, head, skip[type]);
    while (pairs[2 * n])
        n++;
    put32(head, n);
    str_append(&plain, head, 4);
    for (uint32_t i = 0; i < 2 * n; i++)
        put_text(&plain, pairs[i]);
    deflate_block(z, &plain, &block);
    spdy_control(out, type, flags, block.p, block.len);
    str_release(&plain);
    str_release(&block);
}

static bool inflate_block(struct spdy_zip *z, const unsigned char *p, size_t n, struct str *out)
{
    unsigned char buf[4096];
    z->in.next_in = (unsigned char *)(uintptr_t)p;
    z->in.avail_in = (uInt)n;
    do {
        z->in.next_out = buf;
        z->in.avail_out = sizeof buf;
        int rc = inflate(&z->in, Z_SYNC_FLUSH);
        if (rc == Z_NEED_DICT) {
            if (inflateSetDictionary(&z->in, z->dictionary, DICTIONARY) != Z_OK)
                return false;
            continue;
        }
        if (rc != Z_OK && rc != Z_BUF_ERROR)
            return false;
        if (!str_append(out, buf, sizeof buf - z->in.avail_out))
            return false;
        if (rc == Z_BUF_ERROR)
            break;
    } while (z->in.avail_in > 0 || z->in.avail_out == 0);
    return true;
}

static bool take_text(const unsigned char **p, const unsigned char *end, struct strv *out)
{
    if (end - *p < 4)
        return false;
    size_t n = get32(*p);
    if (n > (size_t)(end - *p) - 4)
        return false;
    strv_pushf(out, "%.*s", (int)n, (const char *)*p + 4);
    *p += 4 + n;
    return true;
}

bool spdy_headers(struct spdy_zip *z, const struct spdy_frame *f, struct strv *pairs)
{
    size_t skip = f->type == SPDY_SYN_STREAM ? 10 : 4;
    struct str plain;
    str_init(&plain, BLOCK_MAX);
    bool ok = f->n >= skip && inflate_block(z, f->p + skip, f->n - skip, &plain) && plain.len >= 4;
    const unsigned char *p = (const unsigned char *)plain.p, *end = p + plain.len;
    uint32_t n = ok ? get32(p) : 0;
    p += 4;
    for (uint32_t i = 0; ok && i < n; i++)
        ok = take_text(&p, end, pairs) && take_text(&p, end, pairs);
    str_release(&plain);
    return ok;
}

const char *spdy_header(const struct strv *pairs, const char *name)
{
    for (size_t i = 0; i + 1 < pairs->n; i += 2)
        if (str_eq(pairs->v[i], name))
            return pairs->v[i + 1];
    return "";
}
