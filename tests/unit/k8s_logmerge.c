/* k8s_logmerge.c - the logs of several containers in one stream: in the order of
 * their stamps, whichever answer comes first; each end told, then the end of all. */
#include "tests/api/client_fake.h"

#include "core/base/mem.h"
#include "k8s/logmerge.h"
#include "tests/unit/run_until.h"

static struct loop *l;
static struct {
    struct str text;
    int ended, containers;
    bool over;
    struct pd_err err;
} got;

static void on_containers(void *arg UNUSED, const struct strv *names)
{
    got.containers = (int)names->n;
}

static void on_line(void *arg UNUSED, const char *container, int64_t ns UNUSED, const char *text,
                    size_t n, bool cut UNUSED)
{
    str_printf(&got.text, "%s:%.*s|", container, (int)n, text);
}

static void on_state(void *arg UNUSED, const char *container, enum podlog_state s,
                     const struct pd_err *err)
{
    got.ended += s == PODLOG_ENDED && container;
    got.over |= s == PODLOG_ENDED && !container;
    if (err)
        got.err = *err;
}

#define T(s) "2026-11-30T21:00:0" s ".000000000Z "

/* "a" answers late, "init" is short, "dbg" was added to the running pod. */
static void serve(struct fake_conn *c)
{
    while (fake_request(c)) {
        if (!strstr(c->path, "/log")) {
            fake_json(c, 200, "{\"kind\":\"Pod\",\"metadata\":{\"name\":\"p\",\"uid\":\"u\"},"
                              "\"spec\":{\"initContainers\":[{\"name\":\"init\"}],\"containers\":["
                              "{\"name\":\"a\"},{\"name\":\"b\"}],\"ephemeralContainers\":["
                              "{\"name\":\"dbg\"}]}}");
            continue;
        }
        if (strstr(c->path, "container=a"))
            fake_sleep(120);
        fake_chunked(c, "text/plain");
        fake_chunk(c, strstr(c->path, "container=a")      ? T("2") "one\n" T("4") "two\n"
                      : strstr(c->path, "container=b")    ? T("3") "one\n" T("6") "two\n"
                      : strstr(c->path, "container=init") ? T("1") "only\n"
                                                          : T("5") "only\n");
        fake_chunks_end(c);
    }
}

static void merge(fake_fn *fn, bool all)
{
    char base[64];
    struct fake f = fake_start(fn);
    struct kube_context x;
    struct podlog_spec spec = {.pod = "p", .tail = -1};
    struct logmerge_handlers h = {on_containers, on_line, on_state, NULL};
    l = loop_new();
    kube_context_init(&x);
    x.server = xstrdup(fake_base(&f, base));
    x.ns = xstrdup("lab");
    struct k8s *k = k8s_open(l, &x, 1, NULL);
    kube_context_release(&x);
    str_init(&got.text, 1 << 16);
    logmerge_start(k, &spec, all, &h);
    RUN_UNTIL(got.over);
    k8s_close(k);
    loop_free(l);
}

TEST(logmerge_goes_by_the_stamps)
{
    merge(serve, true);
    CHECK_INT(got.containers, 4);
    CHECK_STR(got.text.p, "init:only|a:one|b:one|a:two|dbg:only|b:two|");
    CHECK_INT(got.ended, 4);
}

static void serve_nothing(struct fake_conn *c)
{
    while (fake_request(c))
        fake_json(c, 404, "{\"kind\":\"Status\",\"reason\":\"NotFound\",\"code\":404,"
                          "\"message\":\"pods \\\"p\\\" not found\"}");
}

TEST(logmerge_ends_with_the_reason)
{
    merge(serve_nothing, true);
    CHECK_INT(got.err.code, PD_NOTFOUND);
    CHECK_INT(got.ended, 0);
    got.over = false;
    merge(serve_nothing, false);
    CHECK_INT(got.err.code, PD_NOTFOUND);
}

T_MAIN
