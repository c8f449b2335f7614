/* build_state.c - see build_state.h. */
#include "labs/build_state.h"

#include "core/base/clock.h"
#include "core/base/mem.h"
#include "core/base/utf8.h"

enum { BUILD_ROWS_MOST = 4096, BUILD_BARS_MOST = 512, BUILD_FINDINGS_MOST = 200 };

static void free_rows(struct build_state *b)
{
    for (size_t i = 0; i < b->n; i++) {
        free(b->rows[i].text);
        free(b->rows[i].stage);
    }
    free(b->rows);
    b->rows = NULL;
    b->n = 0;
}

void build_state_release(struct build_state *b)
{
    free_rows(b);
    free(b->bars);
    json_free(b->findings);
    strv_release(&b->log);
    memset(b, 0, sizeof *b);
}

void build_state_begin(struct build_state *b, const char *ref, int64_t now_ms)
{
    build_state_release(b);
    strv_init(&b->log);
    b->findings = json_new_array();
    b->phase = BUILD_AT_WORK;
    b->started_ms = now_ms;
    str_copy(b->ref, sizeof b->ref, ref);
}

void build_state_push(struct build_state *b, const char *ref, int64_t now_ms)
{
    if (b->phase != BUILD_OVER || !str_eq(b->ref, ref))
        build_state_begin(b, ref, now_ms);
    free(b->bars);
    b->bars = NULL;
    b->nbars = 0;
    b->phase = BUILD_PUSHING;
    b->push_started_ms = now_ms;
}

static char *clean(const char *text)
{
    struct str s;
    str_init(&s, 4096);
    utf8_clean(text, MIN(strlen(text), (size_t)2000), false, &s);
    return str_take(&s);
}

static void log_line(struct build_state *b, int64_t now_ms, const char *text)
{
    char *line = clean(text);
    if (b->log.n >= BUILD_LOG_LINES) {
        free(b->log.v[0]);
        memmove(b->log.v, b->log.v + 1, b->log.n * sizeof *b->log.v);
        b->log.n--;
    }
    int64_t begun = b->push_started_ms ? b->push_started_ms : b->started_ms;
    strv_pushf(&b->log, "%6.1fs  %s", (double)(now_ms - begun) / 1000, line);
    free(line);
}

static struct build_row *row_at(struct build_state *b, const struct json *r)
{
    int64_t n = json_int(r, "n", 0);
    return n >= 1 && (size_t)n <= b->n ? &b->rows[n - 1] : NULL;
}

static struct build_row *running(struct build_state *b)
{
    for (size_t i = 0; i < b->n; i++)
        if (b->rows[i].state == ROW_RUNNING)
            return &b->rows[i];
    return NULL;
}

static void on_plan(struct build_state *b, const struct json *r, int64_t now_ms UNUSED)
{
    const struct json *rows = json_get(r, "rows");
    free_rows(b);
    b->rows = xcalloc(MIN(json_count(rows), (size_t)BUILD_ROWS_MOST) + 1, sizeof *b->rows);
    for (const struct json *e = json_first(rows); e && b->n < BUILD_ROWS_MOST; e = json_next(e)) {
        struct build_row *row = &b->rows[b->n++];
        row->text = clean(json_str(e, "text", ""));
        row->stage = clean(json_str(e, "stage", ""));
        row->line = (int)json_int(e, "line", 0);
        row->state = json_bool(e, "skipped", false) ? ROW_SKIPPED : ROW_WAITING;
    }
}

static void on_instruction(struct build_state *b, const struct json *r, int64_t now_ms)
{
    struct build_row *row = row_at(b, r);
    if (!row)
        return;
    row->state = ROW_RUNNING;
    row->started_ms = now_ms;
    log_line(b, now_ms, row->text);
}

static void on_step(struct build_state *b, const struct json *r, int64_t now_ms UNUSED)
{
    struct build_row *row = row_at(b, r);
    if (!row)
        return;
    row->state = json_bool(r, "cached", false) ? ROW_CACHED : ROW_DONE;
    row->ms = json_int(r, "ms", 0);
    row->done = row->total = 0;
}

static void on_progress(struct build_state *b, const struct json *r, int64_t now_ms UNUSED)
{
    struct build_row *row = running(b);
    if (!row)
        return;
    row->done = json_int(r, "done", 0);
    row->total = json_int(r, "total", 0);
}

static const char *digits(const char *digest)
{
    const char *colon = strchr(digest, ':');
    return colon ? colon + 1 : digest;
}

