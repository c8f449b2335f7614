/* look.h - what podium finds out about the terminal before the first paint:
 * signs, width of ambiguous characters, theme.
 *
 * It asks the terminal only where that is worth 200 ms: for the width in a
 * Chinese, Japanese or Korean locale (or with --ambiguous=probe), once a kind of
 * terminal (~/.cache/podium/width), and for the background only with
 * --detect-background, because answers have been known to end up in prompts.
 */
#ifndef TUI_LOOK_H
#define TUI_LOOK_H

#include "tui/console.h"
#include "tui/term.h"

struct look_found {
    const char *glyphs, *theme;  /* names */
    bool wide;                   /* ambiguous characters take two columns */
};

/* Does the locale belong to a script whose terminals may draw them wide? */
bool look_cjk_locale(void);
void look_find(struct tty *t, const struct console_options *o, struct look_found *out);

#endif
