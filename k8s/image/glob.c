/* glob.c - patterns as a row of tokens; all ends of a match are found in one
 * walk over the value, so that no pattern is slow. */
#include "k8s/image/glob.h"

#include "core/base/mem.h"
#include "core/base/utf8.h"

enum { TOKEN_STAR = -1, TOKEN_ANY = -2 };

struct glob {
    int32_t *token, *text;        /* code points, or the two above */
    size_t *at;                   /* byte offsets of the text's characters, and its end */
    size_t ntoken, ntext;
    bool *row;
};

static size_t decode(const char *s, int32_t *out, size_t *at, bool pattern)
{
    size_t n = 0, len = strlen(s);
    for (size_t i = 0; i < len; n++) {
        int step;
        int32_t c = (int32_t)utf8_decode(s + i, len - i, &step);
        if (c == 0xfffd)
            c = 0x200000 + (unsigned char)s[i];     /* bytes that are no UTF-8 stay themselves */
        if (at)
            at[n] = i;
        i += (size_t)step;
        if (pattern && (c == '*' || c == '?')) {
            c = c == '*' ? TOKEN_STAR : TOKEN_ANY;
        } else if (pattern && c == '\\' && i < len) {
            c = (int32_t)utf8_decode(s + i, len - i, &step);
            i += (size_t)step;
        }
        out[n] = c;
    }
    if (at)
        at[n] = len;
    return n;
}

static bool open_glob(struct glob *g, const char *pattern, const char *value)
{
    size_t np = strlen(pattern), nv = strlen(value);
    if (np > GLOB_MOST || nv > GLOB_MOST)
        return false;
    g->token = xcalloc(np + 1, sizeof *g->token);
    g->text = xcalloc(nv + 1, sizeof *g->text);
    g->at = xcalloc(nv + 1, sizeof *g->at);
    g->row = xcalloc(np + 2, sizeof *g->row);
    g->ntoken = decode(pattern, g->token, NULL, true);
    g->ntext = decode(value, g->text, g->at, false);
    return true;
}

static void close_glob(struct glob *g)
{
    free(g->token);
    free(g->text);
    free(g->at);
    free(g->row);
}

/* Stars match nothing too. */
static void close_row(struct glob *g)
{
    for (size_t j = 0; j < g->ntoken; j++)
        if (g->row[j] && g->token[j] == TOKEN_STAR)
            g->row[j + 1] = true;
}

static bool step_row(struct glob *g, int32_t c)
{
    bool any = false;
    for (size_t j = g->ntoken + 1; j-- > 0;) {
        bool on = j > 0 && g->row[j - 1] &&
                  (g->token[j - 1] == TOKEN_ANY || g->token[j - 1] == c);
        on = on || (j < g->ntoken && g->row[j] && g->token[j] == TOKEN_STAR);
        g->row[j] = on;
        any = any || on;
    }
    close_row(g);
    return any;
}

/* Where a match that begins at character `from` ends: the first or the last
 * place; -1: nowhere. */
static ptrdiff_t match_end(struct glob *g, size_t from, bool longest)
{
    ptrdiff_t end = -1;
    memset(g->row, 0, (g->ntoken + 1) * sizeof *g->row);
    g->row[0] = true;
    close_row(g);
    for (size_t i = from;; i++) {
        if (g->row[g->ntoken]) {
            end = (ptrdiff_t)i;
            if (!longest)
                break;
        }
        if (i == g->ntext || !step_row(g, g->text[i]))
            break;
    }
    return end;
}

static void reverse(int32_t *v, size_t n)
{
    for (size_t i = 0; i < n / 2; i++) {
        int32_t t = v[i];
        v[i] = v[n - 1 - i];
        v[n - 1 - i] = t;
    }
}

bool glob_trim(const char *pattern, const char *value, bool prefix, bool greedy, struct str *out)
{
    struct glob g;
    if (!open_glob(&g, pattern, value))
        return false;
    if (!prefix) {
        reverse(g.token, g.ntoken);
        reverse(g.text, g.ntext);
    }
    ptrdiff_t n = match_end(&g, 0, greedy);
    if (n < 0)
        str_add(out, value);
    else if (prefix)
        str_add(out, value + g.at[n]);
    else
        str_append(out, value, g.at[g.ntext - (size_t)n]);
    close_glob(&g);
    return true;
}

bool glob_replace(const char *pattern, const char *value, const char *with, bool all,
                  struct str *out)
{
    struct glob g;
    bool done = false;
    if (!open_glob(&g, pattern, value))
        return false;
    for (size_t i = 0; i <= g.ntext;) {
        ptrdiff_t end = done ? -1 : match_end(&g, i, true);
        if (end >= 0)
            str_add(out, with);
        done = done || (end >= 0 && !all);
        if (end > (ptrdiff_t)i) {
            i = (size_t)end;
            if (i == g.ntext)
                break;
            continue;
        }
        if (i < g.ntext)
            str_append(out, value + g.at[i], g.at[i + 1] - g.at[i]);
        i++;
    }
    close_glob(&g);
    return true;
}
