/* shards.c - see shards.h. */
#include "core/train/shards.h"

#include <unistd.h>

#include "core/base/i18n.h"
#include "core/base/mem.h"
#include "core/base/path.h"
#include "core/base/str.h"
#include "core/train/tjson.h"

enum { INDEX_CEILING = 64 << 20, MOST_FILES = 4096 };

struct shards {
    char *dir;
    char *paths[MOST_FILES];
    struct safetensors *files[MOST_FILES];
    int n;
    int64_t said;
};

static enum pd_code add_file(struct shards *s, const char *name, int *at, struct pd_err *err)
{
    if (strchr(name, '/') || !path_inside(name))
        return pd_fail(err, PD_TRAIN, _("weight_map names the file \"%s\": it must lie in the "
                                        "folder itself"), name);
    char *path = path_join(s->dir, name);
    for (*at = 0; *at < s->n; ++*at)
        if (str_eq(s->paths[*at], path)) {
            free(path);
            return PD_OK;
        }
    if (s->n == MOST_FILES) {
        free(path);
        return pd_fail(err, PD_LIMIT, _("more than %d files of weights"), MOST_FILES);
    }
    s->paths[s->n] = path;
    enum pd_code rc = safetensors_open(path, &s->files[s->n], err);
    s->n++;
    if (rc == PD_IO)
        pd_set_hint(err, _("the index names this file: the download is not complete"));
    return rc;
}

static enum pd_code misplaced(const struct shards *s, const char *name, int want,
                              struct pd_err *err)
{
    for (int i = 0; i < s->n; i++)
        if (safetensors_find(s->files[i], name))
            return pd_fail_at(err, PD_TRAIN, s->paths[want], 0, 0,
                              _("the index looks for %s here, it stands in %s"), name,
                              path_base(s->paths[i]));
    return pd_fail_at(err, PD_TRAIN, s->paths[want], 0, 0,
                      _("the index looks for %s here, and it is in no file"), name);
}

/* Each tensor stands once. */
static enum pd_code check_twice(const struct shards *s, struct pd_err *err)
{
    for (int f = 0; f < s->n; f++)
        for (int i = 0; i < safetensors_count(s->files[f]); i++) {
            const char *name = safetensors_at(s->files[f], i)->name;
            for (int other = f + 1; other < s->n; other++)
                if (safetensors_find(s->files[other], name))
                    return pd_fail_at(err, PD_TRAIN, s->paths[other], 0, 0,
                                      _("%s stands in %s too"), name, path_base(s->paths[f]));
        }
    return PD_OK;
}

static enum pd_code read_index(struct shards *s, const struct tjson *j, const char *path,
                               struct pd_err *err)
{
    const struct tjson *map = tjson_get(j, "weight_map");
    int at;
    if (tjson_type(map) != TJSON_OBJECT || tjson_count(map) == 0)
        return pd_fail_at(err, PD_TRAIN, path, 0, 0, _("weight_map is missing or empty"));
    s->said = tjson_int(j, "metadata.total_size", -1);
    for (void *it = tjson_iter(map); it; it = tjson_iter_next(map, it)) {
        const char *file = tjson_str(tjson_iter_value(it), "", NULL);
        if (!file)
            return pd_fail_at(err, PD_TRAIN, path, 0, 0, _("weight_map: %s has no file name"),
                              tjson_iter_key(it));
        if (add_file(s, file, &at, err) != PD_OK)
            return err->code;
    }
    for (void *it = tjson_iter(map); it; it = tjson_iter_next(map, it)) {
        if (add_file(s, tjson_str(tjson_iter_value(it), "", ""), &at, err) != PD_OK)
            return err->code;
        if (!safetensors_find(s->files[at], tjson_iter_key(it)))
            return misplaced(s, tjson_iter_key(it), at, err);
    }
    return check_twice(s, err);
}

