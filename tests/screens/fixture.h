/* fixture.h - a made-up session for the screen tests: a cluster with three
 * nodes, a lab in its third step, a run with noise, a spike and validation. All
 * numbers come from fixed formulas, all times from one fixed moment. */
#ifndef TESTS_SCREENS_FIXTURE_H
#define TESTS_SCREENS_FIXTURE_H

#include <math.h>

#include "core/base/clock.h"
#include "core/base/i18n.h"
#include "core/base/mem.h"
#include "core/base/path.h"
#include "core/base/utf8.h"
#include "labs/run.h"
#include "labs/session_priv.h"
#include "tests/t.h"
#include "tui/app.h"
#include "tui/cmd.h"
#include "tui/screen.h"

#define FIXTURE_NOW INT64_C(1796004000000)       /* 2026-11-30T02:00:00Z */

UNUSED static struct json *fx_node(const char *name, const char *res, int n, const char *cpu,
                                   const char *mem)
{
    char buf[1024];
    str_fmt(buf, sizeof buf,
            "{\"metadata\":{\"name\":\"%s\",\"labels\":{\"podium.dev/simulated\":\"true\"}},"
            "\"status\":{\"allocatable\":{\"cpu\":\"%s\",\"memory\":\"%s\"%s%s%s%.0d%s},"
            "\"capacity\":{\"cpu\":\"%s\",\"memory\":\"%s\"%s%s%s%.0d%s},"
            "\"conditions\":[{\"type\":\"Ready\",\"status\":\"True\"}]}}",
            name, cpu, mem, n ? ",\"" : "", n ? res : "", n ? "\":\"" : "", n, n ? "\"" : "", cpu,
            mem, n ? ",\"" : "", n ? res : "", n ? "\":\"" : "", n, n ? "\"" : "");
    return json_from(buf);
}

UNUSED static struct table *fx_table(struct session *s, const char *name)
{
    for (int i = 0; i < SESSION_TABLES; i++)
        if (str_eq(s->tables[i].resource, name)) {
            s->tables[i].synced = true;
            return &s->tables[i];
        }
    return NULL;
}

/* Takes the object. */
UNUSED static void fx_put(struct session *s, const char *table, struct json *obj)
{
    table_put(fx_table(s, table), obj);
    json_free(obj);
}

UNUSED static void fx_cluster(struct session *s)
{
    s->cluster.link = LINK_UP;
    str_copy(s->cluster.context, sizeof s->cluster.context, "class-a");
    str_copy(s->cluster.ns, sizeof s->cluster.ns, "stu-07");
    s->cluster.latency_ms = 12;
    fx_put(s, "nodes", fx_node("gaudi-0", "habana.ai/gaudi", 8, "96", "1024Gi"));
    fx_put(s, "nodes", fx_node("nvidia-0", "nvidia.com/gpu", 2, "32", "256Gi"));
    fx_put(s, "nodes", fx_node("xeon-0", "", 0, "56", "480Gi"));
    fx_put(s, "pods", json_from(
        "{\"metadata\":{\"name\":\"lora-gaudi-x7k2p\",\"namespace\":\"stu-07\","
        "\"creationTimestamp\":\"2026-11-30T01:59:51Z\"},\"spec\":{\"nodeName\":\"gaudi-0\","
        "\"containers\":[{\"name\":\"train\",\"resources\":{"
        "\"limits\":{\"habana.ai/gaudi\":\"1\"},"
        "\"requests\":{\"habana.ai/gaudi\":\"1\",\"memory\":\"32Gi\",\"cpu\":\"4\"}}}]},"
        "\"status\":{\"phase\":\"Pending\",\"containerStatuses\":"
        "[{\"name\":\"train\",\"ready\":false,"
        "\"restartCount\":0,\"state\":{\"waiting\":{\"reason\":\"ContainerCreating\"}}}]}}"));
    fx_put(s, "pods", json_from(
        "{\"metadata\":{\"name\":\"dataaccess-0\",\"namespace\":\"stu-07\","
        "\"creationTimestamp\":\"2026-11-28T01:59:51Z\"},\"spec\":{\"nodeName\":\"xeon-0\","
        "\"containers\":[{\"name\":\"c\",\"resources\":{\"requests\":{\"cpu\":\"12\","
        "\"memory\":\"71Gi\"}}}]},\"status\":{\"phase\":\"Running\",\"containerStatuses\":"
        "[{\"name\":\"c\",\"ready\":true,\"restartCount\":2,\"state\":{\"running\":{}}}]}}"));
    fx_put(s, "events", json_from(
        "{\"metadata\":{\"name\":\"e1\"},\"type\":\"Normal\",\"reason\":\"Scheduled\",\"message\":"
        "\"Successfully assigned stu-07/lora-gaudi-x7k2p to gaudi-0\","
        "\"lastTimestamp\":\"2026-11-30T01:59:51Z\"}"));
    fx_put(s, "events", json_from(
        "{\"metadata\":{\"name\":\"e2\"},\"type\":\"Warning\",\"reason\":\"BackOff\",\"message\":"
        "\"Back-off pulling image \\\"registry/lora:1.0\\\"\","
        "\"lastTimestamp\":\"2026-11-30T01:59:56Z\"}"));
}

