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
        table_clear(t);
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

/* --- what keys do ---------------------------------------------------------------- */
/* A key, with the effects it has. Release them. */
static void press(struct app *a, const char *key, struct effects *out)
{
    struct json *body = json_new_object();
    json_put_str(body, "key", key);
    struct msg *m = msg_new(MSG_KEY, body);
    m->at_ms = FIXTURE_NOW;
    static uint32_t ids = 9000;
    effects_init(out);
    out->next_id = ids += 100;
    app_apply(a, m, out);
    msg_free(m);
}

static const struct effect *effect_of(const struct effects *out, enum effect_kind kind)
{
    for (size_t i = 0; i < out->n; i++)
        if (out->v[i].kind == kind)
            return &out->v[i];
    return NULL;
}

static void ring(struct app *a, uint32_t timer, struct effects *out)
{
    struct msg *m = msg_new(MSG_TIMER, json_from("{\"name\":\"pick\"}"));
    m->at_ms = FIXTURE_NOW;
    m->effect = timer;
    effects_init(out);
    out->next_id = 9500;
    app_apply(a, m, out);
    msg_free(m);
}

TEST(a_context_is_looked_at_when_the_selection_rests_on_it)
{
    struct app *a = fx_app("en", 80, 24, GLYPH_UNICODE);
    struct effects out;
    fx_contexts(a);
    for (size_t i = 0; i < a->s->conn.contexts_n; i++)
        a->s->conn.context[i].probe = PROBE_NONE;
    press(a, "j", &out);
    CHECK(effect_of(&out, EFF_TIMER) != NULL);
    CHECK(effect_of(&out, EFF_PROBE) == NULL);            /* nothing is asked while moving */
    uint32_t first = effect_of(&out, EFF_TIMER)->id;
    effects_release(&out);
    press(a, "j", &out);
    CHECK(effect_of(&out, EFF_CANCEL) != NULL);
    uint32_t second = effect_of(&out, EFF_TIMER)->id;
    effects_release(&out);
    ring(a, first, &out);                                 /* it was on its way */
    CHECK(effect_of(&out, EFF_PROBE) == NULL);
    effects_release(&out);
    ring(a, second, &out);
    const struct effect *e = effect_of(&out, EFF_PROBE);
    CHECK(e != NULL);
    CHECK_STR(json_str(e->args, "context", ""), "old");
    CHECK_INT(conn_context_find(&a->s->conn, "gaudi-lab")->probe, PROBE_NONE);
    effects_release(&out);
    press(a, "k", &out);
    effects_release(&out);
    press(a, "Esc", &out);                                /* gone: nothing is asked any more */
    CHECK_INT(a->pick.timer, 0);
    effects_release(&out);
    fx_free(a);
}

TEST(enter_goes_to_a_context_and_shows_what_was_below)
{
    struct app *a = fx_app("en", 120, 40, GLYPH_UNICODE);
    struct effects out;
    struct str s;
    fx_lab(a);
    fx_key(a, "1");
    fx_contexts(a);
    fx_key(a, "j");
    press(a, "Enter", &out);
    const struct effect *e = effect_of(&out, EFF_CONNECT);
    CHECK(e != NULL);
    CHECK_STR(json_str(e->args, "context", ""), "gaudi-lab");
    CHECK_STR(json_str(e->args, "namespace", "?"), "");
    CHECK_INT(a->focus, PANEL_CLUSTER);
    effects_release(&out);
    say_cluster(a, 9, "{\"state\":\"connecting\",\"context\":\"gaudi-lab\",\"namespace\":"
                      "\"team-3\"}", FIXTURE_NOW);
    fx_screen(a, &s);
    CHECK_HAS(s.p, "of class-a/stu-07");
    CHECK_HAS(s.p, "dataaccess-0");                       /* still there */
    CHECK_HAS(s.p, "gaudi-lab/team-3");
    str_release(&s);
    fx_free(a);
}

TEST(a_broken_context_says_why_and_goes_nowhere)
{
    struct app *a = fx_app("en", 80, 24, GLYPH_UNICODE);
    struct effects out;
    ctx_broken(a);
    press(a, "Enter", &out);
    CHECK_INT(out.n, 0);
    CHECK_HAS(a->note, "is not there");
    CHECK_INT(a->focus, PANEL_CTX);
    effects_release(&out);
    fx_free(a);
}

