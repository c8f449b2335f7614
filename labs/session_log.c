/* session_log.c - the log on show: of which pod and containers, since when, and
 * its lines, in a ring with a ceiling of lines and bytes. The run's own log is
 * followed beside it (session_train.c), so that the curve never depends on what
 * a person looks at. */
#include "core/base/i18n.h"
#include "core/base/utf8.h"
#include "k8s/podinfo.h"
#include "labs/errjson.h"
#include "labs/session_priv.h"

enum { TAIL_LINES = 500, RAW_BYTES = 2 * SESSION_LINE_BYTES };

/* --- lines ------------------------------------------------------------------------ */
void session_log_clear(struct session *s)
{
    for (size_t i = 0; i < s->log_cap; i++) {
        free(s->log[i].text);
        s->log[i].text = NULL;
    }
    s->log_n = s->log_start = s->log_bytes = 0;
    s->log_dropped = 0;
    s->log_view.serial++;
}

static void drop_oldest(struct session *s)
{
    struct log_line *l = &s->log[s->log_start];
    s->log_bytes -= strlen(l->text);
    free(l->text);
    l->text = NULL;
    s->log_start = (s->log_start + 1) % s->log_cap;
    s->log_n--;
    s->log_dropped++;
}

/* Takes text. */
static void push(struct session *s, struct log_line l)
{
    size_t n = strlen(l.text);
    while (s->log_n > 0 && (s->log_n == s->log_cap || s->log_bytes + n > SESSION_LOG_BYTES))
        drop_oldest(s);
    s->log[(s->log_start + s->log_n++) % s->log_cap] = l;
    s->log_bytes += n;
}

/* A program that draws its progress over itself: the last drawing counts. */
static const char *last_drawn(const char *text, size_t *n)
{
    while (*n > 0 && text[*n - 1] == '\r')
        (*n)--;
    const char *cr = memrchr(text, '\r', *n);
    if (cr) {
        *n -= (size_t)(cr + 1 - text);
        text = cr + 1;
    }
    return text;
}

void session_log_append(struct session *s, int source, const char *text, int64_t ts_ms, bool cut)
{
    struct str clean;
    size_t n = strlen(text);
    text = last_drawn(text, &n);
    struct log_line l = {.ts_ms = ts_ms, .source = (uint8_t)source, .cut = cut || n > RAW_BYTES};
    str_init(&clean, 2 * RAW_BYTES);
    utf8_clean(text, MIN(n, (size_t)RAW_BYTES), false, &clean);
    if (clean.len > SESSION_LINE_BYTES) {
        size_t end = SESSION_LINE_BYTES;
        while (end > 0 && ((unsigned char)clean.p[end] & 0xC0) == 0x80)
            end--;
        clean.p[end] = '\0';
        l.cut = true;
    }
    l.text = xstrdup(clean.p);
    str_release(&clean);
    push(s, l);
}

static void word(struct session *s, enum log_kind kind, int source, const char *why)
{
    char text[512];
    session_clean(text, sizeof text, why);
    push(s, (struct log_line){.text = xstrdup(text), .kind = (uint8_t)kind,
                              .source = (uint8_t)source, .ts_ms = session_priv(s)->now_ms});
}

/* --- which log ---------------------------------------------------------------------- */
static void add_source(struct session *s, uint32_t stream, const char *container)
{
    struct log_view *v = &s->log_view;
    struct log_source *src = &v->source[v->sources++];
    *src = (struct log_source){.stream = stream};
    session_clean(src->container, sizeof src->container, container ? container : "");
}

static int source_of(const struct session *s, const struct msg *m)
{
    const struct log_view *v = &s->log_view;
    const char *container = json_str(m->body, "container", NULL);
    for (int i = 0; m->effect && i < v->sources; i++)
        if (v->source[i].stream == m->effect &&
            (m->effect != v->stream || str_eq(v->source[i].container, container)))
            return i;
    return -1;
}

static void cancel(struct session *s, uint32_t stream, struct effects *out)
{
    struct json *args = json_new_object();
    json_put_num(args, "effect", stream);
    session_effect(s, out, EFF_CANCEL, args);
}

