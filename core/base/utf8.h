/* utf8.h - UTF-8 decoding, display width, and safe text.
 *
 * Width comes from podium's own table (East Asian Wide and Fullwidth 2,
 * combining and zero-width 0, controls -1, else 1; Ambiguous is narrow unless
 * utf8_set_ambiguous_wide), never from the locale.
 */
#ifndef CORE_BASE_UTF8_H
#define CORE_BASE_UTF8_H

#include "core/base/base.h"
#include "core/base/str.h"

/* Decode one code point at s[0..n): its length in bytes goes to *len (>= 1).
 * An invalid or cut sequence gives U+FFFD with *len = 1. n must be > 0. */
uint32_t utf8_decode(const char *s, size_t n, int *len);
/* The static trainer links libjansson.a, which exports a utf8_encode of its
 * own: ours goes under another name to the linker. */
#define utf8_encode utf8_encode_cp
int utf8_encode(uint32_t cp, char out[4]);       /* returns bytes written */
bool utf8_valid(const char *s, size_t n);

/* Incremental: feed bytes, get code points; a character split over two reads
 * arrives whole. */
struct utf8_feed {
    uint32_t cp;
    int need;
    uint32_t min;
};
/* AGAIN: the character before was bad; feed the same byte once more. */
enum utf8_got { UTF8_MORE, UTF8_CHAR, UTF8_BAD, UTF8_BAD_AGAIN };
enum utf8_got utf8_push(struct utf8_feed *f, unsigned char byte, uint32_t *cp);

int utf8_width(uint32_t cp);
int utf8_str_width(const char *s);               /* controls count 0 */
size_t utf8_cut(const char *s, int width);       /* bytes of s that fit into width columns */
void utf8_set_ambiguous_wide(bool wide);

/* Append text with nothing in it that could control a terminal: ESC sequences
 * are dropped whole, other C0/C1 controls, bidi controls, VS16 and ZWJ are
 * dropped, tab becomes spaces to the next 8th column, invalid bytes become
 * U+FFFD; '\n' is kept when keep_newlines. */
void utf8_clean(const char *s, size_t n, bool keep_newlines, struct str *out);

#endif
