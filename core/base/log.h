/* log.h - the debug log: a file, never the screen.
 *
 * Off until log_open. Every line passes log_redact, which masks what looks
 * like a secret (Authorization values, tokens, passwords, PEM keys,
 * hf_… tokens), so that none reaches the file. log_redact serves the journal
 * and the API panel too.
 */
#ifndef CORE_BASE_LOG_H
#define CORE_BASE_LOG_H

#include "core/base/err.h"
#include "core/base/str.h"

enum log_level { LOG_ERROR, LOG_WARN, LOG_INFO, LOG_DEBUG };

MUST_USE enum pd_code log_open(const char *path, enum log_level most, struct pd_err *err);
void log_close(void);
void log_write(enum log_level level, const char *fmt, ...) PRINTF_LIKE(2, 3);
/* Register a secret of this run (a bearer token): masked wherever it occurs. */
void log_add_secret(const char *secret);
void log_redact(const char *text, size_t n, struct str *out);

#endif
