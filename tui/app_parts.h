/* app_parts.h - what the state of the console is made of (tui/app.h): views,
 * the input line, settings, what was said, what can be taken back. Others
 * include tui/app.h.
 */
#ifndef TUI_APP_PARTS_H
#define TUI_APP_PARTS_H

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
#include "tui/forwards.h"
#include "tui/shell.h"

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
    VIEW_CTX = 1 << 16,
    VIEW_NS = 1 << 17,
    VIEW_CONN = 1 << 18,
    VIEW_RIGHTS = 1 << 19,
    VIEW_SHELL = 1 << 27,        /* keys are the program's in the container */
    VIEW_FORWARDS = 1 << 28,
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
    VIEWS_PICK = VIEW_CTX | VIEW_NS,
    VIEWS_CONN = VIEWS_PICK | VIEW_CONN | VIEW_RIGHTS,
    VIEWS_OVER = VIEW_RUNS | VIEW_SETTINGS | VIEW_MESSAGES | VIEW_KEYS | VIEWS_CLUSTER |
                 VIEWS_CONN | VIEW_FORWARDS,
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
enum seek { SEEK_NONE, SEEK_CHECKS, SEEK_HINT, SEEK_QUIZ, SEEK_NOTES, SEEK_MANIFEST };

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

/* Choosing a context or a namespace (tui/pick.h). */
struct app_pick {
    char find[48];               /* filter */
    char name[128];              /* of the selected row */
    char waits[128];             /* whose look is due when the timer rings */
    uint32_t timer;              /* effect; 0: none */
};

struct app_curve {
    double smooth;               /* weight of the average */
    double x_lo, x_hi;           /* NaN, NaN: the whole run, live */
    double cursor;               /* step under the cursor; NaN: off */
    enum curve_x x;              /* the unit of x, and of x_lo and x_hi */
    bool log_y, log_x, clip, no_band;
    enum curve_dots dots;
};

#endif
