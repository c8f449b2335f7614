/* settings.h - how the console behaves, one table: name, choices, what it does.
 *
 * A setting NAME is `NAME: value` in ~/.config/podium/config.yaml, PODIUM_NAME
 * in the environment and --NAME on the command line; the later of these wins
 * over the earlier, and over what podium finds out by itself ("auto").
 */
#ifndef TUI_SETTINGS_H
#define TUI_SETTINGS_H

#include "tui/app.h"
#include "tui/faults.h"

struct setting_def {
    const char *name;            /* in the file, the environment, the options */
    const char *label, *help;    /* gettext keys */
    const char *fallback;        /* when nobody says anything */
    const char *(*choice)(int i);                      /* NULL after the last */
    const char *(*get)(const struct app *a, char buf[64]);
    bool (*set)(struct app *a, const char *value);     /* false: no such value */
};

const struct setting_def *settings_at(size_t i);       /* NULL after the last */
/* Its index in enum setting, -1: unknown. */
int settings_by_name(const char *name);
/* "auto" "file" "environment" "option" "this session", a gettext key. */
const char *settings_from_name(enum set_from from);
bool settings_ok(enum setting i, const char *value);
/* Give a setting a value ("auto": its own) and say where that comes from.
 * False: no such value; nothing has changed. */
bool settings_set(struct app *a, enum setting i, const char *value, enum set_from from);
/* Why it was refused. */
const char *settings_refusal(const struct app *a, enum setting i, const char *value, char *buf,
                             size_t size);
/* The choice before or after the present one. */
const char *settings_step(const struct app *a, enum setting i, int by);
/* "dark, light, mono"; buf holds size bytes. */
const char *settings_choices(enum setting i, char *buf, size_t size);

/* config.c: the file. Reads what it says into `values` (NULL: not in it), which
 * point into *docs (yaml_docs_free); mistakes are left out and told. */
struct ydoc;
void config_parse(const char *name, const char *text, size_t len, const char *values[SET_COUNT],
                  struct ydoc **docs, struct faults *faults);
/* The file's text with one setting changed (value NULL: taken out): comments
 * and all other lines stay as they are. False: the text can't be read. */
bool config_edit(const char *text, const char *name, const char *value, struct str *out);

#endif
