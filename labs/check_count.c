/* check_count.c - how many objects there are: against a wanted number, or
 * against the number that the person wrote into a file. */
#include "core/base/i18n.h"
#include "labs/check_kinds.h"
#include "labs/file_value.h"
#include "labs/match.h"
#include "labs/session_priv.h"

static const struct lab_key keys[] = {
    {"kind", LK_RES, true},  {"where", LK_EXPECT, false}, {"is", LK_MATCH, false},
    {"file", LK_PATH, false}, {"path", LK_STR, false},    {NULL, LK_ANY, false}};

static int64_t count(const struct check_ctx *c, uint64_t *mark)
{
    const struct table *t = session_table(c->s, json_str(c->args, "kind", ""));
    int64_t n = 0;
    for (const struct json *o = json_first(t->items); o; o = json_next(o)) {
        bool ok = true;
        const struct json *where = json_get(c->args, "where");
        for (const struct json *w = json_first(where); w && ok; w = json_next(w))
            ok = match_value(json_at(o, json_key(w)), w);
        n += ok;
        *mark += ok ? check_mark(o) : 0;
    }
    return n;
}

/* The person's answer: untouched is NOT YET, another number is WRONG. */
static void eval_answer(const struct check_ctx *c, int64_t n, struct evidence *ev)
{
    struct json *value = NULL;
    const char *path = json_str(c->args, "path", "");
    if (!file_value(c, json_str(c->args, "file", ""), NULL, path, &value, ev))
        return;
    struct json *want = json_new_number((double)n);
    str_fmt(ev->expected, sizeof ev->expected, "%" PRId64, n);
    if (match_value(value, want))
        check_set(ev, CHECK_PASS, "%s", "");
    else if (file_untouched(c, json_str(c->args, "file", ""), NULL, path, value))
        check_set(ev, CHECK_NOT_YET, "%s", _("your answer is still missing"));
    else
        check_set(ev, CHECK_WRONG, "%s", _("the cluster counts otherwise"));
    json_free(want);
    json_free(value);
}

static void eval(const struct check_ctx *c, struct evidence *ev)
{
    const char *kind = json_str(c->args, "kind", "");
    check_subject(ev, "%s", kind);
    if (check_blind(c, kind, ev))
        return;
    int64_t n = count(c, &ev->mark);
    if (json_has(c->args, "file")) {
        eval_answer(c, n, ev);
        return;
    }
    struct json *value = json_new_number((double)n);
    struct str s;
    str_init(&s, 1024);
    match_text(json_get(c->args, "is"), &s);
    str_copy(ev->path, sizeof ev->path, "count");
    str_copy(ev->expected, sizeof ev->expected, s.p);
    str_fmt(ev->actual, sizeof ev->actual, "%" PRId64, n);
    bool ok = match_value(value, json_get(c->args, "is"));
    check_set(ev, ok ? CHECK_PASS : CHECK_NOT_YET, "%s", ok ? "" : _("it is not so yet"));
    str_release(&s);
    json_free(value);
}

const struct check_kind check_count = {"count", keys, eval, NULL, false, NULL};
