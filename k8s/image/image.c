/* image.c - manifest, config and layers of an image, checked against each
 * other. */
#include "k8s/image/image.h"

#include "core/base/i18n.h"
#include "core/base/mem.h"
#include "core/base/path.h"
#include "k8s/image/ref.h"

enum { IMAGE_MAX_LAYERS = 512 };

static bool one_of(const char *s, const char *const *list, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (str_eq(s, list[i]))
            return true;
    return false;
}

bool image_is_index(const char *mt)
{
    static const char *const types[] = {MT_OCI_INDEX, MT_DOCKER_LIST};
    return one_of(mt, types, ARRAY_LEN(types));
}

bool image_is_manifest(const char *mt)
{
    static const char *const types[] = {MT_OCI_MANIFEST, MT_DOCKER_MANIFEST};
    return one_of(mt, types, ARRAY_LEN(types));
}

bool image_is_layer(const char *mt)
{
    static const char *const types[] = {
        MT_OCI_LAYER, MT_OCI_LAYER_GZIP, MT_OCI_LAYER_ZSTD, MT_DOCKER_LAYER_GZIP,
        "application/vnd.docker.image.rootfs.diff.tar",
        "application/vnd.docker.image.rootfs.diff.tar.zstd",
    };
    return one_of(mt, types, ARRAY_LEN(types));
}

enum pd_code image_desc_read(const struct json *j, struct image_desc *out, struct pd_err *err)
{
    const char *digest = json_str(j, "digest", ""), *mt = json_str(j, "mediaType", "");
    double size = json_num(j, "size", -1);
    if (!ref_digest_valid(digest) || !str_starts(digest, "sha256:"))
        return pd_fail(err, PD_IMAGE, _("a descriptor has no sha256 digest but \"%.100s\""),
                       digest);
    if (!(size >= 0 && size < 9e15))
        return pd_fail(err, PD_IMAGE, _("the descriptor of %s has no size"), digest);
    if (strlen(mt) >= sizeof out->media_type)
        return pd_fail(err, PD_IMAGE, _("the media type of %s is too long"), digest);
    str_copy(out->media_type, sizeof out->media_type, mt);
    str_copy(out->digest, sizeof out->digest, digest);
    out->size = (int64_t)size;
    return PD_OK;
}

enum pd_code image_choose(const struct json *index, struct image_desc *out, struct pd_err *err)
{
    struct str has;
    str_init(&has, 200);
    const struct json *found = NULL, *only = NULL, *list = json_get(index, "manifests");
    for (const struct json *e = json_first(list); e && !found; e = json_next(e)) {
        const char *os = json_str(e, "platform.os", "");
        const char *arch = json_str(e, "platform.architecture", "");
        if (!*os && !*arch)
            only = json_count(list) == 1 ? e : NULL;
        if (str_eq(os, "linux") && str_eq(arch, "amd64"))
            found = e;
        else if (!str_eq(os, "unknown"))
            str_printf(&has, "%s%s/%s", has.len ? ", " : "", os, arch);
    }
    found = found ? found : only;
    enum pd_code rc;
    if (found)
        rc = image_desc_read(found, out, err);
    else
        rc = pd_fail(err, PD_IMAGE, _("the image has no version for linux/amd64, only: %s"),
                     has.len ? has.p : _("none"));
    str_release(&has);
    return rc;
}

static enum pd_code read_json(const struct layout *l, const struct image_desc *d,
                              struct json **out, struct pd_err *err)
{
    struct str text;
    str_init(&text, LAYOUT_META_CEILING);
    enum pd_code rc = layout_read(l, d->digest, LAYOUT_META_CEILING, &text, err);
    if (rc == PD_OK)
        rc = json_parse(text.p, text.len, out, err);
    str_release(&text);
    return rc;
}

static enum pd_code read_layers(struct image *im, struct pd_err *err)
{
    const struct json *layers = json_get(im->manifest_json, "layers");
    const struct json *ids = json_at(im->config_json, "rootfs.diff_ids");
    im->n = json_count(layers);
    if (im->n != json_count(ids))
        return pd_fail(err, PD_IMAGE, _("the manifest has %zu layers, the config %zu diff_ids"),
                       im->n, json_count(ids));
    if (im->n > IMAGE_MAX_LAYERS)
        return pd_fail(err, PD_IMAGE, _("the image has %zu layers, more than %d"), im->n,
                       IMAGE_MAX_LAYERS);
    im->layers = xcalloc(im->n + 1, sizeof *im->layers);
    im->bytes = im->config.size;
    for (size_t i = 0; i < im->n; i++) {
        enum pd_code rc = image_desc_read(json_item(layers, (int)i), &im->layers[i].desc, err);
        const char *id = json_string_value(json_item(ids, (int)i));
        if (rc != PD_OK)
            return rc;
        if (!image_is_layer(im->layers[i].desc.media_type))
            return pd_fail(err, PD_IMAGE, _("layer %zu has the media type %s: no file system"),
                           i + 1, im->layers[i].desc.media_type);
        if (!id || !ref_digest_valid(id) || strlen(id) >= DIGEST_SIZE)
            return pd_fail(err, PD_IMAGE, _("diff_id %zu of the config is no digest"), i + 1);
        str_copy(im->layers[i].diff_id, DIGEST_SIZE, id);
        im->bytes += im->layers[i].desc.size;
    }
    return PD_OK;
}

