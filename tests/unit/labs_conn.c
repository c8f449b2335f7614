/* labs_conn.c - rights, needs, remembered namespaces, and what a session makes
 * of another context, another namespace and a list that is refused. */
#include "tests/unit/labs_fixture.h"

#include "labs/choices.h"

/* --- rights -------------------------------------------------------------------- */
#define RULE(verbs, groups, resources)                                                            \
    "{\"verbs\":[" verbs "],\"apiGroups\":[" groups "],\"resources\":[" resources "]}"

TEST(rules_are_matched_as_the_server_does)
{
    struct json *r = json_from(
        "{\"incomplete\":false,\"resourceRules\":["
        RULE("\"get\",\"list\"", "\"\"", "\"pods\"") ","
        RULE("\"*\"", "\"batch\"", "\"*\"") ","
        RULE("\"get\"", "\"\"", "\"*/log\"") ","
        "{\"verbs\":[\"create\"],\"apiGroups\":[\"\"],\"resources\":[\"secrets\"],"
        "\"resourceNames\":[\"one\"]}]}");
    static const struct { const char *verb, *group, *resource; enum conn_may may; } cases[] = {
        {"list", "", "pods", MAY_YES},          {"watch", "", "pods", MAY_NO},
        {"delete", "batch", "jobs", MAY_YES},   {"list", "apps", "pods", MAY_NO},
        {"get", "", "pods/log", MAY_YES},       {"get", "", "pods/exec", MAY_NO},
        {"create", "", "secrets", MAY_NO},      {"create", "batch", "jobs/status", MAY_YES}};
    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        CHECK_MSG(conn_rules_may(r, cases[i].verb, cases[i].group, cases[i].resource) ==
                      cases[i].may, "%s %s", cases[i].verb, cases[i].resource);
    json_put_bool(r, "incomplete", true);
    CHECK_INT(conn_rules_may(r, "watch", "", "pods"), MAY_UNKNOWN);
    CHECK_INT(conn_rules_may(r, "list", "", "pods"), MAY_YES);
    CHECK_INT(conn_rules_may(NULL, "list", "", "pods"), MAY_UNKNOWN);
    json_free(r);
}

static int need(const char *resource, const char *verb)
{
    for (int i = 0; i < CONN_NEEDS; i++)
        if (str_eq(conn_needs[i].resource, resource) && strstr(conn_needs[i].verbs, verb))
            return i;
    return -1;
}

TEST(the_role_holds_what_is_missing_and_no_more)
{
    struct conn c = {0};
    struct str s;
    str_init(&s, 64 << 10);
    for (int i = 0; i < CONN_NEEDS; i++)
        c.yes[i] = 0xff;
    CHECK(!conn_role(&c, "lab", "ann", &s));
    CHECK_INT(s.len, 0);
    c.yes[need("pods/attach", "get")] = 0;
    c.no[need("pods/attach", "get")] = 1 << 1;           /* create */
    CHECK(conn_role(&c, "lab", "ann", &s));
    CHECK_HAS(s.p, "namespace: lab\n");
    CHECK_HAS(s.p, "  resources: [\"pods/attach\"]\n  verbs: [create]\n");
    CHECK_HAS(s.p, "  name: \"ann\"\n");
    CHECK(!strstr(s.p, "ClusterRole"));
    CHECK(!strstr(s.p, "[\"jobs\"]"));
    str_clear(&s);
    c.no[need("nodes", "list")] = 3;
    CHECK(conn_role(&c, "lab", "ann", &s));
    const char *cluster = strstr(s.p, "kind: ClusterRole\n");
    CHECK(cluster != NULL);
    CHECK(!strstr(cluster, "namespace:"));
    CHECK_HAS(cluster, "resources: [\"nodes\"]\n  verbs: [list, watch]\n");
    str_clear(&s);
    conn_role(&c, "lab", "a\"b\\c\nkind: x", &s);
    CHECK_HAS(s.p, "  name: \"a\\\"b\\\\ckind: x\"\n");
    CHECK_INT(conn_need_may(&c, need("nodes", "list")), MAY_NO);
    CHECK_INT(conn_need_may(&c, need("jobs", "delete")), MAY_YES);
    str_release(&s);
}

