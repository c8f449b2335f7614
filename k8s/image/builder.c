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

static enum pd_code run_one(struct build *b, const struct df_instr *in)
{
    enum pd_code rc;
    if (in->op == DF_FROM)
        return builder_from(b, in);
    if (in->op == DF_COPY)
        return builder_copy(b, in);
    if (in->op == DF_WORKDIR)
        return builder_copy_workdir(b, in);
    if (in->op == DF_ARG)
        rc = builder_vars_arg(b, in);
    else
        rc = builder_config_apply(b, in);
    if (rc == PD_OK && b->in_stage)
        builder_config_history(b, in->text, true);
    return rc;
}

static enum pd_code run_all(struct build *b, struct image_desc *out)
{
    enum pd_code rc = builder_vars_check(b);
    for (size_t i = 0; i < b->df->n && rc == PD_OK; i++) {
        struct builder_event e = {.kind = BUILD_INSTRUCTION, .n = (int)i + 1,
                                  .total = (int)b->df->n, .text = b->df->v[i].text};
        if (b->spec->event)
            b->spec->event(b->spec->arg, &e);
        rc = run_one(b, &b->df->v[i]);
    }
    return rc == PD_OK ? builder_config_finish(b, out) : rc;
}

static enum pd_code build(const struct builder_spec *spec, struct image_desc *out,
                          struct pd_err *err)
{
    struct build b = {.spec = spec, .err = err};
    char *path = spec->dockerfile ? xstrdup(spec->dockerfile)
                                  : path_join(spec->context, "Dockerfile");
    strv_init(&b.args);
    strv_init(&b.globals);
    b.tree = tree_new();
    enum pd_code rc = read_epoch(&b);
    if (rc == PD_OK)
        rc = read_dockerfile(&b, path);
    if (rc == PD_OK)
        rc = context_open(spec->context, path, &b.ctx, err);
    if (rc == PD_OK) {
        builder_config_init(&b);
        rc = run_all(&b, out);
    }
    json_free(b.root);
    json_free(b.layers);
    context_close(b.ctx);
    dockerfile_free(b.df);
    tree_free(b.tree);
    strv_release(&b.args);
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
    .about = N_("podium's own: FROM, COPY and the image's settings; no root, no daemon"),
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