UNUSED static void fx_add(struct session *s, const char *table, const char *text)
{
    fx_put(s, table, json_from(text));
    fx_table(s, table)->generation++;
}

/* A pod of the Job lora-gaudi with a place in its life. */
UNUSED static void fx_pod(struct session *s, const char *name, const char *created,
                          const char *node, const char *resource, const char *status)
{
    char buf[3000];
    str_fmt(buf, sizeof buf,
            "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"%s\","
            "\"namespace\":\"stu-07\",\"uid\":\"uid-%s\",\"creationTimestamp\":\"%s\","
            "\"ownerReferences\":[{\"kind\":\"Job\",\"name\":\"lora-gaudi\",\"uid\":\"job-1\"}]},"
            "\"spec\":{%s%s%s\"restartPolicy\":\"Never\",\"containers\":[{\"name\":\"train\","
            "\"image\":\"registry:5000/lora:1.0\",\"resources\":{\"limits\":{%s},"
            "\"requests\":{%s}}}],\"volumes\":[{\"name\":\"data\",\"persistentVolumeClaim\":"
            "{\"claimName\":\"train-data\"}}]},\"status\":%s}",
            name, name, created, *node ? "\"nodeName\":\"" : "", node, *node ? "\"," : "", resource,
            resource, status);
    fx_add(s, "pods", buf);
}

UNUSED static void fx_event(struct session *s, const char *type, const char *reason,
                            const char *pod, int count, const char *first, const char *last,
                            const char *message)
{
    char buf[1500];
    str_fmt(buf, sizeof buf,
            "{\"metadata\":{\"name\":\"%s.%s\"},\"type\":\"%s\",\"reason\":\"%s\","
            "\"involvedObject\":{\"kind\":\"Pod\",\"name\":\"%s\",\"uid\":\"uid-%s\"},"
            "\"count\":%d,\"firstTimestamp\":\"%s\",\"lastTimestamp\":\"%s\",\"message\":\"%s\"}",
            pod, reason, type, reason, pod, pod, count, first, last, message);
    fx_add(s, "events", buf);
}

