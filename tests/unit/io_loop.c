/* io_loop.c - timers, descriptors, deferred calls, signals, the 5 ms assertion. */
#include "tests/t.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/io/loop.h"

static struct {
    int n, order[2000];
    int64_t when[2000];
} fired;

struct tick {
    int id;
};

static void on_tick(void *arg)
{
    struct tick *t = arg;
    fired.when[fired.n] = clock_ms();
    fired.order[fired.n++] = t->id;
}

TEST(loop_fires_1000_timers_in_order)
{
    static struct tick t[1000];
    struct loop *l = loop_new();
    clock_fake(1000000);
    for (int i = 0; i < 1000; i++) {
        t[i].id = i * 7919 % 1000;
        CHECK(loop_timer(l, t[i].id, on_tick, &t[i], "test") != 0);
    }
    for (int i = 0; i < 1000 && fired.n < 1000; i++) {
        clock_advance(1);
        loop_turn(l, 0);
    }
    CHECK_INT(fired.n, 1000);
    for (int i = 0; i < 1000; i++)
        CHECK_INT(fired.order[i], i);
    loop_free(l);
}

TEST(loop_equal_times_keep_the_order_of_setting)
{
    struct tick t[5] = {{0}, {1}, {2}, {3}, {4}};
    struct loop *l = loop_new();
    clock_fake(1000);
    for (int i = 0; i < 5; i++)
        loop_timer(l, 10, on_tick, &t[i], "test");
    clock_advance(10);
    loop_turn(l, 0);
    for (int i = 0; i < 5; i++)
        CHECK_INT(fired.order[i], i);
    loop_free(l);
}

TEST(loop_cancels_any_timer_and_ignores_dead_ids)
{
    static struct tick t[300];
    uint32_t id[300];
    struct loop *l = loop_new();
    clock_fake(1000);
    for (int i = 0; i < 300; i++) {
        t[i].id = i;
        id[i] = loop_timer(l, 300 - i, on_tick, &t[i], "test");
    }
    for (int i = 0; i < 300; i += 3)
        loop_timer_cancel(l, id[i]);
    loop_timer_cancel(l, id[0]);
    loop_timer_cancel(l, 0);
    loop_timer_cancel(l, 0x12345678);
    uint32_t again = loop_timer(l, 1, on_tick, &t[0], "test");
    CHECK(again != id[297]);
    loop_timer_cancel(l, id[297]);               /* its slot may serve `again` now */
    clock_advance(400);
    loop_turn(l, 0);
    CHECK_INT(fired.n, 201);
    for (int i = 0; i < fired.n - 1; i++)
        CHECK(fired.order[i] % 3 != 0 || fired.order[i] == 0);
    loop_free(l);
}

static struct loop *the_loop;
static int again_n;

static void on_again(void *arg UNUSED)
{
    if (++again_n < 3)
        loop_timer(the_loop, 0, on_again, NULL, "again");
}

TEST(loop_a_timer_of_zero_waits_for_the_next_turn)
{
    the_loop = loop_new();
    loop_timer(the_loop, 0, on_again, NULL, "again");
    loop_turn(the_loop, 0);
    CHECK_INT(again_n, 1);
    loop_turn(the_loop, 0);
    CHECK_INT(again_n, 2);
    loop_free(the_loop);
}

static int reads, hangups;
static char got[64];

static void on_read(void *arg, int fd, int events)
{
    CHECK_INT(events & LOOP_READ, LOOP_READ);
    ssize_t n = read(fd, got, sizeof got - 1);
    if (n > 0) {
        got[n] = '\0';
        reads++;
    } else {
        hangups++;
        loop_fd_remove(arg, fd);
    }
}

TEST(loop_reads_a_pipe_and_hears_its_end_once)
{
    int p[2];
    struct loop *l = loop_new();
    CHECK(pipe(p) == 0);
    loop_fd(l, p[0], LOOP_READ, on_read, l);
    loop_turn(l, 0);
    CHECK_INT(reads, 0);
    CHECK(write(p[1], "abc", 3) == 3);
    loop_turn(l, 1000);
    loop_turn(l, 0);
    CHECK_INT(reads, 1);
    CHECK_STR(got, "abc");
    close(p[1]);
    for (int i = 0; i < 5; i++)
        loop_turn(l, 0);
    CHECK_INT(hangups, 1);
    loop_free(l);
}

