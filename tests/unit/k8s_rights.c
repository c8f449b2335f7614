/* k8s_rights.c - rights that come and go: a refusal closes one watch, names the
 * rule, and a Role given later is noticed; with list alone the view is polled.
 * On a practice cluster of its own, or a real one (k8s_cluster.h). The clock is
 * virtual and leaps over waits. */
#include "core/base/clock.h"
#include "k8s/denied.h"
#include "k8s/watch.h"
#include "tests/unit/k8s_cluster.h"

static struct loop *l;
static struct k8s *admin, *ann;
static const char *ns;
static int answers, status, namespaces_asked;

static struct view {
    const char *res;
    struct watch *w;
    struct pd_err err;
    int lists, events;
} maps = {.res = "configmaps"}, secrets = {.res = "secrets"}, nodes = {.res = "nodes"};

static void on_trace(void *arg UNUSED, const struct k8s_trace *t)
{
    namespaces_asked += !strcmp(t->path, "/api/v1/namespaces") ||
                        str_starts(t->path, "/api/v1/namespaces?");
}

static void on_item(void *arg UNUSED, struct json *obj)
{
    json_free(obj);
}

static void on_end(void *arg)
{
    ((struct view *)arg)->lists++;
}

static void on_event(void *arg, enum watch_type type UNUSED, struct json *obj)
{
    ((struct view *)arg)->events++;
    json_free(obj);
}

static void on_state(void *arg, enum watch_state state UNUSED, const struct pd_err *err,
                     int64_t next_ms UNUSED)
{
    struct view *v = arg;
    v->err = err ? *err : (struct pd_err){.code = PD_OK};
}

static void start(struct view *v)
{
    struct watch_spec spec = {.res = v->res, .ns = ns};
    struct watch_handlers h = {NULL, on_item, on_end, on_event, on_state, v};
    v->w = watch_start(ann, &spec, &h);
}

/* Waits of the maps' watch are leapt over; others pass as they are. */
static void turn(void)
{
    int64_t wait = maps.w ? watch_next_ms(maps.w) : 0;
    clock_advance(wait > 0 ? MIN(wait, 2000) : 5);
    loop_turn(l, 5);
}

#define UNTIL(cond)                                                                               \
    do {                                                                                          \
        int64_t end_ = clock_us() + 30000000;                                                     \
        while (!(cond) && clock_us() < end_)                                                      \
            turn();                                                                               \
        CHECK(cond);                                                                              \
    } while (0)

static void on_answer(void *arg UNUSED, int code, const struct json *object UNUSED,
                      const struct pd_err *err UNUSED)
{
    answers++;
    status = code;
}

/* what: "roles/x", below the namespace. */
static int ask(const char *method, const char *what, const char *text)
{
    char path[600];
    struct json *body = text ? json_from(text) : NULL;
    int before = answers;
    str_fmt(path, sizeof path, "%s/namespaces/%s/%s",
            str_starts(what, "role") ? "/apis/rbac.authorization.k8s.io/v1" : "/api/v1", ns, what);
    k8s_request(admin, method, path, NULL, body, on_answer, NULL);
    json_free(body);
    UNTIL(answers > before);
    return status;
}

static const char *role_with(const char *rule)
{
    static char text[900];
    return str_fmt(text, sizeof text, "{\"apiVersion\":\"rbac.authorization.k8s.io/v1\",\"kind\":"
                   "\"Role\",\"metadata\":{\"name\":\"watching\"},\"rules\":[%s]}", rule);
}

static void open_all(void)
{
    struct kube_context x;
    struct k8s_hooks hooks = {.trace = on_trace};
    ns = cluster_open(&x);
    l = loop_new();
    admin = k8s_open(l, &x, 1, NULL);
    x.as = xstrdup("ann");
    ann = k8s_open(l, &x, 2, &hooks);
    kube_context_release(&x);
    clock_fake(clock_wall_ms());
}

