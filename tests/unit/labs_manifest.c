/* labs_manifest.c - the manifest of a step: the check, what an apply would change,
 * conflicts that are only taken over when told to, refusals at their line. */
#include "tests/t.h"

#include "tests/unit/labs_fixture.h"

#define LAB_HEAD "podium: 1\nid: x\ntitle: X\nrun: {job: j, container: c}\n"
#define ONE_STEP LAB_HEAD "steps:\n  - id: a\n    title: A\n    say: s\n"

static const char applying[] =
    ONE_STEP "    do: [{apply: {file: m.yaml}}]\n"
             "    checks: [{title: T, object: {kind: configmaps, name: a, expect: {data.k: 1}}}]\n";
static const char text[] = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\ndata:\n"
                           "  k: \"1\"\n";

static void begin(struct fx *f, const char *manifest)
{
    fx_open(f, applying, NULL);
    fx_all_synced(f);
    fx_file(f, "m.yaml", manifest);
}

static const struct json *note(const struct fx *f, int i)
{
    return json_item(f->s->manifest.notes, i);
}

static void answer(struct fx *f, uint32_t effect, const char *body)
{
    fx_send(f, MSG_REPLY, effect, json_from(body));
}

#define CONFLICT                                                                                  \
    "{\"status\":409,\"object\":{\"kind\":\"Status\",\"message\":\"Apply failed with 1 "          \
    "conflict\",\"reason\":\"Conflict\",\"details\":{\"causes\":[{\"reason\":"                    \
    "\"FieldManagerConflict\",\"message\":\"conflict with \\\"alice\\\"\",\"field\":"             \
    "\".data.k\"}]}},\"error\":{\"code\":\"PD-K8S-CONFLICT\",\"text\":\"conflict\"}}"

TEST(preview_checks_without_the_server_when_something_is_wrong)
{
    struct fx f;
    begin(&f, "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: A_b\n");
    fx_cmd(&f, "step.preview", NULL, NULL);
    CHECK(!fx_effect(&f, EFF_GET, "name", "A_b"));
    CHECK_INT(f.s->manifest.state, MANIFEST_SHOWN);
    CHECK_INT(json_count(f.s->manifest.notes), 1);
    CHECK_INT(json_int(note(&f, 0), "line", 0), 4);
    CHECK_HAS(json_str(note(&f, 0), "message", ""), "lowercase RFC 1123");
    CHECK(*json_str(note(&f, 0), "next", ""));
    fx_end(&f);
}

TEST(preview_asks_for_a_dry_run_and_shows_the_difference)
{
    struct fx f;
    begin(&f, text);
    fx_cmd(&f, "step.preview", NULL, NULL);
    struct effect *e = fx_effect(&f, EFF_GET, "name", "a");
    CHECK(e != NULL);
    CHECK_INT(f.s->manifest.state, MANIFEST_LOOKING);
    answer(&f, e->id, "{\"status\":200,\"object\":{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\","
                      "\"metadata\":{\"name\":\"a\"},\"data\":{\"k\":\"0\"}}}");
    e = fx_effect(&f, EFF_APPLY, NULL, NULL);
    CHECK(e && json_bool(e->args, "dry_run", false));
    answer(&f, e->id, "{\"status\":200,\"object\":{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\","
                      "\"metadata\":{\"name\":\"a\"},\"data\":{\"k\":\"1\"}}}");
    CHECK_INT(f.s->manifest.state, MANIFEST_SHOWN);
    CHECK_HAS(f.s->manifest.diff, "-  k: \"0\"");
    CHECK_HAS(f.s->manifest.diff, "+  k: \"1\"");
    fx_end(&f);
}

TEST(an_apply_takes_nothing_over_unless_told)
{
    struct fx f;
    begin(&f, text);
    fx_cmd(&f, "step.run", NULL, NULL);
    struct effect *e = fx_effect(&f, EFF_APPLY, NULL, NULL);
    CHECK(e && !json_bool(e->args, "force", true) && !json_bool(e->args, "dry_run", false));
    answer(&f, session_priv(f.s)->act.effect, CONFLICT);
    e = fx_effect(&f, EFF_GET, "name", "a");      /* what stands there now */
    CHECK(e != NULL);
    answer(&f, session_priv(f.s)->act.effect,
           "{\"status\":200,\"object\":{\"kind\":\"ConfigMap\",\"data\":{\"k\":\"9\"}}}");
    CHECK(session_act_failed(f.s));
    CHECK(f.s->manifest.conflict);
    CHECK_INT(json_int(note(&f, 0), "line", 0), 6);
    CHECK_HAS(json_str(note(&f, 0), "message", ""), "alice");
    CHECK_HAS(json_str(note(&f, 0), "message", ""), "\"9\"");
    CHECK_HAS(json_str(note(&f, 0), "message", ""), "\"1\"");
    fx_cmd(&f, "step.run", "force", NULL);
    e = fx_effect(&f, EFF_APPLY, NULL, NULL);
    CHECK(e && json_bool(e->args, "force", false));
    CHECK(!f.s->manifest.conflict);
    fx_end(&f);
}

TEST(all_causes_of_a_refusal_have_their_line)
{
    struct fx f;
    begin(&f, text);
    fx_cmd(&f, "step.run", NULL, NULL);
    answer(&f, session_priv(f.s)->act.effect,
           "{\"status\":422,\"object\":{\"kind\":\"Status\",\"reason\":\"Invalid\","
           "\"message\":\"x\","
           "\"details\":{\"causes\":[{\"field\":\"metadata.name\",\"message\":\"one\"},{\"field\":"
           "\"data[k]\",\"message\":\"two\"}]}},\"error\":{\"code\":\"PD-K8S-INVALID\",\"text\":"
           "\"x\"}}");
    CHECK_INT(json_count(f.s->manifest.notes), 2);
    CHECK_INT(json_int(note(&f, 0), "line", 0), 4);
    CHECK_INT(json_int(note(&f, 1), "line", 0), 6);
    CHECK_HAS(json_str(note(&f, 1), "message", ""), "two");
    CHECK_INT(session_priv(f.s)->act.err.line, 4);
    fx_end(&f);
}

T_MAIN
