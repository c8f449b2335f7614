/* msg.h - messages and effects: the plain data between the loop, the state
 * and the world.
 *
 * A message says what happened; session_apply and app_apply are the only
 * writers of state and answer with effects, which labs/effects.c carries out.
 * Both are a kind, an id, the cluster's id and epoch, and a JSON body; both
 * can be written to the journal as one line. A message of a dead epoch is
 * dropped. Bodies never hold a secret.
 */
#ifndef CORE_BASE_MSG_H
#define CORE_BASE_MSG_H

#include "core/base/json.h"

/* X(enum, name): the body's members stand in the comment. */
#define MSG_KINDS(X)                                                                              \
    X(MSG_KEY, "key")                 /* key: "j", "Enter", "C-c", "F1", "Up" */                  \
    X(MSG_PASTE, "paste")             /* text */                                                  \
    X(MSG_RESIZE, "resize")           /* cols, rows */                                            \
    X(MSG_TICK, "tick")               /* wall_ms: once a second while anything shows an age */    \
    X(MSG_COMMAND, "command")         /* name, args[]: from palette, key or headless */           \
    X(MSG_CLUSTER, "cluster")         /* state: connecting|up|down, server, context, namespace,   \
                                         user, version, latency_ms, error, next_try_ms; of the    \
                                         connection panel: ns_from, ns_own, used[], auth, certs[], \
                                         tls, proxy, insecure (k8s/identity.h) */                 \
    X(MSG_REQUEST, "request")         /* id, method, path, status (0 open), ms, kubectl, body,    \
                                         warning, retry_ms: made again after */                   \
    X(MSG_LIST, "list")               /* resource, items[], from, more: replaces all rows of it;  \
                                         from: how many came in parts before, more: some follow */ \
    X(MSG_WATCH_EVENT, "event")       /* resource, type: ADDED|MODIFIED|DELETED, object */        \
    X(MSG_WATCH_STATE, "watch")       /* resource, error, next_ms, age_ms, poll_ms (0: watched),  \
                                         state: listing|live|quiet|polling|retrying|forbidden */ \
    X(MSG_REPLY, "reply")             /* the end of a one-shot effect: status, object | error */  \
    X(MSG_LOG_LINE, "log")            /* stream, pod, container, ts, text */                      \
    X(MSG_LOG_STATE, "log-state")     /* stream, state: open|waiting|retrying|gap|restart|ended,  \
                                         error, container | state: containers, containers[] */    \
    X(MSG_ATTACH, "attach")           /* stream, state: open|closed, exit, error | text */        \
    X(MSG_CHILD_LINE, "child")        /* record: the JSON object of one line */                   \
    X(MSG_CHILD_EXIT, "child-exit")   /* code, signal, stderr */                                  \
    X(MSG_SHELL, "shell")             /* stream, state: open|closed, data: base64, exit, error */ \
    X(MSG_FORWARD, "forward")         /* stream, state: open|said|failed, port, open, total,      \
                                         failed, sent, received, lasting, error */                \
    X(MSG_COPY, "copy")               /* done, total, path, sha256, state */                      \
    X(MSG_TIMER, "timer")             /* name */                                                  \
    X(MSG_FILE, "file")               /* path, text | missing: as it is now */

#define MSG_ENUM(e, name) e,
enum msg_kind { MSG_KINDS(MSG_ENUM) MSG_KIND_COUNT };
#undef MSG_ENUM

struct msg {
    enum msg_kind kind;
    int64_t at_ms;                    /* wall time */
    uint32_t effect;                  /* id of the effect that caused it, 0 when none */
    uint16_t cluster;                 /* id of the connection, 0 when none */
    uint32_t epoch;                   /* of the connection */
    struct json *body;                /* owned by the message; may be NULL */
};

