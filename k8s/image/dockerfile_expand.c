/* dockerfile_expand.c - quotes, escapes and variables of one word, by the rules
 * of BuildKit's shell lexer: single quotes keep everything, double quotes keep
 * all but variables, an unset variable is empty. */
#include <ctype.h>

#include "core/base/i18n.h"
#include "k8s/image/dockerfile.h"
#include "k8s/image/glob.h"

enum { EXPAND_DEPTH = 32, EXPAND_CEILING = 1 << 20 };

struct expand {
    const struct dockerfile *d;
    const struct df_word *w;
    dockerfile_lookup_fn *lookup;
    void *arg;
    const char *p;
    struct str *out;
    struct pd_err *err;
    const char *open;             /* of the ${ at work */
    int depth;
    bool keep_escapes;            /* of a pattern */
    bool raw;                     /* quotes are characters like others */
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

/* Up to `stop`, expanded into `to`; stands behind the stop then. */
static enum pd_code operand(struct expand *x, char stop, struct str *to)
{
    struct str *out = x->out;
    x->out = to;
    enum pd_code rc = run(x, stop);
    x->out = out;
    if (rc == PD_OK && *x->p == stop)
        x->p++;
    else if (rc == PD_OK)
        rc = fail(x, x->open, stop == '}' ? _("unexpected end while looking for }")
                                             : _("unexpected end while looking for /"));
    return rc;
}

/* Behind "${NAME": one of :-w -w :+w +w :?w ?w. */
static enum pd_code choose(struct expand *x, const char *open, const char *name,
                           const char *value)
{
    struct str word;
    bool colon = *x->p == ':';
    x->p += colon;
    char op = *x->p;
    if (op != '-' && op != '+' && op != '?')
        return fail(x, open, op ? _("this substitution is not known: use ${A:-word}, ${A:+word}, "
                                    "${A:?word}, ${A#p}, ${A%p} or ${A/p/r}")
                                : _("unexpected end while looking for }"));
    x->p++;
    str_init(&word, EXPAND_CEILING);
    bool set = value && (!colon || *value);
    enum pd_code rc = operand(x, '}', &word);
    if (rc == PD_OK && op == '?' && !set) {
        char text[160];
        str_fmt(text, sizeof text, "%.60s: %.80s", name,
                word.len ? word.p : _("a variable that must be set is not"));
        rc = fail(x, open, text);
    } else if (rc == PD_OK) {
        bool alternative = op == '-' ? !set : op == '+' && set;
        str_add(x->out, alternative ? word.p : op != '+' && value ? value : "");
    }
    str_release(&word);
    return rc;
}

/* Behind "${NAME": #p ##p %p %%p. */
static enum pd_code trim(struct expand *x, const char *value)
{
    struct str word;
    char op = *x->p++;
    bool greedy = *x->p == op;
    x->p += greedy;
    str_init(&word, EXPAND_CEILING);
    bool keep = x->keep_escapes;
    x->keep_escapes = true;
    enum pd_code rc = operand(x, '}', &word);
    x->keep_escapes = keep;
    if (rc == PD_OK && !glob_trim(word.p, value ? value : "", op == '#', greedy, x->out))
        rc = fail(x, x->open, _("the value is too long for a pattern (4096 bytes at most)"));
    str_release(&word);
    return rc;
}

/* Behind "${NAME": /p/r //p/r. */
static enum pd_code replace(struct expand *x, const char *value)
{
    struct str pattern, with;
    x->p++;
    bool all = *x->p == '/';
    x->p += all;
    str_init(&pattern, EXPAND_CEILING);
    str_init(&with, EXPAND_CEILING);
    bool keep = x->keep_escapes;
    x->keep_escapes = true;
    enum pd_code rc = operand(x, '/', &pattern);
    x->keep_escapes = keep;
    if (rc == PD_OK)
        rc = operand(x, '}', &with);
    if (rc == PD_OK && !glob_replace(pattern.p, value ? value : "", with.p, all, x->out))
        rc = fail(x, x->open, _("the value is too long for a pattern (4096 bytes at most)"));
    str_release(&pattern);
    str_release(&with);
    return rc;
}

/* Behind "${". */
static enum pd_code modify(struct expand *x, const char *open)
{
    size_t n = name_len(x->p);
    char name[64];
    if (n == 0)
        return fail(x, open, *x->p ? _("bad substitution: a name must follow ${")
                                   : _("unexpected end while looking for }"));
    const char *value = value_of(x, x->p, n);
    str_fmt(name, sizeof name, "%.*s", (int)MIN(n, (size_t)63), x->p);
    x->p += n;
    switch (*x->p) {
    case '}':
        x->p++;
        str_add(x->out, value ? value : "");
        return PD_OK;
    case '#':
    case '%':
        return trim(x, value);
    case '/':
        return replace(x, value);
    default:
        return choose(x, open, name, value);
    }
}

static enum pd_code braces(struct expand *x)
{
    const char *outer = x->open;
    x->open = x->p - 2;
    enum pd_code rc = modify(x, x->open);
    x->open = outer;
    return rc;
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
        if (c == '\'' && !x->raw) {
            rc = single_quoted(x);
        } else if (c == '"' && !x->raw) {
            rc = double_quoted(x);
        } else if (c == '$') {
            rc = dollar(x);
        } else if (c == x->d->escape) {
            if (x->keep_escapes)
                str_addc(x->out, c);
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

enum pd_code dockerfile_expand_raw(const struct dockerfile *d, const struct df_word *w,
                                   dockerfile_lookup_fn *lookup, void *arg, struct str *out,
                                   struct pd_err *err)
{
    struct expand x = {.d = d, .w = w, .lookup = lookup, .arg = arg, .p = w->text, .out = out,
                       .err = err, .raw = true};
    return run(&x, '\0');
}
