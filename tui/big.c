/* big.c - block letters, the banner and the row of pressed keys (big.h). */
#include "tui/big.h"

#include <math.h>

#include "core/base/i18n.h"
#include "core/base/utf8.h"
#include "tui/cmd.h"
#include "tui/text.h"

enum { DOT = 2, GAP = 2, SPACE = 4, ITEMS = 5 };  /* columns */

/* Five rows of dots, from the top; the width is that of the longest row. */
static const struct { char c; const char *row[BIG_ROWS]; } font[] = {
    {'0', {"###", "# #", "# #", "# #", "###"}}, {'1', {" # ", "## ", " # ", " # ", "###"}},
    {'2', {"###", "  #", "###", "#  ", "###"}}, {'3', {"###", "  #", "###", "  #", "###"}},
    {'4', {"# #", "# #", "###", "  #", "  #"}}, {'5', {"###", "#  ", "###", "  #", "###"}},
    {'6', {"###", "#  ", "###", "# #", "###"}}, {'7', {"###", "  #", "  #", " # ", " # "}},
    {'8', {"###", "# #", "###", "# #", "###"}}, {'9', {"###", "# #", "###", "  #", "###"}},
    {'/', {"  #", "  #", " # ", "#  ", "#  "}}, {'.', {" ", " ", " ", " ", "#"}},
    {'%', {"#  #", "  # ", " ## ", " #  ", "#  #"}}, {'-', {"  ", "  ", "##", "  ", "  "}},
    {'e', {"   ", "###", "###", "#  ", "###"}}, {'x', {"# #", "# #", " # ", "# #", "# #"}},
    {'v', {"    #", "    #", "#  # ", " ##  ", " #   "}}, {'!', {"#", "#", "#", " ", "#"}},
};

static const char *const *letter(char c)
{
    for (size_t i = 0; i < ARRAY_LEN(font); i++)
        if (font[i].c == c)
            return font[i].row;
    return NULL;
}

static int letter_width(char c)
{
    const char *const *rows = letter(c);
    return rows ? (int)strlen(rows[0]) * DOT : SPACE;
}

int big_width(const char *text)
{
    int w = 0;
    for (; *text; text++)
        w += letter_width(*text) + (text[1] ? GAP : 0);
    return w;
}

void big_row(struct rows *out, enum role role, const char *text, int y)
{
    const char *full = glyph_of(out->glyphs, G_BLOCK);
    for (const char *p = text; *p; p++) {
        const char *const *rows = letter(*p);
        for (const char *d = rows ? rows[y] : "  "; *d; d++)
            for (int i = 0; i < DOT; i++)
                rows_put(out, role, *d == '#' ? full : " ");
        rows_put(out, role, p[1] ? "  " : "");
    }
}

/* --- the banner --------------------------------------------------------------------- */
struct item {
    char text[24];
    const char *caption;
    enum role role;
};

static void add(struct item *v, int *n, enum role role, const char *caption, const char *text)
{
    v[*n] = (struct item){.caption = caption, .role = role};
    str_copy(v[*n].text, sizeof v[*n].text, text);
    (*n)++;
}

/* "2/3 v" when all pass, "1/3 x" when one is wrong. */
static void add_checks(const struct app *a, struct item *v, int *n)
{
    const struct lab_step *st = &a->s->lab->steps[a->s->step];
    const struct evidence *e = a->s->progress ? a->s->progress[a->s->step].checks : NULL;
    int ok = 0, wrong = 0;
    char buf[24];
    for (int i = 0; e && i < st->checks_n; i++) {
        ok += e[i].result == CHECK_PASS;
        wrong += e[i].result == CHECK_WRONG;
    }
    if (st->checks_n == 0)
        return;
    bool all = ok == st->checks_n;
    str_fmt(buf, sizeof buf, "%d/%d%s", ok, st->checks_n, wrong ? "x" : all ? "v" : "");
    add(v, n, wrong ? ROLE_FAIL : all ? ROLE_OK : ROLE_TEXT,
        wrong ? _("checks: wrong") : _("checks"), buf);
}

