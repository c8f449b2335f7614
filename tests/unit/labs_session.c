/* labs_session.c - the session under scripted messages: opening, steps,
 * actions, the run, and what is never believed. */
#include "tests/unit/labs_fixture.h"

#define LAB_HEAD "podium: 1\nid: x\ntitle: X\nrun: {job: j, container: c}\n"
#define ONE_STEP LAB_HEAD "steps:\n  - id: a\n    title: A\n    say: s\n"

static const char three[] =
    LAB_HEAD "steps:\n"
             "  - {id: a, title: A, say: s}\n"
             "  - id: b\n    title: B\n    say: s\n    hints: [h1, h2]\n"
             "    checks: [{title: T, count: {kind: nodes, is: {min: 1}}}]\n"
             "  - id: c\n    title: C\n    say: s\n"
             "    checks: [{title: T, count: {kind: pods, is: {min: 1}}}]\n";

TEST(steps_go_on_only_by_the_person)
{
    struct fx f;
    fx_open(&f, three, NULL);
    fx_all_synced(&f);
    CHECK_INT(f.s->step, 0);
    CHECK_INT(f.s->progress[0].state, STEP_OPEN);
    CHECK_INT(f.s->progress[1].state, STEP_LOCKED);
    fx_cmd(&f, "step.next", NULL, NULL);           /* a reading is done by reading on */
    CHECK_INT(f.s->progress[0].state, STEP_DONE);
    CHECK_INT(f.s->step, 1);
    CHECK_RESULT(&f, 0, CHECK_NOT_YET);
    fx_list(&f, "nodes", "[{\"metadata\":{\"name\":\"n\"}}]");
    CHECK_RESULT(&f, 0, CHECK_PASS);
    CHECK_INT(f.s->progress[1].state, STEP_DONE);
    CHECK_INT(f.s->step, 1);                       /* passing throws nobody out */
    CHECK(!f.s->finished);
    fx_end(&f);
}

TEST(a_later_step_waits_for_the_ones_before)
{
    struct fx f;
    fx_open(&f, three, NULL);
    fx_all_synced(&f);
    fx_list(&f, "pods", "[{\"metadata\":{\"name\":\"p\"}}]");
    fx_cmd(&f, "step.next", NULL, NULL);
    fx_cmd(&f, "step.next", NULL, NULL);
    CHECK_INT(f.s->step, 2);
    CHECK_RESULT(&f, 0, CHECK_BLOCKED);
    CHECK_HAS(fx_ev(&f, 0)->because, "step 2");
    CHECK(!f.s->finished);
    fx_cmd(&f, "step.prev", NULL, NULL);
    fx_list(&f, "nodes", "[{\"metadata\":{\"name\":\"n\"}}]");
    fx_cmd(&f, "step.next", NULL, NULL);
    CHECK_RESULT(&f, 0, CHECK_PASS);
    CHECK(f.s->finished);
    fx_end(&f);
}

TEST(hints_come_one_by_one_and_are_counted)
{
    struct fx f;
    fx_open(&f, three, NULL);
    fx_cmd(&f, "step.next", NULL, NULL);
    for (int i = 0; i < 5; i++)
        fx_cmd(&f, "step.hint", NULL, NULL);
    CHECK_INT(f.s->progress[1].hints_shown, 2);
    CHECK_INT(json_int(session_priv(f.s)->progress, "steps.b.hints", 0), 2);
    fx_end(&f);
}

TEST(progress_is_taken_up_where_it_stood)
{
    struct fx f;
    fx_begin(&f, three, NULL);
    fx_progress(&f, "{\"seq\":1,\"at_ms\":1700000000000,\"ev\":\"attempt\",\"seed\":5}\n"
                    "{\"seq\":2,\"ev\":\"done\",\"step\":\"a\"}\n"
                    "{\"seq\":3,\"ev\":\"at\",\"step\":\"b\"}\n"
                    "{\"seq\":4,\"ev\":\"hint\",\"step\":\"b\"}\n", NULL);
    CHECK_INT(f.s->step, 1);
    CHECK_INT(f.s->progress[1].hints_shown, 1);
    CHECK_NEAR(json_num(session_fact(f.s, "started_ms"), "", 0), 1700000000000.0, 0);
    fx_end(&f);
}

