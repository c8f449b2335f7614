/* model_dir.c - a model's folder, written (model_dir.h). */
#include "core/train/model_dir.h"

#include <unistd.h>

#include "core/base/i18n.h"
#include "core/base/mem.h"
#include "core/base/path.h"
#include "core/base/str.h"
#include "core/train/tjson.h"

enum { FILE_CEILING = 64 << 20 };

static const struct {
    const char *name, *dtype;
    int64_t width;
} types[] = {
    [SAFETENSORS_F32] = {"f32", "float32", 4},
    [SAFETENSORS_BF16] = {"bf16", "bfloat16", 2},
    [SAFETENSORS_F16] = {"f16", "float16", 2},
};

bool model_dir_size(const char *text, int64_t *bytes)
{
    static const struct {
        const char *unit;
        double factor;
    } units[] = {{"GiB", 0x1p30}, {"MiB", 0x1p20}, {"KiB", 0x1p10},
                 {"GB", 1e9},     {"MB", 1e6},     {"KB", 1e3}};
    char number[40];
    double x, factor = 1;
    str_copy(number, sizeof number, text);
    for (size_t i = 0; i < ARRAY_LEN(units); i++)
        if (str_ends(number, units[i].unit)) {
            number[strlen(number) - strlen(units[i].unit)] = '\0';
            factor = units[i].factor;
            break;
        }
    if (!str_to_f64(number, &x) || !(x * factor >= 1 && x * factor < 1e15))
        return false;
    *bytes = (int64_t)(x * factor);
    return true;
}

/* --- shards -------------------------------------------------------------------- */

static int64_t tensor_bytes(const struct model_dir *d, const struct tensor *t)
{
    return (int64_t)tensors_count(t) * types[d->type].width;
}

/* The tensors of the shard that starts at *from, which moves behind them. */
static struct tensors next_shard(const struct model_dir *d, const struct tensors *all, int *from)
{
    struct tensors part = {.t = all->t + *from};
    int64_t size = 0;
    while (*from < all->n) {
        size += tensor_bytes(d, &all->t[*from]);
        if (part.n && size > d->most)
            break;
        part.n++;
        ++*from;
    }
    return part;
}

static int count_shards(const struct model_dir *d, const struct tensors *all)
{
    int n = 0;
    for (int from = 0; from < all->n; n++)
        next_shard(d, all, &from);
    return n;
}

static void shard_name(const struct model_dir *d, int i, char *out, size_t size)
{
    if (d->shards == 1)
        str_copy(out, size, "model.safetensors");
    else
        str_fmt(out, size, "model-%05d-of-%05d.safetensors", i + 1, d->shards);
}

static void print_index(const struct model_dir *d, const struct tensors *all, struct str *s)
{
    char name[80];
    int64_t total = 0;
    for (int i = 0; i < all->n; i++)
        total += tensor_bytes(d, &all->t[i]);
    str_printf(s, "{\n  \"metadata\": {\n    \"total_size\": %" PRId64 "\n  },\n"
                  "  \"weight_map\": {", total);
    for (int from = 0, k = 0; from < all->n; k++) {
        struct tensors part = next_shard(d, all, &from);
        shard_name(d, k, name, sizeof name);
        for (int i = 0; i < part.n; i++)
            str_printf(s, "%s\n    \"%s\": \"%s\"", k || i ? "," : "", part.t[i].name, name);
    }
    str_add(s, "\n  }\n}\n");
}

static enum pd_code write_index(const struct model_dir *d, const struct tensors *all,
                                struct pd_err *err)
{
    struct str s;
    str_init(&s, FILE_CEILING);
    print_index(d, all, &s);
    char *path = path_join(d->to, "model.safetensors.index.json");
    enum pd_code rc = path_write_atomic(path, 0644, s.p, s.len, err);
    free(path);
    str_release(&s);
    return rc;
}

static void remove_old(const struct model_dir *d, const char *name)
{
    char *path = path_join(d->to, name);
    unlink(path);
    free(path);
}

static enum pd_code write_weights(struct model_dir *d, const struct tensors *all,
                                  struct pd_err *err)
{
    enum pd_code rc = PD_OK;
    char name[80];
    remove_old(d, "model.safetensors.index.json");
    if (d->shards > 1)
        remove_old(d, "model.safetensors");
    for (int from = 0, k = 0; from < all->n && rc == PD_OK; k++) {
        struct tensors part = next_shard(d, all, &from);
        int64_t bytes = 0;
        shard_name(d, k, name, sizeof name);
        char *path = path_join(d->to, name);
        rc = safetensors_save(path, &part, SAFETENSORS_W, d->type, &bytes, err);
        d->bytes += bytes;
        free(path);
    }
    return rc == PD_OK && d->shards > 1 ? write_index(d, all, err) : rc;
}

