/* fuzz_logread.c - the log stream reader: whatever answers come, in whatever
 * pieces, each line that was handed out is not handed out again while it is still
 * at the end of the log, and nothing is read beyond its bytes.
 * fuzz: core/base k8s/logread.c
 */
#include "k8s/logread.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static size_t lines;

static void on_line(void *arg, int64_t ns, const char *text, size_t n, bool cut)
{
    (void)arg, (void)cut;
    if (text[n] != '\0' || ns < 0)
        abort();
    lines++;
}

static void on_gap(void *arg, const char *from, const char *to)
{
    (void)arg;
    if (!from[0] || strlen(from) >= LOGREAD_STAMP || strlen(to) >= LOGREAD_STAMP)
        abort();
}

static void on_words(void *arg, const char *text)
{
    (void)arg;
    if (!text[0])
        abort();
}

static void feed(struct logread *r, const uint8_t *data, size_t size)
{
    size_t piece = size ? data[0] % 40 + 1 : 1;
    logread_begin(r);
    for (size_t at = 0; at < size; at += piece)
        logread_feed(r, (const char *)data + at, at + piece < size ? piece : size - at);
}

/* Stamped lines, as many as there are bytes; equal bytes make equal lines. */
static void stamped(const uint8_t *data, size_t size, struct str *out)
{
    int second = 0;
    for (size_t i = 0; i < size && i < 200; i++) {
        second += (data[i] & 7) == 0;
        str_printf(out, "2026-11-30T21:%02d:%02d.%09dZ %d\n", second / 60 % 60, second % 60,
                   (data[i] & 3) * 1000, data[i] >> 4);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct logread_handlers h = {on_line, on_gap, on_words, NULL};
    struct logread r;
    struct str s;
    logread_init(&r, &h);
    feed(&r, data, size / 2);
    logread_end(&r);
    feed(&r, data + size / 2, size - size / 2);
    logread_flush(&r);
    logread_release(&r);
    /* a log that is cut at a byte, then told whole: all lines, once */
    str_init(&s, 1 << 20);
    stamped(data, size, &s);
    logread_init(&r, &h);
    lines = 0;
    feed(&r, (const uint8_t *)s.p, size ? s.len * data[size - 1] / 256 : 0);
    feed(&r, (const uint8_t *)s.p, s.len);
    if (lines != (size < 200 ? size : 200))
        abort();
    feed(&r, (const uint8_t *)s.p, s.len);
    if (r.fresh != 0 || lines != (size < 200 ? size : 200))
        abort();
    logread_release(&r);
    str_release(&s);
    return 0;
}
