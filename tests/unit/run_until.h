/* run_until.h - turn the loop of a test (its variable l) until something is
 * true; half a minute without it is a failure.
 */
#ifndef TESTS_RUN_UNTIL_H
#define TESTS_RUN_UNTIL_H

#include "core/base/clock.h"
#include "core/io/loop.h"
#include "tests/t.h"

#define RUN_UNTIL(cond)                                                                           \
    do {                                                                                          \
        int64_t end_ = clock_us() + 30000000;                                                     \
        while (!(cond) && clock_us() < end_)                                                      \
            loop_turn(l, 20);                                                                     \
        CHECK(cond);                                                                              \
    } while (0)

#endif
