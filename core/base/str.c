/* str.c - growing strings, string vectors, small parsers (str.h). */
#include "core/base/str.h"

#include <errno.h>
#include <math.h>

#include "core/base/mem.h"

static char empty[1];

void str_init(struct str *s, size_t ceiling)
{
    *s = (struct str){.p = empty, .ceiling = ceiling};
}

void str_release(struct str *s)
{
    if (s->cap)
        free(s->p);
    str_init(s, s->ceiling);
}

void str_clear(struct str *s)
{
    s->len = 0;
    s->full = false;
    if (s->cap)
        s->p[0] = '\0';
}

char *str_take(struct str *s)
{
    char *p = s->cap ? s->p : xstrdup("");
    str_init(s, s->ceiling);
    return p;
}

static void reserve(struct str *s, size_t need)
{
    if (need + 1 <= s->cap)
        return;
    size_t cap = s->cap ? s->cap : 32;
    while (cap < need + 1)
        cap *= 2;
    s->p = xrealloc(s->cap ? s->p : NULL, cap);
    s->cap = cap;
}

bool str_append(struct str *s, const void *data, size_t n)
{
    size_t room = s->ceiling > s->len ? s->ceiling - s->len : 0;
    bool fits = n <= room;
    if (!fits) {
        s->full = true;
        n = room;
    }
    if (n == 0)
        return fits;
    reserve(s, s->len + n);
    memcpy(s->p + s->len, data, n);
    s->len += n;
    s->p[s->len] = '\0';
    return fits;
}

bool str_add(struct str *s, const char *text)
{
    return str_append(s, text, strlen(text));
}

bool str_addc(struct str *s, char c)
{
    return str_append(s, &c, 1);
}

bool str_vprintf(struct str *s, const char *fmt, va_list ap)
{
    char small[512];
    va_list again;
    va_copy(again, ap);
    int n = vsnprintf(small, sizeof small, fmt, ap);
    bool ok;
    if (n >= 0 && (size_t)n < sizeof small) {
        ok = str_append(s, small, (size_t)n);
    } else {
        char *big = xmalloc((size_t)n + 1);
        vsnprintf(big, (size_t)n + 1, fmt, again);
        ok = str_append(s, big, (size_t)n);
        free(big);
    }
    va_end(again);
    return ok;
}

bool str_printf(struct str *s, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    bool ok = str_vprintf(s, fmt, ap);
    va_end(ap);
    return ok;
}

void str_consume(struct str *s, size_t n)
{
    assert(n <= s->len);
    if (n == 0)
        return;
    memmove(s->p, s->p + n, s->len - n);
    s->len -= n;
    s->p[s->len] = '\0';
}

/* --- vectors --------------------------------------------------------------- */

void strv_init(struct strv *v)
{
    *v = (struct strv){0};
}

void strv_release(struct strv *v)
{
    for (size_t i = 0; i < v->n; i++)
        free(v->v[i]);
    free(v->v);
    strv_init(v);
}

static void push_owned(struct strv *v, char *s)
{
    if (v->n + 2 > v->cap) {
        v->cap = v->cap ? v->cap * 2 : 8;
        v->v = xrealloc_array(v->v, v->cap, sizeof *v->v);
    }
    v->v[v->n++] = s;
    v->v[v->n] = NULL;
}

void strv_push(struct strv *v, const char *s)
{
    push_owned(v, xstrdup(s));
}

void strv_pushf(struct strv *v, const char *fmt, ...)
{
    struct str s;
    va_list ap;
    str_init(&s, SIZE_MAX / 2);
    va_start(ap, fmt);
    (void)str_vprintf(&s, fmt, ap);
    va_end(ap);
    push_owned(v, str_take(&s));
}

void strv_split(struct strv *v, const char *s, char sep)
{
    const char *end;
    while ((end = strchr(s, sep))) {
        push_owned(v, xstrndup(s, (size_t)(end - s)));
        s = end + 1;
    }
    strv_push(v, s);
}

bool strv_has(const struct strv *v, const char *s)
{
    for (size_t i = 0; i < v->n; i++)
        if (strcmp(v->v[i], s) == 0)
            return true;
    return false;
}

/* --- small things ---------------------------------------------------------- */

bool str_eq(const char *a, const char *b)
{
    return a && b ? strcmp(a, b) == 0 : a == b;
}

bool str_starts(const char *s, const char *prefix)
{
    return strncmp(s, prefix, strlen(prefix)) == 0;
}

bool str_ends(const char *s, const char *suffix)
{
    size_t n = strlen(s), m = strlen(suffix);
    return n >= m && memcmp(s + n - m, suffix, m) == 0;
}

bool str_to_i64(const char *s, int64_t *out)
{
    char *end;
    if (!s || !*s || *s == ' ' || *s == '\t' || *s == '\n')
        return false;
    errno = 0;
    long long v = strtoll(s, &end, 10);
    if (errno || *end)
        return false;
    *out = v;
    return true;
}

bool str_to_f64(const char *s, double *out)
{
    char *end;
    if (!s || !*s || *s == ' ' || *s == '\t' || *s == '\n')
        return false;
    errno = 0;
    double v = strtod(s, &end);
    if (*end || (errno == ERANGE && isinf(v)))
        return false;
    *out = v;
    return true;
}

char *str_copy(char *dst, size_t size, const char *src)
{
    assert(size > 0);
    size_t n = strnlen(src, size - 1);
    memmove(dst, src, n);
    dst[n] = '\0';
    return dst;
}

char *str_fmt(char *dst, size_t size, const char *fmt, ...)
{
    assert(size > 0);
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(dst, size, fmt, ap);
    va_end(ap);
    return dst;
}

enum { NEAR_MAX = 40 };

/* Edit distance of two short strings; two neighbours swapped ("FORM") count as
 * one edit. Three rows of the table are kept. */
static size_t distance(const char *a, const char *b)
{
    size_t rows[3][NEAR_MAX + 1], n = strlen(a), m = strlen(b);
    size_t *before = rows[0], *last = rows[1], *row = rows[2];
    for (size_t j = 0; j <= m; j++)
        row[j] = j;
    for (size_t i = 1; i <= n; i++) {
        size_t *free_row = before;
        before = last;
        last = row;
        row = free_row;
        row[0] = i;
        for (size_t j = 1; j <= m; j++) {
            size_t change = last[j - 1] + (a[i - 1] != b[j - 1]);
            row[j] = MIN(change, MIN(last[j], row[j - 1]) + 1);
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                row[j] = MIN(row[j], before[j - 2] + 1);
        }
    }
    return row[m];
}

const char *str_nearest(const char *s, const char *const *candidates, size_t n)
{
    const char *best = NULL;
    size_t len = strlen(s), least = MAX(len / 3, (size_t)1) + 1;
    if (len > NEAR_MAX)
        return NULL;
    for (size_t i = 0; i < n; i++) {
        if (strlen(candidates[i]) > NEAR_MAX)
            continue;
        size_t d = distance(s, candidates[i]);
        if (d < least) {
            least = d;
            best = candidates[i];
        }
    }
    return best;
}
