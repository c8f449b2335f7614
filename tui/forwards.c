/* forwards.c - ports that lead into pods (forwards.h). */
#include "tui/forwards.h"

#include "core/base/i18n.h"
#include "tui/app.h"

bool forwards_start(struct app *a, const char *pod, int local, int remote, struct effects *out)
{
    struct forwards *fs = &a->forwards;
    if (fs->n == FORWARDS_MOST)
        return false;
    struct forward *f = &fs->v[fs->n++];
    struct json *args = json_new_object();
    *f = (struct forward){.local = local, .remote = remote, .began_ms = a->now_ms,
                          .cluster = a->s->cluster.id, .epoch = a->s->cluster.epoch};
    str_copy(f->pod, sizeof f->pod, pod);
    json_put_str(args, "namespace", a->s->cluster.ns);
    json_put_str(args, "pod", pod);
    json_put_num(args, "local", local);
    json_put_num(args, "remote", remote);
    f->effect = effects_add(out, EFF_FORWARD, f->cluster, f->epoch, args);
    a->sel[PANEL_FORWARDS] = fs->n - 1;
    return true;
}

static void take_out(struct app *a, int i)
{
    struct forwards *fs = &a->forwards;
    memmove(&fs->v[i], &fs->v[i + 1], sizeof fs->v[0] * (size_t)(fs->n - i - 1));
    fs->n--;
    a->sel[PANEL_FORWARDS] = MIN(a->sel[PANEL_FORWARDS], MAX(fs->n - 1, 0));
}

void forwards_stop(struct app *a, int i, struct effects *out)
{
    if (i < 0 || i >= a->forwards.n)
        return;
    struct forward *f = &a->forwards.v[i];
    struct json *args = json_new_object();
    json_put_num(args, "effect", f->effect);
    effects_add(out, EFF_CANCEL, 0, 0, args);
    app_note(a, false, _("port %d no longer leads to %s"), f->local, f->pod);
    take_out(a, i);
}

static void trouble(struct app *a, struct forward *f, const struct msg *m)
{
    struct pd_err err;
    pd_fail(&err, PD_NET, "%s", json_str(m->body, "error.msg", ""));
    str_copy(err.hint, sizeof err.hint, json_str(m->body, "error.hint", ""));
    str_copy(f->trouble, sizeof f->trouble, err.msg);
    app_fault(a, &err);
}

static void figures(struct forward *f, const struct msg *m)
{
    f->local = (int)json_int(m->body, "port", f->local);
    f->open = (int)json_int(m->body, "open", 0);
    f->total = (int)json_int(m->body, "total", 0);
    f->failed = (int)json_int(m->body, "failed", 0);
    f->sent = json_int(m->body, "sent", 0);
    f->received = json_int(m->body, "received", 0);
}

bool forwards_message(struct app *a, const struct msg *m)
{
    struct forwards *fs = &a->forwards;
    int i = 0;
    while (i < fs->n && fs->v[i].effect != m->effect)
        i++;
    bool ours = m->kind == MSG_FORWARD || (m->kind == MSG_REPLY && m->effect && i < fs->n);
    if (!ours || i == fs->n)
        return ours;
    struct forward *f = &fs->v[i];
    bool failed = m->kind == MSG_REPLY || str_eq(json_str(m->body, "state", ""), "failed");
    if (!failed) {
        bool fresh = f->state == FORWARD_OPENING;
        f->state = FORWARD_OPEN;
        figures(f, m);
        if (fresh)
            app_note(a, false, _("127.0.0.1:%d leads to port %d of %s"), f->local, f->remote,
                     f->pod);
    }
    if (failed)
        f->state = FORWARD_FAILED;
    if (failed || str_eq(json_str(m->body, "state", ""), "said"))
        trouble(a, f, m);
    return true;
}

void forwards_follow(struct app *a)
{
    int ended = 0;
    for (int i = a->forwards.n; i-- > 0;)
        if (a->forwards.v[i].cluster != a->s->cluster.id ||
            a->forwards.v[i].epoch != a->s->cluster.epoch) {
            take_out(a, i);
            ended++;
        }
    if (ended)
        app_note(a, false, _("%d port-forwards ended with their connection"), ended);
}
