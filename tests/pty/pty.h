/* pty.h - podium on a pseudo terminal, seen by libvterm, for the tests that
 * include it. Nothing sleeps: a test waits for a text on the screen, or for
 * silence. */
#ifndef TESTS_PTY_PTY_H
#define TESTS_PTY_PTY_H

#include "tests/t.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>
#include <vterm.h>

#include "core/base/clock.h"
#include "core/base/mem.h"
#include "core/base/path.h"
#include "core/base/str.h"

struct term {
    pid_t pid;
    int fd, hold, cols, rows;
    VTerm *vt;
    VTermScreen *screen;
    bool alt, cursor, ended;
    size_t bytes;                /* since the last reset */
    struct str raw;
    struct termios before;
};

UNUSED static int on_prop(VTermProp prop, VTermValue *v, void *arg)
{
    struct term *t = arg;
    if (prop == VTERM_PROP_ALTSCREEN)
        t->alt = v->boolean;
    if (prop == VTERM_PROP_CURSORVISIBLE)
        t->cursor = v->boolean;
    return 1;
}

UNUSED static char *program(void)
{
    char *dir = path_program_dir();
    char *p = xasprintf("%s/../podium", dir);
    free(dir);
    CHECK_MSG(access(p, X_OK) == 0, "%s is not built", p);
    return p;
}

UNUSED static void pty_child(char *const *argv, const char *term, const char *const *env)
{
    char *home = xasprintf("%s/home", t_dir());
    setenv("HOME", home, 1);
    setenv("TERM", term, 1);
    setenv("LANG", "C.UTF-8", 1);
    setenv("PODIUM_CLOCK", "off", 1);    /* a minute may end in the middle of a test */
    setenv("ASAN_OPTIONS", "handle_segv=0:handle_abort=0:detect_leaks=0", 1);
    static const char *const drop[] = {"LC_ALL", "LC_CTYPE", "NO_COLOR", "COLORFGBG", "KUBECONFIG",
                                       "VISUAL", "EDITOR", "PODIUM_THEME", "XDG_STATE_HOME",
                                       "XDG_DATA_HOME", "XDG_CONFIG_HOME", "TMUX", "STY",
                                       "COLORTERM", "TERM_PROGRAM", "DISPLAY", "WAYLAND_DISPLAY",
                                       "SSH_TTY", "SSH_CONNECTION", "SSH_CLIENT", "LINES",
                                       "COLUMNS", "PODIUM_SLOW", "PODIUM_SYNC"};
    for (size_t i = 0; i < ARRAY_LEN(drop); i++)
        unsetenv(drop[i]);
    for (size_t i = 0; env && env[i]; i++)
        putenv((char *)(uintptr_t)env[i]);
    execv(argv[0], argv);
    _exit(99);
}

/* hold keeps the other end open, so that the terminal's state can be read
 * after the program has gone. */
UNUSED static void start_env(struct term *t, int cols, int rows, const char *term,
                      const char *const *env, const char *extra, const char *value)
{
    struct winsize ws = {.ws_col = (unsigned short)cols, .ws_row = (unsigned short)rows};
    char *prog = program(), name[128];
    static const VTermScreenCallbacks calls = {.settermprop = on_prop};
    memset(t, 0, sizeof *t);
    t->cols = cols;
    t->rows = rows;
    str_init(&t->raw, 64 << 20);
    char *argv[] = {prog, "--kubeconfig", "/nowhere/config", "--labs",
                    PODIUM_SOURCE_DIR "/tests/screens/labs", (char *)(uintptr_t)extra,
                    (char *)(uintptr_t)value, NULL};
    t->pid = forkpty(&t->fd, name, NULL, &ws);
    if (t->pid == 0)
        pty_child(argv, term, env);
    CHECK(t->pid > 0);
    t->hold = open(name, O_RDWR | O_NOCTTY);
    tcgetattr(t->fd, &t->before);
    t->vt = vterm_new(rows, cols);
    vterm_set_utf8(t->vt, 1);
    t->screen = vterm_obtain_screen(t->vt);
    vterm_screen_enable_altscreen(t->screen, 1);
    vterm_screen_set_callbacks(t->screen, &calls, t);
    vterm_screen_reset(t->screen, 1);
    free(prog);
}

