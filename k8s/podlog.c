/* podlog.c - one container's log, followed without loss or repetition
 * (podlog.h).
 *
 * `last` is the timestamp text of the newest line handed out and `same` how
 * many lines of that very timestamp were: after a reconnect with sinceTime (the
 * API keeps whole seconds only) older lines are skipped, then `same` of equal
 * time. A first line that is newer although `last` exists is a gap.
 *
 * Work: reading (http open), asking (GET of the pod), draining (one last read
 * without follow), waiting (timer).
 */
#include "k8s/podlog.h"

#include "core/base/clock.h"
#include "core/base/i18n.h"
#include "core/base/lines.h"
#include "core/base/mem.h"
#include "k8s/client_io.h"

enum { LINE_MAX = 1 << 20, WAIT_MIN = 500, WAIT_MAX = 8000, TS_MAX = 40 };

struct podlog {
    struct k8s *k;
    struct k8s_part part;
    char *ns, *pod, *container;
    bool follow, previous;
    int64_t tail, since_s;
    struct podlog_handlers h;
    struct http *http;
    struct k8s_call *call;
    uint32_t timer, trace;
    char *path;
    struct lines lines;
    char last[TS_MAX];                /* "" before the first line */
    int64_t last_ns;
    int same, skip_same;
    char uid[64], container_id[160];  /* of what is read */
    enum podlog_state state;
    bool resuming, checked, draining, busy, stopped, opened;
    int64_t wait_ms;
};

static void start_read(struct podlog *p);

static void end_traffic(struct podlog *p)
{
    http_cancel(p->http);
    k8s_cancel(p->call);
    loop_timer_cancel(k8s_loop(p->k), p->timer);
    p->http = NULL;
    p->call = NULL;
    p->timer = 0;
}

static void podlog_free(struct podlog *p)
{
    if (p->k) {
        end_traffic(p);
        k8s_part_remove(p->k, &p->part);
    }
    free(p->ns);
    free(p->pod);
    free(p->container);
    free(p->path);
    lines_release(&p->lines);
    free(p);
}

static void on_close(void *arg)
{
    struct podlog *p = arg;
    p->call = NULL;                   /* k8s_close frees its calls itself */
    http_cancel(p->http);
    loop_timer_cancel(k8s_loop(p->k), p->timer);
    p->http = NULL;
    p->timer = 0;
    p->k = NULL;
}

void podlog_stop(struct podlog *p)
{
    if (!p || p->stopped)
        return;
    p->stopped = true;
    if (!p->busy)
        podlog_free(p);
}

static void leave(struct podlog *p)
{
    p->busy = false;
    if (p->stopped)
        podlog_free(p);
}

static void tell(struct podlog *p, enum podlog_state s, const struct pd_err *err)
{
    if (p->stopped)
        return;
    p->state = s;
    if (p->h.state)
        p->h.state(p->h.arg, s, err);
}

/* The last call. */
static void ended(struct podlog *p, const struct pd_err *err)
{
    tell(p, PODLOG_ENDED, err);
    p->stopped = true;                /* freed by leave */
}

static void on_timer(void *arg)
{
    struct podlog *p = arg;
    p->timer = 0;
    start_read(p);
}

/* The server is back. */
static void on_wake(void *arg)
{
    struct podlog *p = arg;
    if (!p->timer || p->stopped || p->state != PODLOG_RETRYING)
        return;
    loop_timer_cancel(k8s_loop(p->k), p->timer);
    p->timer = loop_timer(k8s_loop(p->k), 0, on_timer, p, "log again");
}

static void again(struct podlog *p, const struct pd_err *err)
{
    p->wait_ms = p->wait_ms ? MIN(2 * p->wait_ms, WAIT_MAX) : WAIT_MIN;
    p->timer = loop_timer(k8s_loop(p->k), p->wait_ms, on_timer, p, "log again");
    if (err)
        tell(p, PODLOG_RETRYING, err);
}

/* --- lines --- */

/* Length of the timestamp at the line's start, 0 when there is none. */
static size_t timestamp(const char *line, size_t n, char ts[TS_MAX], int64_t *ns)
{
    const char *space = memchr(line, ' ', MIN(n, TS_MAX));
    int64_t us;
    if (!space)
        return 0;
    size_t len = (size_t)(space - line);
    memcpy(ts, line, len);
    ts[len] = '\0';
    if (len < 20 || !clock_parse_rfc3339(ts, &us))
        return 0;
    /* what stands behind the microseconds */
    int64_t nano = 0;
    const char *dot = strchr(ts, '.');
    for (int i = 1; dot && i <= 9 && dot[i] >= '0' && dot[i] <= '9'; i++)
        if (i > 6)
            nano += (dot[i] - '0') * (i == 7 ? 100 : i == 8 ? 10 : 1);
    *ns = us * 1000 + nano;
    return len;
}

