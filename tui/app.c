/* app.c - the one writer of the console's state (app.h). */
#include "tui/app.h"

#include <math.h>

#include "core/base/i18n.h"
#include "core/base/mem.h"
#include "core/base/utf8.h"
#include "tui/answer.h"
#include "tui/cmd.h"
#include "tui/cmd_lists.h"
#include "tui/mouse.h"
#include "tui/log_line.h"
#include "tui/panel.h"
#include "tui/panel_cluster.h"
#include "tui/pick.h"
#include "tui/prompt.h"
#include "tui/why.h"
#include "tui/settings.h"

enum {
    REST_MS = 80,                 /* a selection that stays has rested */
    RECENT_MS = 60000             /* what is older is history, not news */
};

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
    curve_line_init(&a->line);
    a->compare = compare_new();
    a->log.index.shown = log_line_sentence;
    a->lists = lists_new(NULL);
    a->lists_all = lists_new(a->lists);
    a->list[LIST_EVENTS].sort = SORT_AGE;
    a->sel[PANEL_CLUSTER] = PANEL_CLUSTER_FIRST_POD;
    for (int i = 0; i < SET_COUNT; i++)
        if (i != SET_LANG)       /* the program has one already */
            settings_set(a, (enum setting)i, "auto", FROM_AUTO);
    return a;
}

void app_free(struct app *a)
{
    if (!a)
        return;
    edit_close(&a->edit);
    keymap_release(&a->keymap);
    free(a->files.config_text);
    free(a->files.keys_text);
    curve_line_release(&a->line);
    compare_free(a->compare);
    logindex_release(&a->log.index);
    lists_free(a->lists_all);
    lists_free(a->lists);
    why_forget(a);
    shell_release(&a->shell);
    session_free(a->s);
    free(a->lab_done);
    free(a);
}

/* The same again is one entry. */
static struct app_said *remember(struct app *a, const char *text)
{
    bool same = a->said_n > 0 && str_eq(a->said[a->said_n - 1].text, text);
    if (!same && a->said_n == APP_SAID_MOST)
        memmove(a->said, a->said + 1, sizeof a->said[0] * (size_t)--a->said_n);
    struct app_said *s = &a->said[same ? a->said_n - 1 : a->said_n++];
    memset(s, 0, sizeof *s);
    s->at_ms = a->now_ms;
    str_copy(s->text, sizeof s->text, text);
    return s;
}

static void note(struct app *a, bool bad, const char *text, const struct pd_err *err)
{
    struct app_said *s = remember(a, text);
    str_copy(a->note, sizeof a->note, text);
    a->note_bad = bad;
    str_copy(a->note_over, sizeof a->note_over, a->s->message);
    if (err)
        s->err = *err;
    else if (bad)
        pd_fail(&s->err, PD_USAGE, "%s", text), s->err.hint[0] = '\0';
}

void app_fault(struct app *a, const struct pd_err *err)
{
    char text[512];
    if (err->line)
        str_fmt(text, sizeof text, "%s:%d:%d: %s", err->src, err->line, err->col, err->msg);
    else
        str_copy(text, sizeof text, err->msg);
    note(a, true, text, err);
}

void app_note(struct app *a, bool bad, const char *fmt, ...)
{
    char text[512];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    note(a, bad, text, NULL);
}

enum view app_view_below(const struct app *a)
{
    static const enum view of[PANEL_COUNT] = {
        [PANEL_CATALOGUE] = VIEW_CATALOGUE, [PANEL_ABOUT] = VIEW_CATALOGUE,
        [PANEL_STEP] = VIEW_STEP, [PANEL_CLUSTER] = VIEW_CLUSTER, [PANEL_LOG] = VIEW_LOG,
        [PANEL_CURVE] = VIEW_CURVE, [PANEL_RUN] = VIEW_CURVE, [PANEL_STRIP] = VIEW_CURVE,
        [PANEL_API] = VIEW_API, [PANEL_WHY] = VIEW_WHY, [PANEL_TRAIN] = VIEW_TRAIN,
        [PANEL_RUNS] = VIEW_RUNS,
        [PANEL_BUILD] = VIEW_BUILD, [PANEL_EDIT] = VIEW_EDIT,
        [PANEL_SETTINGS] = VIEW_SETTINGS, [PANEL_MESSAGES] = VIEW_MESSAGES,
        [PANEL_KEYS] = VIEW_KEYS, [PANEL_PODS] = VIEW_PODS, [PANEL_NODES] = VIEW_NODES,
        [PANEL_EVENTS] = VIEW_EVENTS, [PANEL_OBJECT] = VIEW_OBJECT, [PANEL_YAML] = VIEW_YAML,
        [PANEL_CTX] = VIEW_CTX, [PANEL_NS] = VIEW_NS, [PANEL_CONN] = VIEW_CONN,
        [PANEL_RIGHTS] = VIEW_RIGHTS, [PANEL_SHELL] = VIEW_SHELL,
        [PANEL_FORWARDS] = VIEW_FORWARDS};
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
    if (!a->s->lab)
        return;                  /* the catalogue has no such panels */
    if (a->over_n > 0)
        a->over[0].below = panel;
    else
        a->focus = panel;
}

