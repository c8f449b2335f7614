/* app.c - the one writer of the console's state (app.h). */
#include "tui/app.h"

#include <math.h>

#include "core/base/i18n.h"
#include "core/base/mem.h"
#include "tui/answer.h"
#include "tui/cmd.h"
#include "tui/panel.h"
#include "tui/prompt.h"

enum { RECENT_MS = 60000 };       /* what is older is history, not news */

struct app *app_new(struct session *s, struct lab_list *labs)
{
    struct app *a = xcalloc(1, sizeof *a);
    a->s = s;
    a->labs = labs;
    a->lab_done = xcalloc(labs ? labs->n + 1 : 1, sizeof *a->lab_done);
    a->cols = 80;
    a->rows = 24;
    str_copy(a->theme, sizeof a->theme, "dark");
    a->tab = PANEL_CLUSTER;
    a->focus = PANEL_CATALOGUE;
    a->log_follow = true;
    a->api_open = -1;
    a->curve = (struct app_curve){.smooth = 0.9, .x_lo = NAN, .x_hi = NAN, .cursor = NAN};
    curve_cache_init(&a->cache);
    return a;
}

void app_free(struct app *a)
{
    if (!a)
        return;
    edit_close(&a->edit);
    keymap_release(&a->keymap);
    curve_cache_release(&a->cache);
    session_free(a->s);
    free(a->lab_done);
    free(a);
}

void app_note(struct app *a, bool bad, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(a->note, sizeof a->note, fmt, ap);
    va_end(ap);
    a->note_bad = bad;
    str_copy(a->note_over, sizeof a->note_over, a->s->message);
}

enum view app_view_below(const struct app *a)
{
    static const enum view of[PANEL_COUNT] = {
        [PANEL_CATALOGUE] = VIEW_CATALOGUE, [PANEL_ABOUT] = VIEW_CATALOGUE,
        [PANEL_STEP] = VIEW_STEP, [PANEL_CLUSTER] = VIEW_CLUSTER, [PANEL_LOG] = VIEW_LOG,
        [PANEL_CURVE] = VIEW_CURVE, [PANEL_RUN] = VIEW_CURVE, [PANEL_STRIP] = VIEW_CURVE,
        [PANEL_API] = VIEW_API, [PANEL_WHY] = VIEW_WHY, [PANEL_EDIT] = VIEW_EDIT};
    return a->edit.open ? VIEW_EDIT : of[a->focus];
}

enum view app_view(const struct app *a)
{
    if (a->prompt.kind != PROMPT_NONE)
        return a->prompt.kind == PROMPT_CONFIRM ? VIEW_CONFIRM : VIEW_PROMPT;
    return a->help ? VIEW_HELP : app_view_below(a);
}

void app_over(struct app *a, enum panel_id panel)
{
    for (int i = 0; i < a->over_n; i++)
        if (a->over[i].panel == panel) {     /* it is below: back to it */
            a->over_n = i + 1;
            a->focus = panel;
            return;
        }
    if (a->over_n == APP_OVER_MOST) {        /* the way back gets shorter */
        memmove(a->over + 1, a->over + 2, sizeof a->over[0] * (APP_OVER_MOST - 2));
        a->over_n--;
        a->over[1].below = a->over[0].panel;
    }
    a->over[a->over_n++] = (struct app_over){panel, a->focus};
    a->focus = panel;
}

bool app_over_close(struct app *a)
{
    if (a->over_n == 0)
        return false;
    a->focus = a->over[--a->over_n].below;
    return true;
}

void app_focus(struct app *a, enum panel_id panel)
{
    if (a->over_n > 0)
        a->over[0].below = panel;
    else
        a->focus = panel;
}

void app_layout(const struct app *a, struct panes *out)
{
    struct panes_ask ask = {.cols = a->cols, .rows = a->rows, .lab = a->s->lab != NULL,
                             .tab = a->tab, .focus = a->focus, .zoom = a->zoom,
                             .editing = a->edit.open, .over = a->over_n > 0};
    panes_compute(&ask, out);
}

void app_panel_rows(const struct app *a, const struct pane *p, struct rows *out)
{
    const struct panel *ops = panel_of(p->panel);
    if (ops && ops->rows)
        ops->rows(a, out, p->inner.w, p->inner.h);
}

