/* gguf.c - reading the file's keys and tensor table (gguf.h). */
#include "core/train/gguf.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/i18n.h"
#include "core/base/mem.h"
#include "core/base/str.h"
#include "core/train/gguf_impl.h"

enum { MOST_TENSORS = 1 << 17, MOST_KEYS = 1 << 16 };

struct kv {
    struct gguf_text key;
    uint32_t type, of;            /* of: element type of an array */
    const uint8_t *at;            /* the value; of an array: its first element */
    size_t count;
    size_t *places;               /* arrays of strings: where each begins, from at */
};

struct gguf {
    uint8_t *map;
    size_t size;
    const char *path;
    struct kv *kv;
    size_t kv_n;
    struct gguf_tensor *t;
    size_t t_n;
};

struct cursor {
    struct gguf *g;
    size_t at;
    struct pd_err *err;
};

static const uint8_t kv_size[GGUF_KV_TYPES] = {1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8};

static enum pd_code bad(struct cursor *c, const char *what)
{
    pd_fail_at(c->err, PD_PARSE, c->g->path, 0, 0, _("GGUF, byte %zu: %s"), c->at, what);
    return pd_set_hint(c->err, "%s", _("the file is damaged or was cut off: get it again"));
}

static bool left(const struct cursor *c, uint64_t n)
{
    return n <= c->g->size - c->at;
}

static uint64_t number(const uint8_t *p, int bytes)
{
    uint64_t v = 0;
    for (int i = bytes - 1; i >= 0; i--)
        v = v << 8 | p[i];
    return v;
}

static enum pd_code take(struct cursor *c, int bytes, uint64_t *out)
{
    *out = 0;
    if (!left(c, (uint64_t)bytes))
        return bad(c, _("the file ends within a number"));
    *out = number(c->g->map + c->at, bytes);
    c->at += (size_t)bytes;
    return PD_OK;
}

static enum pd_code take_text(struct cursor *c, struct gguf_text *out)
{
    uint64_t n;
    if (take(c, 8, &n) != PD_OK)
        return c->err->code;
    if (!left(c, n))
        return bad(c, _("a string is longer than the file"));
    *out = (struct gguf_text){(const char *)c->g->map + c->at, (size_t)n};
    c->at += (size_t)n;
    return PD_OK;
}

/* --- keys ------------------------------------------------------------------------ */

static enum pd_code take_strings(struct cursor *c, struct kv *kv)
{
    struct gguf_text text;
    if (kv->count > (c->g->size - c->at) / 8)
        return bad(c, _("an array is longer than the file"));
    kv->places = xcalloc(kv->count + 1, sizeof *kv->places);
    for (size_t i = 0; i < kv->count; i++) {
        kv->places[i] = c->at - (size_t)(kv->at - c->g->map);
        if (take_text(c, &text) != PD_OK)
            return c->err->code;
    }
    return PD_OK;
}

static enum pd_code take_array(struct cursor *c, struct kv *kv)
{
    uint64_t of, count, bytes;
    if (take(c, 4, &of) != PD_OK || take(c, 8, &count) != PD_OK)
        return c->err->code;
    if (of >= GGUF_KV_TYPES || of == GGUF_ARRAY)
        return bad(c, _("an array of an unknown type"));
    kv->of = (uint32_t)of;
    kv->count = (size_t)count;
    kv->at = c->g->map + c->at;
    if (of == GGUF_STRING)
        return take_strings(c, kv);
    if (__builtin_mul_overflow(count, (uint64_t)kv_size[of], &bytes) || !left(c, bytes))
        return bad(c, _("an array is longer than the file"));
    c->at += (size_t)bytes;
    return PD_OK;
}

static enum pd_code take_value(struct cursor *c, struct kv *kv)
{
    struct gguf_text text;
    kv->at = c->g->map + c->at;
    if (kv->type == GGUF_ARRAY)
        return take_array(c, kv);
    if (kv->type == GGUF_STRING)
        return take_text(c, &text);
    if (!left(c, kv_size[kv->type]))
        return bad(c, _("the file ends within a value"));
    c->at += kv_size[kv->type];
    return PD_OK;
}

