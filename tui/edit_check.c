/* edit_check.c - a manifest is checked as it is typed: faults by line (edit.h). */
#include "core/base/i18n.h"
#include "core/base/mem.h"
#include "tui/edit.h"

enum { CHECKED_MOST = 64 << 10 };

/* Does the text look like a manifest? */
static bool is_manifest(const struct edit *e)
{
    static const char *const marks[] = {"apiVersion:", "kind:", "{\"apiVersion\"", "<!DOCTYPE"};
    bool named = str_ends(e->path, ".yaml") || str_ends(e->path, ".yml") ||
                 str_ends(e->path, ".json");
    for (size_t i = 0; named && i < e->lines.n; i++)
        for (size_t k = 0; k < ARRAY_LEN(marks); k++)
            if (str_starts(e->lines.v[i], marks[k]))
                return true;
    return false;
}

void edit_check(struct edit *e)
{
    struct check_options o = {.var = e->var, .arg = e->var_arg};
    struct str text;
    check_free(e->found);
    e->found = NULL;
    if (e->changed) {
        json_free(e->told);
        e->told = NULL;
    }
    e->changed = false;
    if (!is_manifest(e))
        return;
    str_init(&text, EDIT_BYTES_MOST);
    edit_text(e, &text);
    if (text.len <= CHECKED_MOST)
        e->found = check_run(e->path, text.p, text.len, &o);
    str_release(&text);
}

/* Is `new` to be told rather than what is in *f? */
static void take(struct edit_fault *f, bool *any, const struct edit_fault *new)
{
    if (*any && !(new->error && !f->error))
        return;
    *f = *new;
    *any = true;
}

bool edit_fault_at(const struct edit *e, int line, struct edit_fault *out)
{
    bool any = false;
    for (const struct json *n = json_first(e->told); n; n = json_next(n))
        if (json_int(n, "line", 0) == line)
            take(out, &any, &(struct edit_fault){line, str_eq(json_str(n, "level", ""), "error"),
                                                 json_str(n, "message", ""),
                                                 json_str(n, "next", "")});
    for (size_t i = 0; e->found && i < e->found->n; i++) {
        const struct check_finding *f = &e->found->v[i];
        if (f->line == line)
            take(out, &any, &(struct edit_fault){line, f->level == CHECK_ERROR,
                                                 *f->said ? f->said : f->why, f->next});
    }
    return any;
}

bool edit_fault_next(const struct edit *e, int line, struct edit_fault *out)
{
    for (int i = 0; i < (int)e->lines.n; i++)
        if (edit_fault_at(e, 1 + (line + i) % (int)e->lines.n, out))
            return true;
    return false;
}

int edit_fault_count(const struct edit *e)
{
    return (int)json_count(e->told) + (e->found ? (int)e->found->n : 0);
}

void edit_fault_rows(const struct edit *e, struct rows *out, int w, int h)
{
    struct edit_fault f;
    int from = out->n;
    if (!edit_fault_at(e, e->row + 1, &f) && !edit_fault_next(e, e->row + 1, &f))
        return;
    char *text = xasprintf(_("line %d: %s"), f.line, f.text);
    rows_wrap(out, f.error ? ROLE_FAIL : ROLE_WARN, 0, text, w);
    free(text);
    out->n = MIN(out->n, from + h - (*f.next ? 1 : 0));   /* the next step is worth more */
    if (*f.next)
        rows_wrap(out, ROLE_HINT, 0, f.next, w);
    out->n = MIN(out->n, from + h);
}
