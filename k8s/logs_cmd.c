/* logs_cmd.c - `podium logs` (logs_cmd.h). */
#include "k8s/logs_cmd.h"

#include <errno.h>
#include <signal.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/base/i18n.h"
#include "core/base/mem.h"
#include "core/base/utf8.h"
#include "k8s/client_io.h"
#include "k8s/logmerge.h"
#include "k8s/podinfo.h"

static const char help[] =
    N_("usage: podium logs POD|pod/NAME|job/NAME [OPTIONS]\n"
       "\n"
       "  -f, --follow         go on as the log grows, over restarts, rotation and broken links\n"
       "  -p, --previous       the log of the container before this one\n"
       "  -c, --container NAME\n"
       "      --all-containers all of the pod in one stream, in the order of time\n"
       "      --since 5m       lines of this span; --since-time 2026-12-01T08:00:00Z\n"
       "      --tail N         the last N lines\n"
       "      --timestamps     each line with its time\n"
       "      --prefix         each line with its pod and container\n"
       "  -n, --namespace NAME, --context NAME, --kubeconfig FILE, --lang en|zh\n"
       "\n"
       "Lines go to stdout, words about them to stderr. On a terminal nothing of a line can\n"
       "steer it; elsewhere lines are as the container wrote them.\n"
       "Exit codes: 0 done, 1 the log can't be had, 2 usage.\n");

struct logs {
    struct kube_options kube;
    struct podlog_spec spec;
    const char *object, *container, *since, *since_time, *tail, *lang;
    bool follow, previous, all, stamps, prefix;
    struct loop *loop;
    struct k8s *k;
    struct logmerge *merge;
    char pod[256];
    bool terminal, partial;
    int code;
};

/* --- options -------------------------------------------------------------------------- */

static int usage(const char *why)
{
    fprintf(stderr, "podium logs: %s\n%s", why, _(help));
    return 2;
}

struct option {
    const char *name, *other;
    const char **value;
    bool *flag;
};

/* 1: taken, 0: another option, -1: its value is missing or no value of it. */
static int take(const struct option *o, int argc, char **argv, int *i)
{
    const char *arg = argv[*i], *eq = strchr(arg, '=');
    size_t n = eq ? (size_t)(eq - arg) : strlen(arg);
    bool same = (strlen(o->name) == n && !strncmp(arg, o->name, n)) ||
                (*o->other && strlen(o->other) == n && !strncmp(arg, o->other, n));
    if (!same)
        return 0;
    if (o->flag) {
        *o->flag = !eq || str_eq(eq + 1, "true");
        return !eq || *o->flag || str_eq(eq + 1, "false") ? 1 : -1;
    }
    if (!eq && *i + 1 >= argc)
        return -1;
    *o->value = eq ? eq + 1 : argv[++*i];
    return 1;
}

static bool parse(int argc, char **argv, struct logs *l)
{
    const struct option options[] = {
        {"--follow", "-f", NULL, &l->follow}, {"--previous", "-p", NULL, &l->previous},
        {"--all-containers", "", NULL, &l->all}, {"--timestamps", "", NULL, &l->stamps},
        {"--prefix", "", NULL, &l->prefix}, {"--container", "-c", &l->container, NULL},
        {"--since", "", &l->since, NULL}, {"--since-time", "", &l->since_time, NULL},
        {"--tail", "", &l->tail, NULL}, {"--namespace", "-n", &l->kube.ns, NULL},
        {"--context", "", &l->kube.context, NULL},
        {"--kubeconfig", "", &l->kube.kubeconfig, NULL}, {"--lang", "", &l->lang, NULL}};
    for (int i = 1; i < argc; i++) {
        int taken = 0;
        for (size_t k = 0; k < ARRAY_LEN(options) && !taken; k++)
            taken = take(&options[k], argc, argv, &i);
        if (taken < 0 || (!taken && (argv[i][0] == '-' || (l->object && l->container))))
            return false;
        if (!taken && l->object)
            l->container = argv[i];                /* kubectl logs POD CONTAINER */
        else if (!taken)
            l->object = argv[i];
    }
    return l->object != NULL;
}

