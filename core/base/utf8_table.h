/* utf8_table.h - ranges of code points by width, for utf8.c alone. Made by
 * utf8_table.py. */
#ifndef CORE_BASE_UTF8_TABLE_H
#define CORE_BASE_UTF8_TABLE_H

#include "core/base/base.h"

struct utf8_range {
    uint32_t from, to;           /* inclusive */
};
extern const struct utf8_range utf8_wide[], utf8_zero[], utf8_ambiguous[];
extern const size_t utf8_wide_n, utf8_zero_n, utf8_ambiguous_n;

#endif
