/* labs_place.c - going to another context or namespace: the runner against a
 * made-up server over plain HTTP. What can't be used leaves what there is; the
 * choice is kept in podium's own folder and in no kubeconfig. */
#include "tests/api/client_fake.h"

#include "core/base/clock.h"
#include "core/base/mem.h"
#include "core/base/path.h"
#include "labs/effects.h"

enum { MOST = 256 };

struct world {
    struct loop *l;
    struct effects_runner *r;
    struct effects out;
    struct msg *got[MOST];
    size_t n;
    uint16_t cluster;
    uint32_t epoch;
};

static struct fake server;
static char config[300];

static void serve(struct fake_conn *c)
{
    while (fake_request(c)) {
        if (strstr(c->path, "selfsubjectreviews") && strstr(c->path, "/v1/"))
            fake_json(c, 404, "{\"kind\":\"Status\",\"message\":\"no\",\"reason\":\"NotFound\"}");
        else if (strstr(c->path, "selfsubjectreviews"))
            fake_json(c, 201, "{\"status\":{\"userInfo\":{\"username\":\"ann\"}}}");
        else if (strstr(c->path, "selfsubjectrulesreviews"))
            fake_json(c, 201, c->body && strstr(c->body, "\"namespace\":\"team\"")
                                  ? "{\"status\":{\"incomplete\":false}}" : "{}");
        else
            fake_json(c, 200, "{\"gitVersion\":\"v1.34.4\"}");
    }
}

static void deliver(void *arg, struct msg *m)
{
    struct world *w = arg;
    CHECK(w->n < MOST);
    if (m->kind == MSG_CLUSTER) {
        w->cluster = m->cluster;
        w->epoch = m->epoch;
    }
    w->got[w->n++] = m;
}

static void open_world(struct world *w, bool keep, const char *ns)
{
    memset(w, 0, sizeof *w);
    w->l = loop_new();
    struct effects_options o = {.deliver = deliver, .arg = w, .kubeconfig = config,
                                .keep_choices = keep, .ns = ns};
    w->r = effects_runner_new(w->l, &o);
    effects_init(&w->out);
}

static void close_world(struct world *w)
{
    effects_runner_free(w->r);
    effects_release(&w->out);
    for (size_t i = 0; i < w->n; i++)
        msg_free(w->got[i]);
    loop_free(w->l);
}

static uint32_t run(struct world *w, enum effect_kind kind, const char *args)
{
    bool of_cluster = kind == EFF_NAMESPACE || kind == EFF_REVIEW;
    uint32_t id = effects_add(&w->out, kind, of_cluster ? w->cluster : 0,
                              of_cluster ? w->epoch : 0, json_from(args));
    effects_run_all(w->r, &w->out);
    return id;
}

/* The newest message of a kind whose member `path` is `value`, from `from` on. */
static const struct msg *await(struct world *w, size_t from, enum msg_kind kind, const char *path,
                               const char *value)
{
    int64_t end = clock_ms() + 5000;
    for (;;) {
        for (size_t i = w->n; i-- > from;)
            if (w->got[i]->kind == kind && str_eq(json_str(w->got[i]->body, path, "?"), value))
                return w->got[i];
        if (clock_ms() > end)
            t_fail(__FILE__, __LINE__, "no %s with %s %s", msg_kind_name(kind), path, value);
        loop_turn(w->l, 50);
    }
}

static const struct msg *reply(struct world *w, uint32_t effect)
{
    int64_t end = clock_ms() + 5000;
    for (;;) {
        for (size_t i = 0; i < w->n; i++)
            if (w->got[i]->kind == MSG_REPLY && w->got[i]->effect == effect)
                return w->got[i];
        if (clock_ms() > end)
            t_fail(__FILE__, __LINE__, "no reply");
        loop_turn(w->l, 50);
    }
}

static void begin(void)
{
    char text[900];
    struct pd_err err;
    server = fake_start(serve);
    char *state = path_join(t_dir(), "state");
    setenv("XDG_STATE_HOME", state, 1);
    free(state);
    str_fmt(config, sizeof config, "%s/config", t_dir());
    str_fmt(text, sizeof text,
            "apiVersion: v1\nkind: Config\ncurrent-context: a\n"
            "clusters:\n- {name: c, cluster: {server: 'http://127.0.0.1:%d'}}\n"
            "- {name: gone, cluster: {server: 'http://127.0.0.1:1'}}\n"
            "users:\n- {name: u, user: {}}\ncontexts:\n"
            "- {name: a, context: {cluster: c, user: u, namespace: lab}}\n"
            "- {name: b, context: {cluster: c, user: u, namespace: other}}\n"
            "- {name: dead, context: {cluster: gone, user: u}}\n", server.port);
    CHECK_OK(path_write_atomic(config, 0600, text, strlen(text), &err));
}

static const struct msg *up(struct world *w)
{
    run(w, EFF_CONNECT, "{}");
    return await(w, 0, MSG_CLUSTER, "state", "up");
}

