/* dockerfile_expand.c - quotes, escapes and variables of one word, by the rules
 * of BuildKit's shell lexer: single quotes keep everything, double quotes keep
 * all but variables, an unset variable is empty. */
#include <ctype.h>

#include "core/base/i18n.h"
#include "k8s/image/dockerfile.h"

enum { EXPAND_DEPTH = 32, EXPAND_CEILING = 1 << 20 };

struct expand {
    const struct dockerfile *d;
    const struct df_word *w;
    dockerfile_lookup_fn *lookup;
    void *arg;
    const char *p;
    struct str *out;
    struct pd_err *err;
    int depth;
};

static enum pd_code run(struct expand *x, char stop);

static enum pd_code fail(struct expand *x, const char *at, const char *what)
{
    int col = x->w->col;
    for (const char *p = x->w->text; p < at; p++)
        col += ((unsigned char)*p & 0xc0) != 0x80;
    return pd_fail_at(x->err, PD_PARSE, x->d->name, x->w->line, col, "%s", what);
}

static size_t name_len(const char *p)
{
    size_t n = 0;
    if (isdigit((unsigned char)p[0]) || (p[0] && strchr("@*#?-$!", p[0])))
        return 1;                         /* a shell's special parameter: never set here */
    while (isalnum((unsigned char)p[n]) || p[n] == '_')
        n++;
    return n;
}

static const char *value_of(struct expand *x, const char *p, size_t n)
{
    char name[256];
    if (n >= sizeof name)
        return NULL;
    memcpy(name, p, n);
    name[n] = '\0';
    return x->lookup(x->arg, name);
}

/* The word behind ${NAME:-: expanded into out when wanted, else skipped. */
static enum pd_code alternative(struct expand *x, bool want)
{
    struct str skipped, *out = x->out;
    str_init(&skipped, EXPAND_CEILING);
    if (!want)
        x->out = &skipped;
    enum pd_code rc = run(x, '}');
    x->out = out;
    str_release(&skipped);
    return rc;
}

/* Behind "${". */
static enum pd_code braces(struct expand *x)
{
    const char *open = x->p - 2;
    size_t n = name_len(x->p);
    if (n == 0)
        return fail(x, open, *x->p ? _("bad substitution: a name must follow ${")
                                   : _("unexpected end while looking for }"));
    const char *value = value_of(x, x->p, n);
    x->p += n;
    if (*x->p == '}') {
        x->p++;
        str_add(x->out, value ? value : "");
        return PD_OK;
    }
    bool colon = *x->p == ':';
    x->p += colon;
    char op = *x->p;
    bool set = value && (!colon || *value);
    enum pd_code rc;
    if (op == '\0')
        return fail(x, open, _("unexpected end while looking for }"));
    x->p++;
    if (op == '-') {
        if (set)
            str_add(x->out, value);
        rc = alternative(x, !set);
    } else if (op == '+') {
        rc = alternative(x, set);
    } else if (op == '?') {
        rc = alternative(x, false);
        str_add(x->out, value ? value : "");
        if (rc == PD_OK && !set)
            rc = fail(x, open, _("a variable that must be set is not"));
    } else {
        return fail(x, open,
                    _("this substitution is not supported: use ${NAME:-word} or ${NAME:+word}"));
    }
    if (rc != PD_OK)
        return rc;
    if (*x->p != '}')
        return fail(x, open, _("unexpected end while looking for }"));
    x->p++;
    return PD_OK;
}

static enum pd_code dollar(struct expand *x)
{
    x->p++;
    if (*x->p == '{') {
        if (++x->depth > EXPAND_DEPTH)
            return fail(x, x->p, _("substitutions are nested too deeply"));
        x->p++;
        enum pd_code rc = braces(x);
        x->depth--;
        return rc;
    }
    size_t n = name_len(x->p);
    if (n == 0) {
        str_addc(x->out, '$');
        return PD_OK;
    }
    const char *value = value_of(x, x->p, n);
    str_add(x->out, value ? value : "");
    x->p += n;
    return PD_OK;
}

static enum pd_code single_quoted(struct expand *x)
{
    const char *open = x->p++, *end = strchr(x->p, '\'');
    if (!end)
        return fail(x, open, _("unexpected end while looking for the matching single quote"));
    str_append(x->out, x->p, (size_t)(end - x->p));
    x->p = end + 1;
    return PD_OK;
}

static enum pd_code double_quoted(struct expand *x)
{
    const char *open = x->p++;
    while (*x->p && *x->p != '"') {
        if (*x->p == '$') {
            enum pd_code rc = dollar(x);
            if (rc != PD_OK)
                return rc;
            continue;
        }
        if (*x->p == x->d->escape && x->p[1] &&
            (x->p[1] == '"' || x->p[1] == '$' || x->p[1] == x->d->escape))
            x->p++;
        str_addc(x->out, *x->p++);
    }
    if (*x->p != '"')
        return fail(x, open, _("unexpected end while looking for the matching double quote"));
    x->p++;
    return PD_OK;
}

/* Up to the end of the word, or to `stop` (which is left standing). */
static enum pd_code run(struct expand *x, char stop)
{
    enum pd_code rc = PD_OK;
    while (rc == PD_OK && *x->p && *x->p != stop) {
        char c = *x->p;
        if (c == '\'') {
            rc = single_quoted(x);
        } else if (c == '"') {
            rc = double_quoted(x);
        } else if (c == '$') {
            rc = dollar(x);
        } else if (c == x->d->escape) {
            x->p++;
            if (*x->p)
                str_addc(x->out, *x->p++);
        } else {
            str_addc(x->out, c);
            x->p++;
        }
    }
    return rc;
}

enum pd_code dockerfile_expand(const struct dockerfile *d, const struct df_word *w,
                               dockerfile_lookup_fn *lookup, void *arg, struct str *out,
                               struct pd_err *err)
{
    struct expand x = {.d = d, .w = w, .lookup = lookup, .arg = arg, .p = w->text, .out = out,
                       .err = err};
    return run(&x, '\0');
}
