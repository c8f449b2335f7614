/* tui_plain_conn.c - contexts, namespaces, the connection and one's rights in
 * lines: what is asked for is told when it has come, and typed lines wait. */
#include "tests/screens/fx_conn.h"
#include "tui/plain_priv.h"

struct bench {
    struct plain p;
    struct effects out;
};

static void send(void *arg, struct msg *m)
{
    struct bench *b = arg;
    m->at_ms = FIXTURE_NOW;
    app_apply(b->p.app, m, &b->out);
    msg_free(m);
}

static struct bench *bench(void)
{
    struct bench *b = xcalloc(1, sizeof *b);
    b->p.app = fx_app("en", 80, 24, GLYPH_ASCII);
    b->p.send = send;
    b->p.arg = b;
    b->p.width = 72;
    plain_say_init(&b->p.say);
    str_init(&b->p.out, 1 << 20);
    effects_init(&b->out);
    fx_about(b->p.app);
    for (int i = 0; i < SESSION_WATCHED; i++)
        b->p.app->s->tables[i].synced = true;
    plain_look(&b->p);
    return b;
}

static void bench_free(struct bench *b)
{
    effects_release(&b->out);
    str_release(&b->p.out);
    fx_free(b->p.app);
    free(b);
}

static const char *type(struct bench *b, const char *line)
{
    str_clear(&b->p.out);
    plain_take(&b->p, line);
    plain_look(&b->p);
    return b->p.out.p;
}

static const char *answer(struct bench *b, uint32_t effect, const char *body)
{
    str_clear(&b->p.out);
    fx_reply(b->p.app, effect, json_from(body), FIXTURE_NOW);
    plain_look(&b->p);
    return b->p.out.p;
}

static const struct effect *effect_of(const struct bench *b, enum effect_kind kind)
{
    for (size_t i = b->out.n; i-- > 0;)
        if (b->out.v[i].kind == kind)
            return &b->out.v[i];
    return NULL;
}

#define HAS(text, part) CHECK_MSG(strstr((text), (part)) != NULL, "no \"%s\" in:\n%s", part, text)
#define LACKS(text, part) CHECK_MSG(strstr((text), (part)) == NULL, "\"%s\" in:\n%s", part, text)

TEST(contexts_are_told_once_they_are_read)
{
    struct bench *b = bench();
    LACKS(type(b, "ctx"), "Context ");
    CHECK(!plain_free(&b->p));                            /* the next line waits */
    const char *said = answer(b, b->p.app->s->conn.contexts_effect, fx_contexts_text);
    HAS(said, "Context class-a: cluster class, user stu-07, namespace stu-07, in use");
    HAS(said, "Context half:");
    HAS(said, "It can't be used: cluster \"nowhere\"");
    CHECK(plain_free(&b->p));
    bench_free(b);
}

TEST(going_to_a_context_holds_the_lines_until_it_has_answered)
{
    struct bench *b = bench();
    type(b, "ctx gaudi-lab");
    const struct effect *e = effect_of(b, EFF_CONNECT);
    CHECK(e != NULL);
    CHECK_STR(json_str(e->args, "context", ""), "gaudi-lab");
    CHECK(!plain_free(&b->p));
    HAS(answer(b, e->id, "{\"status\":0,\"error\":{\"code\":\"PD-KUBECONFIG\",\"text\":"
                         "\"context \\\"gaudi-lab\\\" does not exist\"}}"), "does not exist");
    CHECK(plain_free(&b->p));
    bench_free(b);
}

TEST(namespaces_are_told_where_none_may_be_listed)
{
    struct bench *b = bench();
    type(b, "ns");
    const char *said = answer(b, b->p.app->s->conn.ns_effect,
                              "{\"status\":403,\"error\":{\"code\":\"PD-K8S-FORBIDDEN\",\"text\":"
                              "\"namespaces is forbidden\"}}");
    HAS(said, "You are in the namespace stu-07.");
    HAS(said, "Namespace shared: used before.");
    HAS(said, "not allowed here, and not needed");
    said = type(b, "ns");                                 /* what is refused isn't asked again */
    HAS(said, "You are in the namespace stu-07.");
    CHECK(plain_free(&b->p));
    type(b, "ns stu-99");
    CHECK(effect_of(b, EFF_NAMESPACE) != NULL);
    bench_free(b);
}

TEST(rights_are_told_with_the_role_when_all_is_answered)
{
    struct bench *b = bench();
    struct conn *c = &b->p.app->s->conn;
    LACKS(type(b, "rights"), "see pods");
    LACKS(answer(b, c->who_effect,
                 "{\"object\":{\"status\":{\"userInfo\":{\"username\":\"ann\"}}}}"), "see pods");
    LACKS(answer(b, c->rules_effect, fx_rules_text), "see pods");     /* nodes are still asked */
    const char *said = "";
    while (c->asks > 0 && !plain_free(&b->p)) {
        uint32_t next = 0;
        for (int i = 0; i < c->asks; i++)
            next = c->ask[i].effect ? c->ask[i].effect : next;
        CHECK(next != 0);
        said = answer(b, next, "{\"object\":{\"status\":{\"allowed\":false}}}");
    }
    HAS(said, "see pods (get list watch on pods): yes.");
    HAS(said, "steer it (get create on pods/attach): no.");
    HAS(said, "Not allowed, but needed by labs: steer it.");
    HAS(said, "  resources: [\"pods/attach\"]");
    HAS(said, "  name: \"ann\"");
    bench_free(b);
}

TEST(without_a_link_what_is_known_is_told_at_once)
{
    struct bench *b = bench();
    b->p.app->s->cluster.link = LINK_DOWN;
    b->p.app->s->tables[1].broken = true;
    const char *said = type(b, "conn");
    HAS(said, "Server https://10.0.0.1:6443, version v1.34.4, user stu-07.");
    HAS(said, "Your certificate ends in 4d.");
    HAS(said, "The server's certificate ended ");
    HAS(said, "Latency: median 12 ms, last 10 ms.");
    HAS(said, "The list of pods is old: 10s.");
    CHECK(plain_free(&b->p));
    HAS(type(b, "rights"), "What you may do is not known: the cluster has not answered");
    bench_free(b);
}

T_MAIN
