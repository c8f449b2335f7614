/* fuzz_doctor.c - any bytes as a data set: every finding is a sentence.
 * fuzz: core/train/doctor.c core/train/doctor_lines.c core/train/doctor_columns.c
 * fuzz: core/train/doctor_rows.c core/train/doctor_chat.c core/train/doctor_print.c
 * fuzz: core/train/tok*.c core/train/data_forms.c core/train/rx.c core/train/tjson.c core/base
 */
#include "core/train/doctor.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static FILE *null;
    struct doctor d;
    struct pd_err err;
    char path[64];
    int fd = memfd_create("doctor", 0);
    if (fd < 0 || write(fd, data, size) != (ssize_t)size)
        abort();
    null = null ? null : fopen("/dev/null", "w");
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    doctor_init(&d, NULL, 0);
    if (doctor_read(&d, path, &err) == PD_OK) {
        doctor_print(&d, path, false, null);
        doctor_print(&d, path, true, null);
    }
    doctor_release(&d);
    close(fd);
    return 0;
}
