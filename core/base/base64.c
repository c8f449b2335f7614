/* base64.c - base64 (base64.h). */
#include "core/base/base64.h"

static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

void base64_encode(const void *bytes, size_t n, struct str *out)
{
    const unsigned char *p = bytes;
    for (size_t i = 0; i < n; i += 3) {
        uint32_t v = 0;
        for (size_t k = 0; k < 3; k++)
            v = v << 8 | (i + k < n ? p[i + k] : 0);
        for (size_t k = 0; k < 4; k++)
            str_addc(out, i + k > n ? '=' : digits[v >> (18 - 6 * k) & 63]);
    }
}

bool base64_decode(const char *text, size_t n, struct str *out)
{
    uint32_t v = 0;
    int have = 0, pad = 0;
    for (size_t i = 0; i < n; i++) {
        const char *d = text[i] ? strchr(digits, text[i]) : NULL;
        if (strchr(" \t\r\n", text[i]) && text[i])
            continue;
        if (text[i] == '=' ? have < 2 : !d || pad)
            return false;
        pad += text[i] == '=';
        v = v << 6 | (d ? (uint32_t)(d - digits) : 0);
        if (++have < 4)
            continue;
        for (int k = 0; k < 3 - pad; k++)
            str_addc(out, (char)(v >> (16 - 8 * k)));
        v = 0;
        have = 0;
    }
    return have == 0;
}
