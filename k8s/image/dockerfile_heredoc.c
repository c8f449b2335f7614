/* dockerfile_heredoc.c - here-documents: "<<EOF" among the words of RUN, COPY or
 * ADD, the lines up to EOF behind the instruction. */
#include <ctype.h>

#include "core/base/i18n.h"
#include "core/base/mem.h"
#include "k8s/image/dockerfile_priv.h"

enum { HEREDOCS_MOST = 64 };

/* The name from s[i] on, quotes undone; false when it does not end well. */
static bool read_name(const char *s, size_t i, size_t n, char escape, char name[256], size_t *out,
                      bool *quoted)
{
    size_t len = 0;
    char quote = 0;
    for (; i < n; i++) {
        if (!quote && strchr("<;&|>", s[i]))
            break;
        if (quote ? s[i] == quote : (s[i] == '"' || s[i] == '\'')) {
            quote = quote ? 0 : s[i];
            *quoted = true;
        } else if (s[i] == escape && quote != '\'' && i + 1 < n) {
            *quoted = true;
            name[len++] = s[++i];
        } else {
            name[len++] = s[i];
        }
        if (len >= 255)
            return false;
    }
    *out = len;
    return len > 0 && !quote && (i == n || s[i] != '<');
}

/* "<<EOF", "3<<-EOF", "<<'EOF'", '<<"E"OF': the name without its quotes. */
bool dockerfile_heredoc_word(const char *s, size_t n, char escape, struct df_heredoc *out)
{
    size_t i = 0, len = 0;
    char name[256];
    bool quoted = false;
    while (i < n && isdigit((unsigned char)s[i]))
        i++;
    if (n - i < 3 || s[i] != '<' || s[i + 1] != '<')
        return false;
    i += 2;
    bool strip = s[i] == '-';
    if (!read_name(s, i + strip, n, escape, name, &len, &quoted))
        return false;
    if (out)
        *out = (struct df_heredoc){.name = xstrndup(name, len), .expand = !quoted, .strip = strip};
    return true;
}

static enum pd_code read_one(struct df_reader *r, struct df_heredoc *h, size_t at,
                             struct pd_err *err)
{
    const char *from, *to;
    struct str text;
    str_init(&text, DOCKERFILE_CEILING + 16);
    h->line = r->line;
    while (dockerfile_lex_raw(r, &from, &to)) {
        while (h->strip && from < to && *from == '\t')
            from++;
        if ((size_t)(to - from) == strlen(h->name) &&
            memcmp(from, h->name, (size_t)(to - from)) == 0) {
            h->text = str_take(&text);
            return PD_OK;
        }
        if (memchr(from, '\0', (size_t)(to - from))) {
            str_release(&text);
            return pd_fail_at(err, PD_PARSE, r->name, r->line - 1, 1,
                              _("the line holds a NUL byte"));
        }
        str_append(&text, from, (size_t)(to - from));
        str_addc(&text, '\n');
    }
    str_release(&text);
    dockerfile_fail(err, r, at, _("the here-document has no end: no line is just %.80s"), h->name);
    return pd_set_hint(err, _("write %.80s on a line of its own, with no blanks around it"),
                       h->name);
}

static bool is_comment_start(const char *text, size_t from)
{
    return text[from] == '#';
}

enum pd_code dockerfile_heredocs(struct df_reader *r, struct df_instr *in, size_t off,
                                 struct pd_err *err)
{
    size_t from, to;
    const char *text = r->cur.text.p;
    while (dockerfile_lex_word(text, r->cur.text.len, r->escape, &off, &from, &to)) {
        struct df_heredoc h = {0};
        if (in->op == DF_RUN && is_comment_start(text, from))
            break;                        /* the rest is a shell's comment */
        if (!dockerfile_heredoc_word(text + from, to - from, r->escape, &h))
            continue;
        in->heredocs = xrealloc_array(in->heredocs, in->nheredocs + 1, sizeof h);
        in->heredocs[in->nheredocs++] = h;
        if (in->nheredocs > HEREDOCS_MOST)
            return dockerfile_fail(err, r, from, _("more than %d here-documents"),
                                   HEREDOCS_MOST);
        enum pd_code rc = read_one(r, &in->heredocs[in->nheredocs - 1], from, err);
        if (rc != PD_OK)
            return rc;
    }
    return PD_OK;
}

const struct df_heredoc *dockerfile_heredoc(const struct df_instr *in, const char *word)
{
    struct df_heredoc h = {0};
    const struct df_heredoc *found = NULL;
    if (in->json || !dockerfile_heredoc_word(word, strlen(word), '\\', &h))
        return NULL;
    for (size_t i = 0; i < in->nheredocs && !found; i++)
        if (str_eq(in->heredocs[i].name, h.name))
            found = &in->heredocs[i];
    free(h.name);
    return found;
}
