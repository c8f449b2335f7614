/* tok_norm.c - Unicode's normal forms before a text is cut (utf8proc). */
#include <stdlib.h>
#include <utf8proc.h>

#include "core/train/tok_impl.h"

static const struct {
    const char *name;
    int options;
} forms[] = {
    [TOK_NORM_NONE] = {"", 0},
    [TOK_NORM_NFC] = {"NFC", UTF8PROC_STABLE | UTF8PROC_COMPOSE},
    [TOK_NORM_NFD] = {"NFD", UTF8PROC_STABLE | UTF8PROC_DECOMPOSE},
    [TOK_NORM_NFKC] = {"NFKC", UTF8PROC_STABLE | UTF8PROC_COMPOSE | UTF8PROC_COMPAT},
    [TOK_NORM_NFKD] = {"NFKD", UTF8PROC_STABLE | UTF8PROC_DECOMPOSE | UTF8PROC_COMPAT},
};

enum tok_norm tok_norm_named(const char *name)
{
    for (size_t i = 1; i < ARRAY_LEN(forms); i++)
        if (str_eq(forms[i].name, name))
            return (enum tok_norm)i;
    return TOK_NORM_NONE;
}

static bool is_ascii(const char *s, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if ((unsigned char)s[i] >= 0x80)
            return false;
    return true;
}

/* What is no UTF-8 has no form: it stays as it is. */
void tok_norm_run(enum tok_norm form, const char *s, size_t n, struct str *out)
{
    utf8proc_uint8_t *made = NULL;
    utf8proc_ssize_t len = -1;
    if (form != TOK_NORM_NONE && !is_ascii(s, n))
        len = utf8proc_map((const utf8proc_uint8_t *)s, (utf8proc_ssize_t)n, &made,
                           (utf8proc_option_t)forms[form].options);
    if (len >= 0)
        str_append(out, (const char *)made, (size_t)len);
    else
        str_append(out, s, n);
    free(made);
}
