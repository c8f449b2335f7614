/* sha256.h - SHA-256 (FIPS 180-4), for the manifest of a checkpoint. The
 * trainer is static and links no OpenSSL. */
#ifndef CORE_TRAIN_SHA256_H
#define CORE_TRAIN_SHA256_H

#include "core/base/err.h"

struct sha256 {
    uint32_t h[8];
    uint64_t bytes;
    uint8_t block[64];
};
void sha256_init(struct sha256 *s);
void sha256_add(struct sha256 *s, const void *data, size_t n);
void sha256_hex(struct sha256 *s, char out[65]);          /* ends it */
MUST_USE enum pd_code sha256_file(const char *path, char out[65], int64_t *bytes,
                                  struct pd_err *err);

#endif