void session_log_close(struct session *s, struct effects *out)
{
    struct log_view *v = &s->log_view;
    if (v->stream)
        cancel(s, v->stream, out);
    for (int i = 0; i < v->sources && !v->stream; i++)
        if (v->source[i].stream && v->source[i].stream != session_priv(s)->run_stream)
            cancel(s, v->source[i].stream, out);
    v->sources = 0;
    v->stream = 0;
    v->state = LOG_NONE;
    v->error[0] = '\0';
}

static uint32_t begin(struct session *s, const char *container, struct effects *out)
{
    const struct log_view *v = &s->log_view;
    struct json *args = json_new_object();
    json_put_str(args, "namespace", s->cluster.ns);
    json_put_str(args, "pod", v->pod);
    json_put_str(args, "container", container);
    if (v->all)
        json_put_bool(args, "all", true);
    json_put_bool(args, "follow", !v->previous);
    json_put_bool(args, "previous", v->previous);
    json_put_num(args, "tail", (double)v->tail);
    if (v->since_s > 0)
        json_put_num(args, "since", (double)v->since_s);
    return session_effect(s, out, EFF_LOG, args);
}

/* Follow the pod of the view as it is asked for. */
static void open_view(struct session *s, struct effects *out)
{
    struct log_view *v = &s->log_view;
    const struct json *pod = session_find(s, "pods", v->pod);
    session_log_close(s, out);
    session_log_clear(s);
    v->state = LOG_OPENING;
    const char *container = pod && !v->all ? podinfo_container(pod) : NULL;
    uint32_t stream = begin(s, container, out);
    if (v->all)
        v->stream = stream;
    else
        add_source(s, stream, container);
    session_changed(s);
}

void session_log_show_run(struct session *s, uint32_t stream, const char *container,
                          struct effects *out)
{
    struct log_view *v = &s->log_view;
    session_log_close(s, out);
    session_log_clear(s);
    v->since_s = 0;
    v->tail = -1;
    v->all = v->previous = false;
    v->state = LOG_OPENING;
    str_copy(v->pod, sizeof v->pod, s->run.pod);
    add_source(s, stream, container);
}

void session_log_again(struct session *s, struct effects *out)
{
    if (*s->log_view.pod && (s->log_view.sources > 0 || s->log_view.stream) &&
        !session_log_is_run(s))
        open_view(s, out);
}

void session_follow_pod(struct session *s, const char *pod, struct effects *out)
{
    struct log_view *v = &s->log_view;
    str_copy(v->pod, sizeof v->pod, pod);
    v->since_s = 0;
    v->tail = -1;
    v->all = v->previous = false;
    open_view(s, out);
}

bool session_log_is_run(const struct session *s)
{
    const struct log_view *v = &s->log_view;
    if (v->sources == 0 && !v->stream)
        return true;                 /* lines of a recorded run */
    return str_eq(v->pod, s->run.pod) && v->since_s == 0 && v->tail < 0 && !v->previous;
}

/* "tail", "head", "90", "5m", "1h". */
static bool read_since(const char *what, int64_t *since, int64_t *tail)
{
    char number[24];
    size_t n = strlen(what);
    int64_t unit = 1;
    *since = 0;
    *tail = -1;
    if (str_eq(what, "head"))
        return true;
    if (str_eq(what, "tail")) {
        *tail = TAIL_LINES;
        return true;
    }
    if (n > 1 && strchr("smh", what[n - 1])) {
        unit = what[n - 1] == 'h' ? 3600 : what[n - 1] == 'm' ? 60 : 1;
        n--;
    }
    if (n >= sizeof number)
        return false;
    str_copy(number, n + 1, what);
    if (!str_to_i64(number, since) || *since < 1 || *since > INT64_C(1000000))
        return false;
    *since *= unit;
    return true;
}

void session_log_since(struct session *s, const char *what, struct effects *out)
{
    struct log_view *v = &s->log_view;
    int64_t since, tail;
    if (!read_since(what, &since, &tail)) {
        session_say(s, PD_USAGE, _("\"%s\" is no span: tail, head, 90s, 5m, 1h"), what);
        return;
    }
    v->since_s = since;
    v->tail = tail;
    if (*v->pod)
        open_view(s, out);
}

void session_log_toggle(struct session *s, bool *what, struct effects *out)
{
    *what = !*what;
    if (*s->log_view.pod)
        open_view(s, out);
}

