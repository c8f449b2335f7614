/* t.c - the test harness (t.h). */
#include "tests/t.h"

#include <dirent.h>
#include <errno.h>
#include <ftw.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { T_MAX = 1024, T_EXIT_SKIP = 77, NOTE_FD = 199 };

static struct {
    const char *name, *file;
    t_fn *fn;
} tests[T_MAX];
static int test_count;
static char dir[256];

void t_add(const char *name, const char *file, t_fn *fn)
{
    if (test_count < T_MAX) {
        tests[test_count].name = name;
        tests[test_count].file = file;
        tests[test_count++].fn = fn;
    }
}

void t_fail(const char *file, int line, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    fprintf(stderr, "  %s:%d: ", file, line);
    vfprintf(stderr, fmt, ap);
    fputc('\n', stderr);
    va_end(ap);
    _exit(1);
}

void t_skip(const char *why)
{
    fprintf(stderr, "  skipped: %s\n", why);
    _exit(T_EXIT_SKIP);
}

static int remove_one(const char *path, const struct stat *st UNUSED, int flag UNUSED,
                      struct FTW *ftw UNUSED)
{
    return remove(path);
}

static void make_dir(void)
{
    const char *tmp = getenv("TMPDIR");
    snprintf(dir, sizeof dir, "%s/podium-test-XXXXXX", tmp ? tmp : "/tmp");
    if (!mkdtemp(dir))
        t_fail(__FILE__, __LINE__, "mkdtemp: %s", strerror(errno));
}

const char *t_dir(void)
{
    return dir;
}

static void run_child(int i, int pipe_fd)
{
    dup2(pipe_fd, 1);
    dup2(pipe_fd, 2);
    setpgid(0, 0);
    alarm((unsigned)(getenv("T_TIMEOUT") ? atoi(getenv("T_TIMEOUT")) : 120));
    make_dir();
    char note[300];
    int n = snprintf(note, sizeof note, "%s", dir);
    if (write(NOTE_FD, note, (size_t)n) != n)
        _exit(1);
    close(NOTE_FD);
    tests[i].fn();
    fflush(NULL);
    exit(0);     /* exit handlers run: the leak checker's too */
}

static int wait_child(pid_t pid)
{
    int status;
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    kill(-pid, SIGKILL);
    if (WIFEXITED(status))
        return WEXITSTATUS(status);
    return 128 + WTERMSIG(status);
}

/* Runs one test; its output is shown only when it fails. */
static int run_test(int i)
{
    int note[2];
    FILE *out = tmpfile();
    if (!out || pipe(note) < 0)
        return 1;
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0) {
        close(note[0]);
        dup2(note[1], NOTE_FD);
        run_child(i, fileno(out));
    }
    close(note[1]);
    int code = wait_child(pid);
    char made[300];
    ssize_t n = read(note[0], made, sizeof made - 1);
    close(note[0]);
    if (n > 0) {
        made[n] = '\0';
        nftw(made, remove_one, 16, FTW_DEPTH | FTW_PHYS);
    }
    if (code != 0) {
        char buf[4096];
        size_t got;
        printf("%s %s (%s)", code == T_EXIT_SKIP ? "skip" : "FAIL", tests[i].name, tests[i].file);
        printf(code > 128 ? ": signal %d\n" : "\n", code - 128);
        lseek(fileno(out), 0, SEEK_SET);
        while ((got = fread(buf, 1, sizeof buf, out)) > 0)
            fwrite(buf, 1, got, stdout);
    }
    fclose(out);
    return code;
}

int t_main(int argc, char **argv)
{
    int passed = 0, failed = 0, skipped = 0;
    setvbuf(stdout, NULL, _IOLBF, 0);
    for (int i = 0; i < test_count; i++) {
        if (argc > 1 && strcmp(argv[1], tests[i].name) != 0)
            continue;
        int code = run_test(i);
        if (code == 0)
            passed++;
        else if (code == T_EXIT_SKIP)
            skipped++;
        else
            failed++;
    }
    if (skipped)
        printf("%d passed, %d failed, %d skipped\n", passed, failed, skipped);
    else
        printf("%d passed, %d failed\n", passed, failed);
    return failed || passed + skipped == 0;
}
