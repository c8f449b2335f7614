/* base64.h - bytes as base64 text and back (RFC 4648, with padding). */
#ifndef CORE_BASE_BASE64_H
#define CORE_BASE_BASE64_H

#include "core/base/str.h"

void base64_encode(const void *p, size_t n, struct str *out);
/* Blanks and line ends are skipped; false: another character, or a cut group. */
bool base64_decode(const char *text, size_t n, struct str *out);

#endif
