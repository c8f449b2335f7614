/* log_line.c - one line of a log as spans (log_line.h). Work is bounded by what
 * is on show: a line of 64 KB costs the columns of the pane. */
#include "tui/log_line.h"

#include <math.h>

#include "core/base/clock.h"
#include "core/base/i18n.h"
#include "core/base/utf8.h"
#include "tui/answer.h"
#include "tui/logindex.h"
#include "tui/text.h"

enum { GUTTER = 2, LEVEL_BYTES = 160, CONTAINER_COLUMNS = 14 };

/* --- level ------------------------------------------------------------------------ */
static bool is_word(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

static bool has_word(const char *text, const char *word)
{
    size_t n = strlen(word);
    for (const char *p = strcasestr(text, word); p; p = strcasestr(p + n, word))
        if ((p == text || !is_word(p[-1])) && !is_word(p[n]))
            return true;
    return false;
}

/* "E1130 02:00:00.000": klog's first letter. */
static bool is_klog(const char *s, char level)
{
    return s[0] == level && strspn(s + 1, "0123456789") == 4 && s[5] == ' ';
}

enum role log_line_level(const char *text)
{
    static const char *const bad[] = {"error", "fatal", "panic", "critical", "traceback"};
    static const char *const warn[] = {"warn", "warning"};
    char head[LEVEL_BYTES + 1];
    str_copy(head, sizeof head, text);
    if (is_klog(head, 'E') || is_klog(head, 'F'))
        return ROLE_LOG_ERROR;
    for (size_t i = 0; i < ARRAY_LEN(bad); i++)
        if (has_word(head, bad[i]) && !has_word(head, "0 errors"))
            return ROLE_LOG_ERROR;
    if (is_klog(head, 'W'))
        return ROLE_LOG_WARN;
    for (size_t i = 0; i < ARRAY_LEN(warn); i++)
        if (has_word(head, warn[i]))
            return ROLE_LOG_WARN;
    return ROLE_LOG;
}

/* --- text with hits --------------------------------------------------------------- */
/* s[0..n) with what matches `find` in its role. */
static void put_hits(struct rows *out, enum role role, const char *s, size_t n, const char *find)
{
    char *copy = xstrndup(s, n);
    const char *p = copy, *hit;
    while (*find && (hit = logindex_match(p, find)) != NULL) {
        rows_putf(out, role, "%.*s", (int)(hit - p), p);
        rows_putf(out, ROLE_HIT, "%.*s", (int)strlen(find), hit);
        p = hit + strlen(find);
    }
    rows_put(out, role, p);
    free(copy);
}

/* --- records of the training log -------------------------------------------------- */
/* A field with its name, if the row has room for all of it. */
static void number(struct rows *out, const struct run_record *r, const char *key, const char *label,
                   enum role role, int w)
{
    char buf[24], text[64];
    if (!runlog_has(r, key))
        return;
    str_fmt(text, sizeof text, "  %s %s", label, text_number(runlog_num(r, key, NAN), buf));
    if (out->v[out->n - 1].width + utf8_str_width(text) <= w)
        rows_put(out, role, text);
}

static void step_record(struct rows *out, const struct run_record *r, int w)
{
    rows_putf(out, ROLE_MUTED, "%s %5.0f", _("step"), runlog_num(r, "step", 0));
    bool finite = isfinite(runlog_num(r, "loss", 0));
    number(out, r, "loss", _("loss"), finite ? ROLE_TEXT : ROLE_FAIL, w);
    number(out, r, "val_loss", _("val"), ROLE_VAL, w);
    number(out, r, "lr", "lr", ROLE_MUTED, w);
    number(out, r, "gnorm", "gnorm", ROLE_MUTED, w);
    number(out, r, "tok_s", "tok/s", ROLE_MUTED, w);
}

static void answer_record(struct rows *out, const struct run_record *r)
{
    struct str said, clean;
    str_init(&said, sizeof r->text);
    str_init(&clean, sizeof r->text);
    answer_sentence(r, &said);
    utf8_clean(said.p, said.len, false, &clean);
    rows_putf(out, ROLE_STRONG, "%s", _("answer"));
    rows_putf(out, runlog_num(r, "ok", 0) != 0 ? ROLE_TEXT : ROLE_FAIL, "  %s", clean.p);
    str_release(&said);
    str_release(&clean);
}

/* Events other than steps: their word and every field. */
static void other_record(struct rows *out, const struct run_record *r)
{
    static const struct { enum run_event ev; const char *word; enum role role; } words[] = {
        {RUN_HELLO, "hello", ROLE_OK},   {RUN_SAVE, "saved", ROLE_OK},
        {RUN_STATE, "state", ROLE_STRONG}, {RUN_WALK, "walk", ROLE_STRONG},
        {RUN_WARN, "warning", ROLE_LOG_WARN}, {RUN_ERROR, "error", ROLE_LOG_ERROR},
        {RUN_DONE, "done", ROLE_OK}};
    for (size_t i = 0; i < ARRAY_LEN(words); i++)
        if (words[i].ev == r->ev)
            rows_put(out, words[i].role, words[i].word);
    for (int i = 0; i < r->n; i++) {
        const struct run_field *f = &r->f[i];
        char buf[24];
        if (str_eq(f->key, "v") || str_eq(f->key, "ev") || f->type == RF_NULL)
            continue;
        bool plain = r->ev == RUN_STATE && str_eq(f->key, "state");
        rows_putf(out, ROLE_MUTED, plain ? "  " : "  %s ", f->key);
        if (f->type == RF_STRING)
            rows_put(out, ROLE_TEXT, f->str);
        else
            rows_put(out, ROLE_TEXT, text_number(f->num, buf));
    }
}

static enum role record_level(const struct run_record *r)
{
    return r->ev == RUN_ERROR ? ROLE_LOG_ERROR : r->ev == RUN_WARN ? ROLE_LOG_WARN : ROLE_LOG;
}

static struct run_record *record_of(const struct log_line *l)
{
    struct pd_err err;
    size_t n = strlen(l->text);
    if (l->kind != LOG_TEXT || l->cut || !runlog_is_record(l->text, n))
        return NULL;
    struct run_record *r = xmalloc(sizeof *r);
    if (runlog_parse(l->text, n, r, &err) == PD_OK)
        return r;
    free(r);
    return NULL;
}

static void record(const struct log_line_look *k, const struct run_record *r, struct rows *out)
{
    if (r->ev == RUN_STEP || r->ev == RUN_EVAL)
        step_record(out, r, k->w);
    else if (r->ev == RUN_ANSWER)
        answer_record(out, r);
    else
        other_record(out, r);
}

bool log_line_sentence(const struct log_line *l, struct str *out)
{
    struct run_record *r = record_of(l);
    struct log_line_look k = {.w = 1000};
    struct rows rows;
    if (!r)
        return false;
    rows_init(&rows, GLYPH_UNICODE);
    rows_new(&rows, -1);
    record(&k, r, &rows);
    rows_text(&rows.v[0], out);
    rows_release(&rows);
    free(r);
    return true;
}

/* --- what stands before the text -------------------------------------------------- */
static void gutter(const struct log_line_look *k, const struct log_line *l, enum role level,
                   struct rows *out, bool mark)
{
    bool hit = k->find[0] && l->kind == LOG_TEXT &&
               logindex_has(&k->a->log.index, l, k->find);
    if (mark)
        rows_sign(out, ROLE_STRONG, G_HERE);
    else if (level == ROLE_LOG_ERROR)
        rows_sign(out, ROLE_LOG_ERROR, G_FAIL);
    else if (level == ROLE_LOG_WARN)
        rows_sign(out, ROLE_LOG_WARN, G_WARN);
    else if (hit)
        rows_sign(out, ROLE_HIT, G_DOT);
    else
        rows_put(out, ROLE_TEXT, " ");
    rows_put(out, ROLE_TEXT, " ");
}

static void stamp(const struct log_line_look *k, const struct log_line *l, struct rows *out)
{
    char buf[36];
    if (!k->times)
        return;
    if (l->ts_ms <= 0) {
        rows_put(out, ROLE_MUTED, "--:--:-- ");
        return;
    }
    clock_rfc3339((l->ts_ms + (int64_t)k->a->tz_min * 60000) * 1000, 0, buf);
    rows_putf(out, ROLE_MUTED, "%.8s ", buf + 11);
}

static void container(const struct log_line_look *k, const struct log_line *l, struct rows *out)
{
    static const enum role roles[] = {ROLE_HW_XEON, ROLE_HW_GAUDI, ROLE_HW_NVIDIA, ROLE_VAL};
    const struct log_view *v = &k->a->s->log_view;
    int w = 0;
    if (v->sources < 2 || l->source >= v->sources)
        return;
    for (int i = 0; i < v->sources; i++)
        w = MAX(w, utf8_str_width(v->source[i].container));
    rows_cell(out, roles[l->source % ARRAY_LEN(roles)], v->source[l->source].container,
              MIN(w, CONTAINER_COLUMNS));
    rows_put(out, ROLE_TEXT, " ");
}

static int before_width(const struct log_line_look *k, const struct log_line *l)
{
    struct rows r;
    rows_init(&r, k->a->glyphs);
    rows_new(&r, -1);
    stamp(k, l, &r);
    container(k, l, &r);
    int w = r.v[0].width;
    rows_release(&r);
    return MIN(w, MAX(k->w - GUTTER - 10, 0));
}

/* --- rows ------------------------------------------------------------------------- */
static int room(const struct log_line_look *k, const struct log_line *l)
{
    return MAX(k->w - GUTTER - before_width(k, l), 8);
}

int log_line_rows(const struct log_line_look *k, const struct log_line *l)
{
    if (!k->wrap || l->kind != LOG_TEXT)
        return 1;
    int w = room(k, l), n = 1;
    if (strlen(l->text) <= (size_t)w)
        return 1;
    struct run_record *r = record_of(l);
    free(r);
    if (r)
        return 1;
    const char *p = l->text;
    for (size_t len; *p; n++)
        p += text_break(p, w, &len);
    return MAX(n - 1, 1);
}

/* "-- lines are missing: … --" */
static void word(const struct log_line_look *k, const struct log_line *l, struct rows *out)
{
    static const char *const words[] = {
        [LOG_GAP] = N_("lines are missing"), [LOG_AGAIN] = N_("the link is back, nothing is lost"),
        [LOG_END] = N_("end of the log"), [LOG_RESTART] = N_("the container started anew"),
        [LOG_WAIT] = N_("waiting for the container")};
    enum role role = l->kind == LOG_GAP || l->kind == LOG_RESTART ? ROLE_WARN : ROLE_MUTED;
    rows_put(out, ROLE_TEXT, "  ");
    stamp(k, l, out);
    container(k, l, out);
    bool own = (l->kind == LOG_RESTART || l->kind == LOG_WAIT) && l->text[0];     /* a sentence */
    rows_putf(out, role, "-- %s%s%s --", own ? "" : _(words[l->kind]),
              l->text[0] && !own ? ": " : "", l->text);
}

static void put_cut(const struct log_line *l, struct rows *out)
{
    if (l->cut)
        rows_putf(out, ROLE_WARN, " [%s]", _("cut"));
}

/* The part of an unwrapped line that the pane shows. */
static void slice(const struct log_line_look *k, const struct log_line *l, enum role role,
                  struct rows *out, int w)
{
    size_t from = utf8_cut(l->text, k->x), n = utf8_cut(l->text + from, w + 1);
    put_hits(out, role, l->text + from, n, k->find);
    if (!l->text[from + n])
        put_cut(l, out);
}

static void wrapped(const struct log_line_look *k, const struct log_line *l, enum role role,
                    struct rows *out, int from, int most)
{
    int w = room(k, l), indent = out->v[out->n - 1].width;
    const char *p = l->text;
    bool first = true;
    for (int row = 0; *p && row < from + most; row++) {
        size_t len, next = text_break(p, w, &len);
        if (row >= from && !first) {
            rows_new(out, -1);
            rows_pad(out, indent);
        }
        if (row >= from) {
            put_hits(out, role, p, len, k->find);
            first = false;
        }
        p += next;
    }
    if (!*p)
        put_cut(l, out);
}

/* A hit is seen where it is; the sentence has one colour then. */
static void record_or_hits(const struct log_line_look *k, const struct log_line *l,
                           const struct run_record *r, struct rows *out)
{
    struct str s;
    str_init(&s, 8192);
    if (k->find[0] && log_line_sentence(l, &s) && logindex_match(s.p, k->find))
        put_hits(out, ROLE_TEXT, s.p, s.len, k->find);
    else
        record(k, r, out);
    str_release(&s);
}

void log_line_put(const struct log_line_look *k, const struct log_line *l, struct rows *out,
                  int id, bool mark, int from, int most)
{
    rows_new(out, id);
    if (l->kind != LOG_TEXT) {
        word(k, l, out);
        return;
    }
    struct run_record *r = record_of(l);
    enum role level = r ? record_level(r) : log_line_level(l->text);
    gutter(k, l, level, out, mark);
    stamp(k, l, out);
    container(k, l, out);
    if (r)
        record_or_hits(k, l, r, out);
    else if (k->wrap)
        wrapped(k, l, level, out, from, most);
    else
        slice(k, l, level, out, room(k, l));
    free(r);
}
