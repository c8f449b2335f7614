/* theme_lint.c - can everybody read it, on every terminal? (theme.h) */
#include "core/base/i18n.h"
#include "core/base/str.h"
#include "tui/theme.h"

/* The 16 colours are the terminal's own: only what can't be right. */
enum { DIM_ON_16_X10 = 18 };

struct linting {
    const struct theme *t;
    theme_fault_fn *fn;
    void *arg;
    int n;
};

static void fault(struct linting *l, const char *text)
{
    l->fn(l->arg, text);
    l->n++;
}

/* Lines, bars and curves are shapes: they need less than letters. */
static bool is_shape(int role)
{
    static const int shapes[] = {ROLE_BORDER, ROLE_BORDER_FOCUS, ROLE_RAW, ROLE_EMA, ROLE_VAL,
                                 ROLE_SERIES_1, ROLE_SERIES_2, ROLE_SERIES_3, ROLE_SERIES_4,
                                 ROLE_SERIES_5, ROLE_BAR, ROLE_BAR_REST, ROLE_CURSOR};
    for (size_t i = 0; i < ARRAY_LEN(shapes); i++)
        if (shapes[i] == role)
            return true;
    return false;
}

static int32_t ground_of(const struct linting *l, const struct theme_style *s)
{
    return s->bg.rgb == COLOUR_DEFAULT ? l->t->ground : s->bg.rgb;
}

static void contrast(struct linting *l, int r, int colours, int32_t fg, int32_t bg, int least_x10)
{
    char text[200];
    double c = theme_contrast(fg, bg);
    if (c * 10 < least_x10 - 1e-9)
        fault(l, str_fmt(text, sizeof text,
                         _("%s: contrast %.2f with %d colours, at least %.1f is needed"),
                         theme_role_name((enum role)r), c, colours, least_x10 / 10.0));
}

static int32_t shown(const struct colour *c, int colours, int32_t otherwise)
{
    int i = theme_index(c, colours);
    if (c->rgb == COLOUR_DEFAULT || i < 0)
        return otherwise;
    return colours > 256 ? c->rgb : theme_xterm_rgb(i);
}

static void lint_role(struct linting *l, int r)
{
    static const int colours[] = {1 << 24, 256, 16, 8};
    const struct theme_style *s = &l->t->style[r];
    char text[200];
    if (s->fg.rgb == COLOUR_DEFAULT && s->bg.rgb != COLOUR_DEFAULT) {
        fault(l, str_fmt(text, sizeof text, _("%s: a background of its own needs a fg"),
                         theme_role_name((enum role)r)));
        return;
    }
    if (s->fg.rgb == COLOUR_DEFAULT)
        return;
    for (size_t i = 0; i < ARRAY_LEN(colours); i++) {
        int32_t bg = shown(&s->bg, colours[i], l->t->ground), fg = shown(&s->fg, colours[i], -1);
        int least = is_shape(r) ? THEME_LINE_X10 : THEME_TEXT_X10;
        if (fg >= 0)
            contrast(l, r, colours[i], fg, bg, colours[i] >= 256 ? least : DIM_ON_16_X10);
    }
}

static void apart(struct linting *l, int a, int b)
{
    static const char *const eyes[THEME_EYES] = {N_("full colour vision"), N_("protan eyes"),
                                                 N_("deutan eyes"), N_("tritan eyes")};
    const struct theme_style *sa = &l->t->style[a], *sb = &l->t->style[b];
    char text[240];
    if (sa->fg.rgb == COLOUR_DEFAULT || sb->fg.rgb == COLOUR_DEFAULT)
        return;
    for (int e = EYES_FULL; e <= EYES_DEUTAN; e++) {
        double d = theme_distance(sa->fg.rgb, sb->fg.rgb, (enum theme_eyes)e);
        if (d < THEME_APART)
            fault(l, str_fmt(text, sizeof text,
                             _("%s and %s: distance %.0f for %s, at least %d is needed"),
                             theme_role_name((enum role)a), theme_role_name((enum role)b), d,
                             _(eyes[e]), THEME_APART));
    }
}

int theme_lint(const struct theme *t, theme_fault_fn *fn, void *arg)
{
    struct linting l = {.t = t, .fn = fn, .arg = arg};
    static const int pairs[][2] = {{ROLE_OK, ROLE_FAIL}, {ROLE_OK, ROLE_WARN},
                                   {ROLE_OK, ROLE_RUN}, {ROLE_EMA, ROLE_VAL},
                                   {ROLE_SERIES_1, ROLE_SERIES_2}, {ROLE_SERIES_2, ROLE_SERIES_3},
                                   {ROLE_SERIES_3, ROLE_SERIES_4}, {ROLE_SERIES_4, ROLE_SERIES_5}};
    bool mono = str_eq(t->variant, "mono");
    char text[200];
    for (int r = 0; r < ROLE_COUNT; r++) {
        const struct theme_style *s = &t->style[r];
        if (!mono)
            lint_role(&l, r);
        else if (s->fg.rgb != COLOUR_DEFAULT || s->bg.rgb != COLOUR_DEFAULT)
            fault(&l, str_fmt(text, sizeof text, _("%s: a mono theme has no colours"),
                              theme_role_name((enum role)r)));
    }
    for (size_t i = 0; i < ARRAY_LEN(pairs); i++)
        apart(&l, pairs[i][0], pairs[i][1]);
    bool plain = t->style[ROLE_SELECT].attr == t->style[ROLE_TEXT].attr &&
                 ground_of(&l, &t->style[ROLE_SELECT]) == ground_of(&l, &t->style[ROLE_TEXT]);
    if (plain)
        fault(&l, _("select: looks like other text; give it reverse or a background"));
    return l.n;
}
