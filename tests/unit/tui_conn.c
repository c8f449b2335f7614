/* tui_conn.c - contexts, namespaces, the connection, one's rights; and what all
 * screens say while nothing has come, the link is down, or another cluster is
 * on its way. */
#include "tests/screens/fx_conn.h"
#include "tests/screens/golden.h"
#include "tui/pick.h"

/* --- screens ------------------------------------------------------------------- */
static void ctx(struct app *a)
{
    fx_contexts(a);
    fx_key(a, "j");
}

static void ctx_broken(struct app *a)
{
    fx_contexts(a);
    fx_key(a, "G");
}

static void ns(struct app *a)
{
    fx_about(a);
    fx_run_command(a, "ns", NULL);
    fx_reply(a, a->s->conn.ns_effect,
             json_from("{\"status\":200,\"object\":{\"items\":["
                       "{\"metadata\":{\"name\":\"default\"},\"status\":{\"phase\":\"Active\"}},"
                       "{\"metadata\":{\"name\":\"kube-system\"}},"
                       "{\"metadata\":{\"name\":\"gone\"},\"status\":{\"phase\":\"Terminating\"}},"
                       "{\"metadata\":{\"name\":\"stu-07\"}}]}}"), FIXTURE_NOW);
    fx_run_command(a, "ns.ask", NULL);
    struct conn_ns *n = conn_ns_find(&a->s->conn, "stu-07");
    fx_reply(a, n->effect, json_from(fx_rules_text), FIXTURE_NOW);
}

static void ns_denied(struct app *a)
{
    fx_about(a);
    fx_run_command(a, "ns", NULL);
    fx_reply(a, a->s->conn.ns_effect,
             json_from("{\"status\":403,\"error\":{\"code\":\"PD-K8S-FORBIDDEN\",\"text\":"
                       "\"namespaces is forbidden: User \\\"stu-07\\\" cannot list resource "
                       "\\\"namespaces\\\" in API group \\\"\\\" at the cluster scope\"}}"),
             FIXTURE_NOW);
    fx_key(a, "j");
}

static void conn(struct app *a)
{
    fx_about(a);
    fx_run_command(a, "conn", NULL);
    fx_who(a);
}

static void link_down(struct app *a)
{
    struct session *s = a->s;
    fx_about(a);
    s->cluster.link = LINK_DOWN;
    s->cluster.last_ok_ms = FIXTURE_NOW - 42000;
    s->cluster.next_try_ms = FIXTURE_NOW + 4000;
    str_copy(s->cluster.error, sizeof s->cluster.error, "10.0.0.1 port 6443: Connection refused");
    for (int i = 0; i < 5; i++) {
        s->tables[i].seen_ms = FIXTURE_NOW - 42000;
        s->tables[i].broken = true;
        s->tables[i].next_ms = FIXTURE_NOW + 4000;
    }
}

static void conn_down(struct app *a)
{
    link_down(a);
    fx_run_command(a, "conn", NULL);
    fx_key(a, "G");
}

static void rights(struct app *a)
{
    fx_rights(a);
}

static void lab(struct app *a)
{
    fx_lab(a);
    fx_api(a->s);
    fx_crowd(a->s);
    link_down(a);
}

static void pods_down(struct app *a)
{
    lab(a);
    fx_run_command(a, "pods", NULL);
}

static void nodes_down(struct app *a)
{
    lab(a);
    fx_run_command(a, "nodes", NULL);
}

static void events_down(struct app *a)
{
    lab(a);
    fx_run_command(a, "events", NULL);
}

static void cluster_down(struct app *a)
{
    lab(a);
    fx_key(a, "1");
}

static void log_down(struct app *a)
{
    lab(a);
    fx_log(a->s);
    fx_key(a, "2");
}

static void curve_down(struct app *a)
{
    lab(a);
    fx_run(a->s);
    fx_key(a, "3");
}

/* Nothing has come yet, for nine seconds. */
static void loading(struct app *a)
{
    fx_lab(a);
    for (int i = 0; i < SESSION_TABLES; i++) {
        struct table *t = &a->s->tables[i];
        t->synced = false;
        t->asked_ms = FIXTURE_NOW - 9000;
        while (json_count(t->items))
            json_free(json_detach_item(t->items, 0));
        t->generation++;
    }
    fx_key(a, "1");
}

static void say_cluster(struct app *a, uint32_t epoch, const char *text, int64_t at_ms)
{
    struct effects out;
    struct msg *m = msg_new(MSG_CLUSTER, json_from(text));
    m->at_ms = at_ms;
    m->cluster = 2;
    m->epoch = epoch;
    effects_init(&out);
    app_apply(a, m, &out);
    effects_release(&out);
    msg_free(m);
}

/* Another context was chosen and has not answered. */
static void switching(struct app *a)
{
    fx_lab(a);
    fx_crowd(a->s);
    fx_about(a);
    say_cluster(a, 9, "{\"state\":\"connecting\",\"context\":\"gaudi-lab\",\"namespace\":"
                      "\"team-3\",\"server\":\"https://gaudi.example:6443\"}", FIXTURE_NOW - 3000);
    fx_key(a, "1");
    a->now_ms = FIXTURE_NOW;
}

TEST(ctx_screens) { all_sizes("ctx", ctx); }
TEST(ctx_broken_screens) { all_sizes("ctx-broken", ctx_broken); }
TEST(ns_screens) { all_sizes("ns", ns); }
TEST(ns_denied_screens) { all_sizes("ns-denied", ns_denied); }
TEST(conn_screens) { all_sizes("conn", conn); }
TEST(conn_down_screens) { all_sizes("conn-down", conn_down); }
TEST(rights_screens) { all_sizes("rights", rights); }
TEST(pods_down_screens) { all_sizes("pods-down", pods_down); }
TEST(nodes_down_screens) { all_sizes("nodes-down", nodes_down); }
TEST(events_down_screens) { all_sizes("events-down", events_down); }
TEST(cluster_down_screens) { all_sizes("cluster-down", cluster_down); }
TEST(log_down_screens) { all_sizes("log-down", log_down); }
TEST(curve_down_screens) { all_sizes("curve-down", curve_down); }
TEST(loading_screens) { all_sizes("loading", loading); }
TEST(switching_screens) { all_sizes("switching", switching); }

T_MAIN
