/* panel_edit.c - the editor in a pane. */
#include "core/base/i18n.h"
#include "core/base/path.h"
#include "tui/panel.h"

static const char *title(const struct app *a, char buf[160])
{
    return str_fmt(buf, 160, "%s%s", path_base(a->edit.path), a->edit.dirty ? " *" : "");
}

static void rows(const struct app *a, struct rows *out, int w, int h)
{
    int cx, cy;
    if (a->edit.open)
        edit_rows(&a->edit, out, w, h, &cx, &cy);
}

static const char *foot(const struct app *a, char buf[160])
{
    int faults = edit_fault_count(&a->edit);
    if (faults)
        return str_fmt(buf, 160, _("line %d of %zu, faults: %d"), a->edit.row + 1,
                       a->edit.lines.n, faults);
    return str_fmt(buf, 160, _("line %d of %zu"), a->edit.row + 1, a->edit.lines.n);
}

const struct panel panel_edit = {title, rows, foot, NULL, N_("Edit")};
