/* k8s_client.c - requests: bodies, paths, errors, pages, retries, the trace; and
 * each kubectl line run through the real kubectl against a server that logs. */
#include "tests/api/client_fake.h"

#include <fcntl.h>

#include "core/base/clock.h"
#include "core/base/mem.h"
#include "core/base/path.h"
#include "k8s/client.h"
#include "k8s/kubectl.h"
#include "k8s/warning.h"
#include "tests/unit/run_until.h"

static struct fake f;
static struct loop *l;
static struct k8s *k;
static struct {
    int replies, status;
    struct json *object;
    struct pd_err err;
    int traces, links;
    bool up;
    char kubectl[2000], path[600];
    int trace_status;
    int64_t retry_ms;                 /* of all requests together */
    char warning[400];
} got;

static void on_reply(void *arg UNUSED, int status, const struct json *object,
                     const struct pd_err *err)
{
    got.replies++;
    got.status = status;
    json_free(got.object);
    got.object = object ? json_copy(object) : NULL;
    got.err.code = PD_OK;
    if (err)
        got.err = *err;
}

static void on_trace(void *arg UNUSED, const struct k8s_trace *t)
{
    got.traces++;
    got.trace_status = t->status;
    got.retry_ms += t->retry_ms;
    if (t->warning[0])
        str_copy(got.warning, sizeof got.warning, t->warning);
    if (t->status == 0) {
        str_copy(got.kubectl, sizeof got.kubectl, t->kubectl);
        str_copy(got.path, sizeof got.path, t->path);
    }
}

static void on_link(void *arg UNUSED, bool up, int64_t ms UNUSED, const struct pd_err *err UNUSED)
{
    got.links++;
    got.up = up;
}

static void begin_with(fake_fn *fn, const char *token_file)
{
    char base[64];
    struct kube_context x;
    struct k8s_hooks hooks = {.trace = on_trace, .link = on_link};
    f = fake_start(fn);
    l = loop_new();
    kube_context_init(&x);
    x.server = xstrdup(fake_base(&f, base));
    x.ns = xstrdup("lab");
    x.token_file = xstrdup(token_file);
    kube_context_refresh(&x);
    x.as = xstrdup("jane");
    strv_push(&x.as_groups, "g1");
    strv_push(&x.as_groups, "g2");
    strv_push(&x.as_extra, "a%2Fb=c d");
    k = k8s_open(l, &x, 3, &hooks);
    kube_context_release(&x);
}

static void begin(fake_fn *fn)
{
    begin_with(fn, NULL);
}

static void finish(void)
{
    json_free(got.object);
    k8s_close(k);
    loop_free(l);
}

static void serve_ok(struct fake_conn *c)
{
    while (fake_request(c))
        fake_json(c, 200, "{\"kind\":\"Job\",\"metadata\":{\"name\":\"j\"}}");
}

static const char job[] = "{\"apiVersion\":\"batch/v1\",\"kind\":\"Job\",\"metadata\":"
                          "{\"name\":\"j\"},"
                          "\"spec\":{\"parallelism\":2}}";

