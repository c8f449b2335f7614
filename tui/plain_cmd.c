/* plain_cmd.c - a typed line is a number of the menu, a word of the plain
 * console, or a command of the console's table by its name, the end of its name
 * or its key; or the answer to what a command asked. */
#include "core/base/i18n.h"
#include "tui/plain_priv.h"

/* Commands that only move something on a screen. */
static bool on_screen_only(const struct cmd *c)
{
    static const char *const names[] = {
        "down", "up", "top", "bottom", "zoom", "redraw", "theme", "glyphs", "palette", "suspend",
        "copy", "help", "back", "quit", "interrupt", "lab.open", "page.", "tab.", "pane.",
        "copy.", "edit.", "confirm.", "curve.", "log.wrap", "log.keep", "api.", "keys.", "big",
        "mouse", "step.edit", "select", "step.notes", "why", "pod.log", "ctx.", "ns.", "conn.",
        "rights."};
    if (str_eq(c->name, "curve.export"))
        return false;
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        if (str_ends(names[i], ".") ? str_starts(c->name, names[i]) : str_eq(c->name, names[i]))
            return true;
    return false;
}

static bool here(const struct cmd *c, const struct app *a)
{
    return (c->views & (a->s->lab ? VIEWS_LAB : VIEW_CATALOGUE)) && !on_screen_only(c);
}

/* --- what is sent --------------------------------------------------------------------- */
void plain_command(struct plain *p, const char *name, const char *a, const char *b)
{
    struct json *body = json_new_object(), *args = json_new_array();
    json_put_str(body, "name", name);
    if (a)
        json_append(args, json_new_string(a));
    if (b)
        json_append(args, json_new_string(b));
    json_set(body, "args", args);
    p->send(p->arg, msg_new(MSG_COMMAND, body));
}

static void key(struct plain *p, const char *name)
{
    struct json *body = json_new_object();
    json_put_str(body, "key", name);
    p->send(p->arg, msg_new(MSG_KEY, body));
}

static void answer(struct plain *p, const char *line)
{
    struct json *body = json_new_object();
    if (p->app->prompt.kind == PROMPT_CONFIRM) {
        bool yes = str_eq(line, "yes") || str_eq(line, "y") || str_eq(line, "是");
        json_free(body);
        key(p, yes ? "y" : "n");
        return;
    }
    json_put_str(body, "text", line);
    if (*line)
        key(p, "C-u");
    p->send(p->arg, msg_new(MSG_PASTE, body));
    key(p, "Enter");
}


/* A view that a command opened is read out, and left again. */
static void read_view(struct plain *p)
{
    const struct app *a = p->app;
    if (a->over_n == 0 && a->focus == (a->s->lab ? PANEL_STEP : PANEL_CATALOGUE))
        return;
    if (a->focus == PANEL_LOG)
        plain_line(&p->out, "%s", _("The log is followed now. Type log to read it."));
    else
        plain_panel(a, a->focus, p->width, &p->out);
    plain_command(p, "home", NULL, NULL);
}

static void run(struct plain *p, const struct cmd *c, const char *arg)
{
    if (!here(c, p->app) || !cmd_enabled(c, p->app)) {
        plain_line(&p->out, on_screen_only(c) ? _("%s is of the screen; it has no use here. (%s)")
                                              : _("%s can't be done now. (%s)"),
                   c->name, _(c->help));
        return;
    }
    if (str_eq(c->name, "quiz.answer") && !*arg && plain_quiz_open(p->app) >= 0)
        plain_question(p->app, plain_quiz_open(p->app), &p->out);
    plain_command(p, c->name, *arg ? arg : NULL, NULL);
    read_view(p);
    if (str_eq(c->name, "step.check"))
        plain_checks(p->app, &p->out);
}

/* --- which command is meant ---------------------------------------------------------- */
static const struct cmd *by_end(const struct app *a, const char *word)
{
    const struct cmd *found = NULL;
    for (size_t i = 0; i < cmd_count(); i++) {
        const struct cmd *c = cmd_at(i);
        const char *dot = strrchr(c->name, '.');
        if (!dot || !str_eq(dot + 1, word) || !here(c, a))
            continue;
        if (!found || (cmd_enabled(c, a) && !cmd_enabled(found, a)))
            found = c;
    }
    return found;
}

/* A key as people type it: "space" for Space. */
static const struct cmd *by_key(const struct app *a, const char *word)
{
    static const enum view views[] = {VIEW_STEP, VIEW_CURVE, VIEW_LOG, VIEW_CLUSTER};
    const char *key = str_eq(word, "space") ? "Space" : word;
    if (!a->s->lab)
        return cmd_for_key(a, VIEW_CATALOGUE, key);
    for (size_t i = 0; i < ARRAY_LEN(views); i++) {
        const struct cmd *c = cmd_for_key(a, views[i], key);
        if (c && !on_screen_only(c))
            return c;
    }
    return NULL;
}

static const char *nearest(const struct app *a, const char *word)
{
    const char *names[256];
    size_t n = 0;
    for (size_t i = 0; plain_word_at(i) && n < ARRAY_LEN(names); i++)
        names[n++] = plain_word_at(i)->name;
    for (size_t i = 0; i < cmd_count() && n + 1 < ARRAY_LEN(names); i++) {
        const char *dot = strrchr(cmd_at(i)->name, '.');
        if (!here(cmd_at(i), a))
            continue;
        names[n++] = cmd_at(i)->name;
        if (dot)
            names[n++] = dot + 1;
    }
    return str_nearest(word, names, n);
}

