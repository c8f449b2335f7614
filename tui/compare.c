/* compare.c - other runs: reading them by a child, and how they differ
 * (compare.h). */
#include "tui/compare.h"

#include <math.h>

#include "core/base/i18n.h"
#include "core/base/mem.h"
#include "core/base/path.h"
#include "core/base/utf8.h"
#include "labs/run.h"
#include "tui/app.h"
#include "tui/text.h"

static const struct { enum glyph mark; enum role role; } signs[CURVE_GHOSTS] = {
    {G_RUN1, ROLE_SERIES_3}, {G_RUN2, ROLE_SERIES_4}, {G_RUN3, ROLE_SERIES_5},
    {G_RUN4, ROLE_SERIES_2}};

struct compare *compare_new(void)
{
    return xcalloc(1, sizeof(struct compare));
}

static void release(struct compare_run *r)
{
    run_release(&r->run);
    curve_line_release(&r->line);
    memset(r, 0, sizeof *r);
}

void compare_free(struct compare *c)
{
    for (int i = 0; c && i < c->n; i++)
        release(&c->v[i]);
    free(c);
}

/* --- which ------------------------------------------------------------------------ */
static int find(const struct compare *c, const char *path)
{
    for (int i = 0; i < c->n; i++)
        if (str_eq(c->v[i].path, path))
            return i;
    return -1;
}

bool compare_has(const struct compare *c, const char *path)
{
    return find(c, path) >= 0;
}

static uint32_t spawn(const char *option, const char *path, struct effects *out)
{
    struct json *args = json_new_object(), *argv = json_new_array();
    json_append(argv, json_new_string("podium-plot"));
    json_append(argv, json_new_string(option));
    json_append(argv, json_new_string(path));
    json_set(args, "argv", argv);
    return effects_add(out, EFF_SPAWN, 0, 0, args);
}

static void cancel(uint32_t effect, struct effects *out)
{
    if (!effect)
        return;
    struct json *args = json_new_object();
    json_put_num(args, "effect", effect);
    effects_add(out, EFF_CANCEL, 0, 0, args);
}

static void take_out(struct compare *c, int i, struct effects *out)
{
    cancel(c->v[i].effect, out);
    release(&c->v[i]);
    memmove(&c->v[i], &c->v[i + 1], (size_t)(c->n - i - 1) * sizeof c->v[0]);
    memset(&c->v[--c->n], 0, sizeof c->v[0]);
}

static void clean(char *dst, size_t size, const char *src)
{
    struct str s;
    str_init(&s, 4096);
    utf8_clean(src, MIN(strlen(src), (size_t)1000), false, &s);
    str_copy(dst, size, s.p);
    str_release(&s);
}

void compare_toggle(struct app *a, const char *path, struct effects *out)
{
    struct compare *c = a->compare;
    struct run_log *unused;
    int at = find(c, path);
    if (at >= 0) {
        take_out(c, at, out);
        return;
    }
    if (c->n == CURVE_GHOSTS) {
        app_note(a, true, _("four runs at most beside this one: take one away first (c)"));
        return;
    }
    struct compare_run *r = &c->v[c->n++];
    unused = xcalloc(1, sizeof *unused);
    run_init(&r->run, unused);
    free(unused);
    curve_line_init(&r->line);
    str_copy(r->path, sizeof r->path, path);
    clean(r->name, sizeof r->name, path_base(path));
    r->effect = spawn("--points", path, out);
}

void compare_clear(struct app *a, struct effects *out)
{
    while (a->compare->n > 0)
        take_out(a->compare, 0, out);
}

void compare_list(struct app *a, struct effects *out)
{
    struct compare *c = a->compare;
    cancel(c->list_effect, out);
    c->list_effect = 0;
    c->known_n = 0;
    c->list_error[0] = '\0';
    if (a->s->runs_dir[0])
        c->list_effect = spawn("--list", a->s->runs_dir, out);
}

/* --- messages ------------------------------------------------------------------------ */
static struct series *series_of(struct run *r, const char *name)
{
    struct { const char *name; struct series *s; } of[] = {
        {"loss", r->loss}, {"val", r->val}, {"tokens", r->tokens}, {"epochs", r->epochs},
        {"seconds", r->seconds}};
    for (size_t i = 0; i < ARRAY_LEN(of); i++)
        if (str_eq(of[i].name, name))
            return of[i].s;
    return NULL;
}

/* "X Y X Y …" */
static void take_points(struct compare_run *r, const struct json *q)
{
    struct series *s = series_of(&r->run, json_str(q, "of", ""));
    const char *p = json_str(q, "text", "");
    while (s && *p) {
        char *end;
        double x = strtod(p, &end), y;
        if (end == p)
            return;
        p = end;
        y = strtod(p, &end);
        if (end == p)
            return;
        p = end;
        series_append(s, x, y);
    }
}

static void take_known(struct compare *c, const struct json *q)
{
    if (c->known_n == COMPARE_KNOWN)
        return;
    struct compare_known *k = &c->known[c->known_n++];
    clean(k->name, sizeof k->name, json_str(q, "name", ""));
    str_copy(k->path, sizeof k->path, json_str(q, "path", ""));
    k->steps = json_num(q, "steps", NAN);
    k->loss = json_num(q, "loss", NAN);
    k->val = json_num(q, "val", NAN);
}

