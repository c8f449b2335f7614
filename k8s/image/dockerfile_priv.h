/* dockerfile_priv.h - shared by dockerfile*.c: logical lines with the places
 * they came from, and word splitting. */
#ifndef K8S_IMAGE_DOCKERFILE_PRIV_H
#define K8S_IMAGE_DOCKERFILE_PRIV_H

#include "k8s/image/dockerfile.h"

enum { DOCKERFILE_CEILING = 1 << 20 };

/* A piece of a logical line: bytes from `off` on stand at `src` in a physical
 * line that starts at `start`. */
struct df_span {
    size_t off;
    const char *src, *start;
    int line;
};

/* One instruction joined over its continuation lines. */
struct df_line {
    struct str text;
    struct df_span *v;
    size_t n;
};

struct df_reader {
    const char *name, *p, *end;
    int line;                     /* of p */
    char escape;
    bool directives_over;
    struct df_line cur;
    struct strv seen;             /* directives met */
};

void dockerfile_lex_init(struct df_reader *r, const char *name, const char *text, size_t len);
void dockerfile_lex_release(struct df_reader *r);
/* The next logical line into r->cur; *more is false at the end. */
MUST_USE enum pd_code dockerfile_lex_next(struct df_reader *r, bool *more, struct pd_err *err);
/* Line and column (in characters) of an offset of r->cur. */
void dockerfile_lex_place(const struct df_line *l, size_t off, int *line, int *col);
/* Next word of text[*off..n): white space delimited, or respecting quotes and
 * the escape character. False at the end; from/to are its bounds. */
bool dockerfile_lex_word(const char *text, size_t n, char quote_escape, size_t *off, size_t *from,
                         size_t *to);
enum pd_code dockerfile_fail(struct pd_err *err, const struct df_reader *r, size_t off,
                             const char *fmt, ...) PRINTF_LIKE(4, 5);

#endif
