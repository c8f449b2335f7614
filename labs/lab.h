/* lab.h - a lab: a YAML file (docs/LAB-FORMAT.md) read into plain data.
 *
 * A lab is untrusted: its ids are [a-z0-9-], its files stay inside its folder,
 * and nothing of it is ever spliced into a shell. All memory of a lab lives in
 * its arena; strings are never NULL unless it says so. A lab does not change
 * once it is read; what a person did with it is in labs/session.h.
 */
#ifndef LABS_LAB_H
#define LABS_LAB_H

#include "core/base/json.h"
#include "core/base/mem.h"
#include "core/base/yaml.h"

/* A text by language: {en:, zh:} or a plain string (then both are the same). */
struct ltext {
    const char *en, *zh;
};
/* In the language of i18n_lang(); English when there is no other; "" for none. */
const char *ltext_get(const struct ltext *t);

/* A place in the lab file, for messages. */
struct lplace {
    int line, col;
};

/* An action or a check: its kind (an index into action_kinds or check_kinds)
 * and its arguments as JSON, variables not yet replaced. */
struct lab_action {
    int kind;
    const char *kind_name;        /* "apply" "build" "push" "train" "copy" "exec" "delete" */
    struct json *args;            /* owned by the lab */
    struct ltext title;           /* one line: what it does */
    struct lplace at;
};

/* An explanation given when a check shows this: a part of actual or event. */
struct lab_because {
    const char *has;
    struct ltext tell;
};

struct lab_check {
    int kind;
    const char *kind_name;        /* "object" "count" "condition" "event" "log" "file" … */
    struct json *args;            /* owned by the lab */
    int64_t stable_ms;            /* it must hold so long without a break; 0: at once */
    struct ltext title;           /* one line: what must be true */
    struct lab_because *because;
    int because_n;
    struct ltext unseen;          /* what to do for who may not look at it; en NULL: none */
    struct lplace at;
};

/* A file of the student: copied from the lab's folder to the work folder once. */
struct lab_file {
    const char *name, *from;
    char *text;                   /* the template, as shipped */
    size_t len;
    bool edit;                    /* the student changes it; else it is only laid out */
    struct lplace at;
};

/* What solves the step without a person: in `file`, `find` becomes `put`. */
struct lab_solve {
    const char *file, *find, *put;
    struct lplace at;
};

/* A question; how it is judged: labs/quiz.h. */
enum lab_quiz_kind { LAB_QUIZ_CHOICE, LAB_QUIZ_NUMBER, LAB_QUIZ_TEXT };
struct lab_choice {
    struct ltext say, because;    /* because: why it is wrong, or why it is right */
    bool right;
};
struct lab_quiz {
    const char *id;
    enum lab_quiz_kind kind;
    struct ltext ask, why;        /* why: told once the answer is right */
    struct lab_choice *choices;
    int choices_n;
    struct json *args;            /* of a number or a text; owned by the lab */
    struct lab_because *because;  /* by what the answer has in it */
    int because_n;
    struct lplace at;
};

/* What must not pass (podium lab test): an edit after solve's, or an answer. */
struct lab_wrong {
    const char *file, *find, *put, *quiz, *answer;    /* file "": an answer */
    struct lplace at;
};

/* What the cluster must have for a lab or a step, and what happens without. */
enum lab_need { LAB_NEED_RESOURCE, LAB_NEED_KUBERNETES, LAB_NEED_CAN, LAB_NEED_STORAGE };
enum lab_else { LAB_ELSE_SKIP, LAB_ELSE_SIMULATE, LAB_ELSE_READING };
struct lab_require {
    enum lab_need kind;
    const char *resource;         /* "habana.ai/gaudi"; ">=1.23"; "create jobs"; a class's name */
    double min;                   /* of a resource, summed over ready nodes */
    enum lab_else otherwise;
    bool otherwise_given;
    const char *recorded;         /* simulate: the log of a run, in the lab's folder; "" */
    char *recorded_text;          /* NULL: none */
    struct ltext why;
    struct lplace at;
};

