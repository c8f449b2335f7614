/* sums.h - what a container says of its files: lines of sha256sum and of wc -c.
 */
#ifndef K8S_SUMS_H
#define K8S_SUMS_H

#include "core/base/str.h"

/* fn is called for each line that is whole; path is as the command was given
 * it, escapes of sha256sum undone. value: hex digits, or decimal digits. Lines
 * that are none are skipped ("total" of wc too). */
typedef void sums_fn(void *arg, const char *path, const char *value);
void sums_read(const char *text, size_t n, sums_fn *fn, void *arg);

#endif
