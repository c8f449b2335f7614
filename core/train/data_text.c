/* data_text.c - plain text as a token file: made once, mapped ever after.
 *
 * Format, little-endian: "PDTOKEN1", u32 vocabulary size, u32 zero, u64
 * tokens, u64 fingerprint of the tokenizer; then the ids as u16.
 */
#include "core/base/base.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/i18n.h"
#include "core/base/path.h"
#include "core/base/utf8.h"
#include "core/train/data_impl.h"

#define TEXT_CEILING ((size_t)2 << 30)

static const char magic[8] = "PDTOKEN1";

struct header {
    char magic[8];
    uint32_t vocab, zero;
    uint64_t tokens, fingerprint;
};

/* FNV-1a over the length and bytes of every token. */
static uint64_t fingerprint(const struct tok *tok)
{
    uint64_t h = 14695981039346656037u;
    for (int32_t id = 0; id < tok_size(tok); id++) {
        size_t n;
        const char *s = tok_bytes(tok, id, &n);
        h = (h ^ n) * 1099511628211u;
        for (size_t i = 0; i < n; i++)
            h = (h ^ (unsigned char)s[i]) * 1099511628211u;
    }
    return h;
}

/* --- make --------------------------------------------------------------------------- */

static void put_ids(struct str *out, const struct tok_ids *ids)
{
    for (size_t i = 0; i < ids->n; i++) {
        uint16_t v = (uint16_t)ids->v[i];
        str_append(out, &v, sizeof v);
    }
}

/* The next document of p[0..n): its length to *doc, the whole step returned. */
static size_t next_document(const char *p, size_t n, size_t *doc)
{
    const char *end = n >= 2 && memcmp(p, "\f\n", 2) == 0 ? p : memmem(p, n, "\n\f\n", 3);
    *doc = end ? (size_t)(end - p) : n;
    if (!end && n > 0 && p[n - 1] == '\n')
        *doc = n - 1;
    return end ? *doc + (end == p && *p == '\f' ? 2 : 3) : n;
}

static enum pd_code add_file(const struct tok *tok, const char *path, struct str *out,
                             struct pd_err *err)
{
    struct str text;
    struct tok_ids ids;
    str_init(&text, TEXT_CEILING);
    tok_ids_init(&ids);
    enum pd_code rc = path_read(path, TEXT_CEILING, &text, err);
    if (rc == PD_OK && !utf8_valid(text.p, text.len))
        rc = pd_fail_at(err, PD_DATA, path, 0, 0, _("the text is not UTF-8"));
    for (size_t at = 0, doc; rc == PD_OK && at < text.len;) {
        size_t next = next_document(text.p + at, text.len - at, &doc);
        ids.n = 0;
        if (doc > 0) {
            tok_encode_whole(tok, text.p + at, doc, false, &ids);
            tok_ids_push(&ids, tok_eos(tok));
        }
        put_ids(out, &ids);
        at += next;
    }
    if (rc == PD_OK && out->full)
        rc = pd_fail_at(err, PD_LIMIT, path, 0, 0, _("more than 2 GiB of tokens"));
    tok_ids_release(&ids);
    str_release(&text);
    return rc;
}

enum pd_code data_text_build(const struct tok *tok, const char *const *paths, size_t n,
                             const char *out_path, int64_t *tokens, struct pd_err *err)
{
    struct header h = {.vocab = (uint32_t)tok_size(tok), .fingerprint = fingerprint(tok)};
    struct str out;
    memcpy(h.magic, magic, sizeof h.magic);
    if (h.vocab > 65536 || tok_eos(tok) < 0)
        return pd_fail(err, PD_UNSUPPORTED,
                       _("a token file needs an end-of-text token and at most 65536 tokens"));
    str_init(&out, TEXT_CEILING);
    str_append(&out, &h, sizeof h);
    enum pd_code rc = PD_OK;
    for (size_t i = 0; i < n && rc == PD_OK; i++)
        rc = add_file(tok, paths[i], &out, err);
    h.tokens = (out.len - sizeof h) / 2;
    memcpy(out.p, &h, sizeof h);
    if (rc == PD_OK)
        rc = path_write_atomic(out_path, 0644, out.p, out.len, err);
    if (rc == PD_OK)
        *tokens = (int64_t)h.tokens;
    str_release(&out);
    return rc;
}

/* --- map ---------------------------------------------------------------------------- */

bool data_is_token_file(const char *path)
{
    char got[sizeof magic];
    FILE *f = fopen(path, "rb");
    bool yes = f && fread(got, 1, sizeof got, f) == sizeof got &&
               memcmp(got, magic, sizeof magic) == 0;
    if (f)
        fclose(f);
    return yes;
}

static enum pd_code check_header(const struct data *d, const struct header *h, size_t size,
                                 const char *path, struct pd_err *err)
{
    if (memcmp(h->magic, magic, sizeof magic) != 0)
        return pd_fail_at(err, PD_DATA, path, 0, 0, _("not a token file"));
    if (h->tokens != (size - sizeof *h) / 2 || size % 2)
        return pd_fail_at(err, PD_DATA, path, 0, 0,
                          _("the file is cut: %llu tokens announced, %llu there"),
                          (unsigned long long)h->tokens,
                          (unsigned long long)((size - sizeof *h) / 2));
    if (h->vocab != (uint32_t)tok_size(d->tok) || h->fingerprint != fingerprint(d->tok)) {
        pd_fail_at(err, PD_DATA, path, 0, 0, _("it was made with another tokenizer"));
        return pd_set_hint(err, _("make it again with the model's tokenizer.json"));
    }
    return PD_OK;
}

/* An id outside the vocabulary would read outside the embedding. */
static enum pd_code check_ids(const uint16_t *v, size_t n, uint32_t vocab, const char *path,
                              struct pd_err *err)
{
    for (size_t i = 0; i < n; i++)
        if (v[i] >= vocab)
            return pd_fail_at(err, PD_DATA, path, 0, 0,
                              _("token %zu is %u, outside the vocabulary"), i, v[i]);
    return PD_OK;
}

enum pd_code data_map_text(struct data *d, enum data_split s, const char *path,
                           struct pd_err *err)
{
    struct stat st;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &st) != 0) {
        enum pd_code rc = pd_fail_errno(err, PD_IO, _("%s can't be opened"), path);
        if (fd >= 0)
            close(fd);
        return rc;
    }
    size_t size = (size_t)st.st_size;
    void *map = size > sizeof(struct header) ? mmap(NULL, size, PROT_READ, MAP_SHARED, fd, 0)
                                             : MAP_FAILED;
    close(fd);
    if (map == MAP_FAILED)
        return pd_fail_at(err, PD_DATA, path, 0, 0, _("a token file without tokens"));
    d->map[s] = map;
    d->map_n[s] = size;
    const struct header *h = map;
    enum pd_code rc = check_header(d, h, size, path, err);
    if (rc != PD_OK)
        return rc;
    d->tokens[s] = (const uint16_t *)(h + 1);
    d->tokens_n[s] = (int64_t)h->tokens;
    return check_ids(d->tokens[s], h->tokens, h->vocab, path, err);
}

void data_unmap_text(struct data *d)
{
    for (int s = 0; s < DATA_SPLITS; s++)
        if (d->map[s])
            munmap(d->map[s], d->map_n[s]);
}
