/* fx_conn.h - a made-up connection for the screen tests: kubeconfig files with
 * four contexts, one of them broken, a student with a Role in one namespace. */
#ifndef TESTS_SCREENS_FX_CONN_H
#define TESTS_SCREENS_FX_CONN_H

#include "tests/screens/fixture.h"

/* The answer to an effect. Takes body. */
UNUSED static void fx_reply(struct app *a, uint32_t effect, struct json *body, int64_t at_ms)
{
    struct effects out;
    struct msg *m = msg_new(MSG_REPLY, body);
    m->at_ms = at_ms;
    m->effect = effect;
    effects_init(&out);
    out.next_id = 5000;
    app_apply(a, m, &out);
    effects_release(&out);
    msg_free(m);
}

static const char fx_contexts_text[] =
    "{\"contexts\":["
    "{\"name\":\"class-a\",\"current\":true,\"cluster\":\"class\","
    "\"user\":\"stu-07\",\"namespace\":\"stu-07\","
    "\"server\":\"https://10.0.0.1:6443\",\"file\":\"/home/stu/.kube/config\"},"
    "{\"name\":\"gaudi-lab\",\"cluster\":\"gaudi\",\"user\":\"stu-07\",\"namespace\":\"team-3\","
    "\"server\":\"https://gaudi.example:6443\",\"file\":\"/home/stu/.kube/config\"},"
    "{\"name\":\"old\",\"cluster\":\"old\",\"user\":\"admin\",\"namespace\":\"\","
    "\"server\":\"https://10.9.9.9:6443\",\"file\":\"/home/stu/old.yaml\"},"
    "{\"name\":\"half\",\"cluster\":\"nowhere\",\"user\":\"stu-07\",\"namespace\":\"\","
    "\"server\":\"\",\"file\":\"/home/stu/old.yaml\",\"error\":{\"code\":\"PD-KUBECONFIG\","
    "\"text\":\"cluster \\\"nowhere\\\" of context \\\"half\\\" is not there\","
    "\"hint\":\"add it to the list clusters of one of the files\"}}]}";

static const char fx_about_text[] =
    "{\"context\":\"class-a\",\"server\":\"https://10.0.0.1:6443\",\"namespace\":\"stu-07\","
    "\"kubeconfig\":\"/home/stu/.kube/config\",\"user\":\"stu-07\",\"ns_from\":\"kept\","
    "\"ns_own\":\"default\",\"used\":[\"stu-07\",\"shared\"],"
    "\"auth\":{\"how\":\"certificate\",\"name\":\"stu-07\",\"groups\":[\"class-2026\"],"
    "\"issuer\":\"kubernetes\",\"expires_ms\":1796350000000},"
    "\"certs\":[{\"what\":\"ca\",\"subject\":\"kubernetes\",\"expires_ms\":2100000000000},"
    "{\"what\":\"client\",\"subject\":\"stu-07\",\"expires_ms\":1796350000000}],"
    "\"tls\":{\"version\":\"TLSv1.3\",\"subject\":\"kube-apiserver\","
    "\"expires_ms\":1795000000000},"
    "\"insecure\":false,\"proxy\":\"http://proxy.uni.example:3128\","
    "\"proxy_from\":\"HTTPS_PROXY\"}";

/* What is known of the connection without having asked. */
UNUSED static void fx_about(struct app *a)
{
    struct session *s = a->s;
    s->cluster.id = 1;
    str_copy(s->cluster.server, sizeof s->cluster.server, "https://10.0.0.1:6443");
    str_copy(s->cluster.user, sizeof s->cluster.user, "stu-07");
    str_copy(s->cluster.version, sizeof s->cluster.version, "v1.34.4");
    s->cluster.last_ok_ms = FIXTURE_NOW - 2000;
    json_free(s->conn.about);
    s->conn.about = json_from(fx_about_text);
    conn_ns_put(&s->conn, "default")->own = true;
    conn_ns_put(&s->conn, "stu-07")->used = true;
    conn_ns_put(&s->conn, "shared")->used = true;
    for (int i = 0; i < 5; i++) {
        s->tables[i].asked_ms = FIXTURE_NOW - 60000;
        s->tables[i].seen_ms = FIXTURE_NOW - 1000 * (i * 7 + 3);
    }
    static const int took[] = {9, 14, 11, 12, 80, 12, 10};
    for (size_t i = 0; i < ARRAY_LEN(took); i++) {
        conn_began(&s->conn, FIXTURE_NOW - 1500 * (int64_t)i);
        conn_ended(&s->conn, took[i], true);
    }
    conn_ended(&s->conn, 3, false);
    s->conn.retries = 2;
}

