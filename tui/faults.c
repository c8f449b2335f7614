/* faults.c - a list of mistakes (faults.h). */
#include "tui/faults.h"

#include "core/base/mem.h"
#include "core/base/str.h"

void faults_release(struct faults *f)
{
    free(f->v);
    memset(f, 0, sizeof *f);
}

void faults_add_err(struct faults *f, const struct pd_err *err)
{
    f->bad += err->code != PD_OK;
    if (f->n == FAULTS_MOST)
        return;
    f->v = xrealloc_array(f->v, f->n + 1, sizeof *f->v);
    f->v[f->n++] = *err;
}

static void add(struct faults *f, enum pd_code code, const char *src, int line, int col,
                const char *fmt, va_list ap)
{
    struct pd_err err = {0};
    char text[sizeof err.msg];
    vsnprintf(text, sizeof text, fmt, ap);
    pd_fail_at(&err, PD_PARSE, src, line, col, "%s", text);
    err.code = code;
    faults_add_err(f, &err);
}

void faults_add(struct faults *f, const char *src, int line, int col, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    add(f, PD_PARSE, src, line, col, fmt, ap);
    va_end(ap);
}

void faults_note(struct faults *f, const char *src, int line, int col, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    add(f, PD_OK, src, line, col, fmt, ap);
    va_end(ap);
}