static bool same(struct gguf_text a, struct gguf_text b)
{
    return a.n == b.n && memcmp(a.p, b.p, a.n) == 0;
}

static enum pd_code take_keys(struct cursor *c, uint64_t n)
{
    struct gguf *g = c->g;
    if (n > MOST_KEYS)
        return bad(c, _("more keys than a model has"));
    g->kv = xcalloc((size_t)n + 1, sizeof *g->kv);
    for (; g->kv_n < n; g->kv_n++) {
        struct kv *kv = &g->kv[g->kv_n];
        uint64_t type;
        if (take_text(c, &kv->key) != PD_OK || take(c, 4, &type) != PD_OK)
            return c->err->code;
        if (type >= GGUF_KV_TYPES)
            return bad(c, _("a key of an unknown type"));
        kv->type = (uint32_t)type;
        if (take_value(c, kv) != PD_OK) {
            g->kv_n++;                           /* its places are freed too */
            return c->err->code;
        }
        for (size_t i = 0; i < g->kv_n; i++)
            if (same(g->kv[i].key, kv->key)) {
                g->kv_n++;
                return bad(c, _("a key stands twice"));
            }
    }
    return PD_OK;
}

/* --- tensors ----------------------------------------------------------------------- */

static enum pd_code take_dims(struct cursor *c, struct gguf_tensor *t)
{
    uint64_t ndim, v, count = 1;
    if (take(c, 4, &ndim) != PD_OK)
        return c->err->code;
    if (ndim < 1 || ndim > 4)
        return bad(c, _("a tensor has 1 to 4 dimensions"));
    t->ndim = (int)ndim;
    for (int i = 0; i < 4; i++)
        t->dim[i] = 1;
    for (int i = 0; i < t->ndim; i++) {
        if (take(c, 8, &v) != PD_OK)
            return c->err->code;
        if (v == 0 || __builtin_mul_overflow(count, v, &count) || count > INT64_MAX)
            return bad(c, _("a tensor's size makes no sense"));
        t->dim[i] = (int64_t)v;
    }
    t->count = (int64_t)count;
    return PD_OK;
}

/* data holds the offset until the table is read. */
static enum pd_code take_tensor(struct cursor *c, struct gguf_tensor *t, uint64_t *offset)
{
    uint64_t type;
    if (take_text(c, &t->name) != PD_OK || take_dims(c, t) != PD_OK || take(c, 4, &type) != PD_OK ||
        take(c, 8, offset) != PD_OK)
        return c->err->code;
    if (t->name.n == 0 || t->name.n > 64)
        return bad(c, _("a tensor's name is empty or longer than 64 bytes"));
    t->type = (uint32_t)type;
    return PD_OK;
}

/* Where its data stands; a type that is not readable has no known length. */
static enum pd_code place_tensor(struct cursor *c, struct gguf_tensor *t, uint64_t offset,
                                 size_t align)
{
    const struct gguf_block *b = gguf_block_of(t->type);
    uint64_t bytes = 0;
    if (offset % align || !left(c, offset))
        return bad(c, _("a tensor's data stands outside of the file"));
    if (b && (t->dim[0] % b->values ||
              __builtin_mul_overflow((uint64_t)(t->count / b->values), (uint64_t)b->bytes, &bytes)))
        return bad(c, _("a tensor's rows are no whole blocks of its type"));
    if (bytes > c->g->size - c->at - offset) {
        pd_fail_at(c->err, PD_PARSE, c->g->path, 0, 0,
                   _("GGUF: the data of %.*s ends at byte %" PRIu64 ", the file at %zu"),
                   (int)t->name.n, t->name.p, (uint64_t)c->at + offset + bytes, c->g->size);
        return pd_set_hint(c->err, "%s", _("the file was cut off: get it again"));
    }
    t->data = c->g->map + c->at + offset;
    t->bytes = (size_t)bytes;
    return PD_OK;
}

