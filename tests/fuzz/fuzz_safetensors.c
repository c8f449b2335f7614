/* fuzz_safetensors.c - any bytes as a tensor file: open, look at every entry,
 * load two tensors.
 * fuzz: core/train/safetensors*.c core/train/sniff.c core/train/slab.c core/train/t[ej]*.c
 * fuzz: core/base
 */
#include "core/train/safetensors.h"

#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Every entry lies within the file and follows the one before. */
static void look(const struct safetensors *s, size_t size)
{
    size_t sum = 0;
    uint8_t all = 0;
    for (int i = 0; i < safetensors_count(s); i++) {
        const struct safetensors_entry *e = safetensors_at(s, i);
        sum += e->bytes;
        for (size_t k = 0; k < e->bytes; k++)
            all |= e->data[k];
        assert(safetensors_find(s, e->name) != NULL);
    }
    assert(sum <= size);
    (void)all;
}

/* A header's length that fits is hard to guess: an even first byte puts it in
 * front, the byte being the length of the data behind the header. */
static bool make_file(int fd, const uint8_t *data, size_t size)
{
    if (size == 0 || data[0] & 1 || data[0] >= size)
        return write(fd, data, size) == (ssize_t)size;
    uint64_t n = size - 1 - data[0];
    return write(fd, &n, sizeof n) == sizeof n &&
           write(fd, data + 1, size - 1) == (ssize_t)size - 1;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct safetensors *s;
    struct pd_err err;
    struct tensors ts = {0};
    float a[6], b[2];
    char path[40];
    int fd = memfd_create("fuzz", 0);
    if (fd < 0 || !make_file(fd, data, size))
        abort();
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    if (safetensors_open(path, &s, &err) == PD_OK) {
        look(s, size + 8);
        safetensors_close(s);
    }
    tensors_add(&ts, 2, 3, "a")->w = a;
    tensors_add(&ts, 0, 2, "b")->w = b;
    if (safetensors_load(path, &ts, true, &err) != PD_OK && err.code == PD_OK)
        abort();
    tensors_release(&ts);
    close(fd);
    return 0;
}
