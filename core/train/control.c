/* control.c - commands on stdin: reading without blocking, and their grammar
 * (control.h). */
#include "core/train/control.h"

#include <errno.h>
#include <math.h>
#include <poll.h>
#include <unistd.h>

#include "core/base/i18n.h"
#include "core/base/str.h"

enum { LINE_MOST = 255 };

static enum pd_code no_more(struct strv *w, size_t at, struct pd_err *err)
{
    if (w->n <= at)
        return PD_OK;
    return pd_fail(err, PD_USAGE, _("\"%s\" is too much for %s"), w->v[at], w->v[0]);
}

static enum pd_code parse_step(struct strv *w, struct control_line *out, struct pd_err *err)
{
    out->n = 1;
    if (w->n > 1 && (!str_to_i64(w->v[1], &out->n) || out->n < 1))
        return pd_fail(err, PD_USAGE, _("step takes a number from 1, not \"%s\""), w->v[1]);
    return no_more(w, 2, err);
}

static enum pd_code parse_rate(struct strv *w, struct control_line *out, struct pd_err *err)
{
    if (w->n < 2 || !str_to_f64(w->v[1], &out->x) || !isfinite(out->x) || out->x < 0)
        return pd_fail(err, PD_USAGE, _("rate takes a number from 0, such as: rate 0.0005"));
    return no_more(w, 2, err);
}

static enum pd_code parse_inspect(struct strv *w, struct control_line *out, struct pd_err *err)
{
    str_copy(out->what, sizeof out->what, w->n > 1 ? w->v[1] : "");
    if (str_eq(out->what, "norms"))
        return no_more(w, 2, err);
    if (!str_eq(out->what, "tensor") || w->n < 3)
        return pd_fail(err, PD_USAGE, _("inspect takes: norms, or tensor NAME [ROW COL]"));
    str_copy(out->name, sizeof out->name, w->v[2]);
    if ((w->n > 3 && (!str_to_i64(w->v[3], &out->n) || out->n < 0)) ||
        (w->n > 4 && (!str_to_i64(w->v[4], &out->col) || out->col < 0)))
        return pd_fail(err, PD_USAGE, _("ROW and COL are numbers from 0"));
    return no_more(w, 5, err);
}

static enum pd_code parse_walk(struct strv *w, struct control_line *out, struct pd_err *err)
{
    if (w->n == 1)
        return PD_OK;
    str_copy(out->name, sizeof out->name, w->v[1]);
    if (w->n < 4 || !str_to_i64(w->v[2], &out->n) || out->n < 0 ||
        !str_to_i64(w->v[3], &out->col) || out->col < 0)
        return pd_fail(err, PD_USAGE, _("walk takes nothing, or NAME ROW COL of one weight"));
    return no_more(w, 4, err);
}

static enum pd_code parse_plain(struct strv *w, struct control_line *out UNUSED,
                                struct pd_err *err)
{
    return no_more(w, 1, err);
}

static const struct {
    const char *name;
    enum pd_code (*parse)(struct strv *w, struct control_line *out, struct pd_err *err);
} commands[CONTROL_CMDS] = {
    [CONTROL_HELLO] = {"hello", parse_plain},    [CONTROL_PAUSE] = {"pause", parse_plain},
    [CONTROL_RESUME] = {"resume", parse_plain},  [CONTROL_STEP] = {"step", parse_step},
    [CONTROL_INSPECT] = {"inspect", parse_inspect}, [CONTROL_RATE] = {"rate", parse_rate},
    [CONTROL_SAVE] = {"save", parse_plain},      [CONTROL_WALK] = {"walk", parse_walk},
    [CONTROL_QUIT] = {"quit", parse_plain},
};

const char *control_name(enum control_cmd c)
{
    return commands[c].name;
}

static enum pd_code parse_words(struct strv *w, struct control_line *out, struct pd_err *err)
{
    const char *names[CONTROL_CMDS];
    for (int i = 0; i < CONTROL_CMDS && w->n; i++)
        if (str_eq(w->v[0], names[i] = commands[i].name)) {
            out->cmd = (enum control_cmd)i;
            return commands[i].parse(w, out, err);
        }
    if (w->n == 0)
        return pd_fail(err, PD_USAGE, _("an empty command"));
    const char *near = str_nearest(w->v[0], names, CONTROL_CMDS);
    pd_fail(err, PD_USAGE, _("no command \"%s\""), w->v[0]);
    if (near)
        return pd_set_hint(err, _("did you mean %s?"), near);
    return pd_set_hint(err, _("use hello, pause, resume, step, inspect, rate, save, walk or quit"));
}

enum pd_code control_parse(const char *line, struct control_line *out, struct pd_err *err)
{
    struct strv all, w;
    strv_init(&all);
    strv_init(&w);
    *out = (struct control_line){0};
    strv_split(&all, line, ' ');
    for (size_t i = 0; i < all.n; i++) {
        if (!out->id[0] && w.n == 0 && all.v[i][0] == '#')
            str_copy(out->id, sizeof out->id, all.v[i] + 1);
        else if (all.v[i][0])
            strv_push(&w, all.v[i]);
    }
    enum pd_code rc = parse_words(&w, out, err);
    strv_release(&w);
    strv_release(&all);
    return rc;
}

void control_init(struct control *c, int fd)
{
    *c = (struct control){.fd = fd};
    lines_init(&c->lines, LINE_MOST);
}

void control_release(struct control *c)
{
    lines_release(&c->lines);
}

static void keep_line(void *arg, char *line, size_t len UNUSED, bool cut UNUSED)
{
    struct control *c = arg;
    if (c->count == CONTROL_QUEUE) {
        c->dropped = true;
        return;
    }
    str_copy(c->queue[(c->head + c->count++) % CONTROL_QUEUE], sizeof c->queue[0], line);
}

/* False when there is nothing to read (now, or any more). */
static bool read_some(struct control *c, int timeout_ms)
{
    char buf[1024];
    struct pollfd p = {.fd = c->fd, .events = POLLIN};
    if (c->fd < 0) {
        if (timeout_ms > 0)
            poll(NULL, 0, timeout_ms);
        return false;
    }
    if (poll(&p, 1, timeout_ms) <= 0)
        return false;
    ssize_t n = read(c->fd, buf, sizeof buf);
    if (n > 0) {
        lines_feed(&c->lines, buf, (size_t)n, keep_line, c);
        return true;
    }
    if (n < 0 && (errno == EINTR || errno == EAGAIN))
        return false;
    lines_end(&c->lines, keep_line, c);
    c->fd = -1;
    return c->count > 0;
}

bool control_next(struct control *c, int timeout_ms, char line[256])
{
    while (c->count == 0)
        if (!read_some(c, timeout_ms))
            return false;
    str_copy(line, 256, c->queue[c->head]);
    c->head = (c->head + 1) % CONTROL_QUEUE;
    c->count--;
    return true;
}
