/* log.c - the debug log and the masking of secrets (log.h). */
#include "core/base/log.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/base/i18n.h"
#include "core/base/mem.h"

static int log_fd = -1;
static enum log_level log_most;
static struct strv secrets;

static const char MASK[] = "***";

enum pd_code log_open(const char *path, enum log_level most, struct pd_err *err)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (fd < 0)
        return pd_fail_errno(err, PD_IO, _("can't write the log %s"), path);
    log_close();
    log_fd = fd;
    log_most = most;
    return PD_OK;
}

void log_close(void)
{
    if (log_fd >= 0)
        close(log_fd);
    log_fd = -1;
}

void log_add_secret(const char *secret)
{
    if (secret && strlen(secret) >= 6 && !strv_has(&secrets, secret))
        strv_push(&secrets, secret);
}

/* --- redaction --------------------------------------------------------------- */

/* What stands before a secret; matched without case. The secret is the run of
 * token characters behind it (and behind spaces, quotes, ':' and '='). */
static const char *const leads[] = {"bearer ",        "basic ",         "\"token\":",
                                    "token: ",        "token=",         "password: ",
                                    "password=",      "\"password\":",  "client-key-data: ",
                                    "\"client-key-data\":", "x-registry-auth: "};

static bool token_char(char c)
{
    return isalnum((unsigned char)c) || strchr("-._~+/=", c);
}

static size_t secret_behind(const char *s, size_t n, size_t lead, size_t *start)
{
    size_t i = lead;
    while (i < n && (s[i] == ' ' || s[i] == '"' || s[i] == '\\' || s[i] == '\''))
        i++;
    *start = i;
    while (i < n && s[i] && token_char(s[i]))
        i++;
    return i - *start;
}

/* Length of what is copied and of what is masked at s, or false. */
static bool match_lead(const char *s, size_t n, size_t *copy, size_t *mask)
{
    for (size_t k = 0; k < ARRAY_LEN(leads); k++) {
        size_t len = strlen(leads[k]);
        if (n > len && strncasecmp(s, leads[k], len) == 0) {
            *mask = secret_behind(s, n, len, copy);
            return *mask > 0;
        }
    }
    return false;
}

static bool match_known(const char *s, size_t n, size_t *mask)
{
    for (size_t k = 0; k < secrets.n; k++) {
        size_t len = strlen(secrets.v[k]);
        if (n >= len && memcmp(s, secrets.v[k], len) == 0) {
            *mask = len;
            return true;
        }
    }
    if (n > 12 && memcmp(s, "hf_", 3) == 0) {
        size_t i = 3;
        while (i < n && isalnum((unsigned char)s[i]))
            i++;
        *mask = i;
        return i > 12;
    }
    return false;
}

static bool match_pem(const char *s, size_t n, size_t *mask)
{
    static const char begin[] = "-----BEGIN ", end[] = "-----END ";
    if (n < sizeof begin || memcmp(s, begin, sizeof begin - 1) != 0)
        return false;
    const char *key = memmem(s, MIN(n, (size_t)60), "PRIVATE KEY", 11);
    if (!key)
        return false;
    const char *stop = memmem(s, n, end, sizeof end - 1);
    const char *last = stop ? memmem(stop + 9, n - (size_t)(stop + 9 - s), "-----", 5) : NULL;
    *mask = last ? (size_t)(last + 5 - s) : n;
    return true;
}

void log_redact(const char *text, size_t n, struct str *out)
{
    for (size_t i = 0; i < n;) {
        size_t copy = 0, mask = 0;
        const char *s = text + i;
        if (match_known(s, n - i, &mask) || match_pem(s, n - i, &mask) ||
            match_lead(s, n - i, &copy, &mask)) {
            str_append(out, s, copy);
            str_add(out, MASK);
            i += copy + mask;
        } else {
            str_addc(out, *s);
            i++;
        }
    }
}

void log_write(enum log_level level, const char *fmt, ...)
{
    static const char *const names[] = {"ERROR", "WARN", "INFO", "DEBUG"};
    if (log_fd < 0 || level > log_most)
        return;
    struct str raw, line;
    char when[36];
    str_init(&raw, 64 * 1024);
    str_init(&line, 128 * 1024);
    va_list ap;
    va_start(ap, fmt);
    str_vprintf(&raw, fmt, ap);
    va_end(ap);
    str_printf(&line, "%s %-5s ", clock_rfc3339(clock_wall_ms() * 1000, 3, when), names[level]);
    log_redact(raw.p, raw.len, &line);
    str_addc(&line, '\n');
    ssize_t w = write(log_fd, line.p, line.len);   /* a full disk loses the log, nothing else */
    (void)w;
    str_release(&raw);
    str_release(&line);
}
