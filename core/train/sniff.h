/* sniff.h - what a file really is, by its first bytes: the usual wrong files
 * that come under the name of a tensor file.
 */
#ifndef CORE_TRAIN_SNIFF_H
#define CORE_TRAIN_SNIFF_H

#include "core/base/base.h"

enum sniff { SNIFF_UNKNOWN, SNIFF_EMPTY, SNIFF_HTML, SNIFF_LFS, SNIFF_ZIP, SNIFF_PICKLE,
             SNIFF_GGUF, SNIFF_GZIP, SNIFF_JSON, SNIFF_ZEROS, SNIFF_KINDS };
enum sniff sniff_bytes(const uint8_t *p, size_t n);
/* A sentence (translated) and a next step; NULL for SNIFF_UNKNOWN. */
const char *sniff_text(enum sniff s);
const char *sniff_hint(enum sniff s);

#endif
