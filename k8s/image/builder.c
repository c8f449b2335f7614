/* builder.c - podium's own builder: reads the Dockerfile, walks its
 * instructions, writes config and manifest. And the list of builders. */
#include "k8s/image/builder.h"

#include "core/base/clock.h"
#include "core/base/i18n.h"
#include "core/base/mem.h"
#include "core/base/path.h"
#include "k8s/image/builder_priv.h"

static enum pd_code read_epoch(struct build *b)
{
    const char *text = builder_vars_get(&b->spec->build_args, "SOURCE_DATE_EPOCH");
    int64_t t = 0;
    if (!text)
        text = getenv("SOURCE_DATE_EPOCH");
    if (text && *text && (!str_to_i64(text, &t) || t < 0 || t > 253402300799)) {
        pd_fail(b->err, PD_USAGE, _("SOURCE_DATE_EPOCH is \"%s\", no time in seconds"), text);
        return pd_set_hint(b->err, _("unset it, or set it to seconds since 1970"));
    }
    b->epoch = t;
    clock_rfc3339(t * 1000000, 0, b->created);
    return PD_OK;
}

static enum pd_code read_dockerfile(struct build *b, const char *path)
{
    struct str text;
    str_init(&text, 2 << 20);
    enum pd_code rc = path_read(path, 2 << 20, &text, b->err);
    if (rc == PD_OK)
        rc = dockerfile_parse(path, text.p, text.len, &b->df, b->err);
    else
        pd_set_hint(b->err, _("name the Dockerfile with -f"));
    str_release(&text);
    return rc == PD_OK ? dockerfile_check(b->df, b->err) : rc;
}

enum pd_code builder_placed(struct build *b, const struct df_word *w, enum pd_code rc)
{
    if (rc != PD_OK && b->err->line == 0) {
        str_copy(b->err->src, sizeof b->err->src, b->df->name);
        b->err->line = w->line;
        b->err->col = w->col;
    }
    return rc;
}

enum pd_code builder_run(struct build *b, const struct df_instr *in)
{
    enum pd_code rc;
    if (in->op == DF_FROM)
        return builder_from(b, in);
    if (in->op == DF_COPY || in->op == DF_ADD)
        return builder_copy(b, in);
    if (in->op == DF_WORKDIR)
        return builder_copy_workdir(b, in);
    if (in->op == DF_ARG)
        rc = builder_vars_arg(b, in);
    else
        rc = builder_config_apply(b, in);
    if (rc == PD_OK && b->stage >= 0)
        builder_config_history(b, in->text, true);
    return rc;
}

static void tell(const struct build *b, const struct builder_event *e)
{
    if (b->spec->event)
        b->spec->event(b->spec->arg, e);
}

/* One instruction with what is said before and after it. */
static enum pd_code step(struct build *b, size_t i)
{
    int64_t begun = clock_ms();
    struct builder_event e = {.kind = BUILD_INSTRUCTION, .n = (int)i + 1,
                              .total = (int)b->df->n, .text = b->df->v[i].text};
    tell(b, &e);
    b->cached = false;
    enum pd_code rc = builder_run(b, &b->df->v[i]);
    e.kind = BUILD_STEP;
    e.cached = b->cached;
    e.ms = clock_ms() - begun;
    if (rc == PD_OK)
        tell(b, &e);
    return rc;
}

static void free_stage(struct build_stage *st)
{
    json_free(st->root);
    json_free(st->layers);
    tree_free(st->tree);
    strv_release(&st->args);
    memset(st, 0, sizeof *st);
}

static enum pd_code run_stage(struct build *b, int stage)
{
    enum pd_code rc = PD_OK;
    b->stage = stage;
    b->cmd_set = false;
    memset(&b->now, 0, sizeof b->now);
    strv_init(&b->now.args);
    b->now.tree = tree_new();
    builder_config_init(b);
    for (size_t i = b->plan.v[stage].from; i < b->plan.v[stage].end && rc == PD_OK; i++)
        rc = step(b, i);
    b->done[stage] = b->now;
    return rc;
}

static enum pd_code run_all(struct build *b, struct image_desc *out)
{
    enum pd_code rc = builder_vars_check(b);
    size_t globals = 0;
    b->stage = -1;
    for (; globals < b->df->n && b->df->v[globals].op == DF_ARG && rc == PD_OK; globals++)
        rc = builder_vars_arg(b, &b->df->v[globals]);
    if (rc == PD_OK)
        rc = dockerfile_plan(b->df, b->spec->target, builder_vars_global, b, &b->plan, b->err);
    if (rc != PD_OK)
        return rc;
    struct builder_event e = {.kind = BUILD_PLAN, .df = b->df, .plan = &b->plan,
                              .total = (int)b->df->n};
    tell(b, &e);
    rc = dockerfile_refuse(b->df, &b->plan, b->err);
    for (size_t i = 0; i < globals && rc == PD_OK; i++) {
        e = (struct builder_event){.kind = BUILD_INSTRUCTION, .n = (int)i + 1,
                                   .total = (int)b->df->n, .text = b->df->v[i].text};
        tell(b, &e);
        e.kind = BUILD_STEP;
        tell(b, &e);
    }
    b->done = xcalloc(b->plan.n, sizeof *b->done);
    for (size_t i = 0; i < b->plan.n && rc == PD_OK; i++)
        if (b->plan.v[i].needed)
            rc = run_stage(b, (int)i);
    return rc == PD_OK ? builder_config_finish(b, &b->done[b->plan.target], out) : rc;
}

static enum pd_code build(const struct builder_spec *spec, struct image_desc *out,
                          struct pd_err *err)
{
    struct build b = {.spec = spec, .err = err};
    char *path = spec->dockerfile ? xstrdup(spec->dockerfile)
                                  : path_join(spec->context, "Dockerfile");
    err->line = 0;
    strv_init(&b.globals);
    enum pd_code rc = read_epoch(&b);
    if (rc == PD_OK)
        rc = read_dockerfile(&b, path);
    if (rc == PD_OK)
        rc = context_open(spec->context, path, &b.ctx, err);
    if (rc == PD_OK)
        rc = run_all(&b, out);
    for (size_t i = 0; b.done && i < b.plan.n; i++)
        free_stage(&b.done[i]);
    free(b.done);
    builder_root_release(&b);
    dockerfile_plan_release(&b.plan);
    context_close(b.ctx);
    dockerfile_free(b.df);
    strv_release(&b.globals);
    free(path);
    return rc;
}

static bool always(void)
{
    return true;
}

const struct builder_ops builder_own = {
    .name = "podium",
    .about = N_("podium's own: every instruction but RUN and SHELL; no root, no daemon"),
    .available = always,
    .build = build,
};

const struct builder_ops *builder_find(const char *name)
{
    static const struct builder_ops *const all[] = {&builder_own};
    for (size_t i = 0; i < ARRAY_LEN(all); i++)
        if (name ? str_eq(name, all[i]->name) : all[i]->available())
            return all[i];
    return NULL;
}
