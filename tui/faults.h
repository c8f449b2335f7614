/* faults.h - what is wrong in a file of the person's own: all of it, each with
 * its place. The console starts all the same and says it.
 */
#ifndef TUI_FAULTS_H
#define TUI_FAULTS_H

#include "core/base/err.h"

enum { FAULTS_MOST = 64 };       /* later ones are only counted */

struct faults {
    struct pd_err *v;            /* code PD_OK: no mistake, but worth saying */
    size_t n, bad;               /* bad: mistakes, also those beyond the list */
};

void faults_release(struct faults *f);
void faults_add(struct faults *f, const char *src, int line, int col, const char *fmt, ...)
    PRINTF_LIKE(5, 6);
void faults_note(struct faults *f, const char *src, int line, int col, const char *fmt, ...)
    PRINTF_LIKE(5, 6);
void faults_add_err(struct faults *f, const struct pd_err *err);

#endif