/* More of a cluster: pods that run, wait and failed, their Job and events. */
UNUSED static void fx_crowd(struct session *s)
{
    fx_pod(s, "lora-gaudi-run-4k9wz", "2026-11-30T01:34:00Z", "gaudi-0",
           "\"habana.ai/gaudi\":\"2\",\"memory\":\"64Gi\",\"cpu\":\"8\"",
           "{\"phase\":\"Running\",\"podIP\":\"10.1.0.7\",\"conditions\":["
           "{\"type\":\"PodScheduled\",\"status\":\"True\","
           "\"lastTransitionTime\":\"2026-11-30T01:34:02Z\"},"
           "{\"type\":\"Ready\",\"status\":\"True\","
           "\"lastTransitionTime\":\"2026-11-30T01:34:49Z\"}],\"containerStatuses\":[{"
           "\"name\":\"train\",\"ready\":true,\"restartCount\":0,\"state\":{\"running\":{"
           "\"startedAt\":\"2026-11-30T01:34:46Z\"}}}]}");
    fx_pod(s, "lora-gaudi-oom-9vq4d", "2026-11-30T01:48:00Z", "xeon-0",
           "\"memory\":\"32Gi\",\"cpu\":\"4\"",
           "{\"phase\":\"Failed\",\"conditions\":[{\"type\":\"PodScheduled\",\"status\":"
           "\"True\",\"lastTransitionTime\":\"2026-11-30T01:48:01Z\"}],\"containerStatuses\":[{"
           "\"name\":\"train\",\"ready\":false,\"restartCount\":0,\"state\":{\"terminated\":{"
           "\"exitCode\":137,\"reason\":\"OOMKilled\",\"startedAt\":\"2026-11-30T01:48:04Z\","
           "\"finishedAt\":\"2026-11-30T01:49:14Z\"}}}]}");
    fx_pod(s, "lora-gaudi-wait-p0c2s", "2026-11-30T01:56:00Z", "", "\"nvidia.com/gpu\":\"4\"",
           "{\"phase\":\"Pending\",\"conditions\":[{\"type\":\"PodScheduled\",\"status\":"
           "\"False\",\"reason\":\"Unschedulable\",\"message\":\"0/3 nodes are available: "
           "3 Insufficient nvidia.com/gpu.\"}]}");
    fx_add(s, "jobs",
           "{\"apiVersion\":\"batch/v1\",\"kind\":\"Job\",\"metadata\":{\"name\":"
           "\"lora-gaudi\",\"namespace\":\"stu-07\",\"uid\":\"job-1\",\"creationTimestamp\":"
           "\"2026-11-30T01:34:00Z\"},\"spec\":{\"completions\":1,\"backoffLimit\":4},"
           "\"status\":{\"active\":2,\"failed\":1}}");
    fx_event(s, "Normal", "Scheduled", "lora-gaudi-run-4k9wz", 1, "2026-11-30T01:34:02Z",
             "2026-11-30T01:34:02Z",
             "Successfully assigned stu-07/lora-gaudi-run-4k9wz to gaudi-0");
    fx_event(s, "Normal", "Pulled", "lora-gaudi-run-4k9wz", 1, "2026-11-30T01:34:45Z",
             "2026-11-30T01:34:45Z", "Successfully pulled image registry:5000/lora:1.0 in 41.2s");
    fx_event(s, "Warning", "FailedScheduling", "lora-gaudi-wait-p0c2s", 7, "2026-11-30T01:56:01Z",
             "2026-11-30T01:59:40Z", "0/3 nodes are available: 3 Insufficient nvidia.com/gpu.");
}

UNUSED static void fx_check(struct evidence *e, enum check_result r, const char *object,
                            const char *path, const char *expected, const char *actual,
                            const char *because)
{
    e->result = r;
    e->at_ms = FIXTURE_NOW - 9000;
    str_copy(e->object, sizeof e->object, object);
    str_copy(e->path, sizeof e->path, path);
    str_copy(e->expected, sizeof e->expected, expected);
    str_copy(e->actual, sizeof e->actual, actual);
    str_copy(e->because, sizeof e->because, because);
}

UNUSED static void fx_lab(struct app *a)
{
    struct session *s = a->s;
    s->lab = lab_list_find(a->labs, "lora-gaudi");
    CHECK(s->lab != NULL);
    s->step = 2;
    s->progress = xcalloc((size_t)s->lab->steps_n, sizeof *s->progress);
    for (int i = 0; i < s->lab->steps_n; i++) {
        struct step_progress *p = &s->progress[i];
        p->checks = xcalloc((size_t)s->lab->steps[i].checks_n + 1, sizeof *p->checks);
        p->state = i < 2 ? STEP_DONE : i == 2 ? STEP_OPEN : STEP_LOCKED;
    }
    struct evidence *e = s->progress[2].checks;
    fx_check(&e[0], CHECK_PASS, "jobs/lora-gaudi", "", "", "", "");
    fx_check(&e[1], CHECK_WRONG, "jobs/lora-gaudi",
             "spec.template.spec.containers[0].resources.limits['habana.ai/gaudi']", "1", "3",
             "The Job asks for 3 cards; this lab uses one.");
    fx_check(&e[2], CHECK_NOT_YET, "pods/lora-gaudi-x7k2p", "", "", "",
             "The image is being pulled.");
    s->progress[2].hints_shown = 1;
    str_copy(s->message, sizeof s->message, "job/lora-gaudi created; image pulling 8%");
    struct msg m = {.kind = MSG_TICK, .at_ms = FIXTURE_NOW};
    struct effects out;
    effects_init(&out);
    app_apply(a, &m, &out);
    effects_release(&out);
}

UNUSED static void fx_op(struct session *s)
{
    s->op.effect = 7;
    session_priv(s)->act.state = ACTION_RUNNING;
    session_priv(s)->act.effect = 7;
    str_copy(s->op.what, sizeof s->op.what, "push train:1.0");
    str_copy(s->op.unit, sizeof s->op.unit, "B");
    s->op.done = 312e6;
    s->op.total = 3980e6;
    s->op.started_ms = FIXTURE_NOW - 8000;
}

