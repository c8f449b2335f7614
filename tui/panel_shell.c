/* panel_shell.c - the shell of a container in a pane. */
#include "core/base/i18n.h"
#include "tui/panel.h"

static const char *title(const struct app *a, char buf[160])
{
    const struct shell *s = &a->shell;
    return s->term ? str_fmt(buf, 160, _("Shell: %s / %s"), s->pod, s->container)
                   : str_copy(buf, 160, _("Shell"));
}

static void rows(const struct app *a, struct rows *out, int w, int h UNUSED)
{
    const struct shell *s = &a->shell;
    int cx, cy;
    if (!s->term)
        rows_line(out, ROLE_MUTED, _("No shell is open: s on a pod starts one."));
    else if (s->state == SHELL_ENDED && s->error.code != PD_OK && !s->typed) {
        rows_wrap(out, ROLE_FAIL, 0, s->error.msg, w);
        rows_wrap(out, ROLE_HINT, 0, s->error.hint, w);
    } else
        shell_term_rows(s->term, s->back, out, &cx, &cy);
}

static const char *foot(const struct app *a, char buf[160])
{
    const struct shell *s = &a->shell;
    if (s->state == SHELL_STARTING)
        return str_copy(buf, 160, _("starting"));
    if (s->back)
        return str_fmt(buf, 160, _("%d lines back"), s->back);
    if (s->state == SHELL_ENDED && s->code >= 0)
        return str_fmt(buf, 160, _("ended with %d"), s->code);
    return str_copy(buf, 160, s->state == SHELL_ENDED ? _("ended") : "");
}

const struct panel panel_shell = {title, rows, foot, NULL, N_("Shell")};
