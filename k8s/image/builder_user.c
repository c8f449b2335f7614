/* builder_user.c - --chown=NAME: names stand in the image that is being built,
 * in /etc/passwd and /etc/group of its newest layer that has them. */
#include <archive_entry.h>

#include "core/base/i18n.h"
#include "core/base/mem.h"
#include "k8s/image/builder_priv.h"
#include "k8s/image/layer_reader.h"

enum { USER_FILE_MOST = 1 << 20 };

static bool read_id(const char *s, unsigned *out)
{
    int64_t v;
    if (!str_to_i64(s, &v) || v < 0 || v > 0xfffffffeLL)
        return false;
    *out = (unsigned)v;
    return true;
}

static enum pd_code read_data(struct layer_reader *r, struct str *out, struct pd_err *err)
{
    const void *p;
    size_t n = 1;
    int64_t off;
    enum pd_code rc = PD_OK;
    while (rc == PD_OK && n > 0) {
        rc = layer_reader_data(r, &p, &n, &off, err);
        if (rc == PD_OK && n > 0)
            str_append(out, p, n);
    }
    return rc;
}

/* The file of one layer; *found. */
static enum pd_code from_layer(struct build *b, const char *digest, const char *name, bool *found,
                               struct str *out)
{
    struct layer_reader *r;
    struct archive_entry *e = NULL;
    char *path = layout_blob_path(b->spec->out, digest);
    enum pd_code rc = layer_reader_open(path, &r, b->err);
    free(path);
    if (rc != PD_OK)
        return rc;
    do {
        rc = layer_reader_next(r, &e, b->err);
        if (rc == PD_OK && e) {
            char *clean = layer_reader_clean(archive_entry_pathname(e));
            if (str_eq(clean, name)) {
                *found = true;
                str_clear(out);
                rc = read_data(r, out, b->err);
            }
            free(clean);
        }
    } while (rc == PD_OK && e);
    layer_reader_close(r);
    return rc;
}

static enum pd_code read_file(struct build *b, const char *name, struct str *out)
{
    bool found = false;
    enum pd_code rc = PD_OK;
    for (int i = (int)json_count(b->now.layers); i-- > 0 && rc == PD_OK && !found;)
        rc = from_layer(b, json_str(json_item(b->now.layers, i), "digest", ""), name, &found, out);
    return rc;
}

/* "name:x:1000:…": field 2 of the line that starts with the name; of a user
 * also field 3. */
static bool find_line(const char *text, const char *name, unsigned *id, unsigned *group)
{
    struct strv lines, f;
    bool hit = false;
    strv_init(&lines);
    strv_split(&lines, text, '\n');
    for (size_t i = 0; i < lines.n && !hit; i++) {
        strv_init(&f);
        strv_split(&f, lines.v[i], ':');
        hit = f.n > 2 && str_eq(f.v[0], name) && read_id(f.v[2], id);
        if (hit && group && f.n > 3)
            read_id(f.v[3], group);
        strv_release(&f);
    }
    strv_release(&lines);
    return hit;
}

static enum pd_code resolve(struct build *b, const struct df_word *w, const char *file,
                            const char *name, unsigned *id, unsigned *group)
{
    struct str text;
    if (read_id(name, id)) {
        if (group)
            *group = *id;
        return PD_OK;
    }
    if (str_eq(name, "root")) {
        *id = 0;
        if (group)
            *group = 0;
        return PD_OK;
    }
    str_init(&text, USER_FILE_MOST);
    enum pd_code rc = read_file(b, file, &text);
    if (rc == PD_OK && !find_line(text.p, name, id, group)) {
        pd_fail_at(b->err, PD_IMAGE, b->df->name, w->line, w->col,
                   text.len ? _("/%s of the image has no \"%.60s\"")
                            : _("the image has no /%s that would tell who \"%.60s\" is"),
                   file, name);
        rc = pd_set_hint(b->err, _("write numbers: --chown=1000:1000"));
    }
    str_release(&text);
    return rc;
}

enum pd_code builder_user(struct build *b, const struct df_word *w, const char *text,
                          unsigned *uid, unsigned *gid)
{
    size_t n = strcspn(text, ":");
    char *name = xstrndup(text, n);
    enum pd_code rc = PD_OK;
    if (!*name || (text[n] && !text[n + 1])) {
        pd_fail_at(b->err, PD_PARSE, b->df->name, w->line, w->col,
                   _("--chown needs USER or USER:GROUP"));
        rc = pd_set_hint(b->err, _("write --chown=1000:1000"));
    }
    if (rc == PD_OK)
        rc = resolve(b, w, "etc/passwd", name, uid, gid);
    if (rc == PD_OK && text[n])
        rc = resolve(b, w, "etc/group", text + n + 1, gid, NULL);
    free(name);
    return rc;
}