/* --- figures -------------------------------------------------------------------- */
TEST(median_last_and_rate)
{
    struct conn c = {0};
    CHECK_INT(conn_latency(&c), -1);
    CHECK_INT(conn_last(&c), -1);
    for (int i = 0; i < 200; i++)
        conn_ended(&c, i < 100 ? 1000 : 10 + i % 3, true);   /* what was long ago is over */
    conn_ended(&c, 90, true);
    CHECK_INT(conn_latency(&c), 11);
    CHECK_INT(conn_last(&c), 90);
    conn_ended(&c, 5000, false);
    CHECK_INT(conn_last(&c), 90);
    CHECK_INT(c.failed, 1);
    for (int i = 0; i < 30; i++)
        conn_began(&c, 1000 * i);
    CHECK_NEAR(conn_rate(&c, 29500), 1.0, 1e-9);
    CHECK_NEAR(conn_rate(&c, 90000), 0.0, 1e-9);
}

/* --- remembered namespaces ------------------------------------------------------- */
TEST(a_choice_is_kept_for_its_context_alone)
{
    char *one = choices_with(NULL, "/a", "ctx", "lab");
    char *two = choices_with(one, "/b", "ctx", "other");
    char *three = choices_with(two, "/a", "ctx", "lab-2");
    struct json *e = choices_find(three, "/a", "ctx");
    CHECK_STR(json_str(e, "namespace", ""), "lab-2");
    CHECK_STR(json_str(e, "used[0]", ""), "lab-2");
    CHECK_STR(json_str(e, "used[1]", ""), "lab");
    json_free(e);
    e = choices_find(three, "/b", "ctx");
    CHECK_STR(json_str(e, "namespace", ""), "other");
    json_free(e);
    CHECK(choices_find(three, "/a", "ctx2") == NULL);
    char *back = choices_with(three, "/a", "ctx", NULL);
    e = choices_find(back, "/a", "ctx");
    CHECK(!json_has(e, "namespace"));
    CHECK_INT(json_count(json_get(e, "used")), 2);
    json_free(e);
    free(one);
    free(two);
    free(three);
    free(back);
}

TEST(choices_stay_few_and_survive_a_broken_file)
{
    char *text = choices_with("{not json", "/a", "c", "x"), name[32];
    CHECK(text != NULL);
    for (int i = 0; i < 40; i++) {
        char *next = choices_with(text, "/a", "c", str_fmt(name, sizeof name, "n%d", i));
        free(text);
        text = next;
    }
    struct json *e = choices_find(text, "/a", "c");
    CHECK_INT(json_count(json_get(e, "used")), CHOICES_USED);
    CHECK_STR(json_str(e, "used[0]", ""), "n39");
    json_free(e);
    CHECK(choices_find("[]", "/a", "c") == NULL);
    CHECK(choices_find("", "/a", "c") == NULL);
    free(text);
}

TEST(names_that_a_namespace_can_have)
{
    CHECK(conn_ns_name("stu-07") && conn_ns_name("a") && conn_ns_name("7"));
    CHECK(!conn_ns_name("") && !conn_ns_name("-a") && !conn_ns_name("a-") && !conn_ns_name("A"));
    CHECK(!conn_ns_name("a/b") && !conn_ns_name("a.b") && !conn_ns_name("../x"));
    CHECK(!conn_ns_name("a234567890123456789012345678901234567890123456789012345678901234"));
    struct conn c = {0};
    CHECK(!conn_ns_put(&c, NULL) && !conn_ns_put(&c, "../x"));
    conn_ns_put(&c, "m");
    conn_ns_put(&c, "a");
    conn_ns_put(&c, "z");
    CHECK(conn_ns_put(&c, "m") == conn_ns_find(&c, "m"));
    CHECK_INT(c.ns_n, 3);
    CHECK_STR(c.ns[0].name, "a");
    CHECK_STR(c.ns[2].name, "z");
    conn_release(&c);
}

