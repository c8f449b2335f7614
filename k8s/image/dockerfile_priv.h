/* dockerfile_priv.h - shared by dockerfile*.c: logical lines with the places
 * they came from, word splitting, and the table of instructions. */
#ifndef K8S_IMAGE_DOCKERFILE_PRIV_H
#define K8S_IMAGE_DOCKERFILE_PRIV_H

#include "k8s/image/dockerfile.h"

enum { DOCKERFILE_CEILING = 1 << 20 };

/* How the arguments of an instruction are read. */
enum df_args { A_WORDS, A_PAIRS, A_NAMES, A_STRING, A_EXEC, A_LIST, A_HEALTH, A_SUB };

/* flags: known names separated by blanks: "a=" wants a value, "a?" may be bare
 * (true, false), "a=*" may stand several times. min, max: arguments (max 0: any). */
struct df_rule {
    const char *name;
    enum df_args args;
    int min, max;
    const char *flags, *usage;
};
extern const struct df_rule dockerfile_rules[DF_OP_COUNT];

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
    struct strv seen, directives; /* directives met: keys, and "key=value" */
};

/* --- dockerfile_lex.c --- */
void dockerfile_lex_init(struct df_reader *r, const char *name, const char *text, size_t len);
void dockerfile_lex_release(struct df_reader *r);
/* The next logical line into r->cur; *more is false at the end. */
MUST_USE enum pd_code dockerfile_lex_next(struct df_reader *r, bool *more, struct pd_err *err);
/* The next physical line [*from, *to), without its end; false at the end. */
bool dockerfile_lex_raw(struct df_reader *r, const char **from, const char **to);
/* Line and column (in characters) of an offset of r->cur. */
void dockerfile_lex_place(const struct df_line *l, size_t off, int *line, int *col);
/* Next word of text[*off..n): white space delimited, or respecting quotes and
 * the escape character. False at the end; from/to are its bounds. */
bool dockerfile_lex_word(const char *text, size_t n, char quote_escape, size_t *off, size_t *from,
                         size_t *to);
enum pd_code dockerfile_fail(struct pd_err *err, const struct df_reader *r, size_t off,
                             const char *fmt, ...) PRINTF_LIKE(4, 5);

/* --- dockerfile_args.c: what stands behind the instruction, from off on --- */
void dockerfile_args_add(const struct df_reader *r, struct df_word **v, size_t *n, size_t from,
                         size_t to);
MUST_USE enum pd_code dockerfile_args(const struct df_reader *r, struct df_instr *in, size_t off,
                                      struct pd_err *err);
/* --- dockerfile_flags.c: words that start with --; *off moves behind them --- */
MUST_USE enum pd_code dockerfile_flags(const struct df_reader *r, struct df_instr *in,
                                       size_t *off, struct pd_err *err);
/* --- dockerfile_heredoc.c: read the documents that the line asks for --- */
MUST_USE enum pd_code dockerfile_heredocs(struct df_reader *r, struct df_instr *in, size_t off,
                                          struct pd_err *err);
bool dockerfile_heredoc_word(const char *s, size_t n, char escape, struct df_heredoc *out);

#endif
