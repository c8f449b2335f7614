/* fuzz: core/base */
#include "core/base/runlog.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct run_record r;
    struct pd_err err;
    if (runlog_parse((const char *)data, size, &r, &err) == PD_OK)
        (void)runlog_num(&r, "step", 0);
    return 0;
}
