/* theme.c - themes from YAML to styles, colours to what a terminal has
 * (theme.h). */
#include "tui/theme.h"

#include <math.h>

#include "core/base/i18n.h"
#include "core/base/path.h"
#include "core/base/str.h"
#include "core/base/yaml.h"
#include "tui/grid.h"

enum { INHERIT_MOST = 3 };

static const char *const role_names[ROLE_COUNT] = {
#define ROLE_NAME(e, name) [e] = name,
    THEME_ROLES(ROLE_NAME)
#undef ROLE_NAME
};

static const char *const shipped[] = {"dark", "light", "mono", NULL};

/* The 16 colours as xterm shows them. */
static const int32_t ansi_rgb[16] = {0x000000, 0xcd0000, 0x00cd00, 0xcdcd00, 0x0000ee, 0xcd00cd,
                                     0x00cdcd, 0xe5e5e5, 0x7f7f7f, 0xff0000, 0x00ff00, 0xffff00,
                                     0x5c5cff, 0xff00ff, 0x00ffff, 0xffffff};
static const char *const ansi_names[16] = {
    "black",       "red",          "green",       "yellow",     "blue",          "magenta",
    "cyan",        "white",        "brightblack", "brightred",  "brightgreen",   "brightyellow",
    "brightblue",  "brightmagenta", "brightcyan", "brightwhite"};

const char *theme_role_name(enum role r)
{
    return role_names[r];
}

const char *theme_name(int i)
{
    return i >= 0 && i < (int)ARRAY_LEN(shipped) ? shipped[i] : NULL;
}

const char *theme_next(const char *name)
{
    for (int i = 0; shipped[i]; i++)
        if (str_eq(shipped[i], name))
            return shipped[i + 1] ? shipped[i + 1] : shipped[0];
    return shipped[0];
}

const char *theme_default(int colours)
{
    const char *no = getenv("NO_COLOR"), *fgbg = getenv("COLORFGBG");
    if ((no && *no) || colours < 8)
        return "mono";
    const char *bg = fgbg ? strrchr(fgbg, ';') : NULL;
    if (bg && (str_eq(bg, ";7") || str_eq(bg, ";15")))
        return "light";
    return "dark";
}

/* --- parsing ------------------------------------------------------------- */
struct loading {
    const char *src;
    struct pd_err *err;
    struct theme *theme;
    const struct ynode *palette;
    bool given[ROLE_COUNT];
};

static enum pd_code bad(struct loading *l, const struct ynode *n, const char *what)
{
    return pd_fail_at(l->err, PD_PARSE, l->src, n->line, n->col, "%s: %s", what,
                      n->text ? n->text : (n->key ? n->key : ""));
}

static int ansi_index(const char *name)
{
    for (int i = 0; i < 16; i++)
        if (str_eq(ansi_names[i], name))
            return i;
    return -1;
}

/* "#rrggbb" | 0..255 | default */
static bool plain_colour(const char *text, struct colour *out)
{
    int64_t n;
    *out = (struct colour){COLOUR_DEFAULT, -1};
    if (str_eq(text, "default"))
        return true;
    if (text[0] == '#' && strlen(text) == 7 && strspn(text + 1, "0123456789abcdefABCDEF") == 6) {
        out->rgb = (int32_t)strtol(text + 1, NULL, 16);
        return true;
    }
    if (!str_to_i64(text, &n) || n < 0 || n > 15)
        return false;
    out->rgb = ansi_rgb[n];
    out->ansi = (int)n;
    return true;
}

static enum pd_code palette_entry(struct loading *l, const struct ynode *n, struct colour *out)
{
    if (n->kind != Y_MAP)
        return n->text && plain_colour(n->text, out) ? PD_OK : bad(l, n, _("no colour"));
    for (const struct ynode *c = n->first; c; c = c->next)
        if (!str_eq(c->key, "rgb") && !str_eq(c->key, "ansi"))
            return bad(l, c, _("unknown key in a colour"));
    const struct ynode *rgb = yaml_get(n, "rgb"), *ansi = yaml_get(n, "ansi");
    if (!rgb || !rgb->text || !plain_colour(rgb->text, out))
        return bad(l, n, _("a colour needs rgb: \"#rrggbb\""));
    if (ansi && (!ansi->text || (out->ansi = ansi_index(ansi->text)) < 0))
        return bad(l, ansi, _("no name of the 16 colours"));
    return PD_OK;
}

