/* edit.c - the small editor (edit.h). */
#include "tui/edit.h"

#include "core/base/mem.h"
#include "core/base/utf8.h"

static const char *line_at(const struct edit *e, int row)
{
    return e->lines.v[row];
}

static int columns_to(const char *line, int byte)
{
    char *head = xstrndup(line, (size_t)byte);
    int w = utf8_str_width(head);
    free(head);
    return w;
}

void edit_open(struct edit *e, const char *path, const char *text)
{
    edit_close(e);
    str_copy(e->path, sizeof e->path, path);
    strv_init(&e->lines);
    size_t n = strlen(text);
    char *body = xstrndup(text, n > 0 && text[n - 1] == '\n' ? n - 1 : n);
    strv_split(&e->lines, body, '\n');
    if (e->lines.n == 0)
        strv_push(&e->lines, "");
    free(body);
    e->open = true;
    edit_check(e);
}

void edit_close(struct edit *e)
{
    if (e->open)
        strv_release(&e->lines);
    check_free(e->found);
    json_free(e->told);
    memset(e, 0, sizeof *e);
}

void edit_text(const struct edit *e, struct str *out)
{
    for (size_t i = 0; i < e->lines.n; i++) {
        str_add(out, e->lines.v[i]);
        str_addc(out, '\n');
    }
}

static void insert_line(struct edit *e, int at, const char *text)
{
    strv_push(&e->lines, text);
    char *made = e->lines.v[e->lines.n - 1];
    memmove(e->lines.v + at + 1, e->lines.v + at,
            sizeof *e->lines.v * (e->lines.n - 1 - (size_t)at));
    e->lines.v[at] = made;
}

static void remove_line(struct edit *e, int at)
{
    free(e->lines.v[at]);
    memmove(e->lines.v + at, e->lines.v + at + 1,
            sizeof *e->lines.v * (e->lines.n - (size_t)at));
    e->lines.n--;
}

static void changed(struct edit *e)
{
    e->dirty = e->changed = true;
    e->leaving = false;
    e->want = columns_to(line_at(e, e->row), e->col);
}

static void insert_text(struct edit *e, const char *text, size_t n)
{
    char *old = e->lines.v[e->row];
    e->lines.v[e->row] = xasprintf("%.*s%.*s%s", e->col, old, (int)n, text, old + e->col);
    free(old);
    e->col += (int)n;
    changed(e);
}

/* A new line keeps the indent of the one it leaves: YAML wants that. */
static void split_line(struct edit *e, bool indent)
{
    char *old = e->lines.v[e->row];
    int blanks = indent ? MIN((int)strspn(old, " "), e->col) : 0;
    char *tail = xasprintf("%*s%s", blanks, "", old + e->col);
    old[e->col] = '\0';
    insert_line(e, e->row + 1, tail);
    free(tail);
    e->row++;
    e->col = blanks;
    changed(e);
}

/* The byte where the character before (or at) `byte` begins. */
static int char_start(const char *s, int byte)
{
    while (byte > 0 && ((unsigned char)s[byte] & 0xC0) == 0x80)
        byte--;
    return byte;
}

static void cut_bytes(struct edit *e, int from, int to)
{
    char *line = e->lines.v[e->row];
    memmove(line + from, line + to, strlen(line + to) + 1);
    e->col = from;
    changed(e);
}

static void join_next(struct edit *e)
{
    if (e->row + 1 >= (int)e->lines.n)
        return;
    char *old = e->lines.v[e->row];
    e->lines.v[e->row] = xasprintf("%s%s", old, line_at(e, e->row + 1));
    free(old);
    remove_line(e, e->row + 1);
    changed(e);
}

static void rub_out(struct edit *e)
{
    const char *line = line_at(e, e->row);
    if (e->col > 0) {
        cut_bytes(e, char_start(line, e->col - 1), e->col);
    } else if (e->row > 0) {
        e->row--;
        e->col = (int)strlen(line_at(e, e->row));
        join_next(e);
    }
}

static int next_char(const char *line, int col)
{
    int n = 0;
    if (line[col])
        utf8_decode(line + col, strlen(line + col), &n);
    return col + n;
}

static void delete_at(struct edit *e)
{
    const char *line = line_at(e, e->row);
    if (line[e->col])
        cut_bytes(e, e->col, next_char(line, e->col));
    else
        join_next(e);
}

static void go_row(struct edit *e, int row)
{
    e->row = MIN(MAX(row, 0), (int)e->lines.n - 1);
    e->col = (int)utf8_cut(line_at(e, e->row), e->want);
}

void edit_go_line(struct edit *e, int line)
{
    enum { ABOVE = 3 };
    e->want = 0;
    go_row(e, line - 1);
    e->scroll = MAX(e->row - ABOVE, 0);
}

static void go_col(struct edit *e, int col)
{
    e->col = col;
    e->want = columns_to(line_at(e, e->row), col);
}

