/* keys_cmd.h - `podium keys`: the table of commands and keys, and the check of
 * a person's own key map. */
#ifndef TUI_KEYS_CMD_H
#define TUI_KEYS_CMD_H

#include "core/base/str.h"

extern const char keys_cmd_help[];

/* The rest of the command line, argv[0] is "keys". */
int keys_cmd(int argc, char **argv);
/* The tables of docs/CONSOLE.md: all commands, all settings. */
void keys_cmd_commands(struct str *out);
void keys_cmd_settings(struct str *out);

#endif
