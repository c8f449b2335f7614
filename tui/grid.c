/* grid.c - cells, clipping, and the repair of half-overwritten wide
 * characters (grid.h). */
#include "tui/grid.h"

#include "core/base/mem.h"
#include "core/base/utf8.h"

static struct cell blank(int role, int attr)
{
    struct cell c = {.text = " ", .width = 1, .role = (uint8_t)role, .attr = (uint8_t)attr};
    return c;
}

void grid_init(struct grid *g, int cols, int rows)
{
    memset(g, 0, sizeof *g);
    grid_resize(g, cols, rows);
}

void grid_release(struct grid *g)
{
    free(g->cell);
    memset(g, 0, sizeof *g);
}

void grid_resize(struct grid *g, int cols, int rows)
{
    assert(cols >= 0 && rows >= 0);
    free(g->cell);
    g->cols = cols;
    g->rows = rows;
    g->cell = xcalloc((size_t)(cols * rows) + 1, sizeof *g->cell);
    grid_clear(g);
}

void grid_clear(struct grid *g)
{
    for (int i = 0; i < g->cols * g->rows; i++)
        g->cell[i] = blank(0, 0);
    grid_unclip(g);
}

void grid_unclip(struct grid *g)
{
    g->clip = (struct rect){0, 0, g->cols, g->rows};
}

void grid_clip(struct grid *g, struct rect r)
{
    int x0 = MAX(r.x, 0), y0 = MAX(r.y, 0);
    int x1 = MIN(r.x + r.w, g->cols), y1 = MIN(r.y + r.h, g->rows);
    g->clip = (struct rect){x0, y0, MAX(x1 - x0, 0), MAX(y1 - y0, 0)};
}

void grid_copy(struct grid *dst, const struct grid *src)
{
    if (dst->cols != src->cols || dst->rows != src->rows)
        grid_resize(dst, src->cols, src->rows);
    memcpy(dst->cell, src->cell, sizeof *src->cell * (size_t)(src->cols * src->rows));
}

const struct cell *grid_at(const struct grid *g, int x, int y)
{
    assert(x >= 0 && x < g->cols && y >= 0 && y < g->rows);
    return &g->cell[y * g->cols + x];
}

static bool in_clip(const struct grid *g, int x, int y)
{
    const struct rect *c = &g->clip;
    return x >= c->x && x < c->x + c->w && y >= c->y && y < c->y + c->h;
}

/* Before cell x changes: the other half of a wide character it belongs to
 * becomes a blank of the same style. */
static void part(struct grid *g, int x, int y)
{
    struct cell *row = g->cell + y * g->cols;
    if (row[x].width == 0 && x > 0)
        row[x - 1] = blank(row[x - 1].role, row[x - 1].attr);
    else if (row[x].width == 2 && x + 1 < g->cols)
        row[x + 1] = blank(row[x].role, row[x].attr);
}

static void set_blank(struct grid *g, int x, int y, int role, int attr)
{
    if (!in_clip(g, x, y))
        return;
    part(g, x, y);
    g->cell[y * g->cols + x] = blank(role, attr);
}

/* Put one cluster; returns its cell, or NULL when it was clipped. */
static struct cell *set_cell(struct grid *g, int x, int y, int role, int attr, const char *text,
                             int n, int width)
{
    if (width == 2 && in_clip(g, x, y) != in_clip(g, x + 1, y)) {
        set_blank(g, x, y, role, attr);
        set_blank(g, x + 1, y, role, attr);
        return NULL;
    }
    if (!in_clip(g, x, y))
        return NULL;
    part(g, x, y);
    struct cell *c = g->cell + y * g->cols + x;
    if (width == 2) {
        part(g, x + 1, y);
        c[1] = (struct cell){.width = 0, .role = (uint8_t)role, .attr = (uint8_t)attr};
    }
    *c = blank(role, attr);
    memcpy(c->text, text, (size_t)n);
    c->text[n] = '\0';
    c->width = (uint8_t)width;
    return c;
}

