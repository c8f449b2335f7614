/* session_train.c - the run of the lab's Job: its log is followed from the
 * first line, so that the curve is whole after any restart, and it is steered
 * over attach. The log alone tells what happened: what attach echoes is
 * dropped, or every answer would count twice. */
#include <math.h>

#include "core/base/i18n.h"
#include "core/base/path.h"
#include "core/base/utf8.h"
#include "labs/errjson.h"
#include "labs/session_priv.h"

enum { STEER_LOST_MS = 20000 };

/* --- following ---------------------------------------------------------------- */

static const struct json *container_status(const struct json *pod, const char *name)
{
    const struct json *list = json_at(pod, "status.containerStatuses");
    for (const struct json *c = json_first(list); c; c = json_next(c))
        if (str_eq(json_str(c, "name", ""), name))
            return c;
    return NULL;
}

static bool started(const struct json *pod, const char *container)
{
    const struct json *c = container_status(pod, container);
    return json_has(c, "state.running") || json_has(c, "state.terminated") ||
           json_has(c, "lastState.terminated");
}

static void cancel(struct session *s, uint32_t effect, struct effects *out)
{
    if (!effect)
        return;
    struct json *args = json_new_object();
    json_put_num(args, "effect", effect);
    session_effect(s, out, EFF_CANCEL, args);
}

static uint32_t follow(struct session *s, const char *pod, const char *container,
                       struct effects *out)
{
    struct json *args = json_new_object();
    json_put_str(args, "namespace", s->cluster.ns);
    json_put_str(args, "pod", pod);
    json_put_str(args, "container", container);
    json_put_bool(args, "follow", true);
    json_put_num(args, "tail", -1);
    return session_effect(s, out, EFF_LOG, args);
}

/* The own Job's newest pod that has begun: its log is the run. */
void session_follow(struct session *s, struct effects *out)
{
    struct session_priv *p = session_priv(s);
    if (!s->lab || !p->progress || !*s->lab->run_job || s->cluster.link != LINK_UP || p->recorded)
        return;
    const struct json *job = session_find(s, "jobs", s->lab->run_job);
    const struct json *pod = job && session_is_own(s, "jobs", job) ? session_job_pod(s, job) : NULL;
    if (!pod || !started(pod, s->lab->run_container))
        return;
    const char *uid = json_str(pod, "metadata.uid", "");
    if (str_eq(uid, p->log_uid) && p->log_epoch == s->cluster.epoch)
        return;
    cancel(s, p->run_stream, out);
    str_copy(p->log_uid, sizeof p->log_uid, uid);
    p->log_epoch = s->cluster.epoch;
    p->log_ended = false;
    run_reset(&s->run, p->run_log);
    session_text_begin(s);
    str_copy(s->run.pod, sizeof s->run.pod, json_str(pod, "metadata.name", ""));
    p->run_stream = follow(s, s->run.pod, s->lab->run_container, out);
    session_log_show_run(s, p->run_stream, s->lab->run_container, out);
    session_changed(s);
}

void session_recorded(struct session *s, const char *text)
{
    struct session_priv *p = session_priv(s);
    p->recorded = text != NULL;
    run_reset(&s->run, p->run_log);
    session_text_begin(s);
    session_log_clear(s);
    p->log_uid[0] = '\0';
    str_copy(s->run.pod, sizeof s->run.pod, text ? "recorded" : "");
    while (text && *text) {
        size_t n = strcspn(text, "\n");
        char *line = xstrndup(text, n);
        session_log_append(s, 0, line, 0, false);
        session_text_line(s, line);
        run_line(&s->run, p->run_log, line, 0);
        free(line);
        text += n + (text[n] == '\n');
    }
    session_changed(s);
}

/* A steering line is over when the log has its answer. */
static void answered(struct session_priv *p)
{
    for (size_t i = 0; i < CONTROL_PENDING; i++)
        if (*p->control[i].id && run_answer_find(p->run_log, p->control[i].id, NULL))
            memset(&p->control[i], 0, sizeof p->control[i]);
}

void session_csv(const struct session *s, struct str *out)
{
    run_csv(&s->run, out);
}

/* Among the runs that can be compared, by its time and pod: the same run read
 * again writes the same file. */
static void keep_run(struct session *s, const char *csv, struct effects *out)
{
    char name[200];
    if (!s->run.started_ms || series_count(s->run.loss) == 0 || session_priv(s)->recorded)
        return;
    run_file_name(&s->run, name, sizeof name);
    struct json *args = json_new_object();
    char *path = path_join(s->runs_dir, name);
    json_put_str(args, "path", path);
    json_put_str(args, "text", csv);
    effects_add(out, EFF_WRITE, 0, 0, args);
    free(path);
}

static void keep_csv(struct session *s, struct effects *out)
{
    struct str csv;
    char *path = session_work_path(s, "run.csv");
    str_init(&csv, 64 << 20);
    session_csv(s, &csv);
    struct json *args = json_new_object();
    json_put_str(args, "path", path);
    json_put_str(args, "text", csv.p);
    effects_add(out, EFF_WRITE, 0, 0, args);
    keep_run(s, csv.p, out);
    if (!str_eq(s->run_csv, path)) {
        str_copy(s->run_csv, sizeof s->run_csv, path);
        session_set_fact(s, "csv", json_new_string(path), out);
    }
    str_release(&csv);
    free(path);
}