/* What a child that failed said last. */
static bool failed(const struct msg *m, char *error, size_t size)
{
    const char *text = json_str(m->body, "stderr", "");
    if (m->kind != MSG_CHILD_EXIT || json_int(m->body, "code", 0) == 0)
        return false;
    clean(error, size, *text ? text : _("podium-plot can't be run: it belongs beside podium"));
    return true;
}

static void of_run(struct compare_run *r, const struct msg *m)
{
    const struct json *q = json_get(m->body, "record");
    if (m->kind == MSG_CHILD_LINE && str_eq(json_str(q, "ev", ""), "points"))
        take_points(r, q);
    failed(m, r->error, sizeof r->error);
    if (m->kind == MSG_CHILD_EXIT)
        r->effect = 0;
}

static void of_list(struct compare *c, const struct msg *m)
{
    const struct json *q = json_get(m->body, "record");
    if (m->kind == MSG_CHILD_LINE && str_eq(json_str(q, "ev", ""), "known"))
        take_known(c, q);
    failed(m, c->list_error, sizeof c->list_error);
    if (m->kind == MSG_CHILD_EXIT)
        c->list_effect = 0;
}

static void of_export(struct app *a, const struct msg *m)
{
    char error[256];
    if (m->kind != MSG_CHILD_EXIT)
        return;
    a->compare->export_effect = 0;
    if (failed(m, error, sizeof error))
        app_note(a, true, _("the picture was not written: %s"), error);
    else if (*json_str(m->body, "stderr", ""))
        app_note(a, true, _("written to %s, but %s"), a->compare->export_to,
                 json_str(m->body, "stderr", ""));
    else
        app_note(a, false, _("the curve was written to %s"), a->compare->export_to);
}

bool compare_message(struct app *a, const struct msg *m)
{
    struct compare *c = a->compare;
    if (!m->effect || (m->kind != MSG_CHILD_LINE && m->kind != MSG_CHILD_EXIT))
        return false;
    if (m->effect == c->list_effect) {
        of_list(c, m);
        return true;
    }
    if (m->effect == c->export_effect) {
        of_export(a, m);
        return true;
    }
    for (int i = 0; i < c->n; i++)
        if (m->effect == c->v[i].effect) {
            of_run(&c->v[i], m);
            return true;
        }
    return false;
}

void compare_update(struct app *a)
{
    for (int i = 0; i < a->compare->n; i++)
        curve_line_update(&a->compare->v[i].line, &a->compare->v[i].run, a->curve.x,
                          a->curve.smooth);
}

/* --- drawing -------------------------------------------------------------------------- */
int compare_ghosts(const struct app *a, struct curve_ghost out[CURVE_GHOSTS])
{
    for (int i = 0; i < a->compare->n; i++) {
        const struct compare_run *r = &a->compare->v[i];
        out[i] = (struct curve_ghost){curve_line_trace(&r->line, &r->run), signs[i].mark,
                                      signs[i].role};
    }
    return a->compare->n;
}

static double last_step(const struct series *s)
{
    return s && series_count(s) ? series_x(s, series_count(s) - 1) : NAN;
}

/* The newest validation step that both have, up to `most`; NaN: none. */
static double common_val(const struct series *own, const struct series *other, double most)
{
    for (size_t i = own ? series_count(own) : 0; i > 0; i--) {
        double x = series_x(own, i - 1);
        size_t k = series_lower(other, x);
        if (x <= most && k < series_count(other) && series_x(other, k) == x)
            return x;
    }
    return NAN;
}

static double at(const struct series *s, double x)
{
    size_t i = s ? series_lower(s, x) : 0;
    return s && i < series_count(s) && series_x(s, i) == x ? series_y(s, i) : NAN;
}

/* "  ema @310 1.061, here -0.114", when the row has room for it. */
static void difference(struct rows *out, const char *what, double step, double other, double own,
                       int w)
{
    char buf[24], text[128];
    if (isnan(step) || isnan(other))
        return;
    str_fmt(text, sizeof text, "  %s @%.0f %s", what, step, text_number(other, buf));
    if (!isnan(own))
        str_fmt(text + strlen(text), sizeof text - strlen(text), _(", here %+.3f"), own - other);
    if (out->v[out->n - 1].width + utf8_str_width(text) <= w)
        rows_put(out, ROLE_TEXT, text);
}

static void row(const struct app *a, const struct compare_run *r, int i, struct rows *out, int w)
{
    const struct run *own = &a->s->run;
    double step = isnan(a->curve.cursor) ? fmin(last_step(own->loss), last_step(r->run.loss))
                                         : a->curve.cursor;
    rows_new(out, -1);
    rows_sign(out, signs[i].role, signs[i].mark);
    rows_put(out, ROLE_TEXT, " ");
    rows_cell(out, signs[i].role, r->name, MIN(utf8_str_width(r->name), MAX(w / 4, 10)));
    if (r->error[0]) {
        rows_putf(out, ROLE_FAIL, "  %s", r->error);
        return;
    }
    if (r->effect)
        rows_put(out, ROLE_MUTED, _("  reading"));
    if (isnan(step))
        step = last_step(r->run.loss);
    difference(out, _("ema"), step, curve_line_ema(&r->line, &r->run, step),
               curve_line_ema(&a->line, own, step), w);
    double val = common_val(own->val, r->run.val, step);
    difference(out, _("val"), val, at(r->run.val, val), at(own->val, val), w);
}

void compare_rows(const struct app *a, struct rows *out, int w)
{
    for (int i = 0; i < a->compare->n; i++)
        row(a, &a->compare->v[i], i, out, w);
}
