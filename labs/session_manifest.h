/* session_manifest.h - the manifest of the shown step, for the files of the session:
 * what is wrong with it, and what it would change (session_manifest.c).
 */
#ifndef LABS_SESSION_MANIFEST_H
#define LABS_SESSION_MANIFEST_H

#include "k8s/manifest.h"
#include "labs/session.h"

/* `work`: the person's file, else one of the lab's folder. */
struct manifest *session_manifest_parse(struct session *s, const char *file, bool work,
                                        struct pd_err *err);
/* The offline check of the person's file, for show. */
void session_manifest_check(struct session *s, const char *file);
/* What the server said of document i of the person's file, each cause at its line. */
void session_manifest_refused(struct session *s, const char *file, size_t doc, int http,
                              const struct json *status, const struct json *live);
void session_manifest_look(struct session *s, struct effects *out);
void session_manifest_message(struct session *s, const struct msg *m, struct effects *out);
void session_manifest_forget(struct session *s);

#endif
