/* cmd_view.c - panes, tabs, the input line, language, theme, leaving. */
#include "core/base/i18n.h"
#include "core/base/path.h"
#include "tui/cmd.h"
#include "tui/cmd_lists.h"
#include "tui/pick.h"
#include "tui/settings.h"

/* --- panes ----------------------------------------------------------------- */
static void focus_by(struct app *a, int by)
{
    struct panes l;
    app_layout(a, &l);
    if (l.tabs) {                /* one pane: walk all there are */
        enum panel_id first = a->s->lab ? PANEL_STEP : PANEL_CATALOGUE;
        enum panel_id last = a->s->lab ? TAB_LAST : PANEL_ABOUT;
        int n = (int)(last - first) + 1;
        a->focus = (enum panel_id)((int)first + ((int)a->focus - (int)first + by + n) % n);
        if (a->focus >= TAB_FIRST && a->focus <= TAB_LAST)
            a->tab = a->focus;
        return;
    }
    int panes = 0, at = 0;
    enum panel_id can[PANES_MOST];
    for (int i = 0; i < l.n; i++) {
        if (l.pane[i].panel == PANEL_STRIP || l.pane[i].panel == PANEL_EDIT)
            continue;
        if (l.pane[i].panel == a->focus)
            at = panes;
        can[panes++] = l.pane[i].panel;
    }
    if (panes > 0)
        a->focus = can[(at + by + panes) % panes];
}

void cmd_next_pane(struct app *a, const char *arg UNUSED, struct effects *out UNUSED)
{
    focus_by(a, 1);
}

void cmd_prev_pane(struct app *a, const char *arg UNUSED, struct effects *out UNUSED)
{
    focus_by(a, -1);
}

/* The figures stand beside the large curve only. */
static void set_zoom(struct app *a, bool zoom)
{
    a->zoom = zoom;
    if (!zoom && a->focus == PANEL_RUN)
        a->focus = PANEL_CURVE;
}

/* Small screens show one pane all the time. */
bool cmd_can_zoom(const struct app *a)
{
    struct panes l;
    app_layout(a, &l);
    return !l.tabs && !l.too_small;
}

/* There is another pane to go to. */
bool cmd_has_panes(const struct app *a)
{
    struct panes l;
    int n = 0;
    app_layout(a, &l);
    for (int i = 0; i < l.n; i++)
        n += l.pane[i].panel != PANEL_STRIP;
    return l.tabs || n > 1;
}

bool cmd_log_held(const struct app *a)
{
    return !a->log_follow;
}

void cmd_zoom(struct app *a, const char *arg UNUSED, struct effects *out UNUSED)
{
    set_zoom(a, !a->zoom);
}

static void choose_tab(struct app *a, enum panel_id tab)
{
    a->over_n = 0;
    a->tab = a->focus = tab;
    a->tab_chosen = true;
}

void cmd_tab_cluster(struct app *a, const char *arg UNUSED, struct effects *out UNUSED)
{
    choose_tab(a, PANEL_CLUSTER);
}

void cmd_tab_log(struct app *a, const char *arg UNUSED, struct effects *out UNUSED)
{
    choose_tab(a, PANEL_LOG);
}

void cmd_tab_curve(struct app *a, const char *arg UNUSED, struct effects *out UNUSED)
{
    choose_tab(a, PANEL_CURVE);
}

void cmd_tab_api(struct app *a, const char *arg UNUSED, struct effects *out UNUSED)
{
    choose_tab(a, PANEL_API);
}

void cmd_tab_why(struct app *a, const char *arg UNUSED, struct effects *out UNUSED)
{
    choose_tab(a, PANEL_WHY);
}

void cmd_tab_build(struct app *a, const char *arg UNUSED, struct effects *out UNUSED)
{
    choose_tab(a, PANEL_BUILD);
}

void cmd_tab_train(struct app *a, const char *arg UNUSED, struct effects *out UNUSED)
{
    choose_tab(a, PANEL_TRAIN);
}

/* A credential plugin that runs, while nothing else can go on, is ended first. */
bool cmd_login_end(struct app *a, struct effects *out)
{
    const struct cluster_state *k = &a->s->cluster;
    if (!k->login[0] || k->link != LINK_CONNECTING)
        return false;
    effects_add(out, EFF_LOGIN_END, 0, 0, NULL);
    return true;
}

