/* shim_spec.c - the spec and state files of a container, the socket's address
 * and its frames (shim.h). Linked into the shim and into the server. */
#include "k8s/practice/shim.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "core/base/mem.h"
#include "core/base/path.h"

enum { SPEC_CEILING = 4 << 20 };

void shim_spec_init(struct shim_spec *s)
{
    memset(s, 0, sizeof *s);
    strv_init(&s->argv);
    strv_init(&s->env);
    s->log_max = 10 << 20;
    s->log_keep = 4;
}

void shim_spec_release(struct shim_spec *s)
{
    char *const own[] = {s->name, s->rootfs, s->cwd, s->hostname, s->log, s->cgroup, s->force};
    for (size_t i = 0; i < ARRAY_LEN(own); i++)
        free(own[i]);
    for (size_t i = 0; i < s->binds; i++) {
        free(s->bind[i].from);
        free(s->bind[i].to);
        free(s->bind[i].sub);
    }
    free(s->bind);
    strv_release(&s->argv);
    strv_release(&s->env);
    memset(s, 0, sizeof *s);
}

void shim_spec_add_bind(struct shim_spec *s, const char *from, const char *sub, const char *to,
                        bool read_only)
{
    s->bind = xrealloc_array(s->bind, s->binds + 1, sizeof *s->bind);
    s->bind[s->binds++] = (struct shim_bind){xstrdup(from), xstrdup(to), xstrdup(sub), read_only};
}

/* --- "key value" text ------------------------------------------------------- */

static void put(struct str *out, const char *key, const char *value)
{
    if (!value)
        return;
    str_printf(out, "%s ", key);
    for (const char *p = value; *p; p++) {
        if (*p == '\n')
            str_add(out, "\\n");
        else if (*p == '\\')
            str_add(out, "\\\\");
        else
            str_addc(out, *p);
    }
    str_addc(out, '\n');
}

static void put_num(struct str *out, const char *key, int64_t v)
{
    str_printf(out, "%s %" PRId64 "\n", key, v);
}

static void unescape(char *s)
{
    char *to = s;
    for (; *s; s++) {
        if (*s == '\\' && s[1])
            *to++ = *++s == 'n' ? '\n' : *s;
        else
            *to++ = *s;
    }
    *to = '\0';
}

/* Cut the next "key value" line off *text; false at the end. */
static bool next_pair(char **text, char **key, char **value)
{
    char *line = *text, *end = line ? strchr(line, '\n') : NULL;
    if (!end)
        return false;
    *end = '\0';
    *text = end + 1;
    *key = line;
    char *sp = strchr(line, ' ');
    *value = sp ? sp + 1 : end;
    if (sp)
        *sp = '\0';
    unescape(*value);
    return true;
}

static char *file_in(const char *dir, const char *name)
{
    return path_join(dir, name);
}

enum pd_code shim_file(const char *path, int mode, const void *p, size_t n, struct pd_err *err)
{
    char *tmp = xasprintf("%s.new", path);
    int fd = open(tmp, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, (mode_t)mode);
    bool ok = fd >= 0 && write(fd, p, n) == (ssize_t)n && fchmod(fd, (mode_t)mode) == 0;
    if (fd >= 0)
        ok = close(fd) == 0 && ok;
    ok = ok && rename(tmp, path) == 0;
    enum pd_code rc = ok ? PD_OK : pd_fail_errno(err, PD_IO, "%s can't be written", path);
    if (!ok)
        unlink(tmp);
    free(tmp);
    return rc;
}

/* --- spec ------------------------------------------------------------------- */

/* The plain members as a table: what is written and how it is read. */
#define SPEC_STRINGS(X) X(name) X(rootfs) X(cwd) X(hostname) X(log) X(cgroup) X(force)
#define SPEC_NUMBERS(X)                                                                           \
    X(uid) X(gid) X(std_in) X(stdin_once) X(tty) X(memory) X(cpu_millis) X(log_max) X(log_keep)

