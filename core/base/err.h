/* err.h - expected failures: one table of codes, one error struct, and the
 * way a bug ends the program.
 *
 * A failing function fills *err and returns the code; on success it returns
 * PD_OK and leaves *err untouched. `err` may not be NULL. Every code has an
 * id that is shown to people and never changes, a default message and a hint
 * (the next step); both are gettext keys.
 */
#ifndef CORE_BASE_ERR_H
#define CORE_BASE_ERR_H

#include "core/base/base.h"

/* X(code, id, default message, default hint) */
#define PD_CODES(X)                                                                               \
    X(PD_OK, "PD-OK", "no error", "")                                                             \
    X(PD_USAGE, "PD-USAGE", "the command line is wrong", "run the command with --help")           \
    X(PD_PARSE, "PD-PARSE", "the text can't be read", "correct it at the place named")            \
    X(PD_IO, "PD-IO", "a file or pipe failed", "check the path, its rights and the free space")   \
    X(PD_LIMIT, "PD-LIMIT", "the input is larger than its ceiling", "make it smaller")            \
    X(PD_TIMEOUT, "PD-TIMEOUT", "no answer in time", "check the network, then try again")         \
    X(PD_CANCELED, "PD-CANCELED", "it was cancelled", "start it again when you are ready")        \
    X(PD_NET, "PD-NET", "the server can't be reached", "check that it runs and the address")      \
    X(PD_TLS, "PD-TLS", "the server's certificate is not trusted", "check the CA in kubeconfig")  \
    X(PD_PROTO, "PD-PROTO", "the answer makes no sense", "check what listens at that address")    \
    X(PD_AUTH, "PD-K8S-AUTH", "the cluster does not know you", "renew the token or certificate")  \
    X(PD_FORBIDDEN, "PD-K8S-FORBIDDEN", "you have no right to do this", "ask for the Role named") \
    X(PD_NOTFOUND, "PD-K8S-NOTFOUND", "the object is not there", "check its name and namespace")  \
    X(PD_CONFLICT, "PD-K8S-CONFLICT", "someone else changed or owns it", "read it again, retry")  \
    X(PD_GONE, "PD-K8S-GONE", "the version asked for is too old", "list again")                   \
    X(PD_INVALID, "PD-K8S-INVALID", "the object is not valid", "correct the field named")         \
    X(PD_QUOTA, "PD-K8S-QUOTA", "the namespace's quota is used up", "free something or ask")      \
    X(PD_HTTP, "PD-HTTP", "the server answered with an error", "read the answer's text")          \
    X(PD_KUBECONFIG, "PD-KUBECONFIG", "the kubeconfig can't be used", "correct the field named")  \
    X(PD_LAB, "PD-LAB", "the lab file is wrong", "correct it at the place named")                 \
    X(PD_IMAGE, "PD-IMAGE", "the image can't be built or read", "correct the line named")         \
    X(PD_ENGINE, "PD-IMAGE-ENGINE", "this needs a container engine", "use COPY, or an engine")    \
    X(PD_TRAIN, "PD-TRAIN", "the training can't go on", "see the evidence named")                 \
    X(PD_DATA, "PD-DATA", "the data set is wrong", "correct the record named")                    \
    X(PD_SANDBOX, "PD-SANDBOX", "the process can't be isolated here", "see what is missing")      \
    X(PD_UNSUPPORTED, "PD-UNSUPPORTED", "this can't be done here", "see the reason")

#define PD_ENUM(code, id, msg, hint) code,
enum pd_code { PD_CODES(PD_ENUM) PD_CODE_COUNT };
#undef PD_ENUM

/* msg: what happened, with the names and values that matter. hint: the next
 * step. src: file of the input or URL of the request ("" when none); line and
 * col are 1-based, 0 when none. */
struct pd_err {
    enum pd_code code;
    char msg[512];
    char hint[240];
    char src[240];
    int line, col;
};

const char *pd_id(enum pd_code code);            /* "PD-K8S-FORBIDDEN" */
const char *pd_message(enum pd_code code);       /* default message, English key */
const char *pd_hint(enum pd_code code);          /* default hint, English key */

/* Fill *err (hint from the table, no place) and return code. */
enum pd_code pd_fail(struct pd_err *err, enum pd_code code, const char *fmt, ...)
    PRINTF_LIKE(3, 4);
/* As pd_fail, with a place in an input. */
enum pd_code pd_fail_at(struct pd_err *err, enum pd_code code, const char *src, int line, int col,
                        const char *fmt, ...) PRINTF_LIKE(6, 7);
/* As pd_fail, with ": " and strerror(errno) behind the text. */
enum pd_code pd_fail_errno(struct pd_err *err, enum pd_code code, const char *fmt, ...)
    PRINTF_LIKE(3, 4);
/* Replace the hint of a filled error. Returns err->code. */
enum pd_code pd_set_hint(struct pd_err *err, const char *fmt, ...) PRINTF_LIKE(2, 3);
/* One line: "src:line:col: msg (hint) [id]", into buf; returns buf. */
const char *pd_describe(const struct pd_err *err, char *buf, size_t size);

/* A bug or an exhausted memory: run the hook (restores the terminal), write
 * the sentence to stderr, abort. */
NORETURN void pd_bug(const char *file, int line, const char *fmt, ...) PRINTF_LIKE(3, 4);
#define PD_BUG(...) pd_bug(__FILE__, __LINE__, __VA_ARGS__)
void pd_on_die(void (*hook)(void));

#endif