TEST(a_namespace_is_typed_where_none_may_be_listed)
{
    struct app *a = fx_app("en", 80, 24, GLYPH_UNICODE);
    struct effects out;
    ns_denied(a);
    press(a, "n", &out);
    effects_release(&out);
    for (const char *p = "stu-99"; *p; p++)
        fx_key(a, (char[]){*p, '\0'});
    press(a, "Enter", &out);
    const struct effect *e = effect_of(&out, EFF_NAMESPACE);
    CHECK(e != NULL);
    CHECK_STR(json_str(e->args, "namespace", ""), "stu-99");
    effects_release(&out);
    fx_run_command(a, "ns", NULL);                        /* a list that is refused once … */
    CHECK_INT(a->s->conn.ns_effect, 0);                   /* … is not asked for again */
    fx_free(a);
}

TEST(the_role_to_ask_for_is_copied)
{
    struct app *a = fx_app("en", 80, 24, GLYPH_UNICODE);
    struct effects out;
    fx_rights(a);
    press(a, "y", &out);
    const struct effect *e = effect_of(&out, EFF_COPY_TEXT);
    CHECK(e != NULL);
    CHECK_HAS(json_str(e->args, "text", ""), "kind: Role\n");
    CHECK_HAS(json_str(e->args, "text", ""), "\"pods/attach\"");
    CHECK_HAS(json_str(e->args, "text", ""), "name: \"stu-07\"");
    CHECK(!strstr(json_str(e->args, "text", ""), "\"pods/log\""));
    effects_release(&out);
    memset(a->s->conn.no, 0, sizeof a->s->conn.no);
    CHECK(!cmd_has_missing(a));
    fx_free(a);
}

/* The filter holds the selection on its name. */
TEST(a_filter_and_a_new_list_keep_the_selection)
{
    struct app *a = fx_app("en", 80, 24, GLYPH_UNICODE);
    char name[128];
    fx_contexts(a);
    fx_key(a, "j");
    fx_key(a, "j");
    CHECK_STR(pick_context(a, name), "old");
    fx_run_command(a, "ctx.list", NULL);
    char *fewer = xasprintf("{\"contexts\":[%s", strstr(fx_contexts_text, "{\"name\":\"gaudi"));
    fx_reply(a, a->s->conn.contexts_effect, json_from(fewer), FIXTURE_NOW);
    free(fewer);
    CHECK_STR(pick_context(a, name), "old");
    CHECK_INT(a->sel[PANEL_CTX], 1);
    CHECK_INT(conn_context_find(&a->s->conn, "old")->probe, PROBE_SILENT);   /* it is kept */
    fx_run_command(a, "list.filter", "gaudi");
    CHECK_STR(pick_context(a, name), "gaudi-lab");
    fx_key(a, "Esc");
    CHECK_INT(a->focus, PANEL_CTX);
    CHECK_STR(pick_context(a, name), "gaudi-lab");
    fx_free(a);
}

/* --- what is old ---------------------------------------------------------------------- */
/* Roles of the cells of the first row that has a text. */
static int role_at(const struct app *a, const char *text)
{
    struct grid g;
    struct str s;
    int cx, cy, role = -1;
    grid_init(&g, a->cols, a->rows);
    screen_draw(a, &g, &cx, &cy);
    for (int y = 0; y < g.rows && role < 0; y++) {
        str_init(&s, 4096);
        grid_row_text(&g, y, &s);
        char *at = strstr(s.p, text);
        if (at) {
            *at = '\0';
            role = grid_at(&g, utf8_str_width(s.p), y)->role;
        }
        str_release(&s);
    }
    grid_release(&g);
    return role;
}

TEST(rows_without_a_link_are_dimmed_and_say_how_old_they_are)
{
    static const struct { setup_fn *setup; const char *row, *age; } cases[] = {
        {pods_down, "lora-gaudi-oom", "no link: 42s old, next try in 4s"},
        {nodes_down, "nvidia-0", "no link: 42s old, next try in 4s"},
        {events_down, "BackOff", "no link: 42s old, next try in 4s"},
        {log_down, "podium-train 0.1.0", "no link: 42s old, next try in 4s"},
        {curve_down, "2.0", "no link: 42s old, next try in 4s"},
        {cluster_down, "OOMKilled", "as it was 42s ago"}};
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct app *a = fx_app("en", 100, 30, GLYPH_UNICODE);
        struct str s;
        cases[i].setup(a);
        if (a->s->lab)
            fx_key(a, "z");
        fx_screen(a, &s);
        CHECK_HAS(s.p, cases[i].age);
        CHECK_HAS(s.p, cases[i].row);
        str_release(&s);
        CHECK_MSG(role_at(a, cases[i].row) == ROLE_MUTED, "%zu: %s is not dimmed", i,
                  cases[i].row);
        CHECK(app_wants_tick(a));                         /* its age grows */
        fx_free(a);
    }
}

