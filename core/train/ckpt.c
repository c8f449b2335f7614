/* ckpt.c - checkpoints: writing whole, finding, reading (ckpt.h). */
#include "core/train/ckpt.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/i18n.h"
#include "core/base/mem.h"
#include "core/base/path.h"
#include "core/train/safetensors.h"
#include "core/train/sha256.h"
#include "core/train/tjson.h"

enum { JSON_CEILING = 1 << 20, TOK_CEILING = 64 << 20 };

static const struct tensors *trained(const struct ckpt_source *s)
{
    return s->lora ? &s->lora->tensors : &s->model->tensors;
}

/* A full run's model keeps its tokenizer, so that the folder can be used. */
static enum pd_code copy_tokenizer(const char *dir, const char *base, struct pd_err *err)
{
    struct str s;
    char *from = path_join(base, "tokenizer.json"), *to = path_join(dir, "tokenizer.json");
    str_init(&s, TOK_CEILING);
    enum pd_code rc = PD_OK;
    if (access(from, F_OK) == 0) {
        rc = path_read(from, TOK_CEILING, &s, err);
        if (rc == PD_OK)
            rc = path_write_atomic(to, 0644, s.p, s.len, err);
    }
    str_release(&s);
    free(from);
    free(to);
    return rc;
}

enum pd_code ckpt_export(const char *dir, const struct ckpt_source *src, struct pd_err *err)
{
    if (src->lora)
        return lora_save(src->lora, dir, src->base, err);
    if (llama_save(src->model, dir, src->bf16, err) != PD_OK)
        return err->code;
    return copy_tokenizer(dir, src->base, err);
}

