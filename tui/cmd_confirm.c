/* cmd_confirm.c - the buttons of a question (tui/confirm.h). */
#include "tui/cmd.h"

void cmd_confirm_yes(struct app *a, const char *arg UNUSED, struct effects *out)
{
    struct app_prompt p = a->prompt;
    a->prompt.kind = PROMPT_NONE;
    app_command(a, p.command, p.text[0] ? p.text : NULL, out);
}

void cmd_confirm_no(struct app *a, const char *arg UNUSED, struct effects *out UNUSED)
{
    a->prompt.kind = PROMPT_NONE;
}

void cmd_confirm_switch(struct app *a, const char *arg UNUSED, struct effects *out UNUSED)
{
    a->prompt.yes = !a->prompt.yes;
}

void cmd_confirm_enter(struct app *a, const char *arg, struct effects *out)
{
    (a->prompt.yes ? cmd_confirm_yes : cmd_confirm_no)(a, arg, out);
}
