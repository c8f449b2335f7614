/* dial.h - a socket of one's own under libcurl.
 *
 * libcurl 7.88 calls connect() even on a socket that the application says is
 * connected, and gives up. So it gets a placeholder whose connect() cannot
 * finish (the listener behind it is full), and once libcurl waits for it,
 * dial_swap puts the real connection under the same descriptor number.
 */
#ifndef CORE_IO_DIAL_H
#define CORE_IO_DIAL_H

#include "core/base/err.h"

#include <netinet/in.h>

struct dial {
    int real, placeholder, listener, filler;     /* -1: none */
};

void dial_init(struct dial *d);
/* Take `real`, a connected (or connecting) socket; *addr is where libcurl must
 * connect the placeholder that is returned (owned by the caller). */
MUST_USE enum pd_code dial_begin(struct dial *d, int real, struct sockaddr_in *addr,
                                 int *placeholder, struct pd_err *err);
/* After libcurl's connect(): the placeholder is the real connection now. */
void dial_swap(struct dial *d);
void dial_release(struct dial *d);

#endif
