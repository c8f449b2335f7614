/* fuzz_config.c - options from a YAML file: read, and when good printed and read again.
 * fuzz: core/base core/train */
#define _GNU_SOURCE
#include <sys/mman.h>
#include <unistd.h>

#include "core/train/options.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static enum pd_code parse(int fd, struct options *o)
{
    char path[40], *argv[] = {"podium-train", "train", "--config", path, "--model", "m", "--data",
                              "d", "--out", "o", NULL};
    struct pd_err err;
    str_fmt(path, sizeof path, "/proc/self/fd/%d", fd);
    return options_parse(10, argv, o, &err);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct options o;
    int fd = memfd_create("config", 0);
    if (fd < 0 || write(fd, data, size) != (ssize_t)size)
        abort();
    if (parse(fd, &o) == PD_OK) {
        int again = memfd_create("again", 0);
        FILE *f = fdopen(again, "w");
        if (!f)
            abort();
        options_print(&o, f);
        fflush(f);
        options_release(&o);
        if (parse(again, &o) != PD_OK)
            abort();
        fclose(f);
    }
    options_release(&o);
    close(fd);
    return 0;
}