/* --- the session ------------------------------------------------------------------- */
static const char lab[] = "podium: 1\nid: x\ntitle: X\nsteps:\n  - id: a\n    title: A\n"
                          "    say: s\n";

static void cluster(struct fx *f, int id, const char *context, const char *ns, const char *state)
{
    struct json *body = json_new_object();
    json_put_str(body, "context", context);
    json_put_str(body, "namespace", ns);
    json_put_str(body, "server", context);
    json_put_str(body, "state", state);
    struct msg *m = msg_new(MSG_CLUSTER, body);
    m->at_ms = f->now;
    m->cluster = (uint16_t)id;
    m->epoch = (uint32_t)id;
    session_apply(f->s, m, &f->out);
    msg_free(m);
}

static void say(struct fx *f, int id, enum msg_kind kind, uint32_t effect, const char *text)
{
    struct msg *m = msg_new(kind, json_from(text));
    m->at_ms = f->now;
    m->effect = effect;
    m->cluster = (uint16_t)id;
    m->epoch = (uint32_t)id;
    session_apply(f->s, m, &f->out);
    msg_free(m);
}

#define POD "{\"resource\":\"pods\",\"items\":[{\"metadata\":{\"name\":\"p\",\"uid\":\"u\"}}]}"

static void begin(struct fx *f)
{
    fx_begin(f, lab, NULL);
    cluster(f, 1, "class-a", "stu-07", "up");
    say(f, 1, MSG_LIST, 0, POD);
}

static const struct table *pods(const struct fx *f)
{
    return session_table(f->s, "pods");
}

TEST(rows_of_before_stay_until_the_other_place_has_answered)
{
    struct fx f;
    begin(&f);
    CHECK(!session_table_old(f.s, pods(&f)));
    CHECK(session_find(f.s, "pods", "p") != NULL);
    cluster(&f, 2, "class-b", "team", "connecting");
    CHECK_INT(json_count(pods(&f)->items), 1);
    CHECK(!pods(&f)->synced);
    CHECK(session_table_old(f.s, pods(&f)));
    CHECK_STR(pods(&f)->from, "class-a/stu-07");
    CHECK(session_find(f.s, "pods", "p") == NULL);       /* nothing is done with it here */
    say(&f, 1, MSG_LIST, 0, POD);                         /* a late word of the one before */
    CHECK_STR(pods(&f)->from, "class-a/stu-07");
    cluster(&f, 3, "class-c", "team", "connecting");      /* and on: they are still of a */
    CHECK_STR(pods(&f)->from, "class-a/stu-07");
    say(&f, 3, MSG_LIST, 0, "{\"resource\":\"pods\",\"items\":[]}");
    CHECK_INT(json_count(pods(&f)->items), 0);
    CHECK_STR(pods(&f)->from, "");
    CHECK(!session_table_old(f.s, pods(&f)) || f.s->cluster.link != LINK_UP);
    fx_end(&f);
}

TEST(a_refused_list_is_no_other_one_s_and_shows_nothing_of_before)
{
    struct fx f;
    begin(&f);
    cluster(&f, 2, "class-b", "team", "up");
    say(&f, 2, MSG_WATCH_STATE, 0,
        "{\"resource\":\"pods\",\"state\":\"forbidden\",\"next_ms\":30000,\"error\":{\"code\":"
        "\"PD-K8S-FORBIDDEN\",\"text\":\"pods is forbidden: User \\\"ann\\\" cannot watch resource "
        "\\\"pods\\\" in API group \\\"\\\" in the namespace \\\"team\\\"\"}}");
    CHECK(pods(&f)->forbidden);
    CHECK_INT(json_count(pods(&f)->items), 0);
    CHECK_STR(pods(&f)->denied.verb, "watch");
    CHECK_STR(pods(&f)->denied.resource, "pods");
    CHECK_STR(pods(&f)->denied.ns, "team");
    CHECK_INT(pods(&f)->next_ms, f.now + 30000);
    CHECK(!session_table(f.s, "jobs")->forbidden);        /* one list, not all */
    fx_end(&f);
}