static enum pd_code open_index(struct shards *s, const char *index, struct pd_err *err)
{
    struct tjson *j = NULL;
    enum pd_code rc = tjson_read(index, INDEX_CEILING, &j, err);
    if (!rc)
        rc = read_index(s, j, index, err);
    tjson_free(j);
    return rc;
}

enum pd_code shards_open(const char *dir, struct shards **out, struct pd_err *err)
{
    struct shards *s = xcalloc(1, sizeof *s);
    char *one = path_join(dir, "model.safetensors");
    char *index = path_join(dir, "model.safetensors.index.json");
    bool single = access(one, F_OK) == 0, sharded = access(index, F_OK) == 0;
    int at;
    s->dir = xstrdup(dir);
    s->said = -1;
    enum pd_code rc = single || !sharded ? add_file(s, "model.safetensors", &at, err)
                                         : open_index(s, index, err);
    if (rc == PD_IO && !sharded && !single)
        pd_set_hint(err, _("a model folder has model.safetensors, or model.safetensors.index.json "
                           "and the files it names"));
    free(one);
    free(index);
    if (rc)
        shards_close(s);
    else
        *out = s;
    return rc;
}

void shards_close(struct shards *s)
{
    if (!s)
        return;
    for (int i = 0; i < s->n; i++) {
        safetensors_close(s->files[i]);
        free(s->paths[i]);
    }
    free(s->dir);
    free(s);
}

int shards_files(const struct shards *s)
{
    return s->n;
}

const char *shards_path(const struct shards *s, int file)
{
    return s->paths[file];
}

const struct safetensors *shards_file(const struct shards *s, int file)
{
    return s->files[file];
}

const struct safetensors_entry *shards_find(const struct shards *s, const char *name, int *file)
{
    for (int i = 0; i < s->n; i++) {
        const struct safetensors_entry *e = safetensors_find(s->files[i], name);
        if (e && file)
            *file = i;
        if (e)
            return e;
    }
    return NULL;
}

int64_t shards_said(const struct shards *s)
{
    return s->said;
}

int64_t shards_bytes(const struct shards *s)
{
    int64_t sum = 0;
    for (int f = 0; f < s->n; f++)
        for (int i = 0; i < safetensors_count(s->files[f]); i++)
            sum += (int64_t)safetensors_at(s->files[f], i)->bytes;
    return sum;
}

/* Which keys of config.json a tensor's shape follows from. */
static void name_keys(const char *tensor, struct pd_err *err)
{
    static const struct {
        const char *part, *keys;
    } keys[] = {{"embed_tokens", "vocab_size, hidden_size"},
                {"lm_head", "vocab_size, hidden_size"},
                {"q_proj", "num_attention_heads, head_dim, hidden_size"},
                {"o_proj", "num_attention_heads, head_dim, hidden_size"},
                {"k_proj", "num_key_value_heads, head_dim, hidden_size"},
                {"v_proj", "num_key_value_heads, head_dim, hidden_size"},
                {"mlp.", "intermediate_size, hidden_size"},
                {"norm", "hidden_size"}};
    for (size_t i = 0; i < ARRAY_LEN(keys) && err->code == PD_TRAIN; i++)
        if (strstr(tensor, keys[i].part)) {
            pd_set_hint(err, _("config.json: compare %s"), keys[i].keys);
            return;
        }
}

enum pd_code shards_load(const struct shards *s, const struct tensors *ts, struct pd_err *err)
{
    for (int i = 0; i < ts->n; i++) {
        int file = 0;
        const struct safetensors_entry *e = shards_find(s, ts->t[i].name, &file);
        if (!e) {
            pd_fail_at(err, PD_TRAIN, s->paths[0], 0, 0, _("tensor %s is missing"),
                       ts->t[i].name);
            return pd_set_hint(err, _("the file must belong to the same configuration"));
        }
        if (safetensors_fill(s->paths[file], e, &ts->t[i], ts->t[i].w, err) != PD_OK) {
            name_keys(ts->t[i].name, err);
            return err->code;
        }
    }
    return PD_OK;
}