/* The records of a build up to an instruction (0: all of them). */
UNUSED static void fx_build(struct session *s, int upto)
{
    static const struct { const char *text, *stage; int size; bool cached; } rows[] = {
        {"FROM python:3.11-slim AS deps", "deps", 0, true},
        {"WORKDIR /app", "deps", 96, true},
        {"COPY requirements.txt wheels/ /app/wheels/", "deps", 211000000, true},
        {"FROM python:3.11-slim", "", 0, true},
        {"COPY --from=deps /app /app", "", 203000000, false},
        {"COPY --chown=1000:1000 model /app/model", "", 1980000000, false},
        {"COPY train.py /app/ # 训练脚本", "", 4100, false},
        {"USER 1000", "", 0, false},
        {"ENTRYPOINT [\"python3\", \"/app/train.py\"]", "", 0, false}};
    struct build_state *b = &s->build;
    int64_t at = FIXTURE_NOW - 34000;
    struct json *plan = json_from("{\"ev\":\"plan\",\"rows\":[]}");
    char text[400];
    build_state_begin(b, "127.0.0.1:5000/lab/lora:1.0", at);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct json *row = json_from("{}");
        json_put_num(row, "n", (double)i + 1);
        json_put_num(row, "line", (double)i + 2);
        json_put_str(row, "text", rows[i].text);
        json_put_str(row, "stage", rows[i].stage);
        json_append(json_get_mut(plan, "rows"), row);
    }
    build_state_record(b, plan, at);
    json_free(plan);
    struct json *r = json_from("{\"ev\":\"finding\",\"rule\":\"latest-tag\",\"level\":\"warning\","
                               "\"line\":2,\"column\":6,\"cause\":\"the tag moves\","
                               "\"next\":\"name a version\"}");
    build_state_record(b, r, at);
    json_free(r);
    for (int i = 0; i < (int)ARRAY_LEN(rows); i++) {
        bool last = i + 1 == upto;
        str_fmt(text, sizeof text,
                "{\"ev\":\"instruction\",\"n\":%d,\"total\":9,\"text\":\"x\"}", i + 1);
        build_state_record(b, r = json_from(text), at);
        json_free(r);
        if (last && rows[i].size > 100000) {
            build_state_record(b, r = json_from("{\"ev\":\"pack\",\"done\":812000000,"
                                                "\"total\":2600000000}"), at);
            json_free(r);
        }
        if (last)
            return;
        str_fmt(text, sizeof text, "{\"ev\":\"layer\",\"digest\":\"sha256:%08x00ff\",\"size\":%d,"
                "\"cached\":%s}", 0x5eed1234u * (unsigned)(i + 3), rows[i].size,
                rows[i].cached ? "true" : "false");
        if (rows[i].size)
            build_state_record(b, r = json_from(text), at);
        if (rows[i].size)
            json_free(r);
        int ms = rows[i].cached ? 40 : rows[i].size / 100000;
        at += ms;
        str_fmt(text, sizeof text, "{\"ev\":\"step\",\"n\":%d,\"cached\":%s,\"ms\":%d}", i + 1,
                rows[i].cached ? "true" : "false", ms);
        build_state_record(b, r = json_from(text), at);
        json_free(r);
    }
    r = json_from("{\"ev\":\"done\",\"digest\":\"sha256:9f86d081884c7d659a2feaa0c55ad015"
                  "a3bf4f1b2b0b822cd15d6c15b0f00a08\",\"bytes\":2394000000}");
    build_state_record(b, r, at);
    json_free(r);
    build_state_end(b, NULL, at);
}

UNUSED static void fx_push(struct session *s)
{
    static const char *const lines[] = {
        "{\"ev\":\"push\",\"digest\":\"sha256:1cc7369cff\",\"done\":96,\"total\":96}",
        "{\"ev\":\"push\",\"digest\":\"sha256:ddb53b06ff\",\"done\":0,\"total\":203000000}",
        "{\"ev\":\"push\",\"digest\":\"sha256:ddb53b06ff\",\"done\":203000000,\"total\":203000000}",
        "{\"ev\":\"push\",\"digest\":\"sha256:3ca24d3aff\",\"done\":0,\"total\":1980000000}",
        "{\"ev\":\"push\",\"digest\":\"sha256:3ca24d3aff\",\"done\":312000000,"
        "\"total\":1980000000}"};
    build_state_push(&s->build, "127.0.0.1:5000/lab/lora:1.0", FIXTURE_NOW - 9000);
    for (size_t i = 0; i < ARRAY_LEN(lines); i++) {
        struct json *r = json_from(lines[i]);
        build_state_record(&s->build, r, FIXTURE_NOW - 8000 + 500 * (int64_t)i);
        json_free(r);
    }
}

