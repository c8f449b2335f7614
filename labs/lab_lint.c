/* lab_lint.c - the rules of `podium lab lint`. */
#include "labs/lab_lint.h"

#include <sys/stat.h>

#include "core/base/i18n.h"
#include "core/base/path.h"
#include "core/base/str.h"
#include "labs/vars.h"

enum { LINT_SOLVE_LEAST = 4, LINT_TEXTS = 32 << 20 };

struct lint {
    const struct lab *lab;
    const struct ynode *root;
    lab_finding_fn *fn;
    void *arg;
    int errors;
    bool chinese;                 /* some text of the lab has it */
};

static void found(struct lint *l, const char *rule, bool advice, int line, int col,
                  const char *fmt, ...) PRINTF_LIKE(6, 7);
static void found(struct lint *l, const char *rule, bool advice, int line, int col,
                  const char *fmt, ...)
{
    struct lab_finding f = {.rule = rule, .advice = advice, .line = line, .col = col};
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(f.text, sizeof f.text, fmt, ap);
    va_end(ap);
    l->errors += !advice;
    l->fn(l->arg, &f);
}

/* --- languages ------------------------------------------------------------------ */

const char *lab_lint_hash(const char *english, char buf[16])
{
    return str_fmt(buf, 16, "%08x", (unsigned)(vars_hash(0, english) & 0xFFFFFFFFu));
}

/* A map of languages, and nothing else. */
static bool is_text_map(const struct ynode *n)
{
    if (n->kind != Y_MAP || !yaml_get(n, "en"))
        return false;
    for (const struct ynode *c = n->first; c; c = c->next)
        if (!str_eq(c->key, "en") && !str_eq(c->key, "zh") && !str_starts(c->key, "x-"))
            return false;
    return true;
}

static bool has_chinese(const struct ynode *n)
{
    if (is_text_map(n) && yaml_get(n, "zh"))
        return true;
    for (const struct ynode *c = n->first; c; c = c->next)
        if (has_chinese(c))
            return true;
    return false;
}

/* Keys that hold texts; a plain one of several words is in one language only. */
static bool is_prose(const struct ynode *n)
{
    static const char *const keys[] = {"title", "say",  "goal",  "why",     "tell",
                                       "ask",   "notes", "solution"};
    if (n->kind != Y_STRING || !n->key || !strchr(n->text, ' '))
        return false;
    for (size_t i = 0; i < ARRAY_LEN(keys); i++)
        if (str_eq(n->key, keys[i]))
            return true;
    return false;
}

static void translations(struct lint *l, const struct ynode *n)
{
    char hash[16];
    if (is_prose(n))
        found(l, "translation", false, n->line, n->col, _("\"%s\" has no Chinese"), n->key);
    if (is_text_map(n)) {
        const struct ynode *en = yaml_get(n, "en"), *zh = yaml_get(n, "zh");
        const struct ynode *from = yaml_get(n, "x-en");
        if (!zh)
            found(l, "translation", false, en->line, en->col, _("\"%s\" has no Chinese"),
                  n->key ? n->key : "en");
        else if (from && en->text && !str_eq(from->text, lab_lint_hash(en->text, hash)))
            found(l, "stale", false, zh->line, zh->col,
                  _("the English has changed since it was translated: look at it, then write "
                    "x-en: \"%s\""),
                  hash);
        return;
    }
    for (const struct ynode *c = n->first; c; c = c->next)
        if (!(c->key && str_starts(c->key, "x-")))
            translations(l, c);
}

/* --- variables ---------------------------------------------------------------------- */

static void gather(const struct ynode *n, struct str *out)
{
    if (n->text) {
        str_add(out, n->text);
        str_addc(out, '\n');
    }
    for (const struct ynode *c = n->first; c; c = c->next)
        gather(c, out);
}

static void unused_vars(struct lint *l)
{
    struct str all;
    str_init(&all, LINT_TEXTS);
    gather(l->root, &all);
    for (int i = 0; i < l->lab->scene_n; i++)
        str_add(&all, l->lab->scene[i].text);
    for (int i = 0; i < l->lab->steps_n; i++)
        for (int k = 0; k < l->lab->steps[i].files_n; k++)
            str_add(&all, l->lab->steps[i].files[k].text);
    for (int i = 0; i < l->lab->vars_n; i++) {
        char use[64];
        const struct lab_var *v = &l->lab->vars[i];
        if (!strstr(all.p, str_fmt(use, sizeof use, "${%s}", v->name)))
            found(l, "unused-var", false, v->at.line, v->at.col, _("nothing uses ${%s}"), v->name);
    }
    str_release(&all);
}

/* --- steps -------------------------------------------------------------------------- */

