/* logread.c - lines of a log over broken streams (logread.h).
 *
 * Of one run of a container an answer is the file's lines from a moment on, so
 * what it has in common with the ring is the ring's end, whole. Only its front
 * may be gone (rotated away), and its first line may be the rear part of a long
 * line that began before the moment asked for: such a line is in front of lines
 * that are known, so it is held until it is clear whether one of those comes.
 */
#include "k8s/logread.h"

#include "core/base/clock.h"
#include "core/base/mem.h"

enum { RING_MAX = 1 << 18, HELD_MAX = 4 << 20, MARGIN_S = 1, KEEP_S = 6 };

static const int64_t second = 1000000000;

static uint64_t hash(const char *p, size_t n)
{
    uint64_t h = UINT64_C(14695981039346656037);
    for (; n >= 8; p += 8, n -= 8) {
        uint64_t word;
        memcpy(&word, p, sizeof word);
        h = (h ^ word) * UINT64_C(1099511628211);
        h ^= h >> 29;
    }
    for (; n > 0; p++, n--)
        h = (h ^ (unsigned char)*p) * UINT64_C(1099511628211);
    return h ^ h >> 32;
}

void logread_init(struct logread *r, const struct logread_handlers *h)
{
    memset(r, 0, sizeof *r);
    r->h = *h;
    lines_init(&r->lines, LOGREAD_LINE_MAX + LOGREAD_STAMP);
    str_init(&r->held, HELD_MAX);
}

void logread_release(struct logread *r)
{
    lines_release(&r->lines);
    str_release(&r->held);
    free(r->ring);
    r->ring = NULL;
}

void logread_forget(struct logread *r)
{
    r->n = r->start = r->seen = 0;
    r->newest = r->forgotten = 0;
    r->last[0] = '\0';
    r->resuming = false;
    r->rest = r->rest_before = 0;
    str_clear(&r->held);
}

void logread_stop(struct logread *r)
{
    r->stopped = true;
}

/* --- what is remembered ------------------------------------------------------ */

static struct logread_line *at(const struct logread *r, size_t i)
{
    return &r->ring[(r->start + i) & (r->cap - 1)];
}

static void grow(struct logread *r)
{
    size_t cap = r->cap ? 2 * r->cap : 64;
    struct logread_line *ring = xmalloc(cap * sizeof *ring);
    for (size_t i = 0; i < r->n; i++)
        ring[i] = *at(r, i);
    free(r->ring);
    r->ring = ring;
    r->start = 0;
    r->cap = cap;
}

static void drop_front(struct logread *r)
{
    r->forgotten = MAX(r->forgotten, at(r, 0)->ns);
    r->start = (r->start + 1) & (r->cap - 1);
    r->n--;
}

static void remember(struct logread *r, struct logread_line line)
{
    r->newest = MAX(r->newest, line.ns);
    while (r->n > 1 && at(r, 0)->ns < r->newest - KEEP_S * second)
        drop_front(r);
    if (r->n == RING_MAX)
        drop_front(r);
    if (r->n == r->cap)
        grow(r);
    *at(r, r->n++) = line;
}

int64_t logread_since(const struct logread *r)
{
    if (r->n == 0)
        return -1;
    /* of the last line, whose stamp may be older: clocks are set back */
    return MAX(at(r, r->n - 1)->ns / second - MARGIN_S, 0);
}

/* --- lines --------------------------------------------------------------------- */

/* Length of the stamp at the line's start, 0 when there is none. */
static size_t stamp(const char *line, size_t n, char ts[LOGREAD_STAMP], int64_t *ns)
{
    const char *space = memchr(line, ' ', MIN(n, (size_t)LOGREAD_STAMP));
    int64_t us;
    size_t len = space ? (size_t)(space - line) : n;
    if (len < 20 || len >= LOGREAD_STAMP)
        return 0;
    memcpy(ts, line, len);
    ts[len] = '\0';
    if (!clock_parse_rfc3339(ts, &us) || us <= 0)
        return 0;
    int64_t nano = 0;                 /* what stands behind the microseconds */
    const char *dot = strchr(ts, '.');
    for (int i = 1; dot && i <= 9 && dot[i] >= '0' && dot[i] <= '9'; i++)
        if (i > 6)
            nano += (dot[i] - '0') * (i == 7 ? 100 : i == 8 ? 10 : 1);
    *ns = us * 1000 + nano;
    return len;
}

/* What a kubelet writes into the stream instead of an error. */
static bool is_words(const char *text)
{
    static const char *const begins[] = {
        "unable to retrieve container logs for ", "failed to create fsnotify watcher",
        "failed to try resolving symlinks in path", "failed to watch log file",
        "failed to open log file", "failed to find log file", "failed to get container status",
        "failed to reopen log file", "rpc error: code = "};
    for (size_t i = 0; i < ARRAY_LEN(begins); i++)
        if (str_starts(text, begins[i]))
            return true;
    return false;
}

