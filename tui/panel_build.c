/* panel_build.c - the newest image build and push: a row an instruction, a bar a
 * layer, what was found in the Dockerfile, the error, the log. */
#include "core/base/i18n.h"
#include "core/base/utf8.h"
#include "tui/panel.h"
#include "tui/text.h"

enum { STATE_FROM = 56, DIGEST_FROM = 84, NUMBERED_FROM = 48 };
enum { W_STATE = 8, W_SIZE = 9, W_TIME = 7, W_DIGEST = 9 };

static const char *title(const struct app *a, char buf[160])
{
    const struct build_state *b = &a->s->build;
    if (b->phase == BUILD_NONE)
        return str_copy(buf, 160, _("Image build"));
    return str_fmt(buf, 160, _("Image build %s"), b->ref);
}

static const struct state {
    enum glyph sign;
    enum role role;
    const char *word;
} states[ROW_STATE_COUNT] = {
    [ROW_WAITING] = {G_OPEN, ROLE_MUTED, N_("waiting")},
    [ROW_RUNNING] = {G_HERE, ROLE_RUN, N_("running")},
    [ROW_DONE] = {G_OK, ROLE_OK, N_("done")},
    [ROW_CACHED] = {G_OK, ROLE_OK, N_("cached")},
    [ROW_FAILED] = {G_FAIL, ROLE_FAIL, N_("failed")},
    [ROW_SKIPPED] = {G_LOCKED, ROLE_MUTED, N_("skipped")},
};

static const char *span(int64_t ms, char buf[24])
{
    if (ms < 950)
        return str_fmt(buf, 24, "%dms", (int)ms);
    if (ms < 10000)
        return str_fmt(buf, 24, "%.1fs", (double)ms / 1000);
    return text_span((double)ms / 1000, buf);
}

/* The first digits of "sha256:…". */
static const char *digits(const char *digest, char buf[16])
{
    const char *colon = strchr(digest, ':');
    return str_fmt(buf, 16, "%.8s", colon ? colon + 1 : digest);
}

static int64_t elapsed(const struct app *a)
{
    const struct build_state *b = &a->s->build;
    return b->built_ms ? b->built_ms : MAX(a->now_ms - b->started_ms, 0);
}

/* "12 instructions: 4 done, 3 cached, 1 skipped; layers 2.1 GB; 34s" */
static void totals(const struct app *a, struct rows *out, int w)
{
    const struct build_state *b = &a->s->build;
    static const enum build_row_state shown[] = {ROW_DONE, ROW_CACHED, ROW_RUNNING, ROW_WAITING,
                                                 ROW_SKIPPED, ROW_FAILED};
    char size[48], time[24];
    struct str s;
    int64_t bytes = 0;
    for (size_t i = 0; i < b->n; i++)
        bytes += b->rows[i].size;
    str_init(&s, 400);
    str_printf(&s, _("%zu instructions"), b->n);
    for (size_t i = 0, any = 0; i < ARRAY_LEN(shown); i++) {
        size_t n = build_state_count(b, shown[i]);
        if (n)
            str_printf(&s, "%s%zu %s", any++ ? ", " : ": ", n, _(states[shown[i]].word));
    }
    str_printf(&s, _("; layers %s; %s"), text_amount((double)bytes, 0, "B", size),
               span(elapsed(a), time));
    rows_wrap(out, ROLE_MUTED, 0, s.p, w);
    str_release(&s);
}

static void head(const struct app *a, struct rows *out, int w)
{
    static const struct { enum glyph sign; enum role role; const char *text; } heads[] = {
        [BUILD_AT_WORK] = {G_WAIT, ROLE_RUN, N_("building")},
        [BUILD_PUSHING] = {G_WAIT, ROLE_RUN, N_("pushing")},
        [BUILD_OVER] = {G_OK, ROLE_OK, N_("built")},
        [BUILD_PUSHED] = {G_OK, ROLE_OK, N_("pushed")},
        [BUILD_BROKEN] = {G_FAIL, ROLE_FAIL, N_("failed")}};
    const struct build_state *b = &a->s->build;
    char buf[48];
    rows_new(out, -1);
    rows_sign(out, heads[b->phase].role, heads[b->phase].sign);
    rows_putf(out, heads[b->phase].role, " %s",
              b->cancelled ? _("cancelled; nothing half is left")
              : b->phase == BUILD_BROKEN && b->in_push ? _("the push failed")
                                                       : _(heads[b->phase].text));
    if (b->bytes > 0)
        rows_right(out, ROLE_TEXT, text_amount((double)b->bytes, 0, "B", buf), w);
    for (size_t i = 0; i < b->n; i++)
        if (b->rows[i].state == ROW_RUNNING) {
            rows_putf(out, ROLE_MUTED, " %zu/%zu", i + 1, b->n);
            if (b->rows[i].total > 0)
                rows_putf(out, ROLE_RUN, "  %.0f%%",
                          100.0 * (double)b->rows[i].done / (double)b->rows[i].total);
        }
    if (b->digest[0])
        rows_wrap(out, ROLE_CODE, 2, b->digest, w);
    if (b->n)
        totals(a, out, w);
    rows_blank(out);
}

