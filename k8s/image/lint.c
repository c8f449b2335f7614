/* lint.c - the walk through the rules, and the list of findings. */
#include "k8s/image/lint.h"

#include "core/base/i18n.h"
#include "core/base/mem.h"
#include "core/base/utf8.h"
#include "k8s/image/builder_priv.h"
#include "k8s/image/lint_priv.h"

static const struct lint_rule *rule_by_name(const char *name)
{
    const struct lint_rule *r;
    for (size_t i = 0; (r = lint_rule_at(i)); i++)
        if (str_eq(r->name, name))
            return r;
    PD_BUG("rule %s is in no table", name);
}

const char *lint_level_name(enum lint_level level)
{
    static const char *const names[] = {"error", "warning", "note"};
    return names[level];
}

static bool switched_off(const struct lint_work *w, const struct lint_rule *r)
{
    for (size_t i = 0; i < w->skip.n; i++)
        if (strcasecmp(w->skip.v[i], "all") == 0 || strcasecmp(w->skip.v[i], r->name) == 0 ||
            (*r->buildkit && strcasecmp(w->skip.v[i], r->buildkit) == 0))
            return true;
    return false;
}

const char *lint_line(const struct lint_work *w, int line, size_t *n)
{
    const char *p = w->in->text, *end = p + w->in->len;
    for (int i = 1; i < line && p; i++) {
        p = memchr(p, '\n', (size_t)(end - p));
        p = p ? p + 1 : NULL;
    }
    if (!p || line < 1) {
        *n = 0;
        return "";
    }
    const char *nl = memchr(p, '\n', (size_t)(end - p));
    *n = (size_t)((nl ? nl : end) - p);
    return p;
}

struct lint_finding *lint_add(struct lint_work *w, const char *rule, enum lint_level level,
                              struct place p, const char *fmt, ...)
{
    const struct lint_rule *r = rule_by_name(rule);
    struct str cause, evidence;
    size_t n;
    va_list ap;
    if (switched_off(w, r))
        return NULL;
    for (size_t i = 0; i < w->out->n; i++)        /* one finding of a rule at a place */
        if (w->out->v[i].rule == r->name && w->out->v[i].line == p.line &&
            w->out->v[i].col == p.col)
            return NULL;
    str_init(&cause, 2000);
    va_start(ap, fmt);
    str_vprintf(&cause, fmt, ap);
    va_end(ap);
    str_init(&evidence, 2000);
    const char *line = lint_line(w, p.line, &n);
    str_printf(&evidence, _("line %d: "), p.line);
    utf8_clean(line, MIN(n, (size_t)300), false, &evidence);
    w->out->v = xrealloc_array(w->out->v, w->out->n + 1, sizeof *w->out->v);
    struct lint_finding *f = &w->out->v[w->out->n++];
    *f = (struct lint_finding){.rule = r->name, .buildkit = r->buildkit, .level = level,
                               .file = xstrdup(w->in->name), .line = p.line, .col = p.col,
                               .next = xstrdup("")};
    f->cause = str_take(&cause);
    f->evidence = str_take(&evidence);
    return f;
}

static void set_text(char **field, const char *fmt, va_list ap)
{
    struct str s;
    str_init(&s, 2000);
    str_vprintf(&s, fmt, ap);
    free(*field);
    *field = str_take(&s);
    str_release(&s);
}

void lint_next(struct lint_finding *f, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    if (f)
        set_text(&f->next, fmt, ap);
    va_end(ap);
}

void lint_evidence(struct lint_finding *f, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    if (f)
        set_text(&f->evidence, fmt, ap);
    va_end(ap);
}

struct place lint_at_word(const struct df_word *w)
{
    return (struct place){w->line, w->col};
}

struct place lint_at(const struct df_instr *in)
{
    return (struct place){in->line, in->col};
}

struct place lint_find(const struct lint_work *w, const struct df_instr *in, const char *text)
{
    size_t n, len = strlen(text);
    int last = in->line + 400;
    for (size_t i = 0; i < w->df->n; i++)
        if (w->df->v[i].line > in->line && w->df->v[i].line <= last)
            last = w->df->v[i].line - 1;
    for (int line = in->line; line <= last && len > 0; line++) {
        const char *p = lint_line(w, line, &n);
        for (size_t i = 0; n >= len && i + len <= n; i++) {
            if (memcmp(p + i, text, len) != 0)
                continue;
            struct place at = {line, 1};
            for (size_t k = 0; k < i; k++)
                at.col += ((unsigned char)p[k] & 0xc0) != 0x80;
            return at;
        }
    }
    return lint_at(in);
}

struct stage_facts *lint_stage(const struct lint_work *w, size_t i)
{
    int at = w->planned ? dockerfile_plan_at(&w->plan, i) : -1;
    return at < 0 ? NULL : &w->stages[at];
}

bool lint_last_in_stage(const struct lint_work *w, size_t i)
{
    for (size_t k = i + 1; k < w->df->n && w->df->v[k].op != DF_FROM; k++)
        if (w->df->v[k].op == w->df->v[i].op)
            return false;
    return true;
}

/* --- the walk -------------------------------------------------------------------- */

static void on_error(void *arg, const struct pd_err *err)
{
    struct lint_work *w = arg;
    size_t n;
    const char *p = lint_line(w, err->line, &n);
    bool json = n >= (size_t)err->col && p[err->col - 1] == '[';
    struct lint_finding *f = lint_add(w, json ? "json-form-broken" : "parse-error", LINT_ERROR,
                                      (struct place){err->line, err->col}, "%s", err->msg);
    lint_next(f, "%s", err->hint);
}

