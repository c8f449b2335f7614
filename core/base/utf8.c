/* utf8.c - UTF-8 decoding, width, and text that can't control a terminal
 * (utf8.h). Decoding follows Unicode 15 table 3-7: no overlong forms, no
 * surrogates, nothing above U+10FFFF. */
#include "core/base/utf8.h"

#include "core/base/utf8_table.h"

enum { REPLACEMENT = 0xFFFD };
static bool ambiguous_wide;

void utf8_set_ambiguous_wide(bool wide)
{
    ambiguous_wide = wide;
}

enum utf8_got utf8_push(struct utf8_feed *f, unsigned char b, uint32_t *cp)
{
    static const struct {
        unsigned char mask, lead;
        int need;
        uint32_t min;
    } forms[] = {{0xE0, 0xC0, 1, 0x80}, {0xF0, 0xE0, 2, 0x800}, {0xF8, 0xF0, 3, 0x10000}};

    *cp = REPLACEMENT;
    if (f->need > 0) {
        if ((b & 0xC0) != 0x80) {
            f->need = 0;
            return UTF8_BAD_AGAIN;
        }
        f->cp = f->cp << 6 | (b & 0x3F);
        if (--f->need > 0)
            return UTF8_MORE;
        if (f->cp < f->min || f->cp > 0x10FFFF || (f->cp >= 0xD800 && f->cp <= 0xDFFF))
            return UTF8_BAD;
        *cp = f->cp;
        return UTF8_CHAR;
    }
    if (b < 0x80) {
        *cp = b;
        return UTF8_CHAR;
    }
    for (size_t i = 0; i < ARRAY_LEN(forms); i++) {
        if ((b & forms[i].mask) == forms[i].lead) {
            *f = (struct utf8_feed){(uint32_t)(b & ~forms[i].mask), forms[i].need, forms[i].min};
            return UTF8_MORE;
        }
    }
    return UTF8_BAD;
}

uint32_t utf8_decode(const char *s, size_t n, int *len)
{
    struct utf8_feed f = {0};
    uint32_t cp;
    assert(n > 0);
    for (size_t i = 0; i < n && i < 4; i++) {
        enum utf8_got got = utf8_push(&f, (unsigned char)s[i], &cp);
        if (got == UTF8_CHAR) {
            *len = (int)i + 1;
            return cp;
        }
        if (got != UTF8_MORE)
            break;
    }
    *len = 1;
    return REPLACEMENT;
}

int utf8_encode(uint32_t cp, char out[4])
{
    if (cp < 0x80) {
        out[0] = (char)cp;
        return 1;
    }
    int n = cp < 0x800 ? 2 : cp < 0x10000 ? 3 : 4;
    for (int i = n - 1; i > 0; i--, cp >>= 6)
        out[i] = (char)(0x80 | (cp & 0x3F));
    out[0] = (char)((0xF00 >> n & 0xFF) | cp);
    return n;
}

bool utf8_valid(const char *s, size_t n)
{
    while (n > 0) {
        int len;
        if (utf8_decode(s, n, &len) == REPLACEMENT && !(len == 3))
            return false;
        s += len;
        n -= (size_t)len;
    }
    return true;
}

/* --- width ------------------------------------------------------------------ */

static bool in_ranges(uint32_t cp, const struct utf8_range *r, size_t n)
{
    size_t lo = 0, hi = n;
    while (lo < hi) {
        size_t mid = (lo + hi) / 2;
        if (cp > r[mid].to)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo < n && cp >= r[lo].from;
}

int utf8_width(uint32_t cp)
{
    if (cp < 0x20 || (cp >= 0x7F && cp < 0xA0))
        return -1;
    if (cp < 0x7F)
        return 1;
    if (in_ranges(cp, utf8_zero, utf8_zero_n))
        return 0;
    if (in_ranges(cp, utf8_wide, utf8_wide_n))
        return 2;
    return ambiguous_wide && in_ranges(cp, utf8_ambiguous, utf8_ambiguous_n) ? 2 : 1;
}

int utf8_str_width(const char *s)
{
    int width = 0, len;
    for (size_t n = strlen(s); n > 0; s += len, n -= (size_t)len)
        width += MAX(utf8_width(utf8_decode(s, n, &len)), 0);
    return width;
}

size_t utf8_cut(const char *s, int width)
{
    size_t used = 0, n = strlen(s);
    int len;
    while (used < n) {
        int w = MAX(utf8_width(utf8_decode(s + used, n - used, &len)), 0);
        if (w > width)
            break;
        width -= w;
        used += (size_t)len;
    }
    return used;
}

/* --- cleaning --------------------------------------------------------------- */

static size_t run_of(const char *s, size_t n, size_t from, int low, int high)
{
    while (from < n && s[from] >= low && s[from] < high)
        from++;
    return from;
}

/* OSC, DCS, PM, APC, SOS: up to ST or BEL. */
static size_t string_len(const char *s, size_t n)
{
    size_t i = 2;
    for (; i < n && s[i] != '\n'; i++) {
        if (s[i] == '\a')
            return i + 1;
        if (s[i] == 0x1B)
            return i + 1 < n && s[i + 1] == '\\' ? i + 2 : i;
    }
    return i;
}

/* Length of the escape sequence at s[0] = ESC: CSI, a string, else
 * intermediates and a final byte. Never crosses a '\n'. */
static size_t escape_len(const char *s, size_t n)
{
    if (n < 2)
        return n;
    if (memchr("]PX^_", s[1], 5))
        return string_len(s, n);
    bool csi = s[1] == '[';
    size_t i = csi ? run_of(s, n, 2, 0x20, 0x40) : run_of(s, n, 1, 0x20, 0x30);
    return i < n && s[i] >= (csi ? 0x40 : 0x30) && s[i] < 0x7F ? i + 1 : i;
}

static bool dropped(uint32_t cp)
{
    return utf8_width(cp) < 0                       /* C0, C1 */
           || (cp >= 0x202A && cp <= 0x202E) || (cp >= 0x2066 && cp <= 0x2069)   /* bidi */
           || cp == 0x200E || cp == 0x200F || cp == 0x061C
           || cp == 0xFE0F || cp == 0x200D || cp == 0x2028 || cp == 0x2029 || cp == 0xFEFF;
}

static void add_char(uint32_t cp, int *column, struct str *out)
{
    char buf[4];
    str_append(out, buf, (size_t)utf8_encode(cp, buf));
    *column += utf8_width(cp);
}

static void add_tab(int *column, struct str *out)
{
    do {
        str_addc(out, ' ');
    } while (++*column % 8 != 0);
}

void utf8_clean(const char *s, size_t n, bool keep_newlines, struct str *out)
{
    int column = 0, len;
    for (size_t i = 0; i < n; i += (size_t)len) {
        uint32_t cp = utf8_decode(s + i, n - i, &len);
        if (cp == 0x1B) {
            len = (int)escape_len(s + i, n - i);
        } else if (cp == '\n' && keep_newlines) {
            str_addc(out, '\n');
            column = 0;
        } else if (cp == '\t') {
            add_tab(&column, out);
        } else if (!dropped(cp)) {
            add_char(cp, &column, out);
        }
    }
}
