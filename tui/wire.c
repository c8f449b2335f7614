/* wire.c - the line to the terminal (wire.h). */
#include "tui/wire.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/base/err.h"

/* What a signal handler needs: prepared while all is well. */
static struct {
    volatile sig_atomic_t armed;
    bool kept;                   /* `before` is known */
    struct termios before;
    char bytes[512];
    size_t n;
} rescue;

/* Ends a sequence that was cut off, then every mode that podium ever sets. */
static const char modes_off[] = "\033\\\033[?2026l\033[?1006l\033[?1002l\033[?1000l\033[?2004l";

static void restore_now(void)
{
    if (!rescue.armed)
        return;
    rescue.armed = 0;
    ssize_t ignored = write(STDOUT_FILENO, rescue.bytes, rescue.n);
    (void)ignored;
    tcsetattr(STDIN_FILENO, TCSANOW, &rescue.before);
}

static void on_crash(int signo)
{
    restore_now();
    signal(signo, SIG_DFL);
    raise(signo);
}

static void catch_crashes(void)
{
    static const int signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGQUIT, SIGSYS,
                                  SIGTRAP, SIGXCPU};
    struct sigaction sa = {.sa_handler = on_crash, .sa_flags = (int)(SA_RESETHAND | SA_NODEFER)};
    sigemptyset(&sa.sa_mask);
    for (size_t i = 0; i < ARRAY_LEN(signals); i++)
        sigaction(signals[i], &sa, NULL);
    pd_on_die(restore_now);
}

void wire_open(struct wire *w)
{
    const char *name = ttyname(STDOUT_FILENO);
    memset(w, 0, sizeof *w);
    str_init(&w->pending, WIRE_PENDING_MOST);
    w->fd = name ? open(name, O_WRONLY | O_NOCTTY | O_NONBLOCK | O_CLOEXEC) : -1;
    w->own = w->fd >= 0;
    if (!w->own)
        w->fd = STDOUT_FILENO;
    if (!rescue.kept)
        rescue.kept = tcgetattr(STDIN_FILENO, &rescue.before) == 0;
    catch_crashes();
}

void wire_close(struct wire *w)
{
    if (w->own)
        close(w->fd);
    str_release(&w->pending);
    w->own = false;
}

static void raw_keys(void)
{
    struct termios now = rescue.before;
    now.c_iflag &= ~(tcflag_t)(BRKINT | IGNBRK | PARMRK | ISTRIP | INLCR | IGNCR | ICRNL | IXON);
    now.c_oflag &= ~(tcflag_t)OPOST;
    now.c_lflag &= ~(tcflag_t)(ECHO | ECHONL | ICANON | ISIG | IEXTEN);
    now.c_cflag = (now.c_cflag & ~(tcflag_t)(CSIZE | PARENB)) | CS8;
    now.c_cc[VMIN] = 1;
    now.c_cc[VTIME] = 0;
    tcsetattr(STDIN_FILENO, TCSADRAIN, &now);
}

void wire_enter(struct wire *w UNUSED, const char *back)
{
    size_t n = strlen(back);
    rescue.n = sizeof modes_off - 1;
    memcpy(rescue.bytes, modes_off, rescue.n);
    if (n < sizeof rescue.bytes - rescue.n) {
        memcpy(rescue.bytes + rescue.n, back, n);
        rescue.n += n;
    }
    raw_keys();
    rescue.armed = 1;
}

void wire_leave(struct wire *w)
{
    enum { PATIENCE_MS = 1000 };
    wire_drain(w, PATIENCE_MS);
    rescue.armed = 0;
    if (w->owed)                 /* what comes so late would be typed to the shell */
        tcflush(STDIN_FILENO, TCIFLUSH);
    if (rescue.kept)
        tcsetattr(STDIN_FILENO, TCSANOW, &rescue.before);
}

/* --- bytes --------------------------------------------------------------------- */
bool wire_busy(const struct wire *w)
{
    return w->sent < w->pending.len;
}

int64_t wire_flush(struct wire *w)
{
    while (wire_busy(w)) {
        ssize_t n = write(w->fd, w->pending.p + w->sent, w->pending.len - w->sent);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && errno == EAGAIN)
            return -1;
        if (n < 0)               /* the terminal is gone: its hang-up comes by itself */
            n = (ssize_t)(w->pending.len - w->sent);
        w->sent += (size_t)n;
        w->bytes += (uint64_t)n;
    }
    int64_t waited = w->since_ms ? clock_ms() - w->since_ms : 0;
    w->blocked_ms = MAX(w->blocked_ms, waited);
    w->since_ms = 0;
    w->sent = 0;
    str_clear(&w->pending);
    return waited;
}

void wire_put(struct wire *w, const char *bytes, size_t n)
{
    str_append(&w->pending, bytes, n);
    if (wire_flush(w) < 0 && w->since_ms == 0)
        w->since_ms = clock_ms();
}

void wire_say(struct wire *w, const char *text)
{
    wire_put(w, text, strlen(text));
}

void wire_drain(struct wire *w, int ms)
{
    int64_t end = clock_ms() + ms;
    while (wire_flush(w) < 0) {
        struct pollfd p = {.fd = w->fd, .events = POLLOUT};
        int64_t left = end - clock_ms();
        if (left <= 0 || (poll(&p, 1, (int)left) < 0 && errno != EINTR))
            break;
    }
    w->sent = 0;
    str_clear(&w->pending);
}

size_t wire_ask(struct wire *w, const char *question, char end, int ms, char *answer, size_t size)
{
    int64_t until = clock_ms() + ms;
    size_t n = 0;
    wire_say(w, question);
    wire_drain(w, ms);
    while (n + 1 < size) {
        struct pollfd p = {.fd = STDIN_FILENO, .events = POLLIN};
        int64_t left = until - clock_ms();
        if (left <= 0 || poll(&p, 1, (int)left) <= 0)
            break;
        ssize_t got = read(STDIN_FILENO, answer + n, size - 1 - n);
        if (got <= 0)
            break;
        n += (size_t)got;
        if (memchr(answer, end, n))
            break;
    }
    w->owed = w->owed || !memchr(answer, end, n);
    answer[n] = '\0';
    return n;
}
