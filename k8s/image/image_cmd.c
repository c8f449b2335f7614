/* image_cmd.c - podium image build, push, pull, unpack, inspect, lint, explain. */
#include "k8s/image/image_cmd.h"

#include <unistd.h>

#include "core/base/i18n.h"
#include "core/base/mem.h"
#include "k8s/image/image_cmd_priv.h"
#include "k8s/image/lint_cmd.h"

/* The image `d` of a layout, reported as done. */
static enum pd_code report_done(struct image_options *o, const struct layout *l,
                                const struct image_desc *d, const char *ref, int64_t bytes,
                                struct pd_err *err)
{
    struct image *im = NULL;
    enum pd_code rc = image_load(l, d, &im, err);
    if (rc == PD_OK)
        image_report_done(&o->report, ref, im->manifest.digest, bytes < 0 ? im->bytes : bytes, im);
    image_free(im);
    return rc;
}

static enum pd_code push_to(struct image_options *o, const struct layout *l,
                            const struct image_desc *d, const char *mount_from,
                            const struct image_ref *ref, struct pd_err *err)
{
    struct image_desc out;
    struct registry_progress p = {image_report_push, &o->report};
    return registry_client_push(l, d, ref, mount_from, &o->auth, &p, &out, err);
}

/* --- build -------------------------------------------------------------------- */

static enum pd_code check_tags(const struct image_options *o, struct pd_err *err)
{
    struct image_ref ref;
    enum pd_code rc = PD_OK;
    for (size_t i = 0; i < o->tags.n && rc == PD_OK; i++) {
        rc = ref_parse(o->tags.v[i], &ref, err);
        if (rc == PD_OK && ref.digest[0])
            rc = pd_fail(err, PD_USAGE, _("a built image gets a tag, not a digest: %s"),
                         o->tags.v[i]);
    }
    if (rc == PD_OK && o->push && o->tags.n == 0)
        rc = pd_fail(err, PD_USAGE, _("--push needs a --tag: where to?"));
    return rc;
}

static enum pd_code tag_and_push(struct image_options *o, struct layout *l,
                                 const struct image_desc *d, struct pd_err *err)
{
    enum pd_code rc = PD_OK;
    for (size_t i = 0; i < o->tags.n && rc == PD_OK; i++) {
        struct image_ref ref;
        char full[REF_TEXT_MAX];
        rc = ref_parse(o->tags.v[i], &ref, err);
        if (rc == PD_OK)
            rc = layout_tag(l, ref_format(&ref, full), d, err);
        if (rc == PD_OK && o->push)
            rc = push_to(o, l, d, NULL, &ref, err);
    }
    return rc;
}

static enum pd_code build_into(struct image_options *o, struct image_place *place,
                               const struct builder_ops *ops, struct pd_err *err)
{
    struct builder_spec spec = {
        .context = o->words.v[0], .dockerfile = o->file, .build_args = o->build_args,
        .out = place->layout, .store_dir = o->store, .auth = &o->auth, .no_cache = o->no_cache,
        .event = image_report_build, .arg = &o->report};
    struct image_desc d;
    spec.target = o->target;
    lint_cmd_at_build(o->words.v[0], o->file, o->target, o->json);
    enum pd_code rc = ops->build(&spec, &d, err);
    if (rc == PD_OK && place->tag && *place->tag)
        rc = layout_tag(place->layout, place->tag, &d, err);
    if (rc == PD_OK)
        rc = tag_and_push(o, place->layout, &d, err);
    if (rc != PD_OK)
        return rc;
    const char *shown = o->tags.n ? o->tags.v[0] : place->tag ? place->tag : "";
    return report_done(o, place->layout, &d, shown, -1, err);
}

static enum pd_code build(struct image_options *o, struct pd_err *err)
{
    struct image_place place = {0};
    const struct builder_ops *ops = builder_find(o->builder);
    if (!ops)
        return pd_fail(err, PD_USAGE, _("there is no builder \"%s\""), o->builder);
    enum pd_code rc = check_tags(o, err);
    if (rc != PD_OK)
        return rc;
    if (o->output && !str_starts(o->output, "oci:"))
        return pd_fail(err, PD_USAGE, _("--output takes oci:DIR[:TAG], not %s"), o->output);
    if (o->output) {
        rc = image_place_open(o->output, o->store, true, &place, err);
    } else {
        char *dir = o->store ? xstrdup(o->store) : layout_default_dir();
        rc = layout_open(dir, true, &place.layout, err);
        free(dir);
    }
    if (rc == PD_OK)
        rc = build_into(o, &place, ops, err);
    image_place_release(&place);
    return rc;
}

