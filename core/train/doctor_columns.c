/* doctor_columns.c - which type each column has in which rows. */
#include "core/base/i18n.h"
#include "core/base/mem.h"
#include "core/train/doctor.h"

enum { MOST_COLUMNS = 128, TYPES = TJSON_OBJECT + 1 };

struct rows {
    int v[DOC_ROWS];
    int n;
};

struct column {
    char *key;
    struct rows of[TYPES];
    int n, last;                  /* rows that have it; the last of them */
};

struct doc_columns {
    struct column v[MOST_COLUMNS];
    int n, seen;
};

void doctor_columns_free(struct doc_columns *c)
{
    for (int i = 0; c && i < c->n; i++)
        free(c->v[i].key);
    free(c);
}

void doctor_column(struct doctor *d, const char *key, enum tjson_type type, int row)
{
    if (!d->columns)
        d->columns = xcalloc(1, sizeof *d->columns);
    struct doc_columns *c = d->columns;
    int i = 0;
    while (i < c->n && !str_eq(c->v[i].key, key))
        i++;
    if (i == MOST_COLUMNS)
        return;
    if (i == c->n)
        c->v[c->n++].key = xstrdup(key);
    struct rows *r = &c->v[i].of[type == TJSON_REAL ? TJSON_INT : type];
    if (r->n < DOC_ROWS)
        r->v[r->n] = row;
    r->n++;
    c->v[i].n++;
    c->v[i].last = row;
}

void doctor_ranges(const int *rows, int kept, int n, struct str *out)
{
    for (int i = 0, to; i < kept; i = to) {
        for (to = i + 1; to < kept && rows[to] == rows[to - 1] + 1;)
            to++;
        str_printf(out, "%s%d", i ? ", " : "", rows[i]);
        if (to - i == 2)
            str_printf(out, ", %d", rows[to - 1]);
        else if (to - i > 2)
            str_printf(out, "-%d", rows[to - 1]);
    }
    if (n > kept)
        str_add(out, " …");
}

static const char *type_word(int type)
{
    static const char *const words[TYPES] = {
        [TJSON_NULL] = "null", [TJSON_BOOL] = N_("true/false"), [TJSON_INT] = N_("number"),
        [TJSON_STRING] = N_("string"), [TJSON_ARRAY] = N_("list"), [TJSON_OBJECT] = N_("object")};
    return words[type] ? _(words[type]) : "?";
}

/* "score: number in rows 1-3, 5, 6; string in row 4" */
static void tell_types(struct doctor *d, const struct column *c)
{
    struct str s, rows;
    int types = 0;
    str_init(&s, 4096);
    str_init(&rows, 4096);
    str_printf(&s, "%s: ", c->key);
    for (int t = 0; t < TYPES; t++) {
        const struct rows *r = &c->of[t];
        if (r->n == 0)
            continue;
        str_clear(&rows);
        doctor_ranges(r->v, MIN(r->n, (int)DOC_ROWS), r->n, &rows);
        str_add(&s, types++ ? "; " : "");
        str_printf(&s, r->n == 1 ? _("%s in row %s") : _("%s in rows %s"), type_word(t), rows.p);
    }
    str_release(&rows);
    if (types > 1)
        doctor_add(d, DOC_COLUMN, 0, "%.190s", s.p);
    str_release(&s);
}

void doctor_columns_end(struct doctor *d)
{
    struct doc_columns *c = d->columns;
    for (int i = 0; c && i < c->n; i++) {
        tell_types(d, &c->v[i]);
        int lacking = d->rows - c->v[i].n;
        if (lacking > 0 && lacking * 4 < d->rows)
            doctor_add(d, DOC_MISSING, 0, _("\"%s\" of %d rows"), c->v[i].key, lacking);
    }
}
