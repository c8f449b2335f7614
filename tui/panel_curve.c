/* panel_curve.c - the live loss curve, the figures beside it, the strip below. */
#include "tui/panel.h"
#include "tui/panel_list.h"

#include <math.h>

#include "core/base/i18n.h"
#include "core/base/utf8.h"
#include "tui/answer.h"
#include "tui/text.h"
#include "tui/verdict.h"

static double last_of(const struct series *s)
{
    return s && series_count(s) ? series_y(s, series_count(s) - 1) : NAN;
}

static double last_ema(const struct app *a)
{
    return a->line.cache.n ? a->line.cache.ema[a->line.cache.n - 1] : NAN;
}

static double last_x(const struct series *s)
{
    return s && series_count(s) ? series_x(s, series_count(s) - 1) : NAN;
}

static bool has_run(const struct app *a)
{
    return a->s->run.loss && series_count(a->s->run.loss) > 0;
}

static bool has_curve(const struct app *a)
{
    return has_run(a) || a->compare->n > 0;
}

void panel_curve_ask(const struct app *a, struct curve_ask *ask)
{
    const struct run *r = &a->s->run;
    struct curve_trace own = curve_line_trace(&a->line, r);
    *ask = (struct curve_ask){
        .raw = own.raw, .val = own.val, .ema = own.ema,
        .x_lo = a->curve.x_lo, .x_hi = a->curve.x_hi,
        .x_total = a->curve.x == X_STEP ? (double)r->steps_total : 0,
        .cursor = isnan(a->curve.cursor) ? NAN : curve_line_x(r, a->curve.x, a->curve.cursor),
        .log_y = a->curve.log_y, .log_x = a->curve.log_x, .clip = a->curve.clip,
        .no_band = a->curve.no_band, .edges = a->mono && a->curve.dots == DOTS_BRAILLE,
        .thick = a->look.big, .dots = a->glyphs == GLYPH_ASCII ? DOTS_ASCII : a->curve.dots};
    ask->ghosts = compare_ghosts(a, ask->ghost);
}

static const char *title(const struct app *a, char buf[160])
{
    return str_fmt(buf, 160, _("loss  %s ema %.2f  %s raw  %s val"),
                   glyph_of(a->glyphs, G_EMA), a->curve.smooth, glyph_of(a->glyphs, G_RAW),
                   glyph_of(a->glyphs, G_VAL));
}

static void empty(struct rows *out, int w, int h)
{
    for (int i = 0; i < h / 3; i++)
        rows_blank(out);
    rows_wrap(out, ROLE_STRONG, 2, _("No training log yet"), w - 2);
    rows_blank(out);
    rows_wrap(out, ROLE_MUTED, 2,
              _("The curve draws itself from the lines that the training pod writes: submit the "
                "Job, and it begins with the first step."), w - 2);
}

/* A figure with its name, if the row has room for all of it. */
static void pair(struct rows *out, enum role role, const char *label, double v, int w)
{
    char buf[24], head[64];
    int used = out->v[out->n - 1].width;
    if (isnan(v))
        return;
    str_fmt(head, sizeof head, "%s%s ", !used ? "" : w < 48 ? " " : "  ", label);
    text_number(v, buf);
    if (used + utf8_str_width(head) + utf8_str_width(buf) > w)
        return;
    rows_put(out, ROLE_MUTED, head);
    rows_put(out, role, buf);
}

static const char *eta_text(const struct run *r, char buf[64])
{
    char lo[24], hi[24];
    if (isnan(r->eta_low))
        return str_copy(buf, 64, "-");
    text_span(r->eta_low, lo);
    text_span(r->eta_high, hi);
    return str_eq(lo, hi) ? str_copy(buf, 64, lo) : str_fmt(buf, 64, "%s..%s", lo, hi);
}

static double run_share(const struct run *r)
{
    return r->steps_total > 0 ? (double)r->step / (double)r->steps_total : NAN;
}

