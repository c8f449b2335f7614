/* labs_build.c - the state of a build as its records tell it. */
#include "tests/t.h"

#include "core/base/json.h"
#include "labs/build_state.h"

static struct build_state b;

static void record(const char *text, int64_t at)
{
    struct json *j = json_from(text);
    build_state_record(&b, j, at);
    json_free(j);
}

static void begin(void)
{
    build_state_begin(&b, "lab/x:1", 1000);
    record("{\"ev\":\"plan\",\"rows\":[{\"n\":1,\"line\":1,\"text\":\"FROM a AS x\",\"stage\":"
           "\"x\",\"skipped\":true},{\"n\":2,\"line\":3,\"text\":\"FROM scratch\"},"
           "{\"n\":3,\"line\":4,\"text\":\"COPY a \\u001b[31m/\"}]}", 1000);
}

TEST(build_follows_its_records)
{
    begin();
    CHECK_INT(b.n, 3);
    CHECK_INT(b.rows[0].state, ROW_SKIPPED);
    CHECK_STR(b.rows[2].text, "COPY a /");        /* nothing that steers a terminal */
    record("{\"ev\":\"instruction\",\"n\":2,\"total\":3,\"text\":\"x\"}", 1100);
    record("{\"ev\":\"step\",\"n\":2,\"cached\":false,\"ms\":5}", 1105);
    record("{\"ev\":\"instruction\",\"n\":3,\"total\":3,\"text\":\"x\"}", 1110);
    record("{\"ev\":\"pack\",\"done\":40,\"total\":100}", 1200);
    CHECK_INT(b.rows[2].done, 40);
    CHECK_INT(build_state_count(&b, ROW_RUNNING), 1);
    record("{\"ev\":\"layer\",\"digest\":\"sha256:ab\",\"size\":100,\"cached\":true}", 1300);
    record("{\"ev\":\"step\",\"n\":3,\"cached\":true,\"ms\":190}", 1300);
    CHECK_INT(b.rows[2].state, ROW_CACHED);
    CHECK_INT(b.rows[2].size, 100);
    record("{\"ev\":\"done\",\"digest\":\"sha256:cd\",\"bytes\":123}", 1400);
    build_state_end(&b, NULL, 1400);
    CHECK_INT(b.phase, BUILD_OVER);
    CHECK_INT(b.built_ms, 400);
    /* the push keeps the rows of the build, and adds bars */
    build_state_push(&b, "lab/x:1", 5000);
    record("{\"ev\":\"push\",\"digest\":\"sha256:ab\",\"done\":0,\"total\":100}", 5000);
    record("{\"ev\":\"push\",\"digest\":\"sha256:ab\",\"done\":100,\"total\":100}", 6000);
    record("{\"ev\":\"push\",\"digest\":\"sha256:cd\",\"done\":7,\"total\":7}", 6000);
    CHECK_INT(b.nbars, 2);
    CHECK_INT(b.bars[0].done, 100);
    CHECK_INT(b.n, 3);
    build_state_end(&b, NULL, 7000);
    CHECK_INT(b.phase, BUILD_PUSHED);
    CHECK_INT(b.built_ms, 400);
    record("{\"ev\":\"push\",\"digest\":\"sha256:ee\",\"done\":7,\"total\":7}", 8000);
    CHECK_INT(b.nbars, 2);                        /* it is over: late records are nothing */
    build_state_push(&b, "other:1", 9000);        /* another image: its own state */
    CHECK_INT(b.n, 0);
    build_state_release(&b);
}

TEST(build_keeps_how_it_broke)
{
    struct pd_err err;
    begin();
    record("{\"ev\":\"finding\",\"rule\":\"latest-tag\",\"line\":1,\"cause\":\"c\"}", 1000);
    pd_fail_at(&err, PD_IMAGE, "Dockerfile", 4, 6, "not there");
    build_state_end(&b, &err, 1500);
    CHECK_INT(b.phase, BUILD_BROKEN);
    CHECK_INT(b.rows[2].state, ROW_FAILED);       /* by its line: it had not begun */
    CHECK_INT(b.rows[1].state, ROW_WAITING);
    CHECK_INT(json_count(b.findings), 1);
    CHECK(!b.cancelled && !b.in_push);
    begin();
    CHECK_INT(json_count(b.findings), 0);         /* the next build starts afresh */
    record("{\"ev\":\"instruction\",\"n\":3,\"text\":\"x\"}", 1100);
    pd_fail(&err, PD_CANCELED, "cancelled");
    build_state_end(&b, &err, 1600);
    CHECK(b.cancelled);
    CHECK_INT(b.rows[2].state, ROW_FAILED);
    CHECK_INT(b.rows[2].ms, 500);
    build_state_release(&b);
}

/* A child that talks nonsense, or much, does no harm. */
TEST(build_bears_any_record)
{
    static const char *const odd[] = {
        "{}", "{\"ev\":\"plan\"}", "{\"ev\":\"step\",\"n\":99}", "{\"ev\":\"step\",\"n\":-1}",
        "{\"ev\":\"instruction\"}", "{\"ev\":\"layer\"}", "{\"ev\":\"pack\",\"done\":\"x\"}",
        "{\"ev\":\"push\"}", "{\"ev\":\"finding\"}", "{\"ev\":\"nobody\"}", "[]", "3",
        "{\"ev\":\"plan\",\"rows\":[1,\"x\",{}]}"};
    for (size_t i = 0; i < ARRAY_LEN(odd); i++)
        record(odd[i], 1);                        /* before any build */
    begin();
    for (size_t i = 0; i < ARRAY_LEN(odd); i++)
        record(odd[i], 2000);
    for (int i = 0; i < 5000; i++)
        record("{\"ev\":\"finding\",\"rule\":\"r\",\"line\":1,\"cause\":\"c\"}", 2000);
    CHECK_INT(b.log.n, BUILD_LOG_LINES);
    CHECK(json_count(b.findings) < 1000);
    build_state_release(&b);
}

T_MAIN
