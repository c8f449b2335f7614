/* lab_reader.c - the lab parser: its helpers, and the small maps of a lab. */
#include "labs/lab_reader.h"

#include "core/base/i18n.h"
#include "core/base/str.h"
#include "labs/vars.h"

static const struct lab_key about_keys[] = {
    {"text", LK_TEXT, false}, {"goal", LK_TEXT, false}, {"minutes", LK_NUM, false},
    {"level", LK_STR, false}, {"hw", LK_STR, false},    {NULL, LK_ANY, false}};
static const struct lab_key require_keys[] = {
    {"resource", LK_STR, false}, {"min", LK_NUM, false}, {"kubernetes", LK_STR, false},
    {"can", LK_STR, false},      {"storageclass", LK_STR, false}, {"else", LK_STR, false},
    {"recorded", LK_PATH, false}, {"why", LK_TEXT, true}, {NULL, LK_ANY, false}};
static const struct lab_key var_keys[] = {
    {"value", LK_STR, false},  {"pick", LK_STRS, false}, {"from", LK_STR, false},
    {"number", LK_STRS, false}, {"word", LK_NUM, false},  {NULL, LK_ANY, false}};
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

/* The one key of `names` that the map has: its index; -1: none, or two. */
static int one_of(const struct ynode *n, const char *const *names, size_t k)
{
    int found = -1;
    for (size_t i = 0; i < k; i++)
        if (yaml_get(n, names[i])) {
            if (found >= 0)
                return -1;
            found = (int)i;
        }
    return found;
}

static enum pd_code read_else(struct lab_reader *r, const struct ynode *c, struct lab_require *q)
{
    static const char *const names[] = {"skip", "simulate", "reading"};
    const struct ynode *e = yaml_get(c, "else");
    q->otherwise_given = e != NULL;
    for (size_t i = 0; e && i < ARRAY_LEN(names); i++)
        if (str_eq(e->text, names[i])) {
            q->otherwise = (enum lab_else)i;
            return PD_OK;
        }
    return e ? lab_reader_bad(r, e, _("\"else\" must be skip, simulate or reading, not \"%s\""),
                              e->text)
             : PD_OK;
}

static enum pd_code read_require(struct lab_reader *r, const struct ynode *c,
                                 struct lab_require *q)
{
    static const char *const kinds[] = {"resource", "kubernetes", "can", "storageclass"};
    int k = one_of(c, kinds, ARRAY_LEN(kinds));
    const struct ynode *min = yaml_get(c, "min"), *rec = yaml_get(c, "recorded");
    if (k < 0)
        return lab_reader_bad(r, c, _("a requirement needs exactly one of resource, kubernetes, "
                                      "can, storageclass"));
    q->kind = (enum lab_need)k;
    q->resource = lab_reader_dup(r, yaml_str(c, kinds[k], ""));
    q->min = min ? min->number : 1;
    q->why = lab_reader_text(r, yaml_get(c, "why"));
    q->at = lab_reader_place(c);
    q->recorded = lab_reader_dup(r, rec ? rec->text : "");
    enum pd_code rc = read_else(r, c, q);
    if (!rc && rec && q->otherwise != LAB_ELSE_SIMULATE)
        rc = lab_reader_bad(r, rec, _("\"recorded\" belongs to else: simulate"));
    if (!rc && q->kind == LAB_NEED_CAN && (!strchr(q->resource, ' ') || *q->resource == ' '))
        rc = lab_reader_bad(r, yaml_get(c, "can"),
                            _("\"can\" is a verb and a resource: create jobs"));
    return !rc && rec ? lab_reader_file(r, rec, q->recorded, &q->recorded_text) : rc;
}

enum pd_code lab_reader_requires(struct lab_reader *r, const struct ynode *n,
                                 struct lab_require **list, int *count)
{
    *list = lab_reader_many(r, yaml_count(n), sizeof **list);
    for (const struct ynode *c = n ? n->first : NULL; c; c = c->next) {
        enum pd_code rc = lab_reader_keys(r, c, require_keys, "requirement");
        rc = rc ? rc : read_require(r, c, &(*list)[(*count)++]);
        if (rc)
            return rc;
    }
    return PD_OK;
}

/* {number: [LOW, HIGH]}, both included, or {word: LENGTH}. */
static enum pd_code read_drawn(struct lab_reader *r, const struct ynode *c, struct lab_var *v)
{
    const struct ynode *number = yaml_get(c, "number"), *word = yaml_get(c, "word");
    v->kind = number ? LAB_VAR_NUMBER : LAB_VAR_WORD;
    v->low = v->high = word ? (int64_t)MIN(MAX(word->number, 0), 1000) : 0;
    if (word && (v->low < 1 || v->low > 40))
        return lab_reader_bad(r, word, _("\"word\" is a length from 1 to 40"));
    if (number && (yaml_count(number) != 2 || !str_to_i64(number->first->text, &v->low) ||
                   !str_to_i64(number->first->next->text, &v->high) || v->low > v->high ||
                   v->low < -1000000000 || v->high > 1000000000))
        return lab_reader_bad(r, number, _("\"number\" is a list of the lowest and the highest: "
                                           "[1, 100]"));
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
            return lab_reader_bad(r, c, _("variable \"%s\" needs exactly one of value, pick, "
                                          "number, word, from"),
                                  c->key);
        if (yaml_get(c, "number") || yaml_get(c, "word"))
            return read_drawn(r, c, v);
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