void app_undo_push(struct app *a, const char *what, const char *command, const char *arg)
{
    if (a->undo_n == APP_UNDO_MOST)
        memmove(a->undo, a->undo + 1, sizeof a->undo[0] * (size_t)--a->undo_n);
    struct app_undo *u = &a->undo[a->undo_n++];
    str_copy(u->what, sizeof u->what, what);
    str_copy(u->command, sizeof u->command, command);
    str_copy(u->arg, sizeof u->arg, arg);
}

int app_lab_beside(const struct app *a)
{
    return a->walking ? a->beside : a->sel[PANEL_CATALOGUE];
}

int64_t app_rest_ms(const struct app *a)
{
    return a->walking ? MAX(a->walked_ms + REST_MS - a->now_ms, 1) : -1;
}

bool app_types(const struct app *a)
{
    enum view view = app_view(a);
    return view == VIEW_PROMPT || view == VIEW_EDIT || view == VIEW_SHELL;
}

void app_layout(const struct app *a, struct panes *out)
{
    struct panes_ask ask = {.cols = a->cols, .rows = a->rows, .lab = a->s->lab != NULL,
                             .tab = a->tab, .focus = a->focus, .zoom = a->zoom,
                             .editing = a->edit.open, .over = a->over_n > 0,
                             .big = a->look.big, .pressed = a->look.big || a->look.keys_shown};
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
    if (a->s->cluster.link == LINK_DOWN && a->s->cluster.last_ok_ms > 0)
        return true;             /* the title says since when */
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
    else if (str_eq(name, "step.preview"))
        a->seek = SEEK_MANIFEST;
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

/* In the help a letter is a letter of the filter. */
static void type_filter(struct app *a, const char *name)
{
    size_t have = strlen(a->help_find);
    int n = 0;
    uint32_t cp = utf8_decode(name, strlen(name), &n);
    const char *text = str_eq(name, "Space") ? " " : name;
    if (text == name && (name[n] || utf8_width(cp) < 1))
        return;
    if (have + strlen(text) < sizeof a->help_find)
        str_copy(a->help_find + have, sizeof a->help_find - have, text);
    a->help_scroll = 0;
}

/* Keys of commands are kept for those who watch; what is typed into a prompt, a
 * filter or a file never is. */
static void note_pressed(struct app *a, const struct cmd *c, const char *key)
{
    if (a->pressed_n == APP_PRESSED_MOST)
        memmove(a->pressed, a->pressed + 1, sizeof a->pressed[0] * --a->pressed_n);
    struct app_pressed *k = &a->pressed[a->pressed_n++];
    cmd_key_label(key, k->key);
    k->label = c->label[0] ? c->label : c->name;
}

static void key(struct app *a, const char *name, struct effects *out)
{
    enum view view = app_view(a);
    if (mouse_key(a, name, out))
        return;
    if (view == VIEW_SHELL && !cmd_for_key(a, view, name)) {
        shell_key(a, name, out);
        return;
    }
    if (view == VIEW_PROMPT) {
        prompt_key(a, name, out);
        return;
    }
    const struct cmd *c = cmd_for_key(a, view, name);
    if (c)
        note_pressed(a, c, name);
    if (c && !cmd_enabled(c, a)) {
        app_note(a, false, _("not now: %s"), _(c->help));
    } else if (c) {
        a->note[0] = '\0';
        app_command(a, c->name, NULL, out);
    } else if (view == VIEW_HELP) {
        type_filter(a, name);
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
    a->sel[PANEL_CLUSTER] = PANEL_CLUSTER_FIRST_POD;
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

/* Another log is on show: what was searched and marked in the one before is over. */
static void follow_log(struct app *a)
{
    struct logview *v = &a->log;
    if (v->serial != a->s->log_view.serial) {
        v->serial = a->s->log_view.serial;
        v->find[0] = '\0';
        v->marks = v->x = v->off = 0;
        v->line = 0;
        a->filter[0] = '\0';
        a->log_follow = true;
    }
    logindex_update(&v->index, a->s, a->filter, v->find);
    v->line = MAX(v->line, a->s->log_dropped);
    a->sel[PANEL_LOG] = (int)(v->line & 0x3FFFFFFF);
}

/* What the session said stands among the messages too. */
static void follow_message(struct app *a, const char *message_before)
{
    const struct session *s = a->s;
    if (!s->message[0] || str_eq(s->message, message_before))
        return;
    struct app_said *said = remember(a, s->message);
    if (s->message_code == PD_OK)
        return;
    if (s->last_error.code == s->message_code)
        said->err = s->last_error;
    else
        pd_fail(&said->err, s->message_code, "%s", s->message);
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

static void watch_file(const char *path, struct effects *out)
{
    struct json *args = json_new_object();
    json_put_str(args, "path", path);
    effects_add(out, EFF_WATCH_FILE, 0, 0, args);
}

static void own_files(struct app *a, const char *config, const char *keys, struct effects *out)
{
    str_copy(a->files.config_path, sizeof a->files.config_path, config);
    str_copy(a->files.keys_path, sizeof a->files.keys_path, keys);
    watch_file(config, out);
    watch_file(keys, out);
}

/* Lines have no views: what a command opened is closed once it is read out. */
static void go_home(struct app *a)
{
    a->over_n = 0;
    a->help = false;
    a->tab = PANEL_CLUSTER;
    a->focus = a->s->lab ? PANEL_STEP : PANEL_CATALOGUE;
}

/* What the console found out by itself. */
static bool told(struct app *a, const struct msg *m, const char *name, struct effects *out)
{
    const char *one = json_str(m->body, "args[0]", ""), *two = json_str(m->body, "args[1]", "");
    if (str_eq(name, "lab.progress"))
        set_done(a, one, atoi(two));
    else if (str_eq(name, "set.from"))
        cmd_set_from(a, m);
    else if (str_eq(name, "clock.zone"))
        a->tz_min = MIN(MAX(atoi(one), -1440), 1440);
    else if (str_eq(name, "theme.mono"))
        a->mono = str_eq(one, "yes");
    else if (str_eq(name, "note"))
        app_note(a, str_eq(one, "bad"), "%s", two);
    else if (str_eq(name, "session.start"))
        session_start(a->s, *one ? one : NULL, out);
    else if (str_eq(name, "home"))
        go_home(a);
    else if (str_eq(name, "files"))
        own_files(a, one, two, out);
    else if (!str_eq(name, "rest"))          /* time alone is what that brings */
        return false;
    return true;
}

/* Saving the settings ended: only a failure is news. */
static bool saved(struct app *a, const struct msg *m)
{
    if (m->kind != MSG_REPLY || !m->effect || m->effect != a->files.write)
        return false;
    if (json_has(m->body, "error"))
        app_note(a, true, "%s", json_str(m->body, "error.msg", _("the settings can't be saved")));
    return true;
}

static void command(struct app *a, const struct msg *m, struct effects *out)
{
    const char *name = json_str(m->body, "name", "");
    const struct cmd *c = cmd_by_name(name);
    const char *first = json_str(m->body, "args[0]", NULL);
    if (told(a, m, name, out))
        return;
    if (c && cmd_of_lab(c) && !a->s->lab) {
        app_note(a, false, "%s: %s", name, _("open a lab first"));
        return;
    }
    if (c && c->run && !cmd_enabled(c, a)) {
        app_note(a, false, _("not now: %s"), _(c->help));
        return;
    }
    if (c && c->run)
        c->run(a, first, out);
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
    enum answer_kind kind = answer_say(r->answer_line, &text);
    a->inspect_open = a->inspect_open || kind == ANSWER_SHOWS;
    if (kind == ANSWER_WALKS)
        a->walk_stage = a->scroll[PANEL_TRAIN] = 0;
    if (kind == ANSWER_SHOWS || kind == ANSWER_WALKS) {
        a->tab = kind == ANSWER_SHOWS ? PANEL_CURVE : PANEL_TRAIN;
        if (a->over_n > 0 ? a->over[0].below != PANEL_STEP : a->focus != PANEL_STEP)
            app_focus(a, a->tab);
    }
    if (str_eq(message_before, a->s->message))   /* else there is greater news */
        app_note(a, false, "%s", text.p);
    str_release(&text);
}

/* The window's title names lab and step; the bell rings when one is done. */
static void follow_window(struct app *a, struct effects *out)
{
    const struct session *s = a->s;
    char text[sizeof a->window] = "";
    if (a->look.window_title && s->lab)
        str_fmt(text, sizeof text, "podium - %s %d/%d", ltext_get(&s->lab->title), s->step + 1,
                s->lab->steps_n);
    else if (a->look.window_title)
        str_copy(text, sizeof text, "podium");
    if (str_eq(text, a->window))
        return;
    str_copy(a->window, sizeof a->window, text);
    struct json *args = json_new_object();
    json_put_str(args, "text", text);
    effects_add(out, EFF_TITLE, 0, 0, args);
}

static int steps_done(const struct session *s)
{
    int done = 0;
    for (int i = 0; s->lab && s->progress && i < s->lab->steps_n; i++)
        done += s->progress[i].state == STEP_DONE;
    return done;
}

static bool run_over(const struct session *s)
{
    return str_eq(s->run.state, "done") || str_eq(s->run.state, "error");
}

/* What the state was before a message, to see what it brought. */
struct before {
    const struct lab *lab;
    int step, answers, done, selected;
    size_t points, requests;
    bool over;
    char message[sizeof ((struct session *)0)->message];
};

static void look_before(const struct app *a, struct before *b)
{
    const struct session *s = a->s;
    *b = (struct before){s->lab, s->step, s->run.answers, steps_done(s),
                         a->sel[PANEL_CATALOGUE],
                         s->run.loss ? series_count(s->run.loss) : 0, s->api_n, run_over(s), ""};
    str_copy(b->message, sizeof b->message, s->message);
}

/* Two rows change a key; the page beside them waits until the walk is over. */
static void follow_walk(struct app *a, const struct msg *m, int selected)
{
    bool moved = selected != a->sel[PANEL_CATALOGUE];
    if (moved && m->kind == MSG_KEY) {
        a->beside = a->walking ? a->beside : selected;
        a->walking = true;
        a->walked_ms = a->now_ms;
    } else if (a->walking && m->kind != MSG_KEY && a->now_ms - a->walked_ms >= REST_MS) {
        a->walking = false;
    }
}

static void follow_bell(const struct app *a, const struct before *b, struct effects *out)
{
    const struct session *s = a->s;
    bool news = s->lab && s->lab == b->lab &&
                (steps_done(s) > b->done || (run_over(s) && !b->over));
    if (news && a->look.bell && !a->replay)
        effects_add(out, EFF_BELL, 0, 0, json_new_object());
}

void app_apply(struct app *a, const struct msg *m, struct effects *out)
{
    struct before b;
    look_before(a, &b);
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
        else if (app_view(a) == VIEW_SHELL)
            shell_paste(a, json_str(m->body, "text", ""), out);
        break;
    case MSG_RESIZE:
        resized(a, m);
        break;
    case MSG_COMMAND:
        command(a, m, out);
        break;
    default:
        if (!(m->kind == MSG_FILE && cmd_own_file(a, m)) && !saved(a, m) && !why_take(a, m) &&
            !shell_message(a, m) && !forwards_message(a, m) && !cmd_reset_message(a, m) &&
            !compare_message(a, m))
            session_apply(a->s, m, out);
        break;
    }
    if (m->kind == MSG_LIST || m->kind == MSG_WATCH_EVENT) {
        lists_follow(a->lists, a->s);
        lists_follow(a->lists_all, a->s);
    }
    follow_message(a, b.message);
    follow_session(a, b.step);
    follow_run(a, b.points);
    follow_answers(a, b.answers, b.message);
    follow_seek(a);
    follow_walk(a, m, b.selected);
    why_follow(a, out);
    pick_follow(a, m, out);
    shell_follow(a, out);
    forwards_follow(a);
    follow_bell(a, &b, out);
    follow_window(a, out);
    if (m->kind != MSG_KEY)
        follow_requests(a, b.requests);
    curve_line_update(&a->line, &a->s->run, a->curve.x, a->curve.smooth);
    compare_update(a);
    follow_log(a);
    cmd_lists_follow(a);
}
