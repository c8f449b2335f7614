/* cmd_compare.c - other runs beside the curve, and the curve in a file. */
#include "tui/cmd.h"

#include <math.h>

#include "core/base/i18n.h"
#include "core/base/mem.h"
#include "core/base/path.h"
#include "labs/run.h"
#include "tui/panel.h"

void cmd_compare(struct app *a, const char *arg, struct effects *out)
{
    if (arg && str_eq(arg, "none")) {
        compare_clear(a, out);
    } else if (arg && *arg) {
        compare_toggle(a, arg, out);
    } else {
        compare_list(a, out);
        app_over(a, PANEL_RUNS);
    }
}

void cmd_compare_pick(struct app *a, const char *arg UNUSED, struct effects *out)
{
    int i = a->sel[PANEL_RUNS];
    if (i >= 0 && i < a->compare->known_n)
        compare_toggle(a, a->compare->known[i].path, out);
}

/* --- files ---------------------------------------------------------------------- */
static void write_text(const char *path, const char *text, struct effects *out)
{
    struct json *args = json_new_object();
    json_put_str(args, "path", path);
    json_put_str(args, "text", text);
    effects_add(out, EFF_WRITE, 0, 0, args);
}

static void csv_text(const struct app *a, struct str *out)
{
    char name[32];
    run_csv_ema(&a->s->run, a->line.cache.ema, a->line.cache.n,
                str_fmt(name, sizeof name, "ema_%.2f", a->curve.smooth), out);
}

static void write_csv(struct app *a, const char *path, struct effects *out)
{
    struct str csv;
    str_init(&csv, 256 << 20);
    csv_text(a, &csv);
    write_text(path, csv.p, out);
    str_release(&csv);
}

/* As the pane shows it. */
static void write_txt(struct app *a, const char *path, struct effects *out)
{
    struct str s;
    struct rows r;
    str_init(&s, 4 << 20);
    rows_init(&r, a->glyphs);
    panel_curve.rows(a, &r, MAX(a->cols - 4, 36), MAX(a->rows - 5, 9));
    for (int i = 0; i < r.n; i++) {
        rows_text(&r.v[i], &s);
        str_addc(&s, '\n');
    }
    write_text(path, s.p, out);
    rows_release(&r);
    str_release(&s);
}

static void add(struct json *argv, const char *fmt, ...) PRINTF_LIKE(2, 3);
static void add(struct json *argv, const char *fmt, ...)
{
    char word[640];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(word, sizeof word, fmt, ap);
    va_end(ap);
    json_append(argv, json_new_string(word));
}

/* What the screen shows, as podium-plot's options. */
static void options(const struct app *a, struct json *argv)
{
    static const char *const x[X_COUNT] = {"step", "tokens", "epoch", "time"};
    add(argv, "--smooth=%.2f", a->curve.smooth);
    add(argv, "--x=%s", x[a->curve.x]);
    add(argv, "--lang=%s", i18n_lang());
    add(argv, "--name=%s", a->s->run.pod);
    if (a->curve.log_y)
        add(argv, "--log-y");
    if (a->curve.log_x)
        add(argv, "--log-x");
    if (a->curve.no_band)
        add(argv, "--no-raw");
    if (!isnan(a->curve.x_lo)) {
        add(argv, "--from=%.9g", a->curve.x_lo);
        add(argv, "--to=%.9g", a->curve.x_hi);
    }
}

/* The picture is a child's work: the points go to it by a file. */
static void write_picture(struct app *a, const char *path, struct effects *out)
{
    struct json *args = json_new_object(), *argv = json_new_array();
    char *data = path_join(a->s->runs_dir, ".now.csv");
    write_csv(a, data, out);
    add(argv, "podium-plot");
    add(argv, "%s", data);
    for (int i = 0; i < a->compare->n; i++)
        add(argv, "%s", a->compare->v[i].path);
    add(argv, "-o");
    add(argv, "%s", path);
    options(a, argv);
    json_set(args, "argv", argv);
    a->compare->export_effect = effects_add(out, EFF_SPAWN, 0, 0, args);
    str_copy(a->compare->export_to, sizeof a->compare->export_to, path);
    app_note(a, false, _("drawing %s"), path);
    free(data);
}

void cmd_export(struct app *a, const char *arg, struct effects *out)
{
    if (!arg || !*arg) {
        cmd_ask(a, _("write the curve to (.csv .svg .png .txt)"), "curve.export", "curve.csv");
        return;
    }
    const char *dot = strrchr(path_base(arg), '.');
    if (dot && (str_eq(dot, ".svg") || str_eq(dot, ".png"))) {
        write_picture(a, arg, out);
        return;
    }
    if (dot && str_eq(dot, ".csv")) {
        write_csv(a, arg, out);
    } else if (dot && str_eq(dot, ".txt")) {
        write_txt(a, arg, out);
    } else {
        app_note(a, true, _("'%s': the name must end in .csv, .svg, .png or .txt"), arg);
        return;
    }
    app_note(a, false, _("the curve was written to %s"), arg);
}
