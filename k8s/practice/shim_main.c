/* shim_main.c - podium-shim: owns one container of the practice cluster, so
 * that the server may die and come back at will (shim.h). */
#include "k8s/practice/shim_in.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static const char usage[] =
    "usage: podium-shim run DIR     start the container that DIR/spec describes; DIR is absolute\n"
    "       podium-shim state DIR   print its state\n"
    "       podium-shim --help | --version\n"
    "podium-practice starts it; people rarely need to. One shim owns one container:\n"
    "its pipes, its log, its limits and its exit code.\n";

static NORETURN void become_daemon(const char *dir, int told)
{
    char path[4096];
    setsid();
    pid_t pid = fork();
    if (pid != 0)
        _exit(pid < 0);
    str_fmt(path, sizeof path, "%s/lock", dir);
    int null = open("/dev/null", O_RDWR), lock = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (lock < 0 || flock(lock, LOCK_EX | LOCK_NB) < 0) {
        static const char text[] = "the container's folder is locked or can't be written";
        ssize_t n = write(told, text, sizeof text - 1);
        _exit(n > 0 ? 1 : 2);
    }
    for (int i = 0; i < 3; i++)
        dup2(null, i);
    close(null);
    umask(077);
    if (chdir("/") < 0)
        _exit(1);
    shim_run(dir, lock, told);
}

/* 0 when the program runs; else its sentence goes to stderr. */
static int run(const char *dir)
{
    char text[1024];
    int told[2];
    size_t len = 0;
    ssize_t n;
    if (clearenv() != 0 || pipe2(told, O_CLOEXEC) < 0)
        return 1;
    pid_t pid = fork();
    if (pid == 0) {
        close(told[0]);
        become_daemon(dir, told[1]);
    }
    close(told[1]);
    while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
        ;
    while ((n = read(told[0], text + len, sizeof text - 1 - len)) > 0 || (n < 0 && errno == EINTR))
        len += n > 0 ? (size_t)n : 0;
    text[len] = '\0';
    struct shim_state st;
    if (len == 0 && (!shim_state_read(dir, &st) || st.started_us == 0))
        str_copy(text, sizeof text, "the shim died before the container ran");
    if (text[0])
        fprintf(stderr, "%s\n", text);
    return text[0] != '\0';
}

static int print_state(const char *dir)
{
    struct shim_state st;
    if (!shim_state_read(dir, &st)) {
        fprintf(stderr, "%s has no state yet\n", dir);
        return 1;
    }
    printf("pid %d\nalive %d\nexit_code %d\nsignal %d\nreason %s\nmessage %s\nisolation %s\n"
           "missing %s\n",
           st.pid, shim_alive(dir), st.exit_code, st.signal, st.reason, st.message, st.isolation,
           st.missing);
    return 0;
}

int main(int argc, char **argv)
{
    syscall(SYS_close_range, 3, ~0U, 0);      /* nothing of the starter's */
    if (argc == 2 && strcmp(argv[1], "--version") == 0)
        return printf("podium-shim %s\n", PODIUM_VERSION) < 0;
    if (argc == 2 && strcmp(argv[1], "--help") == 0)
        return fputs(usage, stdout) < 0;
    if (argc == 3 && argv[2][0] == '/' && strcmp(argv[1], "run") == 0)
        return run(argv[2]);
    if (argc == 3 && argv[2][0] == '/' && strcmp(argv[1], "state") == 0)
        return print_state(argv[2]);
    fputs(usage, stderr);
    return 2;
}
