/* rest.h - the HTTP side of the API: requests to verbs, objects to answers.
 * `struct call` is one request; the files rest*, watch, review, discovery and
 * openapi share it.
 */
#ifndef K8S_PRACTICE_REST_H
#define K8S_PRACTICE_REST_H

#include "k8s/practice/api_int.h"
#include "k8s/practice/auth.h"
#include "k8s/practice/server.h"
#include "k8s/schema.h"

struct rest {
    struct api *api;
    struct auth *auth;
    struct server *server;
};

enum rest_as { REST_PLAIN, REST_TABLE, REST_PARTIAL };

struct call {
    struct rest *rest;
    struct server_request *q;            /* NULL when the client left */
    int refs;
    struct res_place at;
    const struct res *res;               /* at.res */
    const struct res_sub *sub;           /* or NULL */
    const struct schema_type *type;      /* of res */
    const char *user;
    char as_user[132];                   /* user, when it is impersonated */
    struct api_user who;
    const char *verb;                    /* "get", "list", "watch", "create", … */
    enum rest_as as;
    bool dry_run, pretty;
    char manager[132];
    struct strv warnings;
    char *body;                          /* as it came */
    size_t body_len;
    int code;                            /* of the answer after the commit */
    struct api_version *result;
};

/* Route everything of the API; `rest` is filled and outlives the server. */
void rest_routes(struct rest *rest);

/* --- answers (each is the last thing said to the request) --- */
void rest_send(struct call *c, int code, const struct json *body);
void rest_send_text(struct call *c, int code, const char *content_type, const char *text, size_t n);
void rest_refuse(struct call *c, struct json *status);           /* takes status */
/* Answer with `v` (taken) once what was written is on disk. */
void rest_answer_later(struct call *c, int code, struct api_version *v);
void rest_release(struct call *c);
struct call *rest_hold(struct call *c);

/* --- what a request says --- */
bool rest_flag(struct call *c, const char *name);                /* "true", "1" */
int64_t rest_int(struct call *c, const char *name, int64_t def);
const char *rest_param(struct call *c, const char *name);        /* "" when absent */
/* The object as it is shown to this request: events of the other group are
 * converted, tables and partial metadata made. NULL: as it is. */
struct json *rest_view(struct call *c, const struct json *obj);
/* A list's items as the request wants them. */
struct json *rest_list_view(struct call *c, const struct api_version *const *v, size_t n);

/* --- verbs --- */
void rest_get(struct call *c);
void rest_list(struct call *c);
void rest_write(struct call *c);         /* body is there: create, update, patch */
void rest_delete(struct call *c);
void rest_delete_many(struct call *c, const struct json *options);
void rest_watch(struct call *c);
void rest_pod_log(struct call *c);
void rest_pod_exec(struct call *c, bool attach);
void rest_pod_forward(struct call *c);
void rest_pod_eviction(struct call *c);
void rest_review(struct call *c);        /* authorization, authentication kinds */
void rest_scale(struct call *c);
/* Decode the body against type t: NULL and an answer sent, or the object. */
struct json *rest_decode(struct call *c, const struct schema_type *t, const char *gv,
                         const char *kind);
struct json *rest_parse(struct call *c);         /* JSON, YAML or protobuf, by Content-Type */

/* --- documents --- */
bool discovery_answer(struct call *c, const char *path);         /* false: not its path */
bool openapi_answer(struct call *c, const char *path);

#endif
