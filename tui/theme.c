/* theme.c - themes from YAML to styles, colours to what a terminal has
 * (theme.h). */
#include "tui/theme.h"

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

static const char *const shipped[] = {"dark", "light", "cvd-dark", "cvd-light", "contrast-dark",
                                      "contrast-light", "mono", NULL};

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
    int depth;                   /* of inheritance */
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

/* "#rrggbb" | 0..255 (of xterm's palette) | default */
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
    if (!str_to_i64(text, &n) || n < 0 || n > 255)
        return false;
    out->rgb = theme_xterm_rgb((int)n);
    out->ansi = n < 16 ? (int)n : -1;
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
    for (int i = 0; n->text && i < l->theme->palette_n; i++) {
        if (str_eq(l->theme->palette[i].name, n->text)) {
            *out = l->theme->palette[i].colour;
            return PD_OK;
        }
    }
    return palette_entry(l, n, out);
}

static struct theme_ink *ink_named(struct theme *t, const char *name)
{
    for (int i = 0; i < t->palette_n; i++)
        if (str_eq(t->palette[i].name, name))
            return &t->palette[i];
    return t->palette_n < THEME_PALETTE ? &t->palette[t->palette_n++] : NULL;
}

static enum pd_code read_palette(struct loading *l, const struct ynode *palette)
{
    for (const struct ynode *c = palette ? palette->first : NULL; c; c = c->next) {
        struct colour colour;
        enum pd_code rc = palette_entry(l, c, &colour);
        if (rc != PD_OK)
            return rc;
        struct theme_ink *ink = ink_named(l->theme, c->key);
        if (!ink)
            return bad(l, c, _("too many colours in the palette"));
        str_copy(ink->name, sizeof ink->name, c->key);
        ink->colour = colour;
    }
    return PD_OK;
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

/* What is left out comes from the plain text where the theme paints its own
 * ground: the terminal's colour may be the very colour of that ground. */
static struct theme_style start_style(const struct loading *l)
{
    struct theme_style s = {{COLOUR_DEFAULT, -1}, {COLOUR_DEFAULT, -1}, 0};
    const struct theme_style *text = &l->theme->style[ROLE_TEXT];
    if (text->bg.rgb == COLOUR_DEFAULT)
        return s;
    s.fg = text->fg;
    s.bg = text->bg;
    return s;
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
        if (!l->theme->set[r])
            l->theme->style[r] = l->theme->style[role_parent(r)];
}

static enum pd_code unknown_role(struct loading *l, const struct ynode *n)
{
    const char *near = str_nearest(n->key, role_names, ROLE_COUNT);
    if (near)
        return pd_fail_at(l->err, PD_PARSE, l->src, n->key_line, n->key_col,
                          _("unknown role '%s'; did you mean '%s'?"), n->key, near);
    return pd_fail_at(l->err, PD_PARSE, l->src, n->key_line, n->key_col, _("unknown role '%s'"),
                      n->key);
}

static enum pd_code read_role(struct loading *l, const struct ynode *n, int r)
{
    l->theme->style[r] = start_style(l);
    l->theme->set[r] = true;
    return read_style(l, n, &l->theme->style[r]);
}

/* The plain text first: the others may lean on it. */
static enum pd_code read_roles(struct loading *l, const struct ynode *roles)
{
    const struct ynode *text = roles ? yaml_get(roles, role_names[ROLE_TEXT]) : NULL;
    enum pd_code rc = PD_OK;
    if (!l->theme->set[ROLE_TEXT])
        l->theme->style[ROLE_TEXT] = (struct theme_style){{COLOUR_DEFAULT, -1},
                                                          {COLOUR_DEFAULT, -1}, 0};
    if (text) {
        l->theme->style[ROLE_TEXT].bg.rgb = COLOUR_DEFAULT;
        rc = read_role(l, text, ROLE_TEXT);
    }
    for (const struct ynode *c = roles ? roles->first : NULL; c && rc == PD_OK; c = c->next) {
        int r = role_index(c->key);
        if (r < 0)
            return unknown_role(l, c);
        if (r != ROLE_TEXT)
            rc = read_role(l, c, r);
    }
    fill_missing(l);
    return rc;
}

static enum pd_code check_keys(struct loading *l, const struct ynode *root)
{
    static const char *const known[] = {"podium_theme", "name", "variant", "inherits", "ground",
                                        "palette", "roles"};
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

static enum pd_code load(const char *name, int depth, struct theme *out, struct pd_err *err);

/* The theme it builds on; a circle is as good as too many. */
static enum pd_code read_parent(struct loading *l, const struct ynode *n)
{
    struct pd_err err = {0};
    if (!n)
        return PD_OK;
    if (!n->text)
        return bad(l, n, _("inherits is the name of a theme"));
    if (l->depth >= INHERIT_MOST)
        return bad(l, n, _("themes inherit at most three deep, and not in a circle"));
    if (load(n->text, l->depth + 1, l->theme, &err) == PD_OK)
        return PD_OK;
    if (err.line)                /* its own mistake, at its own place */
        *l->err = err;
    else
        pd_fail_at(l->err, PD_PARSE, l->src, n->line, n->col, "%s", err.msg);
    return PD_PARSE;
}

/* The background it is meant for, where it leaves that to the terminal. */
static enum pd_code read_ground(struct loading *l, const struct ynode *root)
{
    const struct ynode *n = yaml_get(root, "ground"), *v = yaml_get(root, "variant");
    static const char *const variants[] = {"dark", "light", "mono"};
    bool known = !v;
    struct colour c;
    for (size_t i = 0; v && i < ARRAY_LEN(variants); i++)
        known = known || str_eq(variants[i], v->text);
    if (!known)
        return bad(l, v, _("variant is dark, light or mono"));
    if (n && (!n->text || !plain_colour(n->text, &c) || c.rgb == COLOUR_DEFAULT))
        return bad(l, n, _("ground is a colour"));
    if (n || v || !l->theme->ground)
        l->theme->ground = n ? c.rgb : str_eq(l->theme->variant, "light") ? 0xffffff : 0x1c1c1c;
    return PD_OK;
}

static enum pd_code read_theme(struct loading *l, const struct ynode *root)
{
    enum pd_code rc = check_keys(l, root);
    if (rc == PD_OK)
        rc = read_parent(l, yaml_get(root, "inherits"));
    if (rc != PD_OK)
        return rc;
    struct theme *t = l->theme;
    const char *variant = t->variant[0] ? t->variant : "dark";
    str_copy(t->name, sizeof t->name, yaml_str(root, "name", "unnamed"));
    str_copy(t->variant, sizeof t->variant, yaml_str(root, "variant", variant));
    rc = read_ground(l, root);
    if (rc == PD_OK)
        rc = read_palette(l, yaml_get(root, "palette"));
    return rc == PD_OK ? read_roles(l, yaml_get(root, "roles")) : rc;
}

static enum pd_code parse(const char *src, const char *text, size_t n, int depth,
                          struct theme *out, struct pd_err *err)
{
    struct ydoc *doc = NULL;
    struct loading l = {.src = src, .err = err, .theme = out, .depth = depth};
    enum pd_code rc = yaml_parse(src, text, n, &doc, err);
    if (rc != PD_OK)
        return rc;
    memset(out, 0, sizeof *out);
    rc = read_theme(&l, doc ? doc->root : NULL);
    yaml_docs_free(doc);
    return rc;
}

enum pd_code theme_parse(const char *src, const char *text, size_t n, struct theme *out,
                         struct pd_err *err)
{
    return parse(src, text, n, 0, out, err);
}

static enum pd_code load(const char *name, int depth, struct theme *out, struct pd_err *err)
{
    char rel[128];
    struct str text;
    char *path = NULL;
    if (!strchr(name, '/'))
        path = path_shipped(str_fmt(rel, sizeof rel, "themes/%s.yaml", name));
    if (!path && !strchr(name, '/')) {
        pd_fail(err, PD_NOTFOUND, _("there is no theme '%s'"), name);
        return pd_set_hint(err, "%s", _("podium theme list shows them; a file's name has a '/'"));
    }
    str_init(&text, 1 << 20);
    enum pd_code rc = path_read(path ? path : name, 1 << 20, &text, err);
    if (rc == PD_OK)
        rc = parse(path ? path : name, text.p, text.len, depth, out, err);
    str_release(&text);
    free(path);
    return rc;
}

enum pd_code theme_load(const char *name, struct theme *out, struct pd_err *err)
{
    return load(name, 0, out, err);
}
