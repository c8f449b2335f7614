/* lab_lint.h - `podium lab lint`: what keeps a lab from being read, and then the
 * rules of docs/LAB-FORMAT.md, each finding with file, line and column.
 */
#ifndef LABS_LAB_LINT_H
#define LABS_LAB_LINT_H

#include "labs/lab.h"

struct lab_finding {
    const char *rule;             /* "translation" … */
    bool advice;                  /* no error */
    int line, col;
    char text[400];
};
typedef void lab_finding_fn(void *arg, const struct lab_finding *f);

/* The rules over a lab that could be read, and its YAML. Returns how many
 * findings were errors. */
int lab_lint_rules(const struct lab *lab, const struct ynode *root, lab_finding_fn *fn,
                   void *arg);
/* A file or folder, written out; the exit code: 0 or 1. */
int lab_lint(const char *path, bool json);
/* What stands behind `x-en:` when a translation was made from this English. */
const char *lab_lint_hash(const char *english, char buf[16]);

#endif
