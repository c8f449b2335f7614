/* quantity.c - exact Kubernetes quantities (quantity.h). Grammar and rounding:
 * apimachinery pkg/api/resource. */
#include "k8s/quantity.h"

#include "core/base/str.h"

#define NANO ((__int128)1000000000)
/* Values are held below 2^63 units, as the server does. */
#define LIMIT ((__int128)INT64_MAX * NANO)

static const struct {
    const char *suffix;
    int power;                        /* of 10, or of 2 when binary */
    bool binary;
} suffixes[] = {
    {"n", -9, false}, {"u", -6, false}, {"m", -3, false}, {"", 0, false},
    {"k", 3, false},  {"M", 6, false},  {"G", 9, false},  {"T", 12, false},
    {"P", 15, false}, {"E", 18, false}, {"Ki", 10, true}, {"Mi", 20, true},
    {"Gi", 30, true}, {"Ti", 40, true}, {"Pi", 50, true}, {"Ei", 60, true},
};

/* Digits with at most one point: value as digits * 10^-scale. Digits beyond
 * what 128 bits hold only count as "something is left" (rounded up later). */
struct decimal {
    __int128 digits;
    int scale;
    bool rest;
};

static const char *read_decimal(const char *s, struct decimal *d)
{
    bool point = false, any = false;
    *d = (struct decimal){0, 0, false};
    for (;; s++) {
        if (*s == '.' && !point) {
            point = true;
            continue;
        }
        if (*s < '0' || *s > '9')
            break;
        any = true;
        if (point && d->scale >= 18) {
            d->rest |= *s != '0';
            continue;
        }
        if (d->digits > LIMIT)
            return NULL;
        d->digits = d->digits * 10 + (*s - '0');
        d->scale += point;
    }
    return any ? s : NULL;
}

/* digits * 10^-scale * factor into nano, rounded away from zero. */
static bool scale_to_nano(struct decimal d, int power10, int power2, __int128 *nano)
{
    int exponent = 9 + power10 - d.scale;
    __int128 v = d.digits;
    for (int i = 0; i < power2; i++) {
        if (v > ((__int128)1 << 120))
            return false;
        v *= 2;
    }
    for (; exponent > 0 && v != 0; exponent--) {
        if (v > LIMIT * 10)
            return false;
        v *= 10;
    }
    bool rest = d.rest;
    for (; exponent < 0; exponent++) {
        rest |= v % 10 != 0;
        v /= 10;
    }
    v += rest;
    *nano = v;
    return v <= LIMIT;
}

static bool read_suffix(const char *s, int *power10, int *power2, char *format)
{
    int64_t exponent;
    for (size_t i = 0; i < ARRAY_LEN(suffixes); i++)
        if (!strcmp(suffixes[i].suffix, s)) {
            *power10 = suffixes[i].binary ? 0 : suffixes[i].power;
            *power2 = suffixes[i].binary ? suffixes[i].power : 0;
            *format = suffixes[i].binary ? 'b' : 'd';
            return true;
        }
    if (*s != 'e' && *s != 'E')
        return false;
    s += s[1] == '+' ? 2 : 1;
    if (!str_to_i64(s, &exponent) || exponent > 30 || exponent < -30)
        return false;
    *power10 = (int)exponent;
    *power2 = 0;
    *format = 'e';
    return true;
}

bool quantity_parse(const char *s, struct quantity *out)
{
    struct decimal d;
    int power10, power2;
    char format;
    __int128 nano;
    bool negative = s && *s == '-';
    if (!s)
        return false;
    const char *rest = read_decimal(s + (*s == '-' || *s == '+'), &d);
    if (!rest || !read_suffix(rest, &power10, &power2, &format) ||
        !scale_to_nano(d, power10, power2, &nano))
        return false;
    out->nano = negative ? -nano : nano;
    out->format = format;
    return true;
}

/* Division that rounds up (towards plus infinity), as Quantity.Value does. */
static bool rounded(const char *s, __int128 unit, int64_t *out)
{
    struct quantity q;
    if (!quantity_parse(s, &q))
        return false;
    __int128 v = q.nano / unit;
    if (q.nano % unit > 0)
        v++;
    if (v > INT64_MAX || v < INT64_MIN)
        return false;
    *out = (int64_t)v;
    return true;
}

bool quantity_units(const char *s, int64_t *out)
{
    return rounded(s, NANO, out);
}

bool quantity_milli(const char *s, int64_t *out)
{
    return rounded(s, NANO / 1000, out);
}

int quantity_compare(const struct quantity *a, const struct quantity *b)
{
    return a->nano < b->nano ? -1 : a->nano > b->nano;
}

void quantity_add(struct quantity *a, const struct quantity *b)
{
    if (a->nano == 0)
        a->format = b->format;
    a->nano += b->nano;
}

void quantity_sub(struct quantity *a, const struct quantity *b)
{
    if (a->nano == 0)
        a->format = b->format;
    a->nano -= b->nano;
}

static void print_whole(__int128 v, char *buf, size_t size)
{
    char digits[48];
    size_t n = 0;
    do
        digits[n++] = (char)('0' + (int)(v % 10));
    while ((v /= 10) > 0 && n < sizeof digits);
    size_t k = 0;
    while (n > 0 && k + 1 < size)
        buf[k++] = digits[--n];
    buf[k] = '\0';
}

/* The largest suffix that leaves a whole number. */
char *quantity_text(const struct quantity *q, char buf[64])
{
    __int128 v = q->nano < 0 ? -q->nano : q->nano;
    const char *sign = q->nano < 0 ? "-" : "", *suffix = "n";
    char whole[48];
    if (v == 0)
        return str_copy(buf, 64, "0");
    /* binary form only when there is no fraction and at least 1 Ki */
    if (q->format == 'b' && v % NANO == 0 && v / NANO >= 1024) {
        int i = 0;
        static const char *const names[] = {"", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"};
        for (v /= NANO; v % 1024 == 0 && i < 6; i++)
            v /= 1024;
        suffix = names[i];
    } else if (q->format == 'e') {
        int e = -9;
        for (; v % 1000 == 0; e += 3)
            v /= 1000;
        print_whole(v, whole, sizeof whole);
        return e == 0 ? str_fmt(buf, 64, "%s%s", sign, whole)
                      : str_fmt(buf, 64, "%s%se%d", sign, whole, e);
    } else {
        static const char *const names[] = {"n", "u", "m", "", "k", "M", "G", "T", "P", "E"};
        size_t i = 0;
        for (; v % 1000 == 0 && i + 1 < ARRAY_LEN(names); i++)
            v /= 1000;
        suffix = names[i];
    }
    print_whole(v, whole, sizeof whole);
    return str_fmt(buf, 64, "%s%s%s", sign, whole, suffix);
}

char *quantity_bytes(int64_t bytes, char buf[32])
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
    double v = (double)bytes;
    size_t i = 0;
    for (; (v >= 1024 || v <= -1024) && i + 1 < ARRAY_LEN(units); i++)
        v /= 1024;
    return str_fmt(buf, 32, i == 0 ? "%.0f %s" : v < 10 ? "%.2f %s" : "%.1f %s", v, units[i]);
}
