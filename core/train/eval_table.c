/* eval_table.c - an evaluation as a table (eval_table.h). */
#include "core/train/eval_table.h"

#include <math.h>

#include "core/base/i18n.h"
#include "core/base/utf8.h"

enum { COLUMNS = 6, CELL = 40 };

struct row {
    char cell[COLUMNS][CELL];
};

static void print_rows(const struct row *rows, int n, struct str *out)
{
    int width[COLUMNS] = {0};
    for (int i = 0; i < n; i++)
        for (int k = 0; k < COLUMNS; k++)
            width[k] = MAX(width[k], utf8_str_width(rows[i].cell[k]));
    for (int i = 0; i < n; i++)
        for (int k = 0; k < COLUMNS; k++) {
            int pad = width[k] - utf8_str_width(rows[i].cell[k]);
            bool text = k < 2;                     /* numbers stand on the right */
            const char *end = k == COLUMNS - 1 ? "\n" : "  ";
            str_printf(out, "%*s%s%*s%s", text ? 0 : pad, "", rows[i].cell[k], text ? pad : 0, "",
                       end);
        }
}

static void fill_row(struct row *row, const char *split, const char *side,
                     const struct eval_result *r)
{
    str_copy(row->cell[0], CELL, split);
    str_copy(row->cell[1], CELL, side);
    str_fmt(row->cell[2], CELL, "%.4f", r->loss);
    str_fmt(row->cell[3], CELL, "%.4g", exp(r->loss));
    str_fmt(row->cell[4], CELL, "%" PRId64, r->tokens);
    str_fmt(row->cell[5], CELL, "%" PRId64, r->examples);
}

static void say_change(const struct eval_result *r, const char *split, struct str *out)
{
    double change = r[EVAL_ADAPTER].loss - r[EVAL_BASE].loss;
    if (r[EVAL_BASE].tokens && r[EVAL_ADAPTER].tokens)
        str_printf(out, _("%s: the adapter changes the loss by %+.4f, the perplexity from %.4g to "
                          "%.4g\n"), split, change, exp(r[EVAL_BASE].loss),
                   exp(r[EVAL_ADAPTER].loss));
}

void eval_table_print(const struct eval_found *f, struct str *out)
{
    static const char *const head[COLUMNS] = {N_("split"), N_("weights"), N_("loss"),
                                              N_("perplexity"), N_("tokens"), N_("examples")};
    static const char *const splits[DATA_SPLITS] = {[DATA_TRAIN] = N_("training"),
                                                    [DATA_VAL] = N_("validation")};
    static const char *const sides[EVAL_SIDES] = {N_("base"), N_("with the adapter")};
    struct row rows[1 + DATA_SPLITS * EVAL_SIDES];
    int n = 1;
    for (int k = 0; k < COLUMNS; k++)
        str_copy(rows[0].cell[k], CELL, _(head[k]));
    for (int s = DATA_SPLITS - 1; s >= 0; s--)
        for (int side = 0; side < EVAL_SIDES; side++)
            if (f->r[s][side].tokens)
                fill_row(&rows[n++], _(splits[s]), _(sides[side]), &f->r[s][side]);
    print_rows(rows, n, out);
    for (int s = DATA_SPLITS - 1; s >= 0; s--)
        say_change(f->r[s], _(splits[s]), out);
    if (f->r[DATA_VAL][EVAL_BASE].tokens && !isnan(f->unigram))
        str_printf(out, _("a model that knows only how frequent each token is has a validation "
                          "loss of %.4f\n"), f->unigram);
}
