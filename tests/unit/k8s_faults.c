/* k8s_faults.c - watches behind a proxy that cuts, delays, truncates and answers
 * wrongly, under a stream of creates, updates and deletes: after FAULTS faults
 * each store equals the server, object by object, by uid and resourceVersion.
 *
 * FAULTS_SEED names the faults (printed). The server is a practice cluster of
 * its own, or what FAULTS_KUBECONFIG leads to (FAULTS_NS: a namespace for it).
 * The clock is virtual (FAULTS_PACE) and leaps over waits.
 */
#include "tests/api/fault_proxy.h"

#include "core/base/clock.h"
#include "core/base/mem.h"
#include "tests/unit/k8s_cluster.h"
#include "tests/unit/k8s_store.h"

enum { NAMES = 40, KEPT = 10, BASE = 520, IN_FLIGHT = 6, VIEWS = 12 };

static struct loop *l;
static struct k8s *direct, *spoilt;
static const char *ns;
static uint64_t dice;

/* --- the cluster --- */

static void open_cluster(uint64_t seed)
{
    struct kube_context x;
    char base[64];
    ns = cluster_open(&x);
    l = loop_new();
    direct = k8s_open(l, &x, 1, NULL);
    struct fake f = fault_start(x.server, x.cert_pem, x.key_pem, seed);
    free(x.server);
    x.server = xstrdup(fake_base(&f, base));
    spoilt = k8s_open(l, &x, 2, NULL);
    kube_context_release(&x);
}

/* --- the stream of writes --- */

static const char *const kinds[] = {"configmaps", "secrets"};
static struct slot {
    int kind, nth;
    bool there, busy;
} slots[2 * (NAMES + KEPT) + BASE];
static int busy, writes, refusals;

static char *path_of(const struct slot *s, bool named)
{
    return named ? xasprintf("/api/v1/namespaces/%s/%s/o%d", ns, kinds[s->kind], s->nth)
                 : xasprintf("/api/v1/namespaces/%s/%s", ns, kinds[s->kind]);
}

static void on_written(void *arg, int status, const struct json *object UNUSED,
                       const struct pd_err *err UNUSED)
{
    struct slot *s = arg;
    refusals += status >= 400 || status == 0;
    s->busy = false;
    busy--;
    writes++;
}

static void write_slot(struct slot *s, const char *method)
{
    static const char *const words[] = {"torn \xe4\xb8\xad\xe6\x96\x87 text", "\\\"}]{", "plain"};
    bool create = !strcmp(method, "POST");
    char *path = path_of(s, !create), text[512];
    struct json *body = NULL;
    str_fmt(text, sizeof text,
            "{\"apiVersion\":\"v1\",\"kind\":\"%s\",\"metadata\":{\"name\":\"o%d\",\"labels\":"
            "{\"side\":\"%s\"}},\"%s\":{\"n\":\"%d\",\"w\":\"%s\"}}",
            s->kind ? "Secret" : "ConfigMap", s->nth,
            s->nth < KEPT ? "left" : fault_rand(&dice, 2) ? "left" : "right",
            s->kind ? "stringData" : "data", writes, words[fault_rand(&dice, 3)]);
    if (strcmp(method, "DELETE") != 0)
        body = json_from(text);
    if (body && fault_rand(&dice, 40) == 0) {
        char *long_text = xcalloc(1, 60001);
        memset(long_text, 'x', 60000);
        json_put_path(body, s->kind ? "stringData.long" : "data.long", json_new_string(long_text));
        free(long_text);
    }
    s->busy = true;
    s->there = strcmp(method, "DELETE") != 0;
    busy++;
    k8s_request(direct, method, path, NULL, body, on_written, s);
    json_free(body);
    free(path);
}

static void spin(int ms)
{
    loop_turn(l, ms);
}

static void fill(void)
{
    size_t n = 0;
    for (int kind = 0; kind < 2; kind++)
        for (int i = 0; i < NAMES + KEPT + (kind ? 0 : BASE); i++)
            slots[n++] = (struct slot){.kind = kind, .nth = i};
    for (size_t i = 0; i < n;) {
        bool wanted = slots[i].nth < KEPT || slots[i].nth >= NAMES + KEPT;
        if (wanted && busy >= 24) {
            spin(10);
            continue;
        }
        if (wanted)
            write_slot(&slots[i], "POST");
        i++;
    }
    while (busy > 0)
        spin(10);
    CHECK_INT(refusals, 0);
}

