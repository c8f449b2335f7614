/* tui_live.c - what a running training costs on the wire: a step a frame, the
 * large curve with its log, on a pseudo terminal. The budget is 800 bytes a frame
 * on average at 120x40. */
#include "tests/screens/fixture.h"

#include <poll.h>
#include <pty.h>
#include <sys/wait.h>
#include <unistd.h>

#include "labs/run.h"
#include "tui/screen.h"
#include "tui/term.h"

enum { FRAMES = 120 };

static void paint(const struct app *a, struct tty *t, struct grid *g, const struct theme *th)
{
    int cx, cy;
    screen_draw(a, g, &cx, &cy);
    while (term_busy(t)) {
        struct pollfd p = {.fd = term_fd(t), .events = POLLOUT};
        poll(&p, 1, 1000);
        term_flush(t);
    }
    term_paint(t, g, th, false, cx, cy);
}

/* One more step, its log line with it, as it comes from a pod. */
static void next_step(struct app *a, struct run_log *log, int step)
{
    char line[300];
    struct session *s = a->s;
    uint32_t seed = (uint32_t)step * 2654435761u;
    double noise = (double)(seed >> 8) / (1 << 24) - 0.5;
    str_fmt(line, sizeof line,
            "{\"v\":1,\"ev\":\"step\",\"step\":%d,\"loss\":%.6f,\"lr\":%.6g,\"gnorm\":%.4f,"
            "\"tokens\":%d,\"tok_s\":%.0f,\"epoch\":%.3f,\"ms\":250}", step,
            0.9 + 0.1 * noise, 2e-4 * (1 - step / 500.0), 0.7 + noise * 0.1, step * 512,
            1284 + noise * 90, step / 166.0);
    CHECK(run_line(&s->run, log, line, FIXTURE_NOW + step * 250));
    fx_log_line(s, line);
    struct msg m = {.kind = MSG_TICK, .at_ms = FIXTURE_NOW + step * 250};
    struct effects out;
    effects_init(&out);
    app_apply(a, &m, &out);
    effects_release(&out);
}

static void live(int out_fd, int dots)
{
    struct tty *tty;
    struct theme th;
    struct grid g;
    struct pd_err err;
    struct term_stats st[2];
    char note[160];
    struct run_log *log = xcalloc(1, sizeof *log);
    struct app *a = fx_app("en", 120, 40, GLYPH_UNICODE);
    fx_lab(a);
    fx_run(a->s);
    fx_log(a->s);
    a->curve.dots = (enum curve_dots)dots;
    fx_key(a, "3");
    fx_key(a, "z");
    setenv("TERM", "xterm-256color", 1);
    if (term_open(&tty, note, &err) || theme_load(PODIUM_SOURCE_DIR "/themes/dark.yaml", &th, &err))
        _exit(3);
    grid_init(&g, 120, 40);
    paint(a, tty, &g, &th);
    term_stats(tty, &st[0]);
    for (int i = 0; i < FRAMES; i++) {
        next_step(a, log, 311 + i);
        paint(a, tty, &g, &th);
    }
    term_stats(tty, &st[1]);
    uint64_t bytes = st[1].bytes - st[0].bytes;
    term_close(tty);
    _exit(write(out_fd, &bytes, sizeof bytes) == sizeof bytes ? 0 : 4);
}

static uint64_t run_live(int dots)
{
    struct winsize size = {.ws_row = 40, .ws_col = 120};
    uint64_t bytes = 0;
    char buf[65536];
    int p[2], master, status;
    CHECK(pipe(p) == 0);
    pid_t pid = forkpty(&master, NULL, NULL, &size);
    CHECK(pid >= 0);
    if (pid == 0)
        live(p[1], dots);
    close(p[1]);
    while (read(master, buf, sizeof buf) > 0) {
    }
    CHECK(read(p[0], &bytes, sizeof bytes) == sizeof bytes);
    CHECK(waitpid(pid, &status, 0) == pid && WIFEXITED(status) && WEXITSTATUS(status) == 0);
    close(p[0]);
    close(master);
    return bytes;
}

TEST(a_live_curve_writes_little)
{
    for (int dots = DOTS_BRAILLE; dots <= DOTS_BLOCK; dots++) {
        double each = (double)run_live(dots) / FRAMES;
        CHECK_MSG(each > 50 && each <= 800, "dots %d: %.0f bytes a frame", dots, each);
        FILE *f = getenv("BENCH") && dots == DOTS_BRAILLE ? fopen(getenv("BENCH"), "a") : NULL;
        if (f) {
            fprintf(f, "bench curve_live_120x40 %.0f bytes/frame\n", each);
            fclose(f);
        }
    }
}

T_MAIN
