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
    struct ltext title;           /* one line: what must be true */
    struct lab_because *because;
    int because_n;
    struct lplace at;
};

/* A file of the student: copied from `from` (below the lab's folder) to `name`
 * in the work folder when the step is first opened. */
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

struct lab_step {
    const char *id;
    struct ltext title, say;
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

/* A variable: a fixed value, one of a list (drawn once an attempt), or a value
 * read from the cluster ("namespace", "registry", "attempt"). */
enum lab_var_kind { LAB_VAR_VALUE, LAB_VAR_PICK, LAB_VAR_FROM };
struct lab_var {
    const char *name;
    enum lab_var_kind kind;
    const char **values;          /* VALUE: 1, PICK: n, FROM: 1 (the source's name) */
    int values_n;
    struct lplace at;
};

struct lab_require {
    const char *resource;         /* of node allocatable: "cpu" "habana.ai/gaudi" */
    double min;                   /* summed over ready nodes */
    struct ltext why;
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
