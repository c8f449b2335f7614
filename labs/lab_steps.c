/* lab_steps.c - the lab parser: steps, their actions, checks and files. */
#include "core/base/path.h"
#include "core/base/i18n.h"
#include "core/base/str.h"
#include "labs/action.h"
#include "labs/check.h"
#include "labs/lab_reader.h"
#include "labs/vars.h"

static const struct lab_key step_keys[] = {
    {"id", LK_ID, true},         {"title", LK_TEXT, true},  {"say", LK_TEXT, true},
    {"files", LK_SEQ, false},    {"do", LK_SEQ, false},     {"checks", LK_SEQ, false},
    {"hints", LK_SEQ, false},    {"solve", LK_SEQ, false},  {"requires", LK_SEQ, false},
    {"setup", LK_SEQ, false},    {"faults", LK_SEQ, false}, {"quiz", LK_SEQ, false},
    {"notes", LK_TEXT, false},   {"wrong", LK_SEQ, false},  {"solution", LK_TEXT, false},
    {NULL, LK_ANY, false}};
static const struct lab_key file_keys[] = {
    {"name", LK_PATH, true}, {"from", LK_PATH, true}, {"edit", LK_BOOL, false},
    {NULL, LK_ANY, false}};
static const struct lab_key solve_keys[] = {
    {"file", LK_PATH, true}, {"find", LK_STR, true}, {"put", LK_STR, true},
    {NULL, LK_ANY, false}};
static const struct lab_key because_keys[] = {
    {"has", LK_STR, true}, {"tell", LK_TEXT, true}, {NULL, LK_ANY, false}};

/* --- actions and checks --------------------------------------------------- */

/* Every ${NAME} of a text must be a variable of the lab. */
enum pd_code lab_reader_vars_known(struct lab_reader *r, const struct ynode *n)
{
    for (const struct ynode *c = n->first; c; c = c->next) {
        enum pd_code rc = lab_reader_vars_known(r, c);
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
    return lab_reader_bad(r, n, _("${%s} is no variable of this lab%s%s%s"), unknown,
               near ? _(": did you mean ${") : "", near ? near : "", near ? "}?" : "");
}

/* A map with one kind key and some common keys: finds the kind key. */
static enum pd_code find_kind(struct lab_reader *r, const struct ynode *n, const char *what,
                              const char *const *names, size_t names_n, const char *const *common,
                              const struct ynode **out)
{
    *out = NULL;
    if (n->kind != Y_MAP)
        return lab_reader_bad(r, n, _("a %s must be a map: its kind, then its arguments"), what);
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
                              _("\"%s\" is no kind of %s%s%s%s"), c->key, what,
                              near ? _(": did you mean \"") : "", near ? near : "",
                              near ? "\"?" : "");
        }
        if (*out)
            return pd_fail_at(r->err, PD_LAB, r->path, c->key_line, c->key_col,
                              _("this %s has two kinds, \"%s\" and \"%s\""), what, (*out)->key,
                              c->key);
        *out = c;
    }
    return *out ? PD_OK : lab_reader_bad(r, n, _("this %s has no kind"), what);
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

static enum pd_code read_action(struct lab_reader *r, const struct ynode *n, struct lab_action *a)
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
    a->at = lab_reader_place(k);
    const struct ynode *t = yaml_get(n, "title");
    if (t && (rc = lab_keys_type(r->path, t, "title", LK_TEXT, r->err)))
        return rc;
    a->title = lab_reader_text(r, t);
    rc = lab_reader_keys(r, k, kind->keys, kind->name);
    rc = rc ? rc : lab_reader_vars_known(r, k);
    if (!rc)
        a->args = arguments(k, kind->keys);
    return rc;
}

enum pd_code lab_reader_actions(struct lab_reader *r, const struct ynode *n,
                                struct lab_action **list, int *count, bool scene)
{
    enum pd_code rc = PD_OK;
    *list = lab_reader_many(r, yaml_count(n), sizeof **list);
    for (const struct ynode *c = n ? n->first : NULL; c && !rc; c = c->next) {
        struct lab_action *a = &(*list)[(*count)++];
        rc = read_action(r, c, a);
        if (!rc && scene && str_eq(a->kind_name, "apply"))
            rc = lab_reader_scene_file(r, yaml_get(yaml_get(c, "apply"), "file"));
    }
    return rc;
}

