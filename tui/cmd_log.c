/* cmd_log.c - moving, searching, marking and saving in the log. */
#include "core/base/i18n.h"
#include "core/base/runlog.h"
#include "tui/cmd.h"
#include "tui/panel_log.h"

struct extent {
    struct log_line_look look;
    int h;
    size_t n;                        /* lines on show */
};

static bool measure(const struct app *a, struct extent *e)
{
    struct panes l;
    app_layout(a, &l);
    const struct pane *p = panes_find(&l, PANEL_LOG);
    e->n = logindex_count(&a->log.index, a->s);
    e->h = p ? MAX(panel_log_height(a, p->inner.h), 1) : 1;
    panel_log_look(a, p ? p->inner.w : 80, &e->look);
    return e->n > 0;
}

static int rows_at(const struct app *a, const struct extent *e, size_t place)
{
    const struct logindex *x = &a->log.index;
    return log_line_rows(&e->look, logindex_text(a->s, logindex_line(x, a->s, place)));
}

static size_t here(const struct app *a, const struct extent *e)
{
    return MIN(logindex_place(&a->log.index, a->s, a->log.line), e->n - 1);
}

static void select_line(struct app *a, uint64_t line)
{
    a->log.line = line;
    a->log_follow = false;
    a->sel[PANEL_LOG] = (int)(line & 0x3FFFFFFF);
}

/* Hold where the end is on show. */
static void hold(struct app *a, const struct extent *e)
{
    if (!a->log_follow)
        return;
    select_line(a, logindex_line(&a->log.index, a->s, e->n - 1));
    int rows = rows_at(a, e, e->n - 1), above = 0;
    for (size_t i = e->n - 1; i > 0 && above < e->h; i--)
        above += rows_at(a, e, i - 1);
    a->log.off = MIN(e->h - rows, above);
}

static void one_down(struct app *a, const struct extent *e)
{
    size_t at = here(a, e);
    int rows = rows_at(a, e, at);
    if (a->log.off + rows > e->h) {              /* more of this line first */
        a->log.off--;
        return;
    }
    if (at + 1 >= e->n) {
        a->log_follow = true;
        return;
    }
    a->log.off += rows;
    select_line(a, logindex_line(&a->log.index, a->s, at + 1));
    int next = MIN(rows_at(a, e, at + 1), e->h);
    a->log.off = MIN(a->log.off, MAX(e->h - next, 0));
}

static void one_up(struct app *a, const struct extent *e)
{
    size_t at = here(a, e);
    if (a->log.off < 0) {
        a->log.off++;
        return;
    }
    if (at == 0)
        return;
    int rows = rows_at(a, e, at - 1);
    a->log.off = MAX(a->log.off - rows, MIN(e->h - rows, 0));
    select_line(a, logindex_line(&a->log.index, a->s, at - 1));
}

void cmd_log_move(struct app *a, int by, bool page)
{
    struct extent e;
    if (!measure(a, &e) || (a->log_follow && by > 0))
        return;
    if (by > 100000) {
        a->log_follow = true;
        return;
    }
    hold(a, &e);
    if (by < -100000) {
        select_line(a, logindex_line(&a->log.index, a->s, 0));
        a->log.off = 0;
        return;
    }
    int n = abs(by) * (page ? MAX(e.h - 1, 1) : 1);
    for (int i = 0; i < n && !(by > 0 && a->log_follow); i++)
        by > 0 ? one_down(a, &e) : one_up(a, &e);
}

/* Bring a line into the pane, a third from its top. */
static void show(struct app *a, uint64_t line)
{
    struct extent e;
    if (!measure(a, &e))
        return;
    select_line(a, line);
    a->log.off = MIN((int)here(a, &e), e.h / 3);
}

/* --- following, wrapping ---------------------------------------------------------- */
void cmd_follow(struct app *a, const char *arg UNUSED, struct effects *out UNUSED)
{
    a->log_follow = true;
}

