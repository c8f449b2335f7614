/* builder_priv.h - the own builder at work, shared by builder_*.c: the stages
 * done, the image so far (config, layers, tree of names) and what the
 * instructions change. */
#ifndef K8S_IMAGE_BUILDER_PRIV_H
#define K8S_IMAGE_BUILDER_PRIV_H

#include "k8s/image/builder.h"
#include "k8s/image/context.h"
#include "k8s/image/dockerfile.h"
#include "k8s/image/dockerfile_plan.h"
#include "k8s/image/layer_writer.h"
#include "k8s/image/tree.h"

/* What a stage has made. */
struct build_stage {
    struct json *root;            /* the config blob to be */
    struct json *layers;          /* of the manifest */
    struct tree *tree;            /* names of the image so far */
    struct strv args;             /* ARG values, "NAME=value" */
};

/* A folder that files are copied from: an unpacked stage, image or archive, or
 * one with a fetched file. */
struct build_root {
    char *key, *dir;
    struct context *ctx;
    struct tree *tree;            /* owners and modes; NULL: as the files are */
    int lock;
};

struct build {
    const struct builder_spec *spec;
    struct dockerfile *df;
    struct df_plan plan;
    struct context *ctx;
    struct build_stage now;       /* of the stage at work */
    struct json *config;          /* member "config" of now.root */
    struct build_stage *done;     /* one a stage of the plan */
    struct build_root **roots;
    size_t nroots;
    struct strv globals;          /* ARG values before FROM */
    int stage;                    /* -1: before the first FROM */
    bool cmd_set, cached;         /* cached: the instruction at work took it from there */
    int64_t epoch;                /* seconds: the time of everything */
    char created[40];
    struct pd_err *err;
};

/* --- builder.c --- */
MUST_USE enum pd_code builder_run(struct build *b, const struct df_instr *in);
/* An error without a place gets this one. Returns rc. */
enum pd_code builder_placed(struct build *b, const struct df_word *w, enum pd_code rc);

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
/* The same for an argument of an instruction: plain strings of a JSON form have
 * no quotes to undo. */
MUST_USE enum pd_code builder_vars_item(struct build *b, const struct df_instr *in, size_t i,
                                        char **out);

/* --- builder_config.c --- */
void builder_config_init(struct build *b);
/* Take over the base image's config. */
void builder_config_base(struct build *b, const struct image *im);
void builder_config_history(struct build *b, const char *text, bool empty_layer);
void builder_config_layer(struct build *b, const struct layer_result *r);
/* Everything that changes the config alone. */
MUST_USE enum pd_code builder_config_apply(struct build *b, const struct df_instr *in);
/* The absolute, clean form of a path of the Dockerfile: WORKDIR before it when
 * relative; no leading "/". Caller frees. */
char *builder_config_path(const struct build *b, const char *path);
/* Write config and manifest of the stage that is done. */
MUST_USE enum pd_code builder_config_finish(struct build *b, struct build_stage *st,
                                            struct image_desc *out);

/* --- builder_from.c --- */
MUST_USE enum pd_code builder_from(struct build *b, const struct df_instr *in);
/* An image by name, in podium's store (pulled when it is not there). */
MUST_USE enum pd_code builder_from_image(struct build *b, const char *name,
                                         struct image_place *p, struct image **out);

/* --- builder_root.c --- */
MUST_USE enum pd_code builder_root_from(struct build *b, const char *from,
                                        struct build_root **out);
/* NULL in *out when the file of the context is no tar archive. */
MUST_USE enum pd_code builder_root_tar(struct build *b, struct context *ctx, const char *path,
                                       struct build_root **out);
/* A new, empty folder. */
MUST_USE enum pd_code builder_root_new(struct build *b, const char *key,
                                       struct build_root **out);
void builder_root_release(struct build *b);

/* --- builder_fetch.c: the URL of an ADD into a folder; *name is its file name --- */
MUST_USE enum pd_code builder_fetch(struct build *b, const struct df_word *w, const char *url,
                                    const char *checksum, struct build_root **out, char **name);

/* --- builder_user.c: "name:group" or numbers to ids, by the image's own /etc/passwd --- */
MUST_USE enum pd_code builder_user(struct build *b, const struct df_word *w, const char *text,
                                   unsigned *uid, unsigned *gid);

/* --- builder_copy.c --- */
MUST_USE enum pd_code builder_copy(struct build *b, const struct df_instr *in);   /* ADD too */
MUST_USE enum pd_code builder_copy_workdir(struct build *b, const struct df_instr *in);

/* --- builder_mode.c: --chmod, "755" or "u=rwX,go=rX" --- */
struct build_mode {
    bool set;
    char text[64];
};
bool builder_mode_valid(const char *text);
unsigned builder_mode_apply(const struct build_mode *m, unsigned mode, bool folder);

#endif
