/* kind.c - tables of terminals (kind.h). */
#include "tui/kind.h"

#include "core/base/str.h"

static const char *env(const char *name)
{
    const char *v = getenv(name);
    return v ? v : "";
}

bool kind_direct(const char *term, char out[64])
{
    static const struct { const char *term, *direct; } table[] = {
        {"xterm-kitty", "kitty-direct"}, {"foot-extra", "foot-direct"}, {"xterm", "xterm-direct"}};
    const char *says = env("COLORTERM");
    if (!str_eq(says, "truecolor") && !str_eq(says, "24bit"))
        return false;
    for (size_t i = 0; i < ARRAY_LEN(table); i++)
        if (str_eq(table[i].term, term))
            return str_copy(out, 64, table[i].direct) != NULL;
    size_t n = strlen(term), tail = strlen("-256color");
    if (n > tail && str_eq(term + n - tail, "-256color"))
        n -= tail;
    str_fmt(out, 64, "%.*s-direct", (int)MIN(n, (size_t)40), term);
    return true;
}

/* "3.7a" >= 3.7 */
static bool version_from(const char *text, int major, int minor)
{
    int a = 0, b = 0;
    return sscanf(text, "%d.%d", &a, &b) >= 1 && (a > major || (a == major && b >= minor));
}

bool kind_takes_sync(void)
{
    static const char *const terms[] = {"xterm-kitty", "foot", "foot-extra", "alacritty",
                                        "xterm-ghostty", "contour", "wezterm"};
    static const char *const programs[] = {"WezTerm", "ghostty", "iTerm.app", "contour"};
    const char *forced = env("PODIUM_SYNC");
    if (*forced)
        return !str_eq(forced, "0");
    if (*env("TMUX"))            /* what it runs in is not what takes the bytes */
        return str_eq(env("TERM_PROGRAM"), "tmux") &&
               version_from(env("TERM_PROGRAM_VERSION"), 3, 7);
    if (*env("STY"))
        return false;
    for (size_t i = 0; i < ARRAY_LEN(terms); i++)
        if (str_eq(terms[i], env("TERM")))
            return true;
    for (size_t i = 0; i < ARRAY_LEN(programs); i++)
        if (str_eq(programs[i], env("TERM_PROGRAM")))
            return true;
    return false;
}

bool kind_keeps_title(const char *term)
{
    static const char *const families[] = {"xterm", "tmux", "foot", "alacritty", "rxvt", "kitty",
                                           "vte", "konsole", "st-", "wezterm", "contour"};
    for (size_t i = 0; i < ARRAY_LEN(families); i++)
        if (str_starts(term, families[i]))
            return true;
    return false;
}

bool kind_is_tmux(void)
{
    return *env("TMUX") != '\0';
}

bool kind_is_remote(void)
{
    return *env("SSH_TTY") || *env("SSH_CONNECTION") || *env("SSH_CLIENT");
}
