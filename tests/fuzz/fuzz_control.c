/* fuzz_control.c - any line on the training's control channel.
 * fuzz: core/train/control.c core/base
 */
#include "core/train/control.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char line[256];
    struct control_line l;
    struct pd_err err;
    size_t n = MIN(size, sizeof line - 1);
    memcpy(line, data, n);
    line[n] = '\0';
    if (control_parse(line, &l, &err) == PD_OK) {
        assert(l.cmd < CONTROL_CMDS && l.n >= 0 && l.col >= 0);
        assert(l.cmd != CONTROL_RATE || l.x >= 0);
    } else {
        assert(err.code == PD_USAGE && err.msg[0] && err.hint[0]);
    }
    return 0;
}