UNUSED static void fx_contexts(struct app *a)
{
    fx_about(a);
    fx_run_command(a, "ctx", NULL);
    fx_reply(a, a->s->conn.contexts_effect, json_from(fx_contexts_text), FIXTURE_NOW);
    struct conn_context *x = conn_context_find(&a->s->conn, "gaudi-lab");
    x->probe = PROBE_ANSWERS;
    x->probe_ms = 41;
    x->probed_at_ms = FIXTURE_NOW - 4000;
    str_copy(x->version, sizeof x->version, "v1.33.2");
    x = conn_context_find(&a->s->conn, "old");
    x->probe = PROBE_SILENT;
    x->probed_at_ms = FIXTURE_NOW - 9000;
    str_copy(x->why, sizeof x->why, "10.9.9.9 port 6443: Connection timed out after 5001 ms");
}

/* A Role in one namespace: pods, Jobs and logs, nothing of the cluster. */
static const char fx_rules_text[] =
    "{\"object\":{\"status\":{\"incomplete\":false,\"resourceRules\":["
    "{\"verbs\":[\"create\"],\"apiGroups\":[\"authorization.k8s.io\"],"
    "\"resources\":[\"selfsubjectaccessreviews\",\"selfsubjectrulesreviews\"]},"
    "{\"verbs\":[\"get\",\"list\",\"watch\",\"create\",\"patch\",\"delete\"],"
    "\"apiGroups\":[\"\"],\"resources\":[\"pods\",\"configmaps\",\"persistentvolumeclaims\"]},"
    "{\"verbs\":[\"get\",\"list\",\"watch\",\"create\",\"patch\",\"delete\"],"
    "\"apiGroups\":[\"batch\"],\"resources\":[\"jobs\"]},"
    "{\"verbs\":[\"get\",\"create\"],\"apiGroups\":[\"\"],"
    "\"resources\":[\"pods/log\",\"pods/exec\"]},"
    "{\"verbs\":[\"get\"],\"apiGroups\":[\"\"],\"resources\":[\"secrets\"],"
    "\"resourceNames\":[\"hf-token\"]}],"
    "\"nonResourceRules\":[{\"verbs\":[\"get\"],\"nonResourceURLs\":[\"/version\",\"/healthz\"]}"
    "]}}}";

UNUSED static void fx_who(struct app *a)
{
    fx_reply(a, a->s->conn.who_effect,
             json_from("{\"object\":{\"status\":{\"userInfo\":{\"username\":\"stu-07\",\"groups\":"
                       "[\"class-2026\",\"system:authenticated\"]}}}}"), FIXTURE_NOW);
}

UNUSED static void fx_rights(struct app *a)
{
    fx_about(a);
    fx_run_command(a, "rights", NULL);
    fx_who(a);
    fx_reply(a, a->s->conn.rules_effect, json_from(fx_rules_text), FIXTURE_NOW - 2000);
    struct conn *c = &a->s->conn;
    while (c->asks > 0 && c->ask[0].effect) {    /* of the whole cluster: nothing */
        for (int i = 0; i < c->asks; i++)
            fx_reply(a, c->ask[i].effect,
                     json_from("{\"object\":{\"status\":{\"allowed\":false}}}"), FIXTURE_NOW);
    }
}

#endif
