/* data_split.c - which records train and which validate.
 *
 * Records of one template say the same thing in other words or another
 * language; so the split goes by template, and a validation record never has
 * a sibling in training.
 */
#include "core/base/base.h"

#include <math.h>

#include "core/base/i18n.h"
#include "core/base/mem.h"
#include "core/train/data_impl.h"

#define VAL_FRACTION 0.15

static enum pd_code bad(struct data_reader *r, const char *what, const char *value)
{
    return pd_fail_at(r->err, PD_DATA, r->path, r->line, 0, "%s%.200s", what, value);
}

/* --- duplicates --------------------------------------------------------------------- */

static int by_question(const void *a, const void *b)
{
    const struct data_owned *x = *(const struct data_owned *const *)a;
    const struct data_owned *y = *(const struct data_owned *const *)b;
    int c = strcmp(x->instruction, y->instruction);
    c = c ? c : strcmp(x->input, y->input);
    return c ? c : x->line - y->line;
}

/* The same question twice, whatever the answers. */
enum pd_code data_check_duplicates(struct data_reader *r)
{
    size_t n = r->d->records_n;
    const struct data_owned **v = xmalloc((n + 1) * sizeof *v);
    for (size_t i = 0; i < n; i++)
        v[i] = &r->d->records[i];
    qsort(v, n, sizeof *v, by_question);
    int at = 0, first = 0;
    for (size_t i = 1; i < n; i++)
        if (str_eq(v[i]->instruction, v[i - 1]->instruction) &&
            str_eq(v[i]->input, v[i - 1]->input) && (!at || v[i]->line < at)) {
            at = v[i]->line;
            first = v[i - 1]->line;
        }
    free(v);
    if (!at)
        return PD_OK;
    char text[64];
    r->line = at;
    return bad(r, _("a duplicate: the same instruction and input as "),
               str_fmt(text, sizeof text, "line %d", first));
}

/* --- split -------------------------------------------------------------------------- */

struct template_row {
    const char *name;
    uint64_t hash;
    bool val;
};

uint64_t data_hash(const char *s)
{
    uint64_t h = 14695981039346656037u;
    for (; *s; s++)
        h = (h ^ (unsigned char)*s) * 1099511628211u;
    return h ^ h >> 29;
}

static int by_hash(const void *a, const void *b)
{
    const struct template_row *x = a, *y = b;
    if (x->hash != y->hash)
        return x->hash < y->hash ? -1 : 1;
    return strcmp(x->name, y->name);
}

/* The different templates, in the order of their hashes; returns how many. */
static size_t list_templates(const struct data *d, struct template_row *rows)
{
    size_t n = 0;
    for (size_t i = 0; i < d->records_n; i++)
        rows[i] = (struct template_row){d->records[i].template,
                                        data_hash(d->records[i].template), false};
    qsort(rows, d->records_n, sizeof *rows, by_hash);
    for (size_t i = 0; i < d->records_n; i++)
        if (i == 0 || !str_eq(rows[i].name, rows[n - 1].name))
            rows[n++] = rows[i];
    return n;
}

static enum pd_code mark_named(struct data_reader *r, const char *list, struct template_row *rows,
                               size_t n)
{
    struct strv names;
    enum pd_code rc = PD_OK;
    strv_init(&names);
    strv_split(&names, list, ',');
    r->line = 0;
    for (size_t i = 0; i < names.n && rc == PD_OK; i++) {
        size_t k = 0;
        while (k < n && !str_eq(rows[k].name, names.v[i]))
            k++;
        if (k == n)
            rc = bad(r, _("no record has the validation template "), names.v[i]);
        else
            rows[k].val = true;
    }
    strv_release(&names);
    return rc;
}

static void mark_fraction(double fraction, struct template_row *rows, size_t n)
{
    size_t most = n > 0 ? n - 1 : 0;
    fraction = fraction < 0 ? 0 : fraction > 0 ? fraction : VAL_FRACTION;
    size_t k = (size_t)ceil(fraction * (double)n);
    for (size_t i = 0; i < MIN(k, most); i++)
        rows[i].val = true;
}

static void assign(struct data *d, const struct template_row *rows, size_t n)
{
    for (int s = 0; s < DATA_SPLITS; s++)
        d->members[s] = xcalloc(d->records_n + 1, sizeof *d->members[s]);
    for (size_t i = 0; i < n; i++)
        d->templates[rows[i].val ? DATA_VAL : DATA_TRAIN]++;
    for (size_t i = 0; i < d->records_n; i++) {
        const char *name = d->records[i].template;
        struct template_row key = {name, data_hash(name), false};
        const struct template_row *row = bsearch(&key, rows, n, sizeof *rows, by_hash);
        enum data_split s = row->val ? DATA_VAL : DATA_TRAIN;
        d->members[s][d->count[s]++] = (uint32_t)i;
    }
}

enum pd_code data_make_split(struct data_reader *r)
{
    const struct data_options *opt = r->opt;
    struct data *d = r->d;
    struct template_row *rows = xcalloc(d->records_n + 1, sizeof *rows);
    size_t n = list_templates(d, rows);
    enum pd_code rc = PD_OK;
    if (opt->val_templates)
        rc = mark_named(r, opt->val_templates, rows, n);
    else
        mark_fraction(opt->val_fraction, rows, n);
    if (rc == PD_OK)
        assign(d, rows, n);
    free(rows);
    r->line = 0;
    if (rc == PD_OK && d->count[DATA_TRAIN] == 0)
        rc = bad(r, _("no record is left for training"), "");
    if (rc == PD_OK && d->count[DATA_VAL] == 0 && opt->val_fraction >= 0)
        rc = bad(r, _("no record is left for validation: all have one template"), "");
    return rc;
}
