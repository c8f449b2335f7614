/* panel.h - what can stand in a pane: one file a panel, each ends with its
 * table entry; scrolling, selection, borders and copying are generic
 * (tui/screen.c).
 */
#ifndef TUI_PANEL_H
#define TUI_PANEL_H

#include "tui/app.h"

struct panel {
    /* The heading, into buf. NULL: none. */
    const char *(*title)(const struct app *a, char buf[160]);
    /* What it says, for a pane of w x h; more rows than h are scrolled. */
    void (*rows)(const struct app *a, struct rows *out, int w, int h);
    /* A line in the lower border, into buf; NULL or "": none. */
    const char *(*foot)(const struct app *a, char buf[160]);
    /* Something on show gets older by the second. */
    bool (*ages)(const struct app *a);
    const char *tab;             /* short name in a tab row (gettext key) */
};

const struct panel *panel_of(enum panel_id id);

extern const struct panel panel_catalogue, panel_about, panel_step, panel_cluster, panel_log,
    panel_curve, panel_run, panel_strip, panel_api, panel_why, panel_build, panel_train,
    panel_runs, panel_edit, panel_pods, panel_nodes, panel_events, panel_object, panel_yaml,
    panel_settings, panel_shell, panel_forwards,
    panel_messages, panel_keys, panel_ctx, panel_ns, panel_conn, panel_rights;

/* --- shared by panels ---------------------------------------------------------- */
/* Sign and role of a check's result and of a step's state. */
enum glyph panel_result_sign(enum check_result r, enum role *role);
enum glyph panel_step_sign(enum step_state st, enum role *role);
/* The operation on show, two rows: name and bar, amounts. */
void panel_op(const struct app *a, struct rows *out, int w);
/* A text of the lab in the language, its variables filled in; lives as long as
 * the rows. */
const char *panel_say(const struct app *a, struct rows *out, const struct ltext *t);
/* "9s", or "" when at_ms is 0. buf >= 16. */
const char *panel_age(const struct app *a, int64_t at_ms, char buf[16]);
/* "14:05:09" or "14:05" on the person's clock. */
const char *panel_clock(const struct app *a, int64_t at_ms, bool seconds, char buf[16]);
/* Unix ms of an RFC 3339 text in an object, 0 when there is none. */
int64_t panel_time(const struct json *object, const char *path);
/* A run's state (labs/session.h) in the language. */
const char *panel_run_state(const char *state);
/* A lab file's word that has a translation; any other as it is. */
const char *panel_word(const char *word);
/* The curve as it is asked for by the state. */
void panel_curve_ask(const struct app *a, struct curve_ask *ask);

#endif
