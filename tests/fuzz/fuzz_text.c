/* fuzz: core/base */
#include "core/base/utf8.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct str once, twice;
    str_init(&once, 1 << 20);
    str_init(&twice, 1 << 20);
    utf8_clean((const char *)data, size, true, &once);
    utf8_clean(once.p, once.len, true, &twice);
    if (!utf8_valid(once.p, once.len) || memchr(once.p, 0x1b, once.len) || once.len != twice.len)
        abort();
    str_release(&once);
    str_release(&twice);
    return 0;
}