TEST(client_verbs_make_the_right_requests)
{
    struct json *o = json_from(job);
    begin(serve_ok);
    k8s_apply(k, o, true, false, on_reply, NULL);
    RUN_UNTIL(got.replies == 1);
    CHECK_STR(f.s->line[0], "PATCH /apis/batch/v1/namespaces/lab/jobs/j?fieldManager=podium&"
                            "fieldValidation=Strict&force=true");
    CHECK_HAS(f.s->head, "Content-Type: application/apply-patch+yaml\r\n");
    CHECK_HAS(f.s->head, "Impersonate-User: jane\r\n");
    CHECK_HAS(f.s->head, "Impersonate-Group: g1\r\nImpersonate-Group: g2\r\n");
    CHECK_HAS(f.s->head, "Impersonate-Extra-a%2Fb: c d\r\n");
    CHECK_STR(f.s->body, job);
    CHECK_STR(json_str(got.object, "metadata.name", ""), "j");
    k8s_apply(k, o, false, true, on_reply, NULL);
    RUN_UNTIL(got.replies == 2);
    CHECK_HAS(f.s->line[1], "?dryRun=All&fieldManager=podium&fieldValidation=Strict&force=false");
    k8s_delete(k, "jobs", "x", "j", "uid-1", 0, on_reply, NULL);
    RUN_UNTIL(got.replies == 3);
    CHECK_STR(f.s->line[2], "DELETE /apis/batch/v1/namespaces/x/jobs/j");
    CHECK_INT((long long)f.s->body_len, (long long)strlen(
        "{\"gracePeriodSeconds\":0,\"preconditions\":{\"uid\":\"uid-1\"},"
        "\"propagationPolicy\":\"Background\"}"));
    k8s_get(k, "no", NULL, "n1", on_reply, NULL);
    RUN_UNTIL(got.replies == 4);
    CHECK_STR(f.s->line[3], "GET /api/v1/nodes/n1");
    CHECK_INT(got.traces, 8);
    CHECK_INT(got.trace_status, 200);
    CHECK(got.up && got.links == 1);
    json_free(o);
    finish();
}

TEST(client_refuses_what_it_does_not_know_before_sending)
{
    struct json *o = json_from("{\"apiVersion\":\"v1\",\"kind\":\"Banana\",\"metadata\":"
                               "{\"name\":\"x\"}}");
    struct json *n = json_from("{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{}}");
    begin(serve_ok);
    k8s_get(k, "podss", NULL, "x", on_reply, NULL);
    CHECK_INT(got.replies, 0);                   /* never from inside the call */
    RUN_UNTIL(got.replies == 1);
    CHECK_INT(got.err.code, PD_USAGE);
    CHECK_HAS(got.err.hint, "pods");
    k8s_apply(k, o, false, false, on_reply, NULL);
    RUN_UNTIL(got.replies == 2);
    CHECK_HAS(got.err.msg, "Banana");
    k8s_apply(k, n, false, false, on_reply, NULL);
    RUN_UNTIL(got.replies == 3);
    CHECK_HAS(got.err.msg, "metadata.name");
    CHECK_INT(f.s->requests, 0);
    k8s_cancel(k8s_get(k, "podss", NULL, "x", on_reply, NULL));
    loop_turn(l, 5);
    CHECK_INT(got.replies, 3);
    json_free(o);
    json_free(n);
    finish();
}

static void serve_pages(struct fake_conn *c)
{
    while (fake_request(c)) {
        const char *token = strstr(c->path, "continue=");
        fake_json(c, 200, !token ? "{\"kind\":\"PodList\",\"metadata\":{\"continue\":\"a b\"},"
                                   "\"items\":[{\"n\":1},{\"n\":2}]}"
                          : strstr(token, "a%20b")
                              ? "{\"metadata\":{\"continue\":\"z\",\"remainingItemCount\":1},"
                                "\"items\":[{\"n\":3}]}"
                              : "{\"metadata\":{},\"items\":[{\"n\":4}]}");
    }
}

TEST(client_list_joins_its_pages)
{
    begin(serve_pages);
    k8s_list(k, "pods", "", "job-name=j", on_reply, NULL);
    RUN_UNTIL(got.replies == 1);
    CHECK_INT((long long)json_count(json_get(got.object, "items")), 4);
    CHECK_INT(json_int(got.object, "items[3].n", 0), 4);
    CHECK(!json_has(got.object, "metadata.continue"));
    CHECK_STR(f.s->line[0], "GET /api/v1/pods?labelSelector=job-name%3Dj&limit=500");
    CHECK_INT(f.s->requests, 3);
    finish();
}