UNUSED static void fx_api(struct session *s)
{
    static const struct { const char *method; int status; int64_t ms; const char *path, *kubectl; }
    rows[] = {
        {"GET", 200, 4, "/api/v1/nodes?watch=1", "kubectl get nodes -w"},
        {"PATCH", 201, 38, "/apis/batch/v1/namespaces/stu-07/jobs/lora-gaudi?fieldManager=podium",
         "kubectl apply --server-side -f lora-gaudi.yaml -n stu-07"},
        {"GET", 0, 0, "/api/v1/namespaces/stu-07/pods?watch=1", "kubectl get pods -n stu-07 -w"},
        {"DELETE", 404, 3, "/api/v1/namespaces/stu-07/pods/gone",
         "kubectl delete pod gone -n stu-07"},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct api_row *r = &s->api[s->api_n++];
        *r = (struct api_row){.id = (uint32_t)i + 1, .status = rows[i].status, .ms = rows[i].ms,
                              .path = xstrdup(rows[i].path), .kubectl = xstrdup(rows[i].kubectl)};
        str_copy(r->method, sizeof r->method, rows[i].method);
    }
    s->api[1].body = xstrdup("{\"apiVersion\":\"batch/v1\",\"kind\":\"Job\",\"metadata\":"
                             "{\"name\":\"lora-gaudi\"}}");
}

/* 310 of 500 steps: an exponential with noise, a spike at 208, a validation
 * every 50 steps. */
UNUSED static void fx_run(struct session *s)
{
    struct run *r = &s->run;
    uint32_t seed = 1;
    str_copy(r->pod, sizeof r->pod, "lora-gaudi-x7k2p");
    r->steps_total = 500;
    r->best_val = r->first_val = NAN;
    for (int i = 1; i <= 310; i++) {
        seed = seed * 1664525u + 1013904223u;
        double noise = ((double)(seed >> 8) / (1 << 24) - 0.5) * 0.35;
        double loss = 0.9 + 2.4 * exp(-i / 60.0) + noise * (0.4 + exp(-i / 80.0));
        if (i == 208)
            loss = 2.6;
        series_append(r->loss, i, loss);
        double cosine = 2e-4 * (0.5 + 0.5 * cos((i - 50) / 450.0 * 3.14159265));
        series_append(r->lr, i, i < 50 ? 2e-4 * i / 50 : cosine);
        series_append(r->gnorm, i, 0.7 + noise);
        series_append(r->tok_s, i, i % 100 == 0 ? 402 : 1284 + noise * 100);
        if (i % 50 == 0 || i == 1) {
            double v = 0.97 + 2.4 * exp(-i / 60.0);
            series_append(r->val, i, v);
            if (isnan(r->first_val))
                r->first_val = v;
            if (isnan(r->best_val) || v < r->best_val) {
                r->best_val = v;
                r->best_step = i;
            }
        }
    }
    r->step = 310;
    r->epoch = 1.86;
    r->started_ms = FIXTURE_NOW - 842000;
    r->last_line_ms = FIXTURE_NOW - 500;
    r->eta_low = 476;
    r->eta_high = 556;
    str_copy(r->state, sizeof r->state, "running");
    s->attach_open = true;
}

UNUSED static void fx_log_line(struct session *s, const char *text)
{
    CHECK(s->log_n < s->log_cap);
    s->log[s->log_n].ts_ms = FIXTURE_NOW;
    s->log[s->log_n++].text = xstrdup(text);
}

