/* settings.c - the table of settings (settings.h). */
#include "tui/settings.h"

#include "core/base/i18n.h"
#include "core/base/utf8.h"

/* --- choices ------------------------------------------------------------------ */
static const char *pick(const char *const *list, int i)
{
    for (int k = 0; list[k]; k++)
        if (k == i)
            return list[k];
    return NULL;
}

static const char *choice_bool(int i)
{
    static const char *const list[] = {"off", "on", NULL};
    return pick(list, i);
}

static const char *choice_lang(int i)
{
    static const char *const list[] = {"en", "zh", NULL};
    return pick(list, i);
}

static const char *choice_glyphs(int i)
{
    static const char *const list[] = {"unicode", "cjk-safe", "ascii", NULL};
    return pick(list, i);
}

static const char *choice_width(int i)
{
    static const char *const list[] = {"narrow", "wide", NULL};
    return pick(list, i);
}

static const char *choice_motion(int i)
{
    static const char *const list[] = {"full", "reduced", "none", NULL};
    return pick(list, i);
}

static const char *choice_frames(int i)
{
    static const char *const list[] = {"5", "10", "20", "30", NULL};
    return pick(list, i);
}

static const char *choice_ages(int i)
{
    static const char *const list[] = {"off", "1", "2", "5", "10", NULL};
    return pick(list, i);
}

static const char *choice_smooth(int i)
{
    static const char *const list[] = {"0", "0.3", "0.6", "0.8", "0.9", "0.95", "0.99", NULL};
    return pick(list, i);
}

static bool is_choice(const char *(*choice)(int i), const char *value, int *at)
{
    for (int i = 0; choice(i); i++)
        if (str_eq(choice(i), value)) {
            *at = i;
            return true;
        }
    return false;
}

/* --- the ones that others own --------------------------------------------------- */
static const char *get_lang(const struct app *a UNUSED, char buf[64] UNUSED)
{
    return i18n_lang();
}

static bool set_lang(struct app *a, const char *value)
{
    int at;
    if (!is_choice(choice_lang, value, &at) || (a->glyphs == GLYPH_ASCII && !str_eq(value, "en")) ||
        !i18n_set(value))
        return false;
    a->s->generation++;
    return true;
}

static const char *get_theme(const struct app *a, char buf[64] UNUSED)
{
    return a->theme;
}

static bool set_theme(struct app *a, const char *value)
{
    int at;
    if (!is_choice(theme_name, value, &at) && !strchr(value, '/'))
        return false;
    str_copy(a->theme, sizeof a->theme, value);
    a->mono = str_eq(value, "mono");
    return true;
}

static const char *get_glyphs(const struct app *a, char buf[64] UNUSED)
{
    return choice_glyphs((int)a->glyphs);
}

/* ASCII has no Chinese: the language goes with it. Where box lines may take two
 * columns only signs that can't are used. */
static bool set_glyphs(struct app *a, const char *value)
{
    int set = glyph_set_by_name(value);
    if (set < 0)
        return false;
    a->glyphs = set == GLYPH_UNICODE && a->look.wide ? GLYPH_CJK : (enum glyph_set)set;
    a->curve.dots = a->glyphs == GLYPH_ASCII ? DOTS_ASCII : DOTS_BRAILLE;
    if (a->glyphs == GLYPH_ASCII)
        set_lang(a, "en");
    return true;
}

static const char *get_width(const struct app *a, char buf[64] UNUSED)
{
    return choice_width(a->look.wide);
}

static bool set_width(struct app *a, const char *value)
{
    int at;
    if (!is_choice(choice_width, value, &at))
        return false;
    a->look.wide = at == 1;
    utf8_set_ambiguous_wide(a->look.wide);
    if (a->look.wide && a->glyphs == GLYPH_UNICODE)
        set_glyphs(a, "cjk-safe");
    return true;
}

static const char *get_smooth(const struct app *a, char buf[64])
{
    return str_fmt(buf, 64, "%.4g", a->look.smooth);
}

