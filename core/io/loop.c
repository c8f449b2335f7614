/* loop.c - the only wait of the program (loop.h).
 *
 * Invariants: a descriptor, timer or signal removed inside a callback is not
 * called any more in the same turn. curl_multi_poll hides POLLHUP and POLLERR
 * of extra descriptors (libcurl 7.88 maps POLLIN, POLLOUT and POLLPRI only), so
 * a poll() without waiting asks again after it: a closed pipe must wake its
 * owner once, not spin the loop.
 */
#include "core/io/loop.h"

#include <curl/curl.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <time.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/base/log.h"
#include "core/base/mem.h"
#include "core/base/str.h"
#include "core/io/loop_io.h"

enum { SLICE_US = 5000, BLOCKED = 40, SIGNAL_MAX = 65, WAIT_MAX = 60000 };
enum { SLOT_BITS = 16, SLOT_MAX = 1 << SLOT_BITS };

struct fd_entry {
    int fd, events, ready;
    loop_fd_fn *fn;
    void *arg;
};

struct timer {
    int64_t when;
    uint64_t seq;               /* equal times fire in the order they were set */
    loop_fn *fn;
    void *arg;
    const char *name;
    size_t pos;                 /* in the heap, SIZE_MAX when free */
    uint32_t generation, next_free;
};

struct call {
    loop_fn *fn;
    void *arg;
};

struct loop {
    CURLM *multi;
    struct fd_entry *fds;
    size_t fd_n, fd_cap;
    struct curl_waitfd *wait;
    struct pollfd *poll;
    size_t wait_cap;

    struct timer *timers;       /* slots; ids name slot and generation */
    uint32_t *heap;             /* slots, the next to fire first */
    size_t timer_n, timer_cap, heap_n;
    uint32_t free_slot;         /* slot + 1, 0: none */
    uint64_t seq;

    struct call *calls;
    size_t call_n, call_cap;

    struct loop_transfer *transfers;
    struct loop_tenant *tenants;
    int signal_fd;
    sigset_t signals, old_mask;
    void (*on_signal[SIGNAL_MAX])(void *, int);
    void *signal_arg[SIGNAL_MAX];

    loop_fn *after;
    void *after_arg;
    bool stopped;
    int code;
    int64_t slowest_us, limit_us;   /* limit 0: only count */
    char slowest_name[64];
};

/* --- the measure --- */

