/* tui_pty.c - the program on a pseudo terminal, seen by libvterm: what it
 * writes, how much, and in what state it leaves the terminal. Nothing sleeps:
 * a test waits for a text on the screen, or for silence. */
#include "tests/pty/pty.h"

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

/* kill -STOP says nothing: the shell takes the line, writes over the screen, and
 * the window changes; after SIGCONT all is as it should be. */
TEST(stopped_from_outside)
{
    struct term t;
    struct termios raw;
    int status;
    start(&t, 80, 24, "xterm-256color", NULL, NULL);
    settled(&t);
    CHECK(tcgetattr(t.hold, &raw) == 0);
    kill(t.pid, SIGSTOP);
    while (waitpid(t.pid, &status, WNOHANG | WUNTRACED) == 0)
        feed(&t, 50);
    tcsetattr(t.hold, TCSANOW, &t.before);
    static const char words[] = "\033[?1049l$ \033[?25hsome words of a shell\r\n";
    CHECK(write(t.hold, words, sizeof words - 1) == sizeof words - 1);
    while (feed(&t, 50))
        ;
    resize(&t, 100, 30);
    kill(t.pid, SIGCONT);
    wait_for(&t, "Catalogue");
    silence(&t, 200);
    struct termios now;
    CHECK(tcgetattr(t.hold, &now) == 0);
    CHECK_INT(now.c_lflag, raw.c_lflag);
    CHECK_INT(now.c_iflag, raw.c_iflag);
    CHECK(t.alt && !t.cursor && !strstr(screen(&t), "words of a shell"));
    press(&t, "q");
    CHECK_INT(leave(&t), 0);
    restored(&t);
    done(&t);
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
        pty_child(argv, "dumb", NULL);
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