static void serve_trouble(struct fake_conn *c)
{
    while (fake_request(c)) {
        int n = c->s->counter[0]++;
        if (n == 0)
            fake_reply(c, 429, "text/plain", "Retry-After: 1\r\n", "Too many requests");
        else if (n == 1)
            fake_reply(c, 503, "text/plain", "Retry-After: 1\r\n", "busy");
        else
            fake_json(c, 200, "{}");
    }
}

TEST(client_keeps_retry_after)
{
    begin(serve_trouble);
    k8s_get(k, "pods", NULL, "p", on_reply, NULL);
    RUN_UNTIL(got.replies == 1);
    CHECK_INT(got.status, 200);
    CHECK(f.s->at_ms[1] - f.s->at_ms[0] >= 990 && f.s->at_ms[2] - f.s->at_ms[1] >= 990);
    CHECK_INT(got.retry_ms, 2000);               /* both were told with their wait */
    finish();
}

static void serve_login(struct fake_conn *c)
{
    while (fake_request(c)) {
        if (c->s->counter[0]++ == 0)
            fake_reply(c, 200, "text/html", "", "\n<html>Sign in</html>");
        else
            fake_reply(c, 302, "text/html", "Location: https://login.example/\r\n", "");
    }
}

TEST(client_takes_no_web_page_for_an_answer)
{
    begin(serve_login);
    for (int i = 1; i <= 2; i++) {
        k8s_get(k, "pods", NULL, "p", on_reply, NULL);
        RUN_UNTIL(got.replies == i);
        CHECK_INT(got.err.code, PD_PROTO);
        CHECK_HAS(got.err.msg, "login page");
        CHECK(got.object == NULL);
    }
    CHECK_HAS(got.err.msg, "https://login.example/");
    finish();
}

/* The first answer breaks off in its middle. */
static void serve_broken(struct fake_conn *c)
{
    while (fake_request(c)) {
        if (c->s->counter[0]++ % 2 == 0) {
            fake_say(c, "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
                        "Content-Length: 100\r\n\r\n{\"a\":");
            return;
        }
        fake_json(c, 200, "{\"a\":1}");
    }
}

TEST(client_reads_again_what_broke_off_but_writes_nothing_twice)
{
    begin(serve_broken);
    k8s_get(k, "pods", NULL, "p", on_reply, NULL);
    RUN_UNTIL(got.replies == 1);
    CHECK_INT(got.err.code, PD_OK);
    CHECK_INT(json_int(got.object, "a", 0), 1);
    CHECK_INT(f.s->requests, 2);
    CHECK(got.up);
    struct json *body = json_new_object();
    k8s_request(k, "POST", "/api/v1/namespaces/lab/pods", NULL, body, on_reply, NULL);
    json_free(body);
    RUN_UNTIL(got.replies == 2);
    CHECK_INT(got.err.code, PD_NET);
    CHECK_INT(f.s->requests, 3);
    finish();
}

static void serve_expired(struct fake_conn *c)
{
    while (fake_request(c)) {
        if (strstr(c->path, "continue=old"))
            fake_json(c, 410, "{\"kind\":\"Status\",\"reason\":\"Expired\",\"code\":410}");
        else if (strstr(c->path, "continue="))
            fake_json(c, 200, "{\"metadata\":{},\"items\":[{\"n\":3}]}");
        else
            fake_json(c, 200, c->s->counter[0]++ == 0
                      ? "{\"metadata\":{\"continue\":\"old\"},\"items\":[{\"n\":1}]}"
                      : "{\"metadata\":{\"continue\":\"new\"},\"items\":[{\"n\":2}]}");
    }
}

TEST(client_list_starts_over_when_its_pages_expire)
{
    begin(serve_expired);
    k8s_list(k, "pods", "", NULL, on_reply, NULL);
    RUN_UNTIL(got.replies == 1);
    CHECK_INT(got.err.code, PD_OK);
    CHECK_INT((long long)json_count(json_get(got.object, "items")), 2);
    CHECK_INT(json_int(got.object, "items[0].n", 0), 2);
    CHECK_INT(f.s->requests, 4);
    finish();
}