TEST(a_polled_list_keeps_its_reason_over_the_lists_that_come)
{
    struct fx f;
    begin(&f);
    say(&f, 1, MSG_WATCH_STATE, 0,
        "{\"resource\":\"pods\",\"state\":\"polling\",\"next_ms\":10000,\"poll_ms\":10000,"
        "\"age_ms\":2000,\"error\":{\"code\":\"PD-K8S-FORBIDDEN\",\"text\":\"pods is forbidden: "
        "User \\\"ann\\\" cannot watch resource \\\"pods\\\" in API group \\\"\\\" in the "
        "namespace \\\"stu-07\\\"\"}}");
    CHECK(!pods(&f)->forbidden && !session_table_old(f.s, pods(&f)));
    CHECK_INT(pods(&f)->poll_ms, 10000);
    CHECK_INT(pods(&f)->seen_ms, f.now - 2000);
    CHECK_STR(pods(&f)->denied.verb, "watch");
    fx_list(&f, "pods", "[{\"metadata\":{\"name\":\"n\"}}]");
    CHECK_INT(pods(&f)->poll_ms, 10000);
    CHECK_HAS(pods(&f)->error, "cannot watch");
    CHECK_INT(pods(&f)->seen_ms, f.now);
    say(&f, 1, MSG_WATCH_STATE, 0, "{\"resource\":\"pods\",\"state\":\"quiet\",\"age_ms\":81000}");
    CHECK(session_table_old(f.s, pods(&f)));
    CHECK_INT(pods(&f)->seen_ms, f.now - 81000);
    say(&f, 1, MSG_WATCH_STATE, 0, "{\"resource\":\"pods\",\"state\":\"live\",\"age_ms\":0}");
    CHECK(!session_table_old(f.s, pods(&f)));
    CHECK_INT(pods(&f)->poll_ms, 0);
    fx_end(&f);
}

static const char *refusal(char text[200], const char *resource)
{
    return str_fmt(text, 200, "{\"resource\":\"%s\",\"state\":\"forbidden\",\"error\":{\"code\":"
                              "\"PD-K8S-FORBIDDEN\",\"text\":\"no\"}}", resource);
}

TEST(a_namespace_where_nothing_may_be_seen_is_said_once)
{
    struct fx f;
    char text[200];
    begin(&f);
    say(&f, 1, MSG_WATCH_STATE, 0, refusal(text, "pods"));
    CHECK(!strstr(f.s->message, "nothing"));
    say(&f, 1, MSG_WATCH_STATE, 0, refusal(text, "jobs"));
    CHECK_HAS(f.s->message, "nothing in the namespace stu-07");
    CHECK_INT(f.s->message_code, PD_FORBIDDEN);
    fx_cmd(&f, "ns.use", "Bad", NULL);
    say(&f, 1, MSG_WATCH_STATE, 0, refusal(text, "jobs"));
    CHECK_HAS(f.s->message, "can't be a namespace");      /* not again */
    fx_end(&f);
}

TEST(a_broken_watch_says_when_it_is_tried_again)
{
    struct fx f;
    begin(&f);
    say(&f, 1, MSG_WATCH_STATE, 0,
        "{\"resource\":\"pods\",\"state\":\"retrying\",\"next_ms\":4000,\"error\":{\"code\":"
        "\"PD-NET\",\"text\":\"refused\"}}");
    CHECK(session_table_old(f.s, pods(&f)));
    CHECK_INT(pods(&f)->next_ms, f.now + 4000);
    CHECK_INT(f.s->cluster.next_try_ms, f.now + 4000);
    CHECK_INT(f.s->conn.retries, 1);
    say(&f, 1, MSG_LIST, 0, POD);
    CHECK(!session_table_old(f.s, pods(&f)));
    CHECK_INT(pods(&f)->seen_ms, f.now);
    fx_end(&f);
}

