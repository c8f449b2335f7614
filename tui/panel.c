/* panel.c - the table of panels and what several of them share (panel.h). */
#include "tui/panel.h"

#include "core/base/clock.h"
#include "core/base/i18n.h"
#include "core/base/utf8.h"
#include "labs/vars.h"
#include "tui/text.h"

static const struct panel *const panels[PANEL_COUNT] = {
    [PANEL_CATALOGUE] = &panel_catalogue, [PANEL_ABOUT] = &panel_about,
    [PANEL_STEP] = &panel_step,           [PANEL_CLUSTER] = &panel_cluster,
    [PANEL_LOG] = &panel_log,             [PANEL_CURVE] = &panel_curve,
    [PANEL_API] = &panel_api,             [PANEL_WHY] = &panel_why,
    [PANEL_TRAIN] = &panel_train,         [PANEL_BUILD] = &panel_build,
    [PANEL_RUNS] = &panel_runs,
    [PANEL_RUN] = &panel_run,             [PANEL_STRIP] = &panel_strip,
    [PANEL_EDIT] = &panel_edit,           [PANEL_PODS] = &panel_pods,
    [PANEL_NODES] = &panel_nodes,         [PANEL_EVENTS] = &panel_events,
    [PANEL_OBJECT] = &panel_object,       [PANEL_YAML] = &panel_yaml,
    [PANEL_SHELL] = &panel_shell,         [PANEL_FORWARDS] = &panel_forwards,
    [PANEL_SETTINGS] = &panel_settings,
    [PANEL_MESSAGES] = &panel_messages,   [PANEL_KEYS] = &panel_keys,
    [PANEL_CTX] = &panel_ctx,             [PANEL_NS] = &panel_ns,
    [PANEL_CONN] = &panel_conn,           [PANEL_RIGHTS] = &panel_rights,
};

const struct panel *panel_of(enum panel_id id)
{
    return id < PANEL_COUNT ? panels[id] : NULL;
}

enum glyph panel_result_sign(enum check_result r, enum role *role)
{
    static const struct { enum glyph g; enum role role; } table[CHECK_RESULT_COUNT] = {
        [CHECK_PASS] = {G_OK, ROLE_OK},        [CHECK_NOT_YET] = {G_WAIT, ROLE_RUN},
        [CHECK_WRONG] = {G_FAIL, ROLE_FAIL},   [CHECK_BLOCKED] = {G_LOCKED, ROLE_MUTED},
        [CHECK_UNKNOWN] = {G_ASK, ROLE_WARN},  [CHECK_SKIPPED] = {G_LOCKED, ROLE_MUTED},
        [CHECK_STALE] = {G_WARN, ROLE_WARN}};
    *role = table[r].role;
    return table[r].g;
}

enum glyph panel_step_sign(enum step_state st, enum role *role)
{
    static const struct { enum glyph g; enum role role; } table[] = {
        [STEP_LOCKED] = {G_LOCKED, ROLE_MUTED}, [STEP_OPEN] = {G_OPEN, ROLE_TEXT},
        [STEP_RUNNING] = {G_WAIT, ROLE_RUN},    [STEP_DONE] = {G_OK, ROLE_OK},
        [STEP_PASSED] = {G_DOT, ROLE_MUTED}};
    *role = table[st].role;
    return table[st].g;
}

const char *panel_say(const struct app *a, struct rows *out, const struct ltext *t)
{
    const char *text = ltext_get(t);
    struct str s;
    if (!strchr(text, '$') || !a->s->vars)
        return text;
    str_init(&s, 1 << 20);
    vars_fill(a->s->vars, text, &s);
    const char *kept = arena_strdup(&out->arena, s.p);
    str_release(&s);
    return kept;
}

const char *panel_age(const struct app *a, int64_t at_ms, char buf[16])
{
    buf[0] = '\0';
    if (at_ms > 0)
        clock_age(MAX(a->now_ms - at_ms, 0), buf);
    return buf;
}

const char *panel_clock(const struct app *a, int64_t at_ms, bool seconds, char buf[16])
{
    int64_t s = (at_ms / 1000 + (int64_t)a->tz_min * 60) % 86400;
    s = s < 0 ? s + 86400 : s;
    str_fmt(buf, 16, "%02d:%02d", (int)(s / 3600), (int)(s / 60 % 60));
    if (seconds)
        str_fmt(buf + 5, 11, ":%02d", (int)(s % 60));
    return buf;
}

const char *panel_word(const char *word)
{
    static const char *const words[] = {N_("easy"), N_("medium"), N_("hard"), N_("any")};
    for (size_t i = 0; i < ARRAY_LEN(words); i++)
        if (str_eq(words[i], word))
            return _(words[i]);
    return word;
}

int64_t panel_time(const struct json *object, const char *path)
{
    int64_t us;
    const char *s = json_str(object, path, NULL);
    return s && clock_parse_rfc3339(s, &us) ? us / 1000 : 0;
}

/* "  8%" of an operation, "" when its size is not known. */
static const char *share_text(const struct op *op, char buf[16])
{
    buf[0] = '\0';
    if (op->total > 0)
        str_fmt(buf, 16, "%3.0f%%", 100 * op->done / op->total);
    return buf;
}

/* "312/3980 MB  41 MB/s  ETA 1m29s" */
static void op_amounts(const struct app *a, struct rows *out)
{
    const struct op *op = &a->s->op;
    char buf[48], eta[24], speed[48];
    double s = (double)(a->now_ms - op->started_ms) / 1000;
    if (op->total <= 0 || op->ended)
        return;
    rows_linef(out, ROLE_MUTED, "  %s", text_amount(op->done, op->total, op->unit, buf));
    if (op->done > 0 && s >= 1)
        rows_putf(out, ROLE_MUTED, "  %s/s  ETA %s",
                  text_amount(op->done / s, 0, op->unit, speed),
                  text_span((op->total - op->done) * s / op->done, eta));
}

void panel_op(const struct app *a, struct rows *out, int w)
{
    const struct op *op = &a->s->op;
    char share[16];
    enum role role = op->failed ? ROLE_FAIL : op->ended ? ROLE_OK : ROLE_RUN;
    if (!op->what[0])
        return;
    bool bar = op->total > 0 && !op->ended && w > 30;
    const char *right = op->failed ? _("failed") : op->ended ? _("done") : share_text(op, share);
    rows_new(out, -1);
    rows_sign(out, role, op->failed ? G_FAIL : op->ended ? G_OK : G_WAIT);
    rows_put(out, ROLE_TEXT, " ");
    rows_cell(out, ROLE_TEXT, op->what, bar ? MAX(w / 3, 12) : w - 4 - utf8_str_width(right));
    if (bar) {
        rows_put(out, ROLE_TEXT, " ");
        rows_bar(out, op->done / op->total, w - out->v[out->n - 1].width - 6);
    }
    rows_right(out, role, right, w);
    op_amounts(a, out);
    if (op->text[0])
        rows_wrap(out, op->failed ? ROLE_FAIL : ROLE_MUTED, 2, op->text, w);
}
