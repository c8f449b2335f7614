/* gguf_save.c - the writer of GGUF files (gguf_save.h). Integers are little-endian,
 * as the machines are that podium runs on.
 */
#include "core/train/gguf_save.h"

#include <unistd.h>

#include "core/base/i18n.h"
#include "core/base/mem.h"
#include "core/base/str.h"

enum { ALIGN = 32, VERSION = 3, KV_CEILING = 1 << 29 };
enum value_type { U32 = 4, I32 = 5, F32 = 6, BOOL = 7, STRING = 8, ARRAY = 9 };

struct gguf_save {
    struct str kv;
    uint64_t n_kv;
    struct gguf_save_tensor *t;
    int n, cap;
};

struct gguf_save *gguf_save_new(void)
{
    struct gguf_save *g = xcalloc(1, sizeof *g);
    str_init(&g->kv, KV_CEILING);
    return g;
}

void gguf_save_free(struct gguf_save *g)
{
    if (!g)
        return;
    str_release(&g->kv);
    free(g->t);
    free(g);
}

static void add_u32(struct str *s, uint32_t v)
{
    str_append(s, &v, sizeof v);
}

static void add_u64(struct str *s, uint64_t v)
{
    str_append(s, &v, sizeof v);
}

static void add_text(struct str *s, const char *p, size_t n)
{
    add_u64(s, n);
    str_append(s, p, n);
}

static void add_key(struct gguf_save *g, const char *key, enum value_type type)
{
    add_text(&g->kv, key, strlen(key));
    add_u32(&g->kv, type);
    g->n_kv++;
}

void gguf_save_str(struct gguf_save *g, const char *key, const char *value)
{
    add_key(g, key, STRING);
    add_text(&g->kv, value, strlen(value));
}

void gguf_save_u32(struct gguf_save *g, const char *key, uint32_t value)
{
    add_key(g, key, U32);
    add_u32(&g->kv, value);
}

void gguf_save_f32(struct gguf_save *g, const char *key, float value)
{
    add_key(g, key, F32);
    str_append(&g->kv, &value, sizeof value);
}

void gguf_save_bool(struct gguf_save *g, const char *key, bool value)
{
    add_key(g, key, BOOL);
    str_addc(&g->kv, value ? 1 : 0);
}

static void add_array(struct gguf_save *g, const char *key, enum value_type type, size_t n)
{
    add_key(g, key, ARRAY);
    add_u32(&g->kv, type);
    add_u64(&g->kv, n);
}

void gguf_save_texts(struct gguf_save *g, const char *key, size_t n)
{
    add_array(g, key, STRING, n);
}

void gguf_save_numbers(struct gguf_save *g, const char *key, size_t n)
{
    add_array(g, key, I32, n);
}

void gguf_save_text(struct gguf_save *g, const char *bytes, size_t n)
{
    add_text(&g->kv, bytes, n);
}

void gguf_save_number(struct gguf_save *g, int32_t value)
{
    str_append(&g->kv, &value, sizeof value);
}

void gguf_save_tensor(struct gguf_save *g, const struct gguf_save_tensor *t)
{
    if (g->n == g->cap) {
        g->cap = g->cap ? 2 * g->cap : 64;
        g->t = xrealloc_array(g->t, (size_t)g->cap, sizeof *g->t);
    }
    struct gguf_save_tensor *to = &g->t[g->n++];
    *to = *t;
    if (t->rows == 0)
        to->type = GGUF_SAVE_F32;
    else if (t->type == GGUF_SAVE_Q8_0 && t->cols % GGUF_SAVE_BLOCK != 0)
        to->type = GGUF_SAVE_F16;
}

static size_t tensor_bytes(const struct gguf_save_tensor *t)
{
    return gguf_save_bytes(t->type, (size_t)MAX(t->rows, 1) * (size_t)t->cols);
}

static size_t aligned(size_t n)
{
    return (n + ALIGN - 1) / ALIGN * ALIGN;
}

