/* mem.c - allocation that never returns NULL, and arenas (mem.h). */
#include "core/base/mem.h"

#include <stdarg.h>

#include "core/base/err.h"

static uint64_t allocations;

static void *check(void *p, size_t size)
{
    allocations++;
    if (!p)
        PD_BUG("out of memory: %zu bytes", size);
    return p;
}

void *xmalloc(size_t size)
{
    return check(malloc(size ? size : 1), size);
}

void *xcalloc(size_t n, size_t size)
{
    return check(calloc(n ? n : 1, size ? size : 1), size);
}

void *xrealloc(void *p, size_t size)
{
    return check(realloc(p, size ? size : 1), size);
}

void *xrealloc_array(void *p, size_t n, size_t size)
{
    size_t total;
    if (__builtin_mul_overflow(n, size, &total))
        PD_BUG("allocation overflows: %zu x %zu", n, size);
    return xrealloc(p, total);
}

char *xstrndup(const char *s, size_t n)
{
    size_t len = strnlen(s, n);
    char *copy = xmalloc(len + 1);
    memcpy(copy, s, len);
    copy[len] = '\0';
    return copy;
}

char *xstrdup(const char *s)
{
    return s ? xstrndup(s, strlen(s)) : NULL;
}

static char *format(const char *fmt, va_list ap, void *(*alloc)(void *, size_t), void *arg)
{
    va_list again;
    va_copy(again, ap);
    int n = vsnprintf(NULL, 0, fmt, again);
    va_end(again);
    if (n < 0)
        PD_BUG("bad format: %s", fmt);
    char *s = alloc(arg, (size_t)n + 1);
    vsnprintf(s, (size_t)n + 1, fmt, ap);
    return s;
}

static void *alloc_heap(void *arg UNUSED, size_t size)
{
    return xmalloc(size);
}

static void *alloc_arena(void *arg, size_t size)
{
    return arena_alloc(arg, size);
}

char *xasprintf(const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    char *s = format(fmt, ap, alloc_heap, NULL);
    va_end(ap);
    return s;
}

uint64_t mem_allocations(void)
{
    return allocations;
}

/* --- arenas --------------------------------------------------------------- */

enum { ARENA_ALIGN = 16, ARENA_BLOCK = 16 * 1024 };

struct arena_block {
    struct arena_block *next;
    size_t size, used;
    _Alignas(ARENA_ALIGN) char data[];
};

void arena_init(struct arena *a, size_t ceiling)
{
    *a = (struct arena){.ceiling = ceiling};
}

static struct arena_block *add_block(struct arena *a, size_t need)
{
    size_t size = MAX(need, (size_t)ARENA_BLOCK);
    struct arena_block *b = xmalloc(sizeof *b + size);
    b->next = a->blocks;
    b->size = size;
    b->used = 0;
    a->blocks = b;
    a->total += size;
    return b;
}

void *arena_alloc(struct arena *a, size_t size)
{
    size_t need = (MAX(size, (size_t)1) + ARENA_ALIGN - 1) & ~(size_t)(ARENA_ALIGN - 1);
    if (need < size || a->used + need > a->ceiling)
        PD_BUG("an arena passes its ceiling of %zu bytes", a->ceiling);
    struct arena_block *b = a->blocks;
    if (!b || b->size - b->used < need)
        b = add_block(a, need);
    void *p = b->data + b->used;
    b->used += need;
    a->used += need;
    return memset(p, 0, need);
}

char *arena_strdup(struct arena *a, const char *s)
{
    size_t n = strlen(s) + 1;
    return memcpy(arena_alloc(a, n), s, n);
}

char *arena_printf(struct arena *a, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    char *s = format(fmt, ap, alloc_arena, a);
    va_end(ap);
    return s;
}

static void free_blocks(struct arena *a, struct arena_block *keep)
{
    struct arena_block *b = a->blocks;
    while (b) {
        struct arena_block *next = b->next;
        if (b != keep)
            free(b);
        b = next;
    }
}

void arena_clear(struct arena *a)
{
    struct arena_block *keep = a->blocks;
    free_blocks(a, keep);
    if (keep) {
        keep->next = NULL;
        keep->used = 0;
    }
    a->blocks = keep;
    a->used = 0;
    a->total = keep ? keep->size : 0;
}

void arena_release(struct arena *a)
{
    free_blocks(a, NULL);
    arena_init(a, a->ceiling);
}