static void write_some(void)
{
    while (busy < IN_FLIGHT) {
        int kind = (int)fault_rand(&dice, 2);
        int nth = (int)fault_rand(&dice, NAMES + KEPT);
        struct slot *s = &slots[kind * (NAMES + KEPT + BASE) + nth];
        if (s->busy)
            return;
        if (!s->there)
            write_slot(s, "POST");
        else if (nth >= KEPT && fault_rand(&dice, 10) < 4)
            write_slot(s, "DELETE");
        else
            write_slot(s, "PUT");
    }
}

/* --- the watches --- */

struct view {
    const char *res, *selector;
    bool all;
    size_t least;                      /* never fewer at the end of a list */
    struct store *store;
    struct watch *w;
    int lists, events, states[6];
    bool compared, equal;
    char why[512];
} views[2 * VIEWS] = {
    {.res = "configmaps", .least = BASE + KEPT},
    {.res = "configmaps", .selector = "side=left", .least = KEPT},
    {.res = "secrets", .least = KEPT},
    {.res = "secrets", .selector = "side!=left"},
    {.res = "configmaps", .selector = "side=right"},
    {.res = "secrets", .selector = "side=left", .least = KEPT},
    {.res = "secrets", .least = KEPT},
    {.res = "secrets", .selector = "side"},
    {.res = "secrets", .selector = "side in (left,right)", .least = KEPT},
    {.res = "secrets", .selector = "side notin (left)"},
    {.res = "configmaps", .selector = "side notin (right)", .least = KEPT},
    {.res = "configmaps", .selector = "side==left", .least = KEPT},
};

static void on_begin(void *arg)
{
    struct view *v = arg;
    store_begin(v->store);
}

static void on_item(void *arg, struct json *obj)
{
    struct view *v = arg;
    store_item(v->store, obj);
}

static void on_end(void *arg)
{
    struct view *v = arg;
    store_end(v->store);
    v->lists++;
    CHECK_MSG(store_count(v->store) >= v->least, "a list of %s gave %zu objects", v->res,
              store_count(v->store));
}

static void on_event(void *arg, enum watch_type type, struct json *obj)
{
    struct view *v = arg;
    store_event(v->store, type, obj);
    v->events++;
}

static void on_state(void *arg, enum watch_state state, const struct pd_err *err, int64_t next_ms)
{
    struct view *v = arg;
    v->states[state]++;
    str_copy(v->why, sizeof v->why, err ? err->msg : "");
    CHECK(next_ms >= 0 && next_ms <= 300000);
    CHECK((state == WATCH_RETRYING || state == WATCH_FORBIDDEN || state == WATCH_POLLING) ==
          (err != NULL));
}

/* Each twice. */
static void watch_all(void)
{
    memcpy(views + VIEWS, views, VIEWS * sizeof *views);
    for (size_t i = 0; i < ARRAY_LEN(views); i++) {
        struct view *v = &views[i];
        struct watch_spec spec = {.res = v->res, .ns = ns, .label_selector = v->selector};
        struct watch_handlers h = {on_begin, on_item, on_end, on_event, on_state, v};
        v->store = store_new();
        v->w = watch_start(spoilt, &spec, &h);
    }
}

static int faults_now(void)
{
    return __atomic_load_n(&fault_plan.s->faults, __ATOMIC_SEQ_CST);
}

/* A turn: the clock goes `pace` times faster while anything comes in, and leaps
 * when nothing does or every watch waits. On a slow machine whole lists would
 * look as if they stood still: the pace halves while faults come and no answer. */
static int pace = 400;
enum { SLOWEST = 10, FAULTS_IN_VAIN = 40 };