static enum pd_code read_colour(struct loading *l, const struct ynode *n, struct colour *out)
{
    const struct ynode *named = n->text ? yaml_get(l->palette, n->text) : NULL;
    return palette_entry(l, named ? named : n, out);
}

static enum pd_code read_attrs(struct loading *l, const struct ynode *n, uint8_t *out)
{
    static const struct { const char *name; uint8_t bit; } attrs[] = {
        {"bold", ATTR_BOLD}, {"underline", ATTR_UNDERLINE}, {"reverse", ATTR_REVERSE}};
    *out = 0;
    if (n->kind != Y_SEQ)
        return bad(l, n, _("attr is a list"));
    for (const struct ynode *c = n->first; c; c = c->next) {
        uint8_t bit = 0;
        for (size_t i = 0; i < ARRAY_LEN(attrs); i++)
            if (str_eq(c->text, attrs[i].name))
                bit = attrs[i].bit;
        if (!bit)
            return bad(l, c, _("unknown attribute (bold, underline, reverse)"));
        *out |= bit;
    }
    return PD_OK;
}

static enum pd_code read_style(struct loading *l, const struct ynode *n, struct theme_style *s)
{
    if (n->kind != Y_MAP)
        return bad(l, n, _("a role is a map of fg, bg, attr"));
    for (const struct ynode *c = n->first; c; c = c->next) {
        enum pd_code rc;
        if (str_eq(c->key, "fg"))
            rc = read_colour(l, c, &s->fg);
        else if (str_eq(c->key, "bg"))
            rc = read_colour(l, c, &s->bg);
        else if (str_eq(c->key, "attr"))
            rc = read_attrs(l, c, &s->attr);
        else
            return pd_fail_at(l->err, PD_PARSE, l->src, c->key_line, c->key_col,
                              _("unknown key '%s' in a role (fg, bg, attr)"), c->key);
        if (rc != PD_OK)
            return rc;
    }
    return PD_OK;
}

static int role_index(const char *name)
{
    for (int i = 0; i < ROLE_COUNT; i++)
        if (str_eq(role_names[i], name))
            return i;
    return -1;
}

static int role_parent(int r)
{
    char name[64];
    str_copy(name, sizeof name, role_names[r]);
    char *dot = strrchr(name, '.');
    if (!dot)
        return ROLE_TEXT;
    *dot = '\0';
    int parent = role_index(name);
    return parent < 0 ? ROLE_TEXT : parent;
}

/* Parents stand before their children in the role list. */
static void fill_missing(struct loading *l)
{
    for (int r = 1; r < ROLE_COUNT; r++)
        if (!l->given[r])
            l->theme->style[r] = l->theme->style[role_parent(r)];
}

static enum pd_code read_roles(struct loading *l, const struct ynode *roles)
{
    struct theme_style plain = {{COLOUR_DEFAULT, -1}, {COLOUR_DEFAULT, -1}, 0};
    l->theme->style[ROLE_TEXT] = plain;
    for (const struct ynode *c = roles ? roles->first : NULL; c; c = c->next) {
        int r = role_index(c->key);
        if (r < 0)
            return pd_fail_at(l->err, PD_PARSE, l->src, c->key_line, c->key_col,
                              _("unknown role '%s'"), c->key);
        l->theme->style[r] = plain;
        enum pd_code rc = read_style(l, c, &l->theme->style[r]);
        if (rc != PD_OK)
            return rc;
        l->given[r] = true;
    }
    fill_missing(l);
    return PD_OK;
}

static enum pd_code check_keys(struct loading *l, const struct ynode *root)
{
    static const char *const known[] = {"podium_theme", "name", "variant", "palette", "roles"};
    if (!root || root->kind != Y_MAP)
        return pd_fail_at(l->err, PD_PARSE, l->src, 1, 1, _("a theme is a map"));
    for (const struct ynode *c = root->first; c; c = c->next) {
        bool ok = false;
        for (size_t i = 0; i < ARRAY_LEN(known); i++)
            ok = ok || str_eq(known[i], c->key);
        if (!ok)
            return pd_fail_at(l->err, PD_PARSE, l->src, c->key_line, c->key_col,
                              _("unknown key '%s' in a theme"), c->key);
    }
    if (!str_eq(yaml_str(root, "podium_theme", ""), "1"))
        return pd_fail_at(l->err, PD_PARSE, l->src, root->line, root->col,
                          _("podium_theme: 1 is missing"));
    return PD_OK;
}