/* What stands to the right of an instruction: state, size, time, digest. */
static void figures(const struct app *a, struct rows *out, const struct build_row *r, int w)
{
    char size[48], time[24], digest[16];
    bool runs = r->state == ROW_RUNNING;
    int64_t ms = runs ? MAX(a->now_ms - r->started_ms, 0) : r->ms;
    bool timed = runs || r->state == ROW_DONE || r->state == ROW_CACHED || r->state == ROW_FAILED;
    if (w >= STATE_FROM)
        rows_cell(out, states[r->state].role, _(states[r->state].word), W_STATE);
    if (runs && r->total > 0)
        str_fmt(size, sizeof size, "%.0f%%", 100.0 * (double)r->done / (double)r->total);
    else if (r->size > 0)
        text_amount((double)r->size, 0, "B", size);
    else
        size[0] = '\0';
    rows_cell_right(out, ROLE_TEXT, size, W_SIZE);
    rows_cell_right(out, ROLE_MUTED, timed ? span(ms, time) : "", W_TIME);
    if (w >= DIGEST_FROM)
        rows_cell_right(out, ROLE_MUTED, r->digest[0] ? digits(r->digest, digest) : "", W_DIGEST);
}

static void instruction(const struct app *a, struct rows *out, size_t i, int w)
{
    const struct build_row *r = &a->s->build.rows[i];
    bool still = r->state == ROW_WAITING || r->state == ROW_SKIPPED;
    bool bare = still && w < STATE_FROM;
    int right = bare ? 0 : W_SIZE + W_TIME + (w >= STATE_FROM ? W_STATE + 1 : 0) +
                (w >= DIGEST_FROM ? W_DIGEST : 0);
    rows_new(out, -1);
    rows_sign(out, states[r->state].role, states[r->state].sign);
    rows_put(out, ROLE_TEXT, " ");
    if (w >= NUMBERED_FROM) {
        char n[16];
        rows_cell_right(out, ROLE_MUTED, str_fmt(n, sizeof n, "%zu", i + 1),
                        a->s->build.n > 99 ? 4 : 2);
        rows_put(out, ROLE_TEXT, " ");
    }
    rows_cell(out, r->state == ROW_RUNNING ? ROLE_STRONG
                   : still ? ROLE_MUTED : ROLE_TEXT,
              r->text, MAX(w - right - out->v[out->n - 1].width, 8));
    if (w >= STATE_FROM)
        rows_put(out, ROLE_TEXT, " ");
    if (!bare)
        figures(a, out, r, w);
}

static void instructions(const struct app *a, struct rows *out, int w)
{
    const struct build_state *b = &a->s->build;
    const char *stage = "";
    for (size_t i = 0; i < b->n; i++) {
        if (!str_eq(b->rows[i].stage, stage)) {
            stage = b->rows[i].stage;
            if (*stage)
                rows_linef(out, ROLE_HEAD, _("stage %s"), stage);
            else
                rows_line(out, ROLE_HEAD, _("last stage"));
        }
        if (b->rows[i].state == ROW_RUNNING)
            out->mark = out->n;
        instruction(a, out, i, w);
    }
    if (b->n)
        rows_blank(out);
}

/* "312/3980 MB  41 MB/s  ETA 1m29s" */
static void amounts(const struct app *a, struct rows *out, const struct build_bar *b, int w)
{
    char buf[48], rate[48], eta[24];
    double s = (double)(MAX(a->now_ms, b->seen_ms) - b->started_ms) / 1000;
    double moved = (double)(b->done - b->first);
    bool runs = b->done < b->total && a->s->build.phase == BUILD_PUSHING;
    rows_put(out, ROLE_TEXT, " ");
    rows_put(out, ROLE_TEXT, runs ? text_amount((double)b->done, (double)b->total, "B", buf)
                                  : text_amount((double)b->total, 0, "B", buf));
    if (!runs && b->done < b->total) {
        rows_right(out, ROLE_FAIL, _("stopped"), w);
    } else if (!runs) {
        rows_right(out, ROLE_MUTED, _("done"), w);
    } else if (moved > 0 && s >= 1) {
        char *text = xasprintf(_("%s/s  ETA %s"), text_amount(moved / s, 0, "B", rate),
                               text_span((double)(b->total - b->done) * s / moved, eta));
        if (out->v[out->n - 1].width + utf8_str_width(text) + 1 > w)
            rows_new(out, -1);
        rows_right(out, ROLE_MUTED, text, w);
        free(text);
    }
}

