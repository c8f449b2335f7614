/* logmerge.c - the logs of a pod's containers in one stream (logmerge.h). */
#include "k8s/logmerge.h"

#include "core/base/clock.h"
#include "core/base/mem.h"
#include "k8s/client_io.h"
#include "k8s/loginst.h"

enum { HOLD_MS = 250, FIRST_MS = 1000, LOOK_MS = 100, BYTES_MAX = 8 << 20 };

/* A line, or a state that has its place among the lines. */
struct item {
    struct item *next;
    int64_t ns;
    size_t n;
    bool cut, is_state;
    enum podlog_state state;
    struct pd_err *err;
    char text[];
};

struct source {
    struct logmerge *m;
    char *name;
    struct podlog *log;
    struct item *head, **tail;
    bool open, ended, heard;
    int64_t heard_ms;
};

struct logmerge {
    struct k8s *k;
    struct k8s_part part;
    struct podlog_spec spec;
    char *ns, *pod, *container;
    struct logmerge_handlers h;
    struct k8s_call *call;
    struct source *v;
    size_t n, bytes;
    uint32_t timer;
    bool busy, stopped, one;
};

static void free_item(struct item *i)
{
    free(i->err);
    free(i);
}

static void merge_free(struct logmerge *m)
{
    if (m->k) {
        k8s_cancel(m->call);
        loop_timer_cancel(k8s_loop(m->k), m->timer);
        k8s_part_remove(m->k, &m->part);
    }
    for (size_t i = 0; i < m->n; i++) {
        podlog_stop(m->v[i].log);
        for (struct item *x = m->v[i].head, *next; x; x = next) {
            next = x->next;
            free_item(x);
        }
        free(m->v[i].name);
    }
    free(m->v);
    free(m->ns);
    free(m->pod);
    free(m->container);
    free(m);
}

static void on_close(void *arg)
{
    struct logmerge *m = arg;
    m->call = NULL;
    loop_timer_cancel(k8s_loop(m->k), m->timer);
    m->timer = 0;
    m->k = NULL;
}

void logmerge_stop(struct logmerge *m)
{
    if (!m || m->stopped)
        return;
    m->stopped = true;
    if (!m->busy)
        merge_free(m);
}

static void say(struct logmerge *m, const char *name, enum podlog_state s,
                const struct pd_err *err)
{
    if (!m->stopped && m->h.state)
        m->h.state(m->h.arg, name, s, err);
}

/* --- out --------------------------------------------------------------------------- */

static void emit(struct source *s)
{
    struct logmerge *m = s->m;
    struct item *i = s->head;
    s->head = i->next;
    if (!s->head)
        s->tail = &s->head;
    m->bytes -= sizeof *i + i->n;
    if (i->is_state)
        say(m, s->name, i->state, i->err);
    else if (!m->stopped)
        m->h.line(m->h.arg, s->name, i->ns, i->text, i->n, i->cut);
    free_item(i);
}

/* The source whose turn it is, NULL: none, or one that may say something older
 * is waited for. */
static struct source *next_source(struct logmerge *m)
{
    struct source *first = NULL;
    int64_t now = clock_ms();
    bool wait = false;
    for (size_t i = 0; i < m->n; i++) {
        struct source *s = &m->v[i];
        if (s->head && (s->head->is_state || s->head->ns == 0))
            return s;
        if (s->head && (!first || s->head->ns < first->head->ns))
            first = s;
        wait |= !s->head && s->open && !s->ended &&
                now - s->heard_ms < (s->heard ? HOLD_MS : FIRST_MS);
    }
    return wait && m->bytes < BYTES_MAX ? NULL : first;
}

static bool is_over(const struct logmerge *m)
{
    for (size_t i = 0; i < m->n; i++)
        if (m->v[i].head || !m->v[i].ended)
            return false;
    return m->n > 0;
}

static void release(struct logmerge *m);

static void on_timer(void *arg)
{
    struct logmerge *m = arg;
    m->timer = 0;
    release(m);
}

/* From the outermost call only: frees m when it is over. */
static void release(struct logmerge *m)
{
    struct source *s;
    if (m->busy)
        return;
    m->busy = true;
    while (!m->stopped && m->k && (s = next_source(m)) != NULL)
        emit(s);
    if (!m->stopped && m->k && is_over(m)) {
        say(m, NULL, PODLOG_ENDED, NULL);
        m->stopped = true;
    }
    if (!m->stopped && m->k && m->bytes > 0 && !m->timer)
        m->timer = loop_timer(k8s_loop(m->k), LOOK_MS, on_timer, m, "log merge");
    m->busy = false;
    if (m->stopped)
        merge_free(m);
}

