/* kern.c - which inner loops this processor runs (kern.h). */
#include "core/train/kern.h"

bool kern_usable(const struct kern *k)
{
#if defined(__x86_64__)
    __builtin_cpu_init();
    if (k == &kern_avx2)
        return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
    if (k == &kern_avx512)
        return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
               __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw");
#endif
    return k == &kern_plain;
}

const struct kern *kern_choose(const char *isa)
{
    static const struct kern *const best_first[] = {&kern_avx512, &kern_avx2, &kern_plain};
    for (size_t i = 0; i < ARRAY_LEN(best_first); i++) {
        const struct kern *k = best_first[i];
        if (isa && *isa ? strcmp(isa, k->name) == 0 : true)
            if (kern_usable(k))
                return k;
    }
    return NULL;
}
