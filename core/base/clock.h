/* clock.h - time, replaceable for tests.
 *
 * clock_ms is monotonic, clock_wall_ms is Unix time. clock_fake makes both
 * stand still at the given wall time until clock_advance.
 */
#ifndef CORE_BASE_CLOCK_H
#define CORE_BASE_CLOCK_H

#include "core/base/base.h"

int64_t clock_ms(void);
int64_t clock_wall_ms(void);
int64_t clock_us(void);                           /* monotonic, never faked: for measuring */
void clock_fake(int64_t wall_ms);
void clock_advance(int64_t ms);
void clock_real(void);

/* RFC 3339: "2026-11-30T21:49:29Z" (fraction digits 0, 3, 6 or 9). buf >= 36. */
char *clock_rfc3339(int64_t wall_us, int digits, char buf[36]);
bool clock_parse_rfc3339(const char *s, int64_t *wall_us);
/* kubectl's human duration: "9s", "4m12s", "26m", "3h", "2d". buf >= 16. */
char *clock_age(int64_t ms, char buf[16]);

#endif
