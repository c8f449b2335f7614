/* canvas.c - dots, lines and their cells (canvas.h). Braille: U+2800 plus one
 * bit a dot, ISO 11548-1 numbering. */
#include "tui/canvas.h"

#include <math.h>

#include "core/base/mem.h"
#include "core/base/utf8.h"
#include "tui/curve.h"

void canvas_init(struct canvas *c, int cols, int rows, int dots)
{
    memset(c, 0, sizeof *c);
    c->cols = cols;
    c->rows = rows;
    c->dots = dots;
    c->cell_w = dots == DOTS_BRAILLE ? 2 : 1;
    c->cell_h = dots == DOTS_BRAILLE ? 4 : 2;
    c->w = cols * c->cell_w;
    c->h = rows * c->cell_h;
    c->column = -1;
    size_t n = (size_t)(cols * rows);
    for (int i = 0; i < CANVAS_LAYERS; i++)
        c->role[i] = i == CANVAS_BACK ? ROLE_RAW : ROLE_EMA;
    for (int i = 0; i < CANVAS_LAYERS; i++)
        c->bits[i] = xcalloc(n, 1);
    c->mark = xcalloc(n, 1);
    c->mark_role = xcalloc(n, 1);
}

void canvas_release(struct canvas *c)
{
    for (int i = 0; i < CANVAS_LAYERS; i++)
        free(c->bits[i]);
    free(c->mark);
    free(c->mark_role);
    memset(c, 0, sizeof *c);
}

static void set_dot(struct canvas *c, int x, int y, int layer)
{
    if (x < 0 || x >= c->w || y < 0 || y >= c->h)
        return;
    int cell = y / c->cell_h * c->cols + x / c->cell_w;
    int bit = y % c->cell_h * c->cell_w + x % c->cell_w;
    c->bits[layer][cell] |= (uint8_t)(1u << bit);
}

/* Keep v within a margin of the canvas, so that loops stay short. */
static double bound(double v, int size)
{
    return v < -1 ? -1 : v > size ? size : v;
}

void canvas_line(struct canvas *c, double x0, double y0, double x1, double y1, int layer)
{
    double h = c->h;
    if ((y0 < 0 && y1 < 0) || (y0 >= h && y1 >= h))
        return;
    double by0 = bound(y0, c->h), by1 = bound(y1, c->h);
    if (y1 != y0) {              /* cut at the upper and lower edge */
        double slope = (x1 - x0) / (y1 - y0);
        double cx0 = x0 + (by0 - y0) * slope, cx1 = x0 + (by1 - y0) * slope;
        x0 = cx0;
        x1 = cx1;
    }
    x0 = bound(x0, c->w);
    x1 = bound(x1, c->w);
    int n = (int)MAX(fabs(x1 - x0), fabs(by1 - by0)) + 1;
    for (int i = 0; i <= n; i++) {
        double t = (double)i / n;
        set_dot(c, (int)lround(x0 + (x1 - x0) * t), (int)lround(by0 + (by1 - by0) * t), layer);
    }
}

void canvas_mark(struct canvas *c, double x, double y, enum glyph g, enum role role)
{
    int col = (int)lround(x) / c->cell_w, row = (int)lround(y) / c->cell_h;
    if (x < -0.5 || y < -0.5 || col >= c->cols || row >= c->rows)
        return;
    c->mark[row * c->cols + col] = (uint8_t)(g + 1);
    c->mark_role[row * c->cols + col] = (uint8_t)role;
}

void canvas_column(struct canvas *c, double x)
{
    int col = (int)lround(x) / c->cell_w;
    c->column = x >= -0.5 && col < c->cols ? col : -1;
}

/* Bits run row by row; braille numbers run down the columns. */
static const char *braille(unsigned bits, char buf[5])
{
    static const uint8_t number[8] = {0, 3, 1, 4, 2, 5, 6, 7};
    uint32_t cp = 0x2800;
    for (int i = 0; i < 8; i++)
        if (bits & (1u << i))
            cp |= 1u << number[i];
    buf[utf8_encode(cp, buf)] = '\0';
    return buf;
}

static const char *cell_glyph(const struct canvas *c, unsigned bits, int layer, char buf[5])
{
    static const char *const block[4] = {" ", "▀", "▄", "█"};
    static const char *const back[4] = {" ", "'", ".", ":"};
    if (c->dots == DOTS_BRAILLE)
        return braille(bits, buf);
    if (c->dots == DOTS_BLOCK)
        return block[bits & 3];
    return layer == CANVAS_FRONT ? "*" : layer == CANVAS_BACK ? back[bits & 3] : "-";
}

static const char *cell_at(const struct canvas *c, int i, int col, struct rows *out,
                           enum role *role, char buf[5])
{
    if (c->mark[i]) {
        *role = c->mark_role[i];
        return glyph_of(out->glyphs, (enum glyph)(c->mark[i] - 1));
    }
    for (int layer = CANVAS_FRONT; layer >= CANVAS_BACK; layer--) {
        if (c->bits[layer][i]) {
            *role = c->role[layer];
            return cell_glyph(c, c->bits[layer][i], layer, buf);
        }
    }
    *role = col == c->column ? ROLE_CURSOR : ROLE_TEXT;
    return col == c->column ? glyph_of(out->glyphs, G_CURSOR_V) : " ";
}

/* Cells of one role become one span. */
void canvas_row(const struct canvas *c, int y, struct rows *out)
{
    struct str run;
    enum role now = ROLE_TEXT;
    str_init(&run, 1 << 16);
    for (int x = 0; x < c->cols; x++) {
        char buf[5];
        enum role role;
        const char *g = cell_at(c, y * c->cols + x, x, out, &role, buf);
        if (role != now) {
            rows_put(out, now, run.p);
            str_clear(&run);
            now = role;
        }
        str_add(&run, g);
    }
    rows_put(out, now, run.p);
    str_release(&run);
}
