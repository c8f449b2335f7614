/* image_cmd_priv.h - the command line of the image commands, parsed. */
#ifndef K8S_IMAGE_IMAGE_CMD_PRIV_H
#define K8S_IMAGE_IMAGE_CMD_PRIV_H

#include "k8s/image/image_report.h"

struct image_options {
    bool json, push, no_cache, plain_http, insecure, help;
    bool findings;                            /* lint found errors */
    const char *file, *output, *store, *builder, *target, *error, *subuid;
    const char *kubeconfig, *user, *password_file, *token_file, *ca_file, *platform;
    struct strv tags, build_args, words;      /* words: the arguments */
    struct registry_auth auth;                /* from the options above */
    struct image_report report;
};

/* PD_USAGE with the option's name. */
MUST_USE enum pd_code image_options_parse(int argc, char **argv, struct image_options *o,
                                          struct pd_err *err);
/* Read the credential files. */
MUST_USE enum pd_code image_options_auth(struct image_options *o, struct pd_err *err);
void image_options_release(struct image_options *o);
void image_options_usage(FILE *f);

#endif
