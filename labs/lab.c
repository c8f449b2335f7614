/* lab.c - reads a lab file: YAML to struct lab, with every mistake told by
 * line, column and, for a misspelt key, the key that was meant. */
#include "labs/lab.h"

#include "core/base/path.h"
#include "labs/action.h"
#include "labs/check.h"
#include "labs/lab_keys.h"
#include "labs/vars.h"

enum { LAB_CEILING = 4 << 20, LAB_FILE_CEILING = 256 << 10, LAB_TEXTS = 24 << 20,
       LAB_ARENA = 64 << 20 };

/* What the parser carries: the file's name for messages, the lab being made,
 * and whether its texts passed the ceiling (aliases can repeat a text without
 * end): then the texts are left out and the lab is refused. */
struct reader {
    const char *path;
    struct lab *lab;
    struct pd_err *err;
    bool full;
};

static const struct lab_key lab_keys[] = {
    {"podium", LK_NUM, true},   {"id", LK_ID, true},        {"title", LK_TEXT, true},
    {"about", LK_MAP, false},   {"requires", LK_SEQ, false}, {"vars", LK_MAP, false},
    {"run", LK_MAP, false},     {"steps", LK_SEQ, true},    {NULL, LK_ANY, false}};
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
static const struct lab_key step_keys[] = {
    {"id", LK_ID, true},      {"title", LK_TEXT, true}, {"say", LK_TEXT, true},
    {"files", LK_SEQ, false}, {"do", LK_SEQ, false},    {"checks", LK_SEQ, false},
    {"hints", LK_SEQ, false}, {"solve", LK_SEQ, false}, {NULL, LK_ANY, false}};
static const struct lab_key file_keys[] = {
    {"name", LK_PATH, true}, {"from", LK_PATH, true}, {"edit", LK_BOOL, false},
    {NULL, LK_ANY, false}};
static const struct lab_key solve_keys[] = {
    {"file", LK_PATH, true}, {"find", LK_STR, true}, {"put", LK_STR, true},
    {NULL, LK_ANY, false}};
static const struct lab_key because_keys[] = {
    {"has", LK_STR, true}, {"tell", LK_TEXT, true}, {NULL, LK_ANY, false}};

static enum pd_code bad(struct reader *r, const struct ynode *n, const char *fmt, ...)
    PRINTF_LIKE(3, 4);
static enum pd_code bad(struct reader *r, const struct ynode *n, const char *fmt, ...)
{
    char text[480];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    return pd_fail_at(r->err, PD_LAB, r->path, n->line, n->col, "%s", text);
}

static struct lplace place(const struct ynode *n)
{
    return (struct lplace){n->key ? n->key_line : n->line, n->key ? n->key_col : n->col};
}

static char *dup_text(struct reader *r, const char *s)
{
    s = s ? s : "";
    r->full |= r->lab->arena.used + strlen(s) > LAB_TEXTS;
    return arena_strdup(&r->lab->arena, r->full ? "" : s);
}

static void *many(struct reader *r, size_t n, size_t size)
{
    return arena_alloc(&r->lab->arena, MAX(n, 1) * size);
}

static struct ltext read_text(struct reader *r, const struct ynode *n)
{
    struct ltext t = {"", ""};
    if (!n)
        return t;
    if (n->kind != Y_MAP) {
        t.en = t.zh = dup_text(r, n->text);
        return t;
    }
    t.en = dup_text(r, yaml_str(n, "en", ""));
    t.zh = yaml_get(n, "zh") ? dup_text(r, yaml_str(n, "zh", "")) : t.en;
    return t;
}

static enum pd_code keys(struct reader *r, const struct ynode *n, const struct lab_key *table,
                         const char *what)
{
    return lab_keys_check(r->path, n, table, what, r->err);
}

/* --- the small maps ------------------------------------------------------- */

static enum pd_code read_about(struct reader *r, const struct ynode *n)
{
    struct lab *lab = r->lab;
    lab->level = lab->hw = "";
    lab->hw = "any";
    if (!n)
        return PD_OK;
    enum pd_code rc = keys(r, n, about_keys, "about");
    if (rc)
        return rc;
    lab->about = read_text(r, yaml_get(n, "text"));
    lab->goal = read_text(r, yaml_get(n, "goal"));
    lab->level = dup_text(r, yaml_str(n, "level", ""));
    lab->hw = dup_text(r, yaml_str(n, "hw", "any"));
    const struct ynode *m = yaml_get(n, "minutes");
    lab->minutes = m && m->number > 0 && m->number < 100000 ? (int)m->number : 0;
    return PD_OK;
}

