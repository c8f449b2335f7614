/* panel_log.c - the log on show. Only the lines in the pane are laid out. */
#include "tui/panel_log.h"

#include "core/base/i18n.h"
#include "core/base/utf8.h"
#include "tui/log_line.h"
#include "tui/panel.h"
#include "tui/panel_events.h"
#include "tui/panel_list.h"

void panel_log_look(const struct app *a, int w, struct log_line_look *out)
{
    *out = (struct log_line_look){.a = a, .find = a->log.find, .wrap = a->log_wrap,
                                  .times = a->log.times, .x = a->log.x, .w = w};
}

static const char *pod_of(const struct app *a)
{
    return a->s->log_view.pod[0] ? a->s->log_view.pod : a->s->run.pod;
}

static void add_word(struct str *s, const char *text)
{
    str_printf(s, "  %s", text);
}

static void add_span(const struct app *a, struct str *s)
{
    const struct log_view *v = &a->s->log_view;
    if (v->previous)
        add_word(s, _("the container before"));
    if (v->all)
        str_printf(s, "  %s", _("all containers"));
    if (v->since_s > 0 && v->since_s % 60 == 0)
        str_printf(s, _("  last %" PRId64 "m"), v->since_s / 60);
    else if (v->since_s > 0)
        str_printf(s, _("  last %" PRId64 "s"), v->since_s);
    else if (v->tail >= 0)
        str_printf(s, _("  last %" PRId64 " lines"), v->tail);
}

static const char *title(const struct app *a, char buf[160])
{
    struct str s;
    str_init(&s, 159);
    str_printf(&s, _("Log %s"), pod_of(a));
    add_span(a, &s);
    str_copy(buf, 160, s.p);
    str_release(&s);
    return buf;
}

static bool is_marked(const struct app *a, uint64_t line)
{
    for (int i = 0; i < a->log.marks; i++)
        if (a->log.mark[i] == line)
            return true;
    return false;
}

/* Why there is nothing, and what the pod's events say meanwhile. */
static void nothing(const struct app *a, struct rows *out, int w, int h)
{
    const struct log_view *v = &a->s->log_view;
    if (a->filter[0] && session_log_count(a->s) > 0) {
        rows_wrap(out, ROLE_MUTED, 1, _("No line has this text. Esc shows all."), w - 1);
        return;
    }
    if (!*pod_of(a)) {
        rows_wrap(out, ROLE_MUTED, 1, _("No log yet. It appears when a pod of this lab runs; Enter "
                                        "on a pod in tab 1 follows that pod."), w - 1);
        return;
    }
    if (v->state == LOG_OPEN)
        rows_wrap(out, ROLE_MUTED, 1, _("The log is open and empty: the container has written "
                                        "nothing in this span."), w - 1);
    else if (v->state == LOG_WAITING || v->error[0])
        rows_wrap(out, ROLE_WARN, 1, v->error[0] ? v->error : _("waiting for the container"),
                  w - 1);
    else
        rows_wrap(out, ROLE_MUTED, 1, _("waiting for the first line"), w - 1);
    const struct json *pod = NULL;
    for (const struct json *p = json_first(session_table(a->s, "pods")->items); p; p = json_next(p))
        if (str_eq(json_str(p, "metadata.name", ""), pod_of(a)))
            pod = p;
    if (!pod)
        return;
    rows_blank(out);
    rows_line(out, ROLE_HEAD, _("Events of the pod meanwhile"));
    panel_events_of(a, out, "Pod", pod, MAX(h - out->n, 3), w);
}

/* The first row on show: a line's place and the rows of it that are above. */
static void top(const struct app *a, const struct log_line_look *k, int h, size_t *place,
                int *skip)
{
    const struct logindex *x = &a->log.index;
    size_t n = logindex_count(x, a->s);
    size_t at = a->log_follow ? n - 1 : MIN(logindex_place(x, a->s, a->log.line), n - 1);
    int rows = log_line_rows(k, logindex_text(a->s, logindex_line(x, a->s, at)));
    int above = a->log_follow ? h - rows : MIN(a->log.off, h - MIN(rows, h));
    if (a->log_follow && above < 0) {
        *place = at;
        *skip = -above;
        return;
    }
    while (at > 0 && above > 0) {
        at--;
        above -= log_line_rows(k, logindex_text(a->s, logindex_line(x, a->s, at)));
    }
    *place = at;
    *skip = MAX(-above, 0);
}

