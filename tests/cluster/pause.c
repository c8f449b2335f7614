// The process of a sandbox: it keeps the pod's namespaces, waits for the children
// that fall to it, and goes when it is asked to.
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

static void leave(int sig) {
    (void)sig;
    _exit(0);
}

static void reap(int sig) {
    (void)sig;
    while (waitpid(-1, NULL, WNOHANG) > 0) {}
}

int main(void) {
    signal(SIGTERM, leave);
    signal(SIGINT, leave);
    signal(SIGCHLD, reap);
    for (;;) pause();
}