static int by_place(const void *a, const void *b)
{
    const struct gguf_tensor *x = *(const struct gguf_tensor *const *)a,
                             *y = *(const struct gguf_tensor *const *)b;
    return x->data < y->data ? -1 : x->data > y->data;
}

static int by_name(const void *a, const void *b)
{
    const struct gguf_tensor *x = *(const struct gguf_tensor *const *)a,
                             *y = *(const struct gguf_tensor *const *)b;
    int d = memcmp(x->name.p, y->name.p, MIN(x->name.n, y->name.n));
    return d ? d : x->name.n < y->name.n ? -1 : x->name.n > y->name.n;
}

static enum pd_code check_table(struct cursor *c)
{
    struct gguf *g = c->g;
    const struct gguf_tensor **p = xcalloc(g->t_n + 1, sizeof *p);
    enum pd_code rc = PD_OK;
    for (size_t i = 0; i < g->t_n; i++)
        p[i] = &g->t[i];
    qsort(p, g->t_n, sizeof *p, by_name);
    for (size_t i = 1; i < g->t_n && !rc; i++)
        if (same(p[i - 1]->name, p[i]->name))
            rc = bad(c, _("two tensors have one name"));
    qsort(p, g->t_n, sizeof *p, by_place);
    for (size_t i = 1; i < g->t_n && !rc; i++)
        if (p[i - 1]->data + p[i - 1]->bytes > p[i]->data)
            rc = bad(c, _("the data of two tensors overlaps"));
    free(p);
    return rc;
}

static enum pd_code take_tensors(struct cursor *c, uint64_t n)
{
    struct gguf *g = c->g;
    if (n > MOST_TENSORS)
        return bad(c, _("more tensors than a model has"));
    uint64_t *offset = xcalloc((size_t)n + 1, sizeof *offset);
    enum pd_code rc = PD_OK;
    g->t = xcalloc((size_t)n + 1, sizeof *g->t);
    for (; g->t_n < n && !rc; g->t_n++)
        rc = take_tensor(c, &g->t[g->t_n], &offset[g->t_n]);
    double align = gguf_num(g, "general.alignment", 32);
    if (!rc && !(align >= 1 && align <= 1 << 20))
        rc = bad(c, _("general.alignment makes no sense"));
    size_t step = rc ? 1 : (size_t)align;
    c->at = (c->at + step - 1) / step * step;
    if (!rc && c->at > g->size) {
        c->at = g->size;
        rc = n ? bad(c, _("the file ends before its data")) : PD_OK;
    }
    for (size_t i = 0; i < n && !rc; i++)
        rc = place_tensor(c, &g->t[i], offset[i], step);
    free(offset);
    return rc ? rc : check_table(c);
}

static enum pd_code read_all(struct gguf *g, struct pd_err *err)
{
    struct cursor c = {g, 4, err};
    uint64_t version, tensors, keys;
    if (g->size < 4 || memcmp(g->map, "GGUF", 4) != 0) {
        c.at = 0;
        bad(&c, _("it does not begin with GGUF"));
        return pd_set_hint(err, "%s", _("is this another kind of file, or a web page?"));
    }
    if (take(&c, 4, &version) || (version != 2 && version != 3)) {
        bad(&c, _("a version other than 2 and 3"));
        return pd_set_hint(err, "%s", _("convert it with a current llama.cpp; big-endian files "
                                        "are not read"));
    }
    if (take(&c, 8, &tensors) || take(&c, 8, &keys) || take_keys(&c, keys) ||
        take_tensors(&c, tensors))
        return err->code;
    return PD_OK;
}

static enum pd_code map_file(struct gguf *g, struct pd_err *err)
{
    struct stat st;
    int fd = open(g->path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return pd_fail_errno(err, PD_IO, _("%s can't be opened"), g->path);
    enum pd_code rc = PD_OK;
    if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || st.st_size == 0)
        rc = pd_fail(err, PD_IO, _("%s is empty or no regular file"), g->path);
    if (!rc) {
        g->size = (size_t)st.st_size;
        g->map = mmap(NULL, g->size, PROT_READ, MAP_PRIVATE, fd, 0);
        if (g->map == MAP_FAILED) {
            g->map = NULL;
            rc = pd_fail_errno(err, PD_IO, _("%s can't be mapped"), g->path);
        }
    }
    close(fd);
    return rc;
}