static void take_line(struct session *s, const struct msg *m, struct effects *out)
{
    struct session_priv *p = session_priv(s);
    const char *text = json_str(m->body, "text", "");
    int64_t ts = json_int(m->body, "ts", 0);
    bool done = str_eq(s->run.state, "done"), own = m->effect && m->effect == p->run_stream;
    if (own)
        session_text_line(s, text);
    if (own && run_line(&s->run, p->run_log, text, ts)) {
        answered(p);
        if (!done && str_eq(s->run.state, "done"))
            keep_csv(s, out);
    }
    session_changed(s);
}

static void take_log_state(struct session *s, const struct msg *m, struct effects *out)
{
    struct session_priv *p = session_priv(s);
    const char *state = json_str(m->body, "state", "");
    struct pd_err err;
    if (!m->effect || m->effect != p->run_stream || !str_eq(state, "ended"))
        return;
    p->log_ended = true;
    if (str_eq(s->run.state, "done") || str_eq(s->run.state, "error"))
        return;
    str_copy(s->run.state, sizeof s->run.state, "error");
    struct str csv;
    str_init(&csv, 64 << 20);
    session_csv(s, &csv);
    keep_run(s, csv.p, out);
    str_release(&csv);
    str_copy(s->run.error, sizeof s->run.error,
             errjson_read(json_get(m->body, "error"), &err)
                 ? err.msg
                 : _("the log ended without a last record: the process was ended from outside"));
    s->run.eta_low = s->run.eta_high = NAN;
    session_changed(s);
}

/* --- steering ----------------------------------------------------------------- */

static void attach(struct session *s, struct effects *out)
{
    struct json *args = json_new_object();
    json_put_str(args, "namespace", s->cluster.ns);
    json_put_str(args, "pod", s->run.pod);
    json_put_str(args, "container", s->lab->run_container);
    s->attach_open = false;
    s->attach_stream = session_effect(s, out, EFF_ATTACH, args);
}

static void send_pending(struct session *s, struct effects *out)
{
    struct session_priv *p = session_priv(s);
    for (size_t i = 0; i < CONTROL_PENDING; i++) {
        struct steer_line *l = &p->control[i];
        if (!*l->id || l->sent)
            continue;
        struct json *args = json_new_object();
        json_put_num(args, "stream", s->attach_stream);
        json_put_str(args, "text", l->text);
        session_effect(s, out, EFF_ATTACH_SEND, args);
        l->sent = true;
        l->sent_ms = p->now_ms;
    }
}

static bool any_unsent(const struct session_priv *p)
{
    for (size_t i = 0; i < CONTROL_PENDING; i++)
        if (*p->control[i].id && !p->control[i].sent)
            return true;
    return false;
}

static struct steer_line *free_place(struct session_priv *p)
{
    for (size_t i = 0; i < CONTROL_PENDING; i++) {
        struct steer_line *l = &p->control[i];
        if (!*l->id || (l->sent && p->now_ms - l->sent_ms > STEER_LOST_MS))
            return l;
    }
    return NULL;
}

static bool run_over(const struct session *s)
{
    return str_eq(s->run.state, "done") || str_eq(s->run.state, "error");
}

bool session_steer(struct session *s, const char *cmd, const char *args, char *id,
                   struct effects *out)
{
    struct session_priv *p = session_priv(s);
    struct steer_line *l = free_place(p);
    if (!s->lab || !*s->run.pod || run_over(s) || p->recorded) {
        bool none = !s->lab || !*s->run.pod || p->recorded;
        session_say(s, PD_TRAIN, "%s", none ? _("there is no run to steer yet")
                                       : _("the run is over: submit the Job again to steer it"));
        return false;
    }
    if (!l) {
        session_say(s, PD_LIMIT, "%s", _("the run has not answered the commands before"));
        return false;
    }
    memset(l, 0, sizeof *l);
    /* unique in the pod's log, over restarts of this program too */
    str_fmt(l->id, sizeof l->id, "p%u.%" PRIx64, ++p->control_n,
            (uint64_t)p->now_ms & 0xFFFFFFFFu);
    str_copy(l->cmd, sizeof l->cmd, cmd);
    str_fmt(l->text, sizeof l->text, "#%s %s%s%s\n", l->id, cmd, args && *args ? " " : "",
            args ? args : "");
    if (id)
        str_copy(id, sizeof l->id, l->id);
    if (s->attach_open)
        send_pending(s, out);
    else if (!s->attach_stream)
        attach(s, out);
    session_changed(s);
    return true;
}

static void take_attach(struct session *s, const struct msg *m, struct effects *out)
{
    struct session_priv *p = session_priv(s);
    const char *state = json_str(m->body, "state", "");
    struct pd_err err;
    bool was_open = s->attach_open;
    if (str_eq(state, "open")) {
        s->attach_open = true;
        send_pending(s, out);
    } else if (str_eq(state, "closed")) {
        s->attach_open = false;
        s->attach_stream = 0;
        bool failed = errjson_read(json_get(m->body, "error"), &err);
        if (any_unsent(p) && was_open && !run_over(s)) {
            attach(s, out);
        } else if (failed && !run_over(s)) {
            session_say(s, err.code, _("the run can't be steered: %s"), err.msg);
            memset(p->control, 0, sizeof p->control);
        }
    } else {
        return;
    }
    session_changed(s);
}

bool session_train_message(struct session *s, const struct msg *m, struct effects *out)
{
    if (m->kind == MSG_LOG_LINE || m->kind == MSG_LOG_STATE)
        session_log_message(s, m);
    if (m->kind == MSG_LOG_LINE)
        take_line(s, m, out);
    else if (m->kind == MSG_LOG_STATE)
        take_log_state(s, m, out);
    else if (m->kind == MSG_ATTACH && m->effect == s->attach_stream)
        take_attach(s, m, out);
    else
        return false;
    return true;
}