void cmd_back(struct app *a, const char *arg UNUSED, struct effects *out)
{
    if (cmd_login_end(a, out))
        return;
    if (a->help) {
        a->help = false;
    } else if (a->focus == PANEL_KEYS && a->keys_find[0]) {
        a->keys_find[0] = '\0';
    } else if (cmd_lists_back(a) || pick_back(a)) {
        return;
    } else if (a->focus == PANEL_LOG && a->log.find[0]) {
        a->log.find[0] = '\0';
    } else if (a->focus == PANEL_LOG && a->filter[0]) {
        a->filter[0] = '\0';
    } else if (app_over_close(a)) {
        return;
    } else if (!a->s->lab) {
        a->focus = PANEL_CATALOGUE;
    } else if (a->s->scene.state == SCENE_RUNNING) {
        app_session(a, "op.cancel", NULL, out);
    } else if (a->zoom && cmd_can_zoom(a)) {
        set_zoom(a, false);
    } else if (a->inspect_open) {
        a->inspect_open = false;
    } else if (a->focus != PANEL_STEP) {
        a->focus = PANEL_STEP;
    } else {
        app_session(a, "lab.close", NULL, out);
    }
}

bool cmd_has_lab(const struct app *a)
{
    return a->s->lab != NULL;
}

/* --- leaving --------------------------------------------------------------- */
void cmd_quit(struct app *a UNUSED, const char *arg UNUSED, struct effects *out)
{
    struct json *args = json_new_object();
    json_put_num(args, "code", 0);
    effects_add(out, EFF_QUIT, 0, 0, args);
}

void cmd_interrupt(struct app *a, const char *arg, struct effects *out)
{
    enum { TWICE_MS = 1500 };
    bool again = a->interrupt_ms && a->now_ms - a->interrupt_ms <= TWICE_MS;
    a->interrupt_ms = a->now_ms;
    if (again) {
        cmd_quit(a, arg, out);
    } else if (cmd_login_end(a, out)) {
        app_note(a, false, "%s", _("cancelled; ^C again leaves podium"));
    } else if (cmd_has_op(a)) {
        app_session(a, "op.cancel", NULL, out);
        app_note(a, false, "%s", _("cancelled; ^C again leaves podium"));
    } else {
        app_note(a, false, "%s", _("^C again leaves podium"));
    }
}

void cmd_suspend(struct app *a UNUSED, const char *arg UNUSED, struct effects *out)
{
    effects_add(out, EFF_SUSPEND, 0, 0, json_new_object());
}

void cmd_redraw(struct app *a UNUSED, const char *arg UNUSED, struct effects *out)
{
    effects_add(out, EFF_REDRAW, 0, 0, json_new_object());
}

/* --- the input line ---------------------------------------------------------- */
void cmd_ask(struct app *a, const char *title, const char *command, const char *start)
{
    memset(&a->prompt, 0, sizeof a->prompt);
    a->prompt.kind = PROMPT_ASK;
    str_copy(a->prompt.title, sizeof a->prompt.title, title);
    str_copy(a->prompt.command, sizeof a->prompt.command, command);
    str_copy(a->prompt.text, sizeof a->prompt.text, start);
    a->prompt.cursor = (int)strlen(a->prompt.text);
}

void cmd_palette(struct app *a, const char *arg UNUSED, struct effects *out)
{
    if (!a->s->conn.contexts_known)
        app_session(a, "ctx.list", NULL, out);
    memset(&a->prompt, 0, sizeof a->prompt);
    a->prompt.kind = PROMPT_PALETTE;
}

/* --- how it looks ------------------------------------------------------------ */
void cmd_help(struct app *a, const char *arg UNUSED, struct effects *out UNUSED)
{
    a->help = !a->help;
    a->help_find[0] = '\0';
    a->help_scroll = 0;
}

/* A key changes it for this session; the settings screen keeps it. */
static void look(struct app *a, enum setting i, const char *arg)
{
    char buf[320];
    const struct setting_def *d = settings_at(i);
    if (!settings_set(a, i, arg && *arg ? arg : settings_step(a, i, 1), FROM_HERE))
        app_note(a, true, "%s", settings_refusal(a, i, arg ? arg : "", buf, sizeof buf));
    else
        app_note(a, false, _("%s: %s"), _(d->label), d->get(a, buf));
}

void cmd_language(struct app *a, const char *arg, struct effects *out UNUSED)
{
    look(a, SET_LANG, arg);
}

void cmd_theme(struct app *a, const char *arg, struct effects *out UNUSED)
{
    look(a, SET_THEME, arg);
}

void cmd_glyphs(struct app *a, const char *arg, struct effects *out UNUSED)
{
    look(a, SET_GLYPHS, arg);
}

void cmd_mouse(struct app *a, const char *arg, struct effects *out UNUSED)
{
    a->look.mouse = arg && *arg ? str_eq(arg, "on") : !a->look.mouse;
    if (a->look.mouse)
        app_note(a, false, "%s", _("mouse on: Shift-drag selects text"));
    else
        app_note(a, false, "%s", _("mouse off: the terminal selects text as usual"));
}

/* --- log, API, catalogue ----------------------------------------------------- */
void cmd_api_body(struct app *a, const char *arg UNUSED, struct effects *out UNUSED)
{
    a->api_open = a->api_open == a->sel[PANEL_API] ? -1 : a->sel[PANEL_API];
}

