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

#include "labs/session.h"
#include "tui/compare.h"
#include "tui/curve.h"
#include "tui/curve_line.h"
#include "tui/edit.h"
#include "tui/keymap.h"
#include "tui/lists.h"
#include "tui/logview.h"
#include "tui/motion.h"
#include "tui/panes.h"

/* What the keys mean at the moment; bits, so that a command can name several. */
enum view {
    VIEW_CATALOGUE = 1 << 0,
    VIEW_STEP = 1 << 1,
    VIEW_CLUSTER = 1 << 2,
    VIEW_LOG = 1 << 3,
    VIEW_CURVE = 1 << 4,
    VIEW_API = 1 << 5,
    VIEW_WHY = 1 << 6,
    VIEW_BUILD = 1 << 8,
    VIEW_TRAIN = 1 << 9,
    VIEW_RUNS = 1 << 10,
    VIEW_PODS = 1 << 11,
    VIEW_NODES = 1 << 12,
    VIEW_EVENTS = 1 << 13,
    VIEW_OBJECT = 1 << 14,
    VIEW_YAML = 1 << 15,
    VIEW_HELP = 1 << 20,
    VIEW_PROMPT = 1 << 21,
    VIEW_EDIT = 1 << 22,
    VIEW_CONFIRM = 1 << 23,
    VIEW_SETTINGS = 1 << 24,
    VIEW_MESSAGES = 1 << 25,
    VIEW_KEYS = 1 << 26,
    VIEWS_LAB = VIEW_STEP | VIEW_CLUSTER | VIEW_LOG | VIEW_CURVE | VIEW_API | VIEW_WHY |
                VIEW_BUILD | VIEW_TRAIN,
    VIEWS_ROWS = VIEW_PODS | VIEW_NODES | VIEW_EVENTS,
    VIEWS_CLUSTER = VIEWS_ROWS | VIEW_OBJECT | VIEW_YAML,
    VIEWS_OVER = VIEW_RUNS | VIEW_SETTINGS | VIEW_MESSAGES | VIEW_KEYS | VIEWS_CLUSTER,
    VIEWS_MAIN = VIEWS_LAB | VIEW_CATALOGUE | VIEWS_OVER
};

enum prompt_kind { PROMPT_NONE, PROMPT_PALETTE, PROMPT_ASK, PROMPT_CONFIRM };

/* The input line: the palette, or one argument of a command; or a question
 * before harm is done (tui/confirm.h). */
struct app;
struct app_prompt {
    enum prompt_kind kind;
    char title[160], command[48];
    char text[512];              /* as typed; of a question: the command's argument */
    int cursor;                  /* byte */
    int sel;                     /* palette: selected candidate */
    char lost[768], verb[48];    /* question: what is lost, the button that does it */
    bool yes;                    /* question: that button has the focus */
    /* called with the text while it is being typed, and with "" when it is given
     * up; NULL: nobody */
    void (*typed)(struct app *a, const char *text);
};

/* A panel that has the whole body for a while, and what had the focus below. */
struct app_over {
    enum panel_id panel, below;
};
enum { APP_OVER_MOST = 4 };

/* What the step pane is scrolled to, until the person scrolls it. */
enum seek { SEEK_NONE, SEEK_CHECKS, SEEK_HINT, SEEK_QUIZ, SEEK_NOTES };

/* The settings (tui/settings.h), and where the value of each comes from. */
enum setting {
    SET_LANG, SET_THEME, SET_GLYPHS, SET_AMBIGUOUS, SET_MOTION, SET_MOUSE, SET_BIG, SET_KEYS,
    SET_BELL, SET_TITLE, SET_FRAMES, SET_AGES, SET_SMOOTH, SET_CLOCK, SET_PLAIN, SET_COUNT
};
enum set_from { FROM_AUTO, FROM_FILE, FROM_ENV, FROM_FLAG, FROM_HERE };

/* Settings that nothing else owns. */
struct app_look {
    bool wide;                   /* ambiguous characters take two columns */
    enum motion motion;
    bool mouse, big, keys_shown, bell, window_title, clock;
    bool plain;                  /* lines only, from the next start on (tui/plain.h) */
    int frames;                  /* painted a second, at most */
    int ages_s;                  /* how often ages are renewed; 0: not by themselves */
    double smooth;               /* of a new curve */
};

/* The person's own files and what stands in them. */
struct app_files {
    char config_path[512], keys_path[512];   /* "": there is none, nothing is saved */
    char *config_text, *keys_text;           /* owned; NULL: not there */
    uint32_t write;              /* the effect that saves the settings */
};

/* A lab that is started over, or brought back. */
struct app_reset {
    uint32_t move, child;        /* effects that are open */
    char lab[48], aside[512];
    int done;                    /* steps, before */
    bool back;
};

enum catalogue_sort { CATALOGUE_BY_TRACK, CATALOGUE_BY_NAME, CATALOGUE_BY_TIME, CATALOGUE_BY_STATE,
                      CATALOGUE_SORTS };

/* Something that stood in the message row. */
struct app_said {
    int64_t at_ms;
    char text[512];
    struct pd_err err;           /* code PD_OK: it was no error */
};
enum { APP_SAID_MOST = 20, APP_RECENT_MOST = 8 };

/* A key that ran a command; nothing that was typed as text. */
struct app_pressed {
    char key[16];
    const char *label;           /* gettext key */
};
enum { APP_PRESSED_MOST = 5 };

/* What `undo` would take back, the newest last: a command and its argument. */
struct app_undo {
    char what[160], command[48], arg[640];
};
enum { APP_UNDO_MOST = 16 };

/* What is being explained (tui/why.h). */
struct app_why {
    char object[200];            /* "pod/x", "job/x"; "": nothing was asked */
    uint32_t child;              /* the effect that looks; 0: none */
    struct json *answer;         /* owned; NULL: none yet */
    char error[512];             /* why there is none */
    int64_t asked_ms;
};

/* The object whose detail or YAML is open. */
struct app_object {
    char kind[32], name[256], uid[80];
};

struct app_curve {
    double smooth;               /* weight of the average */
    double x_lo, x_hi;           /* NaN, NaN: the whole run, live */
    double cursor;               /* step under the cursor; NaN: off */
    enum curve_x x;              /* the unit of x, and of x_lo and x_hi */
    bool log_y, log_x, clip, no_band;
    enum curve_dots dots;
};

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
