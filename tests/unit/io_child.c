/* io_child.c - child processes: output, exit codes, groups, stdin. */
#include "tests/t.h"

#include <dirent.h>
#include <signal.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/io/child.h"

static struct {
    struct str out;
    int lines, exits, code, signo;
    char err[70000];
    struct child *forget;
} seen;

static void on_line(void *arg UNUSED, char *line, size_t n)
{
    seen.lines++;
    if (seen.lines < 100) {
        str_append(&seen.out, line, n);
        str_addc(&seen.out, '|');
    }
    if (seen.forget) {
        child_forget(seen.forget);
        seen.forget = NULL;
    }
}

static void on_end(void *arg UNUSED, int code, int signo, const char *err)
{
    seen.exits++;
    seen.code = code;
    seen.signo = signo;
    str_copy(seen.err, sizeof seen.err, err);
}

static struct loop *l;

static struct child *start(const char *script, bool want_stdin)
{
    struct pd_err err;
    struct child *c = NULL;
    char *argv[] = {"sh", "-c", (char *)(uintptr_t)script, NULL};
    struct child_spec spec = {
        .argv = argv, .want_stdin = want_stdin, .line = on_line, .exit = on_end};
    l = loop_new();
    str_init(&seen.out, 1 << 20);
    CHECK_OK(child_start(l, &spec, &c, &err));
    return c;
}

static void run(void)
{
    int64_t end = clock_us() + 20000000;
    while (!seen.exits && clock_us() < end)
        loop_turn(l, 100);
    CHECK_INT(seen.exits, 1);
}

static void finish(void)
{
    str_release(&seen.out);
    loop_free(l);
}

TEST(child_gives_lines_stderr_and_code)
{
    start("echo one; printf 'two\\r\\nthree'; echo bad >&2; exit 3", false);
    run();
    CHECK_STR(seen.out.p, "one|two|three|");
    CHECK_STR(seen.err, "bad\n");
    CHECK_INT(seen.code, 3);
    CHECK_INT(seen.signo, 0);
    finish();
}

TEST(child_reports_the_signal)
{
    start("kill -SEGV $$", false);
    run();
    CHECK_INT(seen.code, -1);
    CHECK_INT(seen.signo, SIGSEGV);
    finish();
}

TEST(child_reads_stdin_to_its_end)
{
    struct child *c = start("cat", true);
    static char big[300000];
    memset(big, 'x', sizeof big);
    child_write(c, "hello\n", 6);
    child_write(c, big, sizeof big);
    child_close_stdin(c);
    run();
    CHECK_INT(seen.lines, 2);
    CHECK_INT((long long)seen.out.len, 6 + 300000 + 1);
    CHECK_INT(seen.code, 0);
    finish();
}

TEST(child_without_stdin_gets_an_end_at_once)
{
    start("cat; echo done", false);
    run();
    CHECK_STR(seen.out.p, "done|");
    finish();
}

TEST(child_that_reads_nothing_does_not_hurt)
{
    struct child *c = start("exec 0<&-; sleep 0.1; exit 4", true);
    static char big[1 << 20];
    child_write(c, big, sizeof big);
    run();
    CHECK_INT(seen.code, 4);
    finish();
}

TEST(child_kill_takes_the_whole_group)
{
    struct child *c = start("sleep 100 & sleep 100", false);
    loop_turn(l, 50);
    child_kill(c, SIGTERM);
    int64_t start_us = clock_us();
    run();
    CHECK(clock_us() - start_us < 1500000);      /* both ends of the pipe are closed */
    CHECK_INT(seen.signo, SIGTERM);
    finish();
}

TEST(child_a_grandchild_on_the_pipe_does_not_hold_the_end)
{
    start("sleep 30 & exit 5", false);
    run();
    CHECK_INT(seen.code, 5);
    finish();
}

TEST(child_forget_ends_it_without_a_call)
{
    struct child *c = start("echo a; sleep 100", false);
    int pid = child_pid(c);
    seen.forget = c;
    for (int i = 0; i < 40 && seen.lines == 0; i++)
        loop_turn(l, 100);
    for (int i = 0; i < 5; i++)
        loop_turn(l, 20);
    CHECK_INT(seen.lines, 1);
    CHECK_INT(seen.exits, 0);
    CHECK(kill(pid, 0) < 0);                     /* reaped, too */
    finish();
}

static int descriptors(void)
{
    int n = 0;
    DIR *d = opendir("/proc/self/fd");
    while (readdir(d))
        n++;
    closedir(d);
    return n;
}

TEST(child_goes_with_its_loop)
{
    int before = descriptors();
    struct child *c = start("echo a; sleep 100", true);
    child_kill(c, SIGSTOP);                      /* it can't end by itself */
    int pid = child_pid(c);
    finish();
    CHECK_INT(descriptors(), before);
    kill(pid, SIGKILL);
}

TEST(child_keeps_the_last_64k_of_stderr)
{
    start("i=0; while [ $i -lt 2000 ]; do echo \"line $i "
          "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\" >&2;"
          " i=$((i+1)); done; echo last >&2", false);
    run();
    CHECK_INT((long long)strlen(seen.err), 65536);
    CHECK_STR(seen.err + 65536 - 5, "last\n");
    finish();
}

TEST(child_that_is_not_there_is_one_sentence)
{
    struct pd_err err;
    struct child *c = NULL;
    char *argv[] = {"podium-no-such-program", NULL};
    struct child_spec spec = {.argv = argv};
    l = loop_new();
    CHECK_INT(child_start(l, &spec, &c, &err), PD_NOTFOUND);
    CHECK_HAS(err.msg, "podium-no-such-program");
    loop_free(l);
}

TEST(child_starts_with_clean_signals)
{
    struct pd_err err;
    struct child *c = NULL;
    char *argv[] = {"sh", "-c", "grep -E 'SigBlk|SigIgn' /proc/self/status | tr -d '\\t\\n'", NULL};
    struct child_spec spec = {.argv = argv, .line = on_line, .exit = on_end};
    str_init(&seen.out, 1000);
    l = loop_new();
    loop_signal(l, SIGTERM, NULL, NULL);
    CHECK_OK(child_start(l, &spec, &c, &err));
    run();
    CHECK_HAS(seen.out.p, "SigBlk:0000000000000000");
    unsigned long ignored = strtoul(strstr(seen.out.p, "SigIgn:") + 7, NULL, 16);
    CHECK_INT((long long)(ignored & 0x7fffffff), 0);      /* glibc keeps 32 and 33 for itself */
    finish();
}

T_MAIN
