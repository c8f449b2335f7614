/* podlog.c - one container's log, followed without loss or repetition
 * (podlog.h).
 *
 * Work is one of: looking (GET of the pod), reading (an answer of the log is
 * open), waiting (timer). look() decides by what the pod says (`seen`) and by
 * the run that is being read (`run`): read on, read its end, go to the next one.
 */
#include "k8s/podlog.h"

#include "core/base/clock.h"
#include "core/base/i18n.h"
#include "core/base/mem.h"
#include "k8s/client_io.h"
#include "k8s/loginst.h"
#include "k8s/logread.h"

enum { DOUBT_MS = 60000, WAIT_FIRST = 50, WAIT_MIN = 500, WAIT_MAX = 8000, WAIT_START = 1000,
       QUICK_MS = 2000, BLIND_ENDS = 3 };

/* How an answer is asked for. */
enum how { READ_FOLLOW, READ_END, READ_BEFORE };

struct podlog {
    struct k8s *k;
    struct k8s_part part;
    char *ns, *pod, *container;
    bool follow, previous;
    int64_t tail, since_s, since_ns;
    struct podlog_handlers h;
    struct http *http;
    struct k8s_call *call;
    uint32_t timer, trace;
    char *path;
    struct logread read;
    enum how how;
    char uid[64], run[160];           /* of the pod, of the run that is read */
    int64_t run_n;                    /* restarts before it */
    bool run_over;                    /* all of it was read */
    char checked[160];                /* a gap in this run's answer was looked into */
    struct loginst seen;
    char words[400];                  /* the kubelet's, in the present answer */
    char waits[320];                  /* what was said last of the wait */
    enum podlog_state state;
    bool busy, stopped, opened, blind, look_again;
    bool later;                       /* `run` is not the first that is read */
    bool twice;                       /* read for once: asked again for a torn line */
    int ends;                         /* blind: empty answers */
    int64_t wait_ms, first_ms, opened_ms, data_ms;
    int64_t denied_ms;                /* since when what was allowed is refused; 0: it isn't */
};

static void look(struct podlog *p);
static void start_read(struct podlog *p, enum how how);

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
    logread_release(&p->read);
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
    logread_stop(&p->read);
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

static void drop_answer(struct podlog *p)
{
    if (!p->http)
        return;
    http_cancel(p->http);
    p->http = NULL;
    k8s_trace_done(p->k, p->trace, "GET", p->path, 200, clock_ms() - p->opened_ms);
}

/* --- waiting ------------------------------------------------------------------- */

static void on_timer(void *arg)
{
    struct podlog *p = arg;
    p->timer = 0;
    p->busy = true;
    look(p);
    leave(p);
}

static void look_in(struct podlog *p, int64_t ms)
{
    loop_timer_cancel(k8s_loop(p->k), p->timer);
    p->timer = loop_timer(k8s_loop(p->k), ms, on_timer, p, "log again");
}

static void again(struct podlog *p, enum podlog_state s, const struct pd_err *err, int64_t most)
{
    p->wait_ms = p->wait_ms ? MIN(MAX(2 * p->wait_ms, WAIT_MIN), most) : WAIT_FIRST;
    look_in(p, p->wait_ms);
    if (err)
        tell(p, s, err);
}

/* The server is back: what waits tries now, and a stream that was open before
 * may be a dead one. */
static void on_wake(void *arg)
{
    struct podlog *p = arg;
    if (p->stopped)
        return;
    if (p->http && p->opened && clock_ms() - p->data_ms > WAIT_MAX) {
        drop_answer(p);
        look_in(p, 0);
    } else if (p->timer) {
        look_in(p, 0);
    }
}

/* The container has no run to read now. */
static void wait_for_start(struct podlog *p)
{
    struct pd_err err;
    const char *why = p->seen.waiting[0] ? p->seen.waiting : "";
    if (p->state == PODLOG_WAITING && str_eq(why, p->waits)) {
        again(p, PODLOG_WAITING, NULL, WAIT_START);
        return;
    }
    str_copy(p->waits, sizeof p->waits, why);
    if (p->run[0] && *why)
        pd_fail(&err, PD_NOTFOUND, _("the container will start again: %s"), why);
    else if (p->run[0])
        pd_fail(&err, PD_NOTFOUND, "%s", _("the container has ended and will start again"));
    else
        pd_fail(&err, PD_NOTFOUND, _("the container %s is waiting to start: %s"),
                p->container ? p->container : "", *why ? why : _("it has no node yet"));
    pd_set_hint(&err, "%s", _("wait, or look at the pod's events"));
    again(p, PODLOG_WAITING, &err, WAIT_START);
}

