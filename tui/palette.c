/* palette.c - finding and running commands by name (palette.h). */
#include "tui/palette.h"

#include "core/base/i18n.h"
#include "core/base/utf8.h"
#include "tui/screen.h"
#include "tui/settings.h"

enum { PALETTE_ROWS = 8, PALETTE_WIDE = 100, PALETTE_NAME = 16, PALETTE_KEYS = 9 };

/* --- why not ------------------------------------------------------------------- */
static const struct { cmd_when *when; const char *reason; } reasons[] = {
    {cmd_has_actions, N_("this step has nothing to run")},
    {cmd_has_edit, N_("this step has no file to edit")},
    {cmd_has_hint, N_("there is no hint left")},
    {cmd_has_next, N_("the step is not done yet")},
    {cmd_has_op, N_("nothing is running")},
    {cmd_has_run, N_("there is no run yet")},
    {cmd_run_live, N_("no training is running")},
    {cmd_has_panes, N_("this pane stands alone")},
    {cmd_log_held, N_("the log is followed")},
    {cmd_can_zoom, N_("the screen is too small for two panes")},
    {cmd_has_progress, N_("nothing is done in this lab yet")},
    {cmd_has_walk, N_("no step has been taken apart")},
    {cmd_has_undo, N_("there is nothing to take back")},
};

const char *palette_reason(const struct app *a, const struct cmd *c)
{
    if (cmd_of_lab(c) && !a->s->lab)
        return _("open a lab first");
    if (cmd_enabled(c, a))
        return NULL;
    for (size_t i = 0; i < ARRAY_LEN(reasons); i++)
        if (reasons[i].when == c->when)
            return _(reasons[i].reason);
    return _("not now");
}

/* --- finding ------------------------------------------------------------------- */
static bool word_start(const char *text, const char *p)
{
    return p == text || strchr(". -_/", p[-1]);
}

/* All letters in order; runs and beginnings of words count more. */
static int letters(const char *text, const char *typed, size_t n)
{
    int score = 0;
    const char *p = text;
    bool run = false;
    for (size_t i = 0; i < n; i++, p++) {
        const char *from = p;
        while (*p && strncasecmp(p, typed + i, 1) != 0)
            p++;
        if (!*p)
            return 0;
        run = p == from && i > 0;
        score += word_start(text, p) ? 8 : run ? 4 : 1;
    }
    return MAX(score, 1);
}

int palette_score(const char *text, const char *typed, size_t n)
{
    if (n == 0)
        return 1;
    if (strncasecmp(text, typed, n) == 0)
        return text[n] == '\0' ? 1000 : 800;
    for (const char *p = text; *p; p++)
        if (strncasecmp(p, typed, n) == 0)
            return word_start(text, p) ? 600 : 400;
    return letters(text, typed, n);
}

/* The help counts only where it has the letters together. */
static int help_score(const char *help, const char *typed, size_t n)
{
    int score = palette_score(help, typed, n);
    return score >= 400 ? score / 4 : 0;
}

static int recent(const struct app *a, const struct cmd *c)
{
    for (int i = 0; i < APP_RECENT_MOST; i++)
        if (a->recent[i] == c)
            return APP_RECENT_MOST - i;
    return 0;
}

static int score_of(const struct app *a, const struct cmd *c, const char *typed, size_t n)
{
    int best = palette_score(c->name, typed, n);
    best = best < 400 ? MIN(best, 90) : best;
    best = MAX(best, help_score(i18n_in("en", c->help), typed, n));
    best = MAX(best, help_score(i18n_in("zh", c->help), typed, n));
    if (best > 0)
        best = best * 16 + recent(a, c) * (n == 0 ? 16 : 1);
    return best > 0 && palette_reason(a, c) ? MAX(best / 2, 1) : best;
}

int palette_find(const struct app *a, const struct cmd *out[PALETTE_MOST])
{
    const char *typed = a->prompt.text;
    size_t word = strcspn(typed, " ");
    int scores[PALETTE_MOST], n = 0;
    for (size_t i = 0; i < cmd_count() && n < PALETTE_MOST; i++) {
        const struct cmd *c = cmd_at(i);
        int score = (c->views & VIEWS_MAIN) ? score_of(a, c, typed, word) : 0, at = n;
        if (score == 0)
            continue;
        for (; at > 0 && scores[at - 1] < score; at--) {
            scores[at] = scores[at - 1];
            out[at] = out[at - 1];
        }
        scores[at] = score;
        out[at] = c;
        n++;
    }
    return n;
}

/* --- arguments ----------------------------------------------------------------- */
static const char *lab_id(const struct app *a, int i, char buf[160] UNUSED)
{
    return a->labs && (size_t)i < a->labs->n ? a->labs->v[i].id : NULL;
}

static const char *pod_name(const struct app *a, int i, char buf[160] UNUSED)
{
    const struct table *t = session_table(a->s, "pods");
    return t ? json_str(json_item(t->items, (size_t)i), "metadata.name", NULL) : NULL;
}

static const char *theme_arg(const struct app *a UNUSED, int i, char buf[160] UNUSED)
{
    return theme_name(i);
}

