/* plot_draw.c - the picture (plot.h). Colours are told apart by every kind of
 * colour vision (Okabe and Ito's, darkened for white paper), and each run has a
 * dash and a sign of its own for print without colours. */
#include "tui/plot/plot.h"

#include <cairo/cairo-svg.h>
#include <cairo/cairo.h>
#include <fontconfig/fontconfig.h>
#include <math.h>

#include "core/base/i18n.h"
#include "core/base/mem.h"
#include "core/base/utf8.h"
#include "tui/text.h"

struct rgb {
    double r, g, b;
};

static struct rgb hex(unsigned v)
{
    return (struct rgb){(v >> 16 & 255) / 255.0, (v >> 8 & 255) / 255.0, (v & 255) / 255.0};
}

static const struct { unsigned light, dark; double dash; int sides; } looks[PLOT_RUNS] = {
    {0x0060A8, 0x56B4E9, 0, 0}, {0xA0307C, 0xE39BC6, 6, 3}, {0x00705A, 0x2FC79D, 2, 4},
    {0x8A5A00, 0xF0E442, 9, 5}, {0x444444, 0xBBBBBB, 4, 6}};

enum { VAL_LIGHT = 0xB34700, VAL_DARK = 0xFFB000 };

struct draw {
    const struct plot *p;
    struct plot_facts *f;
    cairo_t *c;
    double x0, y0, x1, y1;       /* the axes' corners: left, top, right, bottom */
};

static void ink(const struct draw *d, unsigned v, double alpha)
{
    struct rgb c = hex(v);
    cairo_set_source_rgba(d->c, c.r, c.g, c.b, alpha);
}

static unsigned shade(const struct draw *d, unsigned light, unsigned dark)
{
    return d->p->dark ? dark : light;
}

static unsigned run_colour(const struct draw *d, int i)
{
    return shade(d, looks[i].light, looks[i].dark);
}

static double at_x(const struct draw *d, double x)
{
    return d->x0 + axis_share(&d->f->x, x) * (d->x1 - d->x0);
}

static double at_y(const struct draw *d, double y)
{
    return d->y1 - axis_share(&d->f->y, y) * (d->y1 - d->y0);
}

/* --- text ----------------------------------------------------------------------- */
/* share: 0 begins at x, 0.5 is centred, 1 ends at x. */
static void text(const struct draw *d, double x, double y, double share, const char *s)
{
    cairo_text_extents_t e;
    cairo_text_extents(d->c, s, &e);
    cairo_move_to(d->c, x - e.x_advance * share, y);
    cairo_show_text(d->c, s);
}

static void add_characters(FcCharSet *set, const char *s)
{
    size_t n = strlen(s);
    for (size_t i = 0; i < n;) {
        int len;
        FcCharSetAddChar(set, utf8_decode(s + i, n - i, &len));
        i += (size_t)MAX(len, 1);
    }
}

/* A sans-serif that has every character of the labels. */
static void choose_font(struct draw *d)
{
    FcCharSet *set = FcCharSetCreate(), *has = NULL;
    FcPattern *want = FcPatternCreate(), *got = NULL;
    FcResult result;
    FcChar8 *family = NULL;
    add_characters(set, d->p->title ? d->p->title : "a");
    for (int i = 0; i < d->p->n; i++)
        add_characters(set, d->p->run[i].name);
    add_characters(set, curve_x_name(d->p->x));
    add_characters(set, _("loss"));
    FcPatternAddString(want, FC_FAMILY, (const FcChar8 *)"sans-serif");
    if (str_eq(i18n_lang(), "zh"))
        FcPatternAddString(want, FC_LANG, (const FcChar8 *)"zh-cn");
    FcPatternAddCharSet(want, FC_CHARSET, set);
    FcConfigSubstitute(NULL, want, FcMatchPattern);
    FcDefaultSubstitute(want);
    FcFontSet *fonts = FcFontSort(NULL, want, FcTrue, NULL, &result);
    for (int i = 0; fonts && i < fonts->nfont && !got; i++)
        if (FcPatternGetCharSet(fonts->fonts[i], FC_CHARSET, 0, &has) == FcResultMatch &&
            FcCharSetIsSubset(set, has))
            got = fonts->fonts[i];
    d->f->no_font = !got;
    if (!got || FcPatternGetString(got, FC_FAMILY, 0, &family) != FcResultMatch)
        family = (FcChar8 *)(uintptr_t)"sans-serif";
    cairo_select_font_face(d->c, (const char *)family, CAIRO_FONT_SLANT_NORMAL,
                           CAIRO_FONT_WEIGHT_NORMAL);
    if (fonts)
        FcFontSetDestroy(fonts);
    FcPatternDestroy(want);
    FcCharSetDestroy(set);
}

