/* lint_shell.c - the commands of a RUN, as far as one can see them without being
 * a shell: split at && || ; | and line ends, quotes undone. */
#include <ctype.h>

#include "core/base/mem.h"
#include "k8s/image/lint_priv.h"

static struct sh_cmd *new_cmd(struct sh_list *l, char before)
{
    l->v = xrealloc_array(l->v, l->n + 1, sizeof *l->v);
    struct sh_cmd *c = &l->v[l->n++];
    memset(c, 0, sizeof *c);
    strv_init(&c->words);
    c->before = before;
    return c;
}

/* Length of a separator at p, and what it is. */
static size_t separator(const char *p, char *what)
{
    if (p[0] == '&' && p[1] == '&')
        return *what = '&', 2;
    if (p[0] == '|' && p[1] == '|')
        return *what = 'o', 2;
    if (p[0] == '|')
        return *what = '|', 1;
    if (p[0] == ';' || p[0] == '\n')
        return *what = ';', 1;
    return 0;
}

static const char *take_word(const char *p, struct str *word)
{
    char quote = 0, ignored;
    for (; *p && (quote || (!isspace((unsigned char)*p) && !separator(p, &ignored))); p++) {
        if (quote ? *p == quote : (*p == '"' || *p == '\'')) {
            quote = quote ? 0 : *p;
        } else if (*p == '\\' && p[1] && quote != '\'') {
            p++;
            if (*p != '\n')
                str_addc(word, *p);
        } else {
            str_addc(word, *p);
        }
    }
    return p;
}

static bool is_noise(const char *word)
{
    static const char *const noise[] = {"(", ")", "{", "}", "if", "then", "else", "fi", "do",
                                        "done", "!", "time", "exec", "sudo", "env", "command"};
    for (size_t i = 0; i < ARRAY_LEN(noise); i++)
        if (str_eq(word, noise[i]))
            return true;
    const char *eq = strchr(word, '=');               /* NAME=value before a command */
    return eq && eq > word && strspn(word, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
                                           "0123456789_") == (size_t)(eq - word);
}

static void split(const char *text, struct sh_list *out)
{
    struct sh_cmd *c = NULL;
    const char *p = text, *start = text;
    char before = 0;
    while (*p) {
        char what;
        size_t n;
        while (isspace((unsigned char)*p) && *p != '\n')
            p++;
        if (*p == '#') {
            p += strcspn(p, "\n");
            continue;
        }
        if ((n = separator(p, &what))) {
            if (c) {
                c->after = what;
                c->text = xstrndup(start, (size_t)(p - start));
            }
            c = NULL;
            before = what;
            p += n;
            continue;
        }
        if (!*p)
            break;
        struct str word;
        const char *from = p;
        str_init(&word, 8192);
        p = take_word(p, &word);
        if (!c && !is_noise(word.p)) {
            c = new_cmd(out, before);
            start = from;
        }
        if (c)
            strv_push(&c->words, word.p);
        str_release(&word);
        if (p == from)
            p++;
    }
    if (c)
        c->text = xstrdup(start);
}

void lint_shell_split(const struct df_instr *in, struct sh_list *out)
{
    memset(out, 0, sizeof *out);
    if (in->json) {
        const char *last = in->nwords ? in->words[in->nwords - 1].text : "";
        if (in->nwords == 3 && str_starts(in->words[1].text, "-") &&
            strchr(in->words[1].text, 'c')) {
            split(last, out);
            return;
        }
        struct sh_cmd *c = new_cmd(out, 0);
        for (size_t i = 0; i < in->nwords; i++)
            strv_push(&c->words, in->words[i].text);
        c->text = xstrdup(in->text);
        return;
    }
    bool script = in->nheredocs && str_starts(in->rest, "<<");
    if (!script)
        split(in->rest, out);
    else if (!str_starts(in->heredocs[0].text, "#!") || strstr(in->heredocs[0].text, "sh\n"))
        split(in->heredocs[0].text, out);
}

void lint_shell_release(struct sh_list *l)
{
    for (size_t i = 0; i < l->n; i++) {
        strv_release(&l->v[i].words);
        free(l->v[i].text);
    }
    free(l->v);
    memset(l, 0, sizeof *l);
}

bool lint_word(const struct sh_cmd *c, const char *word)
{
    return strv_has(&c->words, word);
}

const char *lint_word_starts(const struct sh_cmd *c, const char *prefix)
{
    for (size_t i = 0; i < c->words.n; i++)
        if (str_starts(c->words.v[i], prefix))
            return c->words.v[i];
    return NULL;
}