static void add_part(struct str *s, const char *fmt, ...) PRINTF_LIKE(2, 3);
static void add_part(struct str *s, const char *fmt, ...)
{
    va_list ap;
    if (s->len)
        str_add(s, "  ");
    va_start(ap, fmt);
    str_vprintf(s, fmt, ap);
    va_end(ap);
}

/* "/text 3/17  &text". */
static void add_search(const struct app *a, struct str *s)
{
    bool hit;
    size_t n = logindex_hits(&a->log.index), at;
    if (a->filter[0])
        add_part(s, "&%s", a->filter);
    if (!a->log.find[0])
        return;
    at = logindex_hit_place(&a->log.index, a->log.line, &hit);
    if (hit && !a->log_follow)
        add_part(s, "/%s %zu/%zu", a->log.find, at + 1, n);
    else
        add_part(s, "/%s %zu", a->log.find, n);
}

static const char *foot(const struct app *a, char buf[160])
{
    static const char *const states[] = {
        [LOG_NONE] = "", [LOG_OPENING] = N_("opening"), [LOG_OPEN] = "",
        [LOG_WAITING] = N_("waiting"), [LOG_OVER] = N_("ended")};
    const struct log_view *v = &a->s->log_view;
    char words[200];
    struct str s;
    str_init(&s, 150);
    if (panel_list_run_stale(a))
        add_part(&s, "%s", panel_list_stale_words(a, NULL, words));
    add_search(a, &s);
    if (a->s->log_dropped)
        add_part(&s, _("%" PRIu64 " older lines dropped"), a->s->log_dropped);
    if (!a->log_wrap && a->log.x > 0)
        add_part(&s, _("from column %d"), a->log.x + 1);
    if (*states[v->state])
        add_part(&s, "%s", _(states[v->state]));
    add_part(&s, "%s", a->log_follow ? _("follow") : _("held, f follows"));
    str_copy(buf, 160, s.p);
    str_release(&s);
    return buf;
}

int panel_log_height(const struct app *a, int h)
{
    return panel_list_is_small(a) ? MAX(h - 1, 1) : h;
}

/* Where there is no border to write in. */
static void status_row(const struct app *a, struct rows *out, int h)
{
    char buf[160];
    while (out->n < h - 1)
        rows_blank(out);
    out->dim = false;
    rows_new(out, -1);
    rows_put(out, panel_list_run_stale(a) ? ROLE_FAIL : ROLE_MUTED, foot(a, buf));
    if (a->s->log_view.pod[0])
        rows_putf(out, ROLE_MUTED, "  %s", a->s->log_view.pod);
}

static void lines(const struct app *a, struct rows *out, int w, int h)
{
    const struct logindex *x = &a->log.index;
    struct log_line_look k;
    size_t n = logindex_count(x, a->s), place;
    int skip;
    if (n == 0) {
        nothing(a, out, w, h);
        return;
    }
    panel_log_look(a, w, &k);
    top(a, &k, h, &place, &skip);
    out->first = (int)place;
    out->total = (int)n;
    for (; place < n && out->n < h; place++) {
        uint64_t line = logindex_line(x, a->s, place);
        log_line_put(&k, logindex_text(a->s, line), out,
                     a->log_follow ? -1 : (int)(line & 0x3FFFFFFF), is_marked(a, line), skip,
                     h - out->n);
        skip = 0;
    }
}

static void rows(const struct app *a, struct rows *out, int w, int h)
{
    out->dim = panel_list_run_stale(a);
    lines(a, out, w, panel_log_height(a, h));
    if (panel_list_is_small(a))
        status_row(a, out, h);
}

static bool ages(const struct app *a)
{
    return panel_list_run_stale(a) || (logindex_count(&a->log.index, a->s) == 0 && *pod_of(a));
}

const struct panel panel_log = {title, rows, foot, ages, N_("Log")};