static enum pd_code load(const struct layout *l, struct image *im, struct pd_err *err)
{
    enum pd_code rc = read_json(l, &im->manifest, &im->manifest_json, err);
    for (int depth = 0; rc == PD_OK && depth < 4; depth++) {
        const char *mt = json_str(im->manifest_json, "mediaType", im->manifest.media_type);
        if (!image_is_index(mt) && !json_has(im->manifest_json, "manifests"))
            break;
        if ((rc = image_choose(im->manifest_json, &im->manifest, err)) != PD_OK)
            return rc;
        json_free(im->manifest_json);
        im->manifest_json = NULL;
        rc = read_json(l, &im->manifest, &im->manifest_json, err);
    }
    if (rc != PD_OK)
        return rc;
    if (json_int(im->manifest_json, "schemaVersion", 0) != 2 ||
        !json_has(im->manifest_json, "config"))
        return pd_fail(err, PD_IMAGE, _("%s is no image manifest (schemaVersion 2)"),
                       im->manifest.digest);
    const char *mt = json_str(im->manifest_json, "mediaType", "");
    if (*mt)
        str_copy(im->manifest.media_type, sizeof im->manifest.media_type, mt);
    rc = image_desc_read(json_get(im->manifest_json, "config"), &im->config, err);
    if (rc == PD_OK)
        rc = read_json(l, &im->config, &im->config_json, err);
    return rc == PD_OK ? read_layers(im, err) : rc;
}

enum pd_code image_load(const struct layout *l, const struct image_desc *d, struct image **out,
                        struct pd_err *err)
{
    struct image *im = xcalloc(1, sizeof *im);
    im->manifest = *d;
    enum pd_code rc = load(l, im, err);
    if (rc == PD_OK)
        *out = im;
    else
        image_free(im);
    return rc;
}

void image_free(struct image *im)
{
    if (!im)
        return;
    json_free(im->manifest_json);
    json_free(im->config_json);
    free(im->layers);
    free(im);
}

static void copy_list(const struct json *list, struct strv *out)
{
    strv_init(out);
    for (const struct json *e = json_first(list); e; e = json_next(e))
        if (json_string_value(e))
            strv_push(out, json_string_value(e));
}

void image_run_init(const struct image *im, struct image_run *out)
{
    copy_list(json_at(im->config_json, "config.Entrypoint"), &out->entrypoint);
    copy_list(json_at(im->config_json, "config.Cmd"), &out->cmd);
    copy_list(json_at(im->config_json, "config.Env"), &out->env);
    out->workdir = xstrdup(json_str(im->config_json, "config.WorkingDir", ""));
    out->user = xstrdup(json_str(im->config_json, "config.User", ""));
}

void image_run_release(struct image_run *r)
{
    strv_release(&r->entrypoint);
    strv_release(&r->cmd);
    strv_release(&r->env);
    free(r->workdir);
    free(r->user);
}

enum pd_code image_place_open(const char *text, const char *store_dir, bool create,
                              struct image_place *out, struct pd_err *err)
{
    struct image_place p = {0};
    char *dir;
    if (str_starts(text, "oci:")) {
        const char *path = text + 4, *colon = strchr(path, ':');
        dir = xstrndup(path, colon ? (size_t)(colon - path) : strlen(path));
        p.tag = xstrdup(colon ? colon + 1 : "");
        if (!*dir) {
            free(dir);
            free(p.tag);
            return pd_fail(err, PD_USAGE, _("\"%s\" names no folder: write oci:DIR[:TAG]"), text);
        }
    } else {
        struct image_ref ref;
        char full[REF_TEXT_MAX];
        enum pd_code rc = ref_parse(text, &ref, err);
        if (rc != PD_OK)
            return rc;
        p.tag = xstrdup(ref_format(&ref, full));
        dir = store_dir ? xstrdup(store_dir) : layout_default_dir();
        create = true;                    /* podium's own store is always there */
    }
    enum pd_code rc = layout_open(dir, create, &p.layout, err);
    free(dir);
    if (rc != PD_OK) {
        free(p.tag);
        return rc;
    }
    *out = p;
    return PD_OK;
}

void image_place_release(struct image_place *p)
{
    layout_close(p->layout);
    free(p->tag);
    p->layout = NULL;
    p->tag = NULL;
}
