/* mem.h - memory: allocation that never returns NULL, and arenas.
 *
 * Out of memory is a PD_BUG. Sizes are checked for overflow. An arena gives
 * memory that is freed all at once: one a frame, a request, an object or a
 * lab; arena memory is zeroed and aligned to 16 bytes.
 */
#ifndef CORE_BASE_MEM_H
#define CORE_BASE_MEM_H

#include "core/base/base.h"

void *xmalloc(size_t size);
void *xcalloc(size_t n, size_t size);
void *xrealloc(void *p, size_t size);
void *xrealloc_array(void *p, size_t n, size_t size);
char *xstrdup(const char *s);                    /* NULL gives NULL */
char *xstrndup(const char *s, size_t n);
char *xasprintf(const char *fmt, ...) PRINTF_LIKE(1, 2);

/* Calls of the x functions so far in this process (tests: none after step 0). */
uint64_t mem_allocations(void);

struct arena_block;
struct arena {
    struct arena_block *blocks;                  /* newest first */
    size_t used, total, ceiling;
};

void arena_init(struct arena *a, size_t ceiling);  /* passing the ceiling is a PD_BUG */
void *arena_alloc(struct arena *a, size_t size);
char *arena_strdup(struct arena *a, const char *s);
char *arena_printf(struct arena *a, const char *fmt, ...) PRINTF_LIKE(2, 3);
void arena_clear(struct arena *a);               /* keeps one block for reuse */
void arena_release(struct arena *a);

#endif