static void hints(struct lint *l, int step)
{
    const struct lab_step *st = &l->lab->steps[step];
    for (int i = 0; i + 1 < st->hints_n; i++)
        for (int k = 0; k < st->solves_n; k++) {
            const char *put = st->solves[k].put;
            char path[64];
            if (strlen(put) < LINT_SOLVE_LEAST ||
                (!strstr(st->hints[i].en, put) && !strstr(st->hints[i].zh, put)))
                continue;
            const struct ynode *n =
                yaml_at(l->root, str_fmt(path, sizeof path, "steps[%d].hints[%d]", step, i));
            found(l, "hint-solves", false, n ? n->line : st->at.line, n ? n->col : st->at.col,
                  _("hint %d of %d gives \"%s\" away; only the last one may"), i + 1, st->hints_n,
                  put);
            break;
        }
    if (!st->hints_n && st->checks_n)
        found(l, "no-hints", true, st->at.line, st->at.col, _("step \"%s\" has no hint"), st->id);
}

/* Kinds that say WRONG to what a person wrote. */
static bool can_be_wrong(const struct lab_check *c)
{
    bool counted = str_eq(c->kind_name, "count") && json_has(c->args, "file");
    if (counted || str_eq(c->kind_name, "file"))
        return true;
    const struct json *expect = str_eq(c->kind_name, "object") ? json_get(c->args, "expect") : NULL;
    for (const struct json *e = json_first(expect); e; e = json_next(e))
        if (!str_starts(json_key(e), "status."))
            return true;
    return false;
}

static void explanations(struct lint *l, const struct lab_step *st)
{
    for (int i = 0; i < st->checks_n; i++)
        if (!st->checks[i].because_n && can_be_wrong(&st->checks[i]))
            found(l, "because", true, st->checks[i].at.line, st->checks[i].at.col,
                  _("a wrong answer to \"%s\" is not explained"),
                  ltext_get(&st->checks[i].title));
    for (int i = 0; i < st->quiz_n; i++) {
        const struct lab_quiz *q = &st->quiz[i];
        bool told = q->because_n > 0 || q->kind != LAB_QUIZ_CHOICE;
        for (int k = 0; k < q->choices_n && !told; k++)
            told = !q->choices[k].right && *q->choices[k].because.en;
        if (!told)
            found(l, "because", true, q->at.line, q->at.col,
                  _("no wrong choice of \"%s\" is explained"), q->id);
    }
}

static void requirements(struct lint *l, const struct lab_require *list, int n)
{
    for (int i = 0; i < n; i++)
        if (!list[i].otherwise_given)
            found(l, "else", false, list[i].at.line, list[i].at.col,
                  _("say what happens without %s: else: skip, simulate or reading"),
                  list[i].resource);
}

int lab_lint_rules(const struct lab *lab, const struct ynode *root, lab_finding_fn *fn, void *arg)
{
    struct lint l = {.lab = lab, .root = root, .fn = fn, .arg = arg,
                     .chinese = has_chinese(root)};
    requirements(&l, lab->requires, lab->requires_n);
    for (int i = 0; i < lab->steps_n; i++) {
        requirements(&l, lab->steps[i].requires, lab->steps[i].requires_n);
        hints(&l, i);
        explanations(&l, &lab->steps[i]);
    }
    if (l.chinese)
        translations(&l, root);
    unused_vars(&l);
    return l.errors;
}

/* --- writing it out -------------------------------------------------------------------- */

struct writer {
    const char *path;
    bool json;
};

static void write_one(void *arg, const struct lab_finding *f)
{
    const struct writer *w = arg;
    if (!w->json) {
        printf("%s:%d:%d: %s%s: %s\n", w->path, f->line, f->col, f->advice ? _("advice: ") : "",
               f->rule, f->text);
        return;
    }
    struct json *j = json_new_object();
    json_put_str(j, "file", w->path);
    json_put_num(j, "line", f->line);
    json_put_num(j, "column", f->col);
    json_put_str(j, "level", f->advice ? "advice" : "error");
    json_put_str(j, "rule", f->rule);
    json_put_str(j, "text", f->text);
    char *line = json_text(j, 0);
    printf("%s\n", line);
    free(line);
    json_free(j);
}

static void write_error(struct writer *w, const struct pd_err *err)
{
    char text[1200];
    struct lab_finding f = {.rule = "format", .line = err->line, .col = err->col};
    if (!w->json) {
        fprintf(stderr, "%s\n", pd_describe(err, text, sizeof text));
        return;
    }
    str_copy(f.text, sizeof f.text, err->msg);
    w->path = *err->src ? err->src : w->path;
    write_one(w, &f);
}

int lab_lint(const char *path, bool json)
{
    struct stat sb;
    struct lab *lab = NULL;
    struct ydoc *doc = NULL;
    struct pd_err err;
    char *file = stat(path, &sb) == 0 && S_ISDIR(sb.st_mode) ? path_join(path, "lab.yaml")
                                                             : xstrdup(path);
    struct writer w = {file, json};
    int errors = 1;
    if (lab_read(file, &lab, &err) || yaml_read_file(file, &doc, &err)) {
        write_error(&w, &err);
    } else {
        errors = lab_lint_rules(lab, doc->root, write_one, &w);
        if (!errors && !json)
            printf("%s: %s, %d steps\n", file, lab->id, lab->steps_n);
    }
    yaml_docs_free(doc);
    lab_free(lab);
    free(file);
    return errors ? 1 : 0;
}
