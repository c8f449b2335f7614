/* fuzz: core/base tui/sgr.c
 * Characters come through in their order, whatever stands between them. */
#include "tui/sgr.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct sgr s;
    struct str out, again;
    str_init(&out, 1 << 20);
    str_init(&again, 1 << 20);
    sgr_init(&s);
    char *copy = malloc(size + 1);
    memcpy(copy, data, size);
    copy[size] = '\0';
    sgr_squeeze(&s, copy, size, &out);
    sgr_squeeze(&s, "x", 1, &again);     /* a frame ends plain */
    if (again.len == 0 || again.p[again.len - 1] != 'x' || out.len > size * 8 + 64)
        abort();
    free(copy);
    str_release(&out);
    str_release(&again);
    return 0;
}
