/* options_impl.h - the tables of commands and options, shared by options*.c
 * alone. A row of the table is all there is to know of an option.
 */
#ifndef CORE_TRAIN_OPTIONS_IMPL_H
#define CORE_TRAIN_OPTIONS_IMPL_H

#include "core/train/options.h"

enum option_kind { STRING, INT, I64, U64, REAL, FLAG };

struct option_command {
    const char *name, *usage, *what;
};
struct option {
    const char *name;
    enum option_kind kind;
    unsigned commands;            /* bits 1 << enum options_command */
    size_t at;                    /* in struct options */
    double least, most;
    const char *arg, *help;
};

const struct option_command *options_command(enum options_command c);
const struct option *options_table(size_t *n);
/* By name, of any command; NULL when there is none. */
const struct option *options_find(const char *name);
/* Set one option from text; PD_USAGE names it and what it takes. A FLAG takes
 * "true" or "false". `text` is borrowed. */
MUST_USE enum pd_code options_store(struct options *o, const struct option *opt,
                                    const char *text, enum options_origin from,
                                    struct pd_err *err);
/* The names of a command's options; returns how many. */
size_t options_names(enum options_command c, const char **names, size_t room);

/* options_config.c: what `--config FILE` says. */
MUST_USE enum pd_code options_config(struct options *o, const char *path, struct pd_err *err);

#endif