/* --- runs of the container ------------------------------------------------------- */

static void begin_run(struct podlog *p, const char *id, int64_t n)
{
    p->later |= p->run[0] != '\0';
    str_copy(p->run, sizeof p->run, id);
    p->run_n = n;
    p->run_over = false;
    p->checked[0] = '\0';
    if (p->later)
        logread_forget(&p->read);
}

static void tell_gap(struct podlog *p, const char *fmt, int64_t n)
{
    struct pd_err err;
    pd_fail(&err, PD_GONE, "%s", fmt);
    if (n)
        str_fmt(err.msg, sizeof err.msg, "%s (%" PRId64 ")", fmt, n);
    pd_set_hint(&err, "%s", _("read the file on the volume for what is missing"));
    tell(p, PODLOG_GAP, &err);
}

static void tell_restart(struct podlog *p, const struct loginst_run *old)
{
    struct pd_err err;
    if (!old || !old->ended)
        pd_fail(&err, PD_GONE, "%s", _("container restarted"));
    else if (old->why[0] && strcmp(old->why, "Error") != 0)
        pd_fail(&err, PD_GONE, _("container restarted, exit code %d (%s)"), old->exit, old->why);
    else
        pd_fail(&err, PD_GONE, _("container restarted, exit code %d"), old->exit);
    pd_set_hint(&err, "%s", _("the log before is that of the previous container"));
    tell(p, PODLOG_RESTART, &err);
}

/* From a run that is over, or whose end can't be had any more, to the next. */
static void next_run(struct podlog *p)
{
    struct loginst *i = &p->seen;
    const struct loginst_run *old = loginst_find(i, p->run);
    int64_t between = i->restarts - p->run_n - 1;
    if (!p->run_over && !old)
        tell_gap(p, _("the container restarted before the end of its log was read"), 0);
    tell_restart(p, old);
    if (p->stopped)
        return;
    if (!old && between > 0 && i->before.id[0] && i->running) {
        if (between > 1)
            tell_gap(p, _("the logs of runs between are gone"), between - 1);
        begin_run(p, i->before.id, i->restarts - 1);
        start_read(p, READ_BEFORE);
        return;
    }
    if (between > 0)
        tell_gap(p, _("the logs of runs between are gone"), between);
    begin_run(p, i->now.id, i->restarts);
    start_read(p, i->running ? READ_FOLLOW : READ_END);
}

static void deleted(struct podlog *p, const struct pd_err *why)
{
    struct pd_err err = *why;
    if (p->uid[0]) {
        pd_fail(&err, PD_NOTFOUND, _("the pod %s was deleted"), p->pod);
        if (p->run[0] && !p->run_over)
            pd_set_hint(&err, "%s", _("its last lines may be missing"));
    }
    ended(p, &err);
}

/* Nothing of the present run is left to read. */
static void after_run(struct podlog *p)
{
    struct pd_err err;
    if (p->seen.over && p->seen.leaving) {
        pd_fail(&err, PD_NOTFOUND, _("the pod %s was deleted"), p->pod);
        ended(p, &err);
    } else if (p->seen.over) {
        ended(p, NULL);
    } else {
        wait_for_start(p);
    }
}

/* By what the pod says: what to do next. */
static void decide(struct podlog *p)
{
    struct loginst *i = &p->seen;
    struct pd_err err;
    if (!p->run[0] && !i->now.id[0] && i->over) {
        pd_fail(&err, PD_NOTFOUND, _("the container never started in the pod %s"), p->pod);
        ended(p, &err);
    } else if (!i->now.id[0]) {
        wait_for_start(p);
    } else if (!p->run[0]) {
        begin_run(p, i->now.id, i->restarts);
        start_read(p, i->running ? READ_FOLLOW : READ_END);
    } else if (str_eq(i->now.id, p->run)) {
        if (p->run_over)
            after_run(p);
        else
            start_read(p, i->running ? READ_FOLLOW : READ_END);
    } else if (!p->run_over && str_eq(i->before.id, p->run)) {
        start_read(p, READ_BEFORE);
    } else {
        next_run(p);
    }
}

/* A server that has just been started refuses everybody until it has read its
 * Roles: a right that there was before is not taken for lost at once. */
static bool doubted(struct podlog *p, int status)
{
    if ((status != 403 && status != 401) || !p->opened || !p->follow)
        return false;
    if (!p->denied_ms)
        p->denied_ms = clock_ms();
    return clock_ms() - p->denied_ms < DOUBT_MS;
}