/* --- copying ----------------------------------------------------------------- */
/* Where it went to is said by what copies it (tui/clip.h). */
static void copy_text(const char *text, struct effects *out)
{
    struct json *args = json_new_object();
    json_put_str(args, "text", text);
    effects_add(out, EFF_COPY_TEXT, 0, 0, args);
}

static void copy_rows(struct app *a, bool all, struct effects *out)
{
    struct panes l;
    struct rows rows;
    struct str text;
    app_layout(a, &l);
    const struct pane *p = panes_find(&l, a->focus);
    if (!p)
        return;
    rows_init(&rows, a->glyphs);
    str_init(&text, 1 << 20);
    app_panel_rows(a, p, &rows);
    bool whole = all && cmd_lists_copy(a, &text);    /* more than is on the screen */
    for (int i = 0; i < rows.n && !whole; i++) {
        if (!all && rows.v[i].id != a->sel[a->focus])
            continue;
        rows_text(&rows.v[i], &text);
        str_addc(&text, '\n');
    }
    if (text.len > 0)
        copy_text(text.p, out);
    str_release(&text);
    rows_release(&rows);
}

void cmd_copy(struct app *a, const char *arg UNUSED, struct effects *out)
{
    int i = a->sel[PANEL_API];
    if (a->focus == PANEL_API && i >= 0 && (size_t)i < a->s->api_n && a->s->api[i].kubectl)
        copy_text(a->s->api[i].kubectl, out);
    else if (a->focus == PANEL_LOG && cmd_log_line_text(a))
        copy_text(cmd_log_line_text(a), out);
    else
        copy_rows(a, false, out);
}

void cmd_copy_pane(struct app *a, const char *arg UNUSED, struct effects *out)
{
    copy_rows(a, true, out);
}

/* --- the editor -------------------------------------------------------------- */

static const char *lab_var(void *arg, const char *name)
{
    return json_string_value(json_get(((const struct session *)arg)->vars, name));
}

/* What the lab and the server know of the file: variables, and what was wrong with
 * it; the cursor goes to the first fault. */
static void edit_context(struct app *a)
{
    struct edit *e = &a->edit;
    struct edit_fault f;
    e->var = lab_var;
    e->var_arg = a->s;
    if (a->s->manifest.state != MANIFEST_NOTHING &&
        str_eq(path_base(e->path), path_base(a->s->manifest.file)))
        e->told = a->s->manifest.notes ? json_copy(a->s->manifest.notes) : NULL;
    edit_check(e);
    if (edit_fault_next(e, 0, &f))
        edit_go_line(e, f.line);
}

void cmd_edit_fault(struct app *a, const char *arg UNUSED, struct effects *out UNUSED)
{
    struct edit_fault f;
    bool any = edit_fault_next(&a->edit, a->edit.row + 1, &f);
    if (any && f.line == a->edit.row + 1)
        app_note(a, false, "%s", _("this is the only line with a fault"));
    else if (any)
        edit_go_line(&a->edit, f.line);
    else
        app_note(a, false, "%s", _("nothing is wrong with this text that podium sees"));
}

/* arg: the path, a newline, the text. */
void cmd_edit_open(struct app *a, const char *arg, struct effects *out UNUSED)
{
    const char *end = arg ? strchr(arg, '\n') : NULL;
    char path[512];
    if (!end)
        return;
    str_copy(path, MIN(sizeof path, (size_t)(end - arg) + 1), arg);
    edit_open(&a->edit, path, end + 1);
    edit_context(a);
}

void cmd_edit_save(struct app *a, const char *arg UNUSED, struct effects *out)
{
    struct str text;
    struct json *args = json_new_object();
    str_init(&text, EDIT_BYTES_MOST);
    edit_text(&a->edit, &text);
    json_put_str(args, "path", a->edit.path);
    json_put_str(args, "text", text.p);
    effects_add(out, EFF_WRITE, 0, 0, args);
    str_release(&text);
    a->edit.dirty = a->edit.leaving = false;
    app_note(a, false, _("saved %s"), a->edit.path);
}

void cmd_edit_close(struct app *a, const char *arg UNUSED, struct effects *out)
{
    if (a->edit.dirty && !a->edit.leaving) {
        a->edit.leaving = true;
        app_note(a, true, "%s", _("not saved: ^S saves, Esc again drops the changes"));
        return;
    }
    edit_close(&a->edit);
    app_session(a, "step.check", NULL, out);
}

void cmd_edit_reload(struct app *a, const char *arg UNUSED, struct effects *out)
{
    struct json *args = json_new_object();
    json_put_str(args, "path", a->edit.path);
    effects_add(out, EFF_EDIT, 0, 0, args);
}
