/* schema_data.c - embeds k8s/schema.txt. Written by k8s/schema_gen.py: do not
 * edit. The digest makes this file change, and be compiled, with the text.
 * sha256 3387c6519b2af2a643daff2e0e39584a84bfa615b57fcf796a53a738ed897363
 */
#include "k8s/schema.h"

__asm__(".section .rodata\n"
        ".global schema_data_begin\n"
        ".global schema_data_end\n"
        "schema_data_begin:\n"
        ".incbin \"" PODIUM_SOURCE_DIR "/k8s/schema.txt\"\n"
        "schema_data_end:\n"
        ".byte 0\n"
        ".previous\n");

extern const char schema_data_begin[], schema_data_end[];

const char *schema_data_text(size_t *len)
{
    *len = (size_t)(schema_data_end - schema_data_begin);
    return schema_data_begin;
}