static enum pd_code read_requires(struct reader *r, const struct ynode *n)
{
    struct lab *lab = r->lab;
    lab->requires = many(r, yaml_count(n), sizeof *lab->requires);
    for (const struct ynode *c = n ? n->first : NULL; c; c = c->next) {
        enum pd_code rc = keys(r, c, require_keys, "requirement");
        if (rc)
            return rc;
        struct lab_require *q = &lab->requires[lab->requires_n++];
        q->resource = dup_text(r, yaml_str(c, "resource", ""));
        q->min = yaml_get(c, "min")->number;
        q->why = read_text(r, yaml_get(c, "why"));
        q->at = place(c);
    }
    return PD_OK;
}

static enum pd_code read_var(struct reader *r, const struct ynode *c, struct lab_var *v)
{
    const struct ynode *one = c, *list = NULL;
    v->name = dup_text(r, c->key);
    v->kind = LAB_VAR_VALUE;
    v->at = place(c);
    if (!vars_name_ok(c->key))
        return bad(r, c, "\"%s\" is no variable's name: use A-Z, 0-9 and \"_\"", c->key);
    if (c->kind == Y_MAP) {
        enum pd_code rc = keys(r, c, var_keys, "variable");
        if (rc)
            return rc;
        if (yaml_count(c) != 1)
            return bad(r, c, "variable \"%s\" needs exactly one of value, pick, from", c->key);
        one = yaml_get(c, "value");
        list = yaml_get(c, "pick");
        v->kind = list ? LAB_VAR_PICK : one ? LAB_VAR_VALUE : LAB_VAR_FROM;
        one = one ? one : yaml_get(c, "from");
    } else if (c->kind == Y_SEQ || c->kind == Y_NULL) {
        return bad(r, c, "variable \"%s\" must be a text or one of {value:} {pick:} {from:}",
                   c->key);
    }
    if (v->kind == LAB_VAR_PICK && !yaml_count(list))
        return bad(r, list, "variable \"%s\" has nothing to pick from", c->key);
    v->values = many(r, list ? yaml_count(list) : 1, sizeof *v->values);
    for (const struct ynode *p = list ? list->first : NULL; p; p = p->next)
        v->values[v->values_n++] = dup_text(r, p->text);
    if (!list)
        v->values[v->values_n++] = dup_text(r, one->text);
    if (v->kind == LAB_VAR_FROM && !vars_source_ok(v->values[0]))
        return bad(r, one, "\"%s\" is no source of a variable: %s", v->values[0], vars_sources());
    return PD_OK;
}

