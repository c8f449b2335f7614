/* sums.c - lines of sha256sum and of wc -c (sums.h). */
#include "k8s/sums.h"

enum { HEX = 64, LINE_MAX_BYTES = 16 << 10 };

static void unescape(char *s)
{
    char *to = s;
    for (; *s; s++) {
        bool esc = *s == '\\' && (s[1] == 'n' || s[1] == '\\' || s[1] == 'r');
        *to++ = !esc ? *s : s[1] == 'n' ? '\n' : s[1] == 'r' ? '\r' : '\\';
        s += esc;
    }
    *to = '\0';
}

/* "\HEX  path": the backslash says that the path is escaped. */
static void sum_line(char *line, sums_fn *fn, void *arg)
{
    bool escaped = *line == '\\';
    line += escaped;
    size_t n = strspn(line, "0123456789abcdefABCDEF");
    if (n != HEX || line[n] != ' ' || (line[n + 1] != ' ' && line[n + 1] != '*') || !line[n + 2])
        return;
    line[n] = '\0';
    if (escaped)
        unescape(line + n + 2);
    fn(arg, line + n + 2, line);
}

static void size_line(char *line, sums_fn *fn, void *arg)
{
    line += strspn(line, " ");
    size_t n = strspn(line, "0123456789");
    if (n == 0 || n > 18 || line[n] != ' ' || !line[n + 1])
        return;
    line[n] = '\0';
    fn(arg, line + n + 1, line);
}

void sums_read(const char *text, size_t n, sums_fn *fn, void *arg)
{
    const char *end = text + n;
    while (text < end) {
        const char *nl = memchr(text, '\n', (size_t)(end - text));
        if (!nl)
            return;                      /* cut: not whole */
        size_t len = (size_t)(nl - text);
        if (len < LINE_MAX_BYTES && !memchr(text, '\0', len)) {
            char line[LINE_MAX_BYTES];
            memcpy(line, text, len);
            line[len] = '\0';
            bool sum = len > HEX && strspn(line + (*line == '\\'), "0123456789abcdefABCDEF") == HEX;
            (sum ? sum_line : size_line)(line, fn, arg);
        }
        text = nl + 1;
    }
}