struct lab_step {
    const char *id;
    struct ltext title, say, notes, solution;
    struct lab_require *requires;
    int requires_n;
    struct lab_action *setup, *faults;
    int setup_n, faults_n;
    struct lab_quiz *quiz;
    int quiz_n;
    struct lab_wrong *wrong;
    int wrong_n;
    struct lab_action *actions;
    int actions_n;
    struct lab_check *checks;
    int checks_n;
    struct lab_file *files;
    int files_n;
    struct ltext *hints;
    int hints_n;
    struct lab_solve *solves;
    int solves_n;
    struct lplace at;
};

/* A variable: a fixed value, one of a list, a number or a word (drawn once an
 * attempt), or a value read from the cluster ("namespace", "registry"). */
enum lab_var_kind { LAB_VAR_VALUE, LAB_VAR_PICK, LAB_VAR_FROM, LAB_VAR_NUMBER, LAB_VAR_WORD };
struct lab_var {
    const char *name;
    enum lab_var_kind kind;
    const char **values;          /* VALUE: 1, PICK: n, FROM: 1 (the source's name) */
    int values_n;
    int64_t low, high;            /* NUMBER: both included; WORD: its length */
    struct lplace at;
};

struct lab {
    const char *id;
    struct ltext title, about, goal;
    struct ltext track;           /* labs of one track stand together; "" none */
    const char *after;            /* id of a lab that comes before; "" none */
    int minutes;
    const char *level, *hw;       /* "easy"; "any" "xeon" "gaudi" "nvidia" */
    const char *dir, *path;       /* its folder, its file */
    struct lab_step *steps;
    int steps_n;
    struct lab_var *vars;
    int vars_n;
    struct lab_require *requires;
    int requires_n;
    const char *run_job, *run_container;   /* whose log is the run; "": the lab trains nothing */
    /* The scene: what is made before the first step, what is broken on purpose
     * (not told), what is undone at the end; and the files they apply. */
    struct lab_action *setup, *faults, *cleanup;
    int setup_n, faults_n, cleanup_n;
    struct lab_file *scene;       /* name = from: in the lab's folder */
    int scene_n;
    struct arena arena;
};

/* Read and check one lab file. PD_LAB with file:line:column, and "did you
 * mean" for a misspelt key. lab_parse takes the text (fuzzing, tests): `dir`
 * is where its files are, NULL: the named files are not read. */
MUST_USE enum pd_code lab_read(const char *path, struct lab **out, struct pd_err *err);
MUST_USE enum pd_code lab_parse(const char *path, const char *text, size_t len, const char *dir,
                                struct lab **out, struct pd_err *err);
void lab_free(struct lab *lab);

const struct lab_step *lab_step_by_id(const struct lab *lab, const char *id, int *index);
const struct lab_quiz *lab_quiz_by_id(const struct lab_step *step, const char *id, int *index);
/* The text of a file that setup, faults or cleanup apply; NULL: none. */
const char *lab_scene_file(const struct lab *lab, const char *name);
/* The work folder of a lab: ~/.local/share/podium/work/ID. Caller frees. */
char *lab_work_dir(const struct lab *lab);

/* The catalogue: every DIR/ID/lab.yaml below a folder, by id. A lab that can't
 * be read stands in the list with its error. */
struct lab_entry {
    char *path, *id;
    struct lab *lab;              /* NULL: see err */
    struct pd_err err;
};
struct lab_list {
    struct lab_entry *v;
    size_t n;
};
/* dir NULL: the shipped labs/content, then $XDG_DATA_HOME/podium/labs. */
struct lab_list *lab_list_load(const char *dir);
void lab_list_free(struct lab_list *l);
const struct lab *lab_list_find(const struct lab_list *l, const char *id);

#endif
