/* login.h - the credentials of one connection, kept fresh: a token, a client
 * certificate, a token file that rotates, or a plugin's answer.
 *
 * They live in the http_target, so REST, watch, log and exec carry the same.
 * A token file is read again every 60 s (the last token stays when it can't be)
 * and after a 401. A plugin runs when the first request needs it; requests wait
 * meanwhile. It runs again ahead of the expiry it announced, while the old
 * credentials still serve, and once after a 401; after a failure not before a
 * while has passed. interactiveMode Never, and IfAvailable where a screen must
 * be released first: it is tried without a terminal first; where that fails and
 * a terminal can be had, with it. That is so when a connection is opened; later
 * the screen is not taken away unasked: the error says to connect again.
 */
#ifndef K8S_LOGIN_H
#define K8S_LOGIN_H

#include "core/io/http.h"
#include "k8s/kubeconfig.h"

struct login;

struct login_hooks {
    /* A plugin needs the terminal (take: leave the screen; false when that can't
     * be now) or gives it back. NULL: stdin is ours, if it is a terminal. */
    bool (*terminal)(void *arg, bool take);
    /* A plugin runs (command, NULL: none any more), or said something on stderr. */
    void (*plugin)(void *arg, const char *command, const char *said);
    void *arg;
};

/* Fills the target's credentials; ctx is copied in part. */
struct login *login_new(struct loop *l, const struct kube_context *ctx, struct http_target *t,
                        const struct login_hooks *hooks);
void login_free(struct login *g);
/* End a plugin that runs; what waits for it fails as cancelled. */
void login_cancel(struct login *g);
/* Somebody asks for the connection anew: a plugin may run, and ask, at once. */
void login_allow(struct login *g);
/* Unix time when the credentials expire, 0: not known. */
int64_t login_expires_ms(const struct login *g);

#endif