enum pd_code theme_parse(const char *src, const char *text, size_t n, struct theme *out,
                         struct pd_err *err)
{
    struct ydoc *doc = NULL;
    struct loading l = {.src = src, .err = err, .theme = out};
    enum pd_code rc = yaml_parse(src, text, n, &doc, err);
    if (rc != PD_OK)
        return rc;
    memset(out, 0, sizeof *out);
    const struct ynode *root = doc ? doc->root : NULL;
    rc = check_keys(&l, root);
    if (rc == PD_OK) {
        str_copy(out->name, sizeof out->name, yaml_str(root, "name", "unnamed"));
        str_copy(out->variant, sizeof out->variant, yaml_str(root, "variant", "dark"));
        l.palette = yaml_get(root, "palette");
        rc = read_roles(&l, yaml_get(root, "roles"));
    }
    yaml_docs_free(doc);
    return rc;
}

enum pd_code theme_load(const char *name, struct theme *out, struct pd_err *err)
{
    char rel[128];
    struct str text;
    char *path = NULL;
    if (!strchr(name, '/'))
        path = path_shipped(str_fmt(rel, sizeof rel, "themes/%s.yaml", name));
    if (!path && !strchr(name, '/'))
        return pd_fail(err, PD_NOTFOUND, _("there is no theme '%s' (dark, light, mono)"), name);
    str_init(&text, 1 << 20);
    enum pd_code rc = path_read(path ? path : name, 1 << 20, &text, err);
    if (rc == PD_OK)
        rc = theme_parse(path ? path : name, text.p, text.len, out, err);
    str_release(&text);
    free(path);
    return rc;
}

/* --- colours ------------------------------------------------------------- */
static int distance(int32_t a, int32_t b)
{
    int dr = (a >> 16 & 255) - (b >> 16 & 255), dg = (a >> 8 & 255) - (b >> 8 & 255);
    int db = (a & 255) - (b & 255);
    return 2 * dr * dr + 4 * dg * dg + 3 * db * db;
}

/* Entry 16..255 of xterm's palette: a 6x6x6 cube, then 24 greys. */
static int32_t xterm_rgb(int i)
{
    static const int level[6] = {0, 95, 135, 175, 215, 255};
    if (i >= 232) {
        int v = 8 + 10 * (i - 232);
        return v << 16 | v << 8 | v;
    }
    i -= 16;
    return level[i / 36] << 16 | level[i / 6 % 6] << 8 | level[i % 6];
}

static int nearest(int32_t rgb, int from, int to, bool cube)
{
    int best = from, best_d = INT32_MAX;
    for (int i = from; i < to; i++) {
        int d = distance(rgb, cube ? xterm_rgb(i) : ansi_rgb[i]);
        if (d < best_d) {
            best_d = d;
            best = i;
        }
    }
    return best;
}

int theme_index(const struct colour *c, int colours)
{
    if (c->rgb == COLOUR_DEFAULT || colours < 8)
        return -1;
    if (colours > 256)
        return MAX(c->rgb, 8);   /* below 8 are the 8 colours */
    if (colours == 256)
        return nearest(c->rgb, 16, 256, true);
    int i = c->ansi >= 0 ? c->ansi : nearest(c->rgb, 0, 16, false);
    return colours >= 16 ? i : i & 7;
}

static double luminance(int32_t rgb)
{
    double sum = 0;
    static const double weight[3] = {0.2126, 0.7152, 0.0722};
    for (int i = 0; i < 3; i++) {
        double v = (rgb >> (16 - 8 * i) & 255) / 255.0;
        sum += weight[i] * (v <= 0.03928 ? v / 12.92 : pow((v + 0.055) / 1.055, 2.4));
    }
    return sum;
}

double theme_contrast(int32_t a, int32_t b)
{
    double la = luminance(a), lb = luminance(b);
    return (MAX(la, lb) + 0.05) / (MIN(la, lb) + 0.05);
}
