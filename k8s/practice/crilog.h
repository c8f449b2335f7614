/* crilog.h - the log of a container in the form that CRI runtimes write and
 * kubelets read: one record a line,
 *     2026-11-30T21:49:29.123456789Z stdout F text of the line
 * with F for a full line and P for a piece of a line longer than 16 KiB.
 *
 * The writer rotates: beyond `max` bytes NAME becomes NAME.YYYYMMDD-HHMMSS
 * (at the end of a full line), and only `keep` old files stay.
 */
#ifndef K8S_PRACTICE_CRILOG_H
#define K8S_PRACTICE_CRILOG_H

#include "core/base/err.h"
#include "core/base/str.h"

enum { CRILOG_LINE_MAX = 16 << 10 };

struct crilog {
    int fd;                       /* -1: closed */
    char *path;
    int64_t size, max;
    int keep;
    int64_t lost;                 /* records that could not be written (disk full) */
    struct str part[2];           /* what stands of stdout's and stderr's line */
};

MUST_USE enum pd_code crilog_open(struct crilog *w, const char *path, int64_t max, int keep,
                                  struct pd_err *err);
/* Bytes of stream 1 (stdout) or 2 (stderr). */
void crilog_write(struct crilog *w, int stream, const char *p, size_t n);
void crilog_close(struct crilog *w);  /* writes unfinished lines as F */

/* One record without its '\n', read. text points into line. */
struct crilog_record {
    int64_t us;                   /* wall */
    int stream;                   /* 1, 2 */
    bool full;
    const char *stamp;            /* as written, stamp_len bytes */
    size_t stamp_len;
    const char *text;
    size_t len;
};
bool crilog_parse(const char *line, size_t n, struct crilog_record *out);
/* The files of a log, oldest first, the current one last. */
void crilog_files(const char *path, struct strv *out);

#endif