/* --- what comes ----------------------------------------------------------------------- */
static bool all_ended(const struct log_view *v)
{
    for (int i = 0; i < v->sources; i++)
        if (v->source[i].stream)
            return false;
    return true;
}

/* What is said of a log of all containers as a whole: whose it is, its end. */
static void take_whole(struct session *s, const struct msg *m)
{
    struct log_view *v = &s->log_view;
    struct pd_err err;
    for (const struct json *c = json_first(json_get(m->body, "containers"));
         c && v->sources < LOG_SOURCES; c = json_next(c))
        add_source(s, v->stream, json_string_value(c));
    if (str_eq(json_str(m->body, "state", ""), "ended")) {
        bool why = errjson_read(json_get(m->body, "error"), &err);
        session_clean(v->error, sizeof v->error, why ? err.msg : "");
        v->state = LOG_OVER;
        v->stream = 0;
        for (int i = 0; i < v->sources; i++)
            v->source[i].stream = 0;
    }
    session_changed(s);
}

static void take_state(struct session *s, const struct msg *m, int i)
{
    struct log_view *v = &s->log_view;
    struct log_source *src = &v->source[i];
    const char *state = json_str(m->body, "state", "");
    struct pd_err err;
    bool why = errjson_read(json_get(m->body, "error"), &err);
    session_clean(v->error, sizeof v->error, why ? err.msg : "");
    if (str_eq(state, "open")) {
        src->back |= src->broke;      /* whether lines are lost, the first one shows */
        src->broke = false;
        v->state = LOG_OPEN;
    } else if (str_eq(state, "retrying")) {
        src->broke |= v->state == LOG_OPEN;
        v->state = LOG_WAITING;
    } else if (str_eq(state, "waiting")) {
        v->state = LOG_WAITING;
        if (why && session_log_count(s) > 0)
            word(s, LOG_WAIT, i, v->error);
    } else if (str_eq(state, "gap")) {
        src->back = false;
        word(s, LOG_GAP, i, v->error);
    } else if (str_eq(state, "restart")) {
        word(s, LOG_RESTART, i, v->error);
    } else if (str_eq(state, "ended")) {
        src->stream = 0;
        word(s, LOG_END, i, v->error);
        if (all_ended(v))
            v->state = LOG_OVER;
    }
    session_changed(s);
}

void session_log_message(struct session *s, const struct msg *m)
{
    int i = source_of(s, m);
    if (i < 0 && m->effect && m->effect == s->log_view.stream && m->kind == MSG_LOG_STATE)
        take_whole(s, m);
    if (i < 0)
        return;
    if (m->kind == MSG_LOG_STATE) {
        take_state(s, m, i);
        return;
    }
    if (s->log_view.state != LOG_OPEN) {
        s->log_view.state = LOG_OPEN;
        s->log_view.error[0] = '\0';
    }
    if (s->log_view.source[i].back)
        word(s, LOG_AGAIN, i, "");
    s->log_view.source[i].back = false;
    session_log_append(s, i, json_str(m->body, "text", ""), json_int(m->body, "ts", 0),
                       json_bool(m->body, "cut", false));
    session_changed(s);
}

/* --- saving ----------------------------------------------------------------------------- */
static const char *prefix(const struct session *s, const struct log_line *l)
{
    return s->log_view.sources > 1 && l->source < s->log_view.sources
               ? s->log_view.source[l->source].container : "";
}

void session_log_save(struct session *s, const char *path, struct effects *out)
{
    struct json *a = json_new_object();
    struct str text;
    str_init(&text, 2 * SESSION_LOG_BYTES);
    for (size_t i = 0; i < session_log_count(s); i++) {
        const struct log_line *l = session_log_line(s, i);
        const char *of = prefix(s, l);
        if (l->kind == LOG_TEXT)
            str_printf(&text, "%s%s%s%s\n", of, *of ? " " : "", l->text, l->cut ? "..." : "");
    }
    json_put_str(a, "path", path);
    json_put_str(a, "text", text.p);
    str_release(&text);
    effects_add(out, EFF_WRITE, 0, 0, a);
    session_say(s, PD_OK, _("the log, %zu lines, was written to %s"), session_log_count(s), path);
}