static void serve_warning(struct fake_conn *c)
{
    while (fake_request(c))
        fake_reply(c, 200, "application/json",
                   "Warning: 299 - \"unknown field \\\"spec.a\\\"\"\r\nWarning: 299 - \"old\"\r\n",
                   "{}");
}

TEST(client_tells_the_servers_warnings)
{
    const char *at = got.warning;
    char text[100];
    begin(serve_warning);
    k8s_get(k, "pods", NULL, "p", on_reply, NULL);
    RUN_UNTIL(got.replies == 1);
    CHECK(warning_next(&at, text, sizeof text));
    CHECK_STR(text, "unknown field \"spec.a\"");
    CHECK(warning_next(&at, text, sizeof text));
    CHECK_STR(text, "old");
    CHECK(!warning_next(&at, text, sizeof text));
    CHECK_HAS(f.s->head, "Accept-Encoding: gzip");
    finish();
}

TEST(warnings_in_all_their_forms)
{
    static const struct { const char *header, *texts; } cases[] = {
        {"299 - \"a\"", "a|"},
        {"299 - \"a, b\", 299 - \"c\"", "a, b|c|"},
        {"299 kube:6443 \"a\" \"Tue, 01 Dec 2026 05:00:00 GMT\"\n299 - \"b\"", "a|b|"},
        {"299 - \"torn", ""}, {"no warning", ""}, {"29 - \"a\"", ""}, {"", ""},
        {"299 - \"q \\\"x\\\" \\\\\"", "q \"x\" \\|"},
        {"rubbish\n299 - \"after\"", "after|"}, {"299 - \"\"", "|"}};
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        char all[200] = "", text[40];
        for (const char *at = cases[i].header; warning_next(&at, text, sizeof text);)
            str_fmt(all + strlen(all), sizeof all - strlen(all), "%s|", text);
        CHECK_STR(all, cases[i].texts);
    }
}

TEST(client_asks_for_no_compression_where_it_is_disabled)
{
    struct kube_context x;
    char base[64];
    f = fake_start(serve_ok);
    l = loop_new();
    kube_context_init(&x);
    x.server = xstrdup(fake_base(&f, base));
    x.ns = xstrdup("lab");
    x.disable_compression = true;
    k = k8s_open(l, &x, 3, NULL);
    kube_context_release(&x);
    k8s_get(k, "pods", NULL, "p", on_reply, NULL);
    RUN_UNTIL(got.replies == 1);
    CHECK(!strstr(f.s->head, "Accept-Encoding"));
    finish();
}

static char token_path[300];

static void put_token(const char *text)
{
    struct pd_err err;
    CHECK_OK(path_write_atomic(token_path, 0600, text, strlen(text), &err));
}

static void serve_rotated(struct fake_conn *c)
{
    while (fake_request(c)) {
        if (strstr(c->head, "Bearer new-token"))
            fake_json(c, 200, "{}");
        else
            fake_json(c, 401, "{\"kind\":\"Status\",\"message\":\"Unauthorized\",\"reason\":"
                              "\"Unauthorized\",\"code\":401}");
    }
}

TEST(client_reads_the_token_file_again_after_401)
{
    str_fmt(token_path, sizeof token_path, "%s/token", t_dir());
    put_token("old-token\n");
    begin_with(serve_rotated, token_path);
    k8s_get(k, "pods", NULL, "p", on_reply, NULL);
    RUN_UNTIL(got.replies == 1);
    CHECK_INT(got.err.code, PD_AUTH);            /* the file is as it was */
    CHECK_INT(f.s->requests, 1);
    put_token("new-token\n");
    k8s_get(k, "pods", NULL, "p", on_reply, NULL);
    RUN_UNTIL(got.replies == 2);
    CHECK_INT(got.status, 200);
    CHECK_INT(f.s->requests, 3);
    finish();
}