/* --- axes ------------------------------------------------------------------------- */
static void find_axes(const struct plot *p, struct plot_facts *f)
{
    struct curve_trace own = curve_line_trace(&p->run[0].line, &p->run[0].run);
    struct curve_ask ask = {.raw = own.raw, .val = own.val, .ema = own.ema, .x_lo = p->from,
                            .x_hi = p->to, .cursor = NAN, .log_y = p->log_y, .log_x = p->log_x,
                            .ghosts = p->n - 1};
    struct curve_facts c;
    for (int i = 1; i < p->n; i++)
        ask.ghost[i - 1].trace = curve_line_trace(&p->run[i].line, &p->run[i].run);
    curve_count(&ask, 64, 20, &c);
    f->x = c.x;
    f->y = c.y;
    f->hidden = c.hidden;
    f->above = c.above;
}

static void grid_line(const struct draw *d, double xa, double ya, double xb, double yb)
{
    cairo_move_to(d->c, xa, ya);
    cairo_line_to(d->c, xb, yb);
    cairo_stroke(d->c);
}

static void draw_axes(const struct draw *d)
{
    char label[24];
    unsigned line = shade(d, 0xD8D8D8, 0x3A3A3A), fg = shade(d, 0x202020, 0xE0E0E0);
    cairo_set_line_width(d->c, 1);
    cairo_set_font_size(d->c, 12);
    for (int i = 0; i < d->f->x.n; i++) {
        double x = at_x(d, d->f->x.tick[i]);
        ink(d, line, 1);
        grid_line(d, x, d->y0, x, d->y1);
        ink(d, fg, 1);
        text(d, x, d->y1 + 18, 0.5, axis_label(&d->f->x, d->f->x.tick[i], label));
    }
    for (int i = 0; i < d->f->y.n; i++) {
        double y = at_y(d, d->f->y.tick[i]);
        ink(d, line, 1);
        grid_line(d, d->x0, y, d->x1, y);
        ink(d, fg, 1);
        text(d, d->x0 - 8, y + 4, 1, axis_label(&d->f->y, d->f->y.tick[i], label));
    }
    cairo_rectangle(d->c, d->x0, d->y0, d->x1 - d->x0, d->y1 - d->y0);
    cairo_stroke(d->c);
}

/* --- lines ------------------------------------------------------------------------- */
static bool drawable(const struct draw *d, double x, double y)
{
    return isfinite(y) && isfinite(x) && !(d->f->y.log && y <= 0) && !(d->f->x.log && x <= 0);
}

/* Up to two points a pixel each is drawn; beyond, the least and the greatest of
 * each half pixel, so that no spike is lost. */
static void polyline(const struct draw *d, const struct series *s, const double *y)
{
    size_t n = series_count(s), from = series_lower(s, d->f->x.lo);
    bool joined = false;
    from -= from > 0;
    size_t to = MIN(series_lower(s, d->f->x.hi) + 2, n);
    size_t most = (size_t)(2 * (d->x1 - d->x0)), each = (to - from) / most + 1;
    for (size_t at = from; at < to; at += each) {
        size_t lo = at, hi = at, end = MIN(at + each, to);
        for (size_t i = at; i < end; i++) {
            double v = y ? y[i] : series_y(s, i);
            lo = v < (y ? y[lo] : series_y(s, lo)) ? i : lo;
            hi = v > (y ? y[hi] : series_y(s, hi)) ? i : hi;
        }
        size_t two[2] = {MIN(lo, hi), MAX(lo, hi)};
        for (int k = lo == hi; k < 2; k++) {
            double x = series_x(s, two[k]), v = y ? y[two[k]] : series_y(s, two[k]);
            if (!drawable(d, x, v)) {
                joined = false;
                continue;
            }
            if (joined)
                cairo_line_to(d->c, at_x(d, x), at_y(d, v));
            else
                cairo_move_to(d->c, at_x(d, x), at_y(d, v));
            joined = true;
        }
    }
    cairo_stroke(d->c);
}

