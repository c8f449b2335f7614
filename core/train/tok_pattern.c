/* tok_pattern.c - a Split's pattern, so that PCRE2 reads it as `tokenizers` does.
 *
 * Both know \s, \w, \p{L} and \p{N}, but by other tables: U+180E is no space
 * in `tokenizers`, a combining mark is part of a word, and its letters and
 * numbers are those of tok_unicode.c, newer than the PCRE2 of Debian 12
 * (Unicode 14). What a class lacks is written out; twice does no harm.
 */
#include "core/train/tok_impl.h"

#define SPACES "\\t-\\r\\x{20}\\x{85}\\x{a0}\\x{1680}\\x{2000}-\\x{200a}\\x{2028}\\x{2029}" \
               "\\x{202f}\\x{205f}\\x{3000}"
#define LETTERS "\\p{L}" NEW_LETTERS
#define NUMBERS "\\p{N}" NEW_NUMBERS
#define NEW_LETTERS \
    "\\x{1c89}-\\x{1c8a}\\x{a7cb}-\\x{a7cd}\\x{a7da}-\\x{a7dc}\\x{105c0}-\\x{105f3}" \
    "\\x{10d4a}-\\x{10d65}\\x{10d6f}-\\x{10d85}\\x{10ec2}-\\x{10ec4}\\x{1123f}-\\x{11240}" \
    "\\x{11380}-\\x{11389}\\x{1138b}\\x{1138e}\\x{11390}-\\x{113b5}\\x{113b7}\\x{113d1}" \
    "\\x{113d3}\\x{11bc0}-\\x{11be0}\\x{11f02}\\x{11f04}-\\x{11f10}\\x{11f12}-\\x{11f33}" \
    "\\x{1342f}\\x{13441}-\\x{13446}\\x{13460}-\\x{143fa}\\x{16100}-\\x{1611d}" \
    "\\x{16d40}-\\x{16d6c}\\x{18cff}\\x{1b132}\\x{1b155}\\x{1df25}-\\x{1df2a}" \
    "\\x{1e030}-\\x{1e06d}\\x{1e4d0}-\\x{1e4eb}\\x{1e5d0}-\\x{1e5ed}\\x{1e5f0}\\x{2b739}" \
    "\\x{2ebf0}-\\x{2ee5d}\\x{31350}-\\x{323af}"
#define NEW_NUMBERS \
    "\\x{10d40}-\\x{10d49}\\x{116d0}-\\x{116e3}\\x{11bf0}-\\x{11bf9}\\x{11f50}-\\x{11f59}" \
    "\\x{16130}-\\x{16139}\\x{16d70}-\\x{16d79}\\x{1ccf0}-\\x{1ccf9}\\x{1d2c0}-\\x{1d2d3}" \
    "\\x{1e4f0}-\\x{1e4f9}\\x{1e5f1}-\\x{1e5fa}"

static const struct {
    const char *name, *members;   /* as inside of [...] */
} classes[] = {
    {"\\s", SPACES},
    {"\\p{L}", LETTERS},
    {"\\p{N}", NUMBERS},
    {"\\w", LETTERS NUMBERS "\\p{M}\\p{Pc}"},
};

/* The class whose name stands at p[0..n), or NULL; its length to *len. */
static const char *class_at(const char *p, size_t n, size_t *len)
{
    for (size_t i = 0; i < ARRAY_LEN(classes); i++) {
        *len = strlen(classes[i].name);
        if (*len <= n && memcmp(p, classes[i].name, *len) == 0)
            return classes[i].members;
    }
    return NULL;
}

void tok_pattern(const char *p, size_t n, struct str *out)
{
    bool inside = false;
    for (size_t i = 0, len; i < n; i += len) {
        const char *members = class_at(p + i, n - i, &len);
        if (members) {
            str_printf(out, inside ? "%s" : "[%s]", members);
            continue;
        }
        len = p[i] == '\\' && i + 1 < n ? 2 : 1;
        if (!inside && len == 2 && p[i + 1] == 'S')
            str_printf(out, "[^%s]", SPACES);
        else
            str_append(out, p + i, len);
        inside = len == 1 && p[i] == '[' ? true : len == 1 && p[i] == ']' ? false : inside;
    }
}
