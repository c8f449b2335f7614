/* builder_mode.c - modes as chmod reads them: octal, or clauses such as
 * "u=rwX,go=rX" with no umask in play. */
#include "k8s/image/builder_priv.h"

static bool octal(const char *s, unsigned *out)
{
    char *end;
    if (!*s || strspn(s, "01234567") != strlen(s) || strlen(s) > 5)
        return false;
    *out = (unsigned)strtoul(s, &end, 8);
    return *out <= 07777;
}

static unsigned who_bits(const char **p)
{
    unsigned who = 0;
    for (; **p && strchr("ugoa", **p); (*p)++)
        who |= **p == 'u' ? 04700 : **p == 'g' ? 02070 : **p == 'o' ? 01007 : 07777;
    return who ? who : 07777;
}

static unsigned perm_bits(const char **p, unsigned mode, bool folder)
{
    static const struct { char c; unsigned bits; } perms[] = {
        {'r', 0444}, {'w', 0222}, {'x', 0111}, {'s', 06000}, {'t', 01000}};
    unsigned bits = 0;
    for (; **p && strchr("rwxXst", **p); (*p)++) {
        for (size_t i = 0; i < ARRAY_LEN(perms); i++)
            bits |= perms[i].c == **p ? perms[i].bits : 0;
        if (**p == 'X' && (folder || (mode & 0111)))
            bits |= 0111;
    }
    return bits;
}

/* false: not a clause list. */
static bool clauses(const char *p, unsigned *mode, bool folder)
{
    do {
        unsigned who = who_bits(&p);
        if (!*p || !strchr("+-=", *p))
            return false;
        while (*p && strchr("+-=", *p)) {
            char op = *p++;
            unsigned bits = perm_bits(&p, *mode, folder) & who;
            if (op == '+')
                *mode |= bits;
            else if (op == '-')
                *mode &= ~bits;
            else
                *mode = (*mode & ~(who & 0777)) | bits;
        }
    } while (*p == ',' && *++p);
    return !*p;
}

bool builder_mode_valid(const char *text)
{
    unsigned mode = 0;
    return octal(text, &mode) || clauses(text, &mode, false);
}

unsigned builder_mode_apply(const struct build_mode *m, unsigned mode, bool folder)
{
    unsigned out = mode;
    if (m->set && !octal(m->text, &out))
        clauses(m->text, &out, folder);
    return out;
}
