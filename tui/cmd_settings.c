/* cmd_settings.c - the settings screen: choosing, saving, taking back. */
#include "core/base/i18n.h"
#include "core/base/mem.h"
#include "core/base/yaml.h"
#include "tui/cmd.h"
#include "tui/settings.h"

static const char first_line[] = "# podium's settings: docs/CONSOLE.md says what each one does\n";

void cmd_settings(struct app *a, const char *arg UNUSED, struct effects *out UNUSED)
{
    app_over(a, PANEL_SETTINGS);
}

/* Write one setting into the person's file; false: it holds for this session. */
static bool save(struct app *a, enum setting i, const char *value, struct effects *out)
{
    struct str text;
    const char *old = a->files.config_text ? a->files.config_text : first_line;
    if (!a->files.config_path[0])
        return false;
    str_init(&text, KEYMAP_BYTES_MOST);
    bool ok = config_edit(old, settings_at(i)->name, str_eq(value, "auto") ? NULL : value, &text);
    if (ok) {
        struct json *args = json_new_object();
        json_put_str(args, "path", a->files.config_path);
        json_put_str(args, "text", text.p);
        a->files.write = effects_add(out, EFF_WRITE, 0, 0, args);
        free(a->files.config_text);
        a->files.config_text = str_take(&text);
    }
    str_release(&text);
    return ok;
}

static void say(struct app *a, enum setting i, bool saved)
{
    char buf[64];
    const char *value = settings_at(i)->get(a, buf), *label = _(settings_at(i)->label);
    if (saved)
        app_note(a, false, _("%s: %s"), label, value);
    else if (a->files.config_path[0])
        app_note(a, true, _("%s: %s until podium ends; %s can't be changed by podium, see its "
                            "mistakes"), label, value, a->files.config_path);
    else
        app_note(a, false, _("%s: %s until podium ends"), label, value);
}

static void change(struct app *a, enum setting i, const char *value, struct effects *out)
{
    char buf[64], was[64], arg[160], what[160], why[320];
    const struct setting_def *d = settings_at(i);
    str_copy(was, sizeof was, a->set_from[i] == FROM_AUTO ? "auto" : d->get(a, buf));
    if (!settings_set(a, i, value, FROM_FILE)) {
        app_note(a, true, "%s", settings_refusal(a, i, value, why, sizeof why));
        return;
    }
    bool saved = save(a, i, value, out);
    if (!saved && a->set_from[i] == FROM_FILE)
        a->set_from[i] = FROM_HERE;
    str_fmt(arg, sizeof arg, "%s %s", d->name, was);
    str_fmt(what, sizeof what, "%s: %s", _(d->label), d->get(a, buf));
    app_undo_push(a, what, "set", arg);
    say(a, i, saved);
}

/* arg: "NAME VALUE"; without one the screen opens. */
void cmd_set(struct app *a, const char *arg, struct effects *out)
{
    const char *value = arg ? strchr(arg, ' ') : NULL;
    char name[32];
    if (!arg) {
        app_over(a, PANEL_SETTINGS);
        return;
    }
    str_copy(name, MIN(sizeof name, strcspn(arg, " ") + 1), arg);
    int i = settings_by_name(name);
    if (i < 0)
        app_note(a, true, _("there is no setting '%.40s'%s"), name, "");
    else if (!value || !value[1])
        a->sel[PANEL_SETTINGS] = i, app_over(a, PANEL_SETTINGS);
    else
        change(a, (enum setting)i, value + 1, out);
}

static enum setting selected(const struct app *a)
{
    return (enum setting)MIN(MAX(a->sel[PANEL_SETTINGS], 0), SET_COUNT - 1);
}

void cmd_set_next(struct app *a, const char *arg UNUSED, struct effects *out)
{
    change(a, selected(a), settings_step(a, selected(a), 1), out);
}

void cmd_set_prev(struct app *a, const char *arg UNUSED, struct effects *out)
{
    change(a, selected(a), settings_step(a, selected(a), -1), out);
}