/* A sign with `sides` sides; 0: a circle. */
static void sign(const struct draw *d, double x, double y, int sides, double r)
{
    cairo_new_path(d->c);
    for (int i = 0; i < sides; i++) {
        double a = 2 * 3.14159265358979 * i / sides - 1.5707963;
        cairo_line_to(d->c, x + r * cos(a), y + r * sin(a));
    }
    if (sides == 0)
        cairo_arc(d->c, x, y, r, 0, 6.2831853);
    cairo_close_path(d->c);
}

static void draw_raw(const struct draw *d, const struct curve_trace *t)
{
    if (d->p->no_raw)
        return;
    cairo_set_line_width(d->c, 0.8);
    ink(d, run_colour(d, 0), 0.45);
    polyline(d, t->raw, NULL);
}

static void draw_signs(const struct draw *d, int i, const struct curve_trace *t)
{
    size_t n = series_count(t->raw);
    for (int k = 1; i > 0 && k < 8; k++) {
        double x = axis_value(&d->f->x, (k + i * 0.2) / 8);
        size_t at = series_lower(t->raw, x);
        if (at >= n || !drawable(d, x, t->ema[at]))
            continue;
        sign(d, at_x(d, series_x(t->raw, at)), at_y(d, t->ema[at]), looks[i].sides, 5);
        cairo_fill(d->c);
    }
}

static void draw_average(const struct draw *d, int i, const struct curve_trace *t)
{
    double dash[2] = {looks[i].dash, looks[i].dash * 0.6};
    cairo_set_line_width(d->c, i == 0 ? 2.2 : 1.6);
    ink(d, run_colour(d, i), 1);
    cairo_set_dash(d->c, dash, looks[i].dash > 0 ? 2 : 0, 0);
    polyline(d, t->raw, t->ema);
    cairo_set_dash(d->c, NULL, 0, 0);
    draw_signs(d, i, t);
}

static void draw_val(const struct draw *d, const struct curve_trace *t)
{
    cairo_set_line_width(d->c, 1.6);
    for (size_t i = 0; t->val && i < series_count(t->val); i++) {
        double x = series_x(t->val, i), y = series_y(t->val, i);
        if (!drawable(d, x, y) || x < d->f->x.lo || x > d->f->x.hi)
            continue;
        sign(d, at_x(d, x), at_y(d, y), 0, 4);
        ink(d, shade(d, 0xFFFFFF, 0x1C1C1C), 1);
        cairo_fill_preserve(d->c);
        ink(d, shade(d, VAL_LIGHT, VAL_DARK), 1);
        cairo_stroke(d->c);
    }
}

/* NaN and infinity stand on the base line at their step. */
static void draw_bad(const struct draw *d, const struct curve_trace *t)
{
    ink(d, shade(d, 0xB00020, 0xFF875F), 1);
    cairo_set_line_width(d->c, 1.6);
    for (size_t i = 0; i < series_count(t->raw); i++) {
        double x = at_x(d, series_x(t->raw, i));
        if (isfinite(series_y(t->raw, i)) || x < d->x0 || x > d->x1)
            continue;
        grid_line(d, x - 4, d->y1 - 9, x + 4, d->y1 - 1);
        grid_line(d, x - 4, d->y1 - 1, x + 4, d->y1 - 9);
    }
}

static void draw_runs(const struct draw *d)
{
    struct curve_trace own = curve_line_trace(&d->p->run[0].line, &d->p->run[0].run);
    cairo_save(d->c);
    cairo_rectangle(d->c, d->x0, d->y0, d->x1 - d->x0, d->y1 - d->y0);
    cairo_clip(d->c);
    draw_raw(d, &own);
    for (int i = d->p->n - 1; i >= 0; i--) {
        struct curve_trace t = curve_line_trace(&d->p->run[i].line, &d->p->run[i].run);
        if (t.raw && t.ema && series_count(t.raw))
            draw_average(d, i, &t);
    }
    draw_val(d, &own);
    draw_bad(d, &own);
    cairo_restore(d->c);
}