#define EFFECT_KINDS(X)                                                                           \
    X(EFF_CONNECT, "connect")         /* context | kubeconfig | default: the default cluster;     \
                                         namespace "": the context's own. MSG_REPLY with an error \
                                         when there is a connection and it stays */               \
    X(EFF_CONTEXTS, "contexts")       /* -> MSG_REPLY with contexts[]: of the files, by a child */ \
    X(EFF_PROBE, "probe")             /* context -> MSG_REPLY with ms, version; 5 s at most,      \
                                         without credentials */                                   \
    X(EFF_LOGIN_END, "login-end")     /* end the credential plugin that runs */                   \
    X(EFF_WATCH, "watch")             /* resource, namespace, labelSelector, fieldSelector */     \
    X(EFF_GET, "get")                 /* resource, namespace, name */                             \
    X(EFF_LIST, "list")               /* resource, namespace, labelSelector; rows: by MSG_LIST,   \
                                         then MSG_REPLY without the object */                     \
    X(EFF_APPLY, "apply")             /* manifest (JSON object), force, dry_run */                \
    X(EFF_DELETE, "delete")           /* resource, namespace, name, uid, grace */                 \
    X(EFF_CAN, "can")                 /* verb, resource, namespace -> MSG_REPLY with a review */   \
    X(EFF_REVIEW, "review")           /* kind: SelfSubjectReview | SelfSubjectRulesReview,        \
                                         namespace -> MSG_REPLY with the review */                \
    X(EFF_NAMESPACE, "namespace")     /* namespace: this one from now on, a new epoch */          \
    X(EFF_LOG, "log")                 /* namespace, pod, container | all, follow, tail, since,    \
                                         previous */                                              \
    X(EFF_ATTACH, "attach")           /* namespace, pod, container */                             \
    X(EFF_ATTACH_SEND, "attach-send") /* stream (effect id of the attach), text */                \
    X(EFF_EXEC, "exec")               /* namespace, pod, container, argv[] -> MSG_REPLY with      \
                                         stdout, stderr, exit */                                  \
    X(EFF_SHELL, "shell")             /* namespace, pod, container, cols, rows: bash or sh */     \
    X(EFF_SHELL_SEND, "shell-send")   /* stream (effect id of the shell), data: base64 */         \
    X(EFF_SHELL_SIZE, "shell-size")   /* stream, cols, rows */                                    \
    X(EFF_FORWARD, "forward")         /* namespace, pod, local, remote: until it is cancelled */  \
    X(EFF_COPY_OUT, "copy-out")       /* namespace, pod, container, argv[] (writes a tar), to */  \
    X(EFF_SPAWN, "spawn")             /* argv[], cwd, stdin: a child that speaks JSON lines */    \
    X(EFF_CANCEL, "cancel")           /* effect: the id to end */                                 \
    X(EFF_WRITE, "write")             /* path, text: atomic */                                    \
    X(EFF_MOVE, "move")               /* path, to: a file or folder of ours -> MSG_REPLY with     \
                                         missing when it was not there */                         \
    X(EFF_TIMER, "timer")             /* name, ms */                                              \
    X(EFF_WATCH_FILE, "watch-file")   /* path */                                                  \
    X(EFF_EDIT, "edit")               /* path: $EDITOR on the released terminal (tui only) */     \
    X(EFF_COPY_TEXT, "copy-text")     /* text: to the clipboard by OSC 52 (tui only) */           \
    X(EFF_REDRAW, "redraw")           /* every cell anew (tui only) */                            \
    X(EFF_SUSPEND, "suspend")         /* stop, as Ctrl-Z does (tui only) */                       \
    X(EFF_BELL, "bell")               /* (tui only) */                                            \
    X(EFF_TITLE, "title")             /* text: of the window, "" as it was (tui only) */          \
    X(EFF_QUIT, "quit")               /* code */

#define EFFECT_ENUM(e, name) e,
enum effect_kind { EFFECT_KINDS(EFFECT_ENUM) EFFECT_KIND_COUNT };
#undef EFFECT_ENUM

struct effect {
    enum effect_kind kind;
    uint32_t id;                      /* unique in a run, never 0 */
    uint16_t cluster;
    uint32_t epoch;
    struct json *args;                /* owned by the effect */
};

/* A queue of effects that a writer of state fills. */
struct effects {
    struct effect *v;
    size_t n, cap;
    uint32_t next_id;
};

const char *msg_kind_name(enum msg_kind kind);
const char *effect_kind_name(enum effect_kind kind);
struct msg *msg_new(enum msg_kind kind, struct json *body);    /* takes body; stamps at_ms */
void msg_free(struct msg *m);
/* One line of JSON and back; for the journal. */
struct json *msg_to_json(const struct msg *m);
MUST_USE enum pd_code msg_from_json(const struct json *j, struct msg **out, struct pd_err *err);

void effects_init(struct effects *e);
void effects_release(struct effects *e);
/* Append; takes args; returns the id. */
uint32_t effects_add(struct effects *e, enum effect_kind kind, uint16_t cluster, uint32_t epoch,
                     struct json *args);
void effects_clear(struct effects *e);                         /* next_id goes on */
struct json *effect_to_json(const struct effect *e);

#endif
