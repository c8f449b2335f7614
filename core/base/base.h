/* base.h - the first include of every file: feature macros and attributes.
 * (Functions that podium never calls stand in tests/lint/lint.py.)
 *
 * Rules that hold everywhere
 *   - A function that can fail returns enum pd_code and takes a struct pd_err
 *     last (core/base/err.h). Nothing below tui/ prints.
 *   - Allocation never fails (core/base/mem.h); growing buffers have ceilings.
 *   - S_init/S_release work on an embedded struct, S_new/S_free on the heap,
 *     S_clear makes it reusable, S_take moves ownership to the caller, and a
 *     plain getter borrows until the next call on the object.
 */
#ifndef CORE_BASE_BASE_H
#define CORE_BASE_BASE_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif

#include <assert.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define MUST_USE __attribute__((warn_unused_result))
#define PRINTF_LIKE(fmt, args) __attribute__((format(printf, fmt, args)))
#define NORETURN __attribute__((noreturn))
#define UNUSED __attribute__((unused))
#define ARRAY_LEN(a) (sizeof(a) / sizeof((a)[0]))
#define MIN(a, b) ((a) < (b) ? (a) : (b))
#define MAX(a, b) ((a) > (b) ? (a) : (b))

#ifndef PODIUM_VERSION
#define PODIUM_VERSION "0.1.0"
#endif

#endif