static int64_t cpu_us(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

static long switches(void)
{
    struct rusage u;
    return getrusage(RUSAGE_THREAD, &u) == 0 ? u.ru_nivcsw : 0;
}

struct loop_mark loop_mark_begin(const struct loop *l)
{
    struct loop_mark m = {clock_us(), 0, 0};
    if (l->limit_us) {
        m.cpu_us = cpu_us();
        m.switches = switches();
    }
    return m;
}

/* Held: longer than the limit by the clock and on the processor (a crowded
 * machine stretches the clock alone). Blocked: waiting for something, for so
 * long that no crowd explains it. */
void loop_mark_end(struct loop *l, struct loop_mark m, const char *name)
{
    int64_t us = clock_us() - m.wall_us;
    if (us > l->slowest_us) {
        l->slowest_us = us;
        str_copy(l->slowest_name, sizeof l->slowest_name, name);
    }
    if (!l->limit_us || us <= l->limit_us)
        return;
    int64_t cpu = cpu_us() - m.cpu_us;
    bool blocked = us - cpu > BLOCKED * l->limit_us && switches() == m.switches;
    if (cpu > l->limit_us || blocked)
        PD_BUG("the callback \"%s\" held the loop for %lld us (%lld us on the processor)", name,
               (long long)us, (long long)cpu);
}

static int64_t limit_of_environment(void)
{
#ifdef LOOP_ASSERT
    int64_t ms = LOOP_ASSERT;
#else
    int64_t ms = 0;
#endif
    const char *e = getenv("LOOP_ASSERT");
    if (e && !str_to_i64(e, &ms))
        ms = 0;
    return ms == 1 ? SLICE_US : ms * 1000;
}

/* --- life --- */

struct loop *loop_new(void)
{
    static bool ready;
    if (!ready) {
        signal(SIGPIPE, SIG_IGN);
        if (curl_global_init(CURL_GLOBAL_DEFAULT) != 0)
            PD_BUG("libcurl can't be initialised");
        ready = true;
    }
    struct loop *l = xcalloc(1, sizeof *l);
    l->multi = curl_multi_init();
    if (!l->multi)
        PD_BUG("out of memory");
    curl_multi_setopt(l->multi, CURLMOPT_MAXCONNECTS, 32L);
    l->signal_fd = -1;
    sigemptyset(&l->signals);
    pthread_sigmask(SIG_BLOCK, NULL, &l->old_mask);
    l->limit_us = limit_of_environment();
    return l;
}

void loop_free(struct loop *l)
{
    if (!l)
        return;
    while (l->transfers)
        l->transfers->drop(l->transfers->arg);
    while (l->tenants)
        l->tenants->drop(l->tenants->arg);
    curl_multi_cleanup(l->multi);
    if (l->signal_fd >= 0) {
        close(l->signal_fd);
        pthread_sigmask(SIG_SETMASK, &l->old_mask, NULL);
    }
    free(l->fds);
    free(l->wait);
    free(l->poll);
    free(l->timers);
    free(l->heap);
    free(l->calls);
    free(l);
}

void loop_tenant_add(struct loop *l, struct loop_tenant *t)
{
    t->prev = NULL;
    t->next = l->tenants;
    if (t->next)
        t->next->prev = t;
    l->tenants = t;
}

void loop_tenant_remove(struct loop *l, struct loop_tenant *t)
{
    if (t->prev)
        t->prev->next = t->next;
    else
        l->tenants = t->next;
    if (t->next)
        t->next->prev = t->prev;
}

void loop_unlimited(struct loop *l)
{
    l->limit_us = 0;
}

int64_t loop_slowest(const struct loop *l, const char **name)
{
    if (name)
        *name = l->slowest_name;
    return l->slowest_us;
}

/* --- descriptors --- */

static struct fd_entry *find_fd(struct loop *l, int fd)
{
    for (size_t i = 0; i < l->fd_n; i++)
        if (l->fds[i].fd == fd)
            return &l->fds[i];
    return NULL;
}

void loop_fd(struct loop *l, int fd, int events, loop_fd_fn *fn, void *arg)
{
    assert(fd >= 0 && fn);
    struct fd_entry *e = find_fd(l, fd);
    if (!e) {
        if (l->fd_n == l->fd_cap) {
            l->fd_cap = l->fd_cap ? 2 * l->fd_cap : 16;
            l->fds = xrealloc_array(l->fds, l->fd_cap, sizeof *l->fds);
        }
        e = &l->fds[l->fd_n++];
        e->ready = 0;
    }
    if (e->ready && e->fn != fn)
        e->ready = 0;
    e->fd = fd;
    e->events = events;
    e->fn = fn;
    e->arg = arg;
}

void loop_fd_remove(struct loop *l, int fd)
{
    struct fd_entry *e = find_fd(l, fd);
    if (!e)
        return;
    l->fd_n--;
    size_t i = (size_t)(e - l->fds);
    memmove(e, e + 1, (l->fd_n - i) * sizeof *e);
}

/* Callbacks may change the table: always start over at the first ready one. */
static void dispatch_fds(struct loop *l)
{
    for (size_t i = 0; i < l->fd_n; i++) {
        struct fd_entry e = l->fds[i];
        int ready = e.ready & e.events;
        l->fds[i].ready = 0;
        if (!ready)
            continue;
        char name[32];
        str_fmt(name, sizeof name, "descriptor %d", e.fd);
        struct loop_mark m = loop_mark_begin(l);
        e.fn(e.arg, e.fd, ready);
        loop_mark_end(l, m, name);
        i = (size_t)-1;
    }
}

/* --- timers --- */

static bool earlier(const struct loop *l, uint32_t a, uint32_t b)
{
    const struct timer *x = &l->timers[a], *y = &l->timers[b];
    return x->when != y->when ? x->when < y->when : x->seq < y->seq;
}

static void heap_put(struct loop *l, size_t pos, uint32_t slot)
{
    l->heap[pos] = slot;
    l->timers[slot].pos = pos;
}

static void sift_up(struct loop *l, size_t pos)
{
    uint32_t slot = l->heap[pos];
    while (pos > 0 && earlier(l, slot, l->heap[(pos - 1) / 2])) {
        heap_put(l, pos, l->heap[(pos - 1) / 2]);
        pos = (pos - 1) / 2;
    }
    heap_put(l, pos, slot);
}

static void sift_down(struct loop *l, size_t pos)
{
    uint32_t slot = l->heap[pos];
    for (;;) {
        size_t c = 2 * pos + 1;
        if (c + 1 < l->heap_n && earlier(l, l->heap[c + 1], l->heap[c]))
            c++;
        if (c >= l->heap_n || !earlier(l, l->heap[c], slot))
            break;
        heap_put(l, pos, l->heap[c]);
        pos = c;
    }
    heap_put(l, pos, slot);
}

static uint32_t timer_slot(struct loop *l)
{
    if (l->free_slot) {
        uint32_t slot = l->free_slot - 1;
        l->free_slot = l->timers[slot].next_free;
        return slot;
    }
    if (l->timer_n == l->timer_cap) {
        l->timer_cap = l->timer_cap ? 2 * l->timer_cap : 32;
        l->timers = xrealloc_array(l->timers, l->timer_cap, sizeof *l->timers);
        l->heap = xrealloc_array(l->heap, l->timer_cap, sizeof *l->heap);
    }
    if (l->timer_n >= SLOT_MAX - 1)
        PD_BUG("too many timers");
    memset(&l->timers[l->timer_n], 0, sizeof *l->timers);
    return (uint32_t)l->timer_n++;
}

uint32_t loop_timer(struct loop *l, int64_t ms, loop_fn *fn, void *arg, const char *name)
{
    uint32_t slot = timer_slot(l);
    struct timer *t = &l->timers[slot];
    t->when = clock_ms() + MAX(ms, 0);
    t->seq = l->seq++;
    t->fn = fn;
    t->arg = arg;
    t->name = name;
    t->generation = (t->generation + 1) & 0x7fff;
    heap_put(l, l->heap_n++, slot);
    sift_up(l, l->heap_n - 1);
    return t->generation << SLOT_BITS | (slot + 1);
}

static void timer_remove(struct loop *l, uint32_t slot)
{
    size_t pos = l->timers[slot].pos;
    l->timers[slot].pos = SIZE_MAX;
    l->timers[slot].next_free = l->free_slot;
    l->free_slot = slot + 1;
    uint32_t last = l->heap[--l->heap_n];
    if (last == slot)
        return;
    heap_put(l, pos, last);
    sift_up(l, pos);
    sift_down(l, l->timers[last].pos);
}

void loop_timer_cancel(struct loop *l, uint32_t id)
{
    uint32_t slot = (id & (SLOT_MAX - 1)) - 1;
    if (id == 0 || slot >= l->timer_n)
        return;
    struct timer *t = &l->timers[slot];
    if (t->pos != SIZE_MAX && t->generation == id >> SLOT_BITS)
        timer_remove(l, slot);
}

/* Those due now; timers set by a timer wait for the next turn. */
static void run_timers(struct loop *l)
{
    int64_t now = clock_ms();
    uint64_t last = l->seq;
    while (l->heap_n > 0) {
        struct timer t = l->timers[l->heap[0]];
        if (t.when > now || t.seq >= last)
            break;
        timer_remove(l, l->heap[0]);
        struct loop_mark m = loop_mark_begin(l);
        t.fn(t.arg);
        loop_mark_end(l, m, t.name);
    }
}

/* --- deferred calls, signals --- */

void loop_defer(struct loop *l, loop_fn *fn, void *arg)
{
    if (l->call_n == l->call_cap) {
        l->call_cap = l->call_cap ? 2 * l->call_cap : 16;
        l->calls = xrealloc_array(l->calls, l->call_cap, sizeof *l->calls);
    }
    l->calls[l->call_n++] = (struct call){fn, arg};
}

static void run_deferred(struct loop *l)
{
    size_t n = l->call_n;
    for (size_t i = 0; i < n; i++) {
        struct call c = l->calls[i];
        struct loop_mark m = loop_mark_begin(l);
        c.fn(c.arg);
        loop_mark_end(l, m, "deferred call");
    }
    l->call_n -= n;
    if (l->call_n > 0)
        memmove(l->calls, l->calls + n, l->call_n * sizeof *l->calls);
}

static void read_signals(void *arg, int fd, int events UNUSED)
{
    struct loop *l = arg;
    struct signalfd_siginfo info;
    while (read(fd, &info, sizeof info) == (ssize_t)sizeof info) {
        unsigned s = info.ssi_signo;
        if (s < SIGNAL_MAX && l->on_signal[s])
            l->on_signal[s](l->signal_arg[s], (int)s);
    }
}

void loop_signal(struct loop *l, int signo, void (*fn)(void *arg, int signo), void *arg)
{
    assert(signo > 0 && signo < SIGNAL_MAX);
    l->on_signal[signo] = fn;
    l->signal_arg[signo] = arg;
    sigaddset(&l->signals, signo);
    if (pthread_sigmask(SIG_BLOCK, &l->signals, NULL) != 0)
        PD_BUG("signals can't be blocked");
    int fd = signalfd(l->signal_fd, &l->signals, SFD_NONBLOCK | SFD_CLOEXEC);
    if (fd < 0)
        PD_BUG("signalfd: %s", strerror(errno));
    l->signal_fd = fd;
    loop_fd(l, fd, LOOP_READ, read_signals, l);
}

void loop_after_turn(struct loop *l, loop_fn *fn, void *arg)
{
    l->after = fn;
    l->after_arg = arg;
}

/* --- the turn --- */

void loop_transfer_add(struct loop *l, struct loop_transfer *t, void *easy)
{
    t->prev = NULL;
    t->next = l->transfers;
    if (t->next)
        t->next->prev = t;
    l->transfers = t;
    curl_easy_setopt((CURL *)easy, CURLOPT_PRIVATE, (char *)t);
    CURLMcode code = curl_multi_add_handle(l->multi, easy);
    if (code != CURLM_OK)
        PD_BUG("curl_multi_add_handle: %s", curl_multi_strerror(code));
}

void loop_transfer_remove(struct loop *l, struct loop_transfer *t, void *easy)
{
    CURLMcode code = curl_multi_remove_handle(l->multi, easy);
    if (code != CURLM_OK)
        PD_BUG("curl_multi_remove_handle: %s", curl_multi_strerror(code));
    if (t->prev)
        t->prev->next = t->next;
    else
        l->transfers = t->next;
    if (t->next)
        t->next->prev = t->prev;
}

void loop_transfer_mark(struct loop_transfer *t)
{
    t->marked = true;
}

static struct loop_transfer *first_due(struct loop *l)
{
    for (struct loop_transfer *t = l->transfers; t; t = t->next)
        if (t->due)
            return t;
    return NULL;
}

/* What was marked up to now; a mark made meanwhile waits for the next turn. */
static void run_ready(struct loop *l)
{
    for (struct loop_transfer *t = l->transfers; t; t = t->next) {
        t->due = t->marked;
        t->marked = false;
    }
    for (struct loop_transfer *t; (t = first_due(l)) != NULL;) {
        t->due = false;
        t->ready(t->arg);
    }
}

static void run_transfers(struct loop *l)
{
    int running, left;
    curl_multi_perform(l->multi, &running);
    run_ready(l);
    for (CURLMsg *msg; (msg = curl_multi_info_read(l->multi, &left)) != NULL;) {
        if (msg->msg != CURLMSG_DONE)
            continue;
        struct loop_transfer *t = NULL;
        CURLcode code = msg->data.result;
        curl_easy_getinfo(msg->easy_handle, CURLINFO_PRIVATE, (char **)&t);
        if (t)
            t->done(t->arg, (int)code);
    }
}

static bool any_marked(const struct loop *l)
{
    for (const struct loop_transfer *t = l->transfers; t; t = t->next)
        if (t->marked)
            return true;
    return false;
}

static int wait_ms(const struct loop *l, int64_t max_ms)
{
    int64_t ms = MIN(MAX(max_ms, 0), WAIT_MAX);
    if (l->call_n > 0 || l->stopped || any_marked(l))
        return 0;
    if (l->heap_n > 0)
        ms = MIN(ms, MAX(l->timers[l->heap[0]].when - clock_ms(), 0));
    return (int)ms;
}

static void wait_sets(struct loop *l)
{
    if (l->wait_cap < l->fd_n) {
        l->wait_cap = l->fd_cap;
        l->wait = xrealloc_array(l->wait, l->wait_cap, sizeof *l->wait);
        l->poll = xrealloc_array(l->poll, l->wait_cap, sizeof *l->poll);
    }
    for (size_t i = 0; i < l->fd_n; i++) {
        const struct fd_entry *e = &l->fds[i];
        bool r = e->events & LOOP_READ, w = e->events & LOOP_WRITE;
        int fd = r || w ? e->fd : -1;    /* nothing asked: a hang-up must not spin */
        l->wait[i] = (struct curl_waitfd){
            fd, (short)((r ? CURL_WAIT_POLLIN : 0) | (w ? CURL_WAIT_POLLOUT : 0)), 0};
        l->poll[i] = (struct pollfd){fd, (short)((r ? POLLIN : 0) | (w ? POLLOUT : 0)), 0};
    }
}

static void wait_turn(struct loop *l, int64_t max_ms)
{
    wait_sets(l);
    curl_multi_poll(l->multi, l->wait, (unsigned)l->fd_n, wait_ms(l, max_ms), NULL);
    if (l->fd_n == 0 || poll(l->poll, (nfds_t)l->fd_n, 0) <= 0)
        return;
    for (size_t i = 0, n = l->fd_n; i < n; i++) {
        short r = l->poll[i].revents;
        struct fd_entry *e = r ? find_fd(l, l->poll[i].fd) : NULL;
        if (!e)
            continue;
        if (r & POLLNVAL) {
            log_write(LOG_ERROR, "descriptor %d was closed while the loop waits on it", e->fd);
            loop_fd_remove(l, e->fd);
            continue;
        }
        if (r & (POLLIN | POLLHUP | POLLERR))
            e->ready |= LOOP_READ;
        if (r & (POLLOUT | POLLHUP | POLLERR))
            e->ready |= LOOP_WRITE;
    }
}

void loop_turn(struct loop *l, int64_t max_ms)
{
    run_timers(l);
    run_transfers(l);
    dispatch_fds(l);
    run_deferred(l);
    if (l->after) {
        struct loop_mark m = loop_mark_begin(l);
        l->after(l->after_arg);
        loop_mark_end(l, m, "after the turn");
    }
    wait_turn(l, max_ms);
}

int loop_run(struct loop *l)
{
    l->stopped = false;
    while (!l->stopped)
        loop_turn(l, WAIT_MAX);
    return l->code;
}

void loop_stop(struct loop *l, int code)
{
    l->stopped = true;
    l->code = code;
}