TEST(client_close_ends_all_without_a_call)
{
    begin(serve_ok);
    for (int i = 0; i < 5; i++)
        k8s_get(k, "pods", NULL, "p", on_reply, NULL);
    k8s_cancel(k8s_get(k, "pods", NULL, "p", on_reply, NULL));
    k8s_close(k);
    for (int i = 0; i < 5; i++)
        loop_turn(l, 5);
    CHECK_INT(got.replies, 0);
    k = NULL;
    finish();
}

TEST(client_status_errors)
{
    static const struct {
        int http;
        const char *body;
        enum pd_code code;
        const char *part, *hint;
    } cases[] = {
        {401, "{\"kind\":\"Status\",\"message\":\"Unauthorized\",\"reason\":\"Unauthorized\""
              "}", PD_AUTH,
         "Unauthorized", "token"},
        {403, "{\"kind\":\"Status\",\"reason\":\"Forbidden\",\"message\":\"pods is forbidden: "
              "User \\\"s\\\""
              " cannot list resource \\\"pods\\\" in API group \\\"\\\" in the "
              "namespace \\\"x\\\"\"}",
         PD_FORBIDDEN, "cannot list",
         "Role in namespace x with {apiGroups: [\"\"], resources: [\"pods\"], verbs: ["},
        {403, "{\"kind\":\"Status\",\"reason\":\"Forbidden\",\"message\":\"pods \\\"c\\\" is "
              "forbidden: "
              "exceeded quota: q\"}", PD_QUOTA, "exceeded quota", "free something"},
        {404, "404 page not found\n", PD_NOTFOUND, "HTTP 404: 404 page not found", "name"},
        {502, "<html>x</html>", PD_HTTP, "a web page", ""},
        {500, "", PD_HTTP, "HTTP 500 without a reason", ""},
        {410, "{\"kind\":\"Status\",\"reason\":\"Expired\",\"message\":\"too "
              "old\"}", PD_GONE, "too old", ""},
        {409, "{\"kind\":\"Status\",\"reason\":\"AlreadyExists\",\"message\":\"exists\""
              "}", PD_CONFLICT,
         "exists", ""},
        {400, "{\"kind\":\"Status\",\"message\":\"a\\u001b[31mb\",\"reason\":\"BadRequest\""
              "}", PD_INVALID,
         "ab", ""},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct pd_err err;
        CHECK_INT(k8s_status_error(cases[i].http, cases[i].body, strlen(cases[i].body), &err),
                  cases[i].code);
        CHECK_HAS(err.msg, cases[i].part);
        CHECK_HAS(err.hint, cases[i].hint);
        CHECK(!strchr(err.msg, 27));
    }
}

/* --- kubectl lines --- */