static bool set_smooth(struct app *a, const char *value)
{
    double weight;
    if (!str_to_f64(value, &weight) || !(weight >= 0 && weight < 1))
        return false;
    a->look.smooth = a->curve.smooth = weight;
    return true;
}

/* --- plain ones ----------------------------------------------------------------- */
#define BOOL_SETTING(name, field)                                                                 \
    static const char *get_##name(const struct app *a, char buf[64] UNUSED)                       \
    {                                                                                             \
        return choice_bool(a->look.field);                                                        \
    }                                                                                             \
    static bool set_##name(struct app *a, const char *value)                                      \
    {                                                                                             \
        int at;                                                                                   \
        bool known = is_choice(choice_bool, value, &at);                                          \
        if (known)                                                                                \
            a->look.field = at == 1;                                                              \
        return known;                                                                             \
    }
BOOL_SETTING(mouse, mouse)
BOOL_SETTING(big, big)
BOOL_SETTING(keys, keys_shown)
BOOL_SETTING(bell, bell)
BOOL_SETTING(title, window_title)
BOOL_SETTING(clock, clock)
BOOL_SETTING(plain, plain)
#undef BOOL_SETTING

static const char *get_motion(const struct app *a, char buf[64] UNUSED)
{
    return choice_motion((int)a->look.motion);
}

static bool set_motion(struct app *a, const char *value)
{
    int at;
    if (!is_choice(choice_motion, value, &at))
        return false;
    a->look.motion = (enum motion)at;
    return true;
}

static const char *get_frames(const struct app *a, char buf[64])
{
    return str_fmt(buf, 64, "%d", a->look.frames);
}

static bool set_frames(struct app *a, const char *value)
{
    int at;
    if (!is_choice(choice_frames, value, &at))
        return false;
    a->look.frames = atoi(value);
    return true;
}

static const char *get_ages(const struct app *a, char buf[64])
{
    return a->look.ages_s ? str_fmt(buf, 64, "%d", a->look.ages_s) : "off";
}

static bool set_ages(struct app *a, const char *value)
{
    int at;
    if (!is_choice(choice_ages, value, &at))
        return false;
    a->look.ages_s = atoi(value);
    return true;
}

static const struct setting_def table[SET_COUNT] = {
    [SET_LANG] = {"lang", N_("Language"), N_("of everything podium says, and of the labs"), "en",
                  choice_lang, get_lang, set_lang},
    [SET_THEME] = {"theme", N_("Theme"), N_("colours; also a file with a / in its name"), "dark",
                   theme_name, get_theme, set_theme},
    [SET_GLYPHS] = {"glyphs", N_("Signs"), N_("what frames, marks and curves are drawn with"),
                    "unicode", choice_glyphs, get_glyphs, set_glyphs},
    [SET_AMBIGUOUS] = {"ambiguous", N_("Ambiguous width"),
                       N_("columns that your terminal gives to signs such as the box lines"),
                       "narrow", choice_width, get_width, set_width},
    [SET_MOTION] = {"motion", N_("Motion"), N_("reduced: what moves by itself is renewed once a "
                                                  "second; none: only with news"), "full",
                    choice_motion, get_motion, set_motion},
    [SET_MOUSE] = {"mouse", N_("Mouse"), N_("on: podium takes clicks and the wheel; off: the "
                                            "terminal selects text"), "off", choice_bool, get_mouse,
                   set_mouse},
    [SET_BIG] = {"big", N_("Big mode"), N_("fewer, roomier things, for a projector"), "off",
                 choice_bool, get_big, set_big},
    [SET_KEYS] = {"keys", N_("Show keys"), N_("show each key that is pressed"), "off", choice_bool,
                  get_keys, set_keys},
    [SET_BELL] = {"bell", N_("Bell"), N_("ring when a step is done or a run has ended"), "off",
                  choice_bool, get_bell, set_bell},
    [SET_TITLE] = {"title", N_("Window title"), N_("name the lab and step in the window's title"),
                   "on", choice_bool, get_title, set_title},
    [SET_FRAMES] = {"frames", N_("Frames a second"), N_("paint at most so often; less suits a slow "
                                                        "link"), "30", choice_frames, get_frames,
                    set_frames},
    [SET_AGES] = {"ages", N_("Renew ages"), N_("every so many seconds; off: with the next event"),
                  "1", choice_ages, get_ages, set_ages},
    [SET_SMOOTH] = {"smooth", N_("Smoothing"), N_("weight of the average of a new curve, 0 to 1"),
                    "0.9", choice_smooth, get_smooth, set_smooth},
    [SET_CLOCK] = {"clock", N_("Clock"), N_("the time in the title bar"), "on", choice_bool,
                   get_clock, set_clock},
    [SET_PLAIN] = {"plain", N_("Lines only"),
                   N_("for screen readers, from the next start: lines, no screen"), "off",
                   choice_bool, get_plain, set_plain},
};

