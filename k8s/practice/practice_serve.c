/* practice_serve.c - the server process of the practice cluster: puts its parts
 * together and runs the loop (practice.h).
 */
#include "core/base/base.h"

#include <poll.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/base/log.h"
#include "core/base/mem.h"
#include "core/base/path.h"
#include "k8s/practice/api_int.h"
#include "k8s/practice/initial.h"
#include "k8s/practice/node.h"
#include "k8s/practice/practice.h"
#include "k8s/practice/quota.h"
#include "k8s/practice/registry.h"
#include "k8s/practice/rest.h"
#include "k8s/practice/server.h"

struct parts {
    struct loop *loop;
    struct tls_files tls;
    struct rest rest;
    struct initial *initial;
    struct quota *quota;
    struct node *node;
    struct registry *registry;
};

static void on_signal(void *arg, int signo)
{
    (void)signo;
    loop_stop(arg, 0);
}

static void more_files(void)
{
    struct rlimit r;
    if (getrlimit(RLIMIT_NOFILE, &r) == 0) {
        r.rlim_cur = MIN(r.rlim_max, 65536);
        (void)setrlimit(RLIMIT_NOFILE, &r);
    }
}

/* The port of last time, so that kubeconfigs and the names of images in our
 * registry stay right; any when another program has it. */
static enum pd_code listen_on(struct parts *p, int port, struct pd_err *err)
{
    struct server_tls tls = {p->tls.cert_pem, p->tls.key_pem};
    int64_t until = clock_ms() + PRACTICE_WAIT_MS;
    for (bool again = port > 0; again; again = clock_ms() < until) {
        if (server_start(p->loop, port, &tls, auth_check, p->rest.auth, &p->rest.server, err) ==
            PD_OK)
            return PD_OK;
        poll(NULL, 0, 20);
    }
    return server_start(p->loop, 0, &tls, auth_check, p->rest.auth, &p->rest.server, err);
}

static enum pd_code open_api(struct parts *p, const char *dir, struct pd_err *err)
{
    char host[64];
    struct api_config c = {.loop = p->loop, .dir = dir, .ca_file = p->tls.ca_path,
                           .system_token = auth_token(p->rest.auth, "system:node")};
    c.registry_host = str_fmt(host, sizeof host, "127.0.0.1:%d", server_port(p->rest.server));
    return api_open(&c, &p->rest.api, err);
}

static enum pd_code tell(struct parts *p, const char *dir, struct pd_err *err)
{
    static const char *const users[] = {"student", "admin"};
    int port = server_port(p->rest.server);
    enum pd_code code = PD_OK;
    for (size_t i = 0; i < ARRAY_LEN(users) && code == PD_OK; i++)
        code = practice_write_kubeconfig(dir, users[i], auth_token(p->rest.auth, users[i]),
                                         p->tls.ca_pem, port, err);
    return code == PD_OK ? practice_write_state(dir, port, err) : code;
}

static enum pd_code assemble(struct parts *p, const char *dir, struct pd_err *err)
{
    struct practice_state last;
    char *blobs = path_join(dir, "registry");
    practice_look(dir, &last);
    p->loop = loop_new();
    enum pd_code code = tls_open(dir, &p->tls, err);
    if (code == PD_OK)
        code = auth_open(dir, &p->rest.auth, err);
    if (code == PD_OK)
        code = listen_on(p, last.port, err);
    if (code == PD_OK)
        code = open_api(p, dir, err);
    if (code == PD_OK) {
        rest_routes(&p->rest);
        p->initial = initial_start(p->rest.api, p->tls.ca_pem);
        p->quota = quota_start(p->rest.api);
        code = registry_start(p->loop, p->rest.server, blobs, &p->registry, err);
    }
    if (code == PD_OK) {
        p->node = node_start(p->rest.api, NULL);
        code = tell(p, dir, err);
    }
    free(blobs);
    return code;
}

static void dismantle(struct parts *p)
{
    server_stop(p->rest.server);
    registry_stop(p->registry);
    if (p->node)
        node_stop(p->node);
    quota_stop(p->quota);
    initial_stop(p->initial);
    api_close(p->rest.api);
    auth_close(p->rest.auth);
    tls_release(&p->tls);
    loop_free(p->loop);
}

enum pd_code practice_serve(const char *dir, int ready_fd, struct pd_err *err)
{
    struct parts p;
    char *log = path_join(dir, "practice.log"), line[32];
    memset(&p, 0, sizeof p);
    int lock = practice_lock(dir, "lock", PRACTICE_WAIT_MS);
    if (lock < 0) {
        free(log);
        return pd_fail(err, PD_CONFLICT, "the practice cluster in %s runs already", dir);
    }
    struct pd_err ignored;
    (void)!log_open(log, LOG_INFO, &ignored);
    free(log);
    more_files();
    signal(SIGPIPE, SIG_IGN);
    enum pd_code code = assemble(&p, dir, err);
    if (code == PD_OK) {
        loop_signal(p.loop, SIGTERM, on_signal, p.loop);
        loop_signal(p.loop, SIGINT, on_signal, p.loop);
        str_fmt(line, sizeof line, "ready %d\n", server_port(p.rest.server));
        if (ready_fd >= 0 && write(ready_fd, line, strlen(line)) < 0)
            log_write(LOG_WARN, "whoever started the server left");
        if (ready_fd >= 0)
            close(ready_fd);
        log_write(LOG_INFO, "serving https://127.0.0.1:%d from %s", server_port(p.rest.server),
                  dir);
        loop_run(p.loop);
    }
    dismantle(&p);
    close(lock);
    return code;
}
