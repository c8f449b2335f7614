/* keymap.h - the person's own keys, over the defaults of the table of commands:
 * ~/.config/podium/keys.yaml.
 *
 *   keys:                  # in every view where the command has keys
 *     step.run: [r, F5]
 *     theme: []            # no key; the palette still has it
 *   views:                 # in one view only
 *     log:
 *       log.keep: f
 *
 * A key given to one command is taken from the default of any other in that
 * view, and that is said. Two commands of the file with one key are a mistake:
 * the first keeps it. What leads out of a view or to the palette keeps its keys
 * until the file gives it others, and is never without.
 */
#ifndef TUI_KEYMAP_H
#define TUI_KEYMAP_H

#include "tui/faults.h"

struct cmd;

enum { KEYMAP_KEYS = 80, KEYMAP_BYTES_MOST = 64 << 10 };

/* Where the keys of a command differ from the table's. */
struct keymap_bind {
    const struct cmd *cmd;
    unsigned views;
    char keys[KEYMAP_KEYS];      /* separated by blanks */
};

struct keymap {
    struct keymap_bind *v;
    size_t n;
};

/* What can be used is taken, the rest is in `faults`. */
void keymap_parse(const char *name, const char *text, size_t len, struct keymap *out,
                  struct faults *faults);
void keymap_release(struct keymap *k);
/* The keys of a command in one view. */
const char *keymap_keys(const struct keymap *k, const struct cmd *c, unsigned view);
/* "log"; NULL: no view with keys of its own. */
const char *keymap_view_name(unsigned view);
unsigned keymap_view_at(size_t i);               /* 0 after the last */
/* Is `key` one of the words of `keys`? */
bool keymap_has(const char *keys, const char *key);
/* A key as tui/input.h names it. */
bool keymap_key_ok(const char *key);

#endif