TEST(unknown_without_a_cluster)
{
    struct fx f;
    fx_open(&f, three, NULL);
    fx_cmd(&f, "step.next", NULL, NULL);
    CHECK_RESULT(&f, 0, CHECK_UNKNOWN);            /* not listed yet */
    fx_list(&f, "nodes", "[{\"metadata\":{\"name\":\"n\"}}]");
    CHECK_INT(f.s->progress[1].state, STEP_DONE);
    fx_end(&f);

    fx_open(&f, three, NULL);
    fx_all_synced(&f);
    fx_cmd(&f, "step.next", NULL, NULL);
    fx_cluster(&f, "down");
    fx_list(&f, "nodes", "[{\"metadata\":{\"name\":\"n\"}}]");
    CHECK_RESULT(&f, 0, CHECK_UNKNOWN);            /* even with rows from before */
    CHECK_HAS(fx_ev(&f, 0)->because, "127.0.0.1");
    fx_cluster(&f, "up");
    CHECK_RESULT(&f, 0, CHECK_PASS);
    fx_end(&f);
}

TEST(unknown_when_forbidden)
{
    struct fx f;
    fx_open(&f, three, NULL);
    fx_all_synced(&f);
    fx_cmd(&f, "step.next", NULL, NULL);
    fx_send(&f, MSG_WATCH_STATE, 0,
            json_from("{\"resource\":\"nodes\",\"state\":\"forbidden\",\"error\":"
                      "{\"code\":\"PD-K8S-FORBIDDEN\",\"text\":\"nodes is forbidden\"}}"));
    CHECK_RESULT(&f, 0, CHECK_UNKNOWN);
    CHECK_HAS(fx_ev(&f, 0)->because, "ask for a ClusterRole with this rule: {apiGroups: [\"\"], "
                                     "resources: [\"nodes\"], verbs: [\"get\", \"list\", ");
    fx_end(&f);
}

/* The lab has an answer for who may not look: the step counts without that check,
 * but not without any. */
TEST(what_may_not_be_seen_is_gone_without)
{
    static const char forbidden[] =
        "{\"resource\":\"nodes\",\"state\":\"forbidden\",\"error\":{\"code\":\"PD-K8S-FORBIDDEN\","
        "\"text\":\"nodes is forbidden: User \\\"ann\\\" cannot list resource \\\"nodes\\\" "
        "in API group "
        "\\\"\\\" at the cluster scope\"}}";
    struct fx f;
    fx_open(&f, LAB_HEAD
            "steps:\n  - id: a\n    title: A\n    say: s\n    checks:\n"
            "      - {title: n, count: {kind: nodes, is: 1}, unseen: ask the teacher}\n"
            "      - {title: j, count: {kind: jobs, is: 1}}\n", NULL);
    fx_all_synced(&f);
    CHECK_RESULT(&f, 0, CHECK_NOT_YET);
    fx_send(&f, MSG_WATCH_STATE, 0, json_from(forbidden));
    CHECK_RESULT(&f, 0, CHECK_SKIPPED);
    CHECK_HAS(fx_ev(&f, 0)->because,
              "ask the teacher (you may not list nodes; ask for a ClusterRole");
    CHECK_INT(f.s->progress[0].state, STEP_OPEN);
    fx_send(&f, MSG_WATCH_STATE, 0, json_from("{\"resource\":\"nodes\",\"state\":\"listing\"}"));
    CHECK_RESULT(&f, 0, CHECK_SKIPPED);            /* until there is another answer */
    fx_list(&f, "jobs", "[{\"metadata\":{\"name\":\"n\"}}]");
    CHECK_INT(f.s->progress[0].state, STEP_DONE);
    fx_end(&f);
}

