/* plain_words.c - the words of the plain console itself: reading, waiting,
 * editing, opening, leaving. One table drives dispatch and help. */
#include "core/base/i18n.h"
#include "tui/plain_priv.h"

enum { LOG_LINES = 20, EVENT_LINES = 10, API_LINES = 10 };

static int count(const char *arg, int otherwise)
{
    int64_t n;
    return str_to_i64(arg, &n) && n > 0 && n < 100000 ? (int)n : otherwise;
}

/* --- menu and help -------------------------------------------------------------------- */
static void menu_item(struct plain *p, const char *name, const char *text)
{
    p->menu[p->menu_n++] = name;
    plain_line(&p->out, "%d. %s: %s.", p->menu_n, name, text);
}

static void menu(struct plain *p, const char *arg UNUSED)
{
    const struct app *a = p->app;
    if (!a->s->lab) {
        plain_labs(a, &p->out);
        return;
    }
    p->menu_n = 0;
    plain_line(&p->out, "%s", _("You can do this now; type the number or the word:"));
    menu_item(p, "read", _("the text of this step"));
    if (cmd_has_edit(a))
        menu_item(p, "edit", _("the file of this step"));
    for (int rank = 1; rank <= 20; rank++)
        for (size_t i = 0; i < cmd_count(); i++) {
            const struct cmd *c = cmd_at(i);
            if (c->rank == rank && (c->row & (VIEW_STEP | VIEW_CURVE)) && plain_offers(a, c) &&
                p->menu_n < (int)ARRAY_LEN(p->menu) - 3)
                menu_item(p, c->name, _(c->help));
        }
    menu_item(p, "status", _("how things stand"));
    menu_item(p, "close", _("back to the list of labs"));
}

static void help_word(struct plain *p, const struct plain_word *w)
{
    if (w->lab && !p->app->s->lab)
        return;
    const char *args = w->args[0] ? _(w->args) : "";
    plain_line(&p->out, "%s%s%s: %s.", w->name, *args ? " " : "", args, _(w->help));
}

static void help(struct plain *p, const char *arg UNUSED)
{
    const struct app *a = p->app;
    plain_line(&p->out, "%s", _("Type a command and Enter. Everything here works now."));
    for (size_t i = 0; plain_word_at(i); i++)
        help_word(p, plain_word_at(i));
    for (size_t i = 0; i < cmd_count(); i++) {
        const struct cmd *c = cmd_at(i);
        char keys[48];
        if (!plain_offers(a, c) || plain_word_by_name(c->name))
            continue;
        const char *k = cmd_keys(a, c, VIEW_STEP);
        cmd_keys_label(k && *k ? k : c->keys, keys);
        if (keys[0])
            plain_line(&p->out, _("%s, or %s: %s."), c->name, keys, _(c->help));
        else
            plain_line(&p->out, "%s: %s.", c->name, _(c->help));
    }
    plain_line(&p->out, "%s",
               _("The end of a name is enough: run for step.run. Where a step's text names a key, "
                 "type the key and Enter; where it names a panel, type pods, nodes, events, log, "
                 "curve or api."));
    plain_line(&p->out, "%s", _("Ctrl-C cancels what runs, twice leaves; Ctrl-D leaves."));
}

/* --- reading ---------------------------------------------------------------------------- */
static void where(struct plain *p, const char *arg UNUSED)
{
    plain_where(p->app, &p->out);
}

static void read_step(struct plain *p, const char *arg UNUSED)
{
    plain_read(p->app, &p->out);
}

static void status(struct plain *p, const char *arg UNUSED)
{
    plain_status(p->app, &p->out);
}

static void checks(struct plain *p, const char *arg UNUSED)
{
    plain_checks(p->app, &p->out);
}

static void steps(struct plain *p, const char *arg UNUSED)
{
    plain_steps(p->app, &p->out);
}

static void list_labs(struct plain *p, const char *arg UNUSED)
{
    plain_labs(p->app, &p->out);
}

static void pods(struct plain *p, const char *arg UNUSED)
{
    plain_pods(p->app, &p->out);
}

static void nodes(struct plain *p, const char *arg UNUSED)
{
    plain_nodes(p->app, &p->out);
}

static void events(struct plain *p, const char *arg)
{
    plain_events(p->app, count(arg, EVENT_LINES), &p->out);
}

static void log_lines(struct plain *p, const char *arg)
{
    plain_log(p->app, count(arg, LOG_LINES), &p->out);
}

static void follow(struct plain *p, const char *arg)
{
    if (!*arg) {
        plain_pods(p->app, &p->out);
        plain_line(&p->out, "%s", _("Type follow and a pod's name."));
        return;
    }
    plain_command(p, "log.follow", arg, NULL);
    plain_line(&p->out, _("The log of %s is followed. Type log to read it."), arg);
}

static void api(struct plain *p, const char *arg)
{
    plain_api(p->app, count(arg, API_LINES), &p->out);
}

static void curve(struct plain *p, const char *arg UNUSED)
{
    plain_curve(p->app, &p->out);
}

/* A name alone is a pod's. What is explained is said when it is known; the tab
 * is left, so that it is not looked at again and again. */
