/* labs_scene.c - setup, faults, requirements and clearing up, under scripted
 * messages. */
#include "tests/unit/labs_fixture.h"

#include "labs/step_text.h"

#define HEAD "podium: 1\nid: x\ntitle: X\nrun: {job: j, container: c}\n"
#define CHECKS "    checks: [{title: T, count: {kind: pods, is: {min: 1}}}]\n"
static const char pod[] = "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\n"
                          "spec:\n  containers: []\n";

/* A lab in a folder of its own, with scene.yaml beside it. */
static void open_with(struct fx *f, const char *yaml)
{
    struct pd_err err;
    char *path = path_join(t_dir(), "scene.yaml");
    CHECK_OK(path_write_atomic(path, 0600, pod, strlen(pod), &err));
    free(path);
    fx_open(f, yaml, t_dir());
    fx_all_synced(f);
}

static void reply(struct fx *f, const char *body)
{
    fx_send(f, MSG_REPLY, session_priv(f->s)->act.effect, json_from(body));
}

static void applied(struct fx *f)
{
    reply(f, "{\"status\":201,\"object\":{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":"
             "{\"name\":\"p\",\"uid\":\"u1\"}}}");
}

static const char scenic[] =
    HEAD "setup: [{title: one, apply: {file: scene.yaml}}]\n"
         "faults: [{title: two, apply: {file: scene.yaml}}]\n"
         "steps:\n  - id: a\n    title: A\n    say: s\n"
         "    do: [{delete: {kind: pods, name: p}}]\n" CHECKS;

TEST(no_check_is_judged_before_the_scene_is_made)
{
    struct fx f;
    open_with(&f, scenic);
    fx_list(&f, "pods", "[{\"metadata\":{\"name\":\"p\"}}]");
    CHECK_RESULT(&f, 0, CHECK_BLOCKED);                  /* it would pass */
    CHECK_INT(f.s->scene.state, SCENE_WANTED);
    fx_cmd(&f, "step.run", NULL, NULL);
    CHECK_INT(f.s->scene.state, SCENE_RUNNING);
    CHECK_INT(f.s->scene.total, 2);
    CHECK_STR(f.s->scene.title, "one");
    CHECK_RESULT(&f, 0, CHECK_BLOCKED);
    applied(&f);
    CHECK_INT(f.s->scene.done, 1);
    CHECK_STR(f.s->scene.title, "");                     /* a fault has no name */
    CHECK_RESULT(&f, 0, CHECK_BLOCKED);
    CHECK(f.s->progress[0].state != STEP_DONE);
    applied(&f);
    CHECK_INT(f.s->scene.state, SCENE_READY);
    CHECK_RESULT(&f, 0, CHECK_PASS);
    fx_end(&f);
}

TEST(what_the_scene_makes_carries_the_label_and_is_own)
{
    struct fx f;
    open_with(&f, scenic);
    fx_cmd(&f, "step.run", NULL, NULL);
    struct effect *e = fx_effect(&f, EFF_APPLY, NULL, NULL);
    CHECK(e != NULL);
    CHECK_STR(json_str(e->args, "manifest.metadata.labels['podium/lab']", ""), "x");
    applied(&f);
    CHECK_STR(json_string_value(session_fact(f.s, "made['pods/p'].uid")), "u1");
    fx_end(&f);
}

TEST(half_a_scene_is_unknown_never_wrong)
{
    struct fx f;
    open_with(&f, scenic);
    fx_cmd(&f, "step.run", NULL, NULL);
    applied(&f);
    reply(&f, "{\"status\":403,\"error\":{\"code\":\"PD-K8S-FORBIDDEN\",\"text\":\"no pods\"}}");
    CHECK_INT(f.s->scene.state, SCENE_FAILED);
    CHECK_RESULT(&f, 0, CHECK_UNKNOWN);
    CHECK_HAS(fx_ev(&f, 0)->because, "no pods");
    fx_list(&f, "pods", "[{\"metadata\":{\"name\":\"p\"}}]");
    CHECK_RESULT(&f, 0, CHECK_UNKNOWN);
    fx_cmd(&f, "step.run", NULL, NULL);                  /* what is made is not made again */
    CHECK_INT(f.s->scene.state, SCENE_RUNNING);
    applied(&f);
    CHECK_INT(f.s->scene.state, SCENE_READY);
    fx_end(&f);
}

