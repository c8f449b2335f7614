/* digest.h - SHA-256 as the "sha256:…" strings of OCI, of memory or of a
 * stream. */
#ifndef K8S_IMAGE_DIGEST_H
#define K8S_IMAGE_DIGEST_H

#include "core/base/base.h"

enum { DIGEST_TEXT = 72 };            /* "sha256:" + 64 hex + NUL */

struct digest;

struct digest *digest_new(void);
void digest_update(struct digest *d, const void *p, size_t n);
/* The digest of what came so far; more may follow (the state is copied). */
void digest_text(const struct digest *d, char out[DIGEST_TEXT]);
void digest_free(struct digest *d);   /* NULL is fine */
void digest_of(const void *p, size_t n, char out[DIGEST_TEXT]);

#endif