TEST(answers_of_a_dead_epoch_are_dropped)
{
    struct fx f;
    fx_open(&f, three, NULL);
    fx_all_synced(&f);
    fx_cmd(&f, "step.next", NULL, NULL);
    struct json *body = json_from("{\"resource\":\"nodes\",\"items\":[{\"metadata\":{\"name\":"
                                  "\"n\"}}]}");
    struct msg *m = msg_new(MSG_LIST, body);
    m->cluster = 1;
    m->epoch = 9;
    session_apply(f.s, m, &f.out);
    msg_free(m);
    CHECK_RESULT(&f, 0, CHECK_NOT_YET);
    fx_end(&f);
}

TEST(a_missing_requirement_skips_with_its_reason)
{
    struct fx f;
    fx_open(&f, LAB_HEAD "requires: [{resource: habana.ai/gaudi, min: 1, why: no card}]\n"
                         "steps:\n  - id: a\n    title: A\n    say: s\n"
                         "    checks: [{title: T, count: {kind: nodes, is: {min: 1}}}]\n", NULL);
    fx_all_synced(&f);
    fx_list(&f, "nodes", "[{\"metadata\":{\"name\":\"n\"},\"status\":{\"allocatable\":{\"cpu\":"
                         "\"2\"}}}]");
    CHECK_RESULT(&f, 0, CHECK_SKIPPED);
    CHECK_HAS(fx_ev(&f, 0)->because, "no card");
    fx_list(&f, "nodes", "[{\"metadata\":{\"name\":\"n\"},\"status\":{\"allocatable\":"
                         "{\"habana.ai/gaudi\":\"8\"}}}]");
    CHECK_RESULT(&f, 0, CHECK_PASS);
    fx_end(&f);
}

/* A record that the cluster does not bear out is told, not believed. */
TEST(what_a_done_step_made_and_is_gone_is_told)
{
    static const char journal[] =
        "{\"seq\":1,\"at_ms\":1700000000000,\"ev\":\"attempt\",\"seed\":5}\n"
        "{\"seq\":2,\"ev\":\"made\",\"key\":\"jobs/j\",\"value\":{\"uid\":\"u\",\"step\":\"a\"}}\n"
        "{\"seq\":3,\"ev\":\"made\",\"key\":\"pods/p\",\"value\":{\"uid\":\"v\",\"step\":\"a\","
        "\"gone\":true}}\n{\"seq\":4,\"ev\":\"done\",\"step\":\"a\"}\n";
    struct fx f;
    fx_begin(&f, three, NULL);
    fx_progress(&f, journal, NULL);
    fx_list(&f, "jobs", "[]");
    CHECK(!strstr(f.s->message, "jobs/j"));        /* not before all was listed */
    fx_all_synced(&f);
    CHECK_HAS(f.s->message, "jobs/j, which step 1");
    fx_end(&f);
    fx_begin(&f, three, NULL);
    fx_progress(&f, journal, NULL);
    fx_list(&f, "jobs", "[{\"metadata\":{\"name\":\"j\",\"uid\":\"u\"}}]");
    const char *const rest[] = {"nodes", "pods", "events", "persistentvolumeclaims"};
    for (size_t i = 0; i < ARRAY_LEN(rest); i++)
        fx_list(&f, rest[i], "[]");
    CHECK(!strstr(f.s->message, "which step"));
    fx_end(&f);
}

/* --- actions ------------------------------------------------------------------------------ */

static const char applying[] =
    ONE_STEP "    do: [{apply: {file: job.yaml, replace: yes}}]\n"
             "    checks: [{title: T, object: {kind: jobs, name: j, expect: {spec.a: 1}}}]\n";
static const char job_text[] = "apiVersion: batch/v1\nkind: Job\nmetadata:\n  name: j\nspec:\n"
                               "  template:\n    spec:\n      containers: []\n";

static void reply(struct fx *f, const char *body)
{
    fx_send(f, MSG_REPLY, session_priv(f->s)->act.effect, json_from(body));
}

