/* diagnose_read.c - series from files of several programs (diagnose.h). */
#include "core/base/i18n.h"

#include <ctype.h>
#include <math.h>

#include "core/base/mem.h"
#include "core/base/path.h"
#include "core/train/diagnose.h"

enum { SERIES_CEILING = 256 << 20, COLUMNS = 7 };

/* Names that programs give to our columns. */
static const struct {
    const char *name;
    int column;
} names[] = {
    {"step", 0},      {"global_step", 0},    {"iter", 0},       {"iteration", 0}, {"loss", 1},
    {"train_loss", 1}, {"train/loss", 1},    {"grad_norm", 2},  {"gnorm", 2},
    {"train/grad_norm", 2}, {"gradient_norm", 2}, {"lr", 3},    {"learning_rate", 3},
    {"train/learning_rate", 3}, {"val_loss", 4}, {"eval_loss", 4}, {"eval/loss", 4},
    {"validation_loss", 4}, {"eval_runtime", 5}, {"eval_samples_per_second", 6},
};

static int column_of(const char *s, size_t n)
{
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        if (strlen(names[i].name) == n && strncasecmp(names[i].name, s, n) == 0)
            return names[i].column;
    return -1;
}

/* A number, perhaps in quotes; nan, NaN, Infinity, -inf, null and None too. */
static bool number(const char *s, size_t n, double *out)
{
    char text[64], *end;
    while (n > 0 && strchr(" \t\r\"'", s[0]))
        s++, n--;
    while (n > 0 && strchr(" \t\r\"'", s[n - 1]))
        n--;
    if (n == 0 || n >= sizeof text)
        return false;
    memcpy(text, s, n);
    text[n] = '\0';
    if (str_eq(text, "null") || str_eq(text, "None")) {
        *out = NAN;
        return true;
    }
    *out = strtod(text, &end);
    return *end == '\0';
}

static void set(struct series_row *r, int column, double v)
{
    double *const to[COLUMNS] = {&r->step, &r->loss, &r->gnorm, &r->lr, &r->val,
                                  &r->seconds, &r->examples};
    *to[column] = v;
    r->has_loss |= column == 1;
    r->has_gnorm |= column == 2;
    r->has_val |= column == 4;
}

static struct series_row empty_row(const struct run_series *s)
{
    return (struct series_row){.step = s->n ? s->v[s->n - 1].step : 0, .loss = NAN, .gnorm = NAN,
                               .lr = NAN, .val = NAN};
}

/* "key": number pairs of one flat object, in JSON or as Python writes it. */
static bool read_object(struct run_series *s, const char *p, const char *end)
{
    struct series_row r = empty_row(s);
    bool any = false;
    double v;
    while (p < end) {
        const char *key = p + strcspn(p, "\"'}");
        if (key >= end || *key == '}')
            break;
        const char *close = memchr(key + 1, *key, (size_t)(end - key - 1));
        const char *colon = close ? close + 1 + strspn(close + 1, " ") : NULL;
        if (!colon || colon >= end || *colon != ':') {
            p = close ? close + 1 : end;
            continue;
        }
        size_t n = strcspn(colon + 1, ",}\n");
        int column = column_of(key + 1, (size_t)(close - key - 1));
        bool is_number = number(colon + 1, n, &v);
        if (column >= 0 && is_number)
            set(&r, column, v), any |= column > 0;
        if (close - key - 1 == 5 && memcmp(key + 1, "vocab", 5) == 0 && is_number)
            s->vocab = v;
        p = colon + 1 + n;
    }
    r.examples = round(r.examples * r.seconds);   /* it was a rate */
    if (any)
        run_series_add(s, &r);
    return any;
}

/* Lines, each perhaps with an object in it. */
static void read_lines(struct run_series *s, const char *p)
{
    while (*p) {
        const char *end = p + strcspn(p, "\n"), *open = memchr(p, '{', (size_t)(end - p));
        if (open)
            read_object(s, open + 1, end);
        p = *end ? end + 1 : end;
    }
}

/* trainer_state.json: the objects of log_history, which stand one in a brace. */
static void read_state(struct run_series *s, const char *p)
{
    for (p = strchr(p, '['); p && (p = strchr(p, '{')); p++) {
        const char *end = strchr(p, '}');
        if (!end)
            return;
        read_object(s, p + 1, end);
        p = end;
    }
}

static enum pd_code read_csv_row(struct run_series *s, const char *p, size_t len,
                                 const int *columns, int n, const char *path, int line,
                                 struct pd_err *err)
{
    struct series_row r = empty_row(s);
    for (int i = 0; i < n; i++) {
        size_t cell = 0;
        double v;
        while (cell < len && p[cell] != ',' && p[cell] != '\t' && p[cell] != ';')
            cell++;
        bool blank = cell == 0 || p[strspn(p, " \r")] == ',' ;
        if (columns[i] >= 0 && !blank) {
            if (!number(p, cell, &v))
                return pd_fail_at(err, PD_DATA, path, line, i + 1, _("\"%.*s\" is no number"),
                                  (int)MIN(cell, (size_t)40), p);
            set(&r, columns[i], v);
        }
        size_t step = cell < len ? cell + 1 : cell;
        p += step;
        len -= step;
    }
    run_series_add(s, &r);
    return PD_OK;
}

static enum pd_code read_csv(struct run_series *s, const char *p, const char *path,
                             struct pd_err *err)
{
    int columns[64], n = 0, known = 0, line = 1;
    size_t len = strcspn(p, "\r\n");
    for (size_t at = 0; at < len && n < 64;) {
        size_t cell = strcspn(p + at, ",\t;\r\n");
        const char *name = p + at + strspn(p + at, " \"");
        size_t name_n = strcspn(name, "\",\t;\r\n ");
        columns[n] = column_of(name, name_n);
        known += columns[n++] > 0;
        at += cell + 1;
    }
    if (known == 0)
        return pd_fail_at(err, PD_DATA, path, 1, 1,
                          _("no column is called loss, grad_norm, learning_rate or eval_loss"));
    for (p += strcspn(p, "\n"); *p == '\n';) {
        p++;
        line++;
        len = strcspn(p, "\n");
        if (strcspn(p, "\r\n") > 0 && read_csv_row(s, p, len, columns, n, path, line, err) != PD_OK)
            return err->code;
        p += len;
    }
    return PD_OK;
}

enum pd_code run_series_read(struct run_series *s, const char *path, struct pd_err *err)
{
    struct str text;
    str_init(&text, SERIES_CEILING);
    enum pd_code rc = path_read(path, SERIES_CEILING, &text, err);
    const char *p = text.p ? text.p : "";
    while (isspace((unsigned char)*p))
        p++;
    if (!rc && strstr(p, "\"log_history\""))
        read_state(s, strstr(p, "\"log_history\""));
    else if (!rc && strcspn(p, "{") < strcspn(p, "\n"))
        read_lines(s, p);
    else if (!rc)
        rc = read_csv(s, p, path, err);
    if (!rc && s->n == 0)
        rc = pd_fail(err, PD_DATA, _("%s holds no losses"), path);
    str_release(&text);
    return rc;
}
