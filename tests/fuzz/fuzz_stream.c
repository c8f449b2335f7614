/* fuzz_stream.c - what a cluster sends through streams: SPDY frames and header
 * blocks, sums of a container, a tar stream into a folder, bytes for the shell's
 * terminal. Nothing is read beyond its bytes, nothing appears beside the folder,
 * and no control character reaches a row.
 * fuzz: core/base core/io k8s tui/shell_term.c tui/rows.c tui/glyph.c tui/text.c
 */
#include "core/base/base64.h"
#include "core/base/mem.h"
#include "core/base/path.h"
#include "core/io/spdy.h"
#include "k8s/copy.h"
#include "k8s/sums.h"
#include "tui/shell_term.h"

#include <sys/stat.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void spdy(const uint8_t *data, size_t size)
{
    struct spdy_zip *z = spdy_zip_new();
    struct strv pairs;
    size_t at = 0;
    strv_init(&pairs);
    for (;;) {
        struct spdy_frame f;
        long n = spdy_parse(data + at, size - at, &f);
        if (n <= 0)
            break;
        if (f.p < data + at || f.p + f.n > data + size)
            abort();
        if (f.type == SPDY_SYN_STREAM || f.type == SPDY_SYN_REPLY)
            (void)spdy_headers(z, &f, &pairs);
        at += (size_t)n;
    }
    strv_release(&pairs);
    spdy_zip_free(z);
}

static void on_sum(void *arg, const char *path, const char *value)
{
    size_t *n = arg;
    if (!*path || strspn(value, "0123456789abcdefABCDEF") != strlen(value))
        abort();
    ++*n;
}

static void on_file(void *arg, const char *path, int64_t size, const char *sha256)
{
    (void)arg, (void)size;
    if (!path_inside(path) || strlen(sha256) != 64)
        abort();
}

static void on_left(void *arg, const char *text)
{
    (void)arg;
    for (; *text; text++)
        if ((unsigned char)*text < 0x20)
            abort();
}

static void tar(const uint8_t *data, size_t size)
{
    static char dir[64];
    struct pd_err err;
    struct stat st;
    if (!dir[0]) {
        str_copy(dir, sizeof dir, "/tmp/podium-fuzz-XXXXXX");
        if (!mkdtemp(dir))
            abort();
    }
    char *in = xasprintf("%s/in", dir), *out = xasprintf("%s/beside", dir);
    struct untar *u = untar_new(in, on_file, NULL);
    untar_map(u, "base", "file", "new");
    untar_lenient(u, on_left);
    if (untar_feed(u, data, size / 2, &err) == PD_OK &&
        untar_feed(u, data + size / 2, size - size / 2, &err) == PD_OK)
        (void)!untar_end(u, &err);
    untar_free(u);
    if (lstat(out, &st) == 0 || (path_remove_tree(in, &err) != PD_OK && lstat(in, &st) == 0))
        abort();
    free(in);
    free(out);
}

static void terminal(const uint8_t *data, size_t size)
{
    struct shell_term *t = shell_term_new(20, 5);
    struct rows rows;
    struct str text;
    int cx, cy;
    rows_init(&rows, GLYPH_UNICODE);
    str_init(&text, 1 << 20);
    shell_term_feed(t, data, size / 2);
    shell_term_resize(t, 2 + size % 40, 2 + size % 9);
    shell_term_feed(t, data + size / 2, size - size / 2);
    shell_term_rows(t, (int)(size % 7), &rows, &cx, &cy);
    for (int i = 0; i < rows.n; i++)
        rows_text(&rows.v[i], &text);
    for (size_t i = 0; i < text.len; i++)
        if ((unsigned char)text.p[i] < 0x20 || text.p[i] == 0x7f)
            abort();
    str_release(&text);
    rows_release(&rows);
    shell_term_free(t);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    size_t n = 0;
    struct str back;
    if (size == 0)
        return 0;
    switch (data[0] & 3) {
    case 0: spdy(data + 1, size - 1); break;
    case 1: sums_read((const char *)data + 1, size - 1, on_sum, &n); break;
    case 2: tar(data + 1, size - 1); break;
    default: terminal(data + 1, size - 1); break;
    }
    str_init(&back, size + 1);
    (void)base64_decode((const char *)data, size, &back);
    str_release(&back);
    return 0;
}