/* The value of a global ARG is its default: what --build-arg says isn't known. */
static const char *global(void *arg, const char *name)
{
    const struct lint_work *w = arg;
    const char *v = builder_vars_get(&w->globals, name);
    if (!v && (str_eq(name, "TARGETPLATFORM") || str_eq(name, "BUILDPLATFORM")))
        return "linux/amd64";
    return v ? v : strstr(name, "ARCH") ? "amd64" : strstr(name, "OS") ? "linux" : NULL;
}

static void read_globals(struct lint_work *w)
{
    for (size_t i = 0; i < w->df->n && w->df->v[i].op == DF_ARG; i++)
        for (size_t k = 0; k < w->df->v[i].nwords; k++) {
            struct df_word word = w->df->v[i].words[k];
            char *eq = strchr(word.text, '=');
            struct pd_err err;
            struct str s;
            if (!eq)
                continue;
            char *name = xstrndup(word.text, (size_t)(eq - word.text));
            word.text = eq + 1;
            str_init(&s, 4096);
            if (dockerfile_expand(w->df, &word, global, w, &s, &err) == PD_OK)
                builder_vars_set(&w->globals, name, s.p);
            str_release(&s);
            free(name);
        }
}

static void plan(struct lint_work *w)
{
    struct pd_err err = {0};
    read_globals(w);
    if (dockerfile_check(w->df, &err) != PD_OK) {
        if (w->df->n || !w->out->n)
            on_error(w, &err);
        return;
    }
    w->planned = dockerfile_plan(w->df, w->in->target, global, w, &w->plan, &err) == PD_OK;
    if (!w->planned && err.line > 0 && !strstr(err.msg, "$"))
        on_error(w, &err);
    if (!w->planned)
        return;
    w->stages = xcalloc(w->plan.n, sizeof *w->stages);
    for (size_t i = 0; i < w->plan.n; i++) {
        strv_init(&w->stages[i].packages);
        lint_facts_base(w->plan.v[i].base, &w->stages[i].base);
    }
}

static void read_skips(struct lint_work *w)
{
    for (size_t i = 0; i < w->df->directives.n; i++) {
        const char *v = w->df->directives.v[i];
        struct strv parts;
        if (!str_starts(v, "check="))
            continue;
        strv_init(&parts);
        strv_split(&parts, v + 6, ';');
        for (size_t k = 0; k < parts.n; k++)
            if (str_starts(parts.v[k], "skip="))
                strv_split(&w->skip, parts.v[k] + 5, ',');
        strv_release(&parts);
    }
}

static int by_weight(const void *a, const void *b)
{
    const struct lint_finding *x = a, *y = b;
    if (x->level != y->level)
        return x->level < y->level ? -1 : 1;
    if (x->line != y->line)
        return x->line < y->line ? -1 : 1;
    return x->col != y->col ? (x->col < y->col ? -1 : 1) : strcmp(x->rule, y->rule);
}

void lint_run(const struct lint_input *in, struct lint *out)
{
    static void (*const rules[])(struct lint_work *) = {
        lint_stages, lint_bases, lint_runs, lint_copies, lint_starts, lint_vars, lint_secrets,
        lint_users, lint_gaudi};
    struct lint_work w = {.in = in, .out = out};
    struct dockerfile *plain;
    struct pd_err ignored;
    memset(out, 0, sizeof *out);
    strv_init(&w.globals);
    strv_init(&w.skip);
    dockerfile_read(in->name, in->text, in->len, on_error, &w, &plain);
    w.df = plain;
    read_skips(&w);
    if (in->context && context_open(in->context, in->name, &w.ctx, &ignored) != PD_OK)
        w.ctx = NULL;
    lint_text(&w);
    plan(&w);
    for (size_t i = 0; i < ARRAY_LEN(rules) && w.planned; i++)
        rules[i](&w);
    if (in->error)
        lint_errors(&w, in->error_name, in->error);
    if (out->n)
        qsort(out->v, out->n, sizeof *out->v, by_weight);
    for (size_t i = 0; w.stages && i < w.plan.n; i++)
        strv_release(&w.stages[i].packages);
    free(w.stages);
    dockerfile_plan_release(&w.plan);
    context_close(w.ctx);
    strv_release(&w.globals);
    strv_release(&w.skip);
    dockerfile_free(w.df);
}

void lint_explain(const char *name, const char *error, const char *subuid, struct lint *out)
{
    struct lint_input in = {.name = name, .text = "", .subuid = subuid};
    struct lint_work w = {.in = &in, .out = out};
    memset(out, 0, sizeof *out);
    lint_errors(&w, name, error);
    if (out->n)
        qsort(out->v, out->n, sizeof *out->v, by_weight);
}

void lint_release(struct lint *l)
{
    for (size_t i = 0; i < l->n; i++) {
        free(l->v[i].file);
        free(l->v[i].cause);
        free(l->v[i].evidence);
        free(l->v[i].next);
    }
    free(l->v);
    memset(l, 0, sizeof *l);
}

size_t lint_count(const struct lint *l, enum lint_level level)
{
    size_t n = 0;
    for (size_t i = 0; i < l->n; i++)
        n += l->v[i].level == level;
    return n;
}

struct json *lint_json(const struct lint_finding *f)
{
    struct json *j = json_new_object();
    json_put_str(j, "ev", "finding");
    json_put_str(j, "rule", f->rule);
    json_put_str(j, "level", lint_level_name(f->level));
    json_put_str(j, "file", f->file);
    json_put_num(j, "line", f->line);
    json_put_num(j, "column", f->col);
    json_put_str(j, "cause", f->cause);
    json_put_str(j, "evidence", f->evidence);
    json_put_str(j, "next", f->next);
    if (*f->buildkit)
        json_put_str(j, "buildkit", f->buildkit);
    return j;
}
