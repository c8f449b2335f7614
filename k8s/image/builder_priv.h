/* builder_priv.h - the own builder at work, shared by builder_*.c: the image so
 * far (config, layers, tree of names) and what the instructions change. */
#ifndef K8S_IMAGE_BUILDER_PRIV_H
#define K8S_IMAGE_BUILDER_PRIV_H

#include "k8s/image/builder.h"
#include "k8s/image/context.h"
#include "k8s/image/dockerfile.h"
#include "k8s/image/layer_writer.h"
#include "k8s/image/tree.h"

struct build {
    const struct builder_spec *spec;
    struct dockerfile *df;
    struct context *ctx;
    struct tree *tree;            /* names of the image so far */
    struct json *root;            /* the config blob to be */
    struct json *config;          /* its member "config" */
    struct json *layers;          /* of the manifest */
    struct strv args;             /* ARG values of the stage, "NAME=value" */
    struct strv globals;          /* ARG values before FROM */
    bool in_stage, cmd_set;
    int64_t epoch;                /* seconds: the time of everything */
    char created[40];
    struct pd_err *err;
};

/* --- builder_vars.c --- */
/* "NAME=value" in a list: its value or NULL; set replaces in place. */
const char *builder_vars_get(const struct strv *v, const char *name);
void builder_vars_set(struct strv *v, const char *name, const char *value);
/* ENV of the config first, then ARG; for dockerfile_expand, arg is the build. */
const char *builder_vars_lookup(void *arg, const char *name);
const char *builder_vars_global(void *arg, const char *name);
MUST_USE enum pd_code builder_vars_arg(struct build *b, const struct df_instr *in);
/* Every --build-arg must belong to an ARG. */
MUST_USE enum pd_code builder_vars_check(struct build *b);
/* Expand a word; the result is the caller's to free. */
MUST_USE enum pd_code builder_vars_word(struct build *b, const struct df_word *w, char **out);

/* --- builder_config.c --- */
void builder_config_init(struct build *b);
/* Take over the base image's config. */
void builder_config_base(struct build *b, const struct image *im);
void builder_config_history(struct build *b, const char *text, bool empty_layer);
void builder_config_layer(struct build *b, const struct layer_result *r);
/* ENV, LABEL, USER, ENTRYPOINT, CMD, SHELL, EXPOSE, VOLUME, STOPSIGNAL, MAINTAINER. */
MUST_USE enum pd_code builder_config_apply(struct build *b, const struct df_instr *in);
/* The absolute, clean form of a path of the Dockerfile: WORKDIR before it when
 * relative; no leading "/". Caller frees. */
char *builder_config_path(const struct build *b, const char *path);
/* Write config and manifest. */
MUST_USE enum pd_code builder_config_finish(struct build *b, struct image_desc *out);

/* --- builder_from.c --- */
MUST_USE enum pd_code builder_from(struct build *b, const struct df_instr *in);

/* --- builder_copy.c --- */
MUST_USE enum pd_code builder_copy(struct build *b, const struct df_instr *in);
MUST_USE enum pd_code builder_copy_workdir(struct build *b, const struct df_instr *in);

#endif
