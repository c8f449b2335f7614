/* fuzz_tjson.c - any bytes as JSON: parse, walk, quote back.
 * fuzz: core/train/tjson.c core/base */
#include "core/train/tjson.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void walk(const struct tjson *j, int depth)
{
    size_t n;
    if (depth > 64)
        return;
    (void)tjson_bytes(j, &n);
    (void)tjson_num(j, "", 0);
    for (size_t i = 0; tjson_type(j) == TJSON_ARRAY && i < tjson_count(j); i++)
        walk(tjson_item(j, i), depth + 1);
    for (void *it = tjson_iter(j); it; it = tjson_iter_next(j, it)) {
        assert(tjson_get(j, tjson_iter_key(it)) == tjson_iter_value(it));
        walk(tjson_iter_value(it), depth + 1);
    }
}

/* A text that was quoted reads back as itself. */
static void quote(const char *s)
{
    struct str out;
    struct tjson *j;
    struct pd_err err;
    str_init(&out, 1 << 20);
    tjson_quote(&out, s);
    if (tjson_parse(out.p, out.len, "quoted", 1, &j, &err) == PD_OK) {
        assert(strcmp(tjson_str(j, "", ""), s) == 0);
        tjson_free(j);
    }
    str_release(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct tjson *j;
    struct pd_err err = {0};
    if (tjson_parse((const char *)data, size, "fuzz", 1, &j, &err) == PD_OK) {
        walk(j, 0);
        tjson_at(j, "a.b[0].c");
        tjson_free(j);
    } else {
        assert(err.code == PD_PARSE && err.line >= 1 && err.col >= 1);
    }
    char text[256];
    size_t n = MIN(size, sizeof text - 1);
    memcpy(text, data, n);
    text[n] = '\0';
    tjson_at(NULL, text);
    quote(text);
    return 0;
}