enum pd_code lab_reader_because(struct lab_reader *r, const struct ynode *n,
                                struct lab_because **list, int *count)
{
    if (!n)
        return PD_OK;
    enum pd_code rc = lab_keys_type(r->path, n, "because", LK_SEQ, r->err);
    if (rc)
        return rc;
    *list = lab_reader_many(r, yaml_count(n), sizeof **list);
    for (const struct ynode *b = n->first; b; b = b->next) {
        rc = lab_reader_keys(r, b, because_keys, "because");
        if (rc)
            return rc;
        struct lab_because *w = &(*list)[(*count)++];
        w->has = lab_reader_dup(r, yaml_str(b, "has", ""));
        w->tell = lab_reader_text(r, yaml_get(b, "tell"));
    }
    return PD_OK;
}

/* "10s", "2m", or a number of seconds. */
static enum pd_code read_stable(struct lab_reader *r, const struct ynode *n, int64_t *ms)
{
    double x = 0;
    size_t len = n && n->text ? strlen(n->text) : 0;
    char unit = len ? n->text[len - 1] : 's';
    if (!n)
        return PD_OK;
    char *number = xstrndup(n->text, len - (len > 0 && (unit == 's' || unit == 'm')));
    bool ok = len && str_to_f64(number, &x) && x > 0 && x * (unit == 'm' ? 60 : 1) <= 3600;
    free(number);
    if (!ok)
        return lab_reader_bad(r, n, _("\"stable\" must be a time up to an hour: 10s, 2m"));
    *ms = (int64_t)(x * (unit == 'm' ? 60000 : 1000));
    return PD_OK;
}

static enum pd_code read_check(struct lab_reader *r, const struct ynode *n, struct lab_check *c)
{
    static const char *const common[] = {"title", "because", "stable", "unseen", NULL};
    const char *names[32] = {NULL};
    for (size_t i = 0; i < check_kind_count() && i < ARRAY_LEN(names); i++)
        names[i] = check_kind_at((int)i)->name;
    const struct ynode *k;
    enum pd_code rc = find_kind(r, n, "check", names, check_kind_count(), common, &k);
    if (rc)
        return rc;
    const struct check_kind *kind = check_kind_by_name(k->key, &c->kind);
    c->kind_name = kind->name;
    c->at = lab_reader_place(k);
    const struct ynode *t = yaml_get(n, "title");
    if (!t)
        return lab_reader_bad(r, n, _("this check has no \"title\""));
    if ((rc = lab_keys_type(r->path, t, "title", LK_TEXT, r->err)))
        return rc;
    c->title = lab_reader_text(r, t);
    const struct ynode *unseen = yaml_get(n, "unseen");
    if (unseen && (rc = lab_keys_type(r->path, unseen, "unseen", LK_TEXT, r->err)))
        return rc;
    if (unseen)
        c->unseen = lab_reader_text(r, unseen);
    rc = lab_reader_because(r, yaml_get(n, "because"), &c->because, &c->because_n);
    rc = rc ? rc : read_stable(r, yaml_get(n, "stable"), &c->stable_ms);
    rc = rc ? rc : lab_reader_keys(r, k, kind->keys, kind->name);
    rc = rc ? rc : lab_reader_vars_known(r, k);
    if (!rc)
        c->args = arguments(k, kind->keys);
    return rc;
}

/* --- steps ---------------------------------------------------------------- */

enum pd_code lab_reader_file(struct lab_reader *r, const struct ynode *n, const char *name,
                             char **text)
{
    struct str s;
    struct pd_err e;
    *text = NULL;
    if (!r->lab->dir)
        return PD_OK;
    char *p = path_join(r->lab->dir, name);
    str_init(&s, LAB_FILE_CEILING);
    enum pd_code rc = path_read(p, LAB_FILE_CEILING, &s, &e);
    if (!rc)
        *text = lab_reader_dup(r, s.p);
    else
        rc = lab_reader_bad(r, n, _("the file \"%s\" can't be read: %s"), name, e.msg);
    free(p);
    str_release(&s);
    return rc;
}

static enum pd_code read_files(struct lab_reader *r, const struct ynode *n, struct lab_step *s)
{
    s->files = lab_reader_many(r, yaml_count(n), sizeof *s->files);
    for (const struct ynode *c = n ? n->first : NULL; c; c = c->next) {
        enum pd_code rc = lab_reader_keys(r, c, file_keys, "file");
        if (rc)
            return rc;
        struct lab_file *f = &s->files[s->files_n++];
        f->name = lab_reader_dup(r, yaml_str(c, "name", ""));
        f->from = lab_reader_dup(r, yaml_str(c, "from", ""));
        f->text = lab_reader_dup(r, "");
        const struct ynode *e = yaml_get(c, "edit");
        f->edit = e && e->number != 0;
        f->at = lab_reader_place(c);
        char *text;
        if ((rc = lab_reader_file(r, yaml_get(c, "from"), f->from, &text)))
            return rc;
        f->text = text ? text : f->text;
        f->len = strlen(f->text);
    }
    return PD_OK;
}

