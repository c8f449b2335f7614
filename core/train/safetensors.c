/* safetensors.c - the strict reader of Hugging Face's tensor file
 * (safetensors.h). The writer is safetensors_save.c.
 *
 *   u64 LE n | n bytes of JSON, may end in spaces | data
 *   JSON: {"name": {"dtype", "shape", "data_offsets": [begin, end]}, …,
 *          "__metadata__": {string: string}}
 */
#include "core/train/safetensors.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/i18n.h"
#include "core/base/mem.h"
#include "core/base/str.h"
#include "core/train/sniff.h"
#include "core/train/tjson.h"

enum { HEADER_MOST = 100000000 };

struct safetensors {
    char *path;
    uint8_t *map;
    size_t size;
    struct tjson *header;
    struct safetensors_entry *e;  /* in the order of their data */
    int n;
};

static const struct {
    const char *name;
    int bits;
} dtypes[] = {
    {"BOOL", 8}, {"U8", 8},   {"I8", 8},   {"F8_E5M2", 8}, {"F8_E4M3", 8}, {"I16", 16},
    {"U16", 16}, {"F16", 16}, {"BF16", 16}, {"I32", 32},   {"U32", 32},    {"F32", 32},
    {"I64", 64}, {"U64", 64}, {"F64", 64}, {"C64", 64},    {"F4", 4},
    {"F6_E2M3", 6}, {"F6_E3M2", 6}, {"F8_E8M0", 8}, {"F8_E4M3FNUZ", 8}, {"F8_E5M2FNUZ", 8},
};

static enum pd_code bad(const struct safetensors *s, struct pd_err *err, const char *what,
                        const char *name)
{
    return pd_fail_at(err, PD_TRAIN, s->path, 0, 0, "%s: %s", name, what);
}

/* bytes of the shape; false on overflow or a size that is not whole bytes. */
static bool shape_bytes(struct safetensors_entry *e, const struct tjson *shape, int bits,
                        uint64_t *bytes)
{
    uint64_t n = (uint64_t)bits;
    e->ndim = (int)tjson_count(shape);
    if (tjson_type(shape) != TJSON_ARRAY || e->ndim > (int)ARRAY_LEN(e->shape))
        return false;
    for (int i = 0; i < e->ndim; i++) {
        e->shape[i] = tjson_int(tjson_item(shape, (size_t)i), "", -1);
        if (e->shape[i] < 0 || __builtin_mul_overflow(n, (uint64_t)e->shape[i], &n))
            return false;
    }
    *bytes = n / 8;
    return n % 8 == 0;
}

/* The data ends too early: sizes, and the first tensor that does not fit. */
static enum pd_code cut_off(const struct safetensors *s, size_t base, struct pd_err *err)
{
    const char *first = "";
    int64_t all = 0, at = INT64_MAX, room = (int64_t)(s->size - base);
    for (void *it = tjson_iter(s->header); it; it = tjson_iter_next(s->header, it)) {
        int64_t begin = tjson_int(tjson_iter_value(it), "data_offsets[0]", 0);
        int64_t end = tjson_int(tjson_iter_value(it), "data_offsets[1]", 0);
        all = MAX(all, end);
        if (end > room && begin < at) {
            at = begin;
            first = tjson_iter_key(it);
        }
    }
    pd_fail_at(err, PD_TRAIN, s->path, 0, 0,
               _("the file is truncated: it has %zu bytes, its header needs %" PRId64 " (%" PRId64
                 " are missing); %.200s is the first tensor that does not fit"),
               s->size, all + (int64_t)base, all - room, first);
    return pd_set_hint(err, "%s", _("the download or the copy stopped early: get it again"));
}

static enum pd_code read_entry(struct safetensors *s, const char *name, const struct tjson *j,
                               size_t base, struct pd_err *err)
{
    struct safetensors_entry *e = &s->e[s->n];
    const char *dtype = tjson_str(j, "dtype", "");
    int bits = 0;
    uint64_t bytes;
    *e = (struct safetensors_entry){.name = name};
    for (size_t i = 0; i < ARRAY_LEN(dtypes); i++)
        if (str_eq(dtype, dtypes[i].name)) {
            e->dtype = dtypes[i].name;
            bits = dtypes[i].bits;
        }
    if (!bits) {
        pd_fail_at(err, PD_TRAIN, s->path, 0, 0, _("%s has a dtype that is none: \"%.40s\""), name,
                   dtype);
        return pd_set_hint(err, "%s", _("the file is damaged, or newer than podium"));
    }
    if (!shape_bytes(e, tjson_get(j, "shape"), bits, &bytes))
        return bad(s, err, _("a bad shape"), name);
    int64_t begin = tjson_int(j, "data_offsets[0]", -1), end = tjson_int(j, "data_offsets[1]", -1);
    if (tjson_count(tjson_get(j, "data_offsets")) != 2 || begin < 0 || end < begin)
        return bad(s, err, _("offsets that make no sense"), name);
    if ((uint64_t)end > s->size - base)
        return cut_off(s, base, err);
    if ((uint64_t)(end - begin) != bytes)
        return bad(s, err, _("another length than its shape says"), name);
    e->data = s->map + base + begin;
    e->bytes = (size_t)bytes;
    s->n++;
    return PD_OK;
}