static const char *amount(int64_t bytes, char buf[32])
{
    static const char *const units[] = {"B", "kB", "MB", "GB", "TB"};
    double v = (double)bytes;
    size_t u = 0;
    for (; v >= 1000 && u + 1 < ARRAY_LEN(units); u++)
        v /= 1000;
    return str_fmt(buf, 32, u ? "%.1f %s" : "%.0f %s", v, units[u]);
}

static void on_layer(struct build_state *b, const struct json *r, int64_t now_ms)
{
    struct build_row *row = running(b);
    char text[200];
    if (!row)
        return;
    row->size = json_int(r, "size", 0);
    str_copy(row->digest, sizeof row->digest, json_str(r, "digest", ""));
    char size[32];
    str_fmt(text, sizeof text, "  %.8s  %s%s", digits(row->digest), amount(row->size, size),
            json_bool(r, "cached", false) ? "  (cache)" : "");
    log_line(b, now_ms, text);
}

static void on_push(struct build_state *b, const struct json *r, int64_t now_ms)
{
    const char *digest = json_str(r, "digest", "");
    struct build_bar *bar = NULL;
    for (size_t i = 0; i < b->nbars && !bar; i++)
        if (str_eq(b->bars[i].digest, digest))
            bar = &b->bars[i];
    if (!bar && b->nbars == BUILD_BARS_MOST)
        return;
    if (!bar) {
        b->bars = xrealloc_array(b->bars, b->nbars + 1, sizeof *b->bars);
        bar = &b->bars[b->nbars++];
        *bar = (struct build_bar){.started_ms = now_ms, .first = json_int(r, "done", 0)};
        str_copy(bar->digest, sizeof bar->digest, digest);
    }
    int64_t done = json_int(r, "done", 0);
    bool ends = done >= json_int(r, "total", 0) && bar->done < done;
    bar->done = done;
    bar->total = json_int(r, "total", 0);
    bar->seen_ms = now_ms;
    if (ends || bar->total == 0) {
        char text[200];
        char size[32];
        str_fmt(text, sizeof text, "push  %.8s  %s", digits(digest), amount(bar->total, size));
        log_line(b, now_ms, text);
    }
}

static void on_finding(struct build_state *b, const struct json *r, int64_t now_ms)
{
    char text[400];
    if (json_count(b->findings) < BUILD_FINDINGS_MOST)
        json_append(b->findings, json_copy(r));
    str_fmt(text, sizeof text, "%s:%d: %s", json_str(r, "rule", ""),
            (int)json_int(r, "line", 0), json_str(r, "cause", ""));
    log_line(b, now_ms, text);
}

static void on_done(struct build_state *b, const struct json *r, int64_t now_ms)
{
    b->bytes = json_int(r, "bytes", 0);
    str_copy(b->digest, sizeof b->digest, json_str(r, "digest", ""));
    log_line(b, now_ms, b->digest);
}

void build_state_record(struct build_state *b, const struct json *r, int64_t now_ms)
{
    static const struct {
        const char *ev;
        void (*take)(struct build_state *b, const struct json *r, int64_t now_ms);
    } table[] = {{"plan", on_plan},      {"instruction", on_instruction}, {"step", on_step},
                 {"pack", on_progress},  {"pull", on_progress},           {"layer", on_layer},
                 {"push", on_push},      {"finding", on_finding},         {"done", on_done}};
    if (b->phase != BUILD_AT_WORK && b->phase != BUILD_PUSHING)
        return;
    for (size_t i = 0; i < ARRAY_LEN(table); i++)
        if (str_eq(table[i].ev, json_str(r, "ev", "")))
            table[i].take(b, r, now_ms);
}

void build_state_end(struct build_state *b, const struct pd_err *err, int64_t now_ms)
{
    if (b->phase != BUILD_AT_WORK && b->phase != BUILD_PUSHING)
        return;
    bool push = b->phase == BUILD_PUSHING;
    if (!push)
        b->built_ms = MAX(now_ms - b->started_ms, 1);
    b->phase = err ? BUILD_BROKEN : push ? BUILD_PUSHED : BUILD_OVER;
    if (!err)
        return;
    b->err = *err;
    b->cancelled = err->code == PD_CANCELED;
    b->in_push = push;
    struct build_row *row = push ? NULL : running(b);
    for (size_t i = 0; !row && !push && err->line && i < b->n; i++)
        if (b->rows[i].line == err->line && b->rows[i].state == ROW_WAITING)
            row = &b->rows[i];
    if (row) {
        row->ms = row->started_ms ? now_ms - row->started_ms : 0;
        row->state = ROW_FAILED;
    }
    log_line(b, now_ms, err->msg);
}

size_t build_state_count(const struct build_state *b, enum build_row_state state)
{
    size_t n = 0;
    for (size_t i = 0; i < b->n; i++)
        n += b->rows[i].state == state;
    return n;
}
