/* stream_cmd.h - what `podium exec`, `podium cp` and `podium port-forward` have
 * in common: options as kubectl writes them, a connection, a loop.
 */
#ifndef K8S_STREAM_CMD_H
#define K8S_STREAM_CMD_H

#include "k8s/client.h"

struct stream_option {
    const char *name, *other;            /* "-c", "--container" */
    const char **value;                  /* takes a value, or */
    bool *flag;
};

struct stream_cmd {
    const char *name, *help;             /* "podium exec"; help: gettext key */
    struct kube_options kube;
    const char *lang;
    struct strv words;                   /* what is no option */
    char **rest;                         /* behind "--", or NULL */
    struct loop *loop;
    struct k8s *k;
    struct pd_err err;
    char container[64];
};

/* Options of all (-n, --namespace, --context, --kubeconfig, --lang) and the
 * command's own; false: *code is what the program ends with. */
bool stream_cmd_parse(struct stream_cmd *c, int argc, char **argv, const struct stream_option *own,
                      size_t n, int *code);
bool stream_cmd_connect(struct stream_cmd *c);       /* false: c->err */
/* The container that is meant where none was named, as kubectl chooses it; says
 * so when there are several. NULL: the server's choice. Waits for the answer. */
const char *stream_cmd_container(struct stream_cmd *c, const char *ns, const char *pod);
void stream_cmd_release(struct stream_cmd *c);
int stream_cmd_usage(const struct stream_cmd *c, const char *why);
/* "podium exec: …" to stderr; returns code. */
int stream_cmd_fail(const struct stream_cmd *c, const struct pd_err *err, int code);
/* Ctrl-C and TERM end the loop with 130 and 143. */
void stream_cmd_signals(struct stream_cmd *c);

int exec_cmd(int argc, char **argv);
int portforward_cmd(int argc, char **argv);
int copy_cmd(int argc, char **argv);

#endif
