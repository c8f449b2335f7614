/* glyph.c - the signs of glyph.h and the choice of their set. */
#include "tui/glyph.h"

#include "core/base/str.h"

static const char *const glyphs[GLYPH_COUNT][GLYPH_SET_COUNT] = {
#define GLYPH_ROW(e, u, c, a) [e] = {u, c, a},
    GLYPHS(GLYPH_ROW)
#undef GLYPH_ROW
};

static const char *const sparks[GLYPH_SET_COUNT][8] = {
    {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"},
    {"⣀", "⣀", "⣤", "⣤", "⣶", "⣶", "⣿", "⣿"},
    {"_", ".", ":", "-", "=", "+", "*", "#"},
};

const char *glyph_of(enum glyph_set set, enum glyph g)
{
    return glyphs[g][set];
}

const char *glyph_spark(enum glyph_set set, int level)
{
    return sparks[set][level < 0 ? 0 : level > 7 ? 7 : level];
}

int glyph_set_by_name(const char *name)
{
    static const char *const names[GLYPH_SET_COUNT] = {"unicode", "cjk-safe", "ascii"};
    for (int i = 0; i < GLYPH_SET_COUNT; i++)
        if (str_eq(names[i], name))
            return i;
    return -1;
}

static bool names_utf8(const char *locale)
{
    char low[64];
    size_t n = 0;
    for (; locale[n] && n < sizeof low - 1; n++)
        low[n] = (char)(locale[n] >= 'A' && locale[n] <= 'Z' ? locale[n] + 32 : locale[n]);
    low[n] = '\0';
    return strstr(low, "utf-8") || strstr(low, "utf8");
}

enum glyph_set glyph_set_default(const char *term)
{
    static const char *const plain[] = {"linux", "vt100", "vt102", "vt220", "ansi", "cons25"};
    static const char *const vars[] = {"LC_ALL", "LC_CTYPE", "LANG"};
    for (size_t i = 0; i < ARRAY_LEN(plain); i++)
        if (str_eq(plain[i], term))
            return GLYPH_ASCII;
    for (size_t i = 0; i < ARRAY_LEN(vars); i++) {
        const char *v = getenv(vars[i]);
        if (v && *v)
            return names_utf8(v) ? GLYPH_UNICODE : GLYPH_ASCII;
    }
    return GLYPH_UNICODE;      /* nothing is said: a fresh container in a modern terminal */
}

char glyph_to_ascii(uint32_t cp)
{
    static const struct { uint32_t cp; char c; } table[] = {
        {0x2026, '.'}, {0x2013, '-'}, {0x2014, '-'}, {0x2192, '>'}, {0x2190, '<'}, {0x2018, '\''},
        {0x2019, '\''}, {0x201C, '"'}, {0x201D, '"'}, {0x00D7, 'x'}, {0x00B7, '.'}, {0x2022, '*'},
        {0x2713, '+'}, {0x2717, 'x'}, {0x25CF, '*'}, {0x25CB, 'o'}, {0x00B1, '~'}, {0x2264, '<'},
        {0x2265, '>'}, {0x2502, '|'}, {0x2500, '-'}, {0x00A0, ' '}, {0x2191, '^'}, {0x2193, 'v'}};
    if (cp >= 0x20 && cp < 0x7f)
        return (char)cp;
    for (size_t i = 0; i < ARRAY_LEN(table); i++)
        if (table[i].cp == cp)
            return table[i].c;
    return '?';
}