void cmd_wrap(struct app *a, const char *arg UNUSED, struct effects *out UNUSED)
{
    a->log_wrap = !a->log_wrap;
    a->log.x = 0;
    a->log.off = MAX(a->log.off, 0);
}

void cmd_log_times(struct app *a, const char *arg UNUSED, struct effects *out UNUSED)
{
    a->log.times = !a->log.times;
}

enum { SIDE_STEP = 16 };

void cmd_log_left(struct app *a, const char *arg UNUSED, struct effects *out UNUSED)
{
    a->log.x = MAX(a->log.x - SIDE_STEP, 0);
}

void cmd_log_right(struct app *a, const char *arg UNUSED, struct effects *out UNUSED)
{
    if (a->log_wrap)
        app_note(a, false, "%s", _("lines are wrapped; w cuts them, then < > move sideways"));
    else
        a->log.x = MIN(a->log.x + SIDE_STEP, 64 << 10);
}

/* --- filter and search ------------------------------------------------------------ */
void cmd_filter(struct app *a, const char *arg, struct effects *out UNUSED)
{
    if (arg)
        str_copy(a->filter, sizeof a->filter, arg);
    else
        cmd_ask(a, _("lines with (!text: without)"), "log.filter", a->filter);
}

static void index_now(struct app *a)
{
    logindex_update(&a->log.index, a->s, a->filter, a->log.find);
}

/* The hit at or after a line, else the first one. */
static void go_hit(struct app *a, uint64_t line, int by)
{
    size_t n = logindex_hits(&a->log.index);
    bool hit;
    if (n == 0)
        return;
    size_t at = logindex_hit_place(&a->log.index, line, &hit);
    if (by > 0)
        at += hit;
    else if (by < 0)
        at += n - 1;
    if (at >= n && by >= 0)
        app_note(a, false, "%s", _("from the first line again"));
    show(a, logindex_hit(&a->log.index, at % n));
}

/* While the search is being typed. */
static void typed(struct app *a, const char *text)
{
    bool given_up = a->prompt.kind == PROMPT_NONE;
    str_copy(a->log.find, sizeof a->log.find, given_up ? a->log.find_before : text);
    index_now(a);
    if (given_up) {
        select_line(a, a->log.line_before);
        a->log.off = a->log.off_before;
        a->log_follow = a->log.follow_before;
    } else if (text[0]) {
        go_hit(a, a->log.line_before, 0);
    }
}

void cmd_log_find(struct app *a, const char *arg, struct effects *out UNUSED)
{
    struct extent e;
    if (arg) {
        str_copy(a->log.find, sizeof a->log.find, arg);
        index_now(a);
        size_t n = logindex_hits(&a->log.index);
        if (arg[0] && n == 0)
            app_note(a, true, _("no line has \"%s\""), arg);
        else if (arg[0])
            go_hit(a, a->log.line_before, 0);
        return;
    }
    a->log.follow_before = a->log_follow;
    a->log.off_before = a->log.off;
    if (measure(a, &e) && a->log_follow) {
        hold(a, &e);
        a->log.line_before = 0;          /* from the first line: the newest would wrap at once */
    } else {
        a->log.line_before = a->log.line;
    }
    str_copy(a->log.find_before, sizeof a->log.find_before, a->log.find);
    cmd_ask(a, _("search"), "log.find", "");
    a->prompt.typed = typed;
}

void cmd_log_next(struct app *a, const char *arg UNUSED, struct effects *out UNUSED)
{
    go_hit(a, a->log.line, 1);
}

void cmd_log_prev(struct app *a, const char *arg UNUSED, struct effects *out UNUSED)
{
    go_hit(a, a->log.line, -1);
}

bool cmd_log_searching(const struct app *a)
{
    return a->focus == PANEL_LOG && a->log.find[0] && logindex_hits(&a->log.index) > 0;
}