/* The newest line seen is not the oldest that is left: something is missing. */
static void gap(struct podlog *p, const char *ts)
{
    struct pd_err err;
    pd_fail(&err, PD_GONE, _("lines between %s and %s are gone: the log was rotated, or the "
            "container started anew"), p->last, ts);
    pd_set_hint(&err, _("read the file on the volume for what is missing"));
    tell(p, PODLOG_GAP, &err);
}

/* After a reconnect: true when the line was handed out before. */
static bool seen_before(struct podlog *p, int64_t ns, const char *ts)
{
    if (!p->resuming)
        return false;
    if (ns < p->last_ns)
        return true;
    if (ns == p->last_ns && p->skip_same > 0) {
        p->skip_same--;
        p->checked = true;
        return true;
    }
    if (!p->checked && p->last[0])
        gap(p, ts);
    p->checked = true;
    p->resuming = false;
    return false;
}

static void on_line(void *arg, char *line, size_t n, bool cut)
{
    struct podlog *p = arg;
    char ts[TS_MAX] = "";
    int64_t ns = 0;
    if (p->stopped || !p->k)
        return;
    size_t skip = timestamp(line, n, ts, &ns);
    if (skip && seen_before(p, ns, ts))
        return;
    if (skip) {
        p->same = ns == p->last_ns ? p->same + 1 : 1;
        p->last_ns = ns;
        str_copy(p->last, sizeof p->last, ts);
        skip++;
    }
    p->wait_ms = 0;
    if (p->h.line)
        p->h.line(p->h.arg, ns, line + skip, n - skip, cut);
}

/* --- reading --- */

static void read_data(void *arg, const char *data, size_t n)
{
    struct podlog *p = arg;
    p->busy = true;
    lines_feed(&p->lines, data, n, on_line, p);
    leave(p);
}

static void read_head(void *arg, const struct http_response *r)
{
    struct podlog *p = arg;
    if (r->status >= 400)
        return;
    p->busy = true;
    k8s_link(p->k, r->ms, NULL);
    if (!p->opened || p->state == PODLOG_RETRYING)
        tell(p, PODLOG_OPEN, NULL);
    p->opened = true;
    leave(p);
}

static const struct json *container_status(const struct podlog *p, const struct json *pod)
{
    static const char *const lists[] = {"status.containerStatuses", "status.initContainerStatuses"};
    for (size_t i = 0; i < ARRAY_LEN(lists); i++)
        for (const struct json *c = json_first(json_at(pod, lists[i])); c; c = json_next(c))
            if (!p->container || !strcmp(json_str(c, "name", ""), p->container))
                return c;
    return NULL;
}

/* Will this container write no more? */
static bool over(const struct podlog *p, const struct json *pod)
{
    const char *phase = json_str(pod, "status.phase", "");
    const char *policy = json_str(pod, "spec.restartPolicy", "Always");
    const struct json *c = container_status(p, pod);
    if (!strcmp(phase, "Succeeded") || !strcmp(phase, "Failed"))
        return true;
    if (!json_has(c, "state.terminated"))
        return false;
    int64_t code = json_int(c, "state.terminated.exitCode", 0);
    return !strcmp(policy, "Never") || (!strcmp(policy, "OnFailure") && code == 0);
}

static void on_pod(void *arg, int status, const struct json *pod, const struct pd_err *err)
{
    struct podlog *p = arg;
    p->call = NULL;
    p->busy = true;
    if (status == 404)
        ended(p, err);
    else if (err && status >= 400 && status < 500 && status != 429 && status != 401)
        ended(p, err);
    else if (err)
        again(p, err);
    else if (p->uid[0] && strcmp(p->uid, json_str(pod, "metadata.uid", "")) != 0) {
        struct pd_err other;
        pd_fail(&other, PD_NOTFOUND, _("the pod %s is another one of the same name now"), p->pod);
        ended(p, &other);
    } else {
        str_copy(p->uid, sizeof p->uid, json_str(pod, "metadata.uid", ""));
        p->draining = over(p, pod);
        if (p->draining)
            start_read(p);
        else
            again(p, NULL);
    }
    leave(p);
}