static void progress(const struct app *a, struct rows *out, int w)
{
    const struct run *r = &a->s->run;
    char text[128], eta[64];
    if (r->steps_total <= 0)
        return;
    str_fmt(text, sizeof text, "%3.0f%%  %" PRId64 "/%" PRId64, 100 * run_share(r), r->step,
            r->steps_total);
    if (!isnan(r->eta_low) && str_eq(r->state, "running"))
        str_fmt(text + strlen(text), sizeof text - strlen(text), "  ETA %s", eta_text(r, eta));
    rows_new(out, -1);
    rows_bar(out, run_share(r), MAX(w - utf8_str_width(text) - 2, 6));
    rows_putf(out, ROLE_TEXT, "  %s", text);
}

/* Without the panes beside it, the curve carries its own figures. */
static void figures_below(const struct app *a, struct rows *out, int w)
{
    const struct run *r = &a->s->run;
    struct str verdict;
    enum role role = ROLE_TEXT;
    rows_new(out, -1);
    pair(out, ROLE_EMA, _("ema"), last_ema(a), w);
    pair(out, ROLE_TEXT, _("raw"), last_of(r->loss), w);
    pair(out, ROLE_VAL, _("val"), last_of(r->val), w);
    pair(out, ROLE_TEXT, "lr", last_of(r->lr), w);
    pair(out, ROLE_TEXT, "tok/s", last_of(r->tok_s), w);
    progress(a, out, w);
    str_init(&verdict, 1024);
    verdict_of(a, &verdict, &role);
    rows_new(out, -1);
    rows_cell(out, role, verdict.p, w);
    str_release(&verdict);
}

/* What is not on the chart is said, not hidden. */
static void unseen(const struct curve_facts *f, struct rows *out, int w)
{
    char text[3][120];
    str_fmt(text[0], sizeof text[0], _("%zu points above the view"), f->above);
    str_fmt(text[1], sizeof text[1], _("%zu points below the view"), f->below);
    str_fmt(text[2], sizeof text[2], _("%zu hidden: <= 0 on a log axis"), f->hidden);
    const size_t n[3] = {f->above, f->below, f->hidden};
    rows_new(out, -1);
    for (int i = 0; i < 3; i++) {
        int used = out->v[out->n - 1].width;
        if (n[i] && used + utf8_str_width(text[i]) + 2 <= w)
            rows_putf(out, ROLE_WARN, "%s%s", used ? "; " : " ", text[i]);
    }
}

static void chart(const struct app *a, struct rows *out, int w, int h)
{
    struct curve_ask ask;
    struct curve_facts f;
    panel_curve_ask(a, &ask);
    int legend = MIN(a->compare->n, MAX(h - 7, 0));
    curve_count(&ask, w, h - legend, &f);
    int said = f.above + f.below + f.hidden > 0 && h - legend >= 7;
    curve_rows(&ask, out, w, MAX(h - legend - said, 4), &f);
    if (said)
        unseen(&f, out, w);
    int at = out->n;
    if (legend)
        compare_rows(a, out, w);
    out->n = MIN(out->n, at + legend);
}

static void rows(const struct app *a, struct rows *out, int w, int h)
{
    if (!has_curve(a)) {
        empty(out, w, h);
        return;
    }
    if (has_run(a) && panel_list_run_stale(a)) {
        panel_list_stale(a, out, NULL, w);
        h -= out->n;
    }
    int below = a->zoom && a->cols >= 80 && a->rows >= 24 ? 0 : h >= 9 ? 3 : h >= 7 ? 1 : 0;
    int table = a->inspect_open && a->s->run.inspect_line ? (h - below) / 2 : 0;
    if (!has_run(a))
        below = 0;
    if (table && h < 9) {        /* no room for both */
        answer_rows(a->s->run.inspect_line, out, w, h);
        return;
    }
    chart(a, out, w, MAX(h - below - table, 4));
    int at = out->n;
    if (table)
        answer_rows(a->s->run.inspect_line, out, w, table);
    while (table && out->n < at + table)
        rows_blank(out);
    if (below == 1)
        progress(a, out, w);
    else if (below)
        figures_below(a, out, w);
}

static double value_at(const struct series *s, double x)
{
    size_t i = s ? series_lower(s, x) : 0;
    if (!s || series_count(s) == 0)
        return NAN;
    return series_y(s, MIN(i, series_count(s) - 1));
}

