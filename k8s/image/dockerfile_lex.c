/* dockerfile_lex.c - physical lines to logical lines: byte order mark, parser
 * directives, comments and continuation, each byte's place remembered. */
#include <ctype.h>
#include <stdarg.h>

#include "core/base/i18n.h"
#include "core/base/mem.h"
#include "k8s/image/dockerfile_priv.h"

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\v' || c == '\f' || c == '\r';
}

void dockerfile_lex_init(struct df_reader *r, const char *name, const char *text, size_t len)
{
    memset(r, 0, sizeof *r);
    if (len >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0) {
        text += 3;
        len -= 3;
    }
    r->name = name;
    r->p = text;
    r->end = text + len;
    r->line = 1;
    r->escape = '\\';
    str_init(&r->cur.text, DOCKERFILE_CEILING + 16);
    strv_init(&r->seen);
    strv_init(&r->directives);
}

void dockerfile_lex_release(struct df_reader *r)
{
    str_release(&r->cur.text);
    free(r->cur.v);
    strv_release(&r->seen);
    strv_release(&r->directives);
}

void dockerfile_lex_place(const struct df_line *l, size_t off, int *line, int *col)
{
    size_t lo = 0, hi = l->n;             /* the last span that starts at or before off */
    while (hi - lo > 1) {
        size_t mid = lo + (hi - lo) / 2;
        if (l->v[mid].off <= off)
            lo = mid;
        else
            hi = mid;
    }
    const struct df_span *s = &l->v[lo];
    int c = 1;
    for (const char *p = s->start; p < s->src + (off - s->off); p++)
        c += ((unsigned char)*p & 0xc0) != 0x80;
    *line = s->line;
    *col = c;
}

enum pd_code dockerfile_fail(struct pd_err *err, const struct df_reader *r, size_t off,
                             const char *fmt, ...)
{
    char msg[sizeof err->msg];
    int line, col;
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(msg, sizeof msg, fmt, ap);
    va_end(ap);
    dockerfile_lex_place(&r->cur, off, &line, &col);
    return pd_fail_at(err, PD_PARSE, r->name, line, col, "%s", msg);
}

bool dockerfile_lex_raw(struct df_reader *r, const char **from, const char **to)
{
    if (r->p >= r->end)
        return false;
    const char *nl = memchr(r->p, '\n', (size_t)(r->end - r->p));
    *from = r->p;
    *to = nl ? nl : r->end;
    r->p = nl ? nl + 1 : r->end;
    r->line++;
    if (*to > *from && (*to)[-1] == '\r')
        (*to)--;
    return true;
}

static const char *skip_blank(const char *p, const char *end)
{
    while (p < end && is_blank(*p))
        p++;
    return p;
}

static bool has_nul(const char *p, const char *end)
{
    while (p < end && *p)
        p++;
    return p < end;
}

static void add_span(struct df_line *l, const char *start, const char *from, const char *to,
                     int line)
{
    l->v = xrealloc_array(l->v, l->n + 1, sizeof *l->v);
    l->v[l->n++] = (struct df_span){l->text.len, from, start, line};
    str_append(&l->text, from, (size_t)(to - from));
}

/* "# key = value" with a known key; false when the line is no directive. */
static bool read_directive(const char *p, const char *to, char key[16], const char **value,
                           const char **value_end)
{
    size_t n = 0;
    p = skip_blank(p + 1, to);
    for (; p < to && isalnum((unsigned char)*p); p++) {
        if (n == 15)
            return false;
        key[n++] = (char)tolower((unsigned char)*p);
    }
    key[n] = '\0';
    p = skip_blank(p, to);
    if (p == to || *p != '=')
        return false;
    p = skip_blank(p + 1, to);
    while (to > p && is_blank(to[-1]))
        to--;
    *value = p;
    *value_end = to;
    return p < to && (str_eq(key, "syntax") || str_eq(key, "escape") || str_eq(key, "check"));
}

static enum pd_code directive(struct df_reader *r, const char *start, const char *from,
                              const char *to, struct pd_err *err)
{
    char key[16];
    const char *v, *ve;
    int line = r->line - 1;
    if (r->directives_over || !read_directive(from, to, key, &v, &ve)) {
        r->directives_over = true;        /* an ordinary comment ends them */
        return PD_OK;
    }
    if (strv_has(&r->seen, key))
        return pd_fail_at(err, PD_PARSE, r->name, line, (int)(from - start) + 1,
                          _("the directive \"%s\" stands twice"), key);
    strv_push(&r->seen, key);
    strv_pushf(&r->directives, "%s=%.*s", key, (int)MIN(ve - v, 400), v);
    if (!str_eq(key, "escape"))
        return PD_OK;
    if (ve - v != 1 || (*v != '\\' && *v != '`'))
        return pd_fail_at(err, PD_PARSE, r->name, line, (int)(v - start) + 1,
                          _("the escape character must be \\ or `, not \"%.*s\""),
                          (int)MIN(ve - v, 40), v);
    r->escape = *v;
    return PD_OK;
}

/* End of the text before a continuation mark, or NULL when there is none. */
static const char *continuation(const struct df_reader *r, const char *from, const char *to)
{
    while (to > from && (to[-1] == ' ' || to[-1] == '\t'))
        to--;
    if (to == from || to[-1] != r->escape)
        return NULL;
    to--;
    return to > from && to[-1] == r->escape ? NULL : to;
}

enum pd_code dockerfile_lex_next(struct df_reader *r, bool *more, struct pd_err *err)
{
    const char *start, *to;
    bool open = false;
    str_clear(&r->cur.text);
    r->cur.n = 0;
    while (dockerfile_lex_raw(r, &start, &to)) {
        const char *from = skip_blank(start, to);
        if (has_nul(start, to))
            return pd_fail_at(err, PD_PARSE, r->name, r->line - 1, 1,
                              _("the line holds a NUL byte"));
        if (from < to && *from == '#') {
            enum pd_code rc = directive(r, start, from, to, err);
            if (rc != PD_OK)
                return rc;
            continue;
        }
        r->directives_over = true;
        if (from == to)
            continue;
        const char *cut = continuation(r, from, to);
        add_span(&r->cur, start, open ? start : from, cut ? cut : to, r->line - 1);
        open = cut != NULL;
        if (!open)
            break;
    }
    while (r->cur.text.len > 0 && is_blank(r->cur.text.p[r->cur.text.len - 1]))
        r->cur.text.p[--r->cur.text.len] = '\0';
    *more = r->cur.n > 0;
    return PD_OK;
}

bool dockerfile_lex_word(const char *text, size_t n, char quote_escape, size_t *off, size_t *from,
                         size_t *to)
{
    size_t i = *off;
    char quote = 0;
    while (i < n && is_blank(text[i]))
        i++;
    *from = i;
    for (; i < n && (quote || !is_blank(text[i])); i++) {
        if (!quote_escape)
            continue;
        if (text[i] == quote_escape && i + 1 < n)
            i++;
        else if (quote ? text[i] == quote : (text[i] == '"' || text[i] == '\''))
            quote = quote ? 0 : text[i];
    }
    *off = *to = i;
    return i > *from;
}