TEST(a_scene_is_cancelled_with_its_effect)
{
    struct fx f;
    open_with(&f, scenic);
    fx_cmd(&f, "step.run", NULL, NULL);
    uint32_t id = session_priv(f.s)->act.effect;
    fx_cmd(&f, "op.cancel", NULL, NULL);
    struct effect *e = fx_effect(&f, EFF_CANCEL, NULL, NULL);
    CHECK(e != NULL);
    CHECK_INT(json_int(e->args, "effect", 0), id);
    CHECK_INT(f.s->scene.state, SCENE_FAILED);
    CHECK_RESULT(&f, 0, CHECK_UNKNOWN);
    fx_end(&f);
}

TEST(a_scene_is_made_once_an_attempt)
{
    struct fx f;
    open_with(&f, scenic);
    fx_cmd(&f, "step.run", NULL, NULL);
    applied(&f);
    applied(&f);
    char *saved = json_text(session_priv(f.s)->progress, 0);
    fx_cmd(&f, "lab.close", NULL, NULL);
    fx_cmd(&f, "lab.open", "x", NULL);
    fx_progress(&f, NULL, saved);
    CHECK_INT(f.s->scene.state, SCENE_READY);
    free(saved);
    fx_end(&f);
}

TEST(a_fault_stays_out_of_the_api_panel)
{
    struct fx f;
    open_with(&f, scenic);
    fx_cmd(&f, "step.run", NULL, NULL);
    applied(&f);                                         /* the fault's turn */
    fx_send(&f, MSG_REQUEST, 0,
            json_from("{\"id\":7,\"method\":\"PATCH\",\"path\":\"/secret\",\"status\":0,"
                      "\"kubectl\":\"kubectl apply\",\"body\":{\"a\":1}}"));
    CHECK_INT(f.s->api_n, 1);
    CHECK(!strstr(f.s->api[0].path, "secret"));
    CHECK(!f.s->api[0].body || !*f.s->api[0].body);
    fx_end(&f);
}

/* --- requirements -------------------------------------------------------------------- */

#define CARD_NODE(label) "[{\"metadata\":{\"name\":\"n\",\"labels\":{" label "}},\"status\":" \
    "{\"allocatable\":{\"habana.ai/gaudi\":\"8\"}}}]"
#define NEEDS(rest) HEAD "steps:\n  - id: a\n    title: A\n    say: s\n" \
    "    requires: [{resource: habana.ai/gaudi, min: 1, why: no card" rest "}]\n" CHECKS \
    "  - {id: b, title: B, say: s}\n"

TEST(a_step_that_is_only_read_is_never_solved)
{
    struct fx f;
    open_with(&f, NEEDS(", else: reading"));
    fx_list(&f, "nodes", "[]");
    fx_list(&f, "pods", "[{\"metadata\":{\"name\":\"p\"}}]");
    CHECK_RESULT(&f, 0, CHECK_SKIPPED);
    CHECK_HAS(fx_ev(&f, 0)->because, "no card");
    for (int i = 0; i < 3; i++)
        fx_cmd(&f, "step.check", NULL, NULL);
    fx_cmd(&f, "step.run", NULL, NULL);
    CHECK_INT(f.s->progress[0].state, STEP_OPEN);
    fx_cmd(&f, "step.next", NULL, NULL);
    CHECK_INT(f.s->progress[0].state, STEP_PASSED);
    CHECK(f.s->progress[0].read);
    CHECK_INT(f.s->step, 1);
    fx_cmd(&f, "step.next", NULL, NULL);
    CHECK(f.s->finished);
    CHECK(!json_bool(session_priv(f.s)->progress, "steps.a.done", false));
    /* where it can be done later, it is */
    fx_cmd(&f, "step.prev", NULL, NULL);
    fx_list(&f, "nodes", CARD_NODE(""));
    CHECK_INT(f.s->progress[0].state, STEP_DONE);
    fx_end(&f);
}

TEST(simulated_cards_are_called_simulated)
{
    struct fx f;
    struct str s;
    open_with(&f, NEEDS(", else: simulate"));
    fx_list(&f, "nodes", CARD_NODE("\"podium.dev/simulated\":\"true\""));
    CHECK_INT(f.s->need.mode, MODE_SIMULATED);
    str_init(&s, 4096);
    CHECK(step_text_need(f.s, &s));
    CHECK_HAS(s.p, "simulated");
    str_release(&s);
    fx_list(&f, "pods", "[{\"metadata\":{\"name\":\"p\"}}]");
    CHECK_INT(f.s->progress[0].state, STEP_DONE);
    CHECK(f.s->progress[0].simulated);
    CHECK(json_bool(session_priv(f.s)->progress, "steps.a.simulated", false));
    fx_end(&f);
    open_with(&f, NEEDS(", else: simulate"));
    fx_list(&f, "nodes", CARD_NODE(""));
    CHECK_INT(f.s->need.mode, MODE_REAL);
    fx_end(&f);
}