enum pd_code model_dir_read(const struct model_dir *d, struct llama *m, struct pd_err *err)
{
    enum pd_code rc = PD_OK;
    char name[80];
    for (int from = 0, k = 0; from < m->tensors.n && rc == PD_OK; k++) {
        struct tensors part = next_shard(d, &m->tensors, &from);
        shard_name(d, k, name, sizeof name);
        char *path = path_join(d->to, name);
        rc = safetensors_load(path, &part, true, err);
        free(path);
    }
    return rc;
}

/* --- the other files ------------------------------------------------------------- */

static enum pd_code copy(const struct model_dir *d, const char *name, struct pd_err *err)
{
    struct str s;
    char *from = path_join(d->from, name), *to = path_join(d->to, name);
    enum pd_code rc = PD_OK;
    str_init(&s, FILE_CEILING);
    if (access(from, F_OK) == 0) {
        rc = path_read(from, FILE_CEILING, &s, err);
        if (rc == PD_OK)
            rc = path_write_atomic(to, 0644, s.p, s.len, err);
    }
    str_release(&s);
    free(from);
    free(to);
    return rc;
}

static enum pd_code copy_rest(const struct model_dir *d, struct pd_err *err)
{
    static const char *const names[] = {
        "tokenizer.json", "tokenizer_config.json", "special_tokens_map.json",
        "added_tokens.json", "chat_template.jinja", "generation_config.json", "vocab.json",
        "merges.txt",
    };
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        if (copy(d, names[i], err) != PD_OK)
            return err->code;
    return PD_OK;
}

/* The configuration as it was, with the weights' type: "dtype" is what
 * transformers 5 reads, "torch_dtype" what 4 does. */
static enum pd_code write_config(const struct model_dir *d, struct pd_err *err)
{
    struct tjson *j = NULL;
    struct str s;
    char *from = path_join(d->from, "config.json"), *to = path_join(d->to, "config.json");
    enum pd_code rc = tjson_read(from, FILE_CEILING, &j, err);
    str_init(&s, FILE_CEILING);
    if (rc == PD_OK) {
        bool five = tjson_get(j, "dtype"), four = tjson_get(j, "torch_dtype") || !five;
        if (five)
            tjson_set_str(j, "dtype", types[d->type].dtype);
        if (four)
            tjson_set_str(j, "torch_dtype", types[d->type].dtype);
        tjson_print(j, &s);
        rc = path_write_atomic(to, 0644, s.p, s.len, err);
    }
    tjson_free(j);
    str_release(&s);
    free(from);
    free(to);
    return rc;
}

static enum pd_code check_places(const struct model_dir *d, struct pd_err *err)
{
    char *a = realpath(d->from, NULL), *b = realpath(d->to, NULL);
    bool same = a && b && str_eq(a, b);
    free(a);
    free(b);
    return same ? pd_fail(err, PD_USAGE, _("--out is the model's own folder: give another"))
                : PD_OK;
}

/* f16 has no value above 65504. */
static enum pd_code check_range(const struct model_dir *d, const struct llama *m,
                                struct pd_err *err)
{
    for (int i = 0; d->type == SAFETENSORS_F16 && i < m->tensors.n; i++) {
        const struct tensor *t = &m->tensors.t[i];
        size_t n = tensors_count(t);
        for (size_t k = 0; k < n; k++)
            if (!(t->w[k] > -65520 && t->w[k] < 65520)) {
                pd_fail(err, PD_TRAIN, _("%s[%zu] is %g, more than f16 can hold (65504)"),
                        t->name, k, (double)t->w[k]);
                return pd_set_hint(err, _("use --bf16, or neither"));
            }
    }
    return PD_OK;
}

enum pd_code model_dir_write(struct model_dir *d, const struct llama *m, struct pd_err *err)
{
    d->bytes = 0;
    d->shards = count_shards(d, &m->tensors);
    if (path_mkdirs(d->to, 0755, err) != PD_OK || check_places(d, err) != PD_OK ||
        check_range(d, m, err) != PD_OK || copy_rest(d, err) != PD_OK ||
        write_weights(d, &m->tensors, err) != PD_OK)
        return err->code;
    return write_config(d, err);
}
