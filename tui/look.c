/* look.c - asking once and remembering (look.h). */
#include "tui/look.h"

#include "core/base/path.h"
#include "tui/settings.h"

enum { LOOK_CACHE_MOST = 16 << 10 };

bool look_cjk_locale(void)
{
    static const char *const vars[] = {"LC_ALL", "LC_CTYPE", "LANG"};
    static const char *const languages[] = {"zh", "ja", "ko"};
    for (size_t i = 0; i < ARRAY_LEN(vars); i++) {
        const char *v = getenv(vars[i]);
        if (!v || !*v)
            continue;
        for (size_t k = 0; k < ARRAY_LEN(languages); k++)
            if (str_starts(v, languages[k]))
                return true;
        return false;
    }
    return false;
}

/* "TERM_PROGRAM/VERSION/TERM": what draws, as well as it can be told. */
static void kind_of_terminal(char out[200])
{
    static const char *const vars[] = {"TERM_PROGRAM", "TERM_PROGRAM_VERSION", "VTE_VERSION",
                                       "TERM"};
    size_t n = 0;
    out[0] = '\0';
    for (size_t i = 0; i < ARRAY_LEN(vars); i++) {
        const char *v = getenv(vars[i]);
        for (; v && *v && n < 40 * (i + 1); v++)
            out[n++] = *v > ' ' && *v < 0x7f ? *v : '_';
        out[n++] = '/';
    }
    out[n] = '\0';
}

/* Columns that stand in the cache for a kind: 0 nothing. */
static int remembered(const char *cache, const char *kind)
{
    size_t n = strlen(kind);
    for (const char *p = cache; p && *p; p = strchr(p, '\n')) {
        p += *p == '\n';
        if (strncmp(p, kind, n) == 0 && p[n] == ' ')
            return atoi(p + n);
    }
    return 0;
}

/* No answer is remembered as narrow: that is what silence has cost once. */
static bool ask_wide(struct tty *t)
{
    char kind[200], *path = path_home(PATH_CACHE, "width");
    struct str cache;
    struct pd_err err = {0};
    kind_of_terminal(kind);
    str_init(&cache, LOOK_CACHE_MOST);
    if (path_read(path, LOOK_CACHE_MOST / 2, &cache, &err) != PD_OK)
        str_clear(&cache);
    int columns = remembered(cache.p, kind);
    if (columns == 0) {
        columns = term_ask_ambiguous(t);
        columns = MAX(columns, 1);
        str_printf(&cache, "%s %d\n", kind, columns);
        if (path_write_atomic(path, 0600, cache.p, cache.len, &err) != PD_OK)
            str_clear(&cache);   /* asked again next time */
    }
    str_release(&cache);
    free(path);
    return columns == 2;
}

void look_find(struct tty *t, const struct console_options *o, struct look_found *out)
{
    int colours = term_colours(t);
    bool said = o->set[SET_AMBIGUOUS] || getenv("PODIUM_AMBIGUOUS");
    out->glyphs = settings_at(SET_GLYPHS)->choice((int)glyph_set_default(term_name(t)));
    out->theme = theme_default(colours);
    out->wide = !said && (o->probe_width || look_cjk_locale()) &&
                !str_eq(out->glyphs, "ascii") && ask_wide(t);
    if (out->wide && str_eq(out->glyphs, "unicode"))
        out->glyphs = "cjk-safe";
    if (o->detect_background && str_eq(out->theme, "dark") && !getenv("COLORFGBG") &&
        term_ask_light(t) == 1)
        out->theme = "light";
}