/* --- push and pull --------------------------------------------------------------- */

/* A repository of the same registry that has the blobs already: the source's. */
static const char *mount_source(const char *image, const struct image_ref *to,
                                struct image_ref *buf)
{
    struct pd_err ignored;
    if (str_starts(image, "oci:") || ref_parse(image, buf, &ignored) != PD_OK)
        return NULL;
    return str_eq(buf->registry, to->registry) && !str_eq(buf->repository, to->repository)
               ? buf->repository : NULL;
}

static enum pd_code push(struct image_options *o, struct pd_err *err)
{
    const char *image = o->words.v[0], *to = o->words.v[o->words.n - 1];
    struct image_place place = {0};
    struct image_ref ref, from;
    struct image_desc d;
    char full[REF_TEXT_MAX];
    enum pd_code rc = ref_parse(to, &ref, err);
    if (rc == PD_OK)
        rc = image_place_open(image, o->store, false, &place, err);
    if (rc == PD_OK)
        rc = layout_find(place.layout, place.tag, &d, err);
    if (rc == PD_OK)
        rc = push_to(o, place.layout, &d, mount_source(image, &ref, &from), &ref, err);
    if (rc == PD_OK)
        rc = report_done(o, place.layout, &d, ref_format(&ref, full), -1, err);
    image_place_release(&place);
    return rc;
}

static enum pd_code pull(struct image_options *o, struct pd_err *err)
{
    struct image_place place = {0};
    struct image_ref ref;
    struct image_desc d;
    char full[REF_TEXT_MAX];
    struct registry_progress p = {image_report_pull, &o->report};
    enum pd_code rc = ref_parse(o->words.v[0], &ref, err);
    if (rc == PD_OK)
        rc = image_place_open(o->words.v[o->words.n - 1], o->store, true, &place, err);
    if (rc == PD_OK)
        rc = registry_client_pull(place.layout, &ref, &o->auth, &p, &d, err);
    if (rc == PD_OK)
        rc = layout_tag(place.layout, *place.tag ? place.tag : ref_target(&ref), &d, err);
    if (rc == PD_OK)
        rc = report_done(o, place.layout, &d, ref_format(&ref, full), -1, err);
    image_place_release(&place);
    return rc;
}

/* --- unpack and inspect ------------------------------------------------------------ */

static enum pd_code unpack(struct image_options *o, struct pd_err *err)
{
    struct image_place place = {0};
    struct image_desc d;
    struct image *im = NULL;
    struct unpack_stats stats = {0};
    struct unpack_options opt = {.keep_owner = geteuid() == 0, .progress = image_report_unpack,
                                 .arg = &o->report};
    enum pd_code rc = image_place_open(o->words.v[0], o->store, false, &place, err);
    if (rc == PD_OK)
        rc = layout_find(place.layout, place.tag, &d, err);
    if (rc == PD_OK)
        rc = image_load(place.layout, &d, &im, err);
    if (rc == PD_OK)
        rc = unpack_image(place.layout, im, o->words.v[1], &opt, &stats, err);
    if (rc == PD_OK)
        image_report_done(&o->report, o->words.v[0], im->manifest.digest, stats.bytes, im);
    image_free(im);
    image_place_release(&place);
    return rc;
}

static struct json *inspect_json(const struct image *im)
{
    struct json *j = json_new_object(), *layers = json_new_array();
    json_put_str(j, "digest", im->manifest.digest);
    json_put_str(j, "mediaType", im->manifest.media_type);
    json_put_num(j, "bytes", (double)im->bytes);
    for (size_t i = 0; i < im->n; i++) {
        struct json *l = json_new_object();
        json_put_str(l, "digest", im->layers[i].desc.digest);
        json_put_str(l, "diff_id", im->layers[i].diff_id);
        json_put_str(l, "mediaType", im->layers[i].desc.media_type);
        json_put_num(l, "size", (double)im->layers[i].desc.size);
        json_append(layers, l);
    }
    json_set(j, "layers", layers);
    json_set(j, "config", json_copy(im->config_json));
    return j;
}