static void on_pod(void *arg, int status, const struct json *pod, const struct pd_err *err)
{
    struct podlog *p = arg;
    struct pd_err other;
    p->call = NULL;
    p->busy = true;
    if (status == 404) {
        deleted(p, err);
    } else if (p->uid[0] && doubted(p, status)) {
        again(p, PODLOG_RETRYING, err, WAIT_MAX);
    } else if (status == 403) {
        p->blind = true;
        start_read(p, READ_FOLLOW);
    } else if (err && (status == 0 || status == 429 || status >= 500)) {
        again(p, PODLOG_RETRYING, err, WAIT_MAX);
    } else if (err) {
        ended(p, err);
    } else if (p->uid[0] && strcmp(p->uid, json_str(pod, "metadata.uid", "")) != 0) {
        pd_fail(&other, PD_NOTFOUND, _("the pod %s is another one of the same name now"), p->pod);
        ended(p, &other);
    } else {
        str_copy(p->uid, sizeof p->uid, json_str(pod, "metadata.uid", ""));
        loginst_read(pod, p->container, &p->seen);
        decide(p);
    }
    leave(p);
}

/* Without follow nothing is awaited, and one answer is all. */
static void look(struct podlog *p)
{
    p->look_again = false;
    if (!p->follow || p->previous)
        start_read(p, READ_END);
    else if (p->blind)
        start_read(p, READ_FOLLOW);
    else
        p->call = k8s_get(p->k, "pods", p->ns, p->pod, on_pod, p);
}

/* --- lines ------------------------------------------------------------------------ */

static void on_line(void *arg, int64_t ns, const char *text, size_t n, bool cut)
{
    struct podlog *p = arg;
    if (p->stopped || !p->k)
        return;
    p->wait_ms = 0;
    if (p->h.line)
        p->h.line(p->h.arg, ns, text, n, cut);
    if (p->stopped || !p->k)
        logread_stop(&p->read);
}

/* It may be another run that answers: then nothing is missing. Look first. */
static void on_gap(void *arg, const char *from, const char *to)
{
    struct podlog *p = arg;
    struct pd_err err;
    if (p->follow && !p->previous && !p->blind && strcmp(p->checked, p->run) != 0) {
        str_copy(p->checked, sizeof p->checked, p->run);
        p->look_again = true;
        logread_stop(&p->read);
        return;
    }
    p->checked[0] = '\0';
    pd_fail(&err, PD_GONE, _("lines between %s and %s may be gone: the log was rotated meanwhile"),
            from, to);
    pd_set_hint(&err, "%s", _("read the file on the volume for what is missing"));
    tell(p, PODLOG_GAP, &err);
}

static void on_words(void *arg, const char *text)
{
    struct podlog *p = arg;
    k8s_clean(p->words, sizeof p->words, text, strlen(text));
}

/* --- reading ---------------------------------------------------------------------- */

/* Give up an answer whose first new line is suspect, and look at the pod. */
static bool turned_away(struct podlog *p)
{
    if (!p->look_again || p->stopped || !p->k)
        return false;
    drop_answer(p);
    look(p);
    return true;
}

static void read_data(void *arg, const char *data, size_t n)
{
    struct podlog *p = arg;
    p->busy = true;
    p->data_ms = clock_ms();
    logread_feed(&p->read, data, n);
    turned_away(p);
    leave(p);
}

static void read_head(void *arg, const struct http_response *r)
{
    struct podlog *p = arg;
    if (r->status >= 400)
        return;
    p->busy = true;
    p->opened_ms = p->data_ms = clock_ms();
    p->first_ms = p->first_ms ? p->first_ms : p->opened_ms;
    k8s_link(p->k, r->ms, NULL);
    if (!p->opened || p->state == PODLOG_RETRYING || p->state == PODLOG_WAITING)
        tell(p, PODLOG_OPEN, NULL);
    p->opened = true;
    p->denied_ms = 0;
    leave(p);
}

/* Texts of a 400 that pass: the kubelet has no log to give yet. */
static bool waiting(int status, const struct pd_err *err)
{
    static const char *const texts[] = {"is waiting to start", "is not available",
                                        "ContainerCreating", "PodInitializing", "is terminated"};
    for (size_t i = 0; i < ARRAY_LEN(texts); i++)
        if (status == 400 && strstr(err->msg, texts[i]))
            return true;
    return false;
}