TEST(what_was_known_of_one_cluster_is_not_said_of_another)
{
    struct fx f;
    begin(&f);
    fx_cmd(&f, "rights.look", NULL, NULL);
    say(&f, 1, MSG_REPLY, f.s->conn.rules_effect,
        "{\"object\":{\"status\":{\"incomplete\":false,\"resourceRules\":[" RULE(
            "\"*\"", "\"*\"", "\"*\"") "]}}}");
    CHECK(f.s->conn.rules != NULL);
    CHECK_INT(conn_need_may(&f.s->conn, 0), MAY_YES);
    CHECK(f.s->conn.asks > 0);                            /* nodes: of the whole cluster */
    f.now += 5000;
    cluster(&f, 2, "class-b", "team", "connecting");
    CHECK(f.s->conn.rules == NULL);
    CHECK_INT(conn_need_may(&f.s->conn, 0), MAY_UNKNOWN);
    CHECK_INT(f.s->cluster.last_ok_ms, 0);                /* it never answered */
    CHECK_STR(f.s->cluster.version, "");
    fx_end(&f);
}

TEST(each_open_verb_is_asked_for_and_an_error_is_no_answer)
{
    struct fx f;
    begin(&f);
    fx_cmd(&f, "rights.look", NULL, NULL);
    say(&f, 1, MSG_REPLY, f.s->conn.rules_effect,
        "{\"object\":{\"status\":{\"incomplete\":false,\"resourceRules\":[]}}}");
    struct conn *c = &f.s->conn;
    CHECK_INT(c->asks, 3);                                /* list, watch nodes; list namespaces */
    const struct effect *e = fx_effect(&f, EFF_CAN, "resource", "nodes");
    CHECK(e && !json_has(e->args, "namespace"));
    int nodes = c->ask[0].need;
    say(&f, 1, MSG_REPLY, c->ask[0].effect, "{\"object\":{\"status\":{\"allowed\":true}}}");
    CHECK_INT(conn_need_may(c, nodes), MAY_UNKNOWN);
    say(&f, 1, MSG_REPLY, c->ask[1].effect, "{\"error\":{\"code\":\"PD-NET\",\"text\":\"x\"}}");
    CHECK_INT(conn_need_may(c, nodes), MAY_UNKNOWN);
    CHECK_INT(c->no[nodes], 0);
    say(&f, 1, MSG_REPLY, c->ask[2].effect, "{\"object\":{\"status\":{\"allowed\":false}}}");
    CHECK_INT(conn_need_may(c, c->ask[2].need), MAY_NO);
    fx_end(&f);
}

TEST(what_the_rules_of_a_namespace_leave_open_is_asked)
{
    struct fx f;
    begin(&f);
    fx_cmd(&f, "ns.probe", "stu-07", NULL);
    struct conn_ns *n = conn_ns_find(&f.s->conn, "stu-07");
    CHECK(n && n->effect);
    say(&f, 1, MSG_REPLY, n->effect,
        "{\"object\":{\"status\":{\"incomplete\":true,\"resourceRules\":[" RULE(
            "\"list\"", "\"\"", "\"pods\"") "]}}}");
    CHECK_INT(n->may[NS_PODS], MAY_YES);
    CHECK_INT(n->may[NS_LOGS], MAY_UNKNOWN);
    CHECK(!n->ask[NS_PODS] && n->ask[NS_LOGS] && n->ask[NS_RUN]);
    const struct effect *e = fx_effect(&f, EFF_CAN, "resource", "jobs");
    CHECK(e != NULL);
    CHECK_STR(json_str(e->args, "namespace", ""), "stu-07");
    say(&f, 1, MSG_REPLY, n->ask[NS_RUN], "{\"object\":{\"status\":{\"allowed\":true}}}");
    say(&f, 1, MSG_REPLY, n->ask[NS_LOGS], "{\"object\":{\"status\":{\"allowed\":false}}}");
    CHECK_INT(n->may[NS_RUN], MAY_YES);
    CHECK_INT(n->may[NS_LOGS], MAY_NO);
    fx_end(&f);
}