UNUSED static void start(struct term *t, int cols, int rows, const char *term, const char *extra,
                  const char *value)
{
    start_env(t, cols, rows, term, NULL, extra, value);
}

UNUSED static bool feed(struct term *t, int ms)
{
    char buf[65536];
    struct pollfd p = {.fd = t->fd, .events = POLLIN};
    if (poll(&p, 1, ms) <= 0)
        return false;
    ssize_t n = read(t->fd, buf, sizeof buf);
    if (n <= 0) {
        t->ended = true;
        return false;
    }
    t->bytes += (size_t)n;
    str_append(&t->raw, buf, (size_t)n);
    vterm_input_write(t->vt, buf, (size_t)n);
    return true;
}

UNUSED static const char *screen(struct term *t)
{
    static struct str s;
    if (!s.p)
        str_init(&s, 1 << 20);
    str_clear(&s);
    for (int y = 0; y < t->rows; y++) {
        char line[4096];
        VTermRect r = {.start_row = y, .end_row = y + 1, .start_col = 0, .end_col = t->cols};
        size_t n = vterm_screen_get_text(t->screen, line, sizeof line, r);
        while (n > 0 && line[n - 1] == ' ')
            n--;
        str_append(&s, line, n);
        str_addc(&s, '\n');
    }
    return s.p;
}

UNUSED static void wait_for(struct term *t, const char *text)
{
    int64_t end = clock_us() + 20000000;
    while (!strstr(screen(t), text)) {
        if (clock_us() > end || t->ended)
            t_fail(__FILE__, __LINE__, "no \"%s\" on the screen:\n%s", text, screen(t));
        feed(t, 100);
    }
}

UNUSED static void silence(struct term *t, int ms)
{
    int64_t end = clock_us() + 10000000;
    while (feed(t, ms))
        CHECK(clock_us() < end);
}

UNUSED static void press(struct term *t, const char *bytes)
{
    size_t n = strlen(bytes);
    CHECK_INT(write(t->fd, bytes, n), n);
}

UNUSED static int leave(struct term *t)
{
    int status = 0, tries = 0;
    while (waitpid(t->pid, &status, WNOHANG) == 0) {
        if (++tries > 300)
            t_fail(__FILE__, __LINE__, "the program does not end");
        feed(t, 50);
    }
    while (feed(t, 0))
        ;
    return status;
}

UNUSED static void restored(struct term *t)
{
    struct termios now;
    CHECK(tcgetattr(t->hold, &now) == 0);
    CHECK(!t->alt);
    CHECK(t->cursor);
    CHECK_INT(now.c_lflag, t->before.c_lflag);
    CHECK_INT(now.c_iflag, t->before.c_iflag);
    CHECK_INT(now.c_oflag, t->before.c_oflag);
}

UNUSED static void done(struct term *t)
{
    vterm_free(t->vt);
    close(t->fd);
    close(t->hold);
    str_release(&t->raw);
}

/* The error of the missing kubeconfig has been shown. */
UNUSED static void settled(struct term *t)
{
    wait_for(t, "Catalogue");
    wait_for(t, "/nowhere/config");
    silence(t, 150);
}

UNUSED static void resize(struct term *t, int cols, int rows)
{
    struct winsize ws = {.ws_col = (unsigned short)cols, .ws_row = (unsigned short)rows};
    t->cols = cols;
    t->rows = rows;
    vterm_set_size(t->vt, rows, cols);
    ioctl(t->fd, TIOCSWINSZ, &ws);
}

#endif
