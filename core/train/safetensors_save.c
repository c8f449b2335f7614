/* safetensors_save.c - the writer of Hugging Face's tensor file
 * (safetensors.h). */
#include "core/train/safetensors.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "core/base/i18n.h"
#include "core/base/mem.h"
#include "core/base/path.h"
#include "core/base/str.h"

enum { BUFFER = 1 << 16 };

struct piece {
    char name[TENSOR_NAME + 2];
    const struct tensor *t;
    const float *x;
};

struct writer {
    int fd;
    const char *path;
    uint8_t buf[BUFFER];
    size_t used;
    int64_t total;
};

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct piece *)a)->name, ((const struct piece *)b)->name);
}

static int collect(const struct tensors *ts, int what, struct piece *p)
{
    static const struct {
        int bit;
        const char *prefix;
        size_t at;
    } kinds[] = {
        {SAFETENSORS_W, "", offsetof(struct tensor, w)},
        {SAFETENSORS_M, "m.", offsetof(struct tensor, m)},
        {SAFETENSORS_V, "v.", offsetof(struct tensor, v)},
    };
    int n = 0;
    for (size_t k = 0; k < ARRAY_LEN(kinds); k++)
        for (int i = 0; (what & kinds[k].bit) && i < ts->n; i++, n++) {
            const struct tensor *t = &ts->t[i];
            p[n].t = t;
            memcpy(&p[n].x, (const char *)t + kinds[k].at, sizeof p[n].x);
            snprintf(p[n].name, sizeof p[n].name, "%s%s", kinds[k].prefix, t->name);
        }
    qsort(p, (size_t)n, sizeof *p, by_name);
    return n;
}

static const struct {
    const char *name;
    size_t width;
    uint16_t (*one)(float);       /* NULL: as it is */
} types[] = {
    [SAFETENSORS_F32] = {"F32", 4, NULL},
    [SAFETENSORS_BF16] = {"BF16", 2, safetensors_f32_to_bf16},
    [SAFETENSORS_F16] = {"F16", 2, safetensors_f32_to_f16},
};

static void print_header(const struct piece *p, int n, enum safetensors_type type, struct str *s)
{
    size_t at = 0;
    str_add(s, "{\"__metadata__\":{\"format\":\"pt\"}");
    for (int i = 0; i < n; i++) {
        size_t bytes = tensors_count(p[i].t) * types[type].width;
        str_printf(s, ",\"%s\":{\"dtype\":\"%s\",\"shape\":[", p[i].name,
                   types[type].name);
        if (p[i].t->ndim == 2)
            str_printf(s, "%d,", p[i].t->rows);
        str_printf(s, "%d],\"data_offsets\":[%zu,%zu]}", p[i].t->cols, at, at + bytes);
        at += bytes;
    }
    str_addc(s, '}');
    while (s->len % 8)
        str_addc(s, ' ');
}

static bool flush(struct writer *w)
{
    size_t at = 0;
    while (at < w->used) {
        ssize_t n = write(w->fd, w->buf + at, w->used - at);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return false;
        at += (size_t)n;
    }
    w->total += (int64_t)w->used;
    w->used = 0;
    return true;
}

static bool put(struct writer *w, const void *data, size_t n)
{
    const uint8_t *p = data;
    while (n) {
        size_t room = MIN(n, BUFFER - w->used);
        memcpy(w->buf + w->used, p, room);
        w->used += room;
        p += room;
        n -= room;
        if (w->used == BUFFER && !flush(w))
            return false;
    }
    return true;
}

static bool put_tensor(struct writer *w, const struct piece *p, enum safetensors_type type)
{
    size_t n = tensors_count(p->t);
    if (!types[type].one)
        return put(w, p->x, n * sizeof *p->x);
    for (size_t i = 0; i < n; i++) {
        uint16_t v = types[type].one(p->x[i]);
        if (!put(w, &v, sizeof v))
            return false;
    }
    return true;
}

static bool put_all(struct writer *w, const struct piece *p, int n, enum safetensors_type type)
{
    struct str head;
    str_init(&head, 100000000);
    print_header(p, n, type, &head);
    uint64_t len = head.len;
    bool ok = put(w, &len, sizeof len) && put(w, head.p, head.len);
    str_release(&head);
    for (int i = 0; i < n && ok; i++)
        ok = put_tensor(w, &p[i], type);
    return ok && flush(w) && fsync(w->fd) == 0;
}

static enum pd_code write_file(struct writer *w, const char *part, const struct piece *p, int n,
                               enum safetensors_type type, struct pd_err *err)
{
    w->fd = open(part, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    if (w->fd < 0)
        return pd_fail_errno(err, PD_IO, _("%s can't be made"), part);
    bool ok = put_all(w, p, n, type);
    if (!ok)
        pd_fail_errno(err, PD_IO, _("%s can't be written"), part);
    if (close(w->fd) < 0 && ok) {
        ok = false;
        pd_fail_errno(err, PD_IO, _("%s can't be closed"), part);
    }
    if (ok && rename(part, w->path) < 0) {
        ok = false;
        pd_fail_errno(err, PD_IO, _("%s can't be renamed"), part);
    }
    if (!ok)
        unlink(part);
    return ok ? PD_OK : err->code;
}

enum pd_code safetensors_save(const char *path, const struct tensors *ts, int what,
                              enum safetensors_type type, int64_t *bytes, struct pd_err *err)
{
    struct writer *w = xcalloc(1, sizeof *w);
    struct piece *p = xcalloc(3 * (size_t)ts->n + 1, sizeof *p);
    char *part = xasprintf("%s.part", path);
    w->path = path;
    enum pd_code rc = write_file(w, part, p, collect(ts, what, p), type, err);
    if (bytes)
        *bytes = w->total;
    free(part);
    free(p);
    free(w);
    return rc;
}
