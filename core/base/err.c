/* err.c - the error table and how a bug ends the program (err.h). */
#include "core/base/err.h"

#include <errno.h>
#include <stdarg.h>

#include "core/base/i18n.h"

static const struct {
    const char *id, *message, *hint;
} codes[] = {
#define PD_ROW(code, id, msg, hint) {id, msg, hint},
    PD_CODES(PD_ROW)
#undef PD_ROW
};

static void (*die_hook)(void);

const char *pd_id(enum pd_code code)
{
    assert(code < PD_CODE_COUNT);
    return codes[code].id;
}

const char *pd_message(enum pd_code code)
{
    assert(code < PD_CODE_COUNT);
    return codes[code].message;
}

const char *pd_hint(enum pd_code code)
{
    assert(code < PD_CODE_COUNT);
    return codes[code].hint;
}

static void fill(struct pd_err *err, enum pd_code code, const char *fmt, va_list ap)
{
    assert(err && code != PD_OK && code < PD_CODE_COUNT);
    char msg[sizeof err->msg];
    vsnprintf(msg, sizeof msg, fmt, ap);     /* arguments may point into *err */
    memset(err, 0, sizeof *err);
    err->code = code;
    memcpy(err->msg, msg, sizeof msg);
    snprintf(err->hint, sizeof err->hint, "%s", _(codes[code].hint));
}

enum pd_code pd_fail(struct pd_err *err, enum pd_code code, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    fill(err, code, fmt, ap);
    va_end(ap);
    return code;
}

enum pd_code pd_fail_at(struct pd_err *err, enum pd_code code, const char *src, int line, int col,
                        const char *fmt, ...)
{
    char place[sizeof err->src];
    va_list ap;
    snprintf(place, sizeof place, "%s", src ? src : "");
    va_start(ap, fmt);
    fill(err, code, fmt, ap);
    va_end(ap);
    memcpy(err->src, place, sizeof place);
    err->line = line;
    err->col = col;
    return code;
}

enum pd_code pd_fail_errno(struct pd_err *err, enum pd_code code, const char *fmt, ...)
{
    int saved = errno;
    va_list ap;
    va_start(ap, fmt);
    fill(err, code, fmt, ap);
    va_end(ap);
    size_t n = strlen(err->msg);
    snprintf(err->msg + n, sizeof err->msg - n, ": %s", strerror(saved));
    return code;
}

enum pd_code pd_set_hint(struct pd_err *err, const char *fmt, ...)
{
    char hint[sizeof err->hint];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(hint, sizeof hint, fmt, ap);
    va_end(ap);
    memcpy(err->hint, hint, sizeof hint);
    return err->code;
}

const char *pd_describe(const struct pd_err *err, char *buf, size_t size)
{
    char place[sizeof err->src + 32] = "";
    if (err->src[0] && err->line > 0 && err->col > 0)
        snprintf(place, sizeof place, "%s:%d:%d: ", err->src, err->line, err->col);
    else if (err->src[0] && err->line > 0)
        snprintf(place, sizeof place, "%s:%d: ", err->src, err->line);
    else if (err->src[0])
        snprintf(place, sizeof place, "%s: ", err->src);
    if (err->hint[0])
        snprintf(buf, size, "%s%s (%s) [%s]", place, err->msg, err->hint, pd_id(err->code));
    else
        snprintf(buf, size, "%s%s [%s]", place, err->msg, pd_id(err->code));
    return buf;
}

void pd_on_die(void (*hook)(void))
{
    die_hook = hook;
}

void pd_bug(const char *file, int line, const char *fmt, ...)
{
    void (*hook)(void) = die_hook;
    die_hook = NULL;             /* a bug inside the hook must not come back here */
    if (hook)
        hook();
    va_list ap;
    fprintf(stderr, "podium: bug at %s:%d: ", file, line);
    va_start(ap, fmt);
    vfprintf(stderr, fmt, ap);
    va_end(ap);
    fputc('\n', stderr);
    abort();
}