static void ask_pod(struct podlog *p)
{
    p->call = k8s_get(p->k, "pods", p->ns, p->pod, on_pod, p);
}

/* "container … is waiting to start" is not the end of it. */
static bool waiting(const struct pd_err *err)
{
    return strstr(err->msg, "is waiting to start") || strstr(err->msg, "ContainerCreating") ||
           strstr(err->msg, "PodInitializing");
}

static void read_refused(struct podlog *p, const struct http_response *r)
{
    struct pd_err err;
    if (r->err)
        err = *r->err;
    else
        k8s_status_error(r->status, r->body, r->body_len, &err);
    bool hopeful = r->status == 0 || r->status == 429 || r->status >= 500 || waiting(&err);
    if (hopeful && (p->follow || r->status == 0)) {
        p->wait_ms = MIN(p->wait_ms, waiting(&err) ? WAIT_MIN : WAIT_MAX);
        again(p, &err);
    } else {
        ended(p, &err);
    }
}

static void read_done(void *arg, const struct http_response *r)
{
    struct podlog *p = arg;
    p->busy = true;
    p->http = NULL;
    k8s_trace_done(p->k, p->trace, "GET", p->path, r->status, r->ms);
    if (r->status == 0 || r->status >= 400) {
        read_refused(p, r);
    } else if (r->err) {
        again(p, r->err);             /* a half line comes again, whole */
    } else {
        lines_end(&p->lines, on_line, p);
        if (p->stopped || !p->k)
            ;
        else if (!p->follow || p->draining)
            ended(p, NULL);
        else
            ask_pod(p);
    }
    leave(p);
}

static void log_path(struct podlog *p, struct str *s)
{
    char path[RES_PATH_MAX], number[32], since[40];
    str_init(s, 64 << 10);
    str_add(s, res_path(res_by_name("pods"), p->ns, p->pod, "log", path));
    k8s_query(s, "container", p->container);
    if (p->follow && !p->draining)
        k8s_query(s, "follow", "true");
    if (p->previous)
        k8s_query(s, "previous", "true");
    if (p->last[0])
        k8s_query(s, "sinceTime", clock_rfc3339(p->last_ns / 1000000000 * 1000000, 0, since));
    else if (p->tail >= 0)
        k8s_query(s, "tailLines", str_fmt(number, sizeof number, "%" PRId64, p->tail));
    if (!p->last[0] && p->since_s > 0)
        k8s_query(s, "sinceSeconds", str_fmt(number, sizeof number, "%" PRId64, p->since_s));
    k8s_query(s, "timestamps", "true");
}

static void start_read(struct podlog *p)
{
    struct str path;
    struct http_request q = {.method = "GET", .accept = "application/json, */*",
                             .head = read_head, .data = read_data, .done = read_done,
                             .no_body_on_error = true, .arg = p};
    log_path(p, &path);
    free(p->path);
    q.path = p->path = str_take(&path);
    str_release(&path);
    lines_release(&p->lines);
    lines_init(&p->lines, LINE_MAX);
    p->resuming = p->last[0] != '\0';
    p->skip_same = p->same;
    p->checked = false;
    p->trace = k8s_trace_open(p->k, "GET", p->path, NULL, NULL);
    p->http = http_start(k8s_loop(p->k), k8s_target(p->k), &q);
}

struct podlog *podlog_start(struct k8s *k, const struct podlog_spec *spec,
                            const struct podlog_handlers *h)
{
    struct podlog *p = xcalloc(1, sizeof *p);
    p->k = k;
    p->h = *h;
    p->ns = xstrdup(spec->ns ? spec->ns : k8s_namespace(k));
    p->pod = xstrdup(spec->pod);
    p->container = xstrdup(spec->container);
    p->follow = spec->follow;
    p->previous = spec->previous;
    p->tail = spec->tail;
    p->since_s = spec->since_s;
    p->state = PODLOG_RETRYING;
    lines_init(&p->lines, LINE_MAX);
    p->part = (struct k8s_part){.close = on_close, .wake = on_wake, .arg = p};
    k8s_part_add(k, &p->part);
    start_read(p);
    return p;
}

const char *podlog_state_name(enum podlog_state s)
{
    static const char *const names[] = {"open", "retrying", "gap", "ended"};
    return (size_t)s < ARRAY_LEN(names) ? names[s] : "";
}