static const struct line_case {
    const char *method, *path, *type, *body, *line;
} lines[] = {
    {"GET", "/api/v1/namespaces/lab/pods?limit=500", NULL, NULL, "kubectl get pods -o json"},
    {"GET", "/api/v1/namespaces/b/pods?limit=500", NULL, NULL,
     "kubectl get pods --namespace=b -o json"},
    {"GET", "/api/v1/pods?labelSelector=a%3Db&limit=500", NULL, NULL,
     "kubectl get pods -A --selector=a=b -o json"},
    {"GET", "/api/v1/nodes/gaudi-0", NULL, NULL, "kubectl get nodes gaudi-0 -o json"},
    {"GET", "/apis/batch/v1/namespaces/lab/jobs/j", NULL, NULL, "kubectl get jobs j -o json"},
    {"GET", "/version", NULL, NULL, "kubectl get --raw /version"},
    {"POST", "/apis/batch/v1/namespaces/lab/jobs?fieldManager=podium&fieldValidation=Strict",
     "application/json", "{\"apiVersion\":\"batch/v1\",\"kind\":\"Job\",\"metadata\":"
                         "{\"name\":\"j\"}}",
     "kubectl create --field-manager=podium -f -"},
    {"PATCH", "/apis/batch/v1/namespaces/lab/jobs/j?fieldManager=podium&fieldValidation=Strict&"
              "force=true", "application/apply-patch+yaml",
     "{\"apiVersion\":\"batch/v1\",\"kind\":\"Job\",\"metadata\":{\"name\":\"j\"}}",
     "kubectl apply --server-side --field-manager=podium --force-conflicts -f -"},
    {"PATCH", "/api/v1/namespaces/lab/configmaps/c", "application/merge-patch+json",
     "{\"data\":{\"a\":\"it's\"}}",
     "kubectl patch configmaps c --type=merge -p '{\"data\":{\"a\":\"it'\\''s\"}}'"},
    {"DELETE", "/api/v1/namespaces/lab/pods/p", "application/json",
     "{\"propagationPolicy\":\"Background\"}", "kubectl delete pods p --wait=false"},
    {"DELETE", "/api/v1/namespaces/lab/pods/p", "application/json",
     "{\"preconditions\":{\"uid\":\"u\"},\"propagationPolicy\":\"Background\"}",
     "kubectl delete --raw /api/v1/namespaces/lab/pods/p -f -"},
    {"GET", "/api/v1/namespaces/lab/pods/p/log?container=c&follow=true&timestamps=true", NULL, NULL,
     "kubectl logs p --container=c --follow --timestamps"},
    {"POST", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews?fieldManager=podium&"
             "fieldValidation=Strict", "application/json",
     "{\"apiVersion\":\"authorization.k8s.io/v1\",\"kind\":\"SelfSubjectAccessReview\",\"spec\":"
     "{}}",
     "kubectl create --field-manager=podium -f -"},
    {"POST", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", "application/json",
     "{\"kind\":\"SelfSubjectAccessReview\",\"spec\":{\"resourceAttributes\":{\"verb\":\"get\","
     "\"resource\":\"pods\",\"subresource\":\"log\",\"group\":\"\",\"namespace\":\"team\"}}}",
     "kubectl auth can-i get pods --subresource=log --namespace=team"},
    {"POST", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", "application/json",
     "{\"kind\":\"SelfSubjectAccessReview\",\"spec\":{\"resourceAttributes\":{\"verb\":\"create\""
     ",\"resource\":\"jobs\",\"group\":\"batch\",\"namespace\":\"lab\"}}}",
     "kubectl auth can-i create jobs.batch"},
    {"POST", "/apis/authorization.k8s.io/v1/selfsubjectrulesreviews", "application/json",
     "{\"kind\":\"SelfSubjectRulesReview\",\"spec\":{\"namespace\":\"lab\"}}",
     "kubectl auth can-i --list"},
};

TEST(kubectl_lines_read_as_expected)
{
    for (size_t i = 0; i < ARRAY_LEN(lines); i++) {
        struct str s;
        struct json *body = lines[i].body ? json_from(lines[i].body) : NULL;
        str_init(&s, 4096);
        kubectl_line(lines[i].method, lines[i].path, lines[i].type, body, "lab", &s);
        CHECK_STR(s.p, lines[i].line);
        str_release(&s);
        json_free(body);
    }
    struct str s;
    str_init(&s, 4096);
    kubectl_line("GET", "/api/v1/namespaces/lab/pods/p/exec?command=sh&command=-c&command=a%20b&"
                        "container=c&stdin=true&stdout=true&stderr=true", NULL, NULL, "lab", &s);
    CHECK_STR(s.p, "kubectl exec p --container=c --stdin -- sh -c 'a b'");
    str_clear(&s);
    kubectl_line("GET", "/api/v1/namespaces/lab/pods?watch=true&resourceVersion=1", NULL, NULL,
                 "lab", &s);
    CHECK_STR(s.p, "kubectl get pods --watch-only -o json --output-watch-events");
    str_release(&s);
}