TEST(one_question_is_answered_with_the_server_s_reason)
{
    struct fx f;
    begin(&f);
    fx_cmd(&f, "can.ask", "get pods/log", NULL);
    const struct effect *e = fx_effect(&f, EFF_CAN, "resource", "pods/log");
    CHECK(e != NULL);
    CHECK_STR(json_str(e->args, "namespace", ""), "stu-07");
    say(&f, 1, MSG_REPLY, f.s->conn.can_effect, "{\"object\":{\"status\":{\"allowed\":true}}}");
    CHECK_STR(f.s->message, "yes: you may get pods/log in stu-07");
    fx_cmd(&f, "can.ask", "delete pods", NULL);
    say(&f, 1, MSG_REPLY, f.s->conn.can_effect,
        "{\"object\":{\"status\":{\"allowed\":false,\"reason\":\"no RBAC\"}}}");
    CHECK_STR(f.s->message, "no: you may not delete pods in stu-07 (no RBAC)");
    fx_cmd(&f, "can.ask", "delete", NULL);
    CHECK_HAS(f.s->message, "needs a verb");
    fx_end(&f);
}

TEST(a_typed_namespace_is_taken_at_its_word)
{
    struct fx f;
    begin(&f);
    fx_cmd(&f, "ns.list", NULL, NULL);
    say(&f, 1, MSG_REPLY, f.s->conn.ns_effect,
        "{\"status\":403,\"error\":{\"code\":\"PD-K8S-FORBIDDEN\",\"text\":\"no\"}}");
    CHECK_INT(f.s->conn.ns_list, MAY_NO);
    fx_cmd(&f, "ns.use", "never-listed", NULL);
    CHECK(fx_effect(&f, EFF_NAMESPACE, "namespace", "never-listed") != NULL);
    size_t n = f.out.n;
    fx_cmd(&f, "ns.use", "../../nodes", NULL);
    CHECK_INT(f.out.n, n);
    CHECK_HAS(f.s->message, "can't be a namespace");
    fx_end(&f);
}

TEST(a_context_that_can_t_be_used_leaves_the_connection)
{
    struct fx f;
    begin(&f);
    fx_cmd(&f, "ctx.use", "nix", NULL);
    const struct effect *e = fx_effect(&f, EFF_CONNECT, "context", "nix");
    CHECK(e != NULL);
    CHECK_STR(json_str(e->args, "namespace", "?"), "");   /* its own, not the one in use */
    CHECK(f.s->conn.going != 0);
    say(&f, 0, MSG_REPLY, e->id, "{\"status\":0,\"error\":{\"code\":\"PD-KUBECONFIG\",\"text\":"
                                 "\"context \\\"nix\\\" does not exist\"}}");
    CHECK_INT(f.s->conn.going, 0);
    CHECK(!f.s->conn.arriving);
    CHECK_HAS(f.s->message, "does not exist");
    CHECK_INT(f.s->cluster.link, LINK_UP);
    CHECK_STR(f.s->cluster.context, "class-a");
    CHECK(pods(&f)->synced);
    fx_cmd(&f, "ctx.use", "class-b", NULL);
    cluster(&f, 2, "class-b", "team", "connecting");
    CHECK_HAS(f.s->message, "going to");
    cluster(&f, 2, "class-b", "team", "up");
    CHECK_STR(f.s->message, "");                          /* it is there */
    fx_end(&f);
}

T_MAIN