static void hand_out(struct logread *r, char *line, size_t n, bool cut)
{
    char ts[LOGREAD_STAMP];
    int64_t ns = 0;
    size_t skip = stamp(line, n, ts, &ns);
    if (r->stopped)
        return;
    r->fresh++;
    if (skip) {
        remember(r, (struct logread_line){ns, hash(line, n)});
        str_copy(r->last, sizeof r->last, ts);
        skip += skip < n;             /* the space */
    }
    if (ns && ns < r->only_from)
        return;
    r->total++;
    r->h.line(r->h.arg, ns, line + skip, n - skip, cut);
}

/* --- laying an answer over what is remembered ------------------------------------ */

static void hold(struct logread *r, const char *line, size_t n, bool cut)
{
    char head[1 + sizeof n];
    head[0] = (char)cut;
    memcpy(head + 1, &n, sizeof n);
    str_append(&r->held, head, sizeof head);
    str_append(&r->held, line, n);
    str_addc(&r->held, '\0');
}

/* What was held is new. */
static void let_go(struct logread *r)
{
    struct str held = r->held;
    str_init(&r->held, HELD_MAX);
    for (size_t i = 0; i < held.len && !r->stopped;) {
        size_t n;
        bool cut = held.p[i] != 0;
        memcpy(&n, held.p + i + 1, sizeof n);
        i += 1 + sizeof n;
        hand_out(r, held.p + i, n, cut);
        i += n + 1;
    }
    str_release(&held);
}

static bool is_at(const struct logread *r, size_t i, struct logread_line line)
{
    return i < r->n && at(r, i)->ns == line.ns && at(r, i)->hash == line.hash;
}

/* The first line that is new: was the last one of before still there? */
static void conclude(struct logread *r, const char *ts)
{
    char first[LOGREAD_STAMP];
    const char *held = r->held.p + 1 + sizeof(size_t);
    int64_t ns;
    r->resuming = false;
    if (r->held.len > 0 && stamp(held, strlen(held), first, &ns))
        ts = first;
    /* of equal lines in one nanosecond the last may be all that is left */
    if (r->n > 0 && (r->seen == 0 || !is_at(r, r->seen - 1, *at(r, r->n - 1))))
        r->h.gap(r->h.arg, r->last, ts);
    let_go(r);
}

/* The place of a line in the ring, not before `seen`; n when it is not there. */
static size_t find(const struct logread *r, struct logread_line line)
{
    size_t i = r->seen;
    if (!is_at(r, i, line) && line.ns <= r->forgotten)
        return r->n;                  /* so many a second that not all are remembered */
    while (i < r->n && !is_at(r, i, line))
        i++;
    return i;
}

/* True when the line was handed out before, or it isn't known yet. */
static bool known(struct logread *r, const char *line, size_t n, bool cut, int64_t ns,
                  const char *ts)
{
    size_t i = find(r, (struct logread_line){ns, hash(line, n)});
    if (i < r->n) {
        r->seen = i + 1;
        str_clear(&r->held);
        r->resuming = r->seen < r->n;
        return true;
    }
    if (ns <= r->forgotten)
        return true;
    if (ns <= r->newest && r->held.len + n + 64 < HELD_MAX) {
        hold(r, line, n, cut);
        return true;
    }
    conclude(r, ts);
    return false;
}

static void on_line(void *arg, char *line, size_t n, bool cut)
{
    struct logread *r = arg;
    char ts[LOGREAD_STAMP] = "";
    int64_t ns = 0;
    if (r->stopped)
        return;
    bool stamped = stamp(line, n, ts, &ns) > 0;
    if (!stamped && is_words(line))
        r->h.words(r->h.arg, line);
    else if (r->resuming && !stamped)
        hold(r, line, n, cut);        /* in front of lines that are known it is known too */
    else if (!r->resuming || !known(r, line, n, cut, ns, ts))
        hand_out(r, line, n, cut);
}

void logread_begin(struct logread *r)
{
    lines_release(&r->lines);
    lines_init(&r->lines, LOGREAD_LINE_MAX + LOGREAD_STAMP);
    str_clear(&r->held);
    r->resuming = r->n > 0;
    r->seen = 0;
    r->fresh = 0;
    r->stopped = false;
}

void logread_feed(struct logread *r, const char *data, size_t n)
{
    lines_feed(&r->lines, data, n, on_line, r);
}

bool logread_end(struct logread *r)
{
    struct str *rest = &r->lines.buf;
    if (is_words(rest->p)) {
        r->h.words(r->h.arg, rest->p);
        str_clear(rest);
    }
    if (r->held.len > 0)
        conclude(r, r->last);
    r->rest_before = r->rest;
    r->rest = rest->len ? hash(rest->p, rest->len) : 0;
    return r->fresh == 0 && r->rest == r->rest_before;
}

bool logread_torn(const struct logread *r)
{
    char ts[LOGREAD_STAMP];
    int64_t ns;
    return r->n > 0 && stamp(r->lines.buf.p, r->lines.buf.len, ts, &ns);
}

void logread_flush(struct logread *r)
{
    lines_end(&r->lines, on_line, r);
    if (r->held.len > 0 && !r->stopped)
        conclude(r, r->last);
}
