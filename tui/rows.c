/* rows.c - building rows (rows.h). */
#include "tui/rows.h"

#include <math.h>

#include "core/base/utf8.h"
#include "tui/text.h"

enum { ROWS_CEILING = 64 << 20, ROW_TEXT = 4096 };

void rows_init(struct rows *r, enum glyph_set glyphs)
{
    memset(r, 0, sizeof *r);
    arena_init(&r->arena, ROWS_CEILING);
    r->glyphs = glyphs;
}

void rows_release(struct rows *r)
{
    for (int i = 0; i < r->cap; i++)
        free(r->v[i].span);
    free(r->v);
    arena_release(&r->arena);
    memset(r, 0, sizeof *r);
}

void rows_clear(struct rows *r)
{
    r->n = 0;
    r->first = r->total = r->ids = r->mark = 0;
    arena_clear(&r->arena);
}

struct row *rows_new(struct rows *r, int id)
{
    if (r->n == r->cap) {
        int cap = r->cap ? r->cap * 2 : 64;
        r->v = xrealloc_array(r->v, (size_t)cap, sizeof *r->v);
        memset(r->v + r->cap, 0, sizeof *r->v * (size_t)(cap - r->cap));
        r->cap = cap;
    }
    struct row *row = &r->v[r->n++];
    row->n = row->width = 0;
    row->id = id;
    row->dim = r->dim;
    return row;
}

/* Takes text that lives as long as the rows. */
static void add_span(struct rows *r, enum role role, const char *text)
{
    if (r->n == 0)
        rows_new(r, -1);
    struct row *row = &r->v[r->n - 1];
    if (row->n == row->cap) {
        row->cap = row->cap ? row->cap * 2 : 8;
        row->span = xrealloc_array(row->span, (size_t)row->cap, sizeof *row->span);
    }
    int w = utf8_str_width(text);
    row->span[row->n++] = (struct span){text, (uint8_t)role, 0, (uint16_t)w};
    row->width += w;
}

void rows_put(struct rows *r, enum role role, const char *text)
{
    if (text && *text)
        add_span(r, role, arena_strdup(&r->arena, text));
}

void rows_putf(struct rows *r, enum role role, const char *fmt, ...)
{
    char buf[ROW_TEXT];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(buf, sizeof buf, fmt, ap);
    va_end(ap);
    rows_put(r, role, buf);
}

void rows_sign(struct rows *r, enum role role, enum glyph g)
{
    add_span(r, role, glyph_of(r->glyphs, g));
}

static void put_blanks(struct rows *r, int n)
{
    if (n <= 0)
        return;
    char *s = arena_alloc(&r->arena, (size_t)n + 1);
    memset(s, ' ', (size_t)n);
    add_span(r, ROLE_TEXT, s);
}

static void put_fitted(struct rows *r, enum role role, const char *text, int width)
{
    struct str s;
    str_init(&s, ROW_TEXT);
    text_fit(text, width, glyph_of(r->glyphs, G_MORE), &s);
    rows_put(r, role, s.p);
    str_release(&s);
}

void rows_cell(struct rows *r, enum role role, const char *text, int width)
{
    if (r->n == 0)
        rows_new(r, -1);
    int want = r->v[r->n - 1].width + width;
    put_fitted(r, role, text, width);
    rows_pad(r, want);
}

void rows_cell_right(struct rows *r, enum role role, const char *text, int width)
{
    put_blanks(r, width - utf8_str_width(text));
    put_fitted(r, role, text, width);
}

void rows_pad(struct rows *r, int column)
{
    put_blanks(r, column - r->v[r->n - 1].width);
}

void rows_right(struct rows *r, enum role role, const char *text, int width)
{
    int have = r->v[r->n - 1].width, w = utf8_str_width(text);
    put_blanks(r, MAX(width - w - have, have > 0 ? 1 : 0));
    rows_put(r, role, text);
}

void rows_blank(struct rows *r)
{
    rows_new(r, -1);
}

void rows_line(struct rows *r, enum role role, const char *text)
{
    rows_new(r, -1);
    rows_put(r, role, text);
}

void rows_linef(struct rows *r, enum role role, const char *fmt, ...)
{
    char buf[ROW_TEXT];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(buf, sizeof buf, fmt, ap);
    va_end(ap);
    rows_line(r, role, buf);
}

static bool is_code(const char *s)
{
    return str_starts(s, "    ") || str_starts(s, "> ");
}

/* Inline marks of a paragraph: `code`, *strong*. They may begin in one line and
 * end in another. */
struct marks {
    bool code, strong;
    char before;
};

/* Does the character at s switch a mark? A '*' opens after a blank and before
 * a word when another follows in the paragraph (s is NUL-terminated there), so
 * that "2 * 3" and a lone "*.yaml" stay. */
