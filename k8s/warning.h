/* warning.h - the API's `Warning:` headers: 299 - "text" (RFC 7234), several of
 * them joined by '\n' or ", ".
 */
#ifndef K8S_WARNING_H
#define K8S_WARNING_H

#include "core/base/base.h"

/* The text of the next warning at *at, unquoted, cut to size, and *at behind it.
 * False at the end; what can't be read is passed over. */
bool warning_next(const char **at, char *text, size_t size);

#endif