#define RES(n, k, s) "{\"resource\":\"" n "\",\"responseKind\":"                                   \
    "{\"kind\":\"" k "\",\"group\":\"\","                                                          \
    "\"version\":\"\"},\"scope\":\"" s "\",\"singularResource\":\"\",\"verbs\":"                   \
                                       "[\"get\",\"list\","                                        \
    "\"watch\",\"create\",\"patch\",\"delete\"]}"
#define GROUP(g, v, r) "{\"metadata\":{\"name\":\"" g "\"},\"versions\":"                          \
    "[{\"version\":\"" v "\","                                                                     \
    "\"resources\":[" r "],\"freshness\":\"Current\"}]}"
#define DISCOVERY(items) "{\"kind\":\"APIGroupDiscoveryList\",\"apiVersion\""                      \
                         ":"                                                                       \
    "\"apidiscovery.k8s.io/v2\",\"metadata\":{},\"items\":[" items "]}"
static const char core_discovery[] = DISCOVERY(GROUP("", "v1", RES("pods", "Pod", "Namespaced") ","
    RES("nodes", "Node", "Cluster") "," RES("configmaps", "ConfigMap", "Namespaced")));
static const char group_discovery[] = DISCOVERY(GROUP("batch", "v1", RES("jobs", "Job", "Namespa"
    "ced"))
    "," GROUP("authorization.k8s.io", "v1", RES("selfsubjectaccessreviews",
    "SelfSubjectAccessReview", "Cluster")));
#define VALIDATES(path, g, k) "\"" path "\":{\"patch\":{\"parameters\":"                           \
    "[{\"name\":\"fieldValidation\","                                                              \
    "\"in\":\"query\"}],\"x-kubernetes-group-version-kind\":"                                      \
    "{\"group\":\"" g "\",\"version\":\"v1\","                                                     \
    "\"kind\":\"" k "\"}}}"

TEST(who_am_i_is_a_line_of_newer_kubectls)
{
    struct str s;
    str_init(&s, 4096);
    struct json *body = json_from("{\"kind\":\"SelfSubjectReview\"}");
    kubectl_line("POST", "/apis/authentication.k8s.io/v1/selfsubjectreviews", "application/json",
                 body, "lab", &s);
    CHECK_STR(s.p, "kubectl auth whoami");
    json_free(body);
    str_release(&s);
}

/* Enough of an API for kubectl; the requests that matter are logged. */
static void serve_kubectl(struct fake_conn *c)
{
    static const char type[] =
        "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";
    while (fake_request(c)) {
        bool core = !strncmp(c->path, "/api?", 5), groups = !strncmp(c->path, "/apis?", 6);
        bool openapi = strstr(c->path, "/openapi/") != NULL;
        if (core || groups || openapi)
            c->s->requests--;                    /* discovery is not what is asked about */
        if (core || groups)
            fake_reply(c, 200, type, "", core ? core_discovery : group_discovery);
        else if (!strncmp(c->path, "/openapi/v3?", 12))
            fake_json(c, 200, "{\"paths\":{\"apis/batch/v1\":"
                              "{\"serverRelativeURL\":\"/openapi/v3/x\"},"
                      "\"apis/authorization.k8s.io/v1\":"
                      "{\"serverRelativeURL\":\"/openapi/v3/y\"}}}");
        else if (openapi)
            fake_json(c, 200, "{\"openapi\":\"3.0.0\",\"paths\":"
                              "{" VALIDATES("/a", "batch", "Job") ","
                      VALIDATES("/b", "authorization.k8s.io", "SelfSubjectAccessReview") "}}");
        else if (strstr(c->path, "/log"))
            fake_reply(c, 200, "text/plain", "", "x\n");
        else if (strstr(c->path, "limit=500"))
            fake_json(c, 200, "{\"kind\":\"PodList\",\"apiVersion\":\"v1\",\"metadata\":"
                              "{},\"items\":[]}");
        else
            fake_json(c, 200, "{\"kind\":\"Pod\",\"apiVersion\":\"v1\",\"metadata\":"
                              "{\"name\":\"p\","
                      "\"namespace\":\"lab\"},\"spec\":{\"containers\":[{\"name\":\"c\"}]}}");
    }
}

