/* journal.c - messages to a file and back (journal.h). */
#include "core/base/journal.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "core/base/i18n.h"
#include "core/base/lines.h"
#include "core/base/log.h"
#include "core/base/mem.h"
#include "core/base/path.h"

enum { LINE_CEILING = 32 << 20 };
static const size_t FILE_CEILING = (size_t)1 << 30;

struct journal {
    int fd;
    bool failed;
    struct str text, line;
};

static void write_line(struct journal *j, const struct json *value)
{
    str_clear(&j->text);
    str_clear(&j->line);
    json_print(value, 0, &j->text);
    log_redact(j->text.p, j->text.len, &j->line);
    str_addc(&j->line, '\n');
    size_t done = 0;
    while (!j->failed && done < j->line.len) {
        ssize_t w = write(j->fd, j->line.p + done, j->line.len - done);
        if (w < 0 && errno != EINTR)
            j->failed = true;    /* recording must not disturb what it records */
        else if (w > 0)
            done += (size_t)w;
    }
}

enum pd_code journal_create(const char *path, const struct json *header, struct journal **out,
                            struct pd_err *err)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (fd < 0)
        return pd_fail_errno(err, PD_IO, _("can't write the recording %s"), path);
    struct journal *j = xcalloc(1, sizeof *j);
    j->fd = fd;
    str_init(&j->text, LINE_CEILING);
    str_init(&j->line, LINE_CEILING);
    struct json *head = header ? json_copy(header) : json_new_object();
    json_put_num(head, "podium_journal", 1);
    json_put_str(head, "version", PODIUM_VERSION);
    write_line(j, head);
    json_free(head);
    *out = j;
    return PD_OK;
}

void journal_write(struct journal *j, const struct msg *m)
{
    struct json *value = msg_to_json(m);
    write_line(j, value);
    json_free(value);
}

void journal_close(struct journal *j)
{
    if (!j)
        return;
    close(j->fd);
    str_release(&j->text);
    str_release(&j->line);
    free(j);
}

/* --- read -------------------------------------------------------------------- */

struct reading {
    const char *path;
    struct json **header;
    journal_fn *fn;
    void *arg;
    int line;
    enum pd_code code;
    struct pd_err *err;
};

static enum pd_code take_header(struct reading *r, struct json *value)
{
    if (json_num(value, "podium_journal", 0) != 1) {
        json_free(value);
        return pd_fail_at(r->err, PD_PARSE, r->path, 1, 1, _("this is no recording of podium"));
    }
    *r->header = value;
    return PD_OK;
}

static void read_line(void *arg, char *line, size_t len, bool cut)
{
    struct reading *r = arg;
    struct json *value = NULL;
    struct msg *m = NULL;
    r->line++;
    if (r->code != PD_OK || len == 0)
        return;
    if (cut) {
        r->code = pd_fail_at(r->err, PD_LIMIT, r->path, r->line, 1, _("the line is too long"));
        return;
    }
    r->code = json_parse(line, len, &value, r->err);
    if (r->code == PD_OK && !*r->header) {
        r->code = take_header(r, value);
        return;
    }
    if (r->code == PD_OK)
        r->code = msg_from_json(value, &m, r->err);
    json_free(value);
    if (r->code == PD_OK) {
        r->fn(r->arg, m);
        return;
    }
    str_copy(r->err->src, sizeof r->err->src, r->path);
    r->err->line = r->line;
}

enum pd_code journal_read(const char *path, struct json **header, journal_fn *fn, void *arg,
                          struct pd_err *err)
{
    struct str text;
    struct lines lines;
    struct reading r = {path, header, fn, arg, 0, PD_OK, err};
    *header = NULL;
    str_init(&text, FILE_CEILING);
    lines_init(&lines, LINE_CEILING);
    r.code = path_read(path, FILE_CEILING, &text, err);
    if (r.code == PD_OK)
        lines_feed(&lines, text.p, text.len, read_line, &r);   /* a torn last line is left out */
    if (r.code == PD_OK && !*header)
        r.code = pd_fail_at(err, PD_PARSE, path, 1, 1, _("the recording is empty"));
    if (r.code != PD_OK) {
        json_free(*header);
        *header = NULL;
    }
    lines_release(&lines);
    str_release(&text);
    return r.code;
}
