/* doctor.c - the file as bytes and lines; findings are collected (doctor.h). */
#include "core/train/doctor.h"

#include <stdarg.h>

#include "core/base/i18n.h"
#include "core/base/mem.h"
#include "core/base/path.h"
#include "core/base/utf8.h"

#define FILE_CEILING ((size_t)2 << 30)

void doctor_init(struct doctor *d, const struct tok *tok, int most)
{
    *d = (struct doctor){.tok = tok, .most = most};
}

void doctor_release(struct doctor *d)
{
    doctor_columns_free(d->columns);
    doctor_seen_free(d->seen);
    free(d->lengths);
    free(d->v);
}

void doctor_add(struct doctor *d, enum doc_kind kind, int row, const char *fmt, ...)
{
    char detail[DOC_DETAIL];
    va_list ap;
    int i = 0;
    va_start(ap, fmt);
    vsnprintf(detail, sizeof detail, fmt, ap);
    va_end(ap);
    while (i < d->n && !(d->v[i].kind == kind && str_eq(d->v[i].detail, detail)))
        i++;
    if (i == d->n) {
        if (d->n == d->cap) {
            d->cap = d->cap ? 2 * d->cap : 32;
            d->v = xrealloc_array(d->v, (size_t)d->cap, sizeof *d->v);
        }
        d->v[d->n] = (struct doc_finding){.kind = kind};
        str_copy(d->v[d->n++].detail, DOC_DETAIL, detail);
    }
    struct doc_finding *f = &d->v[i];
    if (row > 0 && f->n > 0 && f->n <= DOC_ROWS && f->rows[f->n - 1] == row)
        return;
    if (row > 0 && f->n < DOC_ROWS)
        f->rows[f->n] = row;
    f->n += row > 0;
}

/* --- lines -------------------------------------------------------------------------- */

static size_t blank(const char *s, size_t n)
{
    size_t i = 0;
    while (i < n && (s[i] == ' ' || s[i] == '\t' || s[i] == '\r'))
        i++;
    return i;
}

static void read_line(struct doctor *d, const char *s, size_t n, int row, bool last)
{
    struct tjson *j = NULL;
    struct pd_err why;
    if (n > 0 && s[n - 1] == '\r') {
        doctor_add(d, DOC_CRLF, row, "%s", "");
        n--;
    }
    if (blank(s, n) == n) {
        doctor_add(d, DOC_EMPTY_LINE, row, "%s", "");
        return;
    }
    if (!utf8_valid(s, n)) {
        doctor_add(d, DOC_BAD_UTF8, row, "%s", "");
        return;
    }
    d->rows++;
    if (tjson_parse(s, n, "", row, &j, &why) != PD_OK)
        doctor_explain_line(d, s, n, row, last, &why);
    else
        doctor_row(d, j, row);
    tjson_free(j);
}

static void read_lines(struct doctor *d, const char *s, size_t n)
{
    for (int row = 1; n > 0; row++) {
        const char *end = memchr(s, '\n', n);
        size_t len = end ? (size_t)(end - s) : n;
        read_line(d, s, len, row, len + 1 >= n);
        len += end != NULL;
        s += len;
        n -= len;
    }
}

static void read_array(struct doctor *d, const struct tjson *j)
{
    doctor_add(d, DOC_ARRAY, 0, "%s", "");
    for (size_t i = 0; i < tjson_count(j); i++) {
        d->rows++;
        doctor_row(d, tjson_item(j, i), (int)i + 1);
    }
}

/* --- the file ------------------------------------------------------------------------ */

/* UTF-16 and UTF-32 by their marks, or by the zeros between ASCII. */
static const char *other_encoding(const char *s, size_t n)
{
    static const struct {
        const char *mark, *name;
        size_t n;
    } marks[] = {{"\xff\xfe\0\0", "UTF-32", 4}, {"\0\0\xfe\xff", "UTF-32", 4},
                 {"\xff\xfe", "UTF-16", 2},     {"\xfe\xff", "UTF-16", 2}};
    for (size_t i = 0; i < ARRAY_LEN(marks); i++)
        if (n >= marks[i].n && memcmp(s, marks[i].mark, marks[i].n) == 0)
            return marks[i].name;
    return n >= 4 && ((!s[1] && !s[3] && s[0]) || (!s[0] && !s[2] && s[1])) ? "UTF-16" : NULL;
}

static void read_text(struct doctor *d, const char *s, size_t n)
{
    struct tjson *j = NULL;
    struct pd_err ignored;
    const char *other = other_encoding(s, n);
    if (other) {
        doctor_add(d, DOC_UTF16, 0, "%s", other);
        return;
    }
    if (n >= 3 && memcmp(s, "\xef\xbb\xbf", 3) == 0) {
        doctor_add(d, DOC_BOM, 0, "%s", "");
        s += 3;
        n -= 3;
    }
    size_t at = 0;
    while (at < n && (s[at] == '\n' || blank(s + at, 1)))
        at++;
    if (at == n)
        doctor_add(d, DOC_EMPTY_FILE, 0, "%s", "");
    else if (s[at] == '[' && tjson_parse(s, n, "", 1, &j, &ignored) == PD_OK)
        read_array(d, j);
    else
        read_lines(d, s, n);
    tjson_free(j);
}

enum pd_code doctor_read(struct doctor *d, const char *path, struct pd_err *err)
{
    struct str text;
    str_init(&text, FILE_CEILING);
    enum pd_code rc = path_read(path, FILE_CEILING, &text, err);
    if (rc == PD_OK) {
        read_text(d, text.p ? text.p : "", text.len);
        doctor_columns_end(d);
    }
    str_release(&text);
    return rc;
}