/* What was refused, as the view would show it. */
static void check_denied(struct view *v, const char *verb, const char *rule)
{
    struct denied d;
    struct str s;
    CHECK(denied_of(&d, &v->err));
    CHECK_STR(d.user, "ann");
    CHECK_STR(d.verb, verb);
    CHECK_STR(d.resource, v->res);
    str_init(&s, 1000);
    denied_rule(&d, &s);
    CHECK_STR(s.p, rule);
    str_release(&s);
}

TEST(a_refusal_closes_one_view_and_a_role_opens_it)
{
    static const char rule[] = "{apiGroups: [\"\"], resources: [\"configmaps\"], "
                               "verbs: [\"get\", \"list\", \"watch\"]}";
    open_all();
    start(&maps);
    start(&secrets);
    start(&nodes);
    UNTIL(watch_state(maps.w) == WATCH_FORBIDDEN && watch_state(secrets.w) == WATCH_FORBIDDEN &&
          watch_state(nodes.w) == WATCH_FORBIDDEN);
    check_denied(&maps, "list", rule);
    check_denied(&nodes, "list", "{apiGroups: [\"\"], resources: [\"nodes\"], verbs: "
                                 "[\"get\", \"list\", \"watch\"]}");
    CHECK(watch_next_ms(maps.w) > 20000);
    CHECK_INT(watch_age_ms(maps.w), -1);

    CHECK_INT(ask("POST", "roles", role_with("{\"apiGroups\":[\"\"],\"resources\":[\"configmaps\"],"
                                           "\"verbs\":[\"list\"]}")), 201);
    CHECK_INT(ask("POST", "rolebindings",
                  "{\"apiVersion\":\"rbac.authorization.k8s.io/v1\",\"kind\":\"RoleBinding\","
                  "\"metadata\":{\"name\":\"watching\"},\"roleRef\":{\"apiGroup\":"
                  "\"rbac.authorization.k8s.io\",\"kind\":\"Role\",\"name\":\"watching\"},"
                  "\"subjects\":[{\"kind\":\"User\",\"name\":\"ann\",\"apiGroup\":"
                  "\"rbac.authorization.k8s.io\"}]}"), 201);
    UNTIL(maps.lists >= 3);                        /* list alone: read again and again */
    CHECK_INT(watch_state(maps.w), WATCH_POLLING);
    CHECK(watch_poll_ms(maps.w) >= 10000);
    check_denied(&maps, "watch", rule);
    CHECK_INT(watch_state(secrets.w), WATCH_FORBIDDEN);

    CHECK_INT(ask("PUT", "roles/watching",
                  role_with("{\"apiGroups\":[\"\"],\"resources\":[\"configmaps\"],"
                            "\"verbs\":[\"get\",\"list\",\"watch\"]}")), 200);
    UNTIL(watch_state(maps.w) == WATCH_LIVE);
    CHECK_INT(maps.err.code, PD_OK);
    int before = maps.events;
    CHECK_INT(ask("POST", "configmaps",
                  "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":"
                  "{\"name\":\"rights-seen\"}}"), 201);
    UNTIL(maps.events > before);
    CHECK(watch_age_ms(maps.w) < 5000);
    CHECK_INT(watch_state(secrets.w), WATCH_FORBIDDEN);
    CHECK_INT(namespaces_asked, 0);                /* nobody needs that list */

    ask("DELETE", "configmaps/rights-seen", NULL);
    ask("DELETE", "rolebindings/watching", NULL);
    watch_stop(maps.w);
    maps.w = NULL;
    start(&maps);                                  /* as after a reconnection */
    UNTIL(watch_state(maps.w) == WATCH_FORBIDDEN);
    ask("DELETE", "roles/watching", NULL);
    watch_stop(maps.w);
    watch_stop(secrets.w);
    watch_stop(nodes.w);
    k8s_close(ann);
    k8s_close(admin);
    loop_free(l);
    clock_real();
}

T_MAIN