bool app_wants_tick(const struct app *a)
{
    struct panes l;
    app_layout(a, &l);
    if (a->replay || a->help)
        return false;
    for (int i = 0; i < l.n; i++) {
        const struct panel *ops = panel_of(l.pane[i].panel);
        if (ops && ops->ages && ops->ages(a))
            return true;
    }
    return false;
}

/* --- commands --------------------------------------------------------------- */
void app_session(struct app *a, const char *name, const char *arg, struct effects *out)
{
    struct json *body = json_new_object(), *args = json_new_array();
    json_put_str(body, "name", name);
    if (arg)
        json_append(args, json_new_string(arg));
    json_set(body, "args", args);
    struct msg *m = msg_new(MSG_COMMAND, body);
    m->at_ms = a->now_ms;
    session_apply(a->s, m, out);
    msg_free(m);
}

/* What answers in the step pane may stand below its last row: scroll there. */
static void seek(struct app *a, const char *name)
{
    if (str_eq(name, "step.check") || str_eq(name, "step.run") || str_eq(name, "edit.close"))
        a->seek = SEEK_CHECKS;
    else if (str_eq(name, "step.hint"))
        a->seek = SEEK_HINT;
}

void app_command(struct app *a, const char *name, const char *arg, struct effects *out)
{
    const struct cmd *c = cmd_by_name(name);
    seek(a, name);
    if (c && c->run)
        c->run(a, arg, out);
    else
        app_session(a, name, arg, out);
}

static void key(struct app *a, const char *name, struct effects *out)
{
    enum view view = app_view(a);
    if (view == VIEW_PROMPT) {
        prompt_key(a, name, out);
        return;
    }
    const struct cmd *c = cmd_for_key(a, view, name);
    if (c && !cmd_enabled(c, a)) {
        app_note(a, false, _("not now: %s"), _(c->help));
    } else if (c) {
        a->note[0] = '\0';
        app_command(a, c->name, NULL, out);
    } else if (view == VIEW_EDIT) {
        struct panes l;
        app_layout(a, &l);
        const struct pane *p = panes_find(&l, PANEL_EDIT);
        edit_key(&a->edit, name, p ? p->inner.h : 10);
    }
}

/* --- following the session ---------------------------------------------------- */
static void lab_changed(struct app *a)
{
    a->lab_seen = a->s->lab;
    a->zoom = false;
    a->tab_chosen = false;
    a->tab = PANEL_CLUSTER;
    a->over_n = 0;
    a->focus = a->s->lab ? PANEL_STEP : PANEL_CATALOGUE;
    a->filter[0] = '\0';
    a->log_follow = true;
    a->api_open = -1;
    a->inspect_open = false;
    a->seek = SEEK_NONE;
    memset(a->scroll, 0, sizeof a->scroll);
    for (int i = 0; i < PANEL_COUNT; i++)
        a->sel[i] = i == PANEL_CATALOGUE ? a->sel[i] : 0;
}

static void set_done(struct app *a, const char *id, int done)
{
    for (size_t i = 0; a->labs && i < a->labs->n; i++)
        if (a->labs->v[i].lab && str_eq(a->labs->v[i].lab->id, id))
            a->lab_done[i] = done;
}

static void count_done(struct app *a)
{
    int done = 0;
    if (!a->s->lab || !a->s->progress)
        return;
    for (int i = 0; i < a->s->lab->steps_n; i++)
        done += a->s->progress[i].state == STEP_DONE;
    set_done(a, a->s->lab->id, done);
}

/* A run's first points bring its curve up, unless the person chose a tab or the
 * run is an old one. */
static void follow_run(struct app *a, size_t points_before)
{
    const struct run *r = &a->s->run;
    size_t points = r->loss ? series_count(r->loss) : 0;
    if (points_before > 0 || points == 0 || a->tab_chosen ||
        a->now_ms - r->last_line_ms > RECENT_MS)
        return;
    a->tab = PANEL_CURVE;
    if (a->over_n > 0 ? a->over[0].below != PANEL_STEP : a->focus != PANEL_STEP)
        app_focus(a, PANEL_CURVE);
}

/* The newest request stays selected while new ones come. */
static void follow_requests(struct app *a, size_t requests_before)
{
    int *sel = &a->sel[PANEL_API], last = (int)a->s->api_n - 1;
    if (*sel >= (int)requests_before - 1 && a->api_open < 0)
        *sel = MAX(last, 0);
}

