/* effects.c - the runner: which function carries out which effect, what is
 * open, and the queue of messages back. */
#include "labs/effects.h"

#include <unistd.h>

#include "core/base/i18n.h"
#include "core/base/clock.h"
#include "core/base/mem.h"
#include "core/base/path.h"
#include "labs/effects_priv.h"
#include "labs/errjson.h"

static void cancel(struct effects_runner *r, const struct effect *e);

static effects_fn *const table[EFFECT_KIND_COUNT] = {
    [EFF_CONNECT] = effects_connect, [EFF_WATCH] = effects_watch,
    [EFF_GET] = effects_get,         [EFF_LIST] = effects_list,
    [EFF_APPLY] = effects_apply,     [EFF_DELETE] = effects_delete,
    [EFF_CAN] = effects_can,         [EFF_REVIEW] = effects_review,
    [EFF_NAMESPACE] = effects_namespace, [EFF_CONTEXTS] = effects_contexts,
    [EFF_PROBE] = effects_probe,     [EFF_LOGIN_END] = effects_login_end,
    [EFF_LOG] = effects_log,         [EFF_ATTACH] = effects_attach,
    [EFF_ATTACH_SEND] = effects_attach_send, [EFF_EXEC] = effects_exec,
    [EFF_SHELL] = effects_shell,     [EFF_SHELL_SEND] = effects_shell_send,
    [EFF_SHELL_SIZE] = effects_shell_size, [EFF_FORWARD] = effects_forward,
    [EFF_COPY_OUT] = effects_copy_out, [EFF_SPAWN] = effects_spawn,
    [EFF_CANCEL] = cancel,           [EFF_WRITE] = effects_write,
    [EFF_MOVE] = effects_move,
    [EFF_TIMER] = effects_timer,     [EFF_WATCH_FILE] = effects_watch_file};

static bool needs_cluster(enum effect_kind k)
{
    return k >= EFF_WATCH && k <= EFF_COPY_OUT;
}

/* --- messages ------------------------------------------------------------------ */

/* One at a time, since what a message brings about may cancel those behind it.
 * What is posted meanwhile waits for the next turn, and so does what is left
 * when the slice of this one is over. */
static void drain(void *arg)
{
    enum { DRAIN_US = 2000 };
    struct effects_runner *r = arg;
    int64_t end = clock_us() + DRAIN_US;
    r->deferred = false;
    for (size_t n = r->queue_n - r->queue_head; n-- > 0 && r->queue_head < r->queue_n;) {
        r->o.deliver(r->o.arg, r->queue[r->queue_head++]);
        if (clock_us() > end)
            break;
    }
    if (r->queue_head == r->queue_n)
        r->queue_head = r->queue_n = 0;
    else if (!r->deferred)
        loop_defer(r->loop, drain, r);
    r->deferred = r->queue_n > 0;
}

static void post(struct effects_runner *r, struct msg *m)
{
    if (r->ending) {
        msg_free(m);
        return;
    }
    if (r->queue_n == r->queue_cap) {
        r->queue_cap = MAX(r->queue_cap * 2, 64);
        r->queue = xrealloc_array(r->queue, r->queue_cap, sizeof *r->queue);
    }
    r->queue[r->queue_n++] = m;
    if (!r->deferred)
        loop_defer(r->loop, drain, r);
    r->deferred = true;
}

void effects_post(struct effects_slot *s, enum msg_kind kind, struct json *body)
{
    struct msg *m = msg_new(kind, body);
    m->effect = s->id;
    m->cluster = s->cluster;
    m->epoch = s->epoch;
    post(s->r, m);
}

void effects_post_as(struct effects_runner *r, enum msg_kind kind, uint32_t effect,
                     struct json *body)
{
    struct msg *m = msg_new(kind, body);
    m->effect = effect;
    if (r->k8s) {
        m->cluster = k8s_id(r->k8s);
        m->epoch = k8s_epoch(r->k8s);
    }
    post(r, m);
}

struct json *effects_error(const struct pd_err *err)
{
    struct json *j = json_new_object();
    json_set(j, "error", errjson_make(err));
    return j;
}

void effects_refuse(struct effects_runner *r, const struct effect *e, const struct pd_err *err)
{
    struct msg *m = msg_new(MSG_REPLY, effects_error(err));
    json_put_num(m->body, "status", 0);
    m->effect = e->id;
    m->cluster = e->cluster;
    m->epoch = e->epoch;
    post(r, m);
}

/* --- slots ---------------------------------------------------------------------- */

