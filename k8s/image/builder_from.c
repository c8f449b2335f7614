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
            rc = tree_add_layer(b->tree, b->spec->out, &im->layers[i], b->err);
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

static enum pd_code use_base(struct build *b, const char *name)
{
    struct image_place p = {0};
    struct image_desc d;
    struct image *im = NULL;
    char *text = place_text(b, name);
    enum pd_code rc = image_place_open(text, b->spec->store_dir, false, &p, b->err);
    if (rc == PD_OK && str_starts(name, "oci:"))
        rc = layout_find(p.layout, p.tag, &d, b->err);
    else if (rc == PD_OK)
        rc = resolve_ref(b, name, &p, &d);
    if (rc == PD_OK)
        rc = image_load(p.layout, &d, &im, b->err);
    if (rc == PD_OK)
        rc = use_image(b, p.layout, im);
    image_free(im);
    image_place_release(&p);
    free(text);
    return rc;
}

/* An error inside a base gets the place of its FROM. */
static void add_place(struct build *b, const struct df_word *w)
{
    if (b->err->line > 0)
        return;
    str_copy(b->err->src, sizeof b->err->src, b->df->name);
    b->err->line = w->line;
    b->err->col = w->col;
}

enum pd_code builder_from(struct build *b, const struct df_instr *in)
{
    struct str name;
    const struct df_word *w = &in->words[0];
    str_init(&name, REF_TEXT_MAX);
    enum pd_code rc = dockerfile_expand(b->df, w, builder_vars_global, b, &name, b->err);
    if (rc == PD_OK && name.len == 0) {
        pd_fail_at(b->err, PD_PARSE, b->df->name, w->line, w->col,
                   _("the base's name %s is empty"), w->text);
        rc = pd_set_hint(b->err, _("give the variable a value: ARG before FROM, or --build-arg"));
    } else if (rc == PD_OK && !str_eq(name.p, "scratch")) {
        rc = use_base(b, name.p);
        if (rc != PD_OK)
            add_place(b, w);
    }
    b->in_stage = true;
    str_release(&name);
    return rc;
}