static enum pd_code inspect(struct image_options *o, struct pd_err *err)
{
    struct image_place place = {0};
    struct image_desc d;
    struct image *im = NULL;
    enum pd_code rc = image_place_open(o->words.v[0], o->store, false, &place, err);
    if (rc == PD_OK)
        rc = layout_find(place.layout, place.tag, &d, err);
    if (rc == PD_OK)
        rc = image_load(place.layout, &d, &im, err);
    if (rc == PD_OK) {
        struct json *j = inspect_json(im);
        char *text = json_text(j, o->json ? 0 : 2);
        puts(text);
        free(text);
        json_free(j);
    }
    image_free(im);
    image_place_release(&place);
    return rc;
}

static struct lint_options lint_options(const struct image_options *o)
{
    return (struct lint_options){.context = o->words.n ? o->words.v[0] : ".", .file = o->file,
                                 .error = o->error, .subuid = o->subuid, .target = o->target,
                                 .json = o->json};
}

static enum pd_code lint(struct image_options *o, struct pd_err *err)
{
    struct lint_options l = lint_options(o);
    size_t errors = 0;
    enum pd_code rc = lint_cmd(&l, &errors, err);
    o->findings = errors > 0;
    return rc;
}

static enum pd_code explain(struct image_options *o, struct pd_err *err)
{
    struct lint_options l = lint_options(o);
    return lint_cmd_explain(o->words.v[0], &l, err);
}

static const struct command {
    const char *name;
    size_t min, max;
    enum pd_code (*run)(struct image_options *o, struct pd_err *err);
} commands[] = {
    {"build", 1, 1, build}, {"push", 1, 2, push},       {"pull", 1, 2, pull},
    {"unpack", 2, 2, unpack}, {"inspect", 1, 1, inspect},
    {"lint", 0, 1, lint},   {"explain", 1, 1, explain},
};

static enum pd_code find_command(const char *name, const struct command **out, struct pd_err *err)
{
    const char *names[ARRAY_LEN(commands)];
    for (size_t i = 0; i < ARRAY_LEN(commands); i++) {
        names[i] = commands[i].name;
        if (str_eq(name, names[i])) {
            *out = &commands[i];
            return PD_OK;
        }
    }
    const char *near = str_nearest(name, names, ARRAY_LEN(commands));
    pd_fail(err, PD_USAGE, _("podium image has no command \"%s\""), name);
    return near ? pd_set_hint(err, _("did you mean %s?"), near) : err->code;
}

static enum pd_code run(int argc, char **argv, struct image_options *o, struct pd_err *err)
{
    const struct command *c = NULL;
    enum pd_code rc = image_options_parse(argc - 2, argv + 2, o, err);
    image_report_init(&o->report, o->json);
    if (rc != PD_OK)
        return rc;
    if (o->help) {
        image_options_usage(stdout);
        return PD_OK;
    }
    if ((rc = find_command(argv[1], &c, err)) != PD_OK)
        return rc;
    if (o->words.n < c->min || o->words.n > c->max) {
        pd_fail(err, PD_USAGE, _("podium image %s: wrong number of arguments"), c->name);
        return pd_set_hint(err, _("see podium image --help"));
    }
    rc = image_options_auth(o, err);
    return rc == PD_OK ? c->run(o, err) : rc;
}

int image_main(int argc, char **argv)
{
    struct image_options o;
    struct pd_err err = {0};
    if (argc < 2 || str_eq(argv[1], "--help") || str_eq(argv[1], "-h") ||
        str_eq(argv[1], "help")) {
        image_options_usage(argc < 2 ? stderr : stdout);
        return argc < 2 ? 2 : 0;
    }
    enum pd_code rc = run(argc, argv, &o, &err);
    if (rc != PD_OK)
        image_report_error(&o.report, &err);
    int findings = o.findings;
    image_options_release(&o);
    return rc == PD_OK ? findings : rc == PD_USAGE ? 2 : 1;
}
