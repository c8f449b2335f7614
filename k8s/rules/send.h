/* send.h - one conversation with a cluster for a command: a question, its answer,
 * the next question. The console never waits like this.
 */
#ifndef K8S_RULES_SEND_H
#define K8S_RULES_SEND_H

#include "k8s/client.h"
#include "k8s/res.h"

struct send {
    struct loop *loop;
    struct k8s *k;
    int status;                  /* of the last answer; 0: there was none */
    struct json *object;         /* of the last answer (an object or a Status), owned */
    struct pd_err err;           /* of the last answer that failed */
};

MUST_USE enum pd_code send_open(struct send *s, const struct kube_options *o, struct pd_err *err);
void send_close(struct send *s);

/* true: below 400. */
bool send_call(struct send *s, const char *method, const char *path, const char *type,
               const struct json *body);
/* Wait ms. */
void send_rest(struct send *s, int ms);

/* Where the objects of a kind live; of one that podium does not know the server is
 * asked (discovery). name NULL: the collection. */
MUST_USE enum pd_code send_path(struct send *s, const struct json *object, bool collection,
                                char path[RES_PATH_MAX], struct pd_err *err);
/* "job.batch/ft", as kubectl names it; buf >= 400. */
const char *send_name(const struct json *object, char buf[400]);

#endif
