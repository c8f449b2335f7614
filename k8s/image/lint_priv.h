/* lint_priv.h - a Dockerfile under examination, shared by lint_*.c. */
#ifndef K8S_IMAGE_LINT_PRIV_H
#define K8S_IMAGE_LINT_PRIV_H

#include "k8s/image/context.h"
#include "k8s/image/dockerfile_plan.h"
#include "k8s/image/lint.h"

enum distro { DISTRO_UNKNOWN, DISTRO_NONE, DISTRO_UBUNTU, DISTRO_DEBIAN, DISTRO_ALPINE,
              DISTRO_RPM };

/* What is known of a base image by its name. */
struct base_facts {
    char repo[256], tag[128];     /* docker.io/library/ left away */
    bool digest;                  /* pinned */
    enum distro distro;
    int major, minor;             /* 22, 4 of Ubuntu; 12, 0 of Debian; 0: not known */
    bool bare;                    /* only what the distribution's own image has */
    bool python, pip;             /* `python` and `pip` are there */
    bool cuda;
    char cuda_version[16], flavour[16];       /* "11.7.1", "devel" */
};

/* What a stage has, as its instructions tell. */
struct stage_facts {
    struct base_facts base;
    struct strv packages;         /* installed with apt, apk, dnf */
    bool unknown;                 /* something else may have put programs there */
    bool updated;                 /* package lists were fetched by an earlier RUN */
    bool files;                   /* something was copied or fetched into it */
    bool bash;                    /* SHELL is no plain sh */
    bool workdir;
};

struct sh_cmd {
    struct strv words;            /* quotes undone */
    char *text;                   /* as written */
    char before, after;           /* '&' (&&), '|', ';', 'o' (||), 0 at the ends */
};
struct sh_list {
    struct sh_cmd *v;
    size_t n;
};

struct lint_work {
    const struct lint_input *in;
    struct dockerfile *df;
    struct df_plan plan;
    bool planned;
    struct strv globals;          /* ARG before FROM with values */
    struct stage_facts *stages;   /* one a stage of the plan */
    struct context *ctx;          /* or NULL */
    struct strv skip;             /* rules switched off */
    struct lint *out;
};

struct place {
    int line, col;
};

/* --- lint.c --- */
/* A finding with its cause; NULL when the rule is switched off. The evidence is
 * the line itself until it is set. */
struct lint_finding *lint_add(struct lint_work *w, const char *rule, enum lint_level level,
                              struct place p, const char *fmt, ...) PRINTF_LIKE(5, 6);
void lint_next(struct lint_finding *f, const char *fmt, ...) PRINTF_LIKE(2, 3);
void lint_evidence(struct lint_finding *f, const char *fmt, ...) PRINTF_LIKE(2, 3);
struct place lint_at_word(const struct df_word *w);
struct place lint_at(const struct df_instr *in);
/* Where a text stands inside an instruction that may span lines. */
struct place lint_find(const struct lint_work *w, const struct df_instr *in, const char *text);
/* A line of the Dockerfile, without its end. */
const char *lint_line(const struct lint_work *w, int line, size_t *n);
/* The stage of instruction i, or NULL before the first FROM. */
struct stage_facts *lint_stage(const struct lint_work *w, size_t i);
bool lint_last_in_stage(const struct lint_work *w, size_t i);    /* of its op */

/* --- lint_facts.c --- */
void lint_facts_base(const char *image, struct base_facts *out);
/* "3.9": is python3.9 in this release's archive? 1 yes, 0 no, -1 not known. */
int lint_facts_python(const struct base_facts *b, const char *version);
/* The releases that have it: "Ubuntu 20.04, Debian 11". */
void lint_facts_python_where(const char *version, bool have, struct str *out);
const char *lint_facts_distro(const struct base_facts *b, char buf[32]);   /* "Ubuntu 22.04" */
/* What comes with a program: "curl" -> "curl", "gcc" -> "build-essential"; NULL:
 * it is in no table. */
const char *lint_facts_package(const char *program);

/* --- lint_shell.c --- */
void lint_shell_split(const struct df_instr *in, struct sh_list *out);
void lint_shell_release(struct sh_list *l);
bool lint_word(const struct sh_cmd *c, const char *word);
/* A word that starts so; NULL. */
const char *lint_word_starts(const struct sh_cmd *c, const char *prefix);

/* --- the rules --- */
void lint_text(struct lint_work *w);
void lint_stages(struct lint_work *w);
void lint_bases(struct lint_work *w);
void lint_vars(struct lint_work *w);
void lint_secrets(struct lint_work *w);
void lint_runs(struct lint_work *w);      /* fills the facts of the stages too */
void lint_pip(struct lint_work *w, const struct df_instr *in, struct stage_facts *s,
              const struct sh_list *l, const struct sh_cmd *c);
void lint_copies(struct lint_work *w);
void lint_starts(struct lint_work *w);    /* CMD and ENTRYPOINT */
void lint_users(struct lint_work *w);
void lint_gaudi(struct lint_work *w);
void lint_errors(struct lint_work *w, const char *name, const char *text);
/* How many ids a rootless user has by /etc/subuid; 65536 when not told. */
int64_t lint_subuid_count(const char *subuid, char line[128]);

#endif