struct effects_slot *effects_slot_new(struct effects_runner *r, const struct effect *e)
{
    struct effects_slot *s = xcalloc(1, sizeof *s);
    s->r = r;
    s->id = e->id;
    s->kind = e->kind;
    if (needs_cluster(e->kind) && r->k8s) {
        s->cluster = k8s_id(r->k8s);
        s->epoch = k8s_epoch(r->k8s);
    }
    s->args = json_copy(e->args);
    s->inotify = -1;
    str_init(&s->out, 1 << 20);
    str_init(&s->err, 1 << 16);
    s->next = r->slots;
    r->slots = s;
    return s;
}

void effects_slot_end(struct effects_slot *s)
{
    struct effects_slot **p = &s->r->slots;
    while (*p && *p != s)
        p = &(*p)->next;
    assert(*p == s);
    *p = s->next;
    loop_timer_cancel(s->r->loop, s->timer);
    json_free(s->args);
    json_free(s->items);
    str_release(&s->out);
    str_release(&s->err);
    free(s->text);
    free(s);
}

struct effects_slot *effects_slot_find(struct effects_runner *r, uint32_t id)
{
    struct effects_slot *s = r->slots;
    while (s && s->id != id)
        s = s->next;
    return s;
}

static void stop(struct effects_slot *s)
{
    if (s->stop)
        s->stop(s);
    effects_slot_end(s);
}

void effects_drop_cluster(struct effects_runner *r)
{
    for (struct effects_slot *s = r->slots, *next; s; s = next) {
        next = s->next;
        if (needs_cluster(s->kind) || s->kind == EFF_CONNECT)
            stop(s);
    }
}

static void cancel(struct effects_runner *r, const struct effect *e)
{
    uint32_t id = (uint32_t)json_int(e->args, "effect", 0);
    struct effects_slot *s = effects_slot_find(r, id);
    if (s)
        stop(s);
    /* what it had said already, but nobody has heard */
    size_t k = r->queue_head;
    for (size_t i = r->queue_head; i < r->queue_n; i++)
        if (id && r->queue[i]->effect == id)
            msg_free(r->queue[i]);
        else
            r->queue[k++] = r->queue[i];
    r->queue_n = k;
}

void effects_argv(const struct json *args, struct strv *out)
{
    const struct json *list = json_get(args, "argv");
    for (const struct json *w = json_first(list); w; w = json_next(w)) {
        const char *word = json_string_value(w) ? json_string_value(w) : "";
        char *dir = out->n == 0 && !strchr(word, '/') ? path_program_dir() : NULL;
        char *full = dir ? path_join(dir, word) : NULL;
        strv_push(out, full && access(full, X_OK) == 0 ? full : word);
        free(full);
        free(dir);
    }
}

/* --- the runner ------------------------------------------------------------------ */

struct effects_runner *effects_runner_new(struct loop *l, const struct effects_options *o)
{
    struct effects_runner *r = xcalloc(1, sizeof *r);
    r->loop = l;
    r->o = *o;
    r->kubeconfig = xstrdup(o->kubeconfig);
    r->context = xstrdup(o->context);
    r->ns = xstrdup(o->ns);
    r->inotify_fd = -1;
    return r;
}

void effects_runner_free(struct effects_runner *r)
{
    if (!r)
        return;
    r->ending = true;
    while (r->slots)
        stop(r->slots);
    effects_connect_free(r);
    effects_local_free(r);
    for (size_t i = r->queue_head; i < r->queue_n; i++)
        msg_free(r->queue[i]);
    free(r->queue);
    free(r->kubeconfig);
    free(r->context);
    free(r->ns);
    json_free(r->about);
    free(r);
}

static void run_one(struct effects_runner *r, const struct effect *e)
{
    struct pd_err err;
    if (!table[e->kind]) {
        if (r->o.foreign)
            r->o.foreign(r->o.arg, e);
        return;
    }
    if (!needs_cluster(e->kind)) {
        table[e->kind](r, e);
        return;
    }
    /* an effect of a dead epoch: its cluster is no more, nobody waits */
    if (r->k8s && (e->cluster != k8s_id(r->k8s) || e->epoch != k8s_epoch(r->k8s)))
        return;
    if (r->k8s) {
        table[e->kind](r, e);
        return;
    }
    pd_fail(&err, PD_NET, _("there is no cluster"));
    effects_refuse(r, e, &err);
}

void effects_run_all(struct effects_runner *r, struct effects *e)
{
    for (size_t i = 0; i < e->n; i++)
        run_one(r, &e->v[i]);
    effects_clear(e);
}

size_t effects_open(const struct effects_runner *r)
{
    size_t n = r->queue_n - r->queue_head;
    for (const struct effects_slot *s = r->slots; s; s = s->next)
        n++;
    return n;
}
