/* t.h - the test harness: each TEST runs in a process of its own; the program
 * closes with a line "N passed, N failed".
 *
 *   TEST(json_reads_a_path) { CHECK_STR(json_str(j, "a.b", ""), "x"); }
 *   T_MAIN
 *
 * A failed CHECK prints file:line, both values, and ends the test. Run one by
 * name: PROGRAM NAME. A test that takes more than 120 s (T_TIMEOUT) fails.
 */
#ifndef TESTS_T_H
#define TESTS_T_H

#include "core/base/base.h"
#include "core/base/err.h"

typedef void t_fn(void);
void t_add(const char *name, const char *file, t_fn *fn);
int t_main(int argc, char **argv);
NORETURN void t_fail(const char *file, int line, const char *fmt, ...) PRINTF_LIKE(3, 4);
/* A fresh folder for this test, removed afterwards. */
const char *t_dir(void);
/* Skip with a reason; counted as skipped, never as passed. */
NORETURN void t_skip(const char *why);

#define TEST(name)                                                                                \
    static void test_##name(void);                                                                \
    __attribute__((constructor)) static void add_##name(void)                                     \
    {                                                                                             \
        t_add(#name, __FILE__, test_##name);                                                      \
    }                                                                                             \
    static void test_##name(void)

#define T_MAIN                                                                                    \
    int main(int argc, char **argv)                                                               \
    {                                                                                             \
        return t_main(argc, argv);                                                                \
    }

#define CHECK(cond)                                                                               \
    do {                                                                                          \
        if (!(cond))                                                                              \
            t_fail(__FILE__, __LINE__, "%s", #cond);                                              \
    } while (0)
#define CHECK_MSG(cond, ...)                                                                      \
    do {                                                                                          \
        if (!(cond))                                                                              \
            t_fail(__FILE__, __LINE__, __VA_ARGS__);                                              \
    } while (0)
#define CHECK_INT(got, want)                                                                      \
    do {                                                                                          \
        long long g_ = (long long)(got), w_ = (long long)(want);                                  \
        if (g_ != w_)                                                                             \
            t_fail(__FILE__, __LINE__, "%s = %lld, want %lld", #got, g_, w_);                     \
    } while (0)
#define CHECK_STR(got, want)                                                                      \
    do {                                                                                          \
        const char *g_ = (got), *w_ = (want);                                                     \
        if (!g_ || strcmp(g_, w_) != 0)                                                           \
            t_fail(__FILE__, __LINE__, "%s = \"%s\", want \"%s\"", #got, g_ ? g_ : "(null)", w_); \
    } while (0)
#define CHECK_HAS(got, part)                                                                      \
    do {                                                                                          \
        const char *g_ = (got), *w_ = (part);                                                     \
        if (!g_ || !strstr(g_, w_))                                                               \
            t_fail(__FILE__, __LINE__, "%s = \"%s\", want \"%s\" in it", #got,                    \
                   g_ ? g_ : "(null)", w_);                                                       \
    } while (0)
#define CHECK_NEAR(got, want, tol)                                                                \
    do {                                                                                          \
        double g_ = (got), w_ = (want), d_ = g_ > w_ ? g_ - w_ : w_ - g_;                         \
        if (!(d_ <= (tol)))                                                                       \
            t_fail(__FILE__, __LINE__, "%s = %.12g, want %.12g", #got, g_, w_);                   \
    } while (0)
/* For calls that return enum pd_code and take `err` (a local struct pd_err). */
#define CHECK_OK(call)                                                                            \
    do {                                                                                          \
        enum pd_code c_ = (call);                                                                 \
        if (c_ != PD_OK)                                                                          \
            t_fail(__FILE__, __LINE__, "%s: %s: %s", #call, pd_id(c_), err.msg);                  \
    } while (0)

#endif