/* --- marks ------------------------------------------------------------------------ */
void cmd_log_mark(struct app *a, const char *arg UNUSED, struct effects *out UNUSED)
{
    struct logview *v = &a->log;
    struct extent e;
    if (!measure(a, &e))
        return;
    hold(a, &e);
    int i = 0;
    while (i < v->marks && v->mark[i] < v->line)
        i++;
    if (i < v->marks && v->mark[i] == v->line) {
        memmove(v->mark + i, v->mark + i + 1, sizeof v->mark[0] * (size_t)(--v->marks - i));
        return;
    }
    if (v->marks == LOGVIEW_MARKS) {
        app_note(a, true, "%s", _("there are 32 marks already; m on a marked line takes it off"));
        return;
    }
    memmove(v->mark + i + 1, v->mark + i, sizeof v->mark[0] * (size_t)(v->marks++ - i));
    v->mark[i] = v->line;
    app_note(a, false, _("mark %d; ' goes from mark to mark"), v->marks);
}

void cmd_log_jump(struct app *a, const char *arg UNUSED, struct effects *out UNUSED)
{
    struct logview *v = &a->log;
    uint64_t from = a->log_follow ? UINT64_MAX : v->line;
    int i = 0;
    while (i < v->marks && v->mark[i] <= from)
        i++;
    if (v->marks > 0)
        show(a, v->mark[i % v->marks]);
}

bool cmd_log_marked(const struct app *a)
{
    return a->log.marks > 0;
}

/* --- the line of a step ----------------------------------------------------------- */
static bool is_step(const struct log_line *l, int64_t step)
{
    char want[40];
    const char *p = l->kind == LOG_TEXT && runlog_is_record(l->text, strlen(l->text))
                        ? strstr(l->text, str_fmt(want, sizeof want, "\"step\":%" PRId64, step))
                        : NULL;
    return p && !strchr("0123456789.", p[strlen(want)]) && strstr(l->text, "\"ev\":\"step\"");
}

/* arg: the step. Shows the log at its line. */
void cmd_log_goto(struct app *a, const char *arg, struct effects *out UNUSED)
{
    int64_t step;
    if (!arg || !str_to_i64(arg, &step)) {
        cmd_ask(a, _("the log line of step"), "log.goto", "");
        return;
    }
    for (size_t i = 0; i < session_log_count(a->s); i++) {
        if (!is_step(session_log_line(a->s, i), step))
            continue;
        a->filter[0] = '\0';
        index_now(a);
        a->zoom = false;
        cmd_show_log(a);
        show(a, a->s->log_dropped + i);
        return;
    }
    app_note(a, true, _("the log on show has no line of step %" PRId64), step);
}

/* --- which log -------------------------------------------------------------------- */
/* 0-6 as k9s has them. */
void cmd_log_since(struct app *a, const char *arg, struct effects *out)
{
    static const char *const spans[] = {"tail", "head", "1m", "5m", "15m", "30m", "1h"};
    if (!arg || !*arg)
        cmd_ask(a, _("log since (tail, head, 1m, 5m, 15m, 30m, 1h)"), "log.since", "");
    else if (arg[0] >= '0' && arg[0] <= '6' && !arg[1])
        app_session(a, "log.since", spans[arg[0] - '0'], out);
    else
        app_session(a, "log.since", arg, out);
}

bool cmd_has_log(const struct app *a)
{
    return a->s->log_view.pod[0] != '\0';
}

bool cmd_has_lines(const struct app *a)
{
    return session_log_count(a->s) > 0;
}

/* --- saving, copying -------------------------------------------------------------- */
void cmd_log_save(struct app *a, const char *arg, struct effects *out)
{
    const char *pod = a->s->log_view.pod[0] ? a->s->log_view.pod : a->s->run.pod;
    char path[300];
    if (arg && *arg) {
        app_session(a, "log.save", arg, out);
        return;
    }
    str_fmt(path, sizeof path, "%s.log", *pod ? pod : "podium");
    cmd_ask(a, _("write the whole log to"), "log.save", path);
}

const char *cmd_log_line_text(const struct app *a)
{
    struct extent e;
    if (!measure(a, &e))
        return NULL;
    size_t at = a->log_follow ? e.n - 1 : here(a, &e);
    return logindex_text(a->s, logindex_line(&a->log.index, a->s, at))->text;
}
