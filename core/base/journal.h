/* journal.h - messages written to a file and read back: recording, replay,
 * bug report and screen test in one mechanism.
 *
 * A journal is a text of JSON lines: first a header {"podium_journal":1,...},
 * then one message a line. Every line is redacted (log.h) before it is
 * written.
 */
#ifndef CORE_BASE_JOURNAL_H
#define CORE_BASE_JOURNAL_H

#include "core/base/msg.h"

struct journal;

MUST_USE enum pd_code journal_create(const char *path, const struct json *header,
                                     struct journal **out, struct pd_err *err);
void journal_write(struct journal *j, const struct msg *m);
void journal_close(struct journal *j);            /* NULL is fine */

/* Read the whole file; on a torn last line it stops there. `fn` takes the
 * message. The header is borrowed for the call. */
typedef void journal_fn(void *arg, struct msg *m);
MUST_USE enum pd_code journal_read(const char *path, struct json **header, journal_fn *fn,
                                   void *arg, struct pd_err *err);

#endif
