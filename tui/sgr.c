/* sgr.c - a small reader of ncurses' output (sgr.h). */
#include "tui/sgr.h"

enum { BOLD = 1, UNDERLINE = 2, REVERSE = 4, DIM = 8, ITALIC = 16, BLINK = 32 };

static const struct { int on, off; unsigned bit; } attrs[] = {
    {1, 22, BOLD}, {2, 22, DIM}, {3, 23, ITALIC}, {4, 24, UNDERLINE}, {5, 25, BLINK},
    {7, 27, REVERSE}};

void sgr_init(struct sgr *s)
{
    memset(s, 0, sizeof *s);
    s->lost = true;
}

static bool same(const struct sgr_style *a, const struct sgr_style *b)
{
    return a->attr == b->attr && str_eq(a->fg, b->fg) && str_eq(a->bg, b->bg);
}

/* Would a blank look the same in both? */
static bool same_blank(const struct sgr_style *a, const struct sgr_style *b)
{
    return ((a->attr | b->attr) & (REVERSE | UNDERLINE | BLINK)) == 0 && str_eq(a->bg, b->bg);
}

static void add(struct str *out, bool *any, const char *part)
{
    str_add(out, *any ? ";" : "\033[");
    str_add(out, part);
    *any = true;
}

/* Bring the terminal to what is wanted. */
static void settle(struct sgr *s, struct str *out)
{
    struct sgr_style *now = &s->now;
    const struct sgr_style *want = &s->want;
    bool any = false;
    if (!s->lost && same(now, want))
        return;
    if (s->lost || (now->attr & ~want->attr) || (now->fg[0] && !want->fg[0]) ||
        (now->bg[0] && !want->bg[0])) {
        bool plain = want->attr == 0 && !want->fg[0] && !want->bg[0];
        memset(now, 0, sizeof *now);
        add(out, &any, plain ? "" : "0");
    }
    for (size_t i = 0; i < ARRAY_LEN(attrs); i++) {
        char number[8];
        if (want->attr & ~now->attr & attrs[i].bit)
            add(out, &any, str_fmt(number, sizeof number, "%d", attrs[i].on));
    }
    if (!str_eq(now->fg, want->fg))
        add(out, &any, want->fg);
    if (!str_eq(now->bg, want->bg))
        add(out, &any, want->bg);
    str_addc(out, 'm');
    *now = *want;
    s->lost = false;
}

static bool attribute(struct sgr_style *w, int v)
{
    bool found = false;
    for (size_t i = 0; i < ARRAY_LEN(attrs); i++) {
        w->attr |= v == attrs[i].on ? attrs[i].bit : 0;
        w->attr &= v == attrs[i].off ? ~attrs[i].bit : ~0u;
        found = found || v == attrs[i].on || v == attrs[i].off;
    }
    return found;
}

/* Where a colour of the 16, or the default, belongs; NULL: it is none. */
static char *colour_place(struct sgr_style *w, int v)
{
    static const struct { int from, to; bool bg; } ranges[] = {
        {30, 37, false}, {39, 39, false}, {90, 97, false},
        {40, 47, true}, {49, 49, true}, {100, 107, true}};
    for (size_t i = 0; i < ARRAY_LEN(ranges); i++)
        if (v >= ranges[i].from && v <= ranges[i].to)
            return ranges[i].bg ? w->bg : w->fg;
    return NULL;
}

/* One parameter that is a number alone; false: not known here. */
static bool plain_parameter(struct sgr_style *w, int v)
{
    if (v == 0)
        memset(w, 0, sizeof *w);
    if (v == 0 || v == 10 || attribute(w, v))    /* 10: the usual font, never left */
        return true;
    char *to = colour_place(w, v);
    if (!to)
        return false;
    if (v == 39 || v == 49)
        to[0] = '\0';
    else
        str_fmt(to, SGR_COLOUR, "%d", v);
    return true;
}

/* How many bytes a colour of its own takes: "38;5;75", "38;2;1;2;3", "38:2::1:2:3". */
static size_t colour_length(const char *p, size_t n)
{
    size_t colon = strspn(p, "0123456789:"), parts, at = 3;
    if (n > 2 && p[2] == ':')
        return MIN(colon, n);
    parts = n > 4 && p[3] == '5' ? 1 : n > 4 && p[3] == '2' ? 3 : 0;
    if (parts == 0 || p[4] != ';')
        return 0;
    for (at = 4; parts > 0 && at < n && p[at] == ';'; parts--)
        at += 1 + strspn(p + at + 1, "0123456789");
    return parts == 0 && at <= n ? at : 0;
}

/* The parameters of one ESC [ ... m; false: nothing was taken over. */
static bool parameters(struct sgr *s, const char *p, size_t n)
{
    struct sgr_style w = s->want;
    if (n == 0)
        memset(&w, 0, sizeof w);
    for (size_t at = 0; at < n;) {
        size_t digits = strspn(p + at, "0123456789"), len = digits;
        bool colour = digits == 2 && (p[at] == '3' || p[at] == '4') && p[at + 1] == '8';
        if (colour) {
            char *to = p[at] == '3' ? w.fg : w.bg;
            len = colour_length(p + at, n - at);
            if (len == 0 || len >= SGR_COLOUR)
                return false;
            memcpy(to, p + at, len);
            to[len] = '\0';
        } else if (!plain_parameter(&w, digits ? atoi(p + at) : 0)) {
            return false;
        }
        at += len;
        if (at < n && p[at] != ';')
            return false;
        at++;
    }
    s->want = w;
    return true;
}

/* Sequences that draw blanks: erase, delete, insert, scroll. */
static bool draws_blanks(char final)
{
    return strchr("JKXP@LMST", final) != NULL;
}

/* ESC [ ...: returns its length. */
static size_t control(struct sgr *s, const char *p, size_t n, struct str *out)
{
    size_t end = 2;
    while (end < n && (unsigned char)p[end] < 0x40)
        end++;
    end = MIN(end + 1, n);
    char final = p[end - 1];
    if (final == 'm' && parameters(s, p + 2, end - 3))
        return end;
    if (final == 'm' || (draws_blanks(final) && !same_blank(&s->now, &s->want)))
        settle(s, out);
    str_append(out, p, end);
    return end;
}

/* ESC and something else: returns its length. */
static size_t escape(struct sgr *s, const char *p, size_t n, struct str *out)
{
    bool charset = n >= 3 && (p[1] == '(' || p[1] == ')');
    size_t len = MIN(charset ? 3 : 2, n);
    if (charset && p[1] == '(' && p[2] == 'B') {
        if (!s->switched)
            str_append(out, p, len);
        s->switched = true;
        return len;
    }
    if (!charset)
        settle(s, out);          /* scrolling backwards, saved cursors */
    str_append(out, p, len);
    return len;
}

void sgr_squeeze(struct sgr *s, const char *in, size_t n, struct str *out)
{
    for (size_t i = 0; i < n;) {
        unsigned char b = (unsigned char)in[i];
        if (b == 0x1b && i + 1 < n && in[i + 1] == '[') {
            i += control(s, in + i, n - i, out);
            continue;
        }
        if (b == 0x1b) {
            i += escape(s, in + i, n - i, out);
            continue;
        }
        i++;
        if (b == 0x0f)           /* back to a character set that was never left */
            continue;
        if (b == ' ' ? s->lost || !same_blank(&s->now, &s->want) : b > ' ' || b == '\n')
            settle(s, out);
        str_addc(out, (char)b);
    }
    settle(s, out);
}