static int by_data(const void *a, const void *b)
{
    const struct safetensors_entry *x = a, *y = b;
    if (x->data != y->data)
        return x->data < y->data ? -1 : 1;
    return x->bytes < y->bytes ? -1 : x->bytes > y->bytes;
}

static enum pd_code check_metadata(struct safetensors *s, const struct tjson *j,
                                   struct pd_err *err)
{
    if (tjson_type(j) != TJSON_OBJECT)
        return bad(s, err, _("it must be an object"), "__metadata__");
    for (void *it = tjson_iter(j); it; it = tjson_iter_next(j, it))
        if (tjson_type(tjson_iter_value(it)) != TJSON_STRING)
            return bad(s, err, _("this member of __metadata__ is not a string"),
                       tjson_iter_key(it));
    return PD_OK;
}

static enum pd_code read_entries(struct safetensors *s, size_t base, struct pd_err *err)
{
    s->e = xcalloc(tjson_count(s->header) + 1, sizeof *s->e);
    for (void *it = tjson_iter(s->header); it; it = tjson_iter_next(s->header, it)) {
        const char *name = tjson_iter_key(it);
        enum pd_code rc = str_eq(name, "__metadata__")
                              ? check_metadata(s, tjson_iter_value(it), err)
                              : read_entry(s, name, tjson_iter_value(it), base, err);
        if (rc != PD_OK)
            return rc;
    }
    if (s->n)
        qsort(s->e, (size_t)s->n, sizeof *s->e, by_data);
    const uint8_t *at = s->map + base;
    for (int i = 0; i < s->n; i++) {
        if (s->e[i].data != at)
            return bad(s, err, _("a hole or an overlap before this tensor"), s->e[i].name);
        at += s->e[i].bytes;
    }
    if (at != s->map + s->size)
        return bad(s, err, _("the file goes on behind its last tensor"), "data");
    return PD_OK;
}

/* What else it is, when it is no tensor file at all. */
static enum pd_code not_ours(struct safetensors *s, struct pd_err *err, const char *what)
{
    enum sniff kind = sniff_bytes(s->map, s->size);
    if (!sniff_text(kind))
        return bad(s, err, what, "header");
    pd_fail_at(err, PD_TRAIN, s->path, 0, 0, "%s", sniff_text(kind));
    return pd_set_hint(err, "%s", sniff_hint(kind));
}

static enum pd_code read_header(struct safetensors *s, struct pd_err *err)
{
    uint64_t n = 0;
    if (s->size < 8)
        return not_ours(s, err, _("the file is too short for a safetensors header"));
    for (int i = 7; i >= 0; i--)
        n = n << 8 | s->map[i];
    if (n > HEADER_MOST || n > s->size - 8)
        return not_ours(s, err, _("the header's length is larger than the file allows"));
    if (n == 0 || s->map[8] != '{')
        return not_ours(s, err, _("the header does not start with {"));
    enum pd_code rc = tjson_parse((const char *)s->map + 8, (size_t)n, s->path, 1, &s->header,
                                  err);
    return rc == PD_OK ? read_entries(s, 8 + (size_t)n, err) : rc;
}

static enum pd_code map_file(struct safetensors *s, struct pd_err *err)
{
    struct stat st;
    int fd = open(s->path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return pd_fail_errno(err, PD_IO, _("%s can't be opened"), s->path);
    if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode)) {
        close(fd);
        return pd_fail(err, PD_IO, _("%s is not a regular file"), s->path);
    }
    s->size = (size_t)st.st_size;
    if (s->size) {
        s->map = mmap(NULL, s->size, PROT_READ, MAP_PRIVATE, fd, 0);
        if (s->map == MAP_FAILED) {
            s->map = NULL;
            pd_fail_errno(err, PD_IO, _("%s can't be mapped"), s->path);
            close(fd);
            return err->code;
        }
    }
    close(fd);
    return PD_OK;
}

enum pd_code safetensors_open(const char *path, struct safetensors **out, struct pd_err *err)
{
    struct safetensors *s = xcalloc(1, sizeof *s);
    s->path = xstrdup(path);
    enum pd_code rc = map_file(s, err);
    if (rc == PD_OK)
        rc = read_header(s, err);
    if (rc != PD_OK) {
        safetensors_close(s);
        return rc;
    }
    *out = s;
    return PD_OK;
}

void safetensors_close(struct safetensors *s)
{
    if (!s)
        return;
    if (s->map)
        munmap(s->map, s->size);
    tjson_free(s->header);
    free(s->e);
    free(s->path);
    free(s);
}

int safetensors_count(const struct safetensors *s)
{
    return s->n;
}

const struct safetensors_entry *safetensors_at(const struct safetensors *s, int i)
{
    return &s->e[i];
}

const struct safetensors_entry *safetensors_find(const struct safetensors *s, const char *name)
{
    for (int i = 0; i < s->n; i++)
        if (str_eq(s->e[i].name, name))
            return &s->e[i];
    return NULL;
}
