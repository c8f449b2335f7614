/* tui_pty.c - the program on a pseudo terminal, seen by libvterm: what it
 * writes, how much, and in what state it leaves the terminal. Nothing sleeps:
 * a test waits for a text on the screen, or for silence. */
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

static int on_prop(VTermProp prop, VTermValue *v, void *arg)
{
    struct term *t = arg;
    if (prop == VTERM_PROP_ALTSCREEN)
        t->alt = v->boolean;
    if (prop == VTERM_PROP_CURSORVISIBLE)
        t->cursor = v->boolean;
    return 1;
}

static char *program(void)
{
    char *dir = path_program_dir();
    char *p = xasprintf("%s/../podium", dir);
    free(dir);
    CHECK_MSG(access(p, X_OK) == 0, "%s is not built", p);
    return p;
}

static void child(char *const *argv, const char *term)
{
    char *home = xasprintf("%s/home", t_dir());
    setenv("HOME", home, 1);
    setenv("TERM", term, 1);
    setenv("LANG", "C.UTF-8", 1);
    setenv("ASAN_OPTIONS", "handle_segv=0:handle_abort=0:detect_leaks=0", 1);
    static const char *const drop[] = {"LC_ALL", "LC_CTYPE", "NO_COLOR", "COLORFGBG", "KUBECONFIG",
                                       "VISUAL", "EDITOR", "PODIUM_THEME", "XDG_STATE_HOME",
                                       "XDG_DATA_HOME", "XDG_CONFIG_HOME"};
    for (size_t i = 0; i < ARRAY_LEN(drop); i++)
        unsetenv(drop[i]);
    execv(argv[0], argv);
    _exit(99);
}

/* hold keeps the other end open, so that the terminal's state can be read
 * after the program has gone. */
static void start(struct term *t, int cols, int rows, const char *term, const char *extra,
                  const char *value)
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
        child(argv, term);
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

static bool feed(struct term *t, int ms)
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

static const char *screen(struct term *t)
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

static void wait_for(struct term *t, const char *text)
{
    int64_t end = clock_us() + 20000000;
    while (!strstr(screen(t), text)) {
        if (clock_us() > end || t->ended)
            t_fail(__FILE__, __LINE__, "no \"%s\" on the screen:\n%s", text, screen(t));
        feed(t, 100);
    }
}

static void silence(struct term *t, int ms)
{
    int64_t end = clock_us() + 10000000;
    while (feed(t, ms))
        CHECK(clock_us() < end);
}

static void press(struct term *t, const char *bytes)
{
    size_t n = strlen(bytes);
    CHECK_INT(write(t->fd, bytes, n), n);
}

static int leave(struct term *t)
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

static void restored(struct term *t)
{
    struct termios now;
    CHECK(tcgetattr(t->hold, &now) == 0);
    CHECK(!t->alt);
    CHECK(t->cursor);
    CHECK_INT(now.c_lflag, t->before.c_lflag);
    CHECK_INT(now.c_iflag, t->before.c_iflag);
    CHECK_INT(now.c_oflag, t->before.c_oflag);
}

static void done(struct term *t)
{
    vterm_free(t->vt);
    close(t->fd);
    close(t->hold);
    str_release(&t->raw);
}

/* The error of the missing kubeconfig has been shown. */
static void settled(struct term *t)
{
    wait_for(t, "Catalogue");
    wait_for(t, "/nowhere/config");
    silence(t, 150);
}

TEST(first_paint_is_small_and_quick)
{
    struct term t;
    start(&t, 120, 40, "xterm-256color", NULL, NULL);
    int64_t from = clock_us();
    wait_for(&t, "q quit");
    CHECK_MSG(clock_us() - from < 5000000, "first paint after %lld ms",
              (long long)(clock_us() - from) / 1000);
    CHECK_MSG(t.bytes <= 8192, "first paint takes %zu bytes", t.bytes);
    CHECK(t.alt && !t.cursor);
    settled(&t);
    CHECK_MSG(t.bytes <= 8192, "first screens take %zu bytes", t.bytes);
    press(&t, "q");
    CHECK_INT(leave(&t), 0);
    restored(&t);
    done(&t);
}