/* The run before, or the whole node's file, is no longer there. */
static void give_up_run(struct podlog *p, const char *why)
{
    struct pd_err err;
    p->run_over = true;
    pd_fail(&err, PD_GONE, _("the node no longer has the log: %s"), why);
    tell(p, PODLOG_GAP, &err);
    look_in(p, 0);
}

static void explain(const struct podlog *p, int status, struct pd_err *err)
{
    if (status == 403)
        pd_set_hint(err, "%s", _("ask for a Role with the verb get on pods/log: apiGroups [\"\"], "
                                 "resources [\"pods/log\"], verbs [\"get\"]"));
    else if (status == 400 && strstr(err->msg, "choose one of"))
        pd_set_hint(err, "%s", _("name one of them with -c, or take all containers"));
    else if (status == 400 && strstr(err->msg, "is not valid for pod"))
        pd_set_hint(err, _("kubectl get pod %s -o jsonpath='{.spec.containers[*].name}' lists "
                           "them"), p->pod);
    else if (status == 400 && strstr(err->msg, "previous terminated"))
        pd_set_hint(err, "%s", _("the container has not restarted on this node: there is no log "
                                 "before this one"));
}

static void read_refused(struct podlog *p, const struct http_response *r)
{
    struct pd_err err;
    if (r->err)
        err = *r->err;
    else
        k8s_status_error(r->status, r->body, r->body_len, &err);
    explain(p, r->status, &err);
    if (r->status == 429 && r->retry_after > 0) {
        tell(p, PODLOG_RETRYING, &err);
        look_in(p, 1000 * (int64_t)r->retry_after);
    } else if (waiting(r->status, &err) && p->follow) {
        again(p, PODLOG_WAITING, &err, WAIT_START);
    } else if (r->status == 0 || r->status == 429 || (r->status >= 500 && p->follow) ||
               doubted(p, r->status)) {
        again(p, PODLOG_RETRYING, &err, WAIT_MAX);
    } else if (p->how == READ_BEFORE && r->status != 403) {
        give_up_run(p, err.msg);
    } else if (r->status == 404 && p->uid[0]) {
        again(p, PODLOG_RETRYING, NULL, WAIT_MAX);    /* the pod says whether it is gone */
    } else {
        ended(p, &err);
    }
}

/* Without a look at the pod: answers that end at once without a line, thrice. */
static void blind_end(struct podlog *p, bool nothing_new, int64_t ms)
{
    struct pd_err err;
    p->ends = nothing_new && ms < QUICK_MS ? p->ends + 1 : 0;
    if (p->ends < BLIND_ENDS) {
        again(p, PODLOG_RETRYING, NULL, WAIT_MAX);
        return;
    }
    logread_flush(&p->read);
    pd_fail(&err, PD_FORBIDDEN, _("the log says no more, and the pod %s can't be looked at"),
            p->pod);
    pd_set_hint(&err, "%s", _("ask for a Role with the verb get on pods"));
    ended(p, &err);
}

/* What the kubelet wrote in place of lines. */
static void heed_words(struct podlog *p)
{
    struct pd_err err;
    if (str_starts(p->words, "unable to retrieve") && p->follow) {
        give_up_run(p, p->words);
        return;
    }
    pd_fail(&err, PD_HTTP, _("the node says: %s"), p->words);
    pd_set_hint(&err, "%s", _("the node's kubelet can't read the log file now"));
    if (p->follow)
        again(p, PODLOG_RETRYING, &err, WAIT_MAX);
    else
        ended(p, &err);
}

/* An answer for once: half a line at its end may be one that was cut. */
static void read_once(struct podlog *p, bool nothing_new)
{
    if (!nothing_new && !p->twice && logread_torn(&p->read)) {
        p->twice = true;
        look_in(p, 0);
        return;
    }
    logread_flush(&p->read);
    if (!p->stopped)
        ended(p, NULL);
}

/* The end of a run: once more, until it says nothing new. */
static void read_end(struct podlog *p, bool nothing_new)
{
    if (!nothing_new) {
        start_read(p, p->how);
        return;
    }
    logread_flush(&p->read);
    p->run_over = true;
    if (p->stopped || !p->k)
        return;
    if (p->how == READ_BEFORE)
        look(p);
    else
        after_run(p);
}

/* The answer came to its end without an error: is it that of the run too? */
static void read_whole(struct podlog *p, int64_t ms)
{
    bool nothing_new = logread_end(&p->read);
    if (p->stopped || !p->k || turned_away(p))
        return;
    if (p->words[0])
        heed_words(p);
    else if (!p->follow || p->previous)
        read_once(p, nothing_new);
    else if (p->blind)
        blind_end(p, nothing_new, ms);
    else if (p->how != READ_FOLLOW)
        read_end(p, nothing_new);
    else if (nothing_new && ms < QUICK_MS)
        again(p, PODLOG_RETRYING, NULL, WAIT_MAX);
    else
        look_in(p, 0);
}