static const char *lang_arg(const struct app *a UNUSED, int i, char buf[160] UNUSED)
{
    return settings_at(SET_LANG)->choice(i);
}

static const char *glyphs_arg(const struct app *a UNUSED, int i, char buf[160] UNUSED)
{
    return settings_at(SET_GLYPHS)->choice(i);
}

/* Every setting with every choice, as it is typed. */
static const char *set_arg(const struct app *a UNUSED, int i, char buf[160])
{
    for (size_t k = 0; settings_at(k); k++)
        for (int j = 0; settings_at(k)->choice(j); j++)
            if (i-- == 0)
                return str_fmt(buf, 160, "%s %s", settings_at(k)->name, settings_at(k)->choice(j));
    return NULL;
}

static const char *context_arg(const struct app *a, int i, char buf[160] UNUSED)
{
    return (size_t)i < a->s->conn.contexts_n ? a->s->conn.context[i].name : NULL;
}

static const char *ns_arg(const struct app *a, int i, char buf[160] UNUSED)
{
    return (size_t)i < a->s->conn.ns_n ? a->s->conn.ns[i].name : NULL;
}

static const struct {
    const char *command, *name;
    const char *(*at)(const struct app *a, int i, char buf[160]);
} takes[] = {
    {"lab.open", N_("ID"), lab_id},        {"lab.reset", N_("ID"), lab_id},
    {"pod.log", N_("POD"), pod_name},      {"theme", N_("NAME"), theme_arg},
    {"language", N_("LANGUAGE"), lang_arg}, {"glyphs", N_("SET"), glyphs_arg},
    {"set", N_("NAME VALUE"), set_arg},    {"log.filter", N_("TEXT"), NULL},
    {"list.filter", N_("TEXT"), NULL},     {"train.rate", N_("RATE"), NULL},
    {"train.step", N_("N"), NULL},         {"train.inspect", N_("WHAT"), NULL},
    {"curve.export", N_("FILE"), NULL},   {"ctx", N_("NAME"), context_arg},
    {"ns", N_("NAME"), ns_arg},           {"can", N_("VERB RESOURCE"), NULL},
};

const char *palette_arg_name(const struct cmd *c)
{
    for (size_t i = 0; i < ARRAY_LEN(takes); i++)
        if (str_eq(takes[i].command, c->name))
            return _(takes[i].name);
    return "";
}

int palette_args(const struct app *a, struct arena *arena, const char *out[PALETTE_ARGS])
{
    const char *space = strchr(a->prompt.text, ' ');
    int n = 0;
    if (!space)
        return 0;
    for (size_t i = 0; i < ARRAY_LEN(takes); i++) {
        size_t len = strlen(takes[i].command);
        if (!takes[i].at || len != (size_t)(space - a->prompt.text) ||
            memcmp(takes[i].command, a->prompt.text, len) != 0)
            continue;
        char buf[160];
        const char *text;
        for (int k = 0; n < PALETTE_ARGS && (text = takes[i].at(a, k, buf)); k++)
            if (palette_score(text, space + 1, strlen(space + 1)) >= (space[1] ? 4 : 1))
                out[n++] = arena_strdup(arena, text);
    }
    return n;
}

/* --- choosing ------------------------------------------------------------------ */
static int candidates(const struct app *a)
{
    const struct cmd *cmds[PALETTE_MOST];
    const char *args[PALETTE_ARGS];
    struct arena arena;
    if (!strchr(a->prompt.text, ' '))
        return palette_find(a, cmds);
    arena_init(&arena, 1 << 20);
    int n = palette_args(a, &arena, args);
    arena_release(&arena);
    return n;
}

void palette_choose(struct app *a, int by)
{
    a->prompt.sel = MIN(MAX(a->prompt.sel + by, 0), MAX(candidates(a) - 1, 0));
}

static void put(struct app *a, const char *command, const char *arg)
{
    struct app_prompt *p = &a->prompt;
    str_fmt(p->text, sizeof p->text, "%s %s", command, arg);
    p->cursor = (int)strlen(p->text);
    p->sel = 0;
}

/* The marked argument; false: there is none. */
static bool complete_arg(struct app *a)
{
    const char *args[PALETTE_ARGS];
    struct arena arena;
    char command[64];
    arena_init(&arena, 1 << 20);
    int n = palette_args(a, &arena, args);
    bool has = a->prompt.sel < n;
    str_copy(command, MIN(sizeof command, strcspn(a->prompt.text, " ") + 1), a->prompt.text);
    if (has)
        put(a, command, args[a->prompt.sel]);
    arena_release(&arena);
    return has;
}

void palette_complete(struct app *a)
{
    const struct cmd *found[PALETTE_MOST];
    if (strchr(a->prompt.text, ' ')) {
        complete_arg(a);
        return;
    }
    int n = palette_find(a, found);
    if (a->prompt.sel < n)
        put(a, found[a->prompt.sel]->name, "");
}

