/* dockerfile.h - Dockerfile text to a list of instructions, every error with
 * line and column.
 *
 * The whole grammar is read: parser directives (syntax, escape, check),
 * comments, continuation lines, here-documents of RUN, COPY and ADD, all
 * instructions with their flags (also the parts of RUN --mount), ONBUILD with
 * the instruction in it. An unknown word is PD_PARSE with "did you mean". What
 * the builder can't carry out is refused by dockerfile_refuse
 * (dockerfile_plan.h), once it is known which stages are needed.
 *
 * Words are split at parse time; quotes, escapes and variables are kept and
 * undone with dockerfile_expand when the builder knows the environment.
 */
#ifndef K8S_IMAGE_DOCKERFILE_H
#define K8S_IMAGE_DOCKERFILE_H

#include "core/base/err.h"
#include "core/base/str.h"

enum df_op {
    DF_FROM, DF_COPY, DF_ENV, DF_WORKDIR, DF_LABEL, DF_USER, DF_ENTRYPOINT, DF_CMD, DF_ARG,
    DF_RUN, DF_ADD, DF_EXPOSE, DF_VOLUME, DF_STOPSIGNAL, DF_HEALTHCHECK, DF_SHELL, DF_ONBUILD,
    DF_MAINTAINER, DF_OP_COUNT
};

struct df_word {
    char *text;                   /* as written: quotes and escapes still in it */
    int line, col;
};

/* A here-document: "<<EOF" (variables are expanded in COPY and ADD) or "<<'EOF'"
 * (they are not); "<<-" drops leading tabs. */
struct df_heredoc {
    char *name, *text;
    bool expand, strip;
    int line;                     /* of its first line */
};

struct df_instr {
    enum df_op op;
    int line, col;                /* of the instruction word */
    char word[16];                /* the instruction as it was written: "From" */
    char *text;                   /* joined to one line, for show and history */
    struct df_word *flags;        /* "--chown=1:1" */
    size_t nflags;
    struct df_word *words;        /* arguments; ENV/LABEL/ARG: "NAME=value" each, name first; */
    size_t nwords;                /* HEALTHCHECK: NONE or CMD first */
    bool json;                    /* exec form: words are plain strings; expanded in COPY, ADD, */
                                  /* VOLUME only */
    bool old_form;                /* ENV NAME VALUE, LABEL NAME VALUE */
    char *rest;                   /* shell form: the raw text behind instruction and flags */
    int rest_line, rest_col;
    struct df_heredoc *heredocs;
    size_t nheredocs;
    struct df_instr *sub;         /* ONBUILD: the instruction in it */
};

struct dockerfile {
    char *name;                   /* for errors */
    char escape;                  /* '\\' or '`' */
    struct df_instr *v;
    size_t n;
    struct strv directives;       /* "escape=`" as met */
};

MUST_USE enum pd_code dockerfile_parse(const char *name, const char *text, size_t len,
                                       struct dockerfile **out, struct pd_err *err);
/* Read past errors: each is given to fn, its instruction is left out. */
typedef void dockerfile_error_fn(void *arg, const struct pd_err *err);
void dockerfile_read(const char *name, const char *text, size_t len, dockerfile_error_fn *fn,
                     void *arg, struct dockerfile **out);
void dockerfile_free(struct dockerfile *d);       /* NULL is fine */
/* What must hold of any Dockerfile: a FROM first, names of stages. */
MUST_USE enum pd_code dockerfile_check(const struct dockerfile *d, struct pd_err *err);
const char *dockerfile_op_name(enum df_op op);    /* "FROM" */
/* The value of --NAME=value, "" of a bare --NAME, NULL when it is not given. */
const char *dockerfile_flag(const struct df_instr *in, const char *name);
/* --NAME, --NAME=true (or =1): on. */
bool dockerfile_flag_on(const struct df_instr *in, const char *name);
/* The here-document that a word such as "<<EOF" stands for, or NULL. */
const struct df_heredoc *dockerfile_heredoc(const struct df_instr *in, const char *word);

/* Unquote a word and expand its variables: lookup returns NULL when unset. All
 * forms: $A ${A} ${A:-w} ${A-w} ${A:+w} ${A+w} ${A:?w} ${A?w} ${A#p} ${A##p}
 * ${A%p} ${A%%p} ${A/p/r} ${A//p/r}; p is a pattern of * and ?. */
typedef const char *dockerfile_lookup_fn(void *arg, const char *name);
MUST_USE enum pd_code dockerfile_expand(const struct dockerfile *d, const struct df_word *w,
                                        dockerfile_lookup_fn *lookup, void *arg,
                                        struct str *out, struct pd_err *err);
/* The same for a here-document: quotes stay. */
MUST_USE enum pd_code dockerfile_expand_raw(const struct dockerfile *d, const struct df_word *w,
                                            dockerfile_lookup_fn *lookup, void *arg,
                                            struct str *out, struct pd_err *err);

#endif