/* The newest validation at or before x. */
static double val_before(const struct series *s, double x)
{
    size_t i = s ? series_lower(s, x + 0.5) : 0;
    return i > 0 ? series_y(s, i - 1) : NAN;
}

static const char *readout(const struct app *a, char buf[160])
{
    const struct run *r = &a->s->run;
    char raw[24], ema[24], val[24];
    double x = a->curve.cursor;
    return str_fmt(buf, 160, _("step %.0f: raw %s ema %s val %s"), x,
                   text_number(value_at(r->loss, x), raw),
                   text_number(curve_line_ema(&a->line, r, x), ema),
                   text_number(val_before(r->val, x), val));
}

static const char *foot(const struct app *a, char buf[160])
{
    char part[160];
    if (!has_run(a))
        return "";
    if (!isnan(a->curve.cursor))
        return readout(a, buf);
    part[0] = '\0';
    if (a->inspect_open)
        return str_copy(buf, 160, _("Esc closes the norms"));
    if (a->curve.clip)
        str_copy(part, sizeof part, _("  outliers cut"));
    if (a->curve.no_band)
        str_fmt(part + strlen(part), sizeof part - strlen(part), "%s", _("  raw hidden"));
    if (!isnan(a->curve.x_lo))
        str_fmt(part + strlen(part), sizeof part - strlen(part), _("  zoomed, 0 fits"));
    const char *scale = a->curve.log_y && a->curve.log_x ? _("log y, log x")
                        : a->curve.log_y ? _("log y") : a->curve.log_x ? _("log x")
                                                                       : _("linear y");
    return str_fmt(buf, 160, _("%s  x %s%s"), scale, curve_x_name(a->curve.x), part);
}

static bool ages(const struct app *a)
{
    return has_run(a) && (str_eq(a->s->run.state, "running") || panel_list_run_stale(a));
}

const struct panel panel_curve = {title, rows, foot, ages, N_("Curve")};

/* --- the figures ----------------------------------------------------------------- */
static const char *run_title(const struct app *a, char buf[160])
{
    return str_fmt(buf, 160, _("run %s"), a->s->run.pod);
}

static void figure(struct rows *out, const char *label, enum role role, const char *value,
                   const char *more)
{
    rows_new(out, -1);
    rows_cell(out, ROLE_MUTED, label, 8);
    rows_put(out, role, value);
    if (more && *more)
        rows_putf(out, ROLE_MUTED, "  %s", more);
}

/* The states of a run (labs/session.h) in the person's language. */
const char *panel_run_state(const char *state)
{
    static const char *const states[] = {N_("running"), N_("paused"), N_("holding"), N_("done"),
                                         N_("error")};
    for (size_t i = 0; i < ARRAY_LEN(states); i++)
        if (str_eq(states[i], state))
            return _(states[i]);
    return state;
}

static enum role state_role(const char *state)
{
    if (str_eq(state, "error"))
        return ROLE_FAIL;
    return str_eq(state, "paused") || str_eq(state, "holding") ? ROLE_WARN : ROLE_OK;
}

static void losses(const struct app *a, struct rows *out)
{
    const struct run *r = &a->s->run;
    char buf[24], more[64];
    more[0] = '\0';
    figure(out, _("train"), ROLE_TEXT, text_number(last_of(r->loss), buf), "");
    figure(out, _("ema"), ROLE_EMA,
           text_number(last_ema(a), buf), "");
    if (!isnan(last_x(r->val)))
        str_fmt(more, sizeof more, "@ %.0f", last_x(r->val));
    figure(out, _("val"), ROLE_VAL, text_number(last_of(r->val), buf), more);
    more[0] = '\0';
    if (r->val && series_count(r->val) > 0) {
        str_fmt(more, sizeof more, "@ %.0f", r->best_step);
        figure(out, _("best"), ROLE_STRONG, text_number(r->best_val, buf), more);
        if (r->first_val > 0 && series_count(r->val) > 1)
            figure(out, _("change"), ROLE_TEXT,
                   str_fmt(buf, sizeof buf, "%+.0f%%", 100 * (r->best_val / r->first_val - 1)),
                   _("of val"));
    }
}

