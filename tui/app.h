/* app.h - all state of the console: what is shown and how, next to the session
 * (labs/session.h), which says what is going on.
 *
 * app_apply is the only writer: keys become commands (tui/cmd.h), commands
 * change the view or go on to session_apply, and both answer with effects.
 * Time is the message's own (at_ms), so that a journal played back gives the
 * same screens.
 */
#ifndef TUI_APP_H
#define TUI_APP_H

#include "tui/app_parts.h"

struct app {
    struct session *s;           /* owned */
    struct lab_list *labs;       /* borrowed */
    int *lab_done;               /* steps done, one a lab; owned */
    int cols, rows;
    enum glyph_set glyphs;
    char theme[64];
    bool mono;                   /* the theme has no colours */
    enum panel_id tab, focus;
    bool zoom, tab_chosen;
    struct app_over over[APP_OVER_MOST];     /* the last one is shown */
    int over_n;
    const struct lab *lab_seen;
    int sel[PANEL_COUNT], scroll[PANEL_COUNT];
    bool log_follow, log_wrap;
    struct logview log;
    struct list_view list[LIST_COUNT];
    struct app_object object;
    struct lists *lists, *lists_all;         /* not state: remembered rows; of the person's
                                              * choice, and of no choice */
    int api_open;                /* row whose body is shown, -1 none */
    char filter[128];            /* of the log */
    char api_filter[96];
    bool api_errors;             /* failed requests alone */
    bool help;
    int help_scroll;
    char help_find[48], keys_find[48], labs_find[48];    /* filters */
    struct app_prompt prompt;
    struct keymap keymap;        /* the person's own keys */
    struct app_look look;
    struct app_pressed pressed[APP_PRESSED_MOST];        /* the newest last */
    int pressed_n;
    struct app_files files;
    enum set_from set_from[SET_COUNT];
    char set_auto[SET_COUNT][64];            /* what podium found out by itself */
    struct app_undo undo[APP_UNDO_MOST];
    int undo_n;
    struct app_reset reset;
    enum catalogue_sort labs_sort;
    struct app_said said[APP_SAID_MOST];     /* the newest last */
    int said_n;
    const struct cmd *recent[APP_RECENT_MOST];           /* run by name, the newest first */
    int tz_min;                  /* of the clock, east of UTC */
    struct edit edit;
    struct app_curve curve;
    struct curve_line line;      /* not state: remembered arithmetic */
    struct compare *compare;     /* other runs; owned */
    char note[512];              /* what the console itself has to say */
    bool note_bad;
    char note_over[512];         /* the session message it stands over */
    struct app_why why;
    struct app_pick pick;
    struct shell shell;
    struct forwards forwards;
    char forward_pod[256];       /* whose port is being asked for */
    enum seek seek;
    bool notes_open;             /* the step's notes, before it is done */
    enum clean_state clean_seen;
    bool inspect_open;           /* the trainer's last look inside stands below the curve */
    int walk_stage;              /* of the step that is walked through (enum walk_stage) */
    int op_step;                 /* the step that the operation on show began in */
    int64_t op_began;
    int64_t now_ms, interrupt_ms;
    bool walking;                /* through the catalogue: the page beside it is about lab */
    int beside;                  /* `beside` until the selection has rested */
    int64_t walked_ms;
    bool replay;
    char window[160];            /* the window's title */
};

struct app *app_new(struct session *s, struct lab_list *labs);    /* takes s, borrows labs */
void app_free(struct app *a);
/* Besides the commands of tui/cmd.h takes what the console found out at the
 * start: "session.start" CONTEXT; "lab.progress" ID N; "set.from" NAME VALUE auto|file|env|flag;
 * "files" CONFIG KEYS, the paths whose MSG_FILE is for the console itself;
 * "clock.zone" MINUTES; "note" good|bad TEXT; "theme.mono" yes|no, of the theme
 * that was loaded on this terminal; "rest", the selection has rested. */
void app_apply(struct app *a, const struct msg *m, struct effects *out);

enum view app_view(const struct app *a);
/* The view under help and input line: what they are about. */
enum view app_view_below(const struct app *a);
void app_layout(const struct app *a, struct panes *out);
/* Give a panel the whole body; app_over_close goes one back, false: there is
 * none. Nothing that happens below takes the focus from it. */
void app_over(struct app *a, enum panel_id panel);
bool app_over_close(struct app *a);
/* Focus a panel of the lab screen, now or when nothing is over it any more. */
void app_focus(struct app *a, enum panel_id panel);
/* An age under a minute, an open operation or a run's clock is on the screen. */
bool app_wants_tick(const struct app *a);
/* Say something in the message row until the session says something newer. */
void app_note(struct app *a, bool bad, const char *fmt, ...) PRINTF_LIKE(3, 4);
/* Say an error; it stands in full among the messages. */
void app_fault(struct app *a, const struct pd_err *err);
/* Give the session a command with at most one argument (NULL: none). */
void app_session(struct app *a, const char *name, const char *arg, struct effects *out);
/* Run a console or session command by name. */
void app_command(struct app *a, const char *name, const char *arg, struct effects *out);
/* Remember what takes the last change back: `what` says what that change was. */
void app_undo_push(struct app *a, const char *what, const char *command, const char *arg);
/* The place in the catalogue that the page beside it is about. */
int app_lab_beside(const struct app *a);
int64_t app_rest_ms(const struct app *a);        /* until "rest" is due, -1: it is not */
bool app_types(const struct app *a);             /* what is typed is text */
/* Rows of a panel in the size of its pane. */
void app_panel_rows(const struct app *a, const struct pane *p, struct rows *out);

#endif
