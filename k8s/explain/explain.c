/* explain.c - runs the rules over a case and puts what they found in order
 * (explain.h). */
#include "k8s/explain/dx.h"

/* In the order of a pod's life; of equal weights the first one leads. */
static dx_rule *const rules[] = {dx_terminating, dx_kubelet, dx_volume, dx_schedule, dx_config,
                                 dx_image,       dx_create,  dx_init,   dx_probe,    dx_exit,
                                 dx_app,         dx_peer,    dx_output, dx_quiet,    dx_healthy};

const char *sure_name(enum sure s)
{
    static const char *const names[] = {N_("certain"), N_("likely"), N_("cannot-tell")};
    return names[s];
}

/* What can be said of a pod that no rule explains. */
static void cannot_tell(struct dx *d)
{
    const struct snap_item *warning = NULL;
    for (size_t i = d->events; i-- > 0 && !warning;)
        if (str_eq(json_str(d->event[i].o, "type", ""), "Warning"))
            warning = &d->event[i];
    dx_found(d, "cannot-tell", 0, SURE_NOT, _("What is known of %s does not show why it is %s."),
             d->name,
             d->c.waiting[0] ? d->c.waiting
             : d->phase[0]   ? d->phase
                             : _("as it is"));
    if (d->c.waiting[0])
        dx_cite(d, "%s.state.waiting.reason", d->c.at);
    if (d->c.message[0])
        dx_cite(d, "%s.state.waiting.message", d->c.at);
    if (d->c.ended)
        dx_cite(d, "%s.exitCode", d->c.ended_at);
    dx_cite(d, "status.phase");
    dx_cite(d, "status.reason");
    dx_cite(d, "status.message");
    dx_cite_event(d, warning);
    dx_cite_log(d, dx_log_last(d));
    dx_fix(d, "%s", _("Read its events and its log from the beginning; the first error counts."));
    if (d->job)
        dx_command(d, "kubectl -n %s describe job/%s", d->ns, d->name);
    else if (d->c.ended && !d->c.ended_now)
        dx_command(d, "kubectl -n %s logs %s -c %s --previous", d->ns, d->name, d->c.name);
    else
        dx_command(d, "kubectl -n %s describe pod/%s", d->ns, d->name);
}

static void lead(struct explanation *e)
{
    for (size_t i = 1; i < e->n; i++) /* stable, and short */
        for (size_t k = i; k > 0 && e->v[k].weight > e->v[k - 1].weight; k--) {
            struct finding f = e->v[k];
            e->v[k] = e->v[k - 1];
            e->v[k - 1] = f;
        }
}

/* What an exit code alone says is no news beside a cause that explains it. */
static void drop_general(struct explanation *e)
{
    size_t kept = 1;
    for (size_t i = 1; i < e->n && e->v[0].weight > W_EXIT; i++)
        if (e->v[i].weight <= W_HINT || e->v[i].weight > W_EXIT)
            e->v[kept++] = e->v[i];
    if (e->v[0].weight > W_EXIT)
        e->n = kept;
}

struct explanation *explain(const struct snapshot *s)
{
    struct explanation *e = xcalloc(1, sizeof *e);
    struct dx d;
    arena_init(&e->arena, 16 << 20);
    dx_open(&d, s, e);
    e->kind = d.job ? "Job" : "Pod";
    e->ns = arena_strdup(&e->arena, d.ns);
    e->name = arena_strdup(&e->arena, d.name);
    if (d.job)
        dx_job(&d);
    else
        for (size_t i = 0; i < ARRAY_LEN(rules); i++)
            rules[i](&d);
    if (e->n == 0)
        cannot_tell(&d);
    lead(e);
    if (!d.job)
        drop_general(e);
    dx_close(&d);
    return e;
}

void explanation_free(struct explanation *e)
{
    if (!e)
        return;
    arena_release(&e->arena);
    free(e->v);
    free(e);
}

bool explanation_wrong(const struct explanation *e)
{
    return !str_eq(e->v[0].cause, "none") && e->v[0].sure != SURE_NOT;
}

const char *explain_short(const struct snapshot *s, char *buf, size_t size)
{
    struct explanation *e = explain(s);
    str_copy(buf, size, explanation_wrong(e) ? e->v[0].text : "");
    explanation_free(e);
    return buf;
}
