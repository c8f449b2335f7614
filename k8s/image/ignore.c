/* ignore.c - see ignore.h; semantics of github.com/moby/patternmatcher. */
#include "k8s/image/ignore.h"

#include <ctype.h>

#include "core/base/i18n.h"
#include "core/base/mem.h"
#include "core/base/str.h"
#include "k8s/image/pattern.h"

struct ignore {
    struct {
        struct pattern *p;
        bool exception;
    } *v;
    size_t n;
    bool exceptions;
};

/* Go's filepath.Clean for "/" paths. */
void ignore_clean(const char *path, char *out)
{
    bool rooted = *path == '/';
    size_t n = 0, floor = 0;              /* floor: ".." may not cut below it */
    if (rooted)
        out[n++] = '/';
    floor = n;
    while (*path) {
        size_t len = strcspn(path, "/");
        if (len == 0 || (len == 1 && path[0] == '.')) {
            path += len + (path[len] == '/');
            continue;
        }
        if (len == 2 && path[0] == '.' && path[1] == '.') {
            if (n > floor) {
                while (n > floor && out[n - 1] != '/')
                    n--;
                n -= n > floor;
            } else if (!rooted) {
                if (n > 0)
                    out[n++] = '/';
                memcpy(out + n, "..", 2);
                floor = n += 2;
            }
        } else {
            if (n > (size_t)rooted)
                out[n++] = '/';
            memcpy(out + n, path, len);
            n += len;
        }
        path += len + (path[len] == '/');
    }
    if (n == 0)
        out[n++] = '.';
    out[n] = '\0';
}

static char *trim(char *s)
{
    while (isspace((unsigned char)*s))
        s++;
    size_t n = strlen(s);
    while (n > 0 && isspace((unsigned char)s[n - 1]))
        s[--n] = '\0';
    return s;
}

/* One line (changed in place). */
static enum pd_code add_line(struct ignore *ig, const char *name, int line, char *s,
                             struct pd_err *err)
{
    if (*s == '#')
        return PD_OK;
    s = trim(s);
    if (*s == '\0')
        return PD_OK;
    bool exception = *s == '!';
    if (exception)
        s = trim(s + 1);
    if (*s == '\0') {
        pd_fail_at(err, PD_PARSE, name, line, 1, _("a ! alone takes nothing back"));
        return pd_set_hint(err, _("write !PATTERN"));
    }
    char *clean = xmalloc(strlen(s) + 2);
    ignore_clean(s, clean);
    struct pattern *p = pattern_new(clean[0] == '/' && clean[1] ? clean + 1 : clean,
                                    PATTERN_GLOBSTAR);
    free(clean);
    if (!p) {
        pd_fail_at(err, PD_PARSE, name, line, 1, _("the pattern \"%.100s\" is malformed"), s);
        return pd_set_hint(err, _("close each [ with ], and put a character behind each \\"));
    }
    ig->v = xrealloc_array(ig->v, ig->n + 1, sizeof *ig->v);
    ig->v[ig->n].p = p;
    ig->v[ig->n++].exception = exception;
    ig->exceptions = ig->exceptions || exception;
    return PD_OK;
}

enum pd_code ignore_parse(const char *name, const char *text, size_t len, struct ignore **out,
                          struct pd_err *err)
{
    struct ignore *ig = xcalloc(1, sizeof *ig);
    const char *p = text, *end = text + len;
    enum pd_code rc = PD_OK;
    if (len >= 3 && memcmp(p, "\xef\xbb\xbf", 3) == 0)
        p += 3;
    for (int line = 1; rc == PD_OK && p < end; line++) {
        const char *nl = memchr(p, '\n', (size_t)(end - p));
        char *s = xstrndup(p, (size_t)((nl ? nl : end) - p));
        rc = add_line(ig, name, line, s, err);
        free(s);
        p = nl ? nl + 1 : end;
    }
    if (rc == PD_OK)
        *out = ig;
    else
        ignore_free(ig);
    return rc;
}

void ignore_free(struct ignore *ig)
{
    if (!ig)
        return;
    for (size_t i = 0; i < ig->n; i++)
        pattern_free(ig->v[i].p);
    free(ig->v);
    free(ig);
}

/* The path itself, or one of its folders. */
static bool matches(const struct pattern *p, const char *path, char *part)
{
    if (pattern_match(p, path))
        return true;
    for (const char *s = strchr(path, '/'); s; s = strchr(s + 1, '/')) {
        memcpy(part, path, (size_t)(s - path));
        part[s - path] = '\0';
        if (pattern_match(p, part))
            return true;
    }
    return false;
}

bool ignore_match(const struct ignore *ig, const char *path)
{
    if (!ig || ig->n == 0)
        return false;
    bool out = false;
    char *part = xmalloc(strlen(path) + 1);
    for (size_t i = 0; i < ig->n; i++)
        if (ig->v[i].exception == out && matches(ig->v[i].p, path, part))
            out = !ig->v[i].exception;
    free(part);
    return out;
}

bool ignore_has_exceptions(const struct ignore *ig)
{
    return ig && ig->exceptions;
}