/* --- legend and words ------------------------------------------------------------------ */
static double legend_item(const struct draw *d, double x, int i, const char *name)
{
    double dash[2] = {looks[i].dash, looks[i].dash * 0.6}, y = d->y0 - 14;
    cairo_text_extents_t e;
    ink(d, run_colour(d, i), 1);
    cairo_set_line_width(d->c, i == 0 ? 2.2 : 1.6);
    cairo_set_dash(d->c, dash, looks[i].dash > 0 ? 2 : 0, 0);
    grid_line(d, x, y, x + 26, y);
    cairo_set_dash(d->c, NULL, 0, 0);
    if (i > 0) {
        sign(d, x + 13, y, looks[i].sides, 5);
        cairo_fill(d->c);
    }
    ink(d, shade(d, 0x202020, 0xE0E0E0), 1);
    text(d, x + 32, y + 4, 0, name);
    cairo_text_extents(d->c, name, &e);
    return x + 32 + e.x_advance + 20;
}

static void draw_legend(const struct draw *d)
{
    double x = d->x0;
    const struct series *val = d->p->run[0].run.val;
    cairo_set_font_size(d->c, 12);
    for (int i = 0; i < d->p->n; i++) {
        char name[200];
        if (i == 0)
            str_fmt(name, sizeof name, _("%s, average %.2f"), d->p->run[0].name, d->p->smooth);
        else
            str_copy(name, sizeof name, d->p->run[i].name);
        x = legend_item(d, x, i, name);
    }
    if (series_count(val) == 0)
        return;
    ink(d, shade(d, VAL_LIGHT, VAL_DARK), 1);
    sign(d, x + 5, d->y0 - 14, 0, 4);
    cairo_stroke(d->c);
    ink(d, shade(d, 0x202020, 0xE0E0E0), 1);
    text(d, x + 14, d->y0 - 10, 0, _("validation"));
}

static void draw_words(const struct draw *d)
{
    char note[160], unit[64];
    const char *title = d->p->title ? d->p->title : _("Training loss");
    ink(d, shade(d, 0x101010, 0xF0F0F0), 1);
    cairo_set_font_size(d->c, 17);
    text(d, d->x0, d->y0 - 38, 0, title);
    cairo_set_font_size(d->c, 13);
    str_fmt(unit, sizeof unit, d->p->x == X_TIME ? _("time, seconds") : "%s",
            curve_x_name(d->p->x));
    text(d, (d->x0 + d->x1) / 2, d->y1 + 40, 0.5, unit);
    cairo_save(d->c);
    cairo_translate(d->c, d->x0 - 52, (d->y0 + d->y1) / 2);
    cairo_rotate(d->c, -1.5707963);
    text(d, 0, 0, 0.5, _("loss"));
    cairo_restore(d->c);
    if (d->f->hidden == 0)
        return;
    cairo_set_font_size(d->c, 11);
    str_fmt(note, sizeof note, _("%zu hidden: <= 0 on a log axis"), d->f->hidden);
    text(d, d->x1, d->y1 + 40, 1, note);
}

static void draw_all(struct draw *d)
{
    ink(d, shade(d, 0xFFFFFF, 0x1C1C1C), 1);
    cairo_paint(d->c);
    d->x0 = 76;
    d->y0 = 74;
    d->x1 = d->p->width - 24;
    d->y1 = d->p->height - 58;
    choose_font(d);
    draw_axes(d);
    draw_runs(d);
    draw_legend(d);
    draw_words(d);
}

enum pd_code plot_draw(const struct plot *p, struct plot_facts *facts, struct pd_err *err)
{
    struct draw d = {.p = p, .f = facts};
    const char *dot = strrchr(p->out, '.');
    bool svg = str_eq(dot, ".svg"), png = str_eq(dot, ".png");
    *facts = (struct plot_facts){0};
    if (!svg && !png)
        return pd_fail(err, PD_USAGE, _("%s: the name must end in .svg or .png"), p->out);
    find_axes(p, facts);
    cairo_surface_t *s = svg ? cairo_svg_surface_create(p->out, p->width, p->height)
                             : cairo_image_surface_create(CAIRO_FORMAT_RGB24, p->width, p->height);
    d.c = cairo_create(s);
    draw_all(&d);
    cairo_status_t st = cairo_status(d.c);
    cairo_destroy(d.c);
    if (png && st == CAIRO_STATUS_SUCCESS)
        st = cairo_surface_write_to_png(s, p->out);
    cairo_surface_finish(s);
    st = st == CAIRO_STATUS_SUCCESS ? cairo_surface_status(s) : st;
    cairo_surface_destroy(s);
    if (st != CAIRO_STATUS_SUCCESS)
        return pd_fail(err, PD_IO, _("%s can't be written: %s"), p->out,
                       cairo_status_to_string(st));
    return PD_OK;
}