static bool move_key(struct edit *e, const char *key, int page)
{
    const char *line = line_at(e, e->row);
    if (str_eq(key, "Up"))
        go_row(e, e->row - 1);
    else if (str_eq(key, "Down"))
        go_row(e, e->row + 1);
    else if (str_eq(key, "PgUp"))
        go_row(e, e->row - page);
    else if (str_eq(key, "PgDn"))
        go_row(e, e->row + page);
    else if (str_eq(key, "Left"))
        go_col(e, e->col > 0 ? char_start(line, e->col - 1) : 0);
    else if (str_eq(key, "Right"))
        go_col(e, next_char(line, e->col));
    else if (str_eq(key, "Home") || str_eq(key, "C-a"))
        go_col(e, 0);
    else if (str_eq(key, "End") || str_eq(key, "C-e"))
        go_col(e, (int)strlen(line));
    else
        return false;
    e->leaving = false;
    return true;
}

/* A key that is one printable character. */
static bool is_character(const char *key)
{
    int n;
    uint32_t cp = utf8_decode(key, strlen(key), &n);
    return key[n] == '\0' && utf8_width(cp) > 0 && cp != 0xFFFD;
}

static void kill_line(struct edit *e)
{
    if (e->row + 1 < (int)e->lines.n)
        remove_line(e, e->row);
    else
        e->lines.v[e->row][0] = '\0';   /* the last line stays, empty */
    e->col = 0;
    changed(e);
}

static bool any_key(struct edit *e, const char *key, int page)
{
    if (move_key(e, key, page))
        return true;
    if (str_eq(key, "Enter"))
        split_line(e, true);
    else if (str_eq(key, "Backspace"))
        rub_out(e);
    else if (str_eq(key, "Del") || str_eq(key, "C-d"))
        delete_at(e);
    else if (str_eq(key, "Tab"))
        insert_text(e, "  ", 2);
    else if (str_eq(key, "Space"))
        insert_text(e, " ", 1);
    else if (str_eq(key, "C-k"))
        kill_line(e);
    else if (is_character(key))
        insert_text(e, key, strlen(key));
    else
        return false;
    return true;
}

bool edit_key(struct edit *e, const char *key, int page)
{
    bool mine = any_key(e, key, page);
    if (mine && e->changed)
        edit_check(e);
    e->scroll = MIN(e->scroll, e->row);
    e->scroll = MAX(e->scroll, e->row - page + 1);
    return mine;
}

void edit_paste(struct edit *e, const char *text)
{
    while (*text) {
        size_t n = strcspn(text, "\r\n");
        struct str clean;
        str_init(&clean, EDIT_BYTES_MOST);
        utf8_clean(text, n, false, &clean);
        insert_text(e, clean.p, clean.len);
        str_release(&clean);
        text += n;
        if (*text)
            split_line(e, false);
        text += *text == '\r' && text[1] == '\n' ? 2 : *text ? 1 : 0;
    }
    edit_check(e);
}

/* YAML at a glance: comments muted, keys strong, the rest plain. */
static void put_line(struct rows *out, const char *line, int from, int width)
{
    struct str s;
    str_init(&s, EDIT_BYTES_MOST);
    utf8_clean(line, strlen(line), false, &s);
    const char *p = s.p + utf8_cut(s.p, from);
    char *shown = xstrndup(p, utf8_cut(p, width));
    size_t lead = strspn(shown, " -"), key = strcspn(shown, ":#");
    if (shown[lead] == '#') {
        rows_put(out, ROLE_MUTED, shown);
    } else if (shown[key] == ':' && from == 0) {
        rows_putf(out, ROLE_CODE, "%.*s", (int)key, shown);
        rows_put(out, ROLE_TEXT, shown + key);
    } else {
        rows_put(out, ROLE_TEXT, shown);
    }
    free(shown);
    str_release(&s);
}

void edit_rows(const struct edit *e, struct rows *out, int w, int h, int *cx, int *cy)
{
    enum { NUMBER = 4, ROOM = 14, LEAST = 7, SAID = 4 };
    int top = MIN(e->scroll, e->row), said = 0;
    if (edit_fault_count(e))
        said = h >= ROOM ? SAID : h >= LEAST ? SAID / 2 : 0;
    h -= said;
    if (e->row >= top + h)
        top = e->row - h + 1;
    if ((int)e->lines.n <= h)
        top = 0;
    int at = columns_to(line_at(e, e->row), e->col), width = MAX(w - NUMBER, 4);
    int from = at >= width ? at - width + 1 : 0;
    for (int i = 0; i < h && top + i < (int)e->lines.n; i++) {
        struct edit_fault f;
        bool bad = edit_fault_at(e, top + i + 1, &f);
        rows_new(out, -1);
        rows_putf(out, !bad ? ROLE_MUTED : f.error ? ROLE_FAIL : ROLE_WARN, "%3d%c", top + i + 1,
                  bad ? '!' : ' ');
        put_line(out, line_at(e, top + i), from, width);
    }
    out->first = top;
    out->total = (int)e->lines.n;
    if (said) {
        while (out->n < h)
            rows_blank(out);
        edit_fault_rows(e, out, w, said);
        out->total = MAX(out->total, top + h) + said;
    }
    *cx = NUMBER + at - from;
    *cy = e->row - top;
}
