/* progress.c - a training's records as a person reads them (progress.h). */
#include "core/train/progress.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/base/i18n.h"
#include "core/base/runlog.h"
#include "core/base/utf8.h"
#include "core/train/meminfo.h"

enum { BAR = 24, SHORT_BAR = 10, DRAW_US = 100000, LINE = 512 };

enum pd_code progress_choose(const char *name, int fd, enum progress_mode *out,
                             struct pd_err *err)
{
    static const char *const names[] = {"json", "bar", "plain"};
    const char *term = getenv("TERM");
    for (int i = 0; name && i < (int)ARRAY_LEN(names); i++)
        if (str_eq(name, names[i])) {
            *out = (enum progress_mode)i;
            return PD_OK;
        }
    if (name && !str_eq(name, "auto"))
        return pd_fail(err, PD_USAGE, _("--log takes auto, bar, plain or json, not \"%s\""), name);
    *out = !isatty(fd)                                        ? PROGRESS_JSON
           : !term || !term[0] || str_eq(term, "dumb") ? PROGRESS_PLAIN
                                                              : PROGRESS_BAR;
    return PD_OK;
}

void progress_init(struct progress *p, enum progress_mode mode, int fd)
{
    *p = (struct progress){.mode = mode, .fd = fd};
}

const char *progress_time(double seconds, char *buf, size_t size)
{
    if (!isfinite(seconds) || seconds < 0)
        return str_copy(buf, size, "?");
    int64_t s = (int64_t)(seconds + 0.5);
    if (s < 3600)
        return str_fmt(buf, size, "%d:%02d", (int)(s / 60), (int)(s % 60));
    if (s < 48 * 3600)
        return str_fmt(buf, size, "%d:%02d:%02d", (int)(s / 3600), (int)(s / 60 % 60),
                       (int)(s % 60));
    return str_fmt(buf, size, _("%d d %d h"), (int)(s / 86400), (int)(s / 3600 % 24));
}

const char *progress_bytes(size_t bytes, char *buf, size_t size)
{
    static const char *const units[] = {"B", "kB", "MB", "GB", "TB"};
    double x = (double)bytes;
    size_t u = 0;
    for (; x >= 999.5 && u + 1 < ARRAY_LEN(units); u++)
        x /= 1000;
    return str_fmt(buf, size, u > 2 && x < 100 ? "%.1f %s" : "%.0f %s", x, units[u]);
}

static void draw_bar(const struct progress_view *v, int cells, char *out)
{
    int full = v->steps > 0 ? (int)(cells * v->step / v->steps) : 0;
    *out++ = '[';
    for (int i = 0; i < cells; i++)
        *out++ = i < full ? '#' : '-';
    *out++ = ']';
    *out = 0;
}

/* The parts from left to right; `rank` says what goes first when it is narrow. */
const char *progress_line(const struct progress_view *v, int width, char *buf, size_t size)
{
    enum { PARTS = 6 };
    char part[PARTS][64], text[40];
    static const int rank[PARTS] = {3, 9, 8, 2, 1, 7};
    draw_bar(v, width < 70 ? SHORT_BAR : BAR, part[0]);
    str_fmt(part[1], sizeof part[1], "%" PRId64 "/%" PRId64, v->step, v->steps);
    str_fmt(part[2], sizeof part[2], _("loss %.4f"), v->loss);
    str_fmt(part[3], sizeof part[3], _("%.0f tok/s"), v->tok_s);
    str_copy(part[4], sizeof part[4], v->bytes ? progress_bytes(v->bytes, text, sizeof text) : "");
    str_fmt(part[5], sizeof part[5], _("%s left"), progress_time(v->left_s, text, sizeof text));
    for (int least = 0;; least++) {
        buf[0] = 0;
        for (int i = 0; i < PARTS; i++) {
            size_t n = strlen(buf);
            if (rank[i] > least && part[i][0])
                str_fmt(buf + n, size - n, "%s%s", n ? "  " : "", part[i]);
        }
        if (utf8_str_width(buf) < width || least == 9)
            return buf;
    }
}

static void put(struct progress *p, const char *text, size_t n)
{
    while (n > 0 && !p->failed) {
        ssize_t k = write(p->fd, text, n);
        if (k < 0 && errno == EINTR)
            continue;
        p->failed = k < 0;
        text += k > 0 ? k : 0;
        n -= k > 0 ? (size_t)k : 0;
    }
}

/* A line that stays, above the drawn one. */
static void say(struct progress *p, const char *fmt, ...) PRINTF_LIKE(2, 3);
static void say(struct progress *p, const char *fmt, ...)
{
    char text[4 * LINE];
    int at = p->drawn ? snprintf(text, sizeof text, "\r\033[K") : 0;
    va_list ap;
    va_start(ap, fmt);
    int n = vsnprintf(text + at, sizeof text - (size_t)at - 1, fmt, ap);
    va_end(ap);
    size_t len = MIN((size_t)(at + n), sizeof text - 2);
    text[len++] = '\n';
    p->drawn = false;
    put(p, text, len);
}

static int terminal_width(int fd)
{
    struct winsize w;
    return ioctl(fd, TIOCGWINSZ, &w) == 0 && w.ws_col > 0 ? w.ws_col : 80;
}

