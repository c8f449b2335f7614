/* warning.c - Warning headers (warning.h). */
#include "k8s/warning.h"

/* From the opening quote; returns what is behind the closing one, NULL: there is
 * none. */
static const char *unquote(const char *p, char *text, size_t size)
{
    size_t n = 0;
    for (p++; *p && *p != '"' && *p != '\n'; p++) {
        if (*p == '\\' && p[1] && p[1] != '\n')
            p++;
        if (n + 1 < size)
            text[n++] = *p;
    }
    text[n] = '\0';
    return *p == '"' ? p + 1 : NULL;
}

/* "299 - " or "299 host:port " before the quote. */
static bool has_code(const char *p, const char *quote)
{
    for (int i = 0; i < 3; i++)
        if (p + i >= quote || p[i] < '0' || p[i] > '9')
            return false;
    return p[3] == ' ' && quote - p > 5 && quote[-1] == ' ';
}

bool warning_next(const char **at, char *text, size_t size)
{
    const char *p = *at;
    while (*p) {
        p += strspn(p, " ,\n\t");
        size_t line = strcspn(p, "\n");
        const char *quote = memchr(p, '"', line), *end = NULL;
        if (quote && has_code(p, quote))
            end = unquote(quote, text, size);
        if (end) {
            if (end[0] == ' ' && end[1] == '"')       /* the date behind it */
                end += 2 + strcspn(end + 2, "\"\n");
            *at = *end == '"' ? end + 1 : end;
            return true;
        }
        p += line;
    }
    *at = p;
    return false;
}
