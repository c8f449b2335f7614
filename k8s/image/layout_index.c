/* layout_index.c - the tags of an OCI image layout: index.json, read whole and
 * replaced whole under a lock. */
#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include "core/base/i18n.h"
#include "core/base/path.h"
#include "k8s/image/image.h"
#include "k8s/image/layout_priv.h"

#define ANNOTATION_TAG "annotations['org.opencontainers.image.ref.name']"
/* containerd writes the complete reference here, and the bare tag above */
#define ANNOTATION_NAME "annotations['io.containerd.image.name']"

enum pd_code layout_index(const struct layout *l, struct json **out, struct pd_err *err)
{
    char *path = path_join(l->dir, "index.json");
    struct json *j = NULL;
    enum pd_code rc = json_read_file(path, LAYOUT_META_CEILING, &j, err);
    if (rc == PD_OK && json_type(json_get(j, "manifests")) != JSON_ARRAY) {
        rc = pd_fail(err, PD_IMAGE, _("%s has no list \"manifests\""), path);
        json_free(j);
        j = NULL;
    }
    free(path);
    if (rc == PD_OK)
        *out = j;
    return rc;
}

static bool entry_has_tag(const struct json *entry, const char *tag)
{
    return str_eq(json_str(entry, ANNOTATION_TAG, NULL), tag) ||
           str_eq(json_str(entry, ANNOTATION_NAME, NULL), tag);
}

static enum pd_code not_found(const struct layout *l, const struct json *list, const char *tag,
                              struct pd_err *err)
{
    struct str names;
    str_init(&names, 160);
    for (const struct json *e = json_first(list); e; e = json_next(e)) {
        const char *name = json_str(e, ANNOTATION_TAG, json_str(e, ANNOTATION_NAME, NULL));
        if (name)
            str_printf(&names, "%s%s", names.len ? ", " : "", name);
    }
    if (json_count(list) == 0)
        pd_fail(err, PD_NOTFOUND, _("there is no image in %s"), l->dir);
    else if (tag && *tag)
        pd_fail(err, PD_NOTFOUND, _("there is no image \"%s\" in %s"), tag, l->dir);
    else
        pd_fail(err, PD_NOTFOUND, _("%s holds %zu images: say which by its tag"), l->dir,
                json_count(list));
    if (names.len)
        pd_set_hint(err, _("it has: %s"), names.p);
    else
        pd_set_hint(err, _("build or pull an image first"));
    str_release(&names);
    return err->code;
}

enum pd_code layout_find(const struct layout *l, const char *tag, struct image_desc *out,
                         struct pd_err *err)
{
    struct json *index;
    enum pd_code rc = layout_index(l, &index, err);
    if (rc != PD_OK)
        return rc;
    const struct json *list = json_get(index, "manifests"), *found = NULL;
    bool any = !tag || !*tag;
    for (const struct json *e = json_first(list); e; e = json_next(e))
        if (any ? json_count(list) == 1 : entry_has_tag(e, tag))
            found = e;
    if (any && !found && json_count(list) > 1) {      /* several tags of one image */
        found = json_first(list);
        for (const struct json *e = json_first(list); e; e = json_next(e))
            if (!str_eq(json_str(e, "digest", ""), json_str(found, "digest", ""))) {
                found = NULL;
                break;
            }
    }
    rc = found ? image_desc_read(found, out, err) : not_found(l, list, tag, err);
    json_free(index);
    return rc;
}

static struct json *index_entry(const char *tag, const struct image_desc *d)
{
    struct json *e = json_new_object(), *a = json_new_object();
    json_put_str(e, "mediaType", d->media_type);
    json_put_str(e, "digest", d->digest);
    json_put_num(e, "size", (double)d->size);
    json_put_str(a, "org.opencontainers.image.ref.name", tag);
    json_set(e, "annotations", a);
    return e;
}

static void drop_tag(struct json *list, const char *tag)
{
    size_t i = 0;
    while (i < json_count(list)) {
        if (entry_has_tag(json_item(list, (int)i), tag))
            json_free(json_detach_item(list, i));
        else
            i++;
    }
}

/* Under the folder's lock. */
enum pd_code layout_tag(struct layout *l, const char *tag, const struct image_desc *d,
                        struct pd_err *err)
{
    assert(tag && *tag);
    int lock = open(l->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (lock < 0 || flock(lock, LOCK_EX) != 0) {
        enum pd_code rc = pd_fail_errno(err, PD_IO, _("can't lock %s"), l->dir);
        if (lock >= 0)
            close(lock);
        return rc;
    }
    struct json *index = NULL;
    enum pd_code rc = layout_index(l, &index, err);
    if (rc == PD_OK) {
        struct json *list = json_get_mut(index, "manifests");
        drop_tag(list, tag);
        json_append(list, index_entry(tag, d));
        char *text = json_text(index, 0), *path = path_join(l->dir, "index.json");
        rc = path_write_atomic(path, 0644, text, strlen(text), err);
        free(path);
        free(text);
    }
    json_free(index);
    close(lock);
    return rc;
}