static void follow_session(struct app *a, int step_before)
{
    count_done(a);
    if (a->lab_seen != a->s->lab)
        lab_changed(a);
    if (a->s->op.started_ms != a->op_began) {
        a->op_began = a->s->op.started_ms;
        a->op_step = a->s->step;
    }
    if (a->s->lab && a->s->step != step_before) {
        a->scroll[PANEL_STEP] = 0;
        a->seek = SEEK_NONE;
        a->notes_open = false;
        a->inspect_open = false;
        if (!a->zoom)
            app_focus(a, PANEL_STEP);
    }
    if (a->s->clean.state == CLEAN_ASKING && a->clean_seen != CLEAN_ASKING &&
        json_first(a->s->clean.items))
        cmd_lab_cleanup_ask(a);
    a->clean_seen = a->s->clean.state;
    if (a->note[0] && !str_eq(a->note_over, a->s->message))
        a->note[0] = '\0';
}

/* One column or row less would hide what has the focus: move it. */
static void resized(struct app *a, const struct msg *m)
{
    a->cols = (int)json_int(m->body, "cols", a->cols);
    a->rows = (int)json_int(m->body, "rows", a->rows);
    struct panes l;
    app_layout(a, &l);
    if (!l.too_small && !panes_find(&l, a->focus) && !a->edit.open)
        a->focus = l.pane[0].panel;
}

static void command(struct app *a, const struct msg *m, struct effects *out)
{
    const char *name = json_str(m->body, "name", "");
    const struct cmd *c = cmd_by_name(name);
    if (str_eq(name, "lab.progress"))
        set_done(a, json_str(m->body, "args[0]", ""), atoi(json_str(m->body, "args[1]", "0")));
    else if (c && c->run)
        c->run(a, json_str(m->body, "args[0]", NULL), out);
    else
        session_apply(a->s, m, out);
    seek(a, name);
}

static void follow_seek(struct app *a)
{
    struct panes l;
    struct rows rows;
    app_layout(a, &l);
    const struct pane *p = a->seek ? panes_find(&l, PANEL_STEP) : NULL;
    if (!p)
        return;
    rows_init(&rows, a->glyphs);
    app_panel_rows(a, p, &rows);
    a->scroll[PANEL_STEP] = MIN(rows.mark, MAX(rows.n - p->inner.h, 0));
    rows_release(&rows);
}

/* The trainer answered: say so, and show what it shows, unless that is old. */
static void follow_answers(struct app *a, int answers_before, const char *message_before)
{
    const struct run *r = &a->s->run;
    struct str text;
    if (r->answers <= answers_before || a->now_ms - r->last_line_ms > RECENT_MS)
        return;
    str_init(&text, sizeof a->note - 1);
    if (answer_say(r->answer_line, &text) == ANSWER_SHOWS) {
        a->inspect_open = true;
        a->tab = PANEL_CURVE;
        if (a->over_n > 0 ? a->over[0].below != PANEL_STEP : a->focus != PANEL_STEP)
            app_focus(a, PANEL_CURVE);
    }
    if (str_eq(message_before, a->s->message))   /* else there is greater news */
        app_note(a, false, "%s", text.p);
    str_release(&text);
}

void app_apply(struct app *a, const struct msg *m, struct effects *out)
{
    int step = a->s->step;
    size_t points = a->s->run.loss ? series_count(a->s->run.loss) : 0, requests = a->s->api_n;
    int answers = a->s->run.answers;
    char message[sizeof a->s->message];
    str_copy(message, sizeof message, a->s->message);
    a->now_ms = m->at_ms;
    switch (m->kind) {
    case MSG_KEY:
        key(a, json_str(m->body, "key", ""), out);
        break;
    case MSG_PASTE:
        if (app_view(a) == VIEW_PROMPT)
            prompt_paste(a, json_str(m->body, "text", ""));
        else if (app_view(a) == VIEW_EDIT)
            edit_paste(&a->edit, json_str(m->body, "text", ""));
        break;
    case MSG_RESIZE:
        resized(a, m);
        break;
    case MSG_COMMAND:
        command(a, m, out);
        break;
    default:
        session_apply(a->s, m, out);
        break;
    }
    follow_session(a, step);
    follow_run(a, points);
    follow_answers(a, answers, message);
    follow_seek(a);
    if (m->kind != MSG_KEY)
        follow_requests(a, requests);
    curve_cache_update(&a->cache, a->s->run.loss, a->curve.smooth);
}