void cmd_set_auto(struct app *a, const char *arg UNUSED, struct effects *out)
{
    change(a, selected(a), "auto", out);
}

bool cmd_has_undo(const struct app *a)
{
    return a->undo_n > 0;
}

/* What takes a change back is itself a change: it is forgotten, so that undo
 * walks back and not to and fro. */
void cmd_undo(struct app *a, const char *arg UNUSED, struct effects *out)
{
    if (a->undo_n == 0)
        return;
    struct app_undo u = a->undo[--a->undo_n];
    int before = a->undo_n;
    app_command(a, u.command, u.arg, out);
    a->undo_n = MIN(a->undo_n, before);
    if (!a->note_bad)
        app_note(a, false, _("taken back: %s"), u.what);
}

/* --- what the console tells at the start ------------------------------------------- */
/* "set.from" NAME VALUE auto|file|env|flag */
void cmd_set_from(struct app *a, const struct msg *m)
{
    static const char *const froms[] = {"auto", "file", "env", "flag"};
    const char *value = json_str(m->body, "args[1]", ""), *from = json_str(m->body, "args[2]", "");
    int i = settings_by_name(json_str(m->body, "args[0]", ""));
    char why[320];
    for (size_t k = 0; k < ARRAY_LEN(froms) && i >= 0; k++)
        if (str_eq(froms[k], from) && !settings_set(a, (enum setting)i, value, (enum set_from)k))
            app_note(a, true, "%s", settings_refusal(a, (enum setting)i, value, why, sizeof why));
}

/* What the file says, for all that no flag and no variable has set. */
static void take_values(struct app *a, const char *const values[SET_COUNT])
{
    for (int i = 0; i < SET_COUNT; i++) {
        bool over = a->set_from[i] == FROM_ENV || a->set_from[i] == FROM_FLAG;
        if (values[i] && !over)
            settings_set(a, (enum setting)i, values[i], FROM_FILE);
        else if (a->set_from[i] == FROM_FILE)
            settings_set(a, (enum setting)i, "auto", FROM_AUTO);
    }
}

static void say_faults(struct app *a, const struct faults *f)
{
    for (size_t i = 0; i < f->n; i++)
        if (f->v[i].code != PD_OK)
            app_fault(a, &f->v[i]);
    if (f->bad > 1)
        app_note(a, true, _("%s has %zu mistakes; the rest of it holds"), f->v[0].src, f->bad);
}

static void config_file(struct app *a, const char *text)
{
    const char *values[SET_COUNT];
    struct ydoc *docs;
    struct faults faults = {0};
    if (str_eq(a->files.config_text, text))
        return;
    free(a->files.config_text);
    a->files.config_text = text ? xstrdup(text) : NULL;
    config_parse(a->files.config_path, text ? text : "", text ? strlen(text) : 0, values, &docs,
                 &faults);
    take_values(a, values);
    say_faults(a, &faults);
    yaml_docs_free(docs);
    faults_release(&faults);
}

static void keys_file(struct app *a, const char *text)
{
    struct faults faults = {0};
    if (str_eq(a->files.keys_text, text))
        return;
    free(a->files.keys_text);
    a->files.keys_text = text ? xstrdup(text) : NULL;
    keymap_release(&a->keymap);
    keymap_parse(a->files.keys_path, text ? text : "", text ? strlen(text) : 0, &a->keymap,
                 &faults);
    say_faults(a, &faults);
    faults_release(&faults);
}

bool cmd_own_file(struct app *a, const struct msg *m)
{
    const char *path = json_str(m->body, "path", ""), *text = json_str(m->body, "text", NULL);
    if (!*path)
        return false;
    if (str_eq(path, a->files.config_path))
        config_file(a, text);
    else if (str_eq(path, a->files.keys_path))
        keys_file(a, text);
    else
        return false;
    return true;
}