static void add_step(const struct app *a, struct item *v, int *n)
{
    char buf[24];
    str_fmt(buf, sizeof buf, "%d/%d", a->s->step + 1, a->s->lab->steps_n);
    add(v, n, ROLE_STRONG, _("step"), buf);
}

static void add_loss(const struct app *a, struct item *v, int *n)
{
    double loss = a->line.cache.n ? a->line.cache.ema[a->line.cache.n - 1] : NAN;
    char buf[24];
    if (!cmd_has_run(a))
        return;
    str_fmt(buf, sizeof buf, isfinite(loss) ? "%.2f" : "-", loss);
    add(v, n, ROLE_EMA, _("loss (average)"), buf);
}

static void add_share(const struct app *a, struct item *v, int *n)
{
    const struct run *r = &a->s->run;
    const struct op *op = &a->s->op;
    char buf[24];
    if (cmd_has_op(a) && op->total > 0)
        add(v, n, ROLE_RUN, op->what,
            str_fmt(buf, sizeof buf, "%.0f%%", 100 * op->done / op->total));
    else if (cmd_has_run(a) && r->steps_total > 0)
        add(v, n, ROLE_RUN, _("of the training"),
            str_fmt(buf, sizeof buf, "%.0f%%", 100 * (double)r->step / (double)r->steps_total));
}

/* What the pane is about comes first: what does not fit is left out. */
static int items(const struct app *a, struct item v[ITEMS])
{
    typedef void add_fn(const struct app *a, struct item *v, int *n);
    static add_fn *const of_step[] = {add_step, add_checks, add_share, add_loss};
    static add_fn *const of_curve[] = {add_loss, add_share, add_step, add_checks};
    bool curve = cmd_has_run(a) && a->focus != PANEL_STEP;
    int n = 0;
    for (size_t i = 0; i < ARRAY_LEN(of_step); i++)
        (curve ? of_curve : of_step)[i](a, v, &n);
    return n;
}

/* The first items that w columns hold; where each begins goes to x. */
static int fit(const struct item *v, int n, int w, int x[ITEMS])
{
    enum { BETWEEN = 4 };
    int at = 1, i = 0;
    for (; i < n; i++) {
        int need = MAX(big_width(v[i].text), utf8_str_width(v[i].caption));
        if (at + need > w)
            break;
        x[i] = at;
        at += need + BETWEEN;
    }
    return i;
}

void big_banner(const struct app *a, struct rows *out, int w)
{
    struct item v[ITEMS];
    int x[ITEMS], n = a->s->lab ? fit(v, items(a, v), w, x) : 0;
    for (int y = 0; y < BIG_BANNER; y++) {
        rows_new(out, -1);
        for (int i = 0; i < n; i++) {
            rows_pad(out, x[i]);
            if (y < BIG_ROWS)
                big_row(out, v[i].role, v[i].text, y);
            else
                rows_put(out, ROLE_STRONG, v[i].caption);
        }
    }
}

/* --- pressed keys -------------------------------------------------------------------- */
void big_pressed(const struct app *a, struct rows *out, int w)
{
    int total = 0, first = a->pressed_n;
    while (first > 0) {
        const struct app_pressed *k = &a->pressed[first - 1];
        int need = utf8_str_width(k->key) + utf8_str_width(_(k->label)) + 5;
        if (total + need > w)
            break;
        total += need;
        first--;
    }
    rows_new(out, -1);
    rows_put(out, ROLE_TEXT, " ");
    for (int i = first; i < a->pressed_n; i++) {
        bool last = i + 1 == a->pressed_n;
        rows_putf(out, last ? ROLE_SELECT : ROLE_KEY, " %s ", a->pressed[i].key);
        rows_putf(out, last ? ROLE_STRONG : ROLE_MUTED, " %s ", _(a->pressed[i].label));
    }
}
