/* client_io.h - what the parts of the client (watch, log, exec) need of a
 * connection beyond client.h: its trace, its link state, and to hear of its end.
 */
#ifndef K8S_CLIENT_IO_H
#define K8S_CLIENT_IO_H

#include "k8s/client.h"
#include "k8s/res.h"

/* A thing that lives on a connection. close is called by k8s_close: end all
 * traffic, forget the connection; the owner still frees the thing itself. wake
 * is called when the server answers again after it could not be reached: what
 * waits for its next try should try now. It must not end any part at once. */
struct k8s_part {
    void (*close)(void *arg);
    void (*wake)(void *arg);          /* or NULL */
    void *arg;
    struct k8s_part *prev, *next;
};
void k8s_part_add(struct k8s *k, struct k8s_part *p);
void k8s_part_remove(struct k8s *k, struct k8s_part *p);

/* A request's two trace calls; status 0 opens (the id is returned). */
uint32_t k8s_trace_open(struct k8s *k, const char *method, const char *path,
                        const char *content_type, const struct json *body);
void k8s_trace_done(struct k8s *k, uint32_t id, const char *method, const char *path, int status,
                    int64_t ms);
/* The same with what else is told: Warning headers, and when it is made again. */
void k8s_trace_ended(struct k8s *k, uint32_t id, const char *method, const char *path,
                     const struct http_response *r, int64_t retry_ms);
/* An answer came (err NULL), or the transport failed. */
void k8s_link(struct k8s *k, int64_t ms, const struct pd_err *err);

/* What an answer fails by: the transport, a refusal, a redirect (to a login
 * page), a web page in place of an API answer; PD_OK and err untouched when none. */
enum pd_code k8s_answer_error(const struct http_response *r, struct pd_err *err);

/* Append "?name=value" or "&name=value", percent-encoded; NULL value: nothing. */
void k8s_query(struct str *path, const char *name, const char *value);
/* Clean text of a server for the terminal, cut to size; returns dst. */
char *k8s_clean(char *dst, size_t size, const char *text, size_t n);

#endif