static bool switches(struct marks *m, const char *s)
{
    if (*s == '`') {
        m->code = !m->code;
        return true;
    }
    if (*s != '*' || m->code)
        return false;
    bool opens = !m->strong && (m->before == ' ' || m->before == '\0' || m->before == '(' ||
                                (unsigned char)m->before >= 0x80) &&
                 s[1] && s[1] != ' ' && s[1] != '.' && strchr(s + 1, '*');
    if (!opens && !m->strong)
        return false;
    m->strong = opens;
    return true;
}

static void put_piece(struct rows *r, enum role role, const char *s, size_t n, struct marks *m)
{
    size_t from = 0;
    for (size_t i = 0; i <= n; i++) {
        enum role now = m->code ? ROLE_CODE : m->strong ? ROLE_STRONG : role;
        if (i < n && !switches(m, s + i)) {
            m->before = s[i];
            continue;
        }
        char *piece = xstrndup(s + from, i - from);
        rows_put(r, now, piece);
        free(piece);
        from = i + 1;
    }
}

/* Code keeps its line; what is too long goes on below, indented. */
static void code_line(struct rows *r, int indent, const char *s, size_t n, int width)
{
    char *line = xstrndup(s, n);
    const char *p = line;
    for (int part = 0; *p; part++) {
        int in = indent + (part ? 4 : 0);
        size_t len, next = text_break(p, MAX(width - in, 1), &len);
        rows_new(r, -1);
        put_blanks(r, in);
        rows_putf(r, ROLE_CODE, "%.*s", (int)len, p);
        p += next;
    }
    free(line);
}

/* Columns of a list mark, "- " or "12. ": what follows hangs under its text. */
static int list_mark(const char *s)
{
    size_t n = strspn(s, " "), digits = strspn(s + n, "0123456789");
    if ((s[n] == '-' || s[n] == '*') && s[n + 1] == ' ')
        return (int)n + 2;
    return digits > 0 && digits < 3 && s[n + digits] == '.' && s[n + digits + 1] == ' '
               ? (int)(n + digits) + 2 : 0;
}

/* The paragraph at s in one line; returns where the next one begins. */
static const char *paragraph(const char *s, struct str *out)
{
    for (;;) {
        size_t n = strcspn(s, "\n");
        str_append(out, s, n);
        s += n + (s[n] == '\n');
        if (*s == '\0' || *s == '\n' || n == 0 || is_code(s) || list_mark(s))
            return s;
        s += strspn(s, " ");
        unsigned char last = out->len ? (unsigned char)out->p[out->len - 1] : ' ';
        bool wide = last >= 0x80 && (unsigned char)s[0] >= 0x80;
        if (!wide && last != ' ')
            str_addc(out, ' ');
    }
}

static void put_paragraph(struct rows *r, enum role role, int indent, const char *p, int width)
{
    struct marks marks = {false, false, '\0'};
    int hang = list_mark(p);
    for (int line = 0; *p; line++) {
        int in = indent + (line ? hang : 0);
        size_t len, next = text_break(p, MAX(width - in, 1), &len);
        rows_new(r, -1);
        put_blanks(r, in);
        if (line == 0 && hang) {         /* a '*' of a list opens nothing */
            rows_putf(r, role, "%.*s", hang, p);
            p += hang;
            len -= MIN(len, (size_t)hang);
            next -= MIN(next, (size_t)hang);
        }
        put_piece(r, role, p, len, &marks);
        marks.before = ' ';
        p += next;
    }
}

void rows_wrap(struct rows *r, enum role role, int indent, const char *text, int width)
{
    struct str para;
    str_init(&para, ROWS_CEILING);
    while (*text) {
        size_t line = strcspn(text, "\n");
        if (is_code(text)) {
            code_line(r, indent, text, line, width);
            text += line + (text[line] == '\n');
            continue;
        }
        if (line == 0)
            rows_new(r, -1);
        str_clear(&para);
        text = paragraph(text, &para);
        put_paragraph(r, role, indent, para.p, width);
    }
    str_release(&para);
}

void rows_bar(struct rows *r, double share, int width)
{
    bool boxed = r->glyphs != GLYPH_UNICODE && width > 4;
    int inner = boxed ? width - 2 : width;
    int full = isnan(share) ? 0 : (int)(share * inner + 0.5);
    full = MIN(MAX(full, 0), inner);
    if (boxed)
        rows_put(r, ROLE_BAR_REST, "[");
    for (int part = 0; part < 2; part++) {
        int n = part ? inner - full : full;
        const char *g = glyph_of(r->glyphs, part ? G_BAR_REST : G_BAR);
        size_t size = strlen(g);
        char *s = arena_alloc(&r->arena, size * (size_t)n + 1);
        for (int i = 0; i < n; i++)
            memcpy(s + size * (size_t)i, g, size);
        if (n > 0)
            add_span(r, part ? ROLE_BAR_REST : ROLE_BAR, s);
    }
    if (boxed)
        rows_put(r, ROLE_BAR_REST, "]");
}

void rows_text(const struct row *row, struct str *out)
{
    for (int i = 0; i < row->n; i++)
        str_add(out, row->span[i].text);
    while (out->len > 0 && out->p[out->len - 1] == ' ')
        out->p[--out->len] = '\0';
}
