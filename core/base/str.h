/* str.h - growing strings with a ceiling, string vectors, and small parsers.
 *
 * A str always holds a terminating NUL behind its length; it may hold NULs
 * inside. Passing the ceiling sets `full`, drops what does not fit, and the
 * append returns false: the owner decides what that means.
 */
#ifndef CORE_BASE_STR_H
#define CORE_BASE_STR_H

#include <stdarg.h>

#include "core/base/base.h"

struct str {
    char *p;                                     /* never NULL after str_init */
    size_t len, cap, ceiling;
    bool full;
};

void str_init(struct str *s, size_t ceiling);
void str_release(struct str *s);
void str_clear(struct str *s);
char *str_take(struct str *s);                   /* caller frees; s is as after str_init */
bool str_append(struct str *s, const void *data, size_t n);
bool str_add(struct str *s, const char *text);
bool str_addc(struct str *s, char c);
bool str_printf(struct str *s, const char *fmt, ...) PRINTF_LIKE(2, 3);
bool str_vprintf(struct str *s, const char *fmt, va_list ap) PRINTF_LIKE(2, 0);
void str_consume(struct str *s, size_t n);       /* drop n bytes at the front */

/* A vector of owned strings; v[n] is NULL, so that v is an argv. */
struct strv {
    char **v;
    size_t n, cap;
};

void strv_init(struct strv *v);
void strv_release(struct strv *v);
void strv_push(struct strv *v, const char *s);
void strv_pushf(struct strv *v, const char *fmt, ...) PRINTF_LIKE(2, 3);
void strv_split(struct strv *v, const char *s, char sep);   /* appends; keeps empty parts */
bool strv_has(const struct strv *v, const char *s);

bool str_eq(const char *a, const char *b);       /* NULL equals NULL only */
bool str_starts(const char *s, const char *prefix);
bool str_ends(const char *s, const char *suffix);
/* Whole-string parsers: false when anything is left over or out of range. */
bool str_to_i64(const char *s, int64_t *out);
bool str_to_f64(const char *s, double *out);
/* Copy with truncation; always terminated. Returns dst. */
char *str_copy(char *dst, size_t size, const char *src);
/* snprintf that asserts a positive size; returns dst. */
char *str_fmt(char *dst, size_t size, const char *fmt, ...) PRINTF_LIKE(3, 4);
/* The nearest of n candidates by edit distance, or NULL when none is near
 * ("did you mean …"). */
const char *str_nearest(const char *s, const char *const *candidates, size_t n);

#endif
