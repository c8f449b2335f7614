/* quantity.h - Kubernetes quantities, exactly: "256Gi", "500m", "1.5", "12e6".
 *
 * The grammar of apimachinery's resource.Quantity: a decimal number, then
 * nothing, n u m k M G T P E, Ki Mi Gi Ti Pi Ei, or e/E and an exponent.
 * Values are kept in nano units in 128 bits, so that sums are exact; fractions
 * below a nano round up, as the server does.
 */
#ifndef K8S_QUANTITY_H
#define K8S_QUANTITY_H

#include "core/base/err.h"

struct quantity {
    __int128 nano;
    char format;                      /* 'd' decimal SI, 'b' binary SI, 'e' exponent */
};

MUST_USE bool quantity_parse(const char *s, struct quantity *out);
/* Whole units and thousandths, rounded up; false when s is no quantity or the
 * result leaves 64 bits. */
MUST_USE bool quantity_units(const char *s, int64_t *out);    /* bytes, devices */
MUST_USE bool quantity_milli(const char *s, int64_t *out);    /* cpu */
int quantity_compare(const struct quantity *a, const struct quantity *b);     /* -1 0 1 */
void quantity_add(struct quantity *a, const struct quantity *b);
void quantity_sub(struct quantity *a, const struct quantity *b);
/* Canonical form, as the server prints it ("1536Mi", "1500m"); buf >= 64. */
char *quantity_text(const struct quantity *q, char buf[64]);
/* For people: bytes as "1.5 GiB"; buf >= 32. */
char *quantity_bytes(int64_t bytes, char buf[32]);

#endif
