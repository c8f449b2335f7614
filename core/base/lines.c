/* lines.c - bytes to lines (lines.h). */
#include "core/base/lines.h"

void lines_init(struct lines *l, size_t ceiling)
{
    *l = (struct lines){.ceiling = ceiling};
    str_init(&l->buf, ceiling);
}

void lines_release(struct lines *l)
{
    str_release(&l->buf);
}

/* Hand out the line in buf and make room. buf is moved aside first, so that the
 * callback may feed or release this very object. */
static void deliver(struct lines *l, bool cut, lines_fn *fn, void *arg)
{
    struct str line = l->buf;
    str_init(&l->buf, l->ceiling);
    if (line.len > 0 && line.p[line.len - 1] == '\r' && !cut)
        line.p[--line.len] = '\0';
    fn(arg, line.p, line.len, cut);
    if (l->buf.cap == 0 && line.cap > 0) {          /* reuse its memory */
        str_clear(&line);
        l->buf = line;
    } else {
        str_release(&line);
    }
}

void lines_feed(struct lines *l, const char *data, size_t n, lines_fn *fn, void *arg)
{
    while (n > 0) {
        const char *nl = memchr(data, '\n', n);
        size_t part = nl ? (size_t)(nl - data) : n;
        if (!l->skipping && !str_append(&l->buf, data, part)) {
            l->skipping = true;
            deliver(l, true, fn, arg);
        }
        if (!nl)
            return;
        if (!l->skipping)
            deliver(l, false, fn, arg);
        l->skipping = false;
        data = nl + 1;
        n -= part + 1;
    }
}

void lines_end(struct lines *l, lines_fn *fn, void *arg)
{
    if (!l->skipping && l->buf.len > 0)
        deliver(l, false, fn, arg);
    l->skipping = false;
}