/* --- in ---------------------------------------------------------------------------- */

static struct item *push(struct source *s, const char *text, size_t n)
{
    struct item *i = xcalloc(1, sizeof *i + n + 1);
    i->n = n;
    if (n)
        memcpy(i->text, text, n);
    *s->tail = i;
    s->tail = &i->next;
    s->m->bytes += sizeof *i + n;
    return i;
}

static void on_line(void *arg, int64_t ns, const char *text, size_t n, bool cut)
{
    struct source *s = arg;
    struct logmerge *m = s->m;
    s->heard_ms = clock_ms();
    s->heard = true;
    if (m->one) {
        m->h.line(m->h.arg, s->name, ns, text, n, cut);
        return;
    }
    struct item *i = push(s, text, n);
    i->ns = ns;
    i->cut = cut;
    if (m->bytes >= BYTES_MAX)
        release(m);
    else if (!m->timer)
        m->timer = loop_timer(k8s_loop(m->k), 0, on_timer, m, "log merge");
}

static void on_state(void *arg, enum podlog_state state, const struct pd_err *err)
{
    struct source *s = arg;
    struct logmerge *m = s->m;
    bool placed = state == PODLOG_GAP || state == PODLOG_RESTART || state == PODLOG_ENDED;
    s->heard_ms = clock_ms();
    s->heard = state != PODLOG_OPEN || s->heard;
    s->open = state != PODLOG_RETRYING && state != PODLOG_WAITING;
    if (state == PODLOG_ENDED) {
        s->ended = true;
        s->log = NULL;
    }
    if (m->one && s->ended) {
        say(m, NULL, state, err);
        m->stopped = true;
        merge_free(m);
        return;
    }
    if (m->one || !placed) {
        say(m, s->name, state, err);
        return;
    }
    struct item *i = push(s, "", 0);
    i->is_state = true;
    i->state = state;
    i->err = err ? xmalloc(sizeof *err) : NULL;
    if (err)
        *i->err = *err;
    loop_timer_cancel(k8s_loop(m->k), m->timer);
    m->timer = loop_timer(k8s_loop(m->k), 0, on_timer, m, "log merge");
}

/* --- whose logs --------------------------------------------------------------------- */

static void start(struct logmerge *m, const struct strv *names)
{
    size_t n = names ? names->n : 1;
    m->one = !names;
    m->v = xcalloc(MAX(n, (size_t)1), sizeof *m->v);
    m->n = n;
    for (size_t i = 0; i < n; i++)
        m->v[i] = (struct source){.m = m, .name = names ? xstrdup(names->v[i])
                                                        : xstrdup(m->container)};
    for (size_t i = 0; i < n && !m->stopped; i++) {
        struct source *s = &m->v[i];
        struct podlog_handlers h = {on_line, on_state, s};
        s->tail = &s->head;
        s->open = true;               /* its first lines are on their way */
        s->heard_ms = clock_ms();
        m->spec.container = s->name;
        s->log = podlog_start(m->k, &m->spec, &h);
    }
}

static void on_pod(void *arg, int status UNUSED, const struct json *pod, const struct pd_err *err)
{
    struct logmerge *m = arg;
    struct strv names;
    m->call = NULL;
    strv_init(&names);
    loginst_containers(pod, &names);
    m->busy = true;
    if (err || names.n == 0) {
        say(m, NULL, PODLOG_ENDED, err);
        m->stopped = true;
    } else {
        if (m->h.containers)
            m->h.containers(m->h.arg, &names);
        if (!m->stopped)
            start(m, &names);
    }
    strv_release(&names);
    m->busy = false;
    if (m->stopped)
        merge_free(m);
}

struct logmerge *logmerge_start(struct k8s *k, const struct podlog_spec *spec, bool all,
                                const struct logmerge_handlers *h)
{
    struct logmerge *m = xcalloc(1, sizeof *m);
    m->k = k;
    m->h = *h;
    m->spec = *spec;
    m->spec.ns = m->ns = xstrdup(spec->ns ? spec->ns : k8s_namespace(k));
    m->spec.pod = m->pod = xstrdup(spec->pod);
    m->container = xstrdup(spec->container);
    m->part = (struct k8s_part){.close = on_close, .arg = m};
    k8s_part_add(k, &m->part);
    if (all)
        m->call = k8s_get(k, "pods", m->ns, m->pod, on_pod, m);
    else
        start(m, NULL);
    return m;
}
