/* crilog.c - CRI log files: writer with rotation, record parser (crilog.h). */
#include "k8s/practice/crilog.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/base/mem.h"
#include "core/base/path.h"

static const char *const stream_names[] = {"", "stdout", "stderr"};

enum pd_code crilog_open(struct crilog *w, const char *path, int64_t max, int keep,
                         struct pd_err *err)
{
    struct stat st;
    memset(w, 0, sizeof *w);
    w->fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (w->fd < 0)
        return pd_fail_errno(err, PD_IO, "the log %s can't be written", path);
    w->size = fstat(w->fd, &st) == 0 ? st.st_size : 0;
    w->path = xstrdup(path);
    w->max = max;
    w->keep = keep;
    str_init(&w->part[0], CRILOG_LINE_MAX);
    str_init(&w->part[1], CRILOG_LINE_MAX);
    return PD_OK;
}

/* "2026-11-30T21:49:29.123456789Z" */
static void stamp_now(char out[40])
{
    struct timespec ts;
    struct tm tm;
    clock_gettime(CLOCK_REALTIME, &ts);
    gmtime_r(&ts.tv_sec, &tm);
    str_fmt(out, 40, "%04d-%02d-%02dT%02d:%02d:%02d.%09ldZ", (tm.tm_year + 1900) % 10000,
            tm.tm_mon + 1, tm.tm_mday, tm.tm_hour, tm.tm_min, tm.tm_sec, ts.tv_nsec);
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

void crilog_files(const char *path, struct strv *out)
{
    char *dir = path_dir(path);
    const char *base = path_base(path);
    DIR *d = opendir(dir);
    struct dirent *e;
    size_t n = strlen(base), start = out->n;
    while (d && (e = readdir(d)))
        if (strncmp(e->d_name, base, n) == 0 && e->d_name[n] == '.')
            strv_pushf(out, "%s/%s", dir, e->d_name);
    if (d)
        closedir(d);
    if (out->n > start)
        qsort(out->v + start, out->n - start, sizeof *out->v, by_name);
    if (access(path, F_OK) == 0)
        strv_push(out, path);
    free(dir);
}

static void drop_oldest(struct crilog *w)
{
    struct strv files;
    strv_init(&files);
    crilog_files(w->path, &files);
    for (size_t i = 0; i + 1 + (size_t)w->keep < files.n; i++)
        unlink(files.v[i]);
    strv_release(&files);
}

static void rotate(struct crilog *w)
{
    char stamp[40], *to = NULL;
    stamp_now(stamp);
    for (int i = 0; i < 1000; i++) {     /* 20261130-214929.000: sorts by age within a second */
        free(to);
        to = xasprintf("%s.%.4s%.2s%.2s-%.2s%.2s%.2s.%03d", w->path, stamp, stamp + 5, stamp + 8,
                       stamp + 11, stamp + 14, stamp + 17, i);
        if (access(to, F_OK) != 0)
            break;
    }
    if (rename(w->path, to) == 0) {
        int fd = open(w->path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
        if (fd >= 0) {
            close(w->fd);
            w->fd = fd;
            w->size = 0;
            drop_oldest(w);
        }
    }
    free(to);
}

static void record(struct crilog *w, int stream, bool full, const char *p, size_t n)
{
    char head[64], stamp[40];
    stamp_now(stamp);
    str_fmt(head, sizeof head, "%s %s %c ", stamp, stream_names[stream], full ? 'F' : 'P');
    struct iovec v[3] = {{head, strlen(head)}, {(void *)(uintptr_t)p, n},
                         {(void *)(uintptr_t)"\n", 1}};
    ssize_t want = (ssize_t)(v[0].iov_len + n + 1), got = writev(w->fd, v, 3);
    if (got != want) {
        w->lost++;
        if (got > 0 && ftruncate(w->fd, w->size) < 0)     /* no torn record */
            w->lost++;
        return;
    }
    w->size += got;
    if (full && w->max > 0 && w->size > w->max)
        rotate(w);
}

void crilog_write(struct crilog *w, int stream, const char *p, size_t n)
{
    struct str *part = &w->part[stream - 1];
    while (n > 0 && w->fd >= 0) {
        const char *nl = memchr(p, '\n', n);
        size_t room = CRILOG_LINE_MAX - part->len, take = nl ? (size_t)(nl - p) : n;
        bool whole = nl && take <= room;
        take = MIN(take, room);
        if (whole && part->len == 0) {
            record(w, stream, true, p, take);
        } else {
            str_append(part, p, take);
            if (whole || part->len == CRILOG_LINE_MAX) {
                record(w, stream, whole, part->p, part->len);
                str_clear(part);
            }
        }
        take += whole;
        p += take;
        n -= take;
    }
}

void crilog_close(struct crilog *w)
{
    for (int s = 1; s <= 2 && w->path; s++) {
        if (w->part[s - 1].len)
            record(w, s, true, w->part[s - 1].p, w->part[s - 1].len);
        str_release(&w->part[s - 1]);
    }
    if (w->fd >= 0)
        close(w->fd);
    w->fd = -1;
    free(w->path);
    w->path = NULL;
}

bool crilog_parse(const char *line, size_t n, struct crilog_record *out)
{
    char stamp[40];
    const char *sp = memchr(line, ' ', n);
    if (!sp || (size_t)(sp - line) >= sizeof stamp)
        return false;
    out->stamp = line;
    out->stamp_len = (size_t)(sp - line);
    memcpy(stamp, line, out->stamp_len);
    stamp[out->stamp_len] = '\0';
    size_t left = n - out->stamp_len - 1;
    const char *p = sp + 1;
    if (left < 9 || p[6] != ' ' || p[8] != ' ' || (p[7] != 'F' && p[7] != 'P'))
        return false;
    out->stream = memcmp(p, "stdout", 6) == 0 ? 1 : memcmp(p, "stderr", 6) == 0 ? 2 : 0;
    out->full = p[7] == 'F';
    out->text = p + 9;
    out->len = left - 9;
    return out->stream != 0 && clock_parse_rfc3339(stamp, &out->us);
}
