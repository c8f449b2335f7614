/* ws_frame.c - RFC 6455 framing, apart from any connection: section 5.2 (the
 * base framing), 5.3 (masking) and 4.2.2 (the accept key). */
#include <openssl/evp.h>
#include <sys/random.h>

#include "core/io/ws.h"

long ws_parse(unsigned char *buf, size_t len, bool from_client, size_t ceiling,
              struct ws_frame *out)
{
    if (len < 2)
        return 0;
    int opcode = buf[0] & 15;
    bool fin = buf[0] & 0x80, masked = buf[1] & 0x80, control = opcode & 8;
    uint64_t n = buf[1] & 127;
    if ((buf[0] & 0x70) || masked != from_client || (opcode > 2 && !control) || opcode > WS_PONG)
        return -1;
    if (control && (n > 125 || !fin))
        return -1;
    size_t extra = n == 126 ? 2 : n == 127 ? 8 : 0, head = 2 + extra + (masked ? 4 : 0);
    if (len < head)
        return 0;
    if (extra)
        n = 0;
    for (size_t i = 0; i < extra; i++)
        n = n << 8 | buf[2 + i];
    if (n > ceiling)
        return -1;
    if (len - head < n)
        return 0;
    unsigned char *p = buf + head;
    for (size_t i = 0; masked && i < n; i++)
        p[i] ^= buf[2 + extra + (i & 3)];
    *out = (struct ws_frame){opcode, fin, p, (size_t)n};
    return (long)(head + n);
}

static void random_bytes(unsigned char *p, size_t n)
{
    if (getrandom(p, n, 0) != (ssize_t)n)
        PD_BUG("no random bytes");
}

void ws_build(struct str *out, int opcode, bool fin, bool mask, const void *p, size_t n)
{
    unsigned char head[14], key[4] = {0};
    size_t at = 2;
    size_t extra = n < 126 ? 0 : n < 65536 ? 2 : 8;
    head[0] = (unsigned char)((fin ? 0x80 : 0) | opcode);
    head[1] = (unsigned char)((mask ? 0x80 : 0) | (extra == 0 ? (int)n : extra == 2 ? 126 : 127));
    for (size_t i = extra; i-- > 0;)
        head[at++] = (unsigned char)((uint64_t)n >> (8 * i));
    if (mask) {
        random_bytes(key, sizeof key);
        memcpy(head + at, key, sizeof key);
        at += sizeof key;
    }
    size_t start = out->len + at;
    if (!str_append(out, head, at) || !str_append(out, p, n) || !mask)
        return;
    for (size_t i = 0; i < n; i++)
        out->p[start + i] = (char)((unsigned char)out->p[start + i] ^ key[i & 3]);
}

void ws_accept_key(const char *key, char out[32])
{
    char text[128];
    unsigned char sum[EVP_MAX_MD_SIZE];
    unsigned n = 0;
    str_fmt(text, sizeof text, "%s258EAFA5-E914-47DA-95CA-C5AB0DC85B11", key);
    if (!EVP_Digest(text, strlen(text), sum, &n, EVP_sha1(), NULL))
        PD_BUG("SHA-1 is not available");
    EVP_EncodeBlock((unsigned char *)out, sum, (int)n);
}