TEST(apply_replaces_by_uid_and_remembers_what_it_made)
{
    struct fx f;
    fx_open(&f, applying, NULL);
    fx_all_synced(&f);
    fx_file(&f, "job.yaml", job_text);
    fx_cmd(&f, "step.run", NULL, NULL);
    CHECK(fx_effect(&f, EFF_GET, "name", "j") != NULL);
    CHECK(!fx_effect(&f, EFF_APPLY, NULL, NULL));
    reply(&f, "{\"status\":200,\"object\":{\"metadata\":{\"name\":\"j\",\"uid\":\"old\"}}}");
    struct effect *e = fx_effect(&f, EFF_DELETE, "name", "j");
    CHECK(e != NULL);
    CHECK_STR(json_str(e->args, "uid", ""), "old");
    reply(&f, "{\"status\":200,\"object\":{}}");
    reply(&f, "{\"status\":200,\"object\":{\"metadata\":{\"name\":\"j\",\"uid\":\"old\"}}}");
    CHECK(!fx_effect(&f, EFF_APPLY, NULL, NULL));  /* still there: wait */
    fx_send(&f, MSG_TIMER, session_priv(f.s)->act.effect, json_from("{\"name\":\"gone\"}"));
    reply(&f, "{\"status\":404,\"error\":{\"code\":\"PD-K8S-NOTFOUND\",\"text\":\"not there\"}}");
    e = fx_effect(&f, EFF_APPLY, NULL, NULL);
    CHECK(e != NULL);
    CHECK_STR(json_str(e->args, "manifest.metadata.name", ""), "j");
    reply(&f, "{\"status\":201,\"object\":{\"apiVersion\":\"batch/v1\",\"kind\":\"Job\","
              "\"metadata\":{\"name\":\"j\",\"uid\":\"new\"}}}");
    CHECK_STR(json_string_value(session_fact(f.s, "made['jobs/j'].uid")), "new");
    CHECK_INT(session_priv(f.s)->act.state, ACTION_IDLE);
    CHECK(!session_priv(f.s)->act_failed);
    fx_end(&f);
}

TEST(a_refusal_names_the_line_of_the_person_s_file)
{
    struct fx f;
    fx_open(&f, applying, NULL);
    fx_all_synced(&f);
    fx_file(&f, "job.yaml", job_text);
    fx_cmd(&f, "step.run", NULL, NULL);
    reply(&f, "{\"status\":404,\"error\":{\"code\":\"PD-K8S-NOTFOUND\",\"text\":\"no\"}}");
    reply(&f, "{\"status\":422,\"object\":{\"kind\":\"Status\",\"status\":\"Failure\","
              "\"reason\":\"Invalid\",\"code\":422,\"message\":\"Job.batch \\\"j\\\" is invalid: "
              "spec.template.spec.restartPolicy: Required value\",\"details\":{\"causes\":["
              "{\"reason\":\"FieldValueRequired\",\"message\":\"Required value: valid values: "
              "\\\"OnFailure\\\", \\\"Never\\\"\",\"field\":\"spec.template.spec.restartPolicy\"}"
              "]}},"
              "\"error\":{\"code\":\"PD-K8S-INVALID\",\"text\":\"is invalid\"}}");
    CHECK(session_priv(f.s)->act_failed);
    CHECK_STR(f.s->last_error.src, "job.yaml");
    CHECK_INT(f.s->last_error.line, 7);
    CHECK_HAS(f.s->message, "job.yaml:7");
    CHECK_HAS(f.s->message, "OnFailure");
    fx_end(&f);
}

TEST(broken_yaml_is_told_before_anything_is_sent)
{
    struct fx f;
    fx_open(&f, applying, NULL);
    fx_all_synced(&f);
    fx_file(&f, "job.yaml", "a: [1,\nb");
    fx_cmd(&f, "step.run", NULL, NULL);
    CHECK(session_priv(f.s)->act_failed);
    CHECK(!fx_effect(&f, EFF_GET, "name", "j"));
    CHECK_HAS(f.s->message, "job.yaml:");
    fx_end(&f);
}