static void push(const struct app *a, struct rows *out, int w)
{
    const struct build_state *b = &a->s->build;
    double done = 0, total = 0;
    char digest[16], buf[48];
    if (!b->nbars)
        return;
    for (size_t i = 0; i < b->nbars; i++) {
        done += (double)b->bars[i].done;
        total += (double)b->bars[i].total;
    }
    rows_line(out, ROLE_HEAD, _("Push"));
    rows_right(out, ROLE_MUTED, text_amount(done, total, "B", buf), w);
    for (size_t i = 0; i < b->nbars; i++) {
        const struct build_bar *p = &b->bars[i];
        rows_new(out, -1);
        rows_cell(out, ROLE_CODE, digits(p->digest, digest), 8);
        rows_put(out, ROLE_TEXT, " ");
        rows_bar(out, p->total > 0 ? (double)p->done / (double)p->total : 1, w >= 70 ? w / 3 : 10);
        amounts(a, out, p, w);
    }
    rows_blank(out);
}

static void error(const struct app *a, struct rows *out, int w)
{
    const struct build_state *b = &a->s->build;
    if (b->phase != BUILD_BROKEN || b->cancelled)
        return;
    rows_line(out, ROLE_HEAD, _("What happened"));
    rows_wrap(out, ROLE_FAIL, 1, b->err.msg, w);
    if (b->err.line > 0) {
        rows_line(out, ROLE_HEAD, _("Where"));
        char *place = xasprintf(_("%s, line %d, column %d"), b->err.src, b->err.line, b->err.col);
        rows_wrap(out, ROLE_CODE, 1, place, w);
        free(place);
    }
    rows_line(out, ROLE_HEAD, _("Next step"));
    rows_wrap(out, ROLE_HINT, 1, b->err.hint[0] ? b->err.hint : _(pd_hint(b->err.code)), w);
    rows_blank(out);
}

static void findings(const struct app *a, struct rows *out, int w)
{
    const struct json *list = a->s->build.findings;
    if (!json_count(list))
        return;
    rows_line(out, ROLE_HEAD, _("Found in the Dockerfile"));
    for (const struct json *f = json_first(list); f; f = json_next(f)) {
        bool bad = str_eq(json_str(f, "level", ""), "error");
        rows_new(out, -1);
        rows_sign(out, bad ? ROLE_FAIL : ROLE_WARN, bad ? G_FAIL : G_WARN);
        rows_putf(out, ROLE_STRONG, " %s", json_str(f, "rule", ""));
        rows_putf(out, ROLE_MUTED, "  %d:%d", (int)json_int(f, "line", 0),
                  (int)json_int(f, "column", 0));
        rows_wrap(out, ROLE_TEXT, 2, json_str(f, "cause", ""), w);
        rows_wrap(out, ROLE_HINT, 2, json_str(f, "next", ""), w);
    }
    rows_blank(out);
}

static void log_lines(const struct app *a, struct rows *out, int w)
{
    const struct strv *log = &a->s->build.log;
    if (!log->n)
        return;
    rows_line(out, ROLE_HEAD, _("Log"));
    for (size_t i = 0; i < log->n; i++) {
        rows_new(out, -1);
        rows_cell(out, ROLE_LOG, log->v[i], w);
    }
}

static void rows(const struct app *a, struct rows *out, int w, int h UNUSED)
{
    const struct build_state *b = &a->s->build;
    if (b->phase == BUILD_NONE) {
        rows_wrap(out, ROLE_MUTED, 0, _("No image has been built since podium started. A step that "
                                        "builds one shows here how far it is."), w);
        return;
    }
    head(a, out, w);
    error(a, out, w);
    push(a, out, w);
    instructions(a, out, w);
    findings(a, out, w);
    log_lines(a, out, w);
}

static bool ages(const struct app *a)
{
    return a->s->build.phase == BUILD_AT_WORK || a->s->build.phase == BUILD_PUSHING;
}

const struct panel panel_build = {title, rows, NULL, ages, N_("Build")};