TEST(a_move_writes_little_and_rest_nothing)
{
    struct term t;
    start(&t, 120, 40, "xterm-256color", "--lab", "lora-gaudi");
    wait_for(&t, "Look at the node");
    silence(&t, 300);
    press(&t, "\033");           /* back to the catalogue */
    wait_for(&t, "Catalogue");
    silence(&t, 150);
    for (int i = 0; i < 6; i++) {
        t.bytes = 0;
        press(&t, i < 3 ? "\033[B" : "\033OA");
        silence(&t, 40);         /* the page beside it follows later, when that rests */
        CHECK_MSG(t.bytes <= 400, "a move writes %zu bytes", t.bytes);
        silence(&t, 150);
        CHECK_MSG(t.bytes <= 1500, "a move and the page beside it are %zu bytes", t.bytes);
    }
    t.bytes = 0;
    press(&t, "\t");
    wait_for(&t, "╔ ");
    silence(&t, 100);
    t.bytes = 0;
    CHECK(!feed(&t, 1500));
    CHECK_INT(t.bytes, 0);
    t.raw.len = 0;
    press(&t, "?");
    wait_for(&t, "Help");
    CHECK(!strstr(t.raw.p, "\033[2J"));
    press(&t, "\033");
    silence(&t, 150);
    CHECK(!strstr(screen(&t), " Help "));
    press(&t, "q");
    CHECK_INT(leave(&t), 0);
    done(&t);
}

TEST(list_cursor_moves_in_400_bytes)
{
    struct term t;
    start(&t, 120, 40, "xterm-256color", "--lab", "lora-gaudi");
    wait_for(&t, "Look at the node");
    silence(&t, 300);
    press(&t, ":");
    wait_for(&t, "Commands");
    silence(&t, 150);
    for (int i = 0; i < 5; i++) {
        t.bytes = 0;
        press(&t, "\033[B");
        silence(&t, 120);
        CHECK_MSG(t.bytes > 0 && t.bytes <= 400, "a move writes %zu bytes", t.bytes);
    }
    press(&t, "\033");
    silence(&t, 150);
    press(&t, "\003\003");
    CHECK_INT(leave(&t), 0);
    restored(&t);
    done(&t);
}

static void killed_by(int signo, bool graceful)
{
    struct term t;
    start(&t, 80, 24, "xterm-256color", NULL, NULL);
    settled(&t);
    CHECK(t.alt);
    kill(t.pid, signo);
    int status = leave(&t);
    if (graceful)
        CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 128 + signo);
    else
        CHECK(WIFSIGNALED(status) && WTERMSIG(status) == signo);
    restored(&t);
    done(&t);
}

TEST(sigterm_restores) { killed_by(SIGTERM, true); }
TEST(sighup_restores) { killed_by(SIGHUP, true); }
TEST(sigsegv_restores) { killed_by(SIGSEGV, false); }
TEST(sigabrt_restores) { killed_by(SIGABRT, false); }
TEST(sigbus_restores) { killed_by(SIGBUS, false); }

TEST(stop_and_continue)
{
    struct term t;
    int status;
    start(&t, 80, 24, "xterm-256color", NULL, NULL);
    settled(&t);
    press(&t, "\032");
    while (waitpid(t.pid, &status, WNOHANG | WUNTRACED) == 0)
        feed(&t, 50);
    CHECK(WIFSTOPPED(status));
    while (feed(&t, 50))
        ;
    restored(&t);
    kill(t.pid, SIGCONT);
    wait_for(&t, "Catalogue");
    CHECK(t.alt);
    press(&t, "q");
    CHECK_INT(leave(&t), 0);
    restored(&t);
    done(&t);
}

static void resize(struct term *t, int cols, int rows)
{
    struct winsize ws = {.ws_col = (unsigned short)cols, .ws_row = (unsigned short)rows};
    t->cols = cols;
    t->rows = rows;
    vterm_set_size(t->vt, rows, cols);
    ioctl(t->fd, TIOCSWINSZ, &ws);
}