/* "90s", "1h30m", "1.5h", "500ms"; false: it is no span. */
static bool read_span(const char *text, int64_t *seconds)
{
    static const struct { const char *unit; double s; } units[] = {
        {"ms", 0.001}, {"us", 1e-6}, {"ns", 1e-9}, {"h", 3600}, {"m", 60}, {"s", 1}};
    double sum = 0;
    const char *p = text;
    while (*p) {
        char *end;
        double number = strtod(p, &end);
        size_t u = 0;
        while (u < ARRAY_LEN(units) && !str_starts(end, units[u].unit))
            u++;
        if (end == p || u == ARRAY_LEN(units) || !(number >= 0) || number > 1e9)
            return false;
        sum += number * units[u].s;
        p = end + strlen(units[u].unit);
    }
    *seconds = (int64_t)sum + ((double)(int64_t)sum < sum);
    return p != text && *seconds > 0;
}

static const char *read_values(struct logs *l)
{
    int64_t us;
    l->spec.tail = -1;
    if (l->since && l->since_time)
        return _("--since and --since-time exclude each other");
    if (l->container && l->all)
        return _("-c and --all-containers exclude each other");
    if (l->tail && (!str_to_i64(l->tail, &l->spec.tail) || l->spec.tail < -1))
        return _("--tail: a number of lines, -1 for all");
    if (l->since && !read_span(l->since, &l->spec.since_s))
        return _("--since: a span, such as 90s, 5m or 1h30m");
    if (l->since_time && (!clock_parse_rfc3339(l->since_time, &us) || us <= 0))
        return _("--since-time: a time, such as 2026-12-01T08:00:00Z");
    if (l->since_time)
        l->spec.since_ns = us * 1000;
    if (l->lang && !i18n_set(l->lang))
        return _("--lang: en or zh");
    l->spec.follow = l->follow;
    l->spec.previous = l->previous;
    l->spec.container = l->container;
    return NULL;
}

/* --- lines ----------------------------------------------------------------------------- */

static void stop(struct logs *l, int code)
{
    l->code = code;
    loop_stop(l->loop, code);
}

static void stamp(int64_t ns)
{
    char t[36];
    clock_rfc3339(ns / 1000, 6, t);
    printf("%.26s%03dZ ", t, (int)(ns % 1000));
}

/* What a program draws over itself ends as its last drawing. */
static void put_clean(const char *text, size_t n)
{
    struct str s;
    while (n > 0 && text[n - 1] == '\r')
        n--;
    const char *cr = memrchr(text, '\r', n);
    if (cr) {
        n -= (size_t)(cr + 1 - text);
        text = cr + 1;
    }
    str_init(&s, 8 << 20);
    utf8_clean(text, n, false, &s);
    fwrite(s.p, 1, s.len, stdout);
    str_release(&s);
}

static void on_line(void *arg, const char *container, int64_t ns, const char *text, size_t n,
                    bool cut)
{
    struct logs *l = arg;
    if (l->prefix)
        printf("[pod/%s/%s] ", l->pod, container ? container : "");
    if (l->stamps && ns)
        stamp(ns);
    if (l->terminal)
        put_clean(text, n);
    else
        fwrite(text, 1, n, stdout);
    if (cut)
        fputs(_(" [cut after 1 MiB]"), stdout);
    putchar('\n');
    if (ferror(stdout))
        stop(l, 1);
}

static void say(const struct logs *l, const char *container, const char *text)
{
    char clean[600];
    fflush(stdout);
    k8s_clean(clean, sizeof clean, text, strlen(text));
    if (l->all && container)
        fprintf(stderr, "-- %s: %s --\n", container, clean);
    else
        fprintf(stderr, "-- %s --\n", clean);
}

static void on_state(void *arg, const char *container, enum podlog_state s,
                     const struct pd_err *err)
{
    struct logs *l = arg;
    char text[1200];
    if (s == PODLOG_ENDED && !container) {
        fflush(stdout);
        if (err)
            fprintf(stderr, "podium logs: %s\n", pd_describe(err, text, sizeof text));
        l->merge = NULL;
        stop(l, err ? 1 : l->code);
    } else if (s == PODLOG_ENDED && err) {
        l->code = 1;
        fflush(stdout);
        fprintf(stderr, "podium logs: %s\n", pd_describe(err, text, sizeof text));
    } else if (err && s != PODLOG_OPEN) {
        say(l, container, err->msg);
    }
}