static void print_head(const struct gguf_save *g, struct str *s)
{
    uint64_t at = 0;
    str_add(s, "GGUF");
    add_u32(s, VERSION);
    add_u64(s, (uint64_t)g->n);
    add_u64(s, g->n_kv);
    str_append(s, g->kv.p, g->kv.len);
    for (int i = 0; i < g->n; i++) {
        const struct gguf_save_tensor *t = &g->t[i];
        add_text(s, t->name, strlen(t->name));
        add_u32(s, t->rows ? 2 : 1);
        add_u64(s, (uint64_t)t->cols);
        if (t->rows)
            add_u64(s, (uint64_t)t->rows);
        add_u32(s, t->type);
        add_u64(s, at);
        at += aligned(tensor_bytes(t));
    }
    while (s->len % ALIGN)
        str_addc(s, '\0');
}

/* Row i of the file stands where in memory: of a head's pairs (j, j + half) the
 * file has (2j, 2j + 1). */
static size_t source_row(const struct gguf_save_tensor *t, size_t i)
{
    if (!t->heads)
        return i;
    size_t hd = (size_t)t->rows / (size_t)t->heads, in = i % hd;
    return i - in + in / 2 + in % 2 * (hd / 2);
}

static enum pd_code put_tensor(FILE *f, const struct gguf_save_tensor *t, float *row,
                               uint8_t *out, struct pd_err *err)
{
    size_t cols = (size_t)t->cols, n = gguf_save_bytes(t->type, cols);
    float scale = t->scale == 0 ? 1 : t->scale;
    for (size_t i = 0; i < (size_t)MAX(t->rows, 1); i++) {
        const float *from = t->w + source_row(t, i) * cols;
        for (size_t k = 0; k < cols; k++)
            row[k] = from[k] * scale;
        if (!gguf_save_encode(t->type, cols, row, out)) {
            pd_fail(err, PD_TRAIN, _("%s holds a value that f16 can't hold (at most 65504)"),
                    t->name);
            return pd_set_hint(err, _("use --type bf16 or f32"));
        }
        if (fwrite(out, 1, n, f) != n)
            return pd_fail_errno(err, PD_IO, _("%s can't be written"), t->name);
    }
    static const char zero[ALIGN];
    size_t all = tensor_bytes(t), pad = aligned(all) - all;
    if (fwrite(zero, 1, pad, f) != pad)
        return pd_fail_errno(err, PD_IO, _("%s can't be written"), t->name);
    return PD_OK;
}

static int widest(const struct gguf_save *g)
{
    int most = 1;
    for (int i = 0; i < g->n; i++)
        most = MAX(most, g->t[i].cols);
    return most;
}

static enum pd_code put_all(const struct gguf_save *g, FILE *f, const char *path,
                            struct pd_err *err)
{
    struct str head;
    size_t most = (size_t)widest(g);
    float *row = xcalloc(most, sizeof *row);
    uint8_t *out = xcalloc(most, sizeof *row);
    str_init(&head, (size_t)2 * KV_CEILING);
    print_head(g, &head);
    enum pd_code rc = PD_OK;
    if (g->kv.full || fwrite(head.p, 1, head.len, f) != head.len)
        rc = pd_fail_errno(err, PD_IO, _("%s can't be written"), path);
    for (int i = 0; i < g->n && rc == PD_OK; i++)
        rc = put_tensor(f, &g->t[i], row, out, err);
    str_release(&head);
    free(row);
    free(out);
    if (rc == PD_OK && (fflush(f) != 0 || fsync(fileno(f)) != 0))
        rc = pd_fail_errno(err, PD_IO, _("%s can't be written"), path);
    return rc;
}

enum pd_code gguf_save_write(struct gguf_save *g, const char *path, int64_t *bytes,
                             struct pd_err *err)
{
    char *part = xasprintf("%s.part", path);
    FILE *f = fopen(part, "wbe");
    if (!f) {
        pd_fail_errno(err, PD_IO, _("%s can't be made"), part);
        free(part);
        return err->code;
    }
    enum pd_code rc = put_all(g, f, part, err);
    *bytes = ftell(f);
    if (fclose(f) != 0 && rc == PD_OK)
        rc = pd_fail_errno(err, PD_IO, _("%s can't be closed"), part);
    if (rc == PD_OK && rename(part, path) != 0)
        rc = pd_fail_errno(err, PD_IO, _("%s can't be renamed"), part);
    if (rc != PD_OK)
        unlink(part);
    free(part);
    return rc;
}