TEST(resizing)
{
    struct term t;
    start(&t, 120, 40, "xterm-256color", NULL, NULL);
    settled(&t);
    for (int i = 0; i < 50; i++)
        resize(&t, 20 + i * 7 % 300, 5 + i * 3 % 100);
    resize(&t, 30, 10);
    wait_for(&t, "need 40x12, have 30x10");
    resize(&t, 40, 12);
    wait_for(&t, "Labs");
    wait_for(&t, "? help");
    resize(&t, 100, 30);
    wait_for(&t, "Catalogue");
    wait_for(&t, "q quit");
    press(&t, "q");
    CHECK_INT(leave(&t), 0);
    done(&t);
}

static void output_of(char *const *argv, struct str *out)
{
    int fd[2], status;
    char buf[4096];
    ssize_t n;
    CHECK(pipe(fd) == 0);
    pid_t pid = fork();
    if (pid == 0) {
        dup2(fd[1], 1);
        close(fd[0]);
        child(argv, "dumb");
    }
    close(fd[1]);
    while ((n = read(fd[0], buf, sizeof buf)) > 0)
        str_append(out, buf, (size_t)n);
    close(fd[0]);
    CHECK(waitpid(pid, &status, 0) == pid);
    CHECK_INT(status, 0);
}

/* What was recorded plays back to the very screen that was seen. */
TEST(replay_shows_the_same_screen)
{
    struct term t;
    struct str got, want;
    char *journal = xasprintf("%s/session.journal", t_dir()), *prog = program();
    start(&t, 100, 30, "xterm-256color", "--record", journal);
    settled(&t);
    static const char *const keys[] = {"j", "\r", "\t", "z", "z", "?", "j", "\033"};
    for (size_t i = 0; i < ARRAY_LEN(keys); i++) {
        press(&t, keys[i]);
        silence(&t, 120);
    }
    wait_for(&t, "LoRA on Gaudi");
    str_init(&want, 1 << 20);
    str_add(&want, screen(&t));
    kill(t.pid, SIGTERM);
    leave(&t);
    str_init(&got, 1 << 20);
    char *argv[] = {prog, "replay", journal, "--dump", NULL};
    output_of(argv, &got);
    CHECK_HAS(got.p, "REPLAY");
    /* the title carries the mark, all other rows are the same */
    const char *a = strchr(got.p, '\n'), *b = strchr(want.p, '\n');
    if (strcmp(a, b) != 0)
        t_fail(__FILE__, __LINE__, "seen:\n%s\nreplayed:\n%s", want.p, got.p);
    str_release(&got);
    str_release(&want);
    free(journal);
    free(prog);
    done(&t);
}

TEST(colours_where_there_are_some)
{
    static const struct { const char *term, *theme; bool colour; } t[] = {
        {"xterm-256color", "dark", true}, {"xterm-256color", "light", true},
        {"xterm", "dark", true}, {"xterm-256color", "mono", false}, {"vt100", "dark", false}};
    for (size_t i = 0; i < ARRAY_LEN(t); i++) {
        struct term m;
        start(&m, 80, 24, t[i].term, "--theme", t[i].theme);
        settled(&m);
        bool has = strstr(m.raw.p, "[38;5;") || strstr(m.raw.p, "[36m") || strstr(m.raw.p, "[33m");
        CHECK_MSG(has == t[i].colour, "%s with %s", t[i].term, t[i].theme);
        press(&m, "q");
        CHECK_INT(leave(&m), 0);
        done(&m);
    }
}

TEST(dumb_terminal_gets_lines)
{
    struct term t;
    start(&t, 80, 24, "dumb", NULL, NULL);
    wait_for(&t, "can't place the cursor");
    wait_for(&t, "lab?");
    CHECK(!t.alt && !strchr(t.raw.p, '\033'));
    press(&t, "quit\r");
    CHECK_INT(leave(&t), 0);
    done(&t);
}

TEST(unknown_terminal_is_tried)
{
    struct term t;
    start(&t, 80, 24, "nonsense-term", NULL, NULL);
    wait_for(&t, "TERM=nonsense-term is not known here; used xterm-256color");
    wait_for(&t, "Catalogue");
    press(&t, "q");
    CHECK_INT(leave(&t), 0);
    done(&t);
}

T_MAIN