enum pd_code shim_spec_write(const struct shim_spec *s, const char *dir, struct pd_err *err)
{
    struct str out;
    str_init(&out, SPEC_CEILING);
#define PUT_STR(f) put(&out, #f, s->f);
    SPEC_STRINGS(PUT_STR)
#undef PUT_STR
#define PUT_NUM(f) put_num(&out, #f, (int64_t)s->f);
    SPEC_NUMBERS(PUT_NUM)
#undef PUT_NUM
    for (size_t i = 0; i < s->argv.n; i++)
        put(&out, "argv", s->argv.v[i]);
    for (size_t i = 0; i < s->env.n; i++)
        put(&out, "env", s->env.v[i]);
    for (size_t i = 0; i < s->binds; i++) {
        put(&out, "bind_from", s->bind[i].from);
        put(&out, "bind_sub", s->bind[i].sub);
        put(&out, s->bind[i].read_only ? "bind_ro" : "bind_rw", s->bind[i].to);
    }
    char *path = file_in(dir, "spec");
    enum pd_code rc = shim_file(path, 0600, out.p, out.len, err);
    free(path);
    str_release(&out);
    return rc;
}

static void take_string(struct shim_spec *s, const char *key, const char *value)
{
#define TAKE(f)                                                                                   \
    if (strcmp(key, #f) == 0) {                                                                   \
        free(s->f);                                                                               \
        s->f = xstrdup(value);                                                                    \
    }
    SPEC_STRINGS(TAKE)
#undef TAKE
}

/* bind_from, maybe bind_sub, then bind_ro or bind_rw, which ends it. */
static void take_bind(struct shim_spec *s, struct shim_bind *b, const char *key, char *value)
{
    if (strcmp(key, "bind_from") == 0) {
        *b = (struct shim_bind){.from = value};
    } else if (strcmp(key, "bind_sub") == 0) {
        b->sub = value;
    } else if (str_starts(key, "bind_") && b->from) {
        shim_spec_add_bind(s, b->from, b->sub, value, strcmp(key, "bind_ro") == 0);
        b->from = NULL;
    }
}

static void take_number(struct shim_spec *s, const char *key, int64_t v)
{
#define TAKE(f)                                                                                   \
    if (strcmp(key, #f) == 0)                                                                     \
        s->f = (__typeof__(s->f))v;
    SPEC_NUMBERS(TAKE)
#undef TAKE
}

enum pd_code shim_spec_read(const char *dir, struct shim_spec *out, struct pd_err *err)
{
    struct str text;
    char *path = file_in(dir, "spec"), *key, *value;
    struct shim_bind bind = {0};
    str_init(&text, SPEC_CEILING);
    enum pd_code rc = path_read(path, SPEC_CEILING, &text, err);
    free(path);
    if (rc != PD_OK) {
        str_release(&text);
        return rc;
    }
    shim_spec_init(out);
    for (char *p = text.p; next_pair(&p, &key, &value);) {
        int64_t v;
        if (strcmp(key, "argv") == 0)
            strv_push(&out->argv, value);
        else if (strcmp(key, "env") == 0)
            strv_push(&out->env, value);
        take_bind(out, &bind, key, value);
        take_string(out, key, value);
        if (str_to_i64(value, &v))
            take_number(out, key, v);
    }
    str_release(&text);
    if (!out->rootfs || !out->log || !out->name || out->argv.n == 0) {
        shim_spec_release(out);
        return pd_fail(err, PD_SANDBOX, "the spec in %s lacks rootfs, log, name or argv", dir);
    }
    return PD_OK;
}

/* --- state ------------------------------------------------------------------ */

enum pd_code shim_state_write(const struct shim_state *s, const char *dir, struct pd_err *err)
{
    struct str out;
    str_init(&out, 64 << 10);
    put_num(&out, "pid", s->pid);
    put_num(&out, "started_us", s->started_us);
    put_num(&out, "finished_us", s->finished_us);
    put_num(&out, "exit_code", s->exit_code);
    put_num(&out, "signal", s->signal);
    put(&out, "reason", s->reason);
    put(&out, "message", s->message);
    put(&out, "isolation", s->isolation);
    put(&out, "missing", s->missing);
    char *path = file_in(dir, "state");
    enum pd_code rc = path_write_atomic(path, 0600, out.p, out.len, err);
    free(path);
    str_release(&out);
    return rc;
}

static void state_number(struct shim_state *s, const char *key, int64_t v)
{
    if (strcmp(key, "pid") == 0)
        s->pid = (int)v;
    else if (strcmp(key, "started_us") == 0)
        s->started_us = v;
    else if (strcmp(key, "finished_us") == 0)
        s->finished_us = v;
    else if (strcmp(key, "exit_code") == 0)
        s->exit_code = (int)v;
    else if (strcmp(key, "signal") == 0)
        s->signal = (int)v;
}

static void state_string(struct shim_state *s, const char *key, const char *value)
{
    const struct {
        const char *key;
        char *to;
        size_t size;
    } fields[] = {{"reason", s->reason, sizeof s->reason},
                  {"message", s->message, sizeof s->message},
                  {"isolation", s->isolation, sizeof s->isolation},
                  {"missing", s->missing, sizeof s->missing}};
    for (size_t i = 0; i < ARRAY_LEN(fields); i++)
        if (strcmp(key, fields[i].key) == 0)
            str_copy(fields[i].to, fields[i].size, value);
}

bool shim_state_read(const char *dir, struct shim_state *out)
{
    struct pd_err err;
    struct str text;
    char *path = file_in(dir, "state"), *key, *value;
    str_init(&text, 64 << 10);
    memset(out, 0, sizeof *out);
    bool ok = path_read(path, 64 << 10, &text, &err) == PD_OK;
    free(path);
    for (char *p = text.p; ok && next_pair(&p, &key, &value);) {
        int64_t v;
        if (str_to_i64(value, &v))
            state_number(out, key, v);
        state_string(out, key, value);
    }
    str_release(&text);
    return ok;
}

bool shim_alive(const char *dir)
{
    char *path = file_in(dir, "lock");
    int fd = open(path, O_RDWR | O_CLOEXEC);
    free(path);
    if (fd < 0)
        return false;
    bool held = flock(fd, LOCK_EX | LOCK_NB) < 0 && errno == EWOULDBLOCK;
    close(fd);
    return held;
}

/* --- socket and frames ------------------------------------------------------ */

/* A sockaddr holds 108 bytes and a state folder may be deeper: then
 * "/proc/self/fd/N/sock" through an open folder. */
static int sock_at(const char *dir, bool server)
{
    int at = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
    int fd = at < 0 ? -1 : socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    struct sockaddr_un sa = {.sun_family = AF_UNIX};
    if (strlen(dir) + sizeof "/sock" <= sizeof sa.sun_path)
        str_fmt(sa.sun_path, sizeof sa.sun_path, "%s/sock", dir);
    else
        str_fmt(sa.sun_path, sizeof sa.sun_path, "/proc/self/fd/%d/sock", at);
    bool ok = fd >= 0;
    if (ok && server) {
        unlink(sa.sun_path);
        ok = bind(fd, (struct sockaddr *)&sa, sizeof sa) == 0 && listen(fd, 16) == 0;
    } else if (ok) {
        ok = connect(fd, (struct sockaddr *)&sa, sizeof sa) == 0;
    }
    ok = ok && fcntl(fd, F_SETFL, O_NONBLOCK) == 0;
    int saved = errno;
    if (at >= 0)
        close(at);
    if (!ok && fd >= 0)
        close(fd);
    errno = saved;
    return ok ? fd : -1;
}

int shim_listen(const char *dir)
{
    return sock_at(dir, true);
}

int shim_connect(const char *dir)
{
    return sock_at(dir, false);
}

bool shim_frame(struct str *out, char type, const void *p, size_t n)
{
    assert(n <= SHIM_FRAME_MAX);
    unsigned char head[SHIM_FRAME_HEAD] = {(unsigned char)type, (unsigned char)(n & 255),
                                           (unsigned char)(n >> 8 & 255),
                                           (unsigned char)(n >> 16 & 255),
                                           (unsigned char)(n >> 24)};
    if (out->len + n + sizeof head > out->ceiling)
        return false;
    str_append(out, head, sizeof head);
    return str_append(out, p, n);
}

long shim_parse(const char *buf, size_t len, char *type, const char **payload, size_t *n)
{
    if (len < SHIM_FRAME_HEAD)
        return 0;
    const unsigned char *b = (const unsigned char *)buf;
    size_t size = (size_t)b[1] | (size_t)b[2] << 8 | (size_t)b[3] << 16 | (size_t)b[4] << 24;
    if (size > SHIM_FRAME_MAX)
        return -1;
    if (len < SHIM_FRAME_HEAD + size)
        return 0;
    *type = buf[0];
    *payload = buf + SHIM_FRAME_HEAD;
    *n = size;
    return (long)(SHIM_FRAME_HEAD + size);
}
