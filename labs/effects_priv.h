/* effects_priv.h - what the files of the runner share.
 *
 * A slot is one open effect. Its `stop` ends the work silently; whoever ends a
 * slot by itself posts the last message and calls effects_slot_end. Messages
 * are queued and delivered from the loop.
 */
#ifndef LABS_EFFECTS_PRIV_H
#define LABS_EFFECTS_PRIV_H

#include "core/base/str.h"
#include "core/io/child.h"
#include "k8s/client.h"
#include "labs/effects.h"

struct effects_slot {
    struct effects_runner *r;
    uint32_t id;
    enum effect_kind kind;
    uint16_t cluster;
    uint32_t epoch;
    struct json *args;            /* copy of the effect's */
    void (*stop)(struct effects_slot *s);
    void *handle;                 /* k8s_call, watch, podlog, exec, copy, child */
    uint32_t timer;
    struct json *items;           /* of a list that is coming in: the next part */
    size_t items_n, items_sent;
    struct str out, err;          /* of an exec */
    char *text;                   /* of a watched file: as last delivered */
    int inotify;                  /* watch descriptor, or -1 */
    struct effects_slot *next;
};

struct effects_runner {
    struct loop *loop;
    struct effects_options o;
    char *kubeconfig, *context, *ns;      /* copies of the options */
    struct effects_slot *slots;
    struct msg **queue;
    size_t queue_head, queue_n, queue_cap;
    bool deferred, ending;
    struct k8s *k8s;
    uint16_t last_cluster;
    struct json *about;           /* members of MSG_CLUSTER that stay: server, context … */
    uint32_t connect_effect;
    const char *link;             /* "connecting", "up", "down": as last told */
    int inotify_fd;
};

typedef void effects_fn(struct effects_runner *r, const struct effect *e);

struct effects_slot *effects_slot_new(struct effects_runner *r, const struct effect *e);
void effects_slot_end(struct effects_slot *s);            /* frees; stop is not called */
struct effects_slot *effects_slot_find(struct effects_runner *r, uint32_t id);
/* Stop and free every slot of the present connection. */
void effects_drop_cluster(struct effects_runner *r);
/* Queue a message; takes body. effects_post_as: without a slot. */
void effects_post(struct effects_slot *s, enum msg_kind kind, struct json *body);
void effects_post_as(struct effects_runner *r, enum msg_kind kind, uint32_t effect,
                     struct json *body);
struct json *effects_error(const struct pd_err *err);     /* {"error": …} */
/* "{status: 0, error}" as the only answer of an effect that could not begin. */
void effects_refuse(struct effects_runner *r, const struct effect *e, const struct pd_err *err);
/* argv[] of the effect; argv[0] without a slash is looked up next to our
 * program first. */
void effects_argv(const struct json *args, struct strv *out);

/* effects_k8s.c */
effects_fn effects_watch, effects_get, effects_list, effects_apply, effects_delete, effects_can;
/* effects_pod.c */
effects_fn effects_log, effects_attach, effects_attach_send, effects_exec, effects_copy_out;
/* effects_stream.c */
effects_fn effects_shell, effects_shell_send, effects_shell_size, effects_forward;
/* effects_local.c */
effects_fn effects_spawn, effects_move, effects_write, effects_timer, effects_watch_file;
/* A file of ours (0600), whole or not at all; not synced. */
MUST_USE enum pd_code effects_write_renamed(const char *path, const char *text,
                                            struct pd_err *err);
void effects_local_free(struct effects_runner *r);
/* effects_conn.c */
effects_fn effects_login_end, effects_contexts, effects_probe, effects_review, effects_namespace;
/* The namespace that was chosen last in this context takes the place of its own. */
void effects_choice_use(struct effects_runner *r, struct kube_context *x);
/* effects_connect.c */
effects_fn effects_connect;
/* Say that podium goes there, and ask whether it answers. */
void effects_connect_ask(struct effects_runner *r);
void effects_connect_free(struct effects_runner *r);

#endif
