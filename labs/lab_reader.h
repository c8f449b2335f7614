/* lab_reader.h - the lab parser's own parts: what its files share while one
 * lab is read (lab.c, lab_reader.c, lab_steps.c).
 */
#ifndef LABS_LAB_READER_H
#define LABS_LAB_READER_H

#include "labs/lab.h"
#include "labs/lab_keys.h"

enum { LAB_CEILING = 4 << 20, LAB_FILE_CEILING = 256 << 10, LAB_TEXTS = 24 << 20,
       LAB_ARENA = 64 << 20 };

/* The file's name for messages, the lab being made, and whether its texts
 * passed the ceiling (aliases can repeat a text without end): then the texts
 * are left out and the lab is refused. */
struct lab_reader {
    const char *path;
    struct lab *lab;
    struct pd_err *err;
    bool full;
};

/* PD_LAB at the place of n. */
enum pd_code lab_reader_bad(struct lab_reader *r, const struct ynode *n, const char *fmt, ...)
    PRINTF_LIKE(3, 4);
struct lplace lab_reader_place(const struct ynode *n);
char *lab_reader_dup(struct lab_reader *r, const char *s);       /* in the lab's arena */
void *lab_reader_many(struct lab_reader *r, size_t n, size_t size);
struct ltext lab_reader_text(struct lab_reader *r, const struct ynode *n);   /* n may be NULL */
enum pd_code lab_reader_keys(struct lab_reader *r, const struct ynode *n,
                             const struct lab_key *table, const char *what);

/* Every ${NAME} below n is a variable of the lab. */
enum pd_code lab_reader_vars_known(struct lab_reader *r, const struct ynode *n);
enum pd_code lab_reader_because(struct lab_reader *r, const struct ynode *n,
                                struct lab_because **list, int *count);
/* A list of actions. Those of a scene apply files of the lab's folder, which
 * are read here. */
enum pd_code lab_reader_actions(struct lab_reader *r, const struct ynode *n,
                                struct lab_action **list, int *count, bool scene);
/* A file of the lab's folder into *text (NULL when there is no folder); its
 * place for messages is that of n. */
enum pd_code lab_reader_file(struct lab_reader *r, const struct ynode *n, const char *name,
                             char **text);
/* lab_quiz.c */
enum pd_code lab_reader_quiz(struct lab_reader *r, const struct ynode *n, struct lab_step *s);
/* lab_scene.c */
enum pd_code lab_reader_scene_file(struct lab_reader *r, const struct ynode *n);
enum pd_code lab_reader_scene(struct lab_reader *r, const struct ynode *root);
enum pd_code lab_reader_step_scene(struct lab_reader *r, const struct ynode *n,
                                   struct lab_step *s);
enum pd_code lab_reader_wrong(struct lab_reader *r, const struct ynode *n, struct lab_step *s);

/* The parts of a lab; n NULL: the key is not there. */
enum pd_code lab_reader_about(struct lab_reader *r, const struct ynode *n);
enum pd_code lab_reader_requires(struct lab_reader *r, const struct ynode *n,
                                 struct lab_require **list, int *count);
enum pd_code lab_reader_vars(struct lab_reader *r, const struct ynode *n);
enum pd_code lab_reader_run(struct lab_reader *r, const struct ynode *n);
enum pd_code lab_reader_steps(struct lab_reader *r, const struct ynode *n);

#endif
