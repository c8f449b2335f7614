/* panel_keys.c - all commands with their keys, from the table that dispatches. */
#include "core/base/i18n.h"
#include "core/base/path.h"
#include "core/base/utf8.h"
#include "tui/cmd.h"
#include "tui/help.h"
#include "tui/panel.h"

static bool shown(const struct app *a, const struct cmd *c)
{
    if (!c->keys[0] && !(c->views & VIEWS_MAIN))
        return false;            /* what others run by name */
    return help_has(c->name, a->keys_find) || help_has(_(c->help), a->keys_find) ||
           help_has(c->keys, a->keys_find);
}

static const char *title(const struct app *a, char buf[160])
{
    if (a->keys_find[0])
        return str_fmt(buf, 160, "%s /%s", _("Keys"), a->keys_find);
    size_t n = 0;
    for (size_t i = 0; i < cmd_count(); i++)
        n += shown(a, cmd_at(i));
    return str_fmt(buf, 160, _("Keys  %zu commands"), n);
}

static const char *foot(const struct app *a, char buf[160])
{
    return str_copy(buf, 160, a->files.keys_path[0] ? path_base(a->files.keys_path) : "");
}

static unsigned first_view(const struct cmd *c)
{
    for (size_t i = 0; keymap_view_at(i); i++)
        if (c->views & keymap_view_at(i))
            return keymap_view_at(i);
    return 0;
}

/* Views where the keys are not those of the first one. */
static void others(const struct app *a, struct rows *out, const struct cmd *c, unsigned first)
{
    const char *usual = cmd_keys(a, c, first);
    for (size_t i = 0; keymap_view_at(i); i++) {
        unsigned v = keymap_view_at(i);
        char keys[48];
        if (!(c->views & v) || str_eq(cmd_keys(a, c, v), usual))
            continue;
        rows_new(out, -1);
        rows_putf(out, ROLE_MUTED, "  %s  ", keymap_view_name(v));
        rows_put(out, ROLE_KEY, cmd_keys_label(cmd_keys(a, c, v), keys));
    }
}

static void one(const struct app *a, struct rows *out, int at, const struct cmd *c, int w)
{
    unsigned view = first_view(c);
    char keys[48], def[48];
    int name_w = w >= 60 ? 18 : 15, keys_w = w >= 60 ? 16 : w - name_w;
    bool own = !str_eq(cmd_keys(a, c, view), c->keys);
    rows_new(out, at);
    rows_cell(out, ROLE_TEXT, c->name, name_w);
    cmd_keys_label(cmd_keys(a, c, view), keys);
    rows_cell(out, own ? ROLE_STRONG : ROLE_KEY, keys, keys_w);
    if (w < 60) {
        others(a, out, c, view);
        return;
    }
    int def_w = w >= 100 ? 16 : 0;
    if (def_w)
        rows_cell(out, ROLE_MUTED, own ? cmd_keys_label(c->keys, def) : "", def_w);
    rows_cell(out, ROLE_TEXT, _(c->help), w - name_w - keys_w - def_w);
    others(a, out, c, view);
}

static void rows(const struct app *a, struct rows *out, int w, int h UNUSED)
{
    rows_new(out, -1);
    rows_cell(out, ROLE_MUTED, _("Command"), w >= 60 ? 18 : 15);
    rows_cell(out, ROLE_MUTED, _("Keys"), w >= 60 ? 16 : w - 15);
    if (w >= 100)
        rows_cell(out, ROLE_MUTED, _("By default"), 16);
    if (w >= 60)
        rows_cell(out, ROLE_MUTED, _("What it does"), w - 34 - (w >= 100 ? 16 : 0));
    for (size_t i = 0, at = 0; i < cmd_count(); i++)
        if (shown(a, cmd_at(i)))
            one(a, out, (int)at++, cmd_at(i), w);
}

const struct panel panel_keys = {title, rows, foot, NULL, N_("Keys")};
