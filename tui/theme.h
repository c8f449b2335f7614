/* theme.h - what a role looks like. Themes are data: themes/NAME.yaml
 * (docs/THEMES.md). A role that a theme leaves out looks like its parent
 * (state.ok -> state -> text); a theme may inherit another. Unknown keys,
 * colours and roles are errors with line and column.
 */
#ifndef TUI_THEME_H
#define TUI_THEME_H

#include "core/base/err.h"

/* X(enum, name). The parent is the name up to its last '.', else "text". */
#define THEME_ROLES(X)                                                                            \
    X(ROLE_TEXT, "text")                                                                          \
    X(ROLE_MUTED, "text.muted")                                                                   \
    X(ROLE_STRONG, "text.strong")                                                                 \
    X(ROLE_TITLE, "title")               /* the top row */                                        \
    X(ROLE_BRAND, "title.brand")                                                                  \
    X(ROLE_BORDER, "border")                                                                      \
    X(ROLE_BORDER_FOCUS, "border.focus")                                                          \
    X(ROLE_HEAD, "head")                 /* headings inside a pane */                             \
    X(ROLE_SELECT, "select")                                                                      \
    X(ROLE_KEY, "key")                                                                            \
    X(ROLE_HINT, "hint")                                                                          \
    X(ROLE_INPUT, "input")                                                                        \
    X(ROLE_STATUS, "status")                                                                      \
    X(ROLE_CODE, "code")                                                                          \
    X(ROLE_STATE, "state")                                                                        \
    X(ROLE_OK, "state.ok")                                                                        \
    X(ROLE_RUN, "state.run")                                                                      \
    X(ROLE_WARN, "state.warn")                                                                    \
    X(ROLE_FAIL, "state.fail")                                                                    \
    X(ROLE_LOG, "log")                                                                            \
    X(ROLE_LOG_WARN, "log.warn")                                                                  \
    X(ROLE_LOG_ERROR, "log.error")                                                                \
    X(ROLE_HIT, "search.hit")                                                                     \
    X(ROLE_HW_XEON, "hw.xeon")                                                                    \
    X(ROLE_HW_GAUDI, "hw.gaudi")                                                                  \
    X(ROLE_HW_NVIDIA, "hw.nvidia")                                                                \
    X(ROLE_AXIS, "chart.axis")                                                                    \
    X(ROLE_RAW, "chart.raw")                                                                      \
    X(ROLE_EMA, "chart.ema")                                                                      \
    X(ROLE_VAL, "chart.val")                                                                      \
    X(ROLE_SERIES_1, "chart.series1")    /* runs compared: neighbours differ */                   \
    X(ROLE_SERIES_2, "chart.series2")                                                             \
    X(ROLE_SERIES_3, "chart.series3")                                                             \
    X(ROLE_SERIES_4, "chart.series4")                                                             \
    X(ROLE_SERIES_5, "chart.series5")                                                             \
    X(ROLE_CURSOR, "chart.cursor")                                                                \
    X(ROLE_BAR, "bar")                                                                            \
    X(ROLE_BAR_REST, "bar.rest")                                                                  \
    X(ROLE_REPLAY, "replay")

#define THEME_ENUM(e, name) e,
enum role { THEME_ROLES(THEME_ENUM) ROLE_COUNT };
#undef THEME_ENUM

enum { COLOUR_DEFAULT = -1 };

/* rgb 0xRRGGBB or COLOUR_DEFAULT; ansi 0..15, -1 = the nearest to rgb. */
struct colour {
    int32_t rgb;
    int ansi;
};

struct theme_style {
    struct colour fg, bg;
    uint8_t attr;                /* ATTR_* of grid.h */
};

enum { THEME_PALETTE = 48 };

struct theme_ink {
    char name[24];
    struct colour colour;
};

struct theme {
    char name[64];
    char variant[8];             /* dark, light, mono */
    int32_t ground;              /* the background it is meant for */
    struct theme_style style[ROLE_COUNT];
    struct theme_ink palette[THEME_PALETTE];             /* also what it inherits */
    int palette_n;
    bool set[ROLE_COUNT];        /* by the file or what it inherits; else as its parent role */
};

const char *theme_role_name(enum role r);
/* The shipped theme of that name, or the file when it has a '/'. */
MUST_USE enum pd_code theme_load(const char *name, struct theme *out, struct pd_err *err);
MUST_USE enum pd_code theme_parse(const char *src, const char *text, size_t n, struct theme *out,
                                  struct pd_err *err);
/* The name to start with: NO_COLOR or no colours -> mono; COLORFGBG light ->
 * light; else dark. */
const char *theme_default(int colours);
/* Shipped themes in the order that the theme key walks. NULL after the last. */
const char *theme_name(int i);
const char *theme_next(const char *name);

/* --- theme_colour.c ------------------------------------------------------------- */
/* What the terminal is told: more than 256 colours -> the colour itself, 256 ->
 * the nearest of 16..255, 16 and 8 -> ansi. -1 for the default colour. Below 8
 * colours always -1. */
int theme_index(const struct colour *c, int colours);
int32_t theme_ansi_rgb(int i);                   /* 0..15 as xterm shows them */
int32_t theme_xterm_rgb(int i);                  /* 0..255; 16..231 a cube, then greys */
/* Contrast of two colours by WCAG: 1..21. */
double theme_contrast(int32_t a, int32_t b);
/* Distance in CIE L*a*b*, as eyes without a kind of cone see it. */
enum theme_eyes { EYES_FULL, EYES_PROTAN, EYES_DEUTAN, EYES_TRITAN, THEME_EYES };
double theme_distance(int32_t a, int32_t b, enum theme_eyes eyes);

/* --- theme_lint.c ------------------------------------------------------------------ */
enum { THEME_TEXT_X10 = 45, THEME_LINE_X10 = 30, THEME_APART = 30 };
typedef void theme_fault_fn(void *arg, const char *what);
/* Says what can't be read or told apart; returns how many that are. */
int theme_lint(const struct theme *t, theme_fault_fn *fn, void *arg);
/* podium theme list | lint NAME|FILE... */
int theme_cmd(int argc, char **argv);

#endif
