/* pattern.c - a pattern is compiled to tokens and matched by a table over
 * tokens and positions (one row kept), so that no input takes exponential
 * time. */
#include "k8s/image/pattern.h"

#include "core/base/mem.h"
#include "core/base/utf8.h"

enum tok_kind { T_CHAR, T_ANY, T_STAR, T_CLASS, T_FOLDERS, T_ALL };

struct tok {
    enum tok_kind kind;
    bool negated;                 /* T_CLASS */
    uint32_t lo, hi;              /* T_CHAR: lo; T_CLASS: bounds of ranges [lo, hi) */
};

struct range {
    uint32_t lo, hi;
};

struct pattern {
    struct tok *v;
    size_t n;
    struct range *ranges;
    size_t nranges;
};

static void add(struct pattern *p, struct tok t)
{
    p->v = xrealloc_array(p->v, p->n + 1, sizeof *p->v);
    p->v[p->n++] = t;
}

static uint32_t next_char(const char **s)
{
    int len;
    uint32_t cp = utf8_decode(*s, strlen(*s), &len);
    *s += len;
    return cp;
}

/* A character of a class, escaped or not; false when there must be none. */
static bool class_char(const char **s, uint32_t *out)
{
    if (**s == '\0' || **s == '-' || **s == ']')
        return false;
    if (**s == '\\')
        (*s)++;
    if (**s == '\0')
        return false;
    *out = next_char(s);
    return **s != '\0';
}

static bool compile_class(struct pattern *p, const char **s)
{
    struct tok t = {.kind = T_CLASS, .lo = (uint32_t)p->nranges};
    if (**s == '^') {
        t.negated = true;
        (*s)++;
    }
    do {
        struct range r;
        if (!class_char(s, &r.lo))
            return false;
        r.hi = r.lo;
        if (**s == '-') {
            (*s)++;
            if (!class_char(s, &r.hi))
                return false;
        }
        p->ranges = xrealloc_array(p->ranges, p->nranges + 1, sizeof r);
        p->ranges[p->nranges++] = r;
    } while (**s != ']');
    (*s)++;
    t.hi = (uint32_t)p->nranges;
    add(p, t);
    return true;
}

/* Behind a first "*". */
static void compile_star(struct pattern *p, const char **s, int flags)
{
    if (**s != '*' || !(flags & PATTERN_GLOBSTAR)) {
        add(p, (struct tok){.kind = T_STAR});
        return;
    }
    (*s)++;
    if (**s == '/')
        (*s)++;
    add(p, (struct tok){.kind = **s ? T_FOLDERS : T_ALL});
}

static bool compile(struct pattern *p, const char *s, int flags)
{
    while (*s) {
        char c = *s;
        if (c == '*') {
            s++;
            compile_star(p, &s, flags);
        } else if (c == '?') {
            s++;
            add(p, (struct tok){.kind = T_ANY});
        } else if (c == '[') {
            s++;
            if (!compile_class(p, &s))
                return false;
        } else {
            if (c == '\\' && *++s == '\0')
                return false;
            add(p, (struct tok){.kind = T_CHAR, .lo = next_char(&s)});
        }
    }
    return true;
}

struct pattern *pattern_new(const char *text, int flags)
{
    struct pattern *p = xcalloc(1, sizeof *p);
    if (compile(p, text, flags))
        return p;
    pattern_free(p);
    return NULL;
}

void pattern_free(struct pattern *p)
{
    if (!p)
        return;
    free(p->v);
    free(p->ranges);
    free(p);
}

static bool in_class(const struct pattern *p, const struct tok *t, uint32_t c)
{
    for (uint32_t i = t->lo; i < t->hi; i++)
        if (c >= p->ranges[i].lo && c <= p->ranges[i].hi)
            return !t->negated;
    return t->negated;
}

static bool one(const struct pattern *p, const struct tok *t, uint32_t c)
{
    if (t->kind == T_CHAR)
        return t->lo == c;
    return t->kind == T_ANY ? c != '/' : in_class(p, t, c);
}

/* rest[j]: do the tokens behind t match path[j..]? In place: the same with t. */
static void step(const struct pattern *p, const struct tok *t, const uint32_t *path, size_t n,
                 bool *rest)
{
    switch (t->kind) {
    case T_ALL:
        for (size_t j = n; j-- > 0;)
            rest[j] = rest[j] || rest[j + 1];
        break;
    case T_STAR:
        for (size_t j = n; j-- > 0;)
            rest[j] = rest[j] || (path[j] != '/' && rest[j + 1]);
        break;
    case T_FOLDERS: {                     /* nothing, or anything that ends with "/" */
        bool below = false;               /* does rest match behind some later "/"? */
        for (size_t j = n; j-- > 0;) {
            below = below || (path[j] == '/' && rest[j + 1]);
            rest[j] = rest[j] || below;
        }
        break;
    }
    default:
        for (size_t j = 0; j < n; j++)
            rest[j] = one(p, t, path[j]) && rest[j + 1];
        rest[n] = false;
    }
}

bool pattern_match(const struct pattern *p, const char *path)
{
    size_t len = strlen(path), n = 0;
    uint32_t *chars = xmalloc((len + 1) * sizeof *chars);
    bool *rest = xcalloc(len + 1, sizeof *rest);
    for (const char *s = path; *s;)
        chars[n++] = next_char(&s);
    rest[n] = true;
    for (size_t i = p->n; i-- > 0;)
        step(p, &p->v[i], chars, n, rest);
    bool ok = rest[0];
    free(chars);
    free(rest);
    return ok;
}

bool pattern_is_glob(const char *text)
{
    for (const char *s = text; *s; s++) {
        if (*s == '\\' && s[1])
            s++;
        else if (*s == '*' || *s == '?' || *s == '[')
            return true;
    }
    return false;
}