TEST(a_context_that_is_not_there_leaves_the_connection)
{
    struct world w;
    begin();
    open_world(&w, false, NULL);
    up(&w);
    uint32_t epoch = w.epoch;
    const struct msg *m = reply(&w, run(&w, EFF_CONNECT, "{\"context\":\"nix\"}"));
    CHECK_HAS(json_str(m->body, "error.text", ""), "nix");
    size_t from = w.n;
    run(&w, EFF_NAMESPACE, "{\"namespace\":\"team\"}");   /* still there */
    m = await(&w, from, MSG_CLUSTER, "state", "up");
    CHECK_STR(json_str(m->body, "context", ""), "a");
    CHECK(m->epoch > epoch);
    from = w.n;
    run(&w, EFF_CONNECT, "{\"context\":\"b\",\"namespace\":\"\"}");
    m = await(&w, from, MSG_CLUSTER, "state", "up");
    CHECK_STR(json_str(m->body, "context", ""), "b");
    CHECK_STR(json_str(m->body, "namespace", ""), "other");
    close_world(&w);
}

TEST(the_namespace_chosen_last_holds_again_where_that_is_wanted)
{
    struct world w;
    struct str before, after;
    struct pd_err err;
    begin();
    str_init(&before, 4096);
    str_init(&after, 4096);
    CHECK_OK(path_read(config, 4096, &before, &err));
    open_world(&w, true, NULL);
    up(&w);
    run(&w, EFF_NAMESPACE, "{\"namespace\":\"team\"}");
    const struct msg *m = await(&w, 0, MSG_CLUSTER, "ns_from", "chosen");
    CHECK_STR(json_str(m->body, "namespace", ""), "team");
    CHECK_STR(json_str(m->body, "used[0]", ""), "team");
    close_world(&w);
    open_world(&w, true, NULL);
    m = up(&w);
    CHECK_STR(json_str(m->body, "namespace", ""), "team");
    CHECK_STR(json_str(m->body, "ns_from", ""), "kept");
    CHECK_STR(json_str(m->body, "ns_own", ""), "lab");
    close_world(&w);
    open_world(&w, true, "flag");                         /* --namespace wins */
    m = up(&w);
    CHECK_STR(json_str(m->body, "namespace", ""), "flag");
    close_world(&w);
    open_world(&w, false, NULL);                          /* headless: the kubeconfig alone */
    m = up(&w);
    CHECK_STR(json_str(m->body, "namespace", ""), "lab");
    close_world(&w);
    open_world(&w, true, NULL);
    up(&w);
    run(&w, EFF_NAMESPACE, "{\"namespace\":\"lab\"}");    /* back to what the file says */
    await(&w, 0, MSG_CLUSTER, "ns_from", "chosen");
    close_world(&w);
    open_world(&w, true, NULL);
    CHECK_STR(json_str(up(&w)->body, "ns_from", ""), "kubeconfig");
    close_world(&w);
    CHECK_OK(path_read(config, 4096, &after, &err));
    CHECK_STR(after.p, before.p);
    str_release(&before);
    str_release(&after);
}

TEST(a_look_at_another_context_is_a_request_and_no_connection)
{
    struct world w;
    begin();
    open_world(&w, false, NULL);
    up(&w);
    uint32_t epoch = w.epoch;
    const struct msg *m = reply(&w, run(&w, EFF_PROBE, "{\"context\":\"b\"}"));
    CHECK(!json_has(m->body, "error"));
    CHECK_STR(json_str(m->body, "version", ""), "v1.34.4");
    m = await(&w, 0, MSG_REQUEST, "kubectl", "kubectl get --raw /version --context=b");
    CHECK_HAS(json_str(m->body, "path", ""), "http://127.0.0.1:");
    m = reply(&w, run(&w, EFF_PROBE, "{\"context\":\"dead\"}"));
    CHECK_STR(json_str(m->body, "error.code", ""), "PD-NET");
    m = reply(&w, run(&w, EFF_PROBE, "{\"context\":\"nix\"}"));
    CHECK(json_has(m->body, "error"));
    CHECK_INT(w.epoch, epoch);
    CHECK_INT(effects_open(w.r), 0);
    close_world(&w);
}

TEST(older_servers_are_asked_who_one_is_under_an_older_version)
{
    struct world w;
    begin();
    open_world(&w, false, NULL);
    up(&w);
    const struct msg *m = reply(&w, run(&w, EFF_REVIEW, "{\"kind\":\"SelfSubjectReview\"}"));
    CHECK_STR(json_str(m->body, "object.status.userInfo.username", ""), "ann");
    m = reply(&w, run(&w, EFF_REVIEW,
                      "{\"kind\":\"SelfSubjectRulesReview\",\"namespace\":\"team\"}"));
    CHECK(json_at(m->body, "object.status.incomplete") != NULL);
    close_world(&w);
}

T_MAIN
