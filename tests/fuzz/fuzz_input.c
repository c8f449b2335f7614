/* fuzz: core/base tui/input.c
 * Keys are names, and the same bytes give the same keys however they are split. */
#include "tui/input.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void note(void *arg, const char *key, const char *paste)
{
    if (key && (!*key || strlen(key) > 40))
        abort();
    str_add(arg, key ? key : "paste:");
    str_add(arg, paste ? paste : "");
    str_addc(arg, '\n');
}

static void feed(const uint8_t *data, size_t size, size_t step, struct str *out)
{
    struct input in;
    str_init(out, 1 << 20);
    input_init(&in, note, out);
    for (size_t i = 0; i < size; i += step)
        input_feed(&in, (const char *)data + i, size - i < step ? size - i : step);
    input_release(&in);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct str whole, split;
    feed(data, size, size ? size : 1, &whole);
    feed(data, size, 1, &split);
    if (whole.len != split.len || memcmp(whole.p, split.p, whole.len) != 0)
        abort();
    str_release(&whole);
    str_release(&split);
    return 0;
}
