/* columns.c - the columns of a table (columns.h). */
#include "tui/columns.h"

#include "core/base/utf8.h"
#include "tui/text.h"

static int total(const struct column *c, int n)
{
    int sum = 0, shown = 0;
    for (int i = 0; i < n; i++) {
        sum += c[i].width;
        shown += c[i].width > 0;
    }
    return sum + MAX(shown - 1, 0);
}

static void drop_one(struct column *c, int n)
{
    int least = -1;
    for (int i = 0; i < n; i++)
        if (c[i].width > 0 && c[i].worth < 100 && (least < 0 || c[i].worth < c[least].worth))
            least = i;
    if (least >= 0)
        c[least].width = 0;
}

static bool can_drop(const struct column *c, int n)
{
    for (int i = 0; i < n; i++)
        if (c[i].width > 0 && c[i].worth < 100)
            return true;
    return false;
}

void columns_fit(struct column *c, int n, int w)
{
    for (int i = 0; i < n; i++)
        c[i].width = c[i].want > 0 ? MAX(MIN(c[i].least, c[i].want), 1) : 0;
    while (total(c, n) > w && can_drop(c, n))
        drop_one(c, n);
    for (int i = 0; i < n; i++) {            /* what is left, from the first column on */
        int rest = w - total(c, n);
        if (c[i].width > 0 && rest > 0)
            c[i].width += MIN(rest, MAX(c[i].want - c[i].width, 0));
    }
}

void columns_heads(const struct column *c, int n, struct rows *out)
{
    for (int i = 0; i < n; i++)
        columns_cell(c, i, out, ROLE_MUTED, c[i].head, false);
}

void columns_cell(const struct column *c, int i, struct rows *out, enum role role,
                  const char *text, bool middle)
{
    struct str s;
    if (c[i].width <= 0)
        return;
    for (int before = 0; before < i; before++)
        if (c[before].width > 0) {
            rows_put(out, ROLE_TEXT, " ");
            break;
        }
    str_init(&s, 4096);
    if (middle && utf8_str_width(text) > c[i].width) {
        text_fit_middle(text, c[i].width, glyph_of(out->glyphs, G_MORE), &s);
        text = s.p;
    }
    if (c[i].right)
        rows_cell_right(out, role, text, c[i].width);
    else
        rows_cell(out, role, text, c[i].width);
    str_release(&s);
}