void palette_ran(struct app *a, const struct cmd *c)
{
    int at = 0;
    while (at < APP_RECENT_MOST - 1 && a->recent[at] != c)
        at++;
    memmove(a->recent + 1, a->recent, sizeof a->recent[0] * (size_t)at);
    a->recent[0] = c;
}

/* A name typed whole, else the marked one. */
static const struct cmd *meant(const struct app *a)
{
    const struct cmd *found[PALETTE_MOST];
    char name[64];
    str_copy(name, MIN(sizeof name, strcspn(a->prompt.text, " ") + 1), a->prompt.text);
    const struct cmd *c = cmd_by_name(name);
    int n = palette_find(a, found);
    bool args = strchr(a->prompt.text, ' ') != NULL;
    if (c && (c->views & VIEWS_MAIN) && (args || a->prompt.sel == 0))
        return c;
    return a->prompt.sel < n && !args ? found[a->prompt.sel] : NULL;
}

void palette_accept(struct app *a, struct effects *out)
{
    const char *space = strchr(a->prompt.text, ' ');
    if (space && a->prompt.sel > 0)
        complete_arg(a);
    const struct cmd *c = meant(a);
    char name[64], rest[512];
    space = strchr(a->prompt.text, ' ');
    str_copy(rest, sizeof rest, space ? space + 1 : "");
    str_copy(name, MIN(sizeof name, strcspn(a->prompt.text, " ") + 1), a->prompt.text);
    a->prompt.kind = PROMPT_NONE;
    if (!c) {
        app_note(a, true, _("there is no command '%s'"), name);
        return;
    }
    a->note[0] = '\0';
    const char *reason = palette_reason(a, c);
    if (reason) {
        app_note(a, true, "%s: %s", c->name, reason);
        return;
    }
    palette_ran(a, c);
    app_command(a, c->name, rest[0] ? rest : NULL, out);
}

/* --- drawing ------------------------------------------------------------------- */
static void command_row(const struct app *a, struct rows *rows, const struct cmd *c, int w)
{
    char keys[48], name[96];
    const char *reason = palette_reason(a, c), *arg = palette_arg_name(c);
    str_fmt(name, sizeof name, "%s %s", c->name, arg);
    int name_w = w >= 60 ? PALETTE_NAME + 8 : PALETTE_NAME;
    rows_cell(rows, reason ? ROLE_MUTED : ROLE_STRONG, w >= 60 ? name : c->name, name_w - 1);
    rows_put(rows, ROLE_TEXT, " ");
    cmd_key_label(cmd_keys(a, c, app_view_below(a)), keys);
    rows_cell(rows, reason ? ROLE_MUTED : ROLE_KEY, keys, PALETTE_KEYS - 1);
    rows_put(rows, ROLE_TEXT, " ");
    int room = MAX(w - name_w - PALETTE_KEYS, 4);
    char text[512];
    str_fmt(text, sizeof text, reason ? "(%s) %s" : "%s%s", reason ? reason : "", _(c->help));
    rows_cell(rows, reason ? ROLE_MUTED : ROLE_TEXT, text, room);
}

static void list_box(const struct app *a, struct grid *g, struct rows *rows, const char *head)
{
    int n = rows->n, h = MIN(MIN(n, PALETTE_ROWS), a->rows - 5), w = MIN(a->cols, PALETTE_WIDE);
    int top = MIN(MAX(a->prompt.sel - h + 1, 0), MAX(n - h, 0));
    struct rect r = {0, a->rows - 2 - h - 2, w, h + 2};
    char foot[48];
    if (n == 0 || h < 1)
        return;
    grid_fill(g, r, ROLE_TEXT, 0, " ");
    screen_box(g, a->glyphs, r, true);
    screen_heading(g, a->glyphs, r, r.y, false, ROLE_STRONG, head);
    str_fmt(foot, sizeof foot, "%d/%d", MIN(a->prompt.sel, n - 1) + 1, n);
    screen_heading(g, a->glyphs, r, r.y + r.h - 1, true, ROLE_MUTED, foot);
    screen_rows(g, rows, top, h, (struct rect){r.x + 2, r.y + 1, w - 4, h});
    if (a->prompt.sel < n)
        grid_paint(g, (struct rect){r.x + 1, r.y + 1 + a->prompt.sel - top, w - 2, 1},
                   ATTR_REVERSE);
}

void palette_draw(const struct app *a, struct grid *g)
{
    struct rows rows;
    int w = MIN(a->cols, PALETTE_WIDE) - 4;
    rows_init(&rows, a->glyphs);
    if (strchr(a->prompt.text, ' ')) {
        const char *args[PALETTE_ARGS];
        int n = palette_args(a, &rows.arena, args);
        for (int i = 0; i < n; i++) {
            rows_new(&rows, i);
            rows_cell(&rows, ROLE_STRONG, args[i], w);
        }
        list_box(a, g, &rows, _("Arguments"));
    } else {
        const struct cmd *v[PALETTE_MOST];
        int n = palette_find(a, v);
        for (int i = 0; i < n; i++) {
            rows_new(&rows, i);
            command_row(a, &rows, v[i], w);
        }
        list_box(a, g, &rows, _("Commands"));
    }
    rows_release(&rows);
}