static void after_turn(void *arg)
{
    struct logs *l = arg;
    if (fflush(stdout) != 0)
        stop(l, 1);
}

/* --- which pod -------------------------------------------------------------------------- */

static void follow(struct logs *l, const char *pod)
{
    struct logmerge_handlers h = {NULL, on_line, on_state, l};
    str_copy(l->pod, sizeof l->pod, pod);
    l->spec.pod = l->pod;
    l->merge = logmerge_start(l->k, &l->spec, l->all, &h);
}

static void fail(struct logs *l, const struct pd_err *err)
{
    char text[1200];
    fprintf(stderr, "podium logs: %s\n", pd_describe(err, text, sizeof text));
    stop(l, 1);
}

/* With several containers and none named: the one kubectl takes, and said so. */
static void on_pod(void *arg, int status, const struct json *pod, const struct pd_err *err)
{
    struct logs *l = arg;
    const char *name = err ? NULL : podinfo_container(pod);
    if (err && status != 403) {
        fail(l, err);
        return;
    }
    if (name && json_count(json_at(pod, "spec.containers")) > 1)
        fprintf(stderr, _("Container \"%s\" is shown; -c names another, --all-containers all.\n"),
                name);
    char *container = name ? xstrdup(name) : NULL;
    l->spec.container = container;
    follow(l, l->pod);
    free(container);
}

static void on_pods(void *arg, int status UNUSED, const struct json *list, const struct pd_err *err)
{
    struct logs *l = arg;
    struct pd_err none;
    const struct json *newest = NULL;
    for (const struct json *p = json_first(json_get(list, "items")); !err && p; p = json_next(p))
        if (!newest || strcmp(json_str(p, "metadata.creationTimestamp", ""),
                              json_str(newest, "metadata.creationTimestamp", "")) > 0)
            newest = p;
    if (!err && !newest) {
        pd_fail(&none, PD_NOTFOUND, _("the Job %s has no pod"), strchr(l->object, '/') + 1);
        err = &none;
    }
    if (err) {
        fail(l, err);
        return;
    }
    str_copy(l->pod, sizeof l->pod, json_str(newest, "metadata.name", ""));
    if (l->all || l->container)
        follow(l, l->pod);
    else
        on_pod(l, 200, newest, NULL);
}

static bool begin(struct logs *l)
{
    const char *slash = strchr(l->object, '/'), *name = slash ? slash + 1 : l->object;
    char selector[300];
    bool job = slash && str_starts(l->object, "job");
    if (slash && !job && !str_starts(l->object, "pod") && !str_starts(l->object, "po/"))
        return false;
    str_copy(l->pod, sizeof l->pod, name);
    if (job)
        k8s_list(l->k, "pods", NULL, str_fmt(selector, sizeof selector, "job-name=%s", name),
                 on_pods, l);
    else if (l->all || l->container)
        follow(l, l->pod);
    else
        k8s_get(l->k, "pods", NULL, l->pod, on_pod, l);
    return true;
}

int logs_cmd(int argc, char **argv)
{
    struct logs l = {0};
    struct kube_context ctx;
    struct pd_err err;
    if (argc > 1 && (str_eq(argv[1], "--help") || str_eq(argv[1], "-h"))) {
        fputs(_(help), stdout);
        return 0;
    }
    if (!parse(argc, argv, &l))
        return usage(_("a pod or a Job is needed, or an option is wrong"));
    const char *why = read_values(&l);
    if (why)
        return usage(why);
    kube_context_init(&ctx);
    l.loop = loop_new();
    l.terminal = isatty(1);
    signal(SIGPIPE, SIG_IGN);
    if (kubeconfig_open(&l.kube, &ctx, &err) != PD_OK) {
        fail(&l, &err);
    } else {
        l.k = k8s_open(l.loop, &ctx, 1, NULL);
        loop_after_turn(l.loop, after_turn, &l);
        if (begin(&l))
            loop_run(l.loop);
        else
            l.code = usage(_("only pods and Jobs have logs here: pod/NAME, job/NAME"));
        logmerge_stop(l.merge);
        k8s_close(l.k);
    }
    kube_context_release(&ctx);
    loop_free(l.loop);
    fflush(stdout);
    return l.code;
}