TEST(a_recorded_run_stands_for_the_cluster)
{
    static const char run[] = "{\"v\":1,\"ev\":\"hello\",\"steps\":2}\n"
                              "{\"v\":1,\"ev\":\"step\",\"step\":1,\"loss\":4}\n"
                              "{\"v\":1,\"ev\":\"step\",\"step\":2,\"loss\":3}\n";
    struct fx f;
    struct pd_err err;
    char *path = path_join(t_dir(), "run.jsonl");
    CHECK_OK(path_write_atomic(path, 0600, run, strlen(run), &err));
    free(path);
    open_with(&f, HEAD "steps:\n  - id: a\n    title: A\n    say: s\n    requires:\n"
                       "      - {resource: habana.ai/gaudi, why: no card, else: simulate, "
                       "recorded: run.jsonl}\n    checks:\n"
                       "      - {title: T, metric: {series: loss, points: 2}}\n"
                       "      - {title: U, count: {kind: pods, is: {min: 1}}}\n");
    CHECK_INT(f.s->need.mode, MODE_SIMULATED);
    CHECK_INT(f.s->run.step, 2);
    CHECK_RESULT(&f, 0, CHECK_PASS);
    CHECK_RESULT(&f, 1, CHECK_SKIPPED);
    CHECK(f.s->progress[0].simulated);
    fx_end(&f);
}

TEST(rights_and_versions_are_asked)
{
    struct fx f;
    open_with(&f, HEAD "requires: [{can: create jobs, why: r, else: reading}, "
                       "{kubernetes: \">=1.30\", why: v, else: skip}]\n"
                       "steps:\n  - id: a\n    title: A\n    say: s\n" CHECKS);
    struct effect *e = fx_effect(&f, EFF_CAN, "verb", "create");
    CHECK(e != NULL);
    CHECK_STR(json_str(e->args, "resource", ""), "jobs");
    CHECK_RESULT(&f, 0, CHECK_UNKNOWN);
    fx_send(&f, MSG_REPLY, e->id, json_from("{\"status\":201,\"object\":{\"status\":{\"allowed\":"
                                            "true}}}"));
    CHECK_INT(f.s->need.mode, MODE_ASKING);              /* the version is still open */
    fx_send(&f, MSG_CLUSTER, 0, json_from("{\"state\":\"up\",\"version\":\"v1.29.4\"}"));
    CHECK_INT(f.s->need.mode, MODE_SKIPPED);
    CHECK_HAS(f.s->need.why, "v1.29.4");
    fx_send(&f, MSG_CLUSTER, 0, json_from("{\"state\":\"up\",\"version\":\"v1.31.0\"}"));
    CHECK_INT(f.s->need.mode, MODE_REAL);
    fx_end(&f);
    open_with(&f, HEAD "requires: [{can: create jobs, why: r, else: reading}]\n"
                       "steps:\n  - id: a\n    title: A\n    say: s\n" CHECKS);
    e = fx_effect(&f, EFF_CAN, NULL, NULL);
    fx_send(&f, MSG_REPLY, e->id, json_from("{\"status\":201,\"object\":{\"status\":{\"allowed\":"
                                            "false}}}"));
    CHECK_INT(f.s->need.mode, MODE_READING);
    fx_end(&f);
}

TEST(storage_classes_are_asked)
{
    struct fx f;
    open_with(&f, HEAD "requires: [{storageclass: default, why: r, else: skip}]\n"
                       "steps:\n  - id: a\n    title: A\n    say: s\n" CHECKS);
    struct effect *e = fx_effect(&f, EFF_LIST, "resource", "storageclasses");
    CHECK(e != NULL);
    uint32_t id = e->id;
    fx_send(&f, MSG_REPLY, id, json_from("{\"status\":200,\"object\":{\"items\":[{\"metadata\":"
                                         "{\"name\":\"slow\"}}]}}"));
    CHECK_INT(f.s->need.mode, MODE_SKIPPED);
    fx_send(&f, MSG_REPLY, id,
            json_from("{\"status\":200,\"object\":{\"items\":[{\"metadata\":{\"name\":\"fast\","
                      "\"annotations\":{\"storageclass.kubernetes.io/is-default-class\":"
                      "\"true\"}}}]}}"));
    CHECK_INT(f.s->need.mode, MODE_REAL);
    fx_end(&f);
}

