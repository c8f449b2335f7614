/* dockerfile_plan.c - see dockerfile_plan.h. */
#include "k8s/image/dockerfile_plan.h"

#include "core/base/i18n.h"
#include "core/base/mem.h"

static enum pd_code expand_base(const struct dockerfile *d, const struct df_word *w,
                                dockerfile_lookup_fn *lookup, void *arg, char **out,
                                struct pd_err *err)
{
    struct str s;
    str_init(&s, 4096);
    enum pd_code rc = dockerfile_expand(d, w, lookup, arg, &s, err);
    if (rc == PD_OK && s.len == 0) {
        pd_fail_at(err, PD_PARSE, d->name, w->line, w->col, _("the base's name %s is empty"),
                   w->text);
        rc = pd_set_hint(err, _("give the variable a value: ARG before FROM, or --build-arg"));
    }
    if (rc == PD_OK)
        *out = str_take(&s);
    str_release(&s);
    return rc;
}

int dockerfile_plan_find(const struct df_plan *p, size_t before, const char *text)
{
    int64_t n;
    for (size_t i = MIN(before, p->n); i-- > 0;)
        if (*p->v[i].name && strcasecmp(p->v[i].name, text) == 0)
            return (int)i;
    if (str_to_i64(text, &n) && n >= 0 && (size_t)n < MIN(before, p->n))
        return (int)n;
    return -1;
}

int dockerfile_plan_at(const struct df_plan *p, size_t instr)
{
    for (size_t i = 0; i < p->n; i++)
        if (instr >= p->v[i].from && instr < p->v[i].end)
            return (int)i;
    return -1;
}

static enum pd_code add_stages(const struct dockerfile *d, dockerfile_lookup_fn *lookup, void *arg,
                               struct df_plan *p, struct pd_err *err)
{
    for (size_t i = 0; i < d->n; i++) {
        const struct df_instr *in = &d->v[i];
        if (in->op != DF_FROM)
            continue;
        if (p->n)
            p->v[p->n - 1].end = i;
        p->v = xrealloc_array(p->v, p->n + 1, sizeof *p->v);
        struct df_stage *st = &p->v[p->n];
        *st = (struct df_stage){.from = i, .end = d->n, .name = "", .parent = -1};
        enum pd_code rc = expand_base(d, &in->words[0], lookup, arg, &st->base, err);
        if (rc != PD_OK)
            return rc;
        st->parent = dockerfile_plan_find(p, p->n, st->base);
        int64_t number;
        if (str_to_i64(st->base, &number))
            st->parent = -1;              /* FROM takes names of stages only */
        st->name = in->nwords == 3 ? in->words[2].text : "";
        p->n++;
    }
    return PD_OK;
}

const char *dockerfile_plan_mount_from(const char *mount, char buf[256])
{
    for (const char *p = mount; p; p = strchr(p, ',')) {
        p += *p == ',';
        if (strncmp(p, "from=", 5) == 0)
            return str_fmt(buf, 256, "%.*s", (int)MIN(strcspn(p + 5, ","), (size_t)255), p + 5);
    }
    return NULL;
}

static void need(const struct dockerfile *d, struct df_plan *p, int stage)
{
    char buf[256];
    if (stage < 0 || p->v[stage].needed)
        return;
    p->v[stage].needed = true;
    need(d, p, p->v[stage].parent);
    for (size_t i = p->v[stage].from; i < p->v[stage].end; i++) {
        const struct df_instr *in = &d->v[i];
        const char *from = in->op == DF_COPY ? dockerfile_flag(in, "from") : NULL;
        if (from)
            need(d, p, dockerfile_plan_find(p, (size_t)stage, from));
        for (size_t f = 0; in->op == DF_RUN && f < in->nflags; f++) {
            const char *m = str_starts(in->flags[f].text, "--mount=")
                                ? dockerfile_plan_mount_from(in->flags[f].text + 8, buf) : NULL;
            if (m)
                need(d, p, dockerfile_plan_find(p, (size_t)stage, m));
        }
    }
}

static enum pd_code no_target(const struct dockerfile *d, const struct df_plan *p,
                              const char *target, struct pd_err *err)
{
    struct strv names;
    struct str list;
    strv_init(&names);
    str_init(&list, 180);
    for (size_t i = 0; i < p->n; i++)
        if (*p->v[i].name) {
            strv_push(&names, p->v[i].name);
            str_printf(&list, " %s", p->v[i].name);
        }
    const char *near = str_nearest(target, (const char *const *)names.v, names.n);
    pd_fail(err, PD_USAGE, _("%s has no stage \"%.80s\""), d->name, target);
    if (near)
        pd_set_hint(err, _("did you mean %s?"), near);
    else if (list.len)
        pd_set_hint(err, _("its stages:%s"), list.p);
    else
        pd_set_hint(err, _("no stage has a name: write FROM … AS NAME, or leave --target away"));
    str_release(&list);
    strv_release(&names);
    return err->code;
}

enum pd_code dockerfile_plan(const struct dockerfile *d, const char *target,
                             dockerfile_lookup_fn *lookup, void *arg, struct df_plan *out,
                             struct pd_err *err)
{
    memset(out, 0, sizeof *out);
    enum pd_code rc = add_stages(d, lookup, arg, out, err);
    if (rc == PD_OK && out->n == 0)
        rc = pd_fail_at(err, PD_PARSE, d->name, 1, 1, _("the Dockerfile has no FROM"));
    if (rc == PD_OK) {
        int t = target ? dockerfile_plan_find(out, out->n, target) : (int)out->n - 1;
        if (t < 0)
            rc = no_target(d, out, target, err);
        else
            out->target = (size_t)t;
        need(d, out, t);
    }
    if (rc != PD_OK)
        dockerfile_plan_release(out);
    return rc;
}

void dockerfile_plan_release(struct df_plan *p)
{
    for (size_t i = 0; i < p->n; i++)
        free(p->v[i].base);
    free(p->v);
    memset(p, 0, sizeof *p);
}
