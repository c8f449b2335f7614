/* lab_reader.c - the lab parser: its helpers, and the small maps of a lab. */
#include "labs/lab_reader.h"

#include "core/base/i18n.h"
#include "core/base/str.h"
#include "labs/vars.h"

static const struct lab_key about_keys[] = {
    {"text", LK_TEXT, false}, {"goal", LK_TEXT, false}, {"minutes", LK_NUM, false},
    {"level", LK_STR, false}, {"hw", LK_STR, false},    {NULL, LK_ANY, false}};
static const struct lab_key require_keys[] = {
    {"resource", LK_STR, true}, {"min", LK_NUM, true}, {"why", LK_TEXT, true},
    {NULL, LK_ANY, false}};
static const struct lab_key var_keys[] = {
    {"value", LK_STR, false}, {"pick", LK_STRS, false}, {"from", LK_STR, false},
    {NULL, LK_ANY, false}};
static const struct lab_key run_keys[] = {
    {"job", LK_STR, true}, {"container", LK_STR, true}, {NULL, LK_ANY, false}};

enum pd_code lab_reader_bad(struct lab_reader *r, const struct ynode *n, const char *fmt, ...)
{
    char text[480];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    return pd_fail_at(r->err, PD_LAB, r->path, n->line, n->col, "%s", text);
}

struct lplace lab_reader_place(const struct ynode *n)
{
    return (struct lplace){n->key ? n->key_line : n->line, n->key ? n->key_col : n->col};
}

char *lab_reader_dup(struct lab_reader *r, const char *s)
{
    s = s ? s : "";
    r->full |= r->lab->arena.used + strlen(s) > LAB_TEXTS;
    return arena_strdup(&r->lab->arena, r->full ? "" : s);
}

void *lab_reader_many(struct lab_reader *r, size_t n, size_t size)
{
    return arena_alloc(&r->lab->arena, MAX(n, 1) * size);
}

struct ltext lab_reader_text(struct lab_reader *r, const struct ynode *n)
{
    struct ltext t = {"", ""};
    if (!n)
        return t;
    if (n->kind != Y_MAP) {
        t.en = t.zh = lab_reader_dup(r, n->text);
        return t;
    }
    t.en = lab_reader_dup(r, yaml_str(n, "en", ""));
    t.zh = yaml_get(n, "zh") ? lab_reader_dup(r, yaml_str(n, "zh", "")) : t.en;
    return t;
}

enum pd_code lab_reader_keys(struct lab_reader *r, const struct ynode *n,
                             const struct lab_key *table, const char *what)
{
    return lab_keys_check(r->path, n, table, what, r->err);
}

/* --- the small maps ------------------------------------------------------- */

enum pd_code lab_reader_about(struct lab_reader *r, const struct ynode *n)
{
    struct lab *lab = r->lab;
    lab->level = lab->hw = "";
    lab->hw = "any";
    if (!n)
        return PD_OK;
    enum pd_code rc = lab_reader_keys(r, n, about_keys, "about");
    if (rc)
        return rc;
    lab->about = lab_reader_text(r, yaml_get(n, "text"));
    lab->goal = lab_reader_text(r, yaml_get(n, "goal"));
    lab->level = lab_reader_dup(r, yaml_str(n, "level", ""));
    lab->hw = lab_reader_dup(r, yaml_str(n, "hw", "any"));
    const struct ynode *m = yaml_get(n, "minutes");
    lab->minutes = m && m->number > 0 && m->number < 100000 ? (int)m->number : 0;
    return PD_OK;
}

enum pd_code lab_reader_requires(struct lab_reader *r, const struct ynode *n)
{
    struct lab *lab = r->lab;
    lab->requires = lab_reader_many(r, yaml_count(n), sizeof *lab->requires);
    for (const struct ynode *c = n ? n->first : NULL; c; c = c->next) {
        enum pd_code rc = lab_reader_keys(r, c, require_keys, "requirement");
        if (rc)
            return rc;
        struct lab_require *q = &lab->requires[lab->requires_n++];
        q->resource = lab_reader_dup(r, yaml_str(c, "resource", ""));
        q->min = yaml_get(c, "min")->number;
        q->why = lab_reader_text(r, yaml_get(c, "why"));
        q->at = lab_reader_place(c);
    }
    return PD_OK;
}

static enum pd_code read_var(struct lab_reader *r, const struct ynode *c, struct lab_var *v)
{
    const struct ynode *one = c, *list = NULL;
    v->name = lab_reader_dup(r, c->key);
    v->kind = LAB_VAR_VALUE;
    v->at = lab_reader_place(c);
    if (!vars_name_ok(c->key))
        return lab_reader_bad(r, c,
                              _("\"%s\" is no variable's name: use A-Z, 0-9 and \"_\""), c->key);
    if (c->kind == Y_MAP) {
        enum pd_code rc = lab_reader_keys(r, c, var_keys, "variable");
        if (rc)
            return rc;
        if (yaml_count(c) != 1)
            return lab_reader_bad(r, c, _("variable \"%s\" needs exactly one of value, pick, from"),
                                  c->key);
        one = yaml_get(c, "value");
        list = yaml_get(c, "pick");
        v->kind = list ? LAB_VAR_PICK : one ? LAB_VAR_VALUE : LAB_VAR_FROM;
        one = one ? one : yaml_get(c, "from");
    } else if (c->kind == Y_SEQ || c->kind == Y_NULL) {
        return lab_reader_bad(r, c, _("variable \"%s\" must be a text or one of {value:} {pick:} "
                                    "{from:}"),
                   c->key);
    }
    if (v->kind == LAB_VAR_PICK && !yaml_count(list))
        return lab_reader_bad(r, list, _("variable \"%s\" has nothing to pick from"), c->key);
    v->values = lab_reader_many(r, list ? yaml_count(list) : 1, sizeof *v->values);
    for (const struct ynode *p = list ? list->first : NULL; p; p = p->next)
        v->values[v->values_n++] = lab_reader_dup(r, p->text);
    if (!list)
        v->values[v->values_n++] = lab_reader_dup(r, one->text);
    if (v->kind == LAB_VAR_FROM && !vars_source_ok(v->values[0]))
        return lab_reader_bad(r, one, _("\"%s\" is no source of a variable: %s"), v->values[0],
                              vars_sources());
    return PD_OK;
}

enum pd_code lab_reader_vars(struct lab_reader *r, const struct ynode *n)
{
    struct lab *lab = r->lab;
    lab->vars = lab_reader_many(r, yaml_count(n), sizeof *lab->vars);
    for (const struct ynode *c = n ? n->first : NULL; c; c = c->next) {
        if (str_starts(c->key, "x-"))
            continue;
        enum pd_code rc = read_var(r, c, &lab->vars[lab->vars_n]);
        if (rc)
            return rc;
        lab->vars_n++;
    }
    return PD_OK;
}

enum pd_code lab_reader_run(struct lab_reader *r, const struct ynode *n)
{
    r->lab->run_job = r->lab->run_container = "";
    if (!n)
        return PD_OK;
    enum pd_code rc = lab_reader_keys(r, n, run_keys, "run");
    if (rc)
        return rc;
    r->lab->run_job = lab_reader_dup(r, yaml_str(n, "job", ""));
    r->lab->run_container = lab_reader_dup(r, yaml_str(n, "container", ""));
    return PD_OK;
}