static enum pd_code write_state(const char *dir, const struct ckpt_state *st, struct pd_err *err)
{
    struct str s;
    str_init(&s, JSON_CEILING);
    str_printf(&s, "{\n  \"step\": %" PRId64 ",\n  \"tokens\": %" PRId64 ",\n"
                   "  \"rate\": %.17g,\n  \"shape\": ", st->step, st->tokens, st->rate);
    tjson_quote(&s, st->shape);
    str_add(&s, "\n}\n");
    char *path = path_join(dir, "state.json");
    enum pd_code rc = path_write_atomic(path, 0644, s.p, s.len, err);
    free(path);
    str_release(&s);
    return rc;
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Names of a folder's files, sorted. */
static void list_dir(const char *dir, struct strv *names)
{
    struct dirent *e;
    DIR *d = opendir(dir);
    while (d && (e = readdir(d)))
        if (e->d_name[0] != '.')
            strv_push(names, e->d_name);
    if (d)
        closedir(d);
    if (names->n)
        qsort(names->v, names->n, sizeof *names->v, by_text);
}

static enum pd_code print_manifest(const char *dir, struct str *s, int64_t *total,
                                   struct pd_err *err)
{
    struct strv names;
    char hex[65];
    int64_t bytes;
    enum pd_code rc = PD_OK;
    strv_init(&names);
    list_dir(dir, &names);
    str_add(s, "{\n  \"files\": [");
    for (size_t i = 0; i < names.n && rc == PD_OK; i++) {
        char *path = path_join(dir, names.v[i]);
        rc = sha256_file(path, hex, &bytes, err);
        str_printf(s, "%s\n    {\"name\": \"%s\", \"size\": %" PRId64 ", \"sha256\": \"%s\"}",
                   i ? "," : "", names.v[i], bytes, hex);
        *total += bytes;
        free(path);
    }
    str_add(s, "\n  ]\n}\n");
    strv_release(&names);
    return rc;
}

static enum pd_code write_manifest(const char *dir, int64_t *total, struct pd_err *err)
{
    struct str s;
    str_init(&s, JSON_CEILING);
    enum pd_code rc = print_manifest(dir, &s, total, err);
    char *path = path_join(dir, "manifest.json");
    if (rc == PD_OK)
        rc = path_write_atomic(path, 0644, s.p, s.len, err);
    free(path);
    str_release(&s);
    return rc;
}

static enum pd_code write_log(const char *dir, const char *log, struct pd_err *err)
{
    if (!log)
        return PD_OK;
    char *path = path_join(dir, "trainer_state.json");
    enum pd_code rc = path_write_atomic(path, 0644, log, strlen(log), err);
    free(path);
    return rc;
}

/* Half a checkpoint takes room that the next one needs. */
static enum pd_code give_up(const char *tmp, enum pd_code rc)
{
    struct pd_err ignored;
    (void)!path_remove_tree(tmp, &ignored);
    return rc;
}

static enum pd_code fill_dir(const char *dir, const struct ckpt_source *src,
                             const struct ckpt_state *st, int64_t *bytes, struct pd_err *err)
{
    struct ckpt_source exact = *src;
    exact.bf16 = false;
    if (path_mkdirs(dir, 0755, err) != PD_OK || ckpt_export(dir, &exact, err) != PD_OK ||
        write_state(dir, st, err) != PD_OK || write_log(dir, st->log, err) != PD_OK)
        return err->code;
    char *path = path_join(dir, "optimizer.safetensors");
    enum pd_code rc = safetensors_save(path, trained(src), SAFETENSORS_M | SAFETENSORS_V, false,
                                       NULL, err);
    free(path);
    if (rc != PD_OK || write_manifest(dir, bytes, err) != PD_OK)
        return err->code;
    return path_sync_dir(dir, err);
}

/* The step of "checkpoint-N", or -1. */
static int64_t step_of(const char *name)
{
    int64_t n;
    if (!str_starts(name, "checkpoint-") || !str_to_i64(name + strlen("checkpoint-"), &n))
        return -1;
    return n;
}

static int64_t newest_below(const struct strv *names, int64_t below)
{
    int64_t newest = -1;
    for (size_t i = 0; i < names->n; i++) {
        int64_t n = step_of(names->v[i]);
        if (n > newest && n < below)
            newest = n;
    }
    return newest;
}

static void remove_old(const char *out, int keep, int64_t best)
{
    struct strv names;
    struct pd_err ignored;
    int64_t below = INT64_MAX, newest;
    strv_init(&names);
    list_dir(out, &names);
    for (int i = 0; keep > 0; i++) {
        newest = newest_below(&names, below);
        if (newest < 0)
            break;
        below = newest;
        char *path = xasprintf("%s/checkpoint-%" PRId64, out, newest);
        enum pd_code rc = i >= keep && newest != best ? path_remove_tree(path, &ignored)
                                                       : PD_OK;
        free(path);
        if (rc != PD_OK)
            break;
    }
    strv_release(&names);
}

enum pd_code ckpt_save(const char *out, const struct ckpt_source *src,
                       const struct ckpt_state *st, int keep, int64_t *bytes, char *path,
                       size_t path_size, struct pd_err *err)
{
    char *tmp = xasprintf("%s/checkpoint-%" PRId64 ".tmp", out, st->step);
    enum pd_code rc = PD_OK;
    snprintf(path, path_size, "%s/checkpoint-%" PRId64, out, st->step);
    *bytes = 0;
    if (path_remove_tree(tmp, err) != PD_OK || fill_dir(tmp, src, st, bytes, err) != PD_OK ||
        path_remove_tree(path, err) != PD_OK)
        rc = err->code;
    else if (rename(tmp, path) < 0)
        rc = pd_fail_errno(err, PD_IO, _("%s can't be renamed"), tmp);
    else
        rc = path_sync_dir(out, err);
    if (rc != PD_OK)
        rc = give_up(tmp, rc);
    free(tmp);
    if (rc == PD_OK)
        remove_old(out, keep, st->best);
    return rc;
}

static enum pd_code check_file(const char *dir, const struct tjson *f, struct pd_err *err)
{
    char hex[65];
    int64_t bytes;
    const char *name = tjson_str(f, "name", "");
    if (!path_inside(name))
        return pd_fail(err, PD_TRAIN, _("%s: a bad name in manifest.json"), dir);
    char *path = path_join(dir, name);
    enum pd_code rc = sha256_file(path, hex, &bytes, err);
    free(path);
    if (rc != PD_OK)
        return rc;
    if (bytes != tjson_int(f, "size", -1) || !str_eq(hex, tjson_str(f, "sha256", "")))
        return pd_fail(err, PD_TRAIN, _("%s/%s differs from manifest.json"), dir, name);
    return PD_OK;
}

enum pd_code ckpt_verify(const char *dir, struct pd_err *err)
{
    struct tjson *j = NULL;
    char *path = path_join(dir, "manifest.json");
    enum pd_code rc = tjson_read(path, JSON_CEILING, &j, err);
    free(path);
    const struct tjson *files = tjson_get(j, "files");
    for (size_t i = 0; i < tjson_count(files) && rc == PD_OK; i++)
        rc = check_file(dir, tjson_item(files, i), err);
    tjson_free(j);
    return rc;
}

int64_t ckpt_below(const char *out, int64_t below)
{
    struct strv names;
    strv_init(&names);
    list_dir(out, &names);
    int64_t newest = newest_below(&names, below);
    strv_release(&names);
    return newest;
}

int64_t ckpt_newest(const char *out, struct str *skipped)
{
    struct pd_err err;
    int64_t newest = INT64_MAX;
    while ((newest = ckpt_below(out, newest)) >= 0) {
        char *path = xasprintf("%s/checkpoint-%" PRId64, out, newest);
        enum pd_code rc = ckpt_verify(path, &err);
        if (rc != PD_OK)
            str_printf(skipped, "%s%s", skipped->len ? "; " : "", err.msg);
        free(path);
        if (rc == PD_OK)
            break;
    }
    return newest;
}

static enum pd_code read_state(const char *dir, struct ckpt_state *st, struct pd_err *err)
{
    struct tjson *j = NULL;
    char *path = path_join(dir, "state.json");
    enum pd_code rc = tjson_read(path, JSON_CEILING, &j, err);
    free(path);
    if (rc != PD_OK)
        return rc;
    st->step = tjson_int(j, "step", -1);
    st->tokens = tjson_int(j, "tokens", 0);
    st->rate = tjson_num(j, "rate", 0);
    str_copy(st->shape, sizeof st->shape, tjson_str(j, "shape", ""));
    tjson_free(j);
    return PD_OK;
}

/* The first "name value" pair of the two shapes that differs. */
static enum pd_code check_shape(const char *dir, const char *was, const char *is,
                                struct pd_err *err)
{
    struct strv a, b;
    enum pd_code rc = PD_OK;
    strv_init(&a);
    strv_init(&b);
    strv_split(&a, was, ' ');
    strv_split(&b, is, ' ');
    for (size_t i = 0; i < MIN(a.n, b.n) && rc == PD_OK; i++)
        if (!str_eq(a.v[i], b.v[i])) {
            rc = pd_fail(err, PD_TRAIN, _("%s was made with other options: %s %s, now %s"), dir,
                         i ? a.v[i - 1] : "", a.v[i], b.v[i]);
            pd_set_hint(err, _("resume with the same options, or use another --out"));
        }
    strv_release(&a);
    strv_release(&b);
    return rc;
}

static enum pd_code load_from(const char *dir, const struct ckpt_source *dst, const char *shape,
                              struct ckpt_state *st, struct pd_err *err)
{
    if (read_state(dir, st, err) != PD_OK)
        return err->code;
    if (shape && check_shape(dir, st->shape, shape, err) != PD_OK)
        return err->code;
    char *opt = path_join(dir, "optimizer.safetensors");
    char *w = path_join(dir, dst->lora ? "adapter_model.safetensors" : "model.safetensors");
    enum pd_code rc = safetensors_load(w, trained(dst), true, err);
    if (rc == PD_OK)
        rc = safetensors_load_moments(opt, trained(dst), err);
    free(w);
    free(opt);
    return rc;
}

enum pd_code ckpt_load(const char *out, int64_t step, const struct ckpt_source *dst,
                       const char *shape, struct ckpt_state *st, struct pd_err *err)
{
    char *dir = xasprintf("%s/checkpoint-%" PRId64, out, step);
    enum pd_code rc = load_from(dir, dst, shape, st, err);
    free(dir);
    return rc;
}