TEST(an_action_has_a_time_limit_and_can_be_cancelled)
{
    struct fx f;
    fx_open(&f, applying, NULL);
    fx_all_synced(&f);
    fx_file(&f, "job.yaml", job_text);
    fx_cmd(&f, "step.run", NULL, NULL);
    uint32_t effect = session_priv(f.s)->act.effect;
    fx_cmd(&f, "op.cancel", NULL, NULL);
    CHECK_INT(json_int(fx_effect(&f, EFF_CANCEL, NULL, NULL)->args, "effect", 0), effect);
    CHECK(session_priv(f.s)->act_failed);
    fx_cmd(&f, "step.run", NULL, NULL);
    CHECK_INT(session_priv(f.s)->act.state, ACTION_RUNNING);
    f.now += 121000;
    fx_send(&f, MSG_TIMER, session_priv(f.s)->act_timer, json_from("{\"name\":\"action\"}"));
    CHECK_INT(session_priv(f.s)->act.state, ACTION_IDLE);
    CHECK_HAS(f.s->message, "in time");
    fx_end(&f);
}

static const char building[] =
    LAB_HEAD "vars: {REGISTRY: {from: registry}, IMAGE: \"${REGISTRY}/x:1\", D: {from: digest}}\n"
             "steps:\n  - id: a\n    title: A\n    say: s\n"
             "    do: [{build: {file: Dockerfile, context: image, tag: \"${IMAGE}\"}},"
             " {push: {ref: \"${IMAGE}\"}}]\n"
             "    checks: [{title: T, image: {ref: \"${IMAGE}\"}}]\n";

static void registry(struct fx *f, const char *host)
{
    struct json *body = json_from("{\"status\":200,\"object\":{\"data\":{}}}");
    char *text = xasprintf("host: \"%s\"\nhelp: x\n", host);
    json_set(json_at_mut(body, "object.data"), "localRegistryHosting.v1", json_new_string(text));
    free(text);
    fx_send(f, MSG_REPLY, session_priv(f->s)->get_registry, body);
}

static void child(struct fx *f, uint32_t effect, const char *record, int code)
{
    if (record) {
        struct json *body = json_new_object();
        json_set(body, "record", json_from(record));
        fx_send(f, MSG_CHILD_LINE, effect, body);
    }
    if (code >= 0) {
        struct json *body = json_new_object();
        json_put_num(body, "code", code);
        json_put_str(body, "stderr", "");
        fx_send(f, MSG_CHILD_EXIT, effect, body);
    }
}

TEST(nothing_is_built_for_a_registry_that_is_not_known)
{
    struct fx f;
    fx_open(&f, building, NULL);
    fx_cmd(&f, "step.run", NULL, NULL);
    CHECK(session_priv(f.s)->act_failed);
    CHECK_HAS(f.s->message, "which registry");
    CHECK_HAS(f.s->message, "local-registry-hosting");
    CHECK_RESULT(&f, 0, CHECK_UNKNOWN);
    fx_send(&f, MSG_REPLY, session_priv(f.s)->get_registry,
            json_from("{\"status\":403,"
                      "\"error\":{\"code\":\"PD-K8S-FORBIDDEN\",\"text\":\"no\"}}"));
    /* the person's own namespace may say it instead */
    struct effect *own = fx_effect(&f, EFF_GET, "name", "local-registry-hosting");
    CHECK_STR(json_str(own->args, "namespace", ""), "class");
    fx_send(&f, MSG_REPLY, session_priv(f.s)->get_registry,
            json_from("{\"status\":404,\"error\":{\"code\":\"PD-K8S-NOTFOUND\",\"text\":\"no\"}}"));
    CHECK(session_priv(f.s)->get_registry == 0);
    fx_cmd(&f, "step.check", NULL, NULL);          /* it may be there by now */
    CHECK(session_priv(f.s)->get_registry != 0);
    own = fx_effect(&f, EFF_GET, "name", "local-registry-hosting");
    CHECK_STR(json_str(own->args, "namespace", ""), "kube-public");
    fx_end(&f);
}

