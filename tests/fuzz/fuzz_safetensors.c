/* fuzz_safetensors.c - any bytes as a tensor file: open, look at every entry,
 * load two tensors.
 * fuzz: core/train/safetensors.c core/train/safetensors_load.c core/train/tensors.c core/train/slab.c core/train/tjson.c core/base
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

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct safetensors *s;
    struct pd_err err;
    struct tensors ts = {0};
    float a[6], b[2];
    char path[40];
    int fd = memfd_create("fuzz", 0);
    if (fd < 0 || write(fd, data, size) != (ssize_t)size)
        abort();
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    if (safetensors_open(path, &s, &err) == PD_OK) {
        look(s, size);
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
