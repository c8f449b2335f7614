/* panel_runs.c - the kept runs of the lab: choose what stands beside the curve. */
#include "core/base/i18n.h"
#include "tui/compare.h"
#include "tui/panel.h"
#include "tui/text.h"

static const char *title(const struct app *a, char buf[160])
{
    return str_fmt(buf, 160, _("Compare runs  %d of %d on the chart"), a->compare->n, CURVE_GHOSTS);
}

static void known_row(const struct app *a, struct rows *out, int i, int w)
{
    const struct compare_known *k = &a->compare->known[i];
    bool on = compare_has(a->compare, k->path);
    char loss[24], val[24];
    rows_new(out, i);
    rows_sign(out, on ? ROLE_OK : ROLE_MUTED, on ? G_OK : G_DOT);
    rows_put(out, ROLE_TEXT, " ");
    rows_cell(out, on ? ROLE_STRONG : ROLE_TEXT, k->name, MAX(w - 27, 10));
    rows_putf(out, ROLE_MUTED, "%6.0f ", k->steps);
    rows_cell_right(out, ROLE_TEXT, text_number(k->loss, loss), 9);
    rows_cell_right(out, ROLE_VAL, text_number(k->val, val), 9);
}

/* Files from elsewhere stand below the list. */
static void others(const struct app *a, struct rows *out)
{
    const struct compare *c = a->compare;
    for (int i = 0; i < c->n; i++) {
        bool known = false;
        for (int k = 0; k < c->known_n; k++)
            known = known || str_eq(c->known[k].path, c->v[i].path);
        if (known)
            continue;
        rows_new(out, -1);
        rows_sign(out, ROLE_OK, G_OK);
        rows_putf(out, ROLE_TEXT, " %s", c->v[i].path);
    }
}

static void rows(const struct app *a, struct rows *out, int w, int h UNUSED)
{
    const struct compare *c = a->compare;
    if (c->known_n) {
        rows_new(out, -1);
        rows_put(out, ROLE_MUTED, "  ");
        rows_cell(out, ROLE_MUTED, _("run, by the time it began"), MAX(w - 27, 10));
        rows_cell_right(out, ROLE_MUTED, _("steps"), 6);
        rows_cell_right(out, ROLE_MUTED, _("loss"), 10);
        rows_cell_right(out, ROLE_MUTED, _("val"), 9);
    }
    for (int i = 0; i < c->known_n; i++)
        known_row(a, out, i, w);
    others(a, out);
    if (c->list_error[0])
        rows_wrap(out, ROLE_FAIL, 1, c->list_error, w - 1);
    else if (c->list_effect)
        rows_wrap(out, ROLE_MUTED, 1, _("reading the kept runs"), w - 1);
    else if (!c->known_n)
        rows_wrap(out, ROLE_MUTED, 1,
                  _("No run of this lab has been kept yet: one is kept whenever a training ends."),
                  w - 1);
    rows_blank(out);
    rows_wrap(out, ROLE_MUTED, 1,
              _("Enter shows a run beside the curve, or takes it away. Any run log or CSV file: "
                ": curve.compare FILE"), w - 1);
}

const struct panel panel_runs = {title, rows, NULL, NULL, N_("Compare")};
