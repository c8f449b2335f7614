/* rx.h - regular expressions of files, as Python and Rust write them. The one
 * place that knows PCRE2.
 *
 * Text is UTF-8; \d, \w, \s and \p{…} are those of Unicode. A compiled
 * expression does not change: threads may share it. A match stops at a fixed
 * number of steps, so that a hostile expression can't hang the program.
 */
#ifndef CORE_TRAIN_RX_H
#define CORE_TRAIN_RX_H

#include "core/base/err.h"

struct rx;

/* PD_PARSE: the message names the place (a count of bytes) and what is wrong. */
MUST_USE enum pd_code rx_new(const char *pattern, size_t n, struct rx **out, struct pd_err *err);
void rx_free(struct rx *r);                               /* NULL: nothing */
/* Whether the whole of text matches (Python's fullmatch). */
bool rx_full(const struct rx *r, const char *text, size_t n);
/* The first match at or behind `from`: its bytes are [*start, *end). A text that
 * is no UTF-8 has none. That is looked at when from is 0; a search further on
 * must be one of the same text, after one from 0 that found something. */
bool rx_find(const struct rx *r, const char *text, size_t n, size_t from, size_t *start,
             size_t *end);

#endif