static void build_and_push(struct fx *f, const char *pushed)
{
    struct session_priv *p = session_priv(f->s);
    registry(f, "127.0.0.1:5000");
    fx_cmd(f, "step.run", NULL, NULL);
    child(f, p->act.effect, "{\"ev\":\"pack\",\"done\":1,\"total\":4}", -1);
    CHECK_NEAR(f->s->op.total, 4, 0);
    child(f, p->act.effect, "{\"ev\":\"done\",\"digest\":\"sha256:aa\"}", 0);
    child(f, p->act.effect, pushed, 0);
}

TEST(the_registry_must_hold_what_was_built)
{
    struct fx f;
    fx_open(&f, building, NULL);
    build_and_push(&f, "{\"ev\":\"done\",\"digest\":\"sha256:aa\"}");
    CHECK_STR(json_str(f.s->vars, "D", ""), "sha256:aa");
    struct effect *e = fx_effect(&f, EFF_SPAWN, NULL, NULL);
    CHECK_STR(json_str(e->args, "argv[2]", ""), "pull");
    CHECK_RESULT(&f, 0, CHECK_UNKNOWN);            /* asked, not answered */
    child(&f, session_priv(f.s)->asks[0].effect, "{\"ev\":\"done\",\"digest\":\"sha256:bb\"}", 0);
    CHECK_RESULT(&f, 0, CHECK_WRONG);
    CHECK_STR(fx_ev(&f, 0)->expected, "sha256:aa");
    CHECK_STR(fx_ev(&f, 0)->actual, "sha256:bb");
    fx_cmd(&f, "step.check", NULL, NULL);
    child(&f, session_priv(f.s)->asks[0].effect,
          "{\"ev\":\"error\",\"code\":\"PD-NET\",\"text\":\"refused\"}", 1);
    CHECK_RESULT(&f, 0, CHECK_UNKNOWN);
    fx_cmd(&f, "step.check", NULL, NULL);
    child(&f, session_priv(f.s)->asks[0].effect, "{\"ev\":\"done\",\"digest\":\"sha256:aa\"}", 0);
    CHECK_RESULT(&f, 0, CHECK_PASS);
    CHECK(f.s->finished);
    fx_end(&f);
}

TEST(a_failed_build_says_where)
{
    struct fx f;
    fx_open(&f, building, NULL);
    registry(&f, "h:1");
    fx_cmd(&f, "step.run", NULL, NULL);
    child(&f, session_priv(f.s)->act.effect,
          "{\"ev\":\"error\",\"code\":\"PD-IMAGE\",\"text\":\"unknown instruction CPOY\","
          "\"hint\":\"COPY\",\"file\":\"Dockerfile\",\"line\":4,\"column\":1}", 1);
    CHECK_HAS(f.s->message, "Dockerfile:4:1");
    CHECK_HAS(f.s->message, "CPOY");
    CHECK(f.s->op.failed && f.s->op.ended);
    CHECK(!session_fact(f.s, "build"));
    fx_end(&f);
}

TEST(a_token_in_a_request_is_not_shown)
{
    struct fx f;
    fx_open(&f, ONE_STEP, NULL);
    fx_send(&f, MSG_REQUEST, 0, json_from("{\"id\":7,\"method\":\"PATCH\",\"path\":\"/x\",\"body\":"
            "{\"env\":[{\"name\":\"HF\",\"value\":\"hf_abcdefghijklmnop\"}]},"
            "\"kubectl\":\"kubectl exec p -- curl -H 'Authorization: Bearer abc.def'\"}"));
    const struct api_row *r = &f.s->api[f.s->api_n - 1];
    CHECK_INT(r->id, 7);
    CHECK_HAS(r->body, "***");
    CHECK(!strstr(r->body, "hf_abc") && !strstr(r->kubectl, "abc.def"));
    fx_end(&f);
}