/* "e" and "q" are keys whose commands are words here. */
static const char *own_key(const struct app *a, const char *word)
{
    static const struct { const char *command, *word; } same[] = {
        {"step.edit", "edit"}, {"edit.open", "edit"}, {"back", "close"}, {"quit", "quit"},
        {"help", "help"}, {"tab.cluster", "pods"}, {"tab.log", "log"}, {"tab.curve", "curve"},
        {"tab.api", "api"}, {"tab.why", "why"}, {"why", "why"}, {"step.notes", "notes"},
        {"lab.open", "open"}};
    const struct cmd *c = cmd_by_name(word);
    if (!c)
        c = cmd_for_key(a, a->s->lab ? VIEW_STEP : VIEW_CATALOGUE, word);
    for (size_t i = 0; c && i < ARRAY_LEN(same); i++)
        if (str_eq(c->name, same[i].command))
            return same[i].word;
    return word;
}

static void unknown(struct plain *p, const char *word)
{
    const char *near = nearest(p->app, word);
    if (near)
        plain_line(&p->out, _("There is no command '%s'. Did you mean %s?"), word, near);
    else
        plain_line(&p->out, _("There is no command '%s'. Type help for all that work now."), word);
}

static void word(struct plain *p, const char *name, const char *arg)
{
    const struct app *a = p->app;
    const struct plain_word *w = plain_word_by_name(name);
    if (!w)
        w = plain_word_by_name(own_key(a, name));
    const struct cmd *c = w ? NULL : cmd_by_name(name);
    if (!w && !c)
        c = by_end(a, name);
    if (!w && !c)
        c = by_key(a, name);
    if (w && w->lab && !plain_loaded(a))
        plain_line(&p->out, _("%s needs an open lab. Type a lab's number first."), w->name);
    else if (w)
        w->run(p, arg);
    else if (c)
        run(p, c, arg);
    else
        unknown(p, name);
}

/* A number of the menu; in the list of labs, a lab. */
static bool number(struct plain *p, const char *text)
{
    int64_t n;
    if (!str_to_i64(text, &n))
        return false;
    if (!p->app->s->lab && n >= 1 && n <= (int64_t)p->app->labs->n)
        word(p, "open", text);
    else if (n >= 1 && n <= p->menu_n)
        word(p, p->menu[n - 1], "");
    else
        plain_line(&p->out, _("There is no %s in the menu. Type menu to hear it."), text);
    return true;
}

/* The name or the title of a lab opens it from the list. */
static bool lab_named(struct plain *p, const char *text)
{
    for (size_t i = 0; !p->app->s->lab && i < p->app->labs->n; i++) {
        const struct lab *lab = p->app->labs->v[i].lab;
        if (!lab || (!str_eq(lab->id, text) && !str_eq(ltext_get(&lab->title), text)))
            continue;
        plain_command(p, "lab.open", lab->id, NULL);
        return true;
    }
    return false;
}

void plain_take(struct plain *p, const char *line)
{
    char text[4096];
    str_copy(text, sizeof text, line + strspn(line, " \t"));
    size_t n = strlen(text);
    while (n > 0 && strchr(" \t\r", text[n - 1]))
        text[--n] = '\0';
    p->app->note[0] = p->say.note[0] = '\0';
    if (p->app->prompt.kind != PROMPT_NONE) {
        answer(p, text);
        return;
    }
    if (!*text || *text == '#' || number(p, text) || lab_named(p, text))
        return;
    char *blank = strpbrk(text, " \t");
    if (blank)
        *blank++ = '\0';
    word(p, text, blank ? blank + strspn(blank, " \t") : "");
}

/* --- prompt ---------------------------------------------------------------------------- */
void plain_prompt(const struct plain *p, struct str *out)
{
    const struct app *a = p->app;
    if (a->prompt.kind == PROMPT_CONFIRM)
        str_printf(out, _("yes or no? "));
    else if (a->prompt.kind != PROMPT_NONE)
        str_printf(out, "%s? ", a->prompt.title);
    else if (!a->s->lab)
        str_printf(out, _("lab? "));
    else
        str_printf(out, _("step %d of %d> "), a->s->step + 1, a->s->lab->steps_n);
}

/* What a command asked for is said once, before the prompt. */
static void say_question(struct plain *p)
{
    const struct app_prompt *q = &p->app->prompt;
    if (q->kind == PROMPT_CONFIRM)
        plain_line(&p->out, _("%s %s Type yes to do it, anything else leaves it."), q->title,
                   q->lost);
    else if (q->kind == PROMPT_ASK && q->text[0])
        plain_line(&p->out, _("%s? Enter alone takes %s."), q->title, q->text);
    else if (q->kind == PROMPT_ASK)
        plain_line(&p->out, _("%s? Type it and Enter."), q->title);
}

void plain_look(struct plain *p)
{
    plain_say_changes(&p->say, p->app, &p->out);
    if (p->app->prompt.kind != p->asked)
        say_question(p);
    p->asked = p->app->prompt.kind;
    plain_tell_look(p);
    plain_wait_look(p);
}

/* While a lab's progress is read, an explanation is looked for, or something is
 * waited for, lines wait too: they are about what comes. */
bool plain_free(const struct plain *p)
{
    const struct session *s = p->app->s;
    return p->wait.kind == PLAIN_WAIT_NONE && (!s->lab || session_ready(s)) &&
           !p->app->why.child && p->tell == PLAIN_TELL_NONE && !p->leave;
}

/* The menu's numbers and the help's list are of the same commands. */
bool plain_offers(const struct app *a, const struct cmd *c)
{
    return here(c, a) && cmd_enabled(c, a);
}
