/* panel_settings.c - the settings: what each is, its choices, where its value
 * comes from. */
#include "core/base/i18n.h"
#include "core/base/path.h"
#include "tui/panel.h"
#include "tui/settings.h"

enum { SETTING_DETAILS = 5 };

static const char *title(const struct app *a UNUSED, char buf[160])
{
    return str_copy(buf, 160, _("Settings"));
}

static const char *foot(const struct app *a, char buf[160])
{
    return str_copy(buf, 160, a->files.config_path[0] ? path_base(a->files.config_path) : "");
}

/* "dark" between arrows, where there is something before and after it. */
static void value_cell(struct rows *out, const char *value, bool selected, int w)
{
    char buf[80];
    str_fmt(buf, sizeof buf, selected ? "< %s >" : "  %s", value);
    rows_cell(out, selected ? ROLE_STRONG : ROLE_TEXT, buf, w);
}

static void details(const struct app *a, struct rows *out, enum setting i, int w)
{
    char buf[320], choices[200], upper[32];
    const struct setting_def *d = settings_at(i);
    rows_wrap(out, ROLE_TEXT, 1, _(d->help), w - 1);
    str_fmt(buf, sizeof buf, _("choices: %s"), settings_choices(i, choices, sizeof choices));
    rows_wrap(out, ROLE_MUTED, 1, buf, w - 1);
    size_t n = 0;
    for (; d->name[n] && n < sizeof upper - 1; n++)
        upper[n] = (char)(d->name[n] >= 'a' && d->name[n] <= 'z' ? d->name[n] - 32 : d->name[n]);
    upper[n] = '\0';
    str_fmt(buf, sizeof buf, "%s:   PODIUM_%s   --%s", d->name, upper, d->name);
    rows_wrap(out, ROLE_CODE, 1, buf, w - 1);
    if (w < 50)
        rows_wrap(out, ROLE_MUTED, 1, str_fmt(buf, sizeof buf, _("from: %s"),
                                              _(settings_from_name(a->set_from[i]))), w - 1);
    if (a->set_from[i] == FROM_ENV || a->set_from[i] == FROM_FLAG)
        rows_wrap(out, ROLE_WARN, 1, _("The file says nothing here until that is gone."), w - 1);
}

static void rows(const struct app *a, struct rows *out, int w, int h)
{
    int value_w = w >= 50 ? 16 : 14, from_w = w >= 50 ? 16 : 0, sel = a->sel[PANEL_SETTINGS];
    bool room = h > SET_COUNT + SETTING_DETAILS;       /* else they stand below its row */
    for (int i = 0; i < SET_COUNT; i++) {
        char buf[64];
        const struct setting_def *d = settings_at((size_t)i);
        rows_new(out, i);
        rows_cell(out, ROLE_TEXT, _(d->label), w - value_w - from_w);
        value_cell(out, d->get(a, buf), i == sel, value_w);
        if (from_w)
            rows_cell(out, ROLE_MUTED, _(settings_from_name(a->set_from[i])), from_w);
        if (!room && i == sel)
            details(a, out, (enum setting)i, w);
    }
    enum setting shown = (enum setting)MIN(MAX(sel, 0), SET_COUNT - 1);
    if (!room)
        return;
    rows_blank(out);
    rows_wrap(out, ROLE_HEAD, 0, _(settings_at(shown)->label), w);
    details(a, out, shown, w);
}

const struct panel panel_settings = {title, rows, foot, NULL, N_("Settings")};