enum pd_code gguf_open(const char *path, struct gguf **out, struct pd_err *err)
{
    struct gguf *g = xcalloc(1, sizeof *g);
    g->path = xstrdup(path);
    enum pd_code rc = map_file(g, err);
    if (!rc)
        rc = read_all(g, err);
    if (rc)
        gguf_close(g);
    else
        *out = g;
    return rc;
}

void gguf_close(struct gguf *g)
{
    if (!g)
        return;
    for (size_t i = 0; i < g->kv_n; i++)
        free(g->kv[i].places);
    if (g->map)
        munmap(g->map, g->size);
    free(g->kv);
    free(g->t);
    free((char *)(uintptr_t)g->path);
    free(g);
}

/* --- reading -------------------------------------------------------------------------- */

size_t gguf_tensors(const struct gguf *g)
{
    return g->t_n;
}

const struct gguf_tensor *gguf_tensor_at(const struct gguf *g, size_t i)
{
    return &g->t[i];
}

const struct gguf_tensor *gguf_find(const struct gguf *g, const char *name)
{
    struct gguf_text key = {name, strlen(name)};
    for (size_t i = 0; i < g->t_n; i++)
        if (same(g->t[i].name, key))
            return &g->t[i];
    return NULL;
}

static const struct kv *find(const struct gguf *g, const char *name)
{
    struct gguf_text key = {name, strlen(name)};
    for (size_t i = 0; i < g->kv_n; i++)
        if (same(g->kv[i].key, key))
            return &g->kv[i];
    return NULL;
}

static double as_number(uint32_t type, const uint8_t *p, double def)
{
    static const bool has_sign[GGUF_KV_TYPES] = {[GGUF_I8] = 1, [GGUF_I16] = 1, [GGUF_I32] = 1,
                                                 [GGUF_I64] = 1};
    float f;
    double d;
    int bytes = kv_size[type];
    if (bytes == 0)
        return def;
    uint64_t v = number(p, bytes);
    if (type == GGUF_F32) {
        memcpy(&f, p, sizeof f);
        return (double)f;
    }
    if (type == GGUF_F64) {
        memcpy(&d, p, sizeof d);
        return d;
    }
    if (has_sign[type] && v >> (8 * bytes - 1))
        return -(double)((bytes == 8 ? 0 : (uint64_t)1 << 8 * bytes) - v);
    return (double)v;
}

static struct gguf_text as_text(const uint8_t *p)
{
    return (struct gguf_text){(const char *)p + 8, (size_t)number(p, 8)};
}

bool gguf_has(const struct gguf *g, const char *key)
{
    return find(g, key) != NULL;
}

double gguf_num(const struct gguf *g, const char *key, double def)
{
    const struct kv *kv = find(g, key);
    return kv && kv->type != GGUF_ARRAY ? as_number(kv->type, kv->at, def) : def;
}

struct gguf_text gguf_str(const struct gguf *g, const char *key)
{
    const struct kv *kv = find(g, key);
    return kv && kv->type == GGUF_STRING ? as_text(kv->at) : (struct gguf_text){0};
}

size_t gguf_array(const struct gguf *g, const char *key)
{
    const struct kv *kv = find(g, key);
    return kv && kv->type == GGUF_ARRAY ? kv->count : 0;
}

struct gguf_text gguf_array_str(const struct gguf *g, const char *key, size_t i)
{
    const struct kv *kv = find(g, key);
    if (!kv || !kv->places || i >= kv->count)
        return (struct gguf_text){0};
    return as_text(kv->at + kv->places[i]);
}

double gguf_array_num(const struct gguf *g, const char *key, size_t i, double def)
{
    const struct kv *kv = find(g, key);
    if (!kv || kv->type != GGUF_ARRAY || i >= kv->count || kv->of == GGUF_STRING)
        return def;
    return as_number(kv->of, kv->at + i * kv_size[kv->of], def);
}
