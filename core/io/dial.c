/* dial.c - a socket of one's own under libcurl (dial.h). A listener with a
 * backlog of 0 holds one connection; the SYN of the next is dropped by the
 * kernel, so that its connect() stays in progress for two minutes. */
#include "core/io/dial.h"

#include "core/base/i18n.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

void dial_init(struct dial *d)
{
    *d = (struct dial){-1, -1, -1, -1};
}

static void drop(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

void dial_release(struct dial *d)
{
    drop(&d->real);
    drop(&d->listener);
    drop(&d->filler);
    d->placeholder = -1;
}

static int tcp_socket(void)
{
    return socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
}

enum pd_code dial_begin(struct dial *d, int real, struct sockaddr_in *addr, int *placeholder,
                        struct pd_err *err)
{
    struct sockaddr *a = (struct sockaddr *)addr;
    socklen_t n = sizeof *addr;
    dial_release(d);
    d->real = real;
    memset(addr, 0, sizeof *addr);
    addr->sin_family = AF_INET;
    addr->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    d->listener = tcp_socket();
    d->filler = tcp_socket();
    *placeholder = tcp_socket();
    if (d->listener < 0 || d->filler < 0 || *placeholder < 0 || bind(d->listener, a, n) < 0 ||
        listen(d->listener, 0) < 0 || getsockname(d->listener, a, &n) < 0 ||
        connect(d->filler, a, n) < 0) {
        int saved = errno;
        drop(placeholder);
        dial_release(d);
        errno = saved;
        return pd_fail_errno(err, PD_IO, _("no socket for the dialed connection"));
    }
    d->placeholder = *placeholder;
    return PD_OK;
}

void dial_swap(struct dial *d)
{
    if (d->placeholder < 0)
        return;
    fcntl(d->real, F_SETFL, fcntl(d->real, F_GETFL) | O_NONBLOCK);
    dup3(d->real, d->placeholder, O_CLOEXEC);
    dial_release(d);
}