static void turn(void)
{
    static int64_t heard, heard_us;
    static int heard_faults;
    int64_t sum = 0, wait = 60000;
    for (size_t i = 0; i < ARRAY_LEN(views); i++) {
        sum += views[i].events + views[i].lists;
        wait = MIN(wait, watch_next_ms(views[i].w));
    }
    bool vain = faults_now() - heard_faults > FAULTS_IN_VAIN;
    if (vain && sum == heard)
        pace = MAX(pace / 2, SLOWEST);
    if (sum != heard)
        heard_us = clock_us();
    if (sum != heard || vain)
        heard_faults = faults_now();
    heard = sum;
    bool idle = clock_us() - heard_us > 4000000 / pace;
    clock_advance(wait > 0 ? wait : idle ? 5 * pace : pace);
    spin(1);
}

/* --- the comparison --- */

static void on_truth(void *arg, int status, const struct json *list, const struct pd_err *err)
{
    struct view *v = arg;
    size_t n = 0;
    CHECK_MSG(status == 200 && !err, "the list of %s failed: %s", v->res, err ? err->msg : "");
    v->equal = true;
    for (const struct json *o = json_first(json_get(list, "items")); o; o = json_next(o), n++) {
        const struct json *have = store_uid(v->store, json_str(o, "metadata.uid", ""));
        if (!have || !str_eq(json_str(have, "metadata.resourceVersion", ""),
                             json_str(o, "metadata.resourceVersion", "?")))
            v->equal = false;
    }
    v->equal &= n == store_count(v->store);
    v->compared = true;
}

static bool equal_now(struct view *v)
{
    v->compared = false;
    k8s_list(direct, v->res, ns, v->selector, on_truth, v);
    while (!v->compared)
        spin(5);
    return v->equal;
}

static void settle(struct view *v)
{
    int64_t end = clock_us() + 20000000;
    pace = MIN(pace, 20);
    while (!equal_now(v) && clock_us() < end)
        for (int i = 0; i < 20; i++)
            turn();
    CHECK_MSG(v->equal, "%s (%s) is not the server's: %zu objects, state %s %s", v->res,
              v->selector ? v->selector : "all", store_count(v->store),
              watch_state_name(watch_state(v->w)), v->why);
}

TEST(watches_equal_the_server_after_a_thousand_faults)
{
    const char *given = getenv("FAULTS_SEED"), *many = getenv("FAULTS");
    uint64_t seed = given ? strtoull(given, NULL, 10) : (uint64_t)clock_wall_ms();
    int faults = many ? atoi(many) : 1000;
    dice = fault_mix(seed);
    if (getenv("FAULTS_PACE"))
        pace = atoi(getenv("FAULTS_PACE"));
    open_cluster(seed);
    clock_fake(clock_wall_ms());
    fill();
    int64_t from = clock_us(), give_up = from + 180000000;
    watch_all();
    while (faults_now() < faults && clock_us() < give_up) {
        write_some();
        turn();
    }
    int64_t took = (clock_us() - from) / 1000;
    __atomic_store_n(&fault_plan.s->calm, 1, __ATOMIC_SEQ_CST);
    while (busy > 0)
        turn();
    printf("seed %llu: %d faults in %d requests, %d writes, %lld ms, pace %d at the end\n",
           (unsigned long long)seed, fault_plan.s->faults, fault_plan.s->requests, writes,
           (long long)took, pace);
    for (size_t i = 0; i < ARRAY_LEN(views); i++)
        printf("  %s %s: %d lists, %d events\n", views[i].res,
               views[i].selector ? views[i].selector : "", views[i].lists, views[i].events);
    CHECK_MSG(fault_plan.s->faults >= faults, "only %d faults", fault_plan.s->faults);
    for (size_t i = 0; i < ARRAY_LEN(views); i++)
        settle(&views[i]);
    for (int kind = 1; kind < FAULT_COUNT; kind++)
        CHECK_MSG(fault_plan.s->count[kind] > 0 || faults < 1000, "fault %d never came", kind);
    for (size_t i = 0; i < ARRAY_LEN(views); i++) {
        watch_stop(views[i].w);
        store_free(views[i].store);
    }
    k8s_close(spoilt);
    k8s_close(direct);
    loop_free(l);
    clock_real();
}

T_MAIN