TEST(what_the_server_warns_of_is_said_once)
{
    struct fx f;
    static const char warned[] =
        "{\"id\":%d,\"method\":\"PATCH\",\"path\":\"/x\",\"status\":200,\"warning\":"
        "\"299 - \\\"unknown field \\\\\\\"spec.a\\\\\\\"\\\"\\n299 - \\\"b\\\"\"}";
    char body[400];
    fx_open(&f, ONE_STEP, NULL);
    fx_send(&f, MSG_REQUEST, 0, json_from(str_fmt(body, sizeof body, warned, 7)));
    CHECK_STR(f.s->message, "the server warns: b");
    CHECK_STR(f.s->api[f.s->api_n - 1].warning, "unknown field \"spec.a\"; b");
    session_say(f.s, PD_OK, "something else");
    fx_send(&f, MSG_REQUEST, 0, json_from(str_fmt(body, sizeof body, warned, 8)));
    CHECK_STR(f.s->message, "something else");
    CHECK_STR(f.s->api[f.s->api_n - 1].warning, "unknown field \"spec.a\"; b");
    fx_end(&f);
}

TEST(texts_of_the_cluster_can_not_steer_the_terminal)
{
    struct fx f;
    fx_open(&f, ONE_STEP "    checks: [{title: T, object: {kind: jobs, name: j, own: no,"
                         " expect: {spec.a: 1}}}]\n", NULL);
    fx_all_synced(&f);
    fx_list(&f, "jobs", "[{\"metadata\":{\"name\":\"j\"},\"spec\":{\"a\":\"\\u001b[2Jx\\u0007\"}}"
                        "]");
    CHECK_STR(fx_ev(&f, 0)->actual, "x");
    CHECK_RESULT(&f, 0, CHECK_WRONG);
    fx_send(&f, MSG_REPLY, 4711, json_from("{\"status\":500,\"error\":{\"code\":\"PD-HTTP\","
                                           "\"text\":\"no\\u001b]0;x\\u0007 way\"}}"));
    CHECK_STR(f.s->message, "no way");             /* headless prints it as it is */
    fx_end(&f);
}

/* A list in parts, as it goes through a recording: its objects are shared trees
 * on one side and text on the other. */
TEST(a_recorded_list_gives_the_same_rows)
{
    struct session *live = session_new(NULL), *played = session_new(NULL);
    struct effects out;
    effects_init(&out);
    for (int part = 0; part < 3; part++) {
        struct json *body = json_new_object(), *items = json_new_array();
        json_put_str(body, "resource", "pods");
        json_put_num(body, "from", part * 2);
        json_put_bool(body, "more", part < 2);
        for (int i = 0; i < 2; i++) {
            struct json *plain = json_from("{\"metadata\":{\"name\":\"x\",\"uid\":\"u\"}}");
            char name[16];
            json_put_path(plain, "metadata.name",
                          json_new_string(str_fmt(name, sizeof name, "p-%d-%d", part, i)));
            json_append(items, json_share(plain));
            json_free(plain);
        }
        json_set(body, "items", items);
        struct msg *m = msg_new(MSG_LIST, body), *again = NULL;
        struct json *written = msg_to_json(m), *read = NULL;
        struct pd_err err;
        char *text = json_text(written, 0);
        CHECK(json_parse(text, strlen(text), &read, &err) == PD_OK);
        CHECK(msg_from_json(read, &again, &err) == PD_OK);
        session_apply(live, m, &out);
        session_apply(played, again, &out);
        CHECK_INT(session_table(live, "pods")->synced, part == 2);
        CHECK(json_share_same(session_find(live, "pods", "p-0-1"),
                              session_find(played, "pods", "p-0-1")));
        json_free(written);
        json_free(read);
        free(text);
        msg_free(m);
        msg_free(again);
    }
    CHECK_INT(json_count(session_table(played, "pods")->items), 6);
    CHECK(json_equal(session_table(live, "pods")->items, session_table(played, "pods")->items));
    effects_release(&out);
    session_free(live);
    session_free(played);
    CHECK_INT(json_share_use().bytes, 0);
}

T_MAIN
