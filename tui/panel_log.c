/* panel_log.c - the followed log. Records of the training log are shown as
 * sentences; only the lines on show are laid out. */
#include "tui/panel.h"

#include <math.h>

#include "core/base/i18n.h"
#include "core/base/runlog.h"
#include "core/base/utf8.h"
#include "tui/answer.h"
#include "tui/text.h"

static const char *title(const struct app *a, char buf[160])
{
    const char *pod = a->s->run.pod;
    if (a->filter[0])
        return str_fmt(buf, 160, _("Log %s  lines with \"%s\""), pod, a->filter);
    return str_fmt(buf, 160, _("Log %s"), pod);
}

static bool wanted(const struct app *a, size_t i)
{
    return !a->filter[0] || strcasestr(session_log_line(a->s, i)->text, a->filter);
}

/* Lines that pass the filter; their indexes go to index when it is not NULL. */
static int count(const struct app *a, size_t *index, int from, int most)
{
    size_t n = session_log_count(a->s);
    int seen = 0;
    if (!a->filter[0]) {
        for (int i = 0; index && i < most && (size_t)(from + i) < n; i++)
            index[i] = (size_t)(from + i);
        return (int)n;
    }
    for (size_t i = 0; i < n; i++) {
        if (!wanted(a, i))
            continue;
        if (index && seen >= from && seen < from + most)
            index[seen - from] = i;
        seen++;
    }
    return seen;
}

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

static void step_record(struct rows *out, const struct run_record *r, bool here, int w)
{
    rows_putf(out, here ? ROLE_STRONG : ROLE_MUTED, "%s %5.0f", _("step"),
              runlog_num(r, "step", 0));
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
        {RUN_STATE, "state", ROLE_STRONG},
        {RUN_WALK, "walk", ROLE_STRONG},
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

static enum role line_role(const char *s)
{
    if (strcasestr(s, "error") || strcasestr(s, "fatal") || strcasestr(s, "panic"))
        return ROLE_LOG_ERROR;
    return strcasestr(s, "warn") ? ROLE_LOG_WARN : ROLE_LOG;
}

static void line(const struct app *a, struct rows *out, const char *s, int w)
{
    struct run_record *r = NULL;
    struct pd_err err;
    size_t n = strlen(s);
    if (runlog_is_record(s, n)) {
        r = xmalloc(sizeof *r);
        if (runlog_parse(s, n, r, &err) == PD_OK) {
            rows_new(out, -1);
            if (r->ev == RUN_STEP || r->ev == RUN_EVAL)
                step_record(out, r, runlog_num(r, "step", -1) == a->log_goto, w);
            else if (r->ev == RUN_ANSWER)
                answer_record(out, r);
            else
                other_record(out, r);
            free(r);
            return;
        }
        free(r);
    }
    if (a->log_wrap && utf8_str_width(s) > w) {
        rows_wrap(out, line_role(s), 0, s, w);
        return;
    }
    rows_new(out, -1);
    rows_put(out, line_role(s), s);
}

static void rows(const struct app *a, struct rows *out, int w, int h)
{
    int total = count(a, NULL, 0, 0);
    if (total == 0) {
        rows_wrap(out, ROLE_MUTED, 1,
                  a->filter[0] ? _("No line has this text. Esc shows all.")
                               : _("No log yet. It appears when a pod of this lab runs; Enter on a "
                                   "pod in tab 1 follows that pod."), w - 1);
        return;
    }
    int first = a->log_follow ? MAX(total - h, 0) : MIN(a->scroll[PANEL_LOG], MAX(total - 1, 0));
    size_t *index = arena_alloc(&out->arena, (size_t)h * sizeof *index);
    count(a, index, first, h);
    for (int i = 0; i < h && first + i < total; i++)
        line(a, out, session_log_line(a->s, index[i])->text, w);
    out->first = first;
    out->total = total;
    if (a->log_follow && out->n > h)
        out->first += out->n - h;
}

static const char *foot(const struct app *a, char buf[160])
{
    if (a->s->log_dropped)
        return str_fmt(buf, 160, _("%" PRIu64 " older lines dropped"), a->s->log_dropped);
    return str_copy(buf, 160, a->log_follow ? _("follow") : _("held, f follows"));
}

const struct panel panel_log = {title, rows, foot, NULL, N_("Log")};
