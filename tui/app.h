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
#include "tui/curve.h"
#include "tui/edit.h"
#include "tui/keymap.h"
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
    VIEW_HELP = 1 << 20,
    VIEW_PROMPT = 1 << 21,
    VIEW_EDIT = 1 << 22,
    VIEW_CONFIRM = 1 << 23,
    VIEWS_LAB = VIEW_STEP | VIEW_CLUSTER | VIEW_LOG | VIEW_CURVE | VIEW_API | VIEW_WHY,
    VIEWS_MAIN = VIEWS_LAB | VIEW_CATALOGUE
};

enum prompt_kind { PROMPT_NONE, PROMPT_PALETTE, PROMPT_ASK, PROMPT_CONFIRM };

/* The input line: the palette, or one argument of a command; or a question
 * before harm is done (tui/confirm.h). */
struct app_prompt {
    enum prompt_kind kind;
    char title[160], command[48];
    char text[512];              /* as typed; of a question: the command's argument */
    int cursor;                  /* byte */
    int sel;                     /* palette: selected candidate */
    char lost[768], verb[48];    /* question: what is lost, the button that does it */
    bool yes;                    /* question: that button has the focus */
};

/* A panel that has the whole body for a while, and what had the focus below. */
struct app_over {
    enum panel_id panel, below;
};
enum { APP_OVER_MOST = 4 };

/* What the step pane is scrolled to, until the person scrolls it. */
enum seek { SEEK_NONE, SEEK_CHECKS, SEEK_HINT, SEEK_QUIZ, SEEK_NOTES };

struct app_curve {
    double smooth;               /* weight of the average */
    double x_lo, x_hi;           /* NaN, NaN: the whole run, live */
    double cursor;               /* step under the cursor; NaN: off */
    bool log_y, clip, no_band;
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
    int api_open;                /* row whose body is shown, -1 none */
    char filter[128];            /* of the log */
    bool help;
    int help_scroll;
    struct app_prompt prompt;
    struct keymap keymap;        /* the person's own keys */
    struct edit edit;
    struct app_curve curve;
    struct curve_cache cache;    /* not state: remembered arithmetic */
    char note[512];              /* what the console itself has to say */
    bool note_bad;
    char note_over[512];         /* the session message it stands over */
    enum seek seek;
    bool notes_open;             /* the step's notes, before it is done */
    enum clean_state clean_seen;
    bool inspect_open;           /* the trainer's last look inside stands below the curve */
    int op_step;                 /* the step that the operation on show began in */
    int64_t op_began;
    int64_t now_ms, interrupt_ms;
    bool replay, redraw, suspend;
};

struct app *app_new(struct session *s, struct lab_list *labs);    /* takes s, borrows labs */
void app_free(struct app *a);
/* Besides the commands of tui/cmd.h takes "lab.progress" with args ID, N: what
 * was found on disk at the start. */
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
/* Give the session a command with at most one argument (NULL: none). */
void app_session(struct app *a, const char *name, const char *arg, struct effects *out);
/* Run a console or session command by name. */
void app_command(struct app *a, const char *name, const char *arg, struct effects *out);
/* Rows of a panel in the size of its pane. */
void app_panel_rows(const struct app *a, const struct pane *p, struct rows *out);

#endif
