/* cmd_big.c - big mode and the row of pressed keys, on and off. */
#include "core/base/i18n.h"
#include "tui/cmd.h"
#include "tui/settings.h"

static void turn(struct app *a, enum setting i, bool on, const char *said)
{
    settings_set(a, i, on ? "on" : "off", FROM_HERE);
    app_note(a, false, "%s", said);
}

void cmd_big(struct app *a, const char *arg UNUSED, struct effects *out UNUSED)
{
    bool on = !a->look.big;
    turn(a, SET_BIG, on, on ? _("big mode; the command big ends it") : _("big mode is off"));
}

void cmd_keys_show(struct app *a, const char *arg UNUSED, struct effects *out UNUSED)
{
    bool on = !a->look.keys_shown;
    turn(a, SET_KEYS, on, on ? _("the keys that are pressed are shown")
                             : _("the keys that are pressed are not shown"));
}
