/* proto.c - Kubernetes protobuf to JSON along the schema table (proto.h).
 *
 * The body is "k8s\0", then runtime.Unknown: 1 TypeMeta (1 apiVersion, 2 kind),
 * 2 the object's bytes. Generated Go code writes a struct's plain members even
 * when they are zero and a pointer's only when it is set; JSON leaves plain
 * zeros out. The wire does not tell them apart, so zeros are dropped, but for
 * the fields of `pointers`, where 0 or false is a choice.
 */
#include "k8s/practice/proto.h"

#include <openssl/evp.h>

#include "core/base/clock.h"
#include "core/base/mem.h"
#include "k8s/schema.h"

enum { DEPTH = 60 };

struct in {
    const unsigned char *p, *end;
};

struct item {
    int number, wire;
    uint64_t value;              /* varint and fixed */
    struct in bytes;             /* length-delimited */
};

static const char *const pointers[] = {
    "replicas", "parallelism", "completions", "backoffLimit", "ttlSecondsAfterFinished",
    "activeDeadlineSeconds", "terminationGracePeriodSeconds", "gracePeriodSeconds", "suspend",
    "automountServiceAccountToken", "immutable", "minReadySeconds", "revisionHistoryLimit",
    "readOnlyRootFilesystem", "allowPrivilegeEscalation", "runAsUser", "runAsGroup",
    "runAsNonRoot", "expirationSeconds", "optional", "enableServiceLinks", "storageClassName"};

static bool varint(struct in *in, uint64_t *out)
{
    *out = 0;
    for (int shift = 0; shift < 64 && in->p < in->end; shift += 7) {
        unsigned char b = *in->p++;
        *out |= (uint64_t)(b & 0x7f) << shift;
        if (!(b & 0x80))
            return true;
    }
    return false;
}

static bool fixed(struct in *in, int bytes, uint64_t *out)
{
    if (in->end - in->p < bytes)
        return false;
    *out = 0;
    for (int i = 0; i < bytes; i++)
        *out |= (uint64_t)in->p[i] << (8 * i);
    in->p += bytes;
    return true;
}

static bool next_item(struct in *in, struct item *it)
{
    uint64_t tag, n;
    if (!varint(in, &tag) || tag >> 3 == 0 || tag >> 3 > 1 << 20)
        return false;
    it->number = (int)(tag >> 3);
    it->wire = (int)(tag & 7);
    it->bytes = (struct in){NULL, NULL};
    switch (it->wire) {
    case 0: return varint(in, &it->value);
    case 1: return fixed(in, 8, &it->value);
    case 5: return fixed(in, 4, &it->value);
    case 2:
        if (!varint(in, &n) || n > (uint64_t)(in->end - in->p))
            return false;
        it->bytes = (struct in){in->p, in->p + n};
        in->p += n;
        return true;
    default: return false;
    }
}

static size_t length(const struct item *it)
{
    return (size_t)(it->bytes.end - it->bytes.p);
}

static struct json *string_of(const struct item *it)
{
    return json_new_string_n((const char *)it->bytes.p, length(it));
}

/* --- values with a message of their own --- */

static struct json *time_of(struct in in, bool micro)
{
    struct item it;
    int64_t seconds = 0, nanos = 0;
    char buf[36];
    while (in.p < in.end && next_item(&in, &it)) {
        if (it.number == 1)
            seconds = (int64_t)it.value;
        else if (it.number == 2)
            nanos = (int64_t)it.value;
    }
    if ((seconds == 0 && nanos == 0) || seconds < -62135596800 + 1 || seconds > 253402300799)
        return NULL;
    return json_new_string(clock_rfc3339(seconds * 1000000 + nanos / 1000, micro ? 6 : 0, buf));
}

static struct json *inner_string(struct in in)
{
    struct item it;
    while (in.p < in.end && next_item(&in, &it))
        if (it.number == 1 && it.wire == 2)
            return string_of(&it);
    return NULL;
}

static struct json *int_or_string(struct in in)
{
    struct item it;
    uint64_t type = 0, number = 0;
    struct json *text = NULL;
    while (in.p < in.end && next_item(&in, &it)) {
        if (it.number == 1)
            type = it.value;
        else if (it.number == 2)
            number = it.value;
        else if (it.number == 3 && !text)
            text = string_of(&it);
    }
    if (type == 1)
        return text ? text : json_new_string("");
    json_free(text);
    return json_new_number((double)(int32_t)number);
}

static struct json *raw_json(struct in in)
{
    struct item it;
    struct json *j = NULL;
    struct pd_err err;
    while (in.p < in.end && next_item(&in, &it))
        if (it.number == 1 && it.wire == 2 &&
            json_parse((const char *)it.bytes.p, length(&it), &j, &err) == PD_OK)
            return j;
    return NULL;
}

static struct json *base64(const struct item *it)
{
    size_t n = length(it);
    char *out = xmalloc(n / 3 * 4 + 8);
    EVP_EncodeBlock((unsigned char *)out, it->bytes.p, (int)n);
    struct json *s = json_new_string(out);
    free(out);
    return s;
}

/* --- messages --- */

static bool message(struct in in, const struct schema_type *t, struct json *obj, int depth);

static bool is_pointer(const struct schema_field *f)
{
    for (size_t i = 0; i < ARRAY_LEN(pointers); i++)
        if (!strcmp(pointers[i], f->name))
            return true;
    return false;
}