static void read_done(void *arg, const struct http_response *r)
{
    struct podlog *p = arg;
    p->busy = true;
    p->http = NULL;
    k8s_trace_ended(p->k, p->trace, "GET", p->path, r,
                    r->status == 429 ? 1000 * (int64_t)MAX(r->retry_after, 0) : 0);
    if (r->status == 0 || r->status >= 400)
        read_refused(p, r);
    else if (r->err)
        again(p, PODLOG_RETRYING, r->err, WAIT_MAX);  /* a half line comes again, whole */
    else
        read_whole(p, r->ms);
    leave(p);
}

/* From where: after the lines that came; else as the caller asked, plus the time
 * that went by since it asked. */
static void since(const struct podlog *p, struct str *s)
{
    char number[32], text[36];
    int64_t from = logread_since(&p->read);
    int64_t gone_s = p->first_ms ? (clock_ms() - p->first_ms) / 1000 + 1 : 0;
    int64_t span_s = p->since_s > 0 ? p->since_s + gone_s : 0;
    bool none_then = p->tail == 0 && gone_s > 0;
    if (from < 0 && p->later)
        return;
    if (from >= 0)
        k8s_query(s, "sinceTime", clock_rfc3339(from * 1000000, 0, text));
    else if (p->since_ns > 0)
        k8s_query(s, "sinceTime", clock_rfc3339(p->since_ns / 1000000000 * 1000000, 0, text));
    else if (span_s > 0 || none_then)
        k8s_query(s, "sinceSeconds", str_fmt(number, sizeof number, "%" PRId64,
                                             none_then ? gone_s : span_s));
    if (from < 0 && p->tail >= 0 && !none_then)
        k8s_query(s, "tailLines", str_fmt(number, sizeof number, "%" PRId64, p->tail));
}

static void log_path(struct podlog *p, struct str *s)
{
    char path[RES_PATH_MAX];
    str_init(s, 64 << 10);
    str_add(s, res_path(res_by_name("pods"), p->ns, p->pod, "log", path));
    k8s_query(s, "container", p->container);
    if (p->follow && !p->previous && p->how == READ_FOLLOW)
        k8s_query(s, "follow", "true");
    if (p->previous || p->how == READ_BEFORE)
        k8s_query(s, "previous", "true");
    since(p, s);
    k8s_query(s, "timestamps", "true");
}

static void start_read(struct podlog *p, enum how how)
{
    struct str path;
    struct http_request q = {.method = "GET", .accept = "application/json, */*",
                             .head = read_head, .data = read_data, .done = read_done,
                             .no_body_on_error = true, .arg = p,
                             .fresh_connection = p->state == PODLOG_RETRYING};
    p->how = how;
    p->words[0] = '\0';
    log_path(p, &path);
    free(p->path);
    q.path = p->path = str_take(&path);
    str_release(&path);
    logread_begin(&p->read);
    p->trace = k8s_trace_open(p->k, "GET", p->path, NULL, NULL);
    p->http = http_start(k8s_loop(p->k), k8s_target(p->k), &q);
}

struct podlog *podlog_start(struct k8s *k, const struct podlog_spec *spec,
                            const struct podlog_handlers *h)
{
    struct podlog *p = xcalloc(1, sizeof *p);
    struct logread_handlers lines = {on_line, on_gap, on_words, p};
    p->k = k;
    p->h = *h;
    p->ns = xstrdup(spec->ns ? spec->ns : k8s_namespace(k));
    p->pod = xstrdup(spec->pod);
    p->container = xstrdup(spec->container);
    p->follow = spec->follow;
    p->previous = spec->previous;
    p->tail = spec->tail;
    p->since_s = spec->since_s;
    p->since_ns = spec->since_ns;
    p->state = PODLOG_OPEN;
    logread_init(&p->read, &lines);
    p->read.only_from = spec->since_ns;
    p->part = (struct k8s_part){.close = on_close, .wake = on_wake, .arg = p};
    k8s_part_add(k, &p->part);
    look(p);
    return p;
}

const char *podlog_state_name(enum podlog_state s)
{
    static const char *const names[] = {"open", "retrying", "waiting", "gap", "restart", "ended"};
    return (size_t)s < ARRAY_LEN(names) ? names[s] : "";
}