const struct setting_def *settings_at(size_t i)
{
    return i < SET_COUNT ? &table[i] : NULL;
}

int settings_by_name(const char *name)
{
    for (int i = 0; i < SET_COUNT; i++)
        if (str_eq(table[i].name, name))
            return i;
    return -1;
}

const char *settings_from_name(enum set_from from)
{
    static const char *const names[] = {
        [FROM_AUTO] = N_("auto"), [FROM_FILE] = N_("file"), [FROM_ENV] = N_("environment"),
        [FROM_FLAG] = N_("option"), [FROM_HERE] = N_("this session")};
    return names[from];
}

/* YAML reads on, yes, true as one; so does this. */
static const char *plain(const struct setting_def *d, const char *value)
{
    static const char *const yes[] = {"on", "true", "yes", "1"}, *const no[] = {"off", "false",
                                                                               "no", "0"};
    for (size_t i = 0; d->choice == choice_bool && i < ARRAY_LEN(yes); i++) {
        if (strcasecmp(value, yes[i]) == 0)
            return "on";
        if (strcasecmp(value, no[i]) == 0)
            return "off";
    }
    return d->choice == choice_ages && strcasecmp(value, "false") == 0 ? "off" : value;
}

bool settings_ok(enum setting i, const char *value)
{
    int at;
    double number;
    if (str_eq(value, "auto") || is_choice(table[i].choice, plain(&table[i], value), &at))
        return true;
    return i == SET_THEME ? strchr(value, '/') != NULL
                          : i == SET_SMOOTH && str_to_f64(value, &number) && number >= 0 &&
                                number < 1;
}

bool settings_set(struct app *a, enum setting i, const char *value, enum set_from from)
{
    bool automatic = str_eq(value, "auto");
    const char *own = a->set_auto[i][0] ? a->set_auto[i] : table[i].fallback;
    if (!table[i].set(a, automatic ? own : plain(&table[i], value)))
        return false;
    if (from == FROM_AUTO && !automatic)
        str_copy(a->set_auto[i], sizeof a->set_auto[i], value);
    a->set_from[i] = automatic ? FROM_AUTO : from;
    return true;
}

const char *settings_refusal(const struct app *a, enum setting i, const char *value, char *buf,
                             size_t size)
{
    char choices[200];
    if (i == SET_LANG && a->glyphs == GLYPH_ASCII)
        return _("this terminal shows ASCII only; Chinese needs UTF-8");
    return str_fmt(buf, size, _("%s can't be '%.40s'; it is one of: %s"), _(table[i].label), value,
                   settings_choices(i, choices, sizeof choices));
}

const char *settings_step(const struct app *a, enum setting i, int by)
{
    char buf[64];
    int n = 0, at = -1;
    const char *now = table[i].get(a, buf);
    for (; table[i].choice(n); n++)
        if (str_eq(table[i].choice(n), now))
            at = n;
    return table[i].choice(at < 0 ? 0 : (at + by + n) % n);
}

const char *settings_choices(enum setting i, char *buf, size_t size)
{
    size_t used = 0;
    buf[0] = '\0';
    for (int k = 0; table[i].choice(k) && used < size; k++)
        used += (size_t)snprintf(buf + used, size - used, "%s%s", k ? ", " : "",
                                 table[i].choice(k));
    return buf;
}