TEST(rows_are_bright_again_with_the_link)
{
    struct app *a = fx_app("en", 80, 24, GLYPH_UNICODE);
    pods_down(a);
    a->s->cluster.link = LINK_UP;
    for (int i = 0; i < 5; i++)
        a->s->tables[i].broken = false;
    CHECK(role_at(a, "lora-gaudi-oom") != ROLE_MUTED);
    a->s->tables[1].broken = true;                        /* its own watch alone is down */
    CHECK_INT(role_at(a, "lora-gaudi-oom"), ROLE_MUTED);
    struct str s;
    fx_screen(a, &s);
    CHECK_HAS(s.p, "broken off: 42s old");
    str_release(&s);
    fx_free(a);
}

TEST(a_list_that_is_polled_says_how_often_and_why)
{
    struct app *a = fx_app("en", 120, 40, GLYPH_UNICODE);
    pods_down(a);
    a->s->cluster.link = LINK_UP;
    for (int i = 0; i < 5; i++)
        a->s->tables[i].broken = false;
    struct table *t = &a->s->tables[1];
    t->poll_ms = 10000;
    t->seen_ms = a->now_ms - 4000;
    str_copy(t->error, sizeof t->error, "the watch ended at once");
    CHECK(role_at(a, "lora-gaudi-oom") != ROLE_MUTED);
    struct str s;
    fx_screen(a, &s);
    CHECK_HAS(s.p, "polled every 10s, 4s old: the watch ended at once");
    str_release(&s);
    t->denied = (struct denied){.verb = "watch", .resource = "pods", .ns = "lab"};
    fx_screen(a, &s);
    CHECK_HAS(s.p, "polled every 10s, 4s old: you may not watch pods; the rule to ask for: {api");
    str_release(&s);
    fx_free(a);
}

TEST(none_is_said_after_a_list_alone)
{
    struct app *a = fx_app("en", 80, 24, GLYPH_UNICODE);
    struct str s;
    static const char *const lists[] = {"pods", "nodes", "events"};
    loading(a);
    fx_screen(a, &s);
    CHECK(!strstr(s.p, "none"));
    CHECK_HAS(s.p, "loading… 9s");
    str_release(&s);
    for (size_t i = 0; i < ARRAY_LEN(lists); i++) {
        fx_run_command(a, lists[i], NULL);
        fx_screen(a, &s);
        CHECK_MSG(!strstr(s.p, "none"), "%s", lists[i]);
        CHECK_HAS(s.p, "loading… 9s");
        CHECK(app_wants_tick(a));
        str_release(&s);
        fx_table(a->s, lists[i])->generation++;           /* synced */
        fx_screen(a, &s);
        CHECK_HAS(s.p, " none");
        str_release(&s);
        fx_table(a->s, lists[i])->synced = false;
        fx_key(a, "Esc");
    }
    fx_free(a);
}

TEST(a_refusal_closes_one_panel)
{
    struct app *a = fx_app("en", 100, 30, GLYPH_UNICODE);
    struct str s;
    fx_lab(a);
    fx_crowd(a->s);
    struct table *t = fx_table(a->s, "events");
    t->forbidden = true;
    CHECK(denied_read(&t->denied, "events is forbidden: User \"ann\" cannot watch resource "
                      "\"events\" in API group \"\" in the namespace \"stu-07\"", NULL, NULL));
    fx_run_command(a, "events", NULL);
    fx_screen(a, &s);
    CHECK_HAS(s.p, "not allowed: watch events in stu-07");
    CHECK_HAS(s.p, "Ask for a Role in stu-07");
    CHECK_HAS(s.p, "resources: [\"events\"]");
    str_release(&s);
    fx_key(a, "Esc");
    fx_run_command(a, "pods", NULL);
    fx_screen(a, &s);
    CHECK_HAS(s.p, "lora-gaudi-oom");
    CHECK(!strstr(s.p, "not allowed"));
    str_release(&s);
    fx_free(a);
}

T_MAIN