static void on_hello(struct progress *p, const struct run_record *r)
{
    double accum = runlog_num(r, "accum", 1);
    p->steps = (int64_t)runlog_num(r, "steps", 0);
    p->first = (int64_t)runlog_num(r, "step", 0);
    p->start_us = clock_us();
    say(p, _("%s: %.1f M parameters, %.2f M of them trained; %.0f training and %.0f validation "
             "examples"),
        runlog_str(r, "model", "?"), runlog_num(r, "params", 0) / 1e6,
        runlog_num(r, "trainable", 0) / 1e6, runlog_num(r, "train_examples", 0),
        runlog_num(r, "val_examples", 0));
    if (runlog_has(r, "packed_rows"))
        say(p, _("the examples are packed into %.0f rows, of which padding would be %.1f %%"),
            runlog_num(r, "packed_rows", 0), 100 * runlog_num(r, "padding", 0));
    say(p, _("%.0f updates of %.0f sequences, at most %.0f tokens each; rate %g; %.0f threads, %s"),
        runlog_num(r, "steps", 0), runlog_num(r, "batch", 0) * accum, runlog_num(r, "seq", 0),
        runlog_num(r, "rate", 0), runlog_num(r, "threads", 0), runlog_str(r, "isa", "?"));
    if (p->first > 0)
        say(p, _("goes on after update %lld"), (long long)p->first);
}

static void on_step(struct progress *p, const struct run_record *r)
{
    char line[LINE], text[LINE + 32];
    int64_t now = clock_us(), step = (int64_t)runlog_num(r, "step", 0);
    double per = (double)(now - p->start_us) / 1e6 / (double)MAX(step - p->first, 1);
    struct progress_view v = {step, p->steps, runlog_num(r, "loss", NAN),
                              runlog_num(r, "tok_s", NAN), per * (double)(p->steps - step),
                              meminfo_resident(MEMINFO_NOW)};
    if (p->mode == PROGRESS_PLAIN) {
        char left[40];
        say(p, _("update %lld of %lld: loss %.4g, rate %.3g, gradient %.3g, %.0f tokens a second, "
                 "%s left"),
            (long long)step, (long long)p->steps, v.loss, runlog_num(r, "lr", NAN),
            runlog_num(r, "gnorm", NAN), v.tok_s,
            progress_time(v.left_s, left, sizeof left));
        return;
    }
    if (p->drawn && now - p->drawn_us < DRAW_US && step < p->steps)
        return;
    progress_line(&v, terminal_width(p->fd), line, sizeof line);
    int n = snprintf(text, sizeof text, "\r%s\033[K", line);
    p->drawn = true;
    p->drawn_us = now;
    put(p, text, (size_t)n);
}

static void on_eval(struct progress *p, const struct run_record *r)
{
    double loss = runlog_num(r, "val_loss", NAN);
    say(p, _("after %.0f updates: validation loss %.4f, perplexity %.2f"),
        runlog_num(r, "step", 0), loss, exp(loss));
}

static void on_save(struct progress *p, const struct run_record *r)
{
    char bytes[40];
    say(p, _("saved %s (%s)"), runlog_str(r, "path", "?"),
        progress_bytes((size_t)runlog_num(r, "bytes", 0), bytes, sizeof bytes));
}

static void on_state(struct progress *p, const struct run_record *r)
{
    static const struct {
        const char *state, *text;
    } texts[] = {{"paused", N_("paused")}, {"running", N_("goes on")},
                 {"holding", N_("done; holding until quit")}};
    for (size_t i = 0; i < ARRAY_LEN(texts); i++)
        if (str_eq(texts[i].state, runlog_str(r, "state", "")))
            say(p, "%s", _(texts[i].text));
}

static void on_warn(struct progress *p, const struct run_record *r)
{
    say(p, _("warning: %s"), runlog_str(r, "text", ""));
}

static void on_error(struct progress *p, const struct run_record *r)
{
    const char *hint = runlog_str(r, "hint", "");
    say(p, _("failed: %s [%s]"), runlog_str(r, "text", ""), runlog_str(r, "code", ""));
    if (hint[0])
        say(p, _("next: %s"), hint);
}

static void on_answer(struct progress *p, const struct run_record *r)
{
    if (runlog_num(r, "ok", 1) != 0)
        say(p, "%s: ok", runlog_str(r, "cmd", "?"));
    else
        say(p, "%s: %s", runlog_str(r, "cmd", "?"), runlog_str(r, "text", ""));
}

static void on_done(struct progress *p, const struct run_record *r)
{
    char time[40], bytes[40];
    const char *out = runlog_str(r, "adapter", runlog_str(r, "model", "?"));
    say(p, _("done in %s: loss %.4g, validation loss %.4g, at most %s of memory; results are in "
             "%s"),
        progress_time(runlog_num(r, "seconds", NAN), time, sizeof time),
        runlog_num(r, "loss", NAN), runlog_num(r, "val_loss", NAN),
        progress_bytes(meminfo_resident(MEMINFO_PEAK), bytes, sizeof bytes), out);
}

void progress_record(struct progress *p, const char *line, size_t n)
{
    static void (*const events[RUN_EVENT_COUNT])(struct progress *, const struct run_record *) = {
        [RUN_HELLO] = on_hello, [RUN_STEP] = on_step, [RUN_EVAL] = on_eval, [RUN_SAVE] = on_save,
        [RUN_STATE] = on_state, [RUN_ANSWER] = on_answer, [RUN_WARN] = on_warn,
        [RUN_ERROR] = on_error, [RUN_DONE] = on_done,
    };
    struct run_record r;
    struct pd_err err;
    if (runlog_parse(line, n, &r, &err) == PD_OK && events[r.ev])
        events[r.ev](p, &r);
}
