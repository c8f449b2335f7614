/* builder_from.c - the base of an image: nothing, a layout, or a reference that
 * podium's store has or a registry gives. Its blobs are brought into the
 * output layout, its names into the tree. */
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "core/base/i18n.h"
#include "core/base/mem.h"
#include "k8s/image/builder_priv.h"

static void pull_progress(void *arg, const char *digest, int64_t done, int64_t total)
{
    struct build *b = arg;
    struct builder_event e = {.kind = BUILD_PULL, .digest = digest, .done = done, .bytes = total};
    if (b->spec->event)
        b->spec->event(b->spec->arg, &e);
}

/* From the store when it is there, else from the registry into the store. */
static enum pd_code resolve_ref(struct build *b, const char *text, struct image_place *p,
                                struct image_desc *d)
{
    struct pd_err missing;
    if (layout_find(p->layout, p->tag, d, &missing) == PD_OK)
        return PD_OK;
    struct image_ref ref;
    struct registry_progress progress = {pull_progress, b};
    b->cached = false;
    enum pd_code rc = ref_parse(text, &ref, b->err);
    if (rc == PD_OK)
        rc = registry_client_pull(p->layout, &ref, b->spec->auth, &progress, d, b->err);
    return rc == PD_OK ? layout_tag(p->layout, p->tag, d, b->err) : rc;
}

static enum pd_code copy_fd(struct build *b, int fd, const struct image_desc *d)
{
    struct layout_writer *w;
    struct image_desc out;
    enum { BLOCK = 1 << 17 };
    char *buf = xmalloc(BLOCK);
    enum pd_code rc = layout_writer_new(b->spec->out, &w, b->err);
    if (rc != PD_OK) {
        free(buf);
        return rc;
    }
    for (ssize_t n = 1; rc == PD_OK && n > 0;) {
        n = read(fd, buf, BLOCK);
        if (n > 0)
            rc = layout_writer_write(w, buf, (size_t)n, b->err);
        else if (n < 0 && errno == EINTR)
            n = 1;
        else if (n < 0)
            rc = pd_fail_errno(b->err, PD_IO, _("can't read blob %s"), d->digest);
    }
    free(buf);
    if (rc == PD_OK)
        return layout_writer_commit(w, d->digest, d->size, &out, b->err);
    layout_writer_abort(w);
    return rc;
}

static enum pd_code bring(struct build *b, const struct layout *from, const struct image_desc *d)
{
    if (layout_has(b->spec->out, d->digest, d->size))
        return PD_OK;
    char *path = layout_blob_path(from, d->digest);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    enum pd_code rc;
    if (fd < 0) {
        rc = pd_fail_errno(b->err, PD_IMAGE, _("the base image lacks its layer %s"), d->digest);
    } else {
        rc = copy_fd(b, fd, d);
        close(fd);
    }
    free(path);
    return rc;
}

static enum pd_code use_image(struct build *b, const struct layout *from, const struct image *im)
{
    enum pd_code rc = PD_OK;
    for (size_t i = 0; i < im->n && rc == PD_OK; i++) {
        rc = bring(b, from, &im->layers[i].desc);
        if (rc == PD_OK)
            rc = tree_add_layer(b->now.tree, b->spec->out, &im->layers[i], b->err);
    }
    if (rc == PD_OK)
        builder_config_base(b, im);
    return rc;
}

/* "oci:DIR" with a relative DIR stands beside the context's files. */
static char *place_text(const struct build *b, const char *name)
{
    if (!str_starts(name, "oci:") || name[4] == '/')
        return xstrdup(name);
    return xasprintf("oci:%s/%s", context_dir(b->ctx), name + 4);
}

enum pd_code builder_from_image(struct build *b, const char *name, struct image_place *p,
                                struct image **out)
{
    struct image_desc d;
    char *text = place_text(b, name);
    enum pd_code rc = image_place_open(text, b->spec->store_dir, !str_starts(name, "oci:"), p,
                                       b->err);
    if (rc == PD_OK && str_starts(name, "oci:"))
        rc = layout_find(p->layout, p->tag, &d, b->err);
    else if (rc == PD_OK)
        rc = resolve_ref(b, name, p, &d);
    if (rc == PD_OK)
        rc = image_load(p->layout, &d, out, b->err);
    free(text);
    return rc;
}

static enum pd_code use_base(struct build *b, const char *name)
{
    struct image_place p = {0};
    struct image *im = NULL;
    enum pd_code rc = builder_from_image(b, name, &p, &im);
    if (rc == PD_OK)
        rc = use_image(b, p.layout, im);
    image_free(im);
    image_place_release(&p);
    return rc;
}

static void use_stage(struct build *b, const struct build_stage *st)
{
    json_free(b->now.root);
    json_free(b->now.layers);
    tree_free(b->now.tree);
    b->now.root = json_copy(st->root);
    b->now.layers = json_copy(st->layers);
    b->now.tree = tree_copy(st->tree);
    b->config = json_get_mut(b->now.root, "config");
    for (size_t i = 0; i < st->args.n; i++)
        strv_push(&b->now.args, st->args.v[i]);
}

/* One trigger of the base's ONBUILD, as if it stood behind FROM. */
static enum pd_code run_trigger(struct build *b, const char *text, const struct df_word *w)
{
    struct dockerfile *d = NULL, *own = b->df;
    char *name = xasprintf(_("ONBUILD of %s"), w->text);
    enum pd_code rc = dockerfile_parse(name, text, strlen(text), &d, b->err);
    b->df = rc == PD_OK ? d : own;
    for (size_t i = 0; rc == PD_OK && i < d->n; i++) {
        struct df_plan p = {.v = &(struct df_stage){.end = d->n, .needed = true}, .n = 1};
        rc = dockerfile_refuse(d, &p, b->err);
        if (rc == PD_OK && (d->v[i].op == DF_FROM || d->v[i].op == DF_ONBUILD))
            rc = pd_fail_at(b->err, PD_IMAGE, name, 1, 1, _("%s can't stand behind ONBUILD"),
                            dockerfile_op_name(d->v[i].op));
        if (rc == PD_OK)
            rc = builder_run(b, &d->v[i]);
    }
    b->df = own;
    dockerfile_free(d);
    free(name);
    return rc;
}

static enum pd_code run_triggers(struct build *b, const struct df_word *w)
{
    struct json *list = json_detach(b->config, "OnBuild");
    enum pd_code rc = PD_OK;
    for (const struct json *t = json_first(list); t && rc == PD_OK; t = json_next(t))
        if (json_string_value(t))
            rc = run_trigger(b, json_string_value(t), w);
    json_free(list);
    return rc;
}

enum pd_code builder_from(struct build *b, const struct df_instr *in)
{
    const struct df_stage *st = &b->plan.v[b->stage];
    enum pd_code rc = PD_OK;
    b->cached = true;                     /* unless something is pulled */
    if (st->parent >= 0)
        use_stage(b, &b->done[st->parent]);
    else if (!str_eq(st->base, "scratch"))
        rc = builder_placed(b, &in->words[0], use_base(b, st->base));
    bool cached = b->cached;
    if (rc == PD_OK)
        rc = run_triggers(b, &in->words[0]);
    b->cached = cached && st->parent < 0 && !str_eq(st->base, "scratch");
    return rc;
}