UNUSED static void fx_log(struct session *s)
{
    fx_log_line(s, "podium-train 0.1.0");
    fx_log_line(s, "{\"v\":1,\"ev\":\"hello\",\"version\":\"0.1.0\",\"model\":\"tiny\","
                   "\"params\":1234567}");
    fx_log_line(s, "WARN the tokenizer has no pad token; 数据 uses </s>");
    for (int i = 300; i <= 310; i++) {
        char buf[200];
        str_fmt(buf, sizeof buf,
                "{\"v\":1,\"ev\":\"step\",\"step\":%d,\"loss\":%.3f,\"lr\":0.00016,"
                "\"gnorm\":0.71,\"tok_s\":1284}", i, 0.95 + (i % 3) * 0.01);
        fx_log_line(s, buf);
    }
    fx_log_line(s, "{\"v\":1,\"ev\":\"eval\",\"step\":310,\"val_loss\":1.018}");
}

/* A run of podium-train with a lab's own model and data, held after step 3 and
 * walked through (tests/screens/walk.jsonl), as it would come from the log. */
UNUSED static void fx_walk(struct session *s)
{
    struct run_log *log = xcalloc(1, sizeof *log);
    struct str text;
    struct pd_err err;
    run_reset(&s->run, log);
    str_copy(s->run.pod, sizeof s->run.pod, "lora-gaudi-x7k2p");
    str_init(&text, 1 << 20);
    CHECK_OK(path_read(PODIUM_SOURCE_DIR "/tests/screens/walk.jsonl", 1 << 20, &text, &err));
    for (char *line = text.p, *end; *line; line = end + 1) {
        end = strchr(line, '\n');
        *end = '\0';
        CHECK(run_line(&s->run, log, line, FIXTURE_NOW));
    }
    str_release(&text);
    free(log);
}

/* An app at a size, in the catalogue. */
UNUSED static struct app *fx_app(const char *lang, int cols, int rows, enum glyph_set glyphs)
{
    i18n_init(lang);
    struct lab_list *labs = lab_list_load(PODIUM_SOURCE_DIR "/tests/screens/labs");
    for (size_t i = 0; i < labs->n; i++) {   /* the same wherever the sources are */
        char *src = labs->v[i].err.src;
        if (str_starts(src, PODIUM_SOURCE_DIR "/"))
            memmove(src, src + strlen(PODIUM_SOURCE_DIR) + 1,
                    strlen(src + strlen(PODIUM_SOURCE_DIR)));
    }
    struct app *a = app_new(session_new(labs), labs);
    a->cols = cols;
    a->rows = rows;
    a->glyphs = glyphs;
    a->curve.dots = glyphs == GLYPH_ASCII ? DOTS_ASCII : DOTS_BRAILLE;
    a->now_ms = FIXTURE_NOW;
    fx_cluster(a->s);
    return a;
}

UNUSED static void fx_free(struct app *a)
{
    struct lab_list *labs = a->labs;
    app_free(a);
    lab_list_free(labs);
}

UNUSED static void fx_say(struct app *a, enum msg_kind kind, const char *field, const char *text,
                          int64_t at_ms)
{
    struct effects out;
    struct json *body = json_new_object();
    json_put_str(body, field, text);
    struct msg *m = msg_new(kind, body);
    m->at_ms = at_ms;
    effects_init(&out);
    app_apply(a, m, &out);
    effects_release(&out);
    msg_free(m);
}

/* A key, and the rest after it. */
UNUSED static void fx_key(struct app *a, const char *key)
{
    fx_say(a, MSG_KEY, "key", key, FIXTURE_NOW);
    int64_t rest = app_rest_ms(a);
    if (rest >= 0)
        fx_say(a, MSG_COMMAND, "name", "rest", FIXTURE_NOW + rest);
    a->now_ms = FIXTURE_NOW;
}

UNUSED static void fx_run_command(struct app *a, const char *name, const char *arg)
{
    struct effects out;
    struct json *body = json_new_object(), *args = json_new_array();
    json_put_str(body, "name", name);
    if (arg)
        json_append(args, json_new_string(arg));
    json_set(body, "args", args);
    struct msg *m = msg_new(MSG_COMMAND, body);
    m->at_ms = FIXTURE_NOW;
    effects_init(&out);
    app_apply(a, m, &out);
    effects_release(&out);
    msg_free(m);
}

/* The screen as text, one line a row. Caller releases s. */
UNUSED static void fx_screen(const struct app *a, struct str *s)
{
    struct grid g;
    int cx, cy;
    grid_init(&g, a->cols, a->rows);
    screen_draw(a, &g, &cx, &cy);
    CHECK(grid_sound(&g));
    str_init(s, 1 << 20);
    for (int y = 0; y < g.rows; y++) {
        grid_row_text(&g, y, s);
        str_addc(s, '\n');
    }
    grid_release(&g);
}

#endif
