/* shim_proc.c - a program's pipes or terminal, its stdin queue, its exit code. */
#include "k8s/practice/shim_in.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

enum { STDIN_CEILING = 4 << 20 };

static bool make_tty(struct shim_proc *p, struct sandbox_io *io)
{
    int master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC | O_NONBLOCK);
    char name[64];
    if (master < 0 || grantpt(master) < 0 || unlockpt(master) < 0 ||
        ptsname_r(master, name, sizeof name) != 0)
        return false;
    int slave = open(name, O_RDWR | O_NOCTTY | O_CLOEXEC);
    if (slave < 0) {
        close(master);
        return false;
    }
    p->in = p->out = master;
    p->err = -1;
    for (int i = 0; i < 3; i++)
        io->fd[i] = i == 0 ? slave : fcntl(slave, F_DUPFD_CLOEXEC, 3);
    io->tty = true;
    return true;
}

/* Our end does not block; the child's does. */
static bool make_pipe(int *ours, int *theirs, bool we_write)
{
    int fd[2];
    if (pipe2(fd, O_CLOEXEC) < 0)
        return false;
    *ours = fd[we_write];
    *theirs = fd[!we_write];
    return fcntl(*ours, F_SETFL, O_NONBLOCK) == 0;
}

bool shim_proc_pipes(struct shim_proc *p, bool want_in, bool tty, struct sandbox_io *io)
{
    memset(p, 0, sizeof *p);
    p->in = p->out = p->err = -1;
    p->tty = tty;
    str_init(&p->pending, STDIN_CEILING);
    *io = (struct sandbox_io){{-1, -1, -1}, false};
    if (tty)
        return make_tty(p, io);
    if (want_in ? !make_pipe(&p->in, &io->fd[0], true)
                : (io->fd[0] = open("/dev/null", O_RDONLY | O_CLOEXEC)) < 0)
        return false;
    return make_pipe(&p->out, &io->fd[1], false) && make_pipe(&p->err, &io->fd[2], false);
}

void shim_proc_close_child_ends(struct sandbox_io *io)
{
    for (int i = 0; i < 3; i++)
        if (io->fd[i] >= 0)
            close(io->fd[i]);
}

static void close_input(struct shim_proc *p)
{
    if (p->in >= 0 && p->in != p->out)
        close(p->in);
    p->in = -1;
    str_clear(&p->pending);
}

void shim_proc_flush(struct shim_proc *p)
{
    while (p->in >= 0 && p->pending.len > 0) {
        ssize_t n = write(p->in, p->pending.p, p->pending.len);
        if (n > 0) {
            str_consume(&p->pending, (size_t)n);
        } else if (n < 0 && errno == EAGAIN) {
            return;
        } else if (n == 0 || errno != EINTR) {
            close_input(p);      /* the program closed its stdin */
            return;
        }
    }
    if (p->in >= 0 && p->in_end && p->pending.len == 0 && !p->tty)
        close_input(p);
}

void shim_proc_feed(struct shim_proc *p, const char *data, size_t n)
{
    if (p->in < 0 || p->in_end)
        return;
    str_append(&p->pending, data, n);
    shim_proc_flush(p);
}

void shim_proc_end_input(struct shim_proc *p)
{
    p->in_end = true;
    shim_proc_flush(p);
}

void shim_proc_close(struct shim_proc *p)
{
    if (p->in >= 0 && p->in != p->out)
        close(p->in);
    if (p->out >= 0)
        close(p->out);
    if (p->err >= 0)
        close(p->err);
    p->in = p->out = p->err = -1;
    str_release(&p->pending);
}

int shim_exit_code(int status, int *signo)
{
    *signo = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    return *signo ? 128 + *signo : WEXITSTATUS(status);
}
