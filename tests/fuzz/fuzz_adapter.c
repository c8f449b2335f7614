/* fuzz_adapter.c - any bytes as an adapter_config.json, with patterns and regular
 * expressions in it.
 * fuzz: core/train/lora_config.c core/train/lora_match.c core/train/lora.c core/train/rx.c
 * fuzz: core/train/gemm.c core/train/compute.c core/train/pool.c core/train/ops_*.c
 * fuzz: core/train/kern*.c core/train/t[ej]*.c core/train/slab.c core/train/rng.c core/base
 */
#include "core/train/lora_config.h"

#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void read_config(const uint8_t *data, size_t size)
{
    static struct lora_table t;
    struct llama_config m = {.vocab = 20, .hidden = 8, .ffn = 12, .layers = 3, .heads = 2,
                             .kv_heads = 1, .head_dim = 4, .max_pos = 32};
    struct lora_config c;
    struct pd_err err;
    char path[40];
    int fd = memfd_create("fuzz", 0);
    if (fd < 0 || write(fd, data, size) != (ssize_t)size)
        abort();
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    if (lora_config_read(path, &m, &c, &t, &err) == PD_OK)
        for (int i = 0; i < m.layers; i++)
            for (int mod = 0; mod < LORA_MODULES; mod++)
                assert(t.r[i][mod] >= 0 && t.r[i][mod] <= 1024);
    close(fd);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    read_config(data, size);
    return 0;
}
