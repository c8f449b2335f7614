/* kubelet_log.c - a container's log for kubectl: follow, previous, tail, since,
 * timestamps, limit, over rotated files; in slices, so that a large log never
 * holds the loop. */
#include "k8s/practice/kubelet_in.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/mem.h"
#include "k8s/practice/crilog.h"

enum { POLL_MS = 50, BUSY_MS = 10, SLICE = 128 << 10, PENDING_MAX = 512 << 10 };

struct klog {
    struct klog *next;
    struct kubelet *k;
    struct api_stream *s;
    char uid[64];
    char *name, *path;
    int attempt, fd;
    bool follow, timestamps, mid_line, ended;
    int64_t since_us, left;           /* left: bytes that may still go out, -1: any */
    struct str part;                  /* of a record */
    uint32_t timer;
};

static void pump(void *arg);

static void forget(struct klog *l)
{
    for (struct klog **p = &l->k->logs; *p; p = &(*p)->next)
        if (*p == l) {
            *p = l->next;
            break;
        }
    loop_timer_cancel(l->k->loop, l->timer);
    if (l->fd >= 0)
        close(l->fd);
    str_release(&l->part);
    free(l->name);
    free(l->path);
    free(l);
}

static void on_closed(void *arg)
{
    forget(arg);
}

static void end(struct klog *l)
{
    l->ended = true;
    api_stream_end(l->s);             /* on_closed follows */
}

/* --- records out ---------------------------------------------------------------------- */

static bool out(struct klog *l, const char *p, size_t n)
{
    if (l->left >= 0)
        n = MIN(n, (size_t)l->left);
    if (n)
        api_stream_write(l->s, 1, p, n);
    if (l->left >= 0)
        l->left -= (int64_t)n;
    return l->left != 0;
}

static void emit(struct klog *l, const char *line, size_t n)
{
    struct crilog_record r;
    if (!crilog_parse(line, n, &r) || r.us < l->since_us || l->left == 0)
        return;
    if (l->timestamps && !l->mid_line) {
        out(l, r.stamp, r.stamp_len);
        out(l, " ", 1);
    }
    out(l, r.text, r.len);
    if (r.full)
        out(l, "\n", 1);
    l->mid_line = !r.full;
}

static void take(struct klog *l, const char *p, size_t n)
{
    while (n > 0) {
        const char *nl = memchr(p, '\n', n);
        size_t len = nl ? (size_t)(nl - p) : n;
        if (nl && l->part.len == 0) {
            emit(l, p, len);
        } else {
            str_append(&l->part, p, len);
            if (nl) {
                emit(l, l->part.p, l->part.len);
                str_clear(&l->part);
            }
        }
        p += len + (nl != NULL);
        n -= len + (nl != NULL);
    }
}

/* --- files ------------------------------------------------------------------------------- */

/* The file after ours in age, if there is one. true: fd now reads it. */
static bool next_file(struct klog *l)
{
    struct strv files;
    struct stat ours, st;
    bool found = false, opened = false;
    strv_init(&files);
    crilog_files(l->path, &files);
    if (l->fd < 0 || fstat(l->fd, &ours) < 0)
        found = true;                 /* none yet: the oldest */
    for (size_t i = 0; i < files.n && !opened; i++) {
        if (found) {
            int fd = open(files.v[i], O_RDONLY | O_CLOEXEC);
            if (fd >= 0) {
                if (l->fd >= 0)
                    close(l->fd);
                l->fd = fd;
                opened = true;
            }
        } else if (stat(files.v[i], &st) == 0 && st.st_ino == ours.st_ino &&
                   st.st_dev == ours.st_dev) {
            found = true;
        }
    }
    if (!found && files.n && l->fd >= 0) {    /* ours was dropped: go on with the oldest */
        close(l->fd);
        l->fd = open(files.v[0], O_RDONLY | O_CLOEXEC);
        opened = l->fd >= 0;
    }
    strv_release(&files);
    return opened;
}

/* Is more to come? Not when this attempt has ended. */
static bool still_writing(struct klog *l)
{
    struct kpod *p = kubelet_find(l->k, l->uid);
    for (size_t i = 0; p && i < p->n; i++)
        if (strcmp(p->ctr[i].name, l->name) == 0)
            return p->ctr[i].attempt == l->attempt && p->ctr[i].state == KCTR_RUNNING;
    return false;
}

static void again(struct klog *l, int64_t ms)
{
    l->timer = loop_timer(l->k->loop, ms, pump, l, "pod-log");
}

static void pump(void *arg)
{
    struct klog *l = arg;
    char buf[32 << 10];
    size_t total = 0;
    l->timer = 0;
    if (l->ended)
        return;
    bool writing = still_writing(l);  /* looked at before the read: nothing is missed */
    while (total < SLICE) {
        if (api_stream_pending(l->s) > PENDING_MAX) {
            again(l, BUSY_MS);
            return;
        }
        ssize_t n = l->fd < 0 ? 0 : read(l->fd, buf, sizeof buf);
        if (n > 0) {
            take(l, buf, (size_t)n);
            total += (size_t)n;
        } else if (!next_file(l)) {
            if (l->follow && writing && l->left != 0)
                again(l, POLL_MS);
            else
                end(l);
            return;
        }
        if (l->left == 0) {
            end(l);
            return;
        }
    }
    again(l, 0);
}