/* A combining mark goes into the cell before it while there is room. */
static void combine(struct cell *c, const char *text, int n)
{
    size_t have = c ? strlen(c->text) : 0;
    if (!c || have == 0 || have + (size_t)n >= sizeof c->text)
        return;
    memcpy(c->text + have, text, (size_t)n);
    c->text[have + (size_t)n] = '\0';
}

/* Format characters change how neighbours are drawn: never on a screen. */
static bool is_format(uint32_t cp)
{
    return (cp >= 0x200B && cp <= 0x200F) || (cp >= 0x202A && cp <= 0x202E) ||
           (cp >= 0x2060 && cp <= 0x206F) || (cp >= 0xFE00 && cp <= 0xFE0F) || cp == 0xFEFF ||
           (cp >= 0xE0000 && cp <= 0xE0FFF);
}

int grid_text(struct grid *g, int x, int y, int role, int attr, const char *text)
{
    const char *p = text, *end = text + strlen(text);
    struct cell *last = NULL;
    int at = x;
    while (p < end) {
        int n, w;
        uint32_t cp = utf8_decode(p, (size_t)(end - p), &n);
        const char *glyph = p;
        p += n;
        if (is_format(cp))
            continue;
        w = utf8_width(cp);
        if (w == 0) {
            combine(last, glyph, n);
            continue;
        }
        if (w < 0 || (cp == 0xFFFD && n == 1))
            last = set_cell(g, at, y, role, attr, "?", 1, w = 1);
        else
            last = set_cell(g, at, y, role, attr, glyph, n, w);
        at += w;
    }
    return at - x;
}

void grid_fill(struct grid *g, struct rect r, int role, int attr, const char *glyph)
{
    int n = (int)strlen(glyph);
    assert(n > 0 && n < GRID_CLUSTER);
    for (int y = r.y; y < r.y + r.h; y++)
        for (int x = r.x; x < r.x + r.w; x++)
            set_cell(g, x, y, role, attr, glyph, n, 1);
}

void grid_paint(struct grid *g, struct rect r, int attr)
{
    for (int y = r.y; y < r.y + r.h; y++)
        for (int x = r.x; x < r.x + r.w; x++)
            if (in_clip(g, x, y))
                g->cell[y * g->cols + x].attr |= (uint8_t)attr;
}

void grid_row_text(const struct grid *g, int y, struct str *out)
{
    size_t end = out->len;
    for (int x = 0; x < g->cols; x++) {
        const struct cell *c = grid_at(g, x, y);
        str_add(out, c->text);
        if (c->width > 0 && strcmp(c->text, " ") != 0)
            end = out->len;
    }
    out->len = end;
    out->p[end] = '\0';
}

static bool row_sound(const struct grid *g, int y)
{
    int sum = 0;
    for (int x = 0; x < g->cols; x++) {
        const struct cell *c = grid_at(g, x, y);
        bool after_wide = x > 0 && grid_at(g, x - 1, y)->width == 2;
        if ((c->width == 0) != after_wide || (c->width == 0) != (c->text[0] == '\0'))
            return false;
        if (c->width == 2 && x + 1 >= g->cols)
            return false;
        sum += c->width;
    }
    return sum == g->cols;
}

bool grid_sound(const struct grid *g)
{
    for (int y = 0; y < g->rows; y++)
        if (!row_sound(g, y))
            return false;
    return true;
}

static bool same(const struct cell *a, const struct cell *b)
{
    return a->width == b->width && a->role == b->role && a->attr == b->attr &&
           strcmp(a->text, b->text) == 0;
}

int grid_diff(const struct grid *old, const struct grid *now, grid_diff_fn *fn, void *arg)
{
    bool all = !old || old->cols != now->cols || old->rows != now->rows;
    int changed = 0;
    for (int y = 0; y < now->rows; y++) {
        for (int x = 0; x < now->cols; x++) {
            const struct cell *c = grid_at(now, x, y);
            if (c->width == 0 || (!all && same(grid_at(old, x, y), c)))
                continue;
            fn(arg, x, y, c);
            changed++;
        }
    }
    return changed;
}
