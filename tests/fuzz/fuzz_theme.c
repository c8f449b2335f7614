/* fuzz: core/base tui/theme.c tui/theme_colour.c tui/theme_lint.c
 * A theme that can be read is linted, too. */
#include "tui/theme.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void say(void *arg, const char *what)
{
    *(size_t *)arg += strlen(what);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct theme t;
    struct pd_err err = {0};
    size_t said = 0;
    if (theme_parse("fuzz", (const char *)data, size, &t, &err) == PD_OK)
        theme_lint(&t, say, &said);
    else if (err.line < 1 || !err.msg[0])
        abort();
    return 0;
}
