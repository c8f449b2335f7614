/* rx.c - regular expressions by PCRE2 (rx.h). */
#include "core/train/rx.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include "core/base/i18n.h"
#include "core/base/mem.h"

enum { STEPS = 1000000 };

struct rx {
    pcre2_code *code;
    pcre2_match_context *limits;
};

enum pd_code rx_new(const char *pattern, size_t n, struct rx **out, struct pd_err *err)
{
    int why;
    PCRE2_SIZE at;
    pcre2_code *code = pcre2_compile((PCRE2_SPTR)pattern, n, PCRE2_UTF | PCRE2_UCP, &why, &at,
                                     NULL);
    if (!code) {
        PCRE2_UCHAR text[128];
        pcre2_get_error_message(why, text, sizeof text);
        return pd_fail(err, PD_PARSE, _("the regular expression \"%.*s\" is wrong at byte %zu: %s"),
                       (int)MIN(n, (size_t)120), pattern, (size_t)at, (const char *)text);
    }
    struct rx *r = xcalloc(1, sizeof *r);
    r->code = code;
    r->limits = pcre2_match_context_create(NULL);
    pcre2_set_match_limit(r->limits, STEPS);
    *out = r;
    return PD_OK;
}

void rx_free(struct rx *r)
{
    if (!r)
        return;
    pcre2_code_free(r->code);
    pcre2_match_context_free(r->limits);
    free(r);
}

static bool match(const struct rx *r, const char *text, size_t n, size_t from, uint32_t how,
                  size_t *start, size_t *end)
{
    pcre2_match_data *d = pcre2_match_data_create(1, NULL);
    int got = pcre2_match(r->code, (PCRE2_SPTR)text, n, from, how, d, r->limits);
    if (got >= 0) {
        const PCRE2_SIZE *v = pcre2_get_ovector_pointer(d);
        *start = v[0], *end = v[1];
    }
    pcre2_match_data_free(d);
    return got >= 0;
}

bool rx_full(const struct rx *r, const char *text, size_t n)
{
    size_t start, end;
    return match(r, text, n, 0, PCRE2_ANCHORED | PCRE2_ENDANCHORED, &start, &end);
}

bool rx_find(const struct rx *r, const char *text, size_t n, size_t from, size_t *start,
             size_t *end)
{
    return match(r, text, n, from, from ? PCRE2_NO_UTF_CHECK : 0, start, end);
}
