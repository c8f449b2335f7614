/* session_conn.h - contexts, namespaces and rights within the session: what its
 * other files need of session_conn.c (labs/conn.h is the state).
 */
#ifndef LABS_SESSION_CONN_H
#define LABS_SESSION_CONN_H

#include "labs/session_priv.h"

void session_conn_command(struct session *s, const char *name, const char *arg,
                          struct effects *out);
/* The answer to one of its questions? */
bool session_conn_message(struct session *s, const struct msg *m, struct effects *out);
/* What MSG_CLUSTER says of the connection; fresh: it is another one. */
void session_conn_take(struct session *s, const struct msg *m, bool fresh);

#endif