static enum pd_code read_vars(struct reader *r, const struct ynode *n)
{
    struct lab *lab = r->lab;
    lab->vars = many(r, yaml_count(n), sizeof *lab->vars);
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

static enum pd_code read_run(struct reader *r, const struct ynode *n)
{
    r->lab->run_job = r->lab->run_container = "";
    if (!n)
        return PD_OK;
    enum pd_code rc = keys(r, n, run_keys, "run");
    if (rc)
        return rc;
    r->lab->run_job = dup_text(r, yaml_str(n, "job", ""));
    r->lab->run_container = dup_text(r, yaml_str(n, "container", ""));
    return PD_OK;
}

/* --- actions and checks --------------------------------------------------- */

/* Every ${NAME} of a text must be a variable of the lab. */
static enum pd_code vars_known(struct reader *r, const struct ynode *n)
{
    for (const struct ynode *c = n->first; c; c = c->next) {
        enum pd_code rc = vars_known(r, c);
        if (rc)
            return rc;
    }
    char unknown[64];
    if (!n->text || n->kind != Y_STRING || vars_all_known(r->lab, n->text, unknown))
        return PD_OK;
    const char *names[64] = {NULL};
    size_t k = 0;
    for (; k < (size_t)r->lab->vars_n && k < ARRAY_LEN(names); k++)
        names[k] = r->lab->vars[k].name;
    const char *near = str_nearest(unknown, names, k);
    return bad(r, n, "${%s} is no variable of this lab%s%s%s", unknown,
               near ? ": did you mean ${" : "", near ? near : "", near ? "}?" : "");
}

/* A map with one kind key and some common keys: finds the kind key. */
static enum pd_code find_kind(struct reader *r, const struct ynode *n, const char *what,
                              const char *const *names, size_t names_n, const char *const *common,
                              const struct ynode **out)
{
    *out = NULL;
    if (n->kind != Y_MAP)
        return bad(r, n, "a %s must be a map: its kind, then its arguments", what);
    for (const struct ynode *c = n->first; c; c = c->next) {
        bool is_kind = false, is_common = str_starts(c->key, "x-");
        for (size_t i = 0; i < names_n; i++)
            is_kind |= str_eq(names[i], c->key);
        for (size_t i = 0; common[i]; i++)
            is_common |= str_eq(common[i], c->key);
        if (is_common)
            continue;
        if (!is_kind) {
            const char *near = str_nearest(c->key, names, names_n);
            return pd_fail_at(r->err, PD_LAB, r->path, c->key_line, c->key_col,
                              "\"%s\" is no kind of %s%s%s%s", c->key, what,
                              near ? ": did you mean \"" : "", near ? near : "",
                              near ? "\"?" : "");
        }
        if (*out)
            return pd_fail_at(r->err, PD_LAB, r->path, c->key_line, c->key_col,
                              "this %s has two kinds, \"%s\" and \"%s\"", what, (*out)->key,
                              c->key);
        *out = c;
    }
    return *out ? PD_OK : bad(r, n, "this %s has no kind", what);
}

/* Arguments as JSON. What is a text to its kind stays as it was written: "no"
 * is a name here, not a boolean. */
static struct json *arguments(const struct ynode *n, const struct lab_key *table)
{
    struct json *args = yaml_to_json(n);
    for (const struct lab_key *k = table; k->name; k++) {
        const struct ynode *v = yaml_get(n, k->name);
        if (!v)
            continue;
        if (k->type == LK_STR || k->type == LK_PATH || k->type == LK_RES || k->type == LK_ID)
            json_put_str(args, k->name, v->text);
        if (k->type != LK_STRS)
            continue;
        struct json *list = json_new_array();
        for (const struct ynode *w = v->first; w; w = w->next)
            json_append(list, json_new_string(w->text));
        json_set(args, k->name, list);
    }
    return args;
}

static enum pd_code read_action(struct reader *r, const struct ynode *n, struct lab_action *a)
{
    static const char *const common[] = {"title", NULL};
    const char *names[32] = {NULL};
    for (size_t i = 0; i < action_kind_count() && i < ARRAY_LEN(names); i++)
        names[i] = action_kind_at((int)i)->name;
    const struct ynode *k;
    enum pd_code rc = find_kind(r, n, "action", names, action_kind_count(), common, &k);
    if (rc)
        return rc;
    const struct action_kind *kind = action_kind_by_name(k->key, &a->kind);
    a->kind_name = kind->name;
    a->at = place(k);
    const struct ynode *t = yaml_get(n, "title");
    if (t && (rc = lab_keys_type(r->path, t, "title", LK_TEXT, r->err)))
        return rc;
    a->title = read_text(r, t);
    rc = keys(r, k, kind->keys, kind->name);
    rc = rc ? rc : vars_known(r, k);
    if (!rc)
        a->args = arguments(k, kind->keys);
    return rc;
}

static enum pd_code read_because(struct reader *r, const struct ynode *n, struct lab_check *c)
{
    if (!n)
        return PD_OK;
    enum pd_code rc = lab_keys_type(r->path, n, "because", LK_SEQ, r->err);
    if (rc)
        return rc;
    c->because = many(r, yaml_count(n), sizeof *c->because);
    for (const struct ynode *b = n->first; b; b = b->next) {
        rc = keys(r, b, because_keys, "because");
        if (rc)
            return rc;
        struct lab_because *w = &c->because[c->because_n++];
        w->has = dup_text(r, yaml_str(b, "has", ""));
        w->tell = read_text(r, yaml_get(b, "tell"));
    }
    return PD_OK;
}

static enum pd_code read_check(struct reader *r, const struct ynode *n, struct lab_check *c)
{
    static const char *const common[] = {"title", "because", NULL};
    const char *names[32] = {NULL};
    for (size_t i = 0; i < check_kind_count() && i < ARRAY_LEN(names); i++)
        names[i] = check_kind_at((int)i)->name;
    const struct ynode *k;
    enum pd_code rc = find_kind(r, n, "check", names, check_kind_count(), common, &k);
    if (rc)
        return rc;
    const struct check_kind *kind = check_kind_by_name(k->key, &c->kind);
    c->kind_name = kind->name;
    c->at = place(k);
    const struct ynode *t = yaml_get(n, "title");
    if (!t)
        return bad(r, n, "this check has no \"title\"");
    if ((rc = lab_keys_type(r->path, t, "title", LK_TEXT, r->err)))
        return rc;
    c->title = read_text(r, t);
    rc = read_because(r, yaml_get(n, "because"), c);
    rc = rc ? rc : keys(r, k, kind->keys, kind->name);
    rc = rc ? rc : vars_known(r, k);
    if (!rc)
        c->args = arguments(k, kind->keys);
    return rc;
}

/* --- steps ---------------------------------------------------------------- */

static enum pd_code read_template(struct reader *r, const struct ynode *c, struct lab_file *f)
{
    if (!r->lab->dir)
        return PD_OK;
    char *p = path_join(r->lab->dir, f->from);
    struct str text;
    struct pd_err e;
    str_init(&text, LAB_FILE_CEILING);
    enum pd_code rc = path_read(p, LAB_FILE_CEILING, &text, &e);
    free(p);
    if (rc) {
        str_release(&text);
        return bad(r, yaml_get(c, "from"), "the file \"%s\" can't be read: %s", f->from, e.msg);
    }
    f->text = dup_text(r, text.p);
    f->len = strlen(f->text);
    str_release(&text);
    return PD_OK;
}

static enum pd_code read_files(struct reader *r, const struct ynode *n, struct lab_step *s)
{
    s->files = many(r, yaml_count(n), sizeof *s->files);
    for (const struct ynode *c = n ? n->first : NULL; c; c = c->next) {
        enum pd_code rc = keys(r, c, file_keys, "file");
        if (rc)
            return rc;
        struct lab_file *f = &s->files[s->files_n++];
        f->name = dup_text(r, yaml_str(c, "name", ""));
        f->from = dup_text(r, yaml_str(c, "from", ""));
        f->text = dup_text(r, "");
        const struct ynode *e = yaml_get(c, "edit");
        f->edit = e && e->number != 0;
        f->at = place(c);
        if ((rc = read_template(r, c, f)))
            return rc;
    }
    return PD_OK;
}

static enum pd_code read_solves(struct reader *r, const struct ynode *n, struct lab_step *s)
{
    s->solves = many(r, yaml_count(n), sizeof *s->solves);
    for (const struct ynode *c = n ? n->first : NULL; c; c = c->next) {
        enum pd_code rc = keys(r, c, solve_keys, "solve");
        rc = rc ? rc : vars_known(r, c);
        if (rc)
            return rc;
        struct lab_solve *v = &s->solves[s->solves_n++];
        v->file = dup_text(r, yaml_str(c, "file", ""));
        v->find = dup_text(r, yaml_str(c, "find", ""));
        v->put = dup_text(r, yaml_str(c, "put", ""));
        v->at = place(c);
        bool found = false;
        for (int i = 0; i < s->files_n; i++)
            found |= str_eq(s->files[i].name, v->file) &&
                     (!r->lab->dir || strstr(s->files[i].text, v->find));
        if (!found)
            return bad(r, c, "\"%s\" is no file of this step with \"%s\" in it", v->file, v->find);
    }
    return PD_OK;
}

static enum pd_code read_lists(struct reader *r, const struct ynode *n, struct lab_step *s)
{
    const struct ynode *acts = yaml_get(n, "do"), *checks = yaml_get(n, "checks");
    const struct ynode *hints = yaml_get(n, "hints");
    enum pd_code rc = PD_OK;
    s->actions = many(r, yaml_count(acts), sizeof *s->actions);
    for (const struct ynode *c = acts ? acts->first : NULL; c && !rc; c = c->next)
        rc = read_action(r, c, &s->actions[s->actions_n++]);
    s->checks = many(r, yaml_count(checks), sizeof *s->checks);
    for (const struct ynode *c = checks ? checks->first : NULL; c && !rc; c = c->next)
        rc = read_check(r, c, &s->checks[s->checks_n++]);
    s->hints = many(r, yaml_count(hints), sizeof *s->hints);
    for (const struct ynode *c = hints ? hints->first : NULL; c && !rc; c = c->next) {
        rc = lab_keys_type(r->path, c, "hint", LK_TEXT, r->err);
        if (!rc)
            s->hints[s->hints_n++] = read_text(r, c);
    }
    return rc;
}

static enum pd_code read_step(struct reader *r, const struct ynode *n)
{
    struct lab *lab = r->lab;
    enum pd_code rc = keys(r, n, step_keys, "step");
    if (rc)
        return rc;
    const char *id = yaml_str(n, "id", "");
    if (lab_step_by_id(lab, id, NULL))
        return bad(r, yaml_get(n, "id"), "two steps have the id \"%s\"", id);
    struct lab_step *s = &lab->steps[lab->steps_n++];
    s->id = dup_text(r, id);
    s->title = read_text(r, yaml_get(n, "title"));
    s->say = read_text(r, yaml_get(n, "say"));
    s->at = place(n);
    rc = read_files(r, yaml_get(n, "files"), s);
    rc = rc ? rc : read_lists(r, n, s);
    return rc ? rc : read_solves(r, yaml_get(n, "solve"), s);
}

static enum pd_code read_steps(struct reader *r, const struct ynode *n)
{
    if (!yaml_count(n))
        return bad(r, n, "a lab needs at least one step");
    if (yaml_count(n) > 200)
        return bad(r, n, "a lab has at most 200 steps");
    r->lab->steps = many(r, yaml_count(n), sizeof *r->lab->steps);
    for (const struct ynode *c = n->first; c; c = c->next) {
        enum pd_code rc = read_step(r, c);
        if (rc)
            return rc;
    }
    return PD_OK;
}

static enum pd_code read_root(struct reader *r, const struct ynode *root)
{
    enum pd_code rc = keys(r, root, lab_keys, "lab");
    if (rc)
        return rc;
    const struct ynode *version = yaml_get(root, "podium");
    if (version->number != 1)
        return bad(r, version, "this podium reads version 1 of the lab format, not %s",
                   version->text);
    r->lab->id = dup_text(r, yaml_str(root, "id", ""));
    r->lab->title = read_text(r, yaml_get(root, "title"));
    rc = read_about(r, yaml_get(root, "about"));
    rc = rc ? rc : read_requires(r, yaml_get(root, "requires"));
    rc = rc ? rc : read_vars(r, yaml_get(root, "vars"));
    rc = rc ? rc : read_run(r, yaml_get(root, "run"));
    return rc ? rc : read_steps(r, yaml_get(root, "steps"));
}

enum pd_code lab_parse(const char *path, const char *text, size_t len, const char *dir,
                       struct lab **out, struct pd_err *err)
{
    struct ydoc *doc = NULL;
    enum pd_code rc = yaml_parse(path, text, len, &doc, err);
    if (rc) {
        err->code = rc == PD_PARSE ? PD_LAB : rc;
        return err->code;
    }
    if (!doc || !doc->root || doc->next) {
        yaml_docs_free(doc);
        return pd_fail_at(err, PD_LAB, path, 1, 1, "a lab is exactly one YAML document");
    }
    struct lab *lab = xcalloc(1, sizeof *lab);
    arena_init(&lab->arena, LAB_ARENA);
    struct reader r = {path, lab, err, false};
    lab->path = dup_text(&r, path);
    lab->dir = dir ? dup_text(&r, dir) : NULL;
    rc = read_root(&r, doc->root);
    yaml_docs_free(doc);
    if (!rc && r.full)
        rc = pd_fail_at(err, PD_LAB, path, 1, 1, "the texts of this lab are larger than 24 MiB");
    if (rc) {
        lab_free(lab);
        return rc;
    }
    *out = lab;
    return PD_OK;
}

enum pd_code lab_read(const char *path, struct lab **out, struct pd_err *err)
{
    struct str text;
    str_init(&text, LAB_CEILING);
    enum pd_code rc = path_read(path, LAB_CEILING, &text, err);
    if (!rc) {
        char *dir = path_dir(path);
        rc = lab_parse(path, text.p, text.len, dir, out, err);
        free(dir);
    }
    str_release(&text);
    return rc;
}

void lab_free(struct lab *lab)
{
    if (!lab)
        return;
    for (int i = 0; i < lab->steps_n; i++) {
        struct lab_step *s = &lab->steps[i];
        for (int k = 0; k < s->actions_n; k++)
            json_free(s->actions[k].args);
        for (int k = 0; k < s->checks_n; k++)
            json_free(s->checks[k].args);
    }
    arena_release(&lab->arena);
    free(lab);
}

const struct lab_step *lab_step_by_id(const struct lab *lab, const char *id, int *index)
{
    for (int i = 0; i < lab->steps_n; i++)
        if (str_eq(lab->steps[i].id, id)) {
            if (index)
                *index = i;
            return &lab->steps[i];
        }
    return NULL;
}

char *lab_work_dir(const struct lab *lab)
{
    char rel[64];
    str_fmt(rel, sizeof rel, "work/%s", lab->id);
    return path_home(PATH_DATA, rel);
}