static struct json *number_of(const struct schema_field *f, const struct item *it, bool keep)
{
    if (f->base == SCHEMA_BOOL)
        return it->value || keep ? json_new_bool(it->value != 0) : NULL;
    double d;
    if (f->base == SCHEMA_DOUBLE)
        memcpy(&d, &it->value, sizeof d);
    else
        d = f->base == SCHEMA_INT32 ? (double)(int32_t)it->value : (double)(int64_t)it->value;
    return d != 0 || keep ? json_new_number(d) : NULL;
}

/* NULL: a zero that is left out. */
static struct json *value_of(const struct schema_field *f, const struct item *it, bool keep,
                             int depth, bool *ok)
{
    bool lengthy = it->wire == 2;
    bool numeric = f->base == SCHEMA_BOOL || f->base == SCHEMA_INT32 || f->base == SCHEMA_INT64 ||
                   f->base == SCHEMA_DOUBLE;
    if (numeric == lengthy) {
        *ok = false;
        return NULL;
    }
    switch (f->base) {
    case SCHEMA_STRING: return length(it) || keep ? string_of(it) : NULL;
    case SCHEMA_TIME: return time_of(it->bytes, false);
    case SCHEMA_MICROTIME: return time_of(it->bytes, true);
    case SCHEMA_BYTES: return length(it) || keep ? base64(it) : NULL;
    case SCHEMA_QUANTITY: return inner_string(it->bytes);
    case SCHEMA_INT_OR_STRING: return int_or_string(it->bytes);
    case SCHEMA_ANY: return raw_json(it->bytes);
    case SCHEMA_OBJECT: {
        struct json *o = json_new_object();
        *ok = message(it->bytes, f->ref, o, depth + 1);
        return o;
    }
    default: return number_of(f, it, keep);
    }
}

static bool map_entry(const struct schema_field *f, struct in in, struct json *map, int depth)
{
    struct item it;
    char *key = NULL;
    struct json *value = NULL;
    bool ok = true;
    while (ok && in.p < in.end && (ok = next_item(&in, &it))) {
        if (it.number == 1 && it.wire == 2 && !key) {
            key = xstrndup((const char *)it.bytes.p, length(&it));
        } else if (it.number == 2 && !value) {
            value = value_of(f, &it, true, depth, &ok);
        }
    }
    if (ok)
        json_set(map, key ? key : "", value ? value : json_new_string(""));
    else
        json_free(value);
    free(key);
    return ok;
}

static struct json *member(struct json *obj, const struct schema_field *f)
{
    struct json *have = json_get_mut(obj, f->name);
    if (have)
        return have;
    json_set(obj, f->name, f->shape == SCHEMA_LIST ? json_new_array() : json_new_object());
    return json_get_mut(obj, f->name);
}

static bool one(const struct schema_field *f, const struct item *it, struct json *obj, int depth)
{
    bool ok = true;
    if (!*f->name)                            /* its fields stand in obj itself */
        return it->wire == 2 && message(it->bytes, f->ref, obj, depth + 1);
    if (f->shape == SCHEMA_MAP)
        return it->wire == 2 && map_entry(f, it->bytes, member(obj, f), depth);
    struct json *v = value_of(f, it, f->shape == SCHEMA_LIST || is_pointer(f), depth, &ok);
    if (v && f->shape == SCHEMA_LIST)
        json_append(member(obj, f), v);
    else if (v)
        json_set(obj, f->name, v);
    return ok;
}

static bool message(struct in in, const struct schema_type *t, struct json *obj, int depth)
{
    struct item it;
    if (depth > DEPTH)
        return false;
    while (in.p < in.end) {
        if (!next_item(&in, &it))
            return false;
        const struct schema_field *f = schema_proto(t, it.number);
        if (f && !one(f, &it, obj, depth))
            return false;
    }
    return true;
}

static enum pd_code decode_object(const struct item *raw, const char *gv, const char *kind,
                                  struct json **out, struct pd_err *err)
{
    const struct schema_type *t = schema_type(gv, kind);
    if (!t && !strcmp(kind, "DeleteOptions"))
        t = schema_named("meta.v1.DeleteOptions");
    if (!t)
        return pd_fail(err, PD_PARSE, "no kind \"%s\" is registered for version \"%s\"", kind, gv);
    struct json *obj = json_new_object();
    json_put_str(obj, "kind", kind);
    json_put_str(obj, "apiVersion", gv);
    if (!message(raw->bytes, t, obj, 0)) {
        json_free(obj);
        return pd_fail(err, PD_PARSE, "the protobuf body of this %s is damaged", kind);
    }
    *out = obj;
    return PD_OK;
}

static void type_meta(struct in in, char **gv, char **kind)
{
    struct item it;
    while (in.p < in.end && next_item(&in, &it)) {
        char **to = it.number == 1 ? gv : it.number == 2 ? kind : NULL;
        if (!to || it.wire != 2)
            continue;
        free(*to);
        *to = xstrndup((const char *)it.bytes.p, length(&it));
    }
}

enum pd_code proto_decode(const void *body, size_t n, struct json **out, struct pd_err *err)
{
    struct in in = {body, (const unsigned char *)body + n};
    struct item it, raw = {0};
    char *gv = NULL, *kind = NULL;
    if (n < 4 || memcmp(body, "k8s\0", 4) != 0)
        return pd_fail(err, PD_PARSE, "the body is no Kubernetes protobuf");
    in.p += 4;
    while (in.p < in.end && next_item(&in, &it)) {
        if (it.number == 1 && it.wire == 2)
            type_meta(it.bytes, &gv, &kind);
        else if (it.number == 2 && it.wire == 2)
            raw = it;
    }
    enum pd_code code = decode_object(&raw, gv ? gv : "", kind ? kind : "", out, err);
    free(gv);
    free(kind);
    return code;
}