static int pair_calls;
static int pair_fd[2];

static void on_pair(void *arg, int fd, int events UNUSED)
{
    pair_calls++;
    loop_fd_remove(arg, fd == pair_fd[0] ? pair_fd[1] : pair_fd[0]);
    loop_fd_remove(arg, fd);
}

TEST(loop_a_descriptor_removed_by_another_is_not_called)
{
    int a[2], b[2];
    struct loop *l = loop_new();
    CHECK(pipe(a) == 0 && pipe(b) == 0 && write(a[1], "x", 1) == 1 && write(b[1], "x", 1) == 1);
    pair_fd[0] = a[0];
    pair_fd[1] = b[0];
    loop_fd(l, a[0], LOOP_READ, on_pair, l);
    loop_fd(l, b[0], LOOP_READ, on_pair, l);
    loop_turn(l, 100);
    loop_turn(l, 0);
    loop_turn(l, 0);
    CHECK_INT(pair_calls, 1);
    loop_free(l);
}

TEST(loop_a_paused_descriptor_does_not_spin)
{
    int p[2];
    struct loop *l = loop_new();
    CHECK(pipe(p) == 0);
    loop_fd(l, p[0], 0, on_read, l);
    close(p[1]);
    int64_t start = clock_us();
    loop_turn(l, 50);
    CHECK(clock_us() - start >= 45000);
    loop_free(l);
}

static int deferred;

static void on_defer(void *arg)
{
    deferred++;
    if (arg)
        loop_defer(arg, on_defer, NULL);
}

TEST(loop_deferred_calls_run_once_and_may_defer)
{
    struct loop *l = loop_new();
    loop_defer(l, on_defer, l);
    int64_t start = clock_us();
    loop_turn(l, 5000);
    CHECK_INT(deferred, 1);
    loop_turn(l, 0);
    CHECK_INT(deferred, 2);
    CHECK(clock_us() - start < 1000000);         /* work at hand: no wait */
    loop_free(l);
}

static int last_signal;

static void on_signal(void *arg, int signo)
{
    last_signal = signo;
    loop_stop(arg, 7);
}

TEST(loop_signals_come_through_the_loop_and_stop_it)
{
    struct loop *l = loop_new();
    loop_signal(l, SIGTERM, on_signal, l);
    loop_signal(l, SIGHUP, on_signal, l);
    raise(SIGHUP);
    CHECK_INT(loop_run(l), 7);
    CHECK_INT(last_signal, SIGHUP);
    raise(SIGTERM);
    CHECK_INT(loop_run(l), 7);
    CHECK_INT(last_signal, SIGTERM);
    loop_free(l);
}

static void on_slow(void *arg UNUSED)
{
    usleep(300000);
}

static void on_busy(void *arg UNUSED)
{
    for (int64_t end = clock_us() + 60000; clock_us() < end;)
        ;
}

static int run_slow(const char *limit, loop_fn *fn)
{
    pid_t pid = fork();
    if (pid == 0) {
        int null = open("/dev/null", O_WRONLY);
        dup2(null, 2);
        setenv("LOOP_ASSERT", limit, 1);
        struct loop *l = loop_new();
        loop_timer(l, 0, fn, NULL, "the slow one");
        loop_turn(l, 0);
        const char *name = "";
        _exit(loop_slowest(l, &name) >= 30000 && !strcmp(name, "the slow one") ? 0 : 1);
    }
    int status;
    waitpid(pid, &status, 0);
    return status;
}

TEST(loop_asserts_the_five_milliseconds_only_when_asked)
{
    CHECK_INT(run_slow("0", on_slow), 0);
    CHECK_INT(run_slow("0", on_busy), 0);
    int status = run_slow("1", on_slow);
    CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
    status = run_slow("1", on_busy);
    CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
}

T_MAIN