static int run_kubectl(const char *line, const char *body)
{
    char *script = xasprintf("%s >/dev/null 2>%s/err", line, t_dir());
    char *input = xasprintf("%s/body", t_dir());
    struct pd_err err;
    CHECK_OK(path_write_atomic(input, 0600, body ? body : "", body ? strlen(body) : 0, &err));
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0) {
        int fd = open(input, O_RDONLY);
        dup2(fd, 0);
        execl("/bin/sh", "sh", "-c", script, (char *)NULL);
        _exit(127);
    }
    int status;
    waitpid(pid, &status, 0);
    free(script);
    free(input);
    return status;
}

/* kubectl asks about oneself in protobuf: its texts are in there as they are. */
static void check_texts(const struct line_case *c, const struct json *mine)
{
    for (const struct json *j = json_first(mine); j; j = json_next(j)) {
        const char *text = json_string_value(j);
        check_texts(c, j);
        if (text && *text && !memmem(f.s->body, f.s->body_len, text, strlen(text)))
            t_fail(__FILE__, __LINE__, "%s sent no \"%s\"", c->line, text);
    }
}

/* Same method and path (kubectl may add parameters of its own), same body. */
static void check_same(const struct line_case *c)
{
    char want[700], have[700] = "";
    bool found = false;
    str_fmt(want, sizeof want, "%s %s", c->method, c->path);
    want[strcspn(want, "?")] = '\0';
    for (int i = 0; i < f.s->requests && !found; i++) {
        str_copy(have, sizeof have, f.s->line[i]);
        have[strcspn(have, "?")] = '\0';
        found = !strcmp(have, want);
    }
    if (!found)
        t_fail(__FILE__, __LINE__, "%s made \"%s\", not \"%s\"", c->line, have, want);
    if (!c->body)
        return;
    struct json *sent = NULL, *mine = json_from(c->body);
    struct pd_err err;
    if (f.s->body_len > 4 && memcmp(f.s->body, "k8s", 4) == 0) {
        check_texts(c, json_get(mine, "spec"));
        json_free(mine);
        return;
    }
    if (json_parse(f.s->body, f.s->body_len, &sent, &err) != PD_OK)
        t_fail(__FILE__, __LINE__, "%s sent \"%s\"", c->line, f.s->body);
    json_remove(json_get_mut(sent, "metadata"), "namespace");     /* kubectl adds the context's */
    json_remove(json_get_mut(sent, "metadata"), "creationTimestamp");
    if (!json_equal(sent, mine))
        t_fail(__FILE__, __LINE__, "%s sent %s", c->line, json_text(sent, 0));
    json_free(sent);
    json_free(mine);
}

TEST(kubectl_lines_make_the_same_requests_with_the_real_kubectl)
{
    char *config = xasprintf("%s/config", t_dir());
    struct pd_err err;
    if (access("/usr/bin/kubectl", X_OK) != 0)
        t_skip("no kubectl here");
    f = fake_start(serve_kubectl);
    char *text = xasprintf("apiVersion: v1\nkind: Config\ncurrent-context: a\n"
                           "clusters: [{name: c, cluster: {server: 'http://127.0.0.1:%d'}}]\n"
                           "users: [{name: u, user: {}}]\n"
                           "contexts: [{name: a, context: {cluster: c, user: u, namespace: "
                           "lab}}]\n",
                           f.port);
    CHECK_OK(path_write_atomic(config, 0600, text, strlen(text), &err));
    setenv("KUBECONFIG", config, 1);
    setenv("HOME", t_dir(), 1);
    for (size_t i = 0; i < ARRAY_LEN(lines); i++) {
        f.s->requests = 0;
        f.s->body_len = 0;
        run_kubectl(lines[i].line, lines[i].body);
        check_same(&lines[i]);
    }
    free(text);
    free(config);
}

T_MAIN
