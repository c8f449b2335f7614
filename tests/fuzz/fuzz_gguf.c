/* fuzz_gguf.c - any bytes as a GGUF file: open, read every key and tensor.
 * fuzz: core/train/gguf.c core/train/gguf_blocks.c core/train/safetensors*.c core/train/sniff.c
 * fuzz: core/train/slab.c core/train/t[ej]*.c core/base
 */
#include "core/train/gguf.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void look(const struct gguf *g)
{
    static float values[1 << 12];
    for (size_t i = 0; i < gguf_tensors(g); i++) {
        const struct gguf_tensor *t = gguf_tensor_at(g, i);
        if (gguf_type_readable(t->type) && t->count <= 1 << 12)
            gguf_dequantise(t->type, t->data, t->count, values);
    }
    const char *keys[] = {"general.architecture", "a", "general.alignment",
                          "tokenizer.ggml.tokens"};
    for (size_t i = 0; i < ARRAY_LEN(keys); i++) {
        struct gguf_text s = gguf_str(g, keys[i]);
        uint8_t all = 0;
        for (size_t k = 0; k < s.n; k++)
            all |= (uint8_t)s.p[k];
        (void)all;
        for (size_t k = 0; k < gguf_array(g, keys[i]) && k < 8; k++) {
            (void)gguf_array_str(g, keys[i], k);
            (void)gguf_array_num(g, keys[i], k, 0);
        }
        (void)gguf_num(g, keys[i], 0);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct gguf *g;
    struct pd_err err;
    char path[64];
    int fd = memfd_create("gguf", 0);
    if (fd < 0 || write(fd, data, size) != (ssize_t)size)
        abort();
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    if (gguf_open(path, &g, &err) == PD_OK) {
        look(g);
        gguf_close(g);
    }
    close(fd);
    return 0;
}
