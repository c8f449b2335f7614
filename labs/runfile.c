/* runfile.c - run logs and CSV files (runfile.h). */
#include "labs/runfile.h"

#include <errno.h>
#include <math.h>

#include "core/base/i18n.h"
#include "core/base/mem.h"
#include "core/base/path.h"
#include "core/base/str.h"

enum { COLUMNS = 64 };

enum column { COL_OTHER, COL_STEP, COL_LOSS, COL_VAL, COL_LR, COL_GNORM, COL_TOK_S, COL_TOKENS,
              COL_EPOCH, COL_SECONDS, COL_COUNT };

static enum column column_of(const char *name, size_t n)
{
    static const char *const names[COL_COUNT] = {
        "", "step", "loss", "val_loss", "lr", "gnorm", "tok_s", "tokens", "epoch", "seconds"};
    for (int i = 1; i < COL_COUNT; i++)
        if (strlen(names[i]) == n && memcmp(names[i], name, n) == 0)
            return (enum column)i;
    return COL_OTHER;
}

struct csv {
    enum column col[COLUMNS];
    int n;
    const char *path;
};

static bool csv_head(struct csv *c, const char *line)
{
    bool seen[COL_COUNT] = {false};
    while (c->n < COLUMNS) {
        size_t n = strcspn(line, ",\r");
        c->col[c->n] = column_of(line, n);
        seen[c->col[c->n++]] = true;
        if (line[n] != ',')
            break;
        line += n + 1;
    }
    return seen[COL_STEP] && seen[COL_LOSS];
}

static enum pd_code bad_cell(const struct csv *c, const char *cell, size_t n, int line,
                             struct pd_err *err)
{
    return pd_fail_at(err, PD_PARSE, c->path, line, 0, _("\"%.*s\" is no number"),
                      (int)MIN(n, (size_t)40), cell);
}

/* Cells of a row; an empty one is NaN and *has stays false. */
static enum pd_code csv_cells(const struct csv *c, const char *p, int line, double v[COL_COUNT],
                              bool has[COL_COUNT], struct pd_err *err)
{
    for (int i = 0; i < c->n; i++) {
        size_t n = strcspn(p, ",\r");
        char *end;
        double x = strtod(p, &end);
        if (n > 0 && c->col[i] != COL_OTHER) {
            if (end != p + n)
                return bad_cell(c, p, n, line, err);
            v[c->col[i]] = x;
            has[c->col[i]] = true;
        }
        p += n;
        if (*p == ',')
            p++;
        else
            break;
    }
    return PD_OK;
}

static enum pd_code csv_row(const struct csv *c, const char *text, int line, struct run *r,
                            struct pd_err *err)
{
    double v[COL_COUNT];
    bool has[COL_COUNT] = {false};
    for (int i = 0; i < COL_COUNT; i++)
        v[i] = NAN;
    if (csv_cells(c, text, line, v, has, err) != PD_OK)
        return err->code;
    if (!has[COL_STEP] || !isfinite(v[COL_STEP]))
        return pd_fail_at(err, PD_PARSE, c->path, line, 0, _("a row without a step"));
    double step = v[COL_STEP];
    if (has[COL_LOSS] && series_append(r->loss, step, v[COL_LOSS])) {
        const struct { struct series *s; enum column col; } rest[] = {
            {r->lr, COL_LR}, {r->gnorm, COL_GNORM}, {r->tok_s, COL_TOK_S},
            {r->tokens, COL_TOKENS}, {r->epochs, COL_EPOCH}, {r->seconds, COL_SECONDS}};
        for (size_t i = 0; i < ARRAY_LEN(rest); i++)
            series_append(rest[i].s, step, v[rest[i].col]);
        r->step = run_whole(step);
    }
    if (has[COL_VAL])
        series_append(r->val, step, v[COL_VAL]);
    return PD_OK;
}

static enum pd_code load(FILE *f, const char *path, struct run *r, struct run_log *log,
                         struct pd_err *err)
{
    char *line = NULL;
    size_t cap = 0;
    ssize_t n;
    struct csv csv = {.path = path};
    enum pd_code rc = PD_OK;
    bool is_csv = false;
    for (int at = 1; rc == PD_OK && (n = getline(&line, &cap, f)) >= 0; at++) {
        if (n > 0 && line[n - 1] == '\n')
            line[--n] = '\0';
        if (at == 1)
            is_csv = csv_head(&csv, line);
        else if (is_csv && n > 0 && line[0] != '\r')
            rc = csv_row(&csv, line, at, r, err);
        if (!is_csv)
            run_line(r, log, line, 0);
    }
    free(line);
    if (rc == PD_OK && ferror(f))
        rc = pd_fail_errno(err, PD_IO, _("%s can't be read"), path);
    return rc;
}

enum pd_code runfile_load(const char *path, struct run *r, struct pd_err *err)
{
    FILE *f = fopen(path, "re");
    if (!f)
        return pd_fail_errno(err, PD_IO, _("%s can't be read"), path);
    struct run_log *log = xcalloc(1, sizeof *log);
    enum pd_code rc = load(f, path, r, log, err);
    fclose(f);
    free(log);
    str_copy(r->pod, sizeof r->pod, path_base(path));
    if (rc != PD_OK || series_count(r->loss) > 0)
        return rc;
    pd_fail_at(err, PD_PARSE, path, 1, 0, _("no step of a training stands in it"));
    return pd_set_hint(err,
                       _("a run log of podium-train, or a CSV with the columns step and loss"));
}