/* --- tail ----------------------------------------------------------------------------------- */

/* Newlines of fd from the end backwards until *want of them were seen; the
 * offset behind that newline, or 0. */
static off_t tail_in(int fd, int64_t *want)
{
    char buf[64 << 10];
    struct stat st;
    if (fstat(fd, &st) < 0)
        return 0;
    for (off_t end = st.st_size; end > 0;) {
        size_t n = (size_t)MIN(end, (off_t)sizeof buf);
        if (pread(fd, buf, n, end - (off_t)n) != (ssize_t)n)
            return 0;
        for (size_t i = n; i-- > 0;)
            if (buf[i] == '\n' && (*want)-- == 0)
                return end - (off_t)n + (off_t)i + 1;
        end -= (off_t)n;
    }
    return 0;
}

static void seek_tail(struct klog *l, int64_t lines)
{
    struct strv files;
    strv_init(&files);
    crilog_files(l->path, &files);
    for (size_t i = files.n; i-- > 0;) {
        int fd = open(files.v[i], O_RDONLY | O_CLOEXEC);
        if (fd < 0)
            continue;
        if (l->fd >= 0)
            close(l->fd);
        l->fd = fd;
        off_t at = tail_in(fd, &lines);
        if (lseek(fd, at, SEEK_SET) < 0 || at > 0)
            break;
    }
    strv_release(&files);
}

/* --- which log ------------------------------------------------------------------- */

static struct kctr *find_container(struct kpod *p, const char *name)
{
    for (size_t i = 0; p && i < p->n; i++)
        if (strcmp(p->ctr[i].name, name) == 0)
            return &p->ctr[i];
    return NULL;
}

/* The attempt to read, in the cases and words of the kubelet. */
static enum pd_code choose_attempt(const struct kctr *c, bool previous, int *attempt,
                                   struct pd_err *err)
{
    const char *pod = c->pod->name;
    bool busy = c->busy == KCTR_UNPACKING || c->busy == KCTR_STARTING;
    int shown = c->attempt - busy;
    if (previous) {
        bool waits = c->state == KCTR_WAITING && c->has_last;
        *attempt = waits ? c->last_attempt : shown - 1;
        if (*attempt < 0 || !c->has_last)
            return pd_fail(err, PD_NOTFOUND, "previous terminated container \"%s\" in pod \"%s\" "
                           "not found", c->name, pod);
        return PD_OK;
    }
    *attempt = c->state == KCTR_WAITING ? (c->has_last ? c->last_attempt : -1) : shown;
    if (*attempt >= 0)
        return PD_OK;
    if (strcmp(c->reason, "ErrImagePull") == 0)
        return pd_fail(err, PD_INVALID, "container \"%s\" in pod \"%s\" is waiting to start: "
                       "image can't be pulled", c->name, pod);
    if (strcmp(c->reason, "ImagePullBackOff") == 0)
        return pd_fail(err, PD_INVALID, "container \"%s\" in pod \"%s\" is waiting to start: "
                       "trying and failing to pull image", c->name, pod);
    return pd_fail(err, PD_INVALID, "container \"%s\" in pod \"%s\" is waiting to start: %s",
                   c->name, pod, c->reason);
}

enum pd_code kubelet_log(void *arg, const struct json *pod, const struct api_log_options *o,
                         struct api_stream *s, int *http, struct pd_err *err)
{
    struct kubelet *k = arg;
    struct kpod *p = kubelet_find(k, kobj_uid(pod));
    const char *name = o->container && *o->container ? o->container
                                                     : json_str(pod, "spec.containers[0].name", "");
    struct kctr *c = find_container(p, name);
    int attempt = -1;
    *http = 400;
    if (!c)
        return pd_fail(err, PD_NOTFOUND, p ? "container %s is not valid for pod %s"
                                           : "container \"%s\" in pod \"%s\" is not available",
                       name, kobj_name(pod));
    if (choose_attempt(c, o->previous, &attempt, err) != PD_OK)
        return err->code;
    struct klog *l = xcalloc(1, sizeof *l);
    l->k = k;
    l->s = s;
    l->fd = -1;
    str_copy(l->uid, sizeof l->uid, p->uid);
    l->name = xstrdup(c->name);
    l->path = kubelet_ctr_log(p, c->name, attempt);
    l->attempt = attempt;
    l->follow = o->follow && !o->previous;
    l->timestamps = o->timestamps;
    l->since_us = o->since_us;
    l->left = o->limit_bytes > 0 ? o->limit_bytes : -1;
    str_init(&l->part, CRILOG_LINE_MAX + 256);
    l->next = k->logs;
    k->logs = l;
    struct api_stream_ops ops = {.closed = on_closed, .arg = l};
    api_stream_set(s, &ops);
    if (o->tail_lines >= 0)
        seek_tail(l, o->tail_lines);
    again(l, 0);
    return PD_OK;
}
