/* dockerfile.h - Dockerfile text to a list of instructions, every error with
 * line and column.
 *
 * Understood: parser directives (syntax, escape, check), comments,
 * continuation lines, FROM [AS], COPY, ENV, WORKDIR, LABEL, USER, ENTRYPOINT,
 * CMD, ARG, RUN, and the rest of Docker's instructions by name: an instruction
 * or flag that the builder can't carry out is refused with the reason by
 * dockerfile_check (PD_UNSUPPORTED, or PD_ENGINE for RUN), an unknown word is
 * PD_PARSE with "did you mean". Heredocs are refused.
 *
 * Words are split and unquoted at parse time, but variables ($NAME, ${NAME},
 * ${NAME:-word}, ${NAME:+word}) are kept and expanded with dockerfile_expand
 * when the builder knows the environment.
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

struct df_instr {
    enum df_op op;
    int line, col;                /* of the instruction word */
    char *text;                   /* joined to one line, for show and history */
    struct df_word *flags;        /* "--chown=1:1" */
    size_t nflags;
    struct df_word *words;        /* arguments; ENV/LABEL/ARG: "NAME=value" each, name first */
    size_t nwords;
    bool json;                    /* exec form: words are plain strings, not expanded */
    char *rest;                   /* shell form: the raw text behind the instruction */
    int rest_line, rest_col;
};

struct dockerfile {
    char *name;                   /* for errors */
    char escape;                  /* '\\' or '`' */
    struct df_instr *v;
    size_t n;
};

MUST_USE enum pd_code dockerfile_parse(const char *name, const char *text, size_t len,
                                       struct dockerfile **out, struct pd_err *err);
void dockerfile_free(struct dockerfile *d);       /* NULL is fine */
/* Refuse, at its place, what podium's own builder can't carry out. */
MUST_USE enum pd_code dockerfile_check(const struct dockerfile *d, struct pd_err *err);
const char *dockerfile_op_name(enum df_op op);    /* "FROM" */

/* Unquote a word and expand its variables: lookup returns NULL when unset. */
typedef const char *dockerfile_lookup_fn(void *arg, const char *name);
MUST_USE enum pd_code dockerfile_expand(const struct dockerfile *d, const struct df_word *w,
                                        dockerfile_lookup_fn *lookup, void *arg,
                                        struct str *out, struct pd_err *err);

#endif
