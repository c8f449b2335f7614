/* spdy.h - the frames of SPDY/3.1, as far as port-forward speaks it: inside the
 * binary messages of a WebSocket ("SPDY/3.1+portforward.k8s.io"), in either
 * direction. A connection through the tunnel is a pair of streams, one for
 * errors and one for data, that belong together by their request id; there is
 * no flow control.
 */
#ifndef CORE_IO_SPDY_H
#define CORE_IO_SPDY_H

#include "core/base/err.h"
#include "core/base/str.h"

enum { SPDY_DATA = 0, SPDY_SYN_STREAM = 1, SPDY_SYN_REPLY = 2, SPDY_RST_STREAM = 3, SPDY_PING = 6,
       SPDY_GOAWAY = 7, SPDY_HEADERS = 8, SPDY_WINDOW_UPDATE = 9 };
enum { SPDY_FIN = 1, SPDY_CANCEL = 5 };

struct spdy_frame {
    int type, flags;
    uint32_t stream;             /* of a ping: its id */
    uint32_t status;             /* of RST_STREAM and GOAWAY */
    const unsigned char *p;      /* the payload */
    size_t n;
};
/* Parse one frame at p[0..n): bytes used, 0 when more is needed, -1 on an error
 * (another version, a control frame above 64 KiB or too short for its type). */
long spdy_parse(const unsigned char *p, size_t n, struct spdy_frame *out);

void spdy_data(struct str *out, uint32_t stream, bool fin, const void *p, size_t n);
void spdy_control(struct str *out, int type, int flags, const void *p, size_t n);
void spdy_reset(struct str *out, uint32_t stream, uint32_t status);

/* The header blocks of one connection share one zlib stream each way: every
 * block must be read, in its order. */
struct spdy_zip;
struct spdy_zip *spdy_zip_new(void);
void spdy_zip_free(struct spdy_zip *z);
/* SYN_STREAM or SYN_REPLY; pairs: name, value, name, value, NULL. */
void spdy_syn(struct spdy_zip *z, struct str *out, int type, uint32_t stream, int flags,
              const char *const *pairs);
/* The pairs of a frame with a header block; false: it is broken. */
bool spdy_headers(struct spdy_zip *z, const struct spdy_frame *f, struct strv *pairs);
const char *spdy_header(const struct strv *pairs, const char *name);     /* "": not there */

#endif
