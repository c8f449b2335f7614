/* sha256.c - SHA-256 (sha256.h, FIPS 180-4 section 6.2). */
#include "core/train/sha256.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "core/base/i18n.h"

static const uint32_t k[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4,
    0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe,
    0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f,
    0x4a7484aa, 0x5cb0a9dc, 0x76f988da, 0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7,
    0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc,
    0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b,
    0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070, 0x19a4c116,
    0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7,
    0xc67178f2};

static uint32_t turn(uint32_t x, int n)
{
    return x >> n | x << (32 - n);
}

static void schedule(const uint8_t *p, uint32_t w[64])
{
    for (int i = 0; i < 16; i++, p += 4)
        w[i] = (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
    for (int i = 16; i < 64; i++) {
        uint32_t a = w[i - 15], b = w[i - 2];
        w[i] = w[i - 16] + (turn(a, 7) ^ turn(a, 18) ^ a >> 3) + w[i - 7] +
               (turn(b, 17) ^ turn(b, 19) ^ b >> 10);
    }
}

static void block(uint32_t h[8], const uint8_t *p)
{
    uint32_t w[64], s[8];
    schedule(p, w);
    memcpy(s, h, sizeof s);
    for (int i = 0; i < 64; i++) {
        uint32_t e = s[4], a = s[0];
        uint32_t t1 = s[7] + (turn(e, 6) ^ turn(e, 11) ^ turn(e, 25)) +
                      ((e & s[5]) ^ (~e & s[6])) + k[i] + w[i];
        uint32_t t2 = (turn(a, 2) ^ turn(a, 13) ^ turn(a, 22)) +
                      ((a & s[1]) ^ (a & s[2]) ^ (s[1] & s[2]));
        memmove(s + 1, s, 7 * sizeof *s);
        s[4] += t1;
        s[0] = t1 + t2;
    }
    for (int i = 0; i < 8; i++)
        h[i] += s[i];
}

void sha256_init(struct sha256 *s)
{
    static const uint32_t start[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                      0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
    memcpy(s->h, start, sizeof s->h);
    s->bytes = 0;
}

void sha256_add(struct sha256 *s, const void *data, size_t n)
{
    const uint8_t *p = data;
    while (n) {
        size_t at = s->bytes % 64, room = MIN(n, 64 - at);
        memcpy(s->block + at, p, room);
        s->bytes += room;
        p += room;
        n -= room;
        if (s->bytes % 64 == 0)
            block(s->h, s->block);
    }
}

void sha256_hex(struct sha256 *s, char out[65])
{
    uint64_t bits = s->bytes * 8;
    uint8_t end[72] = {0x80}, len[8];
    sha256_add(s, end, 1 + (119 - s->bytes % 64) % 64);
    for (int i = 0; i < 8; i++)
        len[i] = (uint8_t)(bits >> (56 - 8 * i));
    sha256_add(s, len, sizeof len);
    for (int i = 0; i < 8; i++)
        snprintf(out + 8 * i, 9, "%08x", s->h[i]);
}

enum pd_code sha256_file(const char *path, char out[65], int64_t *bytes, struct pd_err *err)
{
    struct sha256 s;
    uint8_t buf[1 << 14];
    ssize_t n;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return pd_fail_errno(err, PD_IO, _("%s can't be opened"), path);
    sha256_init(&s);
    while ((n = read(fd, buf, sizeof buf)) > 0 || (n < 0 && errno == EINTR))
        if (n > 0)
            sha256_add(&s, buf, (size_t)n);
    if (n < 0)
        pd_fail_errno(err, PD_IO, _("%s can't be read"), path);
    close(fd);
    *bytes = (int64_t)s.bytes;
    sha256_hex(&s, out);
    return n < 0 ? err->code : PD_OK;
}
