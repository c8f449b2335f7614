/* text.c - columns of text (text.h). */
#include "tui/text.h"

#include <math.h>

#include "core/base/utf8.h"

/* Marks that may not begin a line, and marks that may not end one. */
static bool is_closing(uint32_t cp)
{
    static const uint32_t marks[] = {0x3001, 0x3002, 0xFF0C, 0xFF1A, 0xFF1B, 0xFF01, 0xFF1F,
                                     0xFF09, 0x300B, 0x300D, 0x300F, 0x3011, 0x201D, 0x2019,
                                     ',',    '.',    ')',    ';',    ':'};
    for (size_t i = 0; i < ARRAY_LEN(marks); i++)
        if (marks[i] == cp)
            return true;
    return false;
}

static bool is_opening(uint32_t cp)
{
    return cp == 0xFF08 || cp == 0x300A || cp == 0x300C || cp == 0x300E || cp == 0x3010 ||
           cp == 0x201C || cp == '(';
}

struct scan {
    const char *s;
    size_t at, n;                /* place and length of the text */
    size_t cut, cut_len;         /* best break so far: next line, this line's bytes */
    int width;
    uint32_t before, before_that;
};

/* A mark such as the '*' of *strong* that opens: it stays with its word. */
static bool opens_mark(const struct scan *k)
{
    return (k->before == '*' || k->before == '`') && (k->before_that == ' ' || !k->before_that);
}

/* Is there a place to break between `before` and cp, at byte `at`? */
static void note_break(struct scan *k, uint32_t cp)
{
    bool wide_edge = k->before && (utf8_width(k->before) == 2 || utf8_width(cp) == 2);
    if (cp == ' ' && k->before != ' ') {
        k->cut_len = k->at;
        k->cut = k->at;
    } else if (wide_edge && k->before != ' ' && !is_closing(cp) && !is_opening(k->before) &&
               !opens_mark(k)) {
        k->cut_len = k->cut = k->at;
    }
}

static size_t skip_blanks(const char *s, size_t at)
{
    while (s[at] == ' ')
        at++;
    return at;
}

size_t text_break(const char *s, int width, size_t *len)
{
    struct scan k = {.s = s, .n = strlen(s)};
    int first = 0;
    while (k.at < k.n && s[k.at] != '\n') {
        int n;
        uint32_t cp = utf8_decode(s + k.at, k.n - k.at, &n);
        int w = MAX(utf8_width(cp), 0);
        if (!first)
            first = n;
        note_break(&k, cp);
        if (k.width + w > width && cp != ' ') {
            size_t cut = k.cut ? k.cut : MAX(k.at, (size_t)first);
            *len = k.cut ? k.cut_len : cut;
            return skip_blanks(s, cut);
        }
        k.width += w;
        k.at += (size_t)n;
        k.before_that = k.before;
        k.before = cp;
    }
    size_t next = s[k.at] == '\n' ? k.at + 1 : k.at;
    while (k.at > 0 && s[k.at - 1] == ' ')
        k.at--;
    *len = k.at;
    return next;
}

void text_fit(const char *s, int width, const char *ellipsis, struct str *out)
{
    if (utf8_str_width(s) <= width) {
        str_add(out, s);
        return;
    }
    int mark = utf8_str_width(ellipsis);
    if (mark > width)
        return;
    str_append(out, s, utf8_cut(s, width - mark));
    str_add(out, ellipsis);
}

void text_fit_middle(const char *s, int width, const char *ellipsis, struct str *out)
{
    int tail = MIN(7, width / 2);
    struct str end;
    if (utf8_str_width(s) <= width || width < 8) {
        text_fit(s, width, ellipsis, out);
        return;
    }
    str_init(&end, 4096);
    text_fit_left(s, tail, ellipsis, &end);
    str_append(out, s, utf8_cut(s, width - utf8_str_width(end.p)));
    str_add(out, end.p);
    str_release(&end);
}

void text_fit_left(const char *s, int width, const char *ellipsis, struct str *out)
{
    int have = utf8_str_width(s), mark = utf8_str_width(ellipsis);
    if (have <= width) {
        str_add(out, s);
        return;
    }
    if (mark > width)
        return;
    str_add(out, ellipsis);
    while (*s && utf8_str_width(s) > width - mark) {
        int n;
        utf8_decode(s, strlen(s), &n);
        s += n;
    }
    str_add(out, s);
}

/* "1.20e-04" as people write it: 1.2e-4. */
static void tidy_exponent(char *s)
{
    char *e = strchr(s, 'e');
    if (!e)
        return;
    int power = atoi(e + 1);
    char *end = e;
    if (memchr(s, '.', (size_t)(e - s))) {
        while (end[-1] == '0')
            end--;
        if (end[-1] == '.')
            end--;
    }
    snprintf(end, (size_t)(24 - (end - s)), "e%d", power);
}

char *text_number(double v, char buf[24])
{
    double a = fabs(v);
    if (isnan(v))
        return str_copy(buf, 24, "-");
    if (isinf(v))
        return str_copy(buf, 24, v > 0 ? "Inf" : "-Inf");
    if (a != 0 && (a < 1e-3 || a >= 1e6)) {
        snprintf(buf, 24, "%.2e", v);
        tidy_exponent(buf);
    } else if (a >= 100) {
        snprintf(buf, 24, "%.0f", v);
    } else if (a >= 10) {
        snprintf(buf, 24, "%.2f", v);
    } else if (a >= 0.1 || a == 0) {
        snprintf(buf, 24, "%.3f", v);
    } else {
        snprintf(buf, 24, a >= 0.01 ? "%.4f" : "%.5f", v);
    }
    return buf;
}

char *text_span(double seconds, char buf[24])
{
    if (isnan(seconds) || seconds < 0 || seconds > 1e8)
        return str_copy(buf, 24, "-");
    long s = lround(seconds);
    if (s < 60)
        return str_fmt(buf, 24, "%lds", s);
    if (s < 3600)
        return str_fmt(buf, 24, "%ldm%02lds", s / 60, s % 60);
    if (s < 86400)
        return str_fmt(buf, 24, "%ldh%02ldm", s / 3600, s / 60 % 60);
    return str_fmt(buf, 24, "%ldd%02ldh", s / 86400, s / 3600 % 24);
}

char *text_amount(double done, double total, const char *unit, char buf[48])
{
    static const struct { const char *name; double size; } scale[] = {
        {"GB", 1e9}, {"MB", 1e6}, {"kB", 1e3}};
    const char *name = unit;
    double size = 1;
    bool bytes = str_eq(unit, "B") || str_eq(unit, "bytes");
    for (size_t i = 0; bytes && i < ARRAY_LEN(scale); i++) {
        if (MAX(done, total) >= scale[i].size) {
            name = scale[i].name;
            size = scale[i].size;
            break;
        }
    }
    if (total <= 0)
        return size > 1 ? str_fmt(buf, 48, "%.1f %s", done / size, name)
                        : str_fmt(buf, 48, "%.0f %s", done, name);
    return size > 1 ? str_fmt(buf, 48, "%.1f/%.1f %s", done / size, total / size, name)
                    : str_fmt(buf, 48, "%.0f/%.0f %s", done, total, name);
}
