/* plain_priv.h - what the files of the plain console share. */
#ifndef TUI_PLAIN_PRIV_H
#define TUI_PLAIN_PRIV_H

#include "tui/cmd.h"
#include "tui/plain_say.h"

enum plain_wait_kind { PLAIN_WAIT_NONE, PLAIN_WAIT_CHECKS, PLAIN_WAIT_RUN, PLAIN_WAIT_OP,
                       PLAIN_WAIT_LINK, PLAIN_WAIT_STEP, PLAIN_WAIT_KIND_COUNT };

/* What is told once the cluster has answered. */
enum plain_tell { PLAIN_TELL_NONE, PLAIN_TELL_CTX, PLAIN_TELL_NS, PLAIN_TELL_CONN,
                  PLAIN_TELL_RIGHTS, PLAIN_TELL_GO, PLAIN_TELL_CAN };

/* Lines that come while one of these is on wait behind it. */
struct plain_wait {
    enum plain_wait_kind kind;
    int64_t n, until_ms, wrong_since;
};

/* The part of the plain console that needs no loop: words in; messages and text
 * out. */
struct plain {
    struct app *app;
    void (*send)(void *arg, struct msg *m);  /* to app_apply; takes m */
    void *arg;
    struct plain_say say;
    struct plain_wait wait;
    enum plain_tell tell;
    int64_t tell_until_ms;
    struct str out;              /* what is to be said, not wrapped yet */
    int width;
    const char *menu[32];        /* commands by the numbers said last */
    int menu_n;
    char file[128];              /* the file that show and replace are about */
    char old_file[128], *old_text;           /* before its last change; owned */
    bool leave, missed;          /* missed: a wait ended without what it waited for */
    bool own_editor;             /* $EDITOR can be used here */
    enum prompt_kind asked;      /* the question that was said */
};

/* One typed line. */
void plain_take(struct plain *p, const char *line);
/* Say what has changed since. */
void plain_look(struct plain *p);
/* Can the next typed line be taken? */
bool plain_free(const struct plain *p);
/* What the prompt asks for. */
void plain_prompt(const struct plain *p, struct str *out);
/* A console or session command by its full name, with up to two arguments. */
void plain_command(struct plain *p, const char *name, const char *a, const char *b);

/* Does the command do something here and now, without a screen? */
bool plain_offers(const struct app *a, const struct cmd *c);

/* plain_words.c: the words that only the plain console has */
struct plain_word {
    const char *name, *other;    /* other: a second name, or "" */
    void (*run)(struct plain *p, const char *arg);
    bool lab;                    /* works in a lab only */
    const char *args, *help;     /* gettext keys */
};
const struct plain_word *plain_word_at(size_t i);          /* NULL after the last */
const struct plain_word *plain_word_by_name(const char *name);

/* plain_wait.c */
void plain_wait_begin(struct plain *p, const char *arg);
/* Has it come, or failed? Says so, and ends the wait. */
void plain_wait_look(struct plain *p);
void plain_wait_stop(struct plain *p);

/* plain_conn.c: contexts, namespaces, the connection, one's rights */
void plain_ctx(struct plain *p, const char *arg);
void plain_ns(struct plain *p, const char *arg);
void plain_conn(struct plain *p, const char *arg);
void plain_rights(struct plain *p, const char *arg);
void plain_can(struct plain *p, const char *arg);
/* Has the answer come? Then it is told. */
void plain_tell_look(struct plain *p);

/* plain_edit.c: the step's files line by line */
void plain_show(struct plain *p, const char *arg);
void plain_edit(struct plain *p, const char *arg);
void plain_replace(struct plain *p, const char *arg);
void plain_set_line(struct plain *p, const char *arg);
void plain_insert_line(struct plain *p, const char *arg);
void plain_delete_line(struct plain *p, const char *arg);
void plain_undo(struct plain *p, const char *arg);

#endif