static void why(struct plain *p, const char *arg)
{
    char object[200];
    if (!*arg) {
        plain_why(p->app, &p->out);
        return;
    }
    p->say.why[0] = '\0';
    plain_command(p, "why", str_fmt(object, sizeof object, strchr(arg, '/') ? "%s" : "pod/%s", arg),
                  NULL);
    plain_command(p, "home", NULL, NULL);
    plain_line(&p->out, _("Looking at the objects, events and log of %s."), object);
}

static void notes(struct plain *p, const char *arg UNUSED)
{
    plain_notes(p->app, &p->out);
}

/* --- doing ------------------------------------------------------------------------------ */
static void open_lab(struct plain *p, const char *arg)
{
    int64_t n;
    const struct lab_list *l = p->app->labs;
    if (!*arg) {
        plain_labs(p->app, &p->out);
    } else if (str_to_i64(arg, &n) && n >= 1 && n <= (int64_t)l->n) {
        const struct lab_entry *e = &l->v[n - 1];
        if (e->lab)
            plain_command(p, "lab.open", e->lab->id, NULL);
        else
            plain_line(&p->out, _("This lab can't be read: %s, line %d, column %d: %s"),
                       e->err.src, e->err.line, e->err.col, e->err.msg);
    } else {
        plain_command(p, "lab.open", arg, NULL);
    }
}

static void close_lab(struct plain *p, const char *arg UNUSED)
{
    plain_command(p, "lab.close", NULL, NULL);
}

static void leave(struct plain *p, const char *arg UNUSED)
{
    p->leave = true;
}

static void quiet(struct plain *p, const char *arg)
{
    p->say.quiet = *arg ? !str_eq(arg, "off") : !p->say.quiet;
    plain_line(&p->out, "%s", p->say.quiet
                                  ? _("Quiet: results, errors and what you ask for are said.")
                                  : _("Not quiet: progress is said too."));
}

static const struct plain_word words[] = {
    {"help", "?", help, false, "", N_("every command that works now")},
    {"menu", "", menu, false, "", N_("what you can do now, by number")},
    {"where", "", where, false, "", N_("where you are")},
    {"status", "", status, false, "", N_("where you are, what runs, the cluster")},
    {"read", "", read_step, false, "", N_("the text of this step")},
    {"steps", "", steps, true, "", N_("all steps of the lab and how far you are")},
    {"checks", "", checks, true, "", N_("what each check of this step says")},
    {"notes", "", notes, true, "", N_("the notes to this step")},
    {"labs", "", list_labs, false, "", N_("the list of labs")},
    {"open", "", open_lab, false, N_("LAB"), N_("open a lab by number or name")},
    {"close", "", close_lab, true, "", N_("close the lab; what you did is kept")},
    {"edit", "", plain_edit, true, N_("[FILE]"), N_("edit the file of this step")},
    {"show", "", plain_show, true, N_("[FILE]"), N_("read a file with its line numbers")},
    {"replace", "", plain_replace, true, N_("FIND => PUT"), N_("change a text in the file")},
    {"line", "", plain_set_line, true, N_("N => TEXT"), N_("give line N another text")},
    {"insert", "", plain_insert_line, true, N_("N => TEXT"), N_("a new line before line N")},
    {"delete", "", plain_delete_line, true, N_("N"), N_("drop line N of the file")},
    {"undo", "", plain_undo, false, "", N_("take the last change back")},
    {"wait", "", plain_wait_begin, false, N_("WHAT [SECONDS]"),
     N_("wait for checks, run, op, link or step N")},
    {"nodes", "", nodes, false, "", N_("the nodes of the cluster")},
    {"pods", "", pods, false, "", N_("the pods of the namespace")},
    {"events", "", events, false, N_("[N]"), N_("the newest events")},
    {"log", "", log_lines, false, N_("[N]"), N_("the newest lines of the log")},
    {"follow", "", follow, false, N_("POD"), N_("follow the log of a pod")},
    {"curve", "", curve, true, "", N_("the loss curve in words and numbers")},
    {"api", "", api, false, N_("[N]"), N_("the newest API calls, as kubectl would")},
    {"why", "", why, false, N_("[POD]"), N_("what is wrong; or why a pod or job/NAME is not well")},
    {"ctx", "", plain_ctx, false, N_("[NAME]"), N_("the contexts; with a name, go there")},
    {"ns", "", plain_ns, false, N_("[NAME]"), N_("the namespaces; with any name, go there")},
    {"conn", "", plain_conn, false, "",
     N_("server, user, certificates, latency, age of the lists")},
    {"can", "", plain_can, false, N_("[VERB RESOURCE]"), N_("may you do this? VERB RESOURCE")},
    {"rights", "", plain_rights, false, "", N_("what you may do here, and the Role to ask for")},
    {"quiet", "", quiet, false, N_("[on|off]"), N_("say results and errors only")},
    {"quit", "exit", leave, false, "", N_("leave podium; what you did is kept")},
};

const struct plain_word *plain_word_at(size_t i)
{
    return i < ARRAY_LEN(words) ? &words[i] : NULL;
}

const struct plain_word *plain_word_by_name(const char *name)
{
    for (size_t i = 0; i < ARRAY_LEN(words); i++)
        if (str_eq(words[i].name, name) || (*words[i].other && str_eq(words[i].other, name)))
            return &words[i];
    return NULL;
}