static void bad_points(const struct app *a, struct rows *out)
{
    const struct curve_line *l = &a->line;
    char buf[96];
    str_fmt(buf, sizeof buf, _("NaN %zu  Inf %zu  gaps %zu"), l->nan, l->inf, l->gaps);
    rows_line(out, l->nan || l->inf ? ROLE_FAIL : l->gaps ? ROLE_WARN : ROLE_MUTED, buf);
}

static void run_rows(const struct app *a, struct rows *out, int w, int h)
{
    const struct run *r = &a->s->run;
    char buf[64], num[24];
    if (!has_run(a))
        return;
    if (panel_list_run_stale(a)) {
        panel_age(a, a->s->cluster.last_ok_ms, num);
        figure(out, _("state"), ROLE_FAIL, _("no link"), num);
        out->dim = true;
    } else {
        figure(out, _("state"), state_role(r->state), panel_run_state(r->state), "");
    }
    losses(a, out);
    if (h >= 14)
        rows_blank(out);
    figure(out, "lr", ROLE_TEXT, text_number(last_of(r->lr), num), "");
    figure(out, "tok/s", ROLE_TEXT, text_number(last_of(r->tok_s), num), "");
    figure(out, "gnorm", ROLE_TEXT, text_number(last_of(r->gnorm), num), "");
    str_fmt(buf, sizeof buf, "%" PRId64 "/%" PRId64, r->step, r->steps_total);
    figure(out, _("step"), ROLE_TEXT, buf, "");
    if (!isnan(r->epoch) && r->epoch > 0)
        figure(out, _("epoch"), ROLE_TEXT, str_fmt(buf, sizeof buf, "%.2f", r->epoch), "");
    if (h >= 14)
        rows_blank(out);
    if (r->started_ms) {
        int64_t end = ages(a) ? a->now_ms : r->last_line_ms;
        figure(out, _("elapsed"), ROLE_TEXT,
               text_span((double)(end - r->started_ms) / 1000, num), "");
    }
    if (str_eq(r->state, "running"))
        figure(out, "ETA", ROLE_TEXT, eta_text(r, buf), "");
    bad_points(a, out);
    if (r->answer_line) {
        struct str said;
        str_init(&said, 4096);
        answer_say(r->answer_line, &said);
        rows_blank(out);
        rows_line(out, ROLE_HEAD, _("Trainer's answer"));
        rows_wrap(out, ROLE_TEXT, 0, said.p, w);
        str_release(&said);
    }
    if (r->error[0]) {
        rows_blank(out);
        rows_wrap(out, ROLE_FAIL, 0, r->error, w);
    }
}

const struct panel panel_run = {run_title, run_rows, NULL, ages, NULL};

/* --- the strip ------------------------------------------------------------------- */
static void sparks(const struct app *a, struct rows *out, int w)
{
    const struct run *r = &a->s->run;
    struct series_extent e = {0};
    char lo[24], hi[24], range[64];
    range[0] = '\0';
    if (r->tok_s && series_count(r->tok_s)) {
        e = series_range(r->tok_s, 0, series_count(r->tok_s));
        if (e.any)
            str_fmt(range, sizeof range, "  %s..%s", text_number(e.min, lo),
                    text_number(e.max, hi));
    }
    int room = MAX((w - 4 - 9 - utf8_str_width(range)) / 2, 4);
    rows_new(out, -1);
    rows_put(out, ROLE_MUTED, " lr ");
    curve_spark(r->lr, out, room);
    rows_pad(out, 4 + room);
    rows_put(out, ROLE_MUTED, "   tok/s ");
    curve_spark(r->tok_s, out, room);
    rows_put(out, ROLE_MUTED, range);
}

static void strip_rows(const struct app *a, struct rows *out, int w, int h UNUSED)
{
    struct str verdict;
    enum role role = ROLE_TEXT;
    if (!has_run(a))
        return;
    sparks(a, out, w);
    progress(a, out, w - 1);
    str_init(&verdict, 1024);
    verdict_of(a, &verdict, &role);
    rows_new(out, -1);
    rows_put(out, ROLE_TEXT, " ");
    rows_cell(out, role, verdict.p, w - 2);
    str_release(&verdict);
}

const struct panel panel_strip = {NULL, strip_rows, NULL, NULL, NULL};
