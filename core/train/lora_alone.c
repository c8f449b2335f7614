/* lora_alone.c - an adapter's file looked at without its base (lora_report.h). */
#include "core/base/i18n.h"
#include "core/train/lora_report_impl.h"

/* The name of a lora_A's lora_B or the other way round; false: neither. */
static bool partner(const char *name, char *out, size_t size)
{
    str_copy(out, size, name);
    char *a = strstr(out, ".lora_A.weight"), *b = strstr(out, ".lora_B.weight");
    if (a || b)
        (a ? a : b)[strlen(".lora_")] = a ? 'B' : 'A';
    return a || b;
}

static bool is_b(const char *name)
{
    return strstr(name, ".lora_B.weight") != NULL;
}

/* The first value whose exponent has all bits: infinity or NaN. -1: none. */
static int64_t nonfinite(const struct safetensors_entry *e)
{
    static const struct {
        const char *dtype;
        size_t width;
        uint32_t exponent;
    } kinds[] = {{"F32", 4, 0x7f800000}, {"BF16", 2, 0x7f80}, {"F16", 2, 0x7c00}};
    for (size_t k = 0; k < ARRAY_LEN(kinds); k++)
        for (size_t i = 0; str_eq(e->dtype, kinds[k].dtype) && i < e->bytes / kinds[k].width; i++) {
            uint32_t bits = 0;
            memcpy(&bits, e->data + i * kinds[k].width, kinds[k].width);
            if ((bits & kinds[k].exponent) == kinds[k].exponent)
                return (int64_t)i;
        }
    return -1;
}

static void sort_in(const struct safetensors *s, struct report *r)
{
    char other[2 * TENSOR_NAME];
    for (int i = 0; i < safetensors_count(s); i++) {
        const struct safetensors_entry *e = safetensors_at(s, i);
        bool adapter = partner(e->name, other, sizeof other);
        if (!adapter)
            lora_names_add(&r->names[LEFT], e->name);
        else if (lora_report_empty(e))
            lora_names_add(&r->names[EMPTY], e->name);
        if (adapter && !safetensors_find(s, other))
            lora_names_add(&r->names[MISSING], other);
    }
}

/* r of a B against its A's, and every value. */
static enum pd_code check_values(const struct safetensors *s, const char *path,
                                 struct pd_err *err)
{
    char other[2 * TENSOR_NAME];
    for (int i = 0; i < safetensors_count(s); i++) {
        const struct safetensors_entry *e = safetensors_at(s, i);
        partner(e->name, other, sizeof other);
        const struct safetensors_entry *a = is_b(e->name) ? safetensors_find(s, other) : NULL;
        int64_t at = nonfinite(e);
        if (at >= 0) {
            pd_fail_at(err, PD_TRAIN, path, 0, 0, _("%s[%zu] is not a finite number"), e->name,
                       (size_t)at);
            return pd_set_hint(err, _("the training diverged before it was saved: take an earlier "
                                       "checkpoint"));
        }
        if (a && (a->ndim != 2 || e->ndim != 2 || a->shape[0] != e->shape[1]))
            return pd_fail_at(err, PD_TRAIN, path, 0, 0,
                              _("%s and its lora_A are of different r: lora_A is [r, in], lora_B "
                                "[out, r]"), e->name);
    }
    return PD_OK;
}

enum pd_code lora_report_alone(const struct safetensors *s, const char *path, struct pd_err *err)
{
    struct report r = {0};
    sort_in(s, &r);
    if (lora_report_tell(s, path, &r, err) != PD_OK)
        return err->code;
    return check_values(s, path, err);
}

void lora_report_zero(const struct safetensors *s, struct str *out)
{
    struct lora_names zero = {0};
    int all = 0;
    for (int i = 0; i < safetensors_count(s); i++) {
        const struct safetensors_entry *e = safetensors_at(s, i);
        size_t k = 0;
        if (!is_b(e->name))
            continue;
        while (k < e->bytes && e->data[k] == 0)
            k++;
        if (k == e->bytes)
            lora_names_add(&zero, e->name);
        all++;
    }
    lora_names_zero(&zero, all, out);
}
