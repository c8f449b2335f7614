/* fuzz: core/base
 * fuzz: labs/runfile.c labs/run.c */
#include "labs/runfile.h"

#include <sys/mman.h>
#include <unistd.h>

#include "core/base/mem.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct run r;
    struct pd_err err;
    char path[64];
    struct run_log *log = xcalloc(1, sizeof *log);
    int fd = memfd_create("run", 0);
    run_init(&r, log);
    free(log);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    if (write(fd, data, size) == (ssize_t)size && runfile_load(path, &r, &err) == PD_OK) {
        struct str csv;
        str_init(&csv, 64 << 20);
        run_csv(&r, &csv);
        str_release(&csv);
    }
    close(fd);
    run_release(&r);
    return 0;
}
