/* cmd_shell.c - screens about podium itself: messages, keys, help; and the
 * filters of lists. */
#include "core/base/i18n.h"
#include "core/base/utf8.h"
#include "tui/catalogue.h"
#include "tui/cmd.h"
#include "tui/help.h"

void cmd_messages(struct app *a, const char *arg UNUSED, struct effects *out UNUSED)
{
    app_over(a, PANEL_MESSAGES);
    a->scroll[PANEL_MESSAGES] = a->sel[PANEL_MESSAGES] = 0;
}

void cmd_keys_screen(struct app *a, const char *arg UNUSED, struct effects *out UNUSED)
{
    app_over(a, PANEL_KEYS);
}

/* The filter of the list that has the focus. */
void cmd_list_filter(struct app *a, const char *arg, struct effects *out UNUSED)
{
    char *find = a->focus == PANEL_KEYS                            ? a->keys_find
                 : a->focus == PANEL_CTX || a->focus == PANEL_NS ? a->pick.find
                                                                 : a->labs_find;
    if (!arg) {
        cmd_ask(a, _("show what has"), "list.filter", find);
        return;
    }
    str_copy(find, sizeof a->labs_find, arg);
    a->sel[a->focus] = a->scroll[a->focus] = 0;
}

void cmd_list_all(struct app *a, const char *arg UNUSED, struct effects *out)
{
    if (cmd_login_end(a, out))
        return;
    int lab = catalogue_selected(a);
    a->labs_find[0] = '\0';
    if (lab >= 0)
        catalogue_select(a, lab);
}

/* --- the help ------------------------------------------------------------------- */
enum { HELP_PAGE = 10 };

static void help_by(struct app *a, int by)
{
    a->help_scroll = MIN(MAX(a->help_scroll + by, 0), help_most(a));
}

bool cmd_help_below(const struct app *a)
{
    return a->help_scroll < help_most(a);
}

bool cmd_help_above(const struct app *a)
{
    return a->help_scroll > 0;
}

void cmd_help_down(struct app *a, const char *arg UNUSED, struct effects *out UNUSED)
{
    help_by(a, 1);
}

void cmd_help_up(struct app *a, const char *arg UNUSED, struct effects *out UNUSED)
{
    help_by(a, -1);
}

void cmd_help_page_down(struct app *a, const char *arg UNUSED, struct effects *out UNUSED)
{
    help_by(a, HELP_PAGE);
}

void cmd_help_page_up(struct app *a, const char *arg UNUSED, struct effects *out UNUSED)
{
    help_by(a, -HELP_PAGE);
}

void cmd_help_top(struct app *a, const char *arg UNUSED, struct effects *out UNUSED)
{
    a->help_scroll = 0;
}

void cmd_help_bottom(struct app *a, const char *arg UNUSED, struct effects *out UNUSED)
{
    a->help_scroll = help_most(a);
}

void cmd_help_erase(struct app *a, const char *arg UNUSED, struct effects *out UNUSED)
{
    size_t n = strlen(a->help_find);
    while (n > 0 && ((unsigned char)a->help_find[--n] & 0xC0) == 0x80)
        continue;
    a->help_find[n] = '\0';
    a->help_scroll = 0;
}