static enum pd_code read_solves(struct lab_reader *r, const struct ynode *n, struct lab_step *s)
{
    s->solves = lab_reader_many(r, yaml_count(n), sizeof *s->solves);
    for (const struct ynode *c = n ? n->first : NULL; c; c = c->next) {
        enum pd_code rc = lab_reader_keys(r, c, solve_keys, "solve");
        rc = rc ? rc : lab_reader_vars_known(r, c);
        if (rc)
            return rc;
        struct lab_solve *v = &s->solves[s->solves_n++];
        v->file = lab_reader_dup(r, yaml_str(c, "file", ""));
        v->find = lab_reader_dup(r, yaml_str(c, "find", ""));
        v->put = lab_reader_dup(r, yaml_str(c, "put", ""));
        v->at = lab_reader_place(c);
        bool found = false;
        for (int i = 0; i < s->files_n; i++)
            found |= str_eq(s->files[i].name, v->file) &&
                     (!r->lab->dir || strstr(s->files[i].text, v->find));
        if (!found)
            return lab_reader_bad(r, c, _("\"%s\" is no file of this step with \"%s\" in it"),
                                  v->file, v->find);
    }
    return PD_OK;
}

static enum pd_code read_lists(struct lab_reader *r, const struct ynode *n, struct lab_step *s)
{
    const struct ynode *acts = yaml_get(n, "do"), *checks = yaml_get(n, "checks");
    const struct ynode *hints = yaml_get(n, "hints");
    enum pd_code rc = PD_OK;
    rc = lab_reader_actions(r, acts, &s->actions, &s->actions_n, false);
    s->checks = lab_reader_many(r, yaml_count(checks), sizeof *s->checks);
    s->hints = lab_reader_many(r, yaml_count(hints), sizeof *s->hints);
    for (const struct ynode *c = checks ? checks->first : NULL; c && !rc; c = c->next)
        rc = read_check(r, c, &s->checks[s->checks_n++]);
    for (const struct ynode *c = hints ? hints->first : NULL; c && !rc; c = c->next) {
        rc = lab_keys_type(r->path, c, "hint", LK_TEXT, r->err);
        rc = rc ? rc : lab_reader_vars_known(r, c);
        if (!rc)
            s->hints[s->hints_n++] = lab_reader_text(r, c);
    }
    return rc;
}

static enum pd_code read_step(struct lab_reader *r, const struct ynode *n)
{
    static const char *const texts[] = {"say", "notes", "solution"};
    struct lab *lab = r->lab;
    enum pd_code rc = lab_reader_keys(r, n, step_keys, "step");
    if (rc)
        return rc;
    const char *id = yaml_str(n, "id", "");
    if (lab_step_by_id(lab, id, NULL))
        return lab_reader_bad(r, yaml_get(n, "id"), _("two steps have the id \"%s\""), id);
    struct lab_step *s = &lab->steps[lab->steps_n++];
    s->id = lab_reader_dup(r, id);
    s->title = lab_reader_text(r, yaml_get(n, "title"));
    s->say = lab_reader_text(r, yaml_get(n, "say"));
    s->at = lab_reader_place(n);
    s->notes = lab_reader_text(r, yaml_get(n, "notes"));
    s->solution = lab_reader_text(r, yaml_get(n, "solution"));
    for (size_t i = 0; i < ARRAY_LEN(texts) && !rc; i++)
        rc = yaml_get(n, texts[i]) ? lab_reader_vars_known(r, yaml_get(n, texts[i])) : PD_OK;
    rc = rc ? rc : read_files(r, yaml_get(n, "files"), s);
    rc = rc ? rc : read_lists(r, n, s);
    rc = rc ? rc : lab_reader_requires(r, yaml_get(n, "requires"), &s->requires, &s->requires_n);
    rc = rc ? rc : lab_reader_step_scene(r, n, s);
    rc = rc ? rc : lab_reader_quiz(r, yaml_get(n, "quiz"), s);
    rc = rc ? rc : read_solves(r, yaml_get(n, "solve"), s);
    return rc ? rc : lab_reader_wrong(r, yaml_get(n, "wrong"), s);
}

enum pd_code lab_reader_steps(struct lab_reader *r, const struct ynode *n)
{
    if (!yaml_count(n))
        return lab_reader_bad(r, n, _("a lab needs at least one step"));
    if (yaml_count(n) > 200)
        return lab_reader_bad(r, n, _("a lab has at most 200 steps"));
    r->lab->steps = lab_reader_many(r, yaml_count(n), sizeof *r->lab->steps);
    for (const struct ynode *c = n->first; c; c = c->next) {
        enum pd_code rc = read_step(r, c);
        if (rc)
            return rc;
    }
    return PD_OK;
}