TEST(the_practice_cluster_stands_in_when_asked_for)
{
    struct fx f;
    open_with(&f, NEEDS(", else: simulate"));
    fx_list(&f, "nodes", "[]");
    CHECK_INT(f.s->need.mode, MODE_SKIPPED);
    CHECK_HAS(f.s->need.why, "lab.simulate");
    fx_cmd(&f, "lab.simulate", NULL, NULL);
    struct effect *e = fx_effect(&f, EFF_CONNECT, NULL, NULL);
    CHECK(e != NULL && json_bool(e->args, "default", false));
    CHECK_INT(f.s->cluster.link, LINK_CONNECTING);
    CHECK_RESULT(&f, 0, CHECK_UNKNOWN);                  /* nothing is judged meanwhile */
    fx_end(&f);
}

/* --- clearing up ------------------------------------------------------------------------ */

/* Answer every open list: the Pod p is there, or nothing. */
static void lists(struct fx *f, bool there)
{
    uint32_t ids[64], pods_id = 0;
    size_t n = 0;
    for (size_t i = 0; i < f->out.n && n < ARRAY_LEN(ids); i++)
        if (f->out.v[i].kind == EFF_LIST) {
            if (str_eq(json_str(f->out.v[i].args, "resource", ""), "pods"))
                pods_id = f->out.v[i].id;
            CHECK_STR(json_str(f->out.v[i].args, "labelSelector", ""), "podium/lab=x");
            ids[n++] = f->out.v[i].id;
        }
    effects_clear(&f->out);
    for (size_t i = 0; i < n; i++)
        fx_send(f, MSG_REPLY, ids[i],
                json_from(there && ids[i] == pods_id
                              ? "{\"status\":200,\"object\":{\"items\":[{\"metadata\":{\"name\":"
                                "\"p\",\"namespace\":\"class\",\"uid\":\"u1\"}}]}}"
                          : i % 2 ? "{\"status\":200,\"object\":{\"items\":[]}}"
                                  : "{\"status\":403,\"error\":{\"code\":\"PD-K8S-FORBIDDEN\","
                                    "\"text\":\"no\"}}"));
}

TEST(clearing_up_lists_asks_once_and_leaves_nothing)
{
    struct fx f;
    open_with(&f, scenic);
    effects_clear(&f.out);
    fx_cmd(&f, "lab.cleanup", NULL, NULL);
    lists(&f, true);
    CHECK_INT(f.s->clean.state, CLEAN_ASKING);
    CHECK_INT(json_count(f.s->clean.items), 1);
    CHECK_STR(json_string_value(json_first(f.s->clean.items)), "pods/p");
    CHECK(!fx_effect(&f, EFF_DELETE, NULL, NULL));       /* asked first */
    fx_cmd(&f, "lab.cleanup", "yes", NULL);
    struct effect *e = fx_effect(&f, EFF_DELETE, "name", "p");
    CHECK(e != NULL);
    CHECK_STR(json_str(e->args, "uid", ""), "u1");
    fx_send(&f, MSG_REPLY, e->id, json_from("{\"status\":200,\"object\":{}}"));
    CHECK_INT(f.s->clean.state, CLEAN_RUNNING);          /* it is looked again */
    for (int left = 1; left >= 0; left--) {
        e = fx_effect(&f, EFF_TIMER, "name", "clean");
        CHECK(e != NULL);
        uint32_t timer = e->id;
        effects_clear(&f.out);
        fx_send(&f, MSG_TIMER, timer, json_from("{\"name\":\"clean\"}"));
        lists(&f, left == 1);
        if (left == 1) {
            e = fx_effect(&f, EFF_DELETE, "name", "p");
            CHECK(e != NULL);
            fx_send(&f, MSG_REPLY, e->id, json_from("{\"status\":404,\"error\":{\"code\":"
                                                    "\"PD-K8S-NOTFOUND\",\"text\":\"gone\"}}"));
        }
    }
    CHECK_INT(f.s->clean.state, CLEAN_DONE);
    CHECK_INT(f.s->clean.left, 0);
    fx_end(&f);
}

TEST(clearing_up_says_when_it_can_t)
{
    struct fx f;
    open_with(&f, scenic);
    fx_cluster(&f, "down");
    fx_cmd(&f, "lab.cleanup", NULL, NULL);
    CHECK_INT(f.s->clean.state, CLEAN_FAILED);
    fx_end(&f);
}

T_MAIN
