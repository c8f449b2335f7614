/* lab_cmd.c - `podium lab list|lint|run|reset|stage`. */
#include "labs/lab_cmd.h"

#include <sys/stat.h>
#include <unistd.h>

#include "core/base/i18n.h"
#include "core/base/mem.h"
#include "core/base/path.h"
#include "labs/headless.h"
#include "labs/lab.h"
#include "labs/lab_lint.h"
#include "labs/lab_new.h"
#include "labs/lab_stage.h"
#include "labs/lab_test.h"
#include "labs/progress.h"

const char lab_cmd_help[] = N_(
    "usage: podium lab list [--json]\n"
    "       podium lab new FOLDER [--template basic|fault]\n"
    "       podium lab lint FILE|FOLDER... [--json]\n"
    "       podium lab test FILE|FOLDER... [--settle 30s] [--json] [--kubeconfig FILE]\n"
    "                  [--context NAME] [--namespace NAME] [--timeout SECONDS]\n"
    "       podium lab run ID --headless [--json] [--keep] [--until STEP] [--timeout SECONDS]\n"
    "                  [--set STEP:FILE:FIND=>PUT]... [--answer STEP:QUESTION=TEXT]...\n"
    "                  [--kubeconfig FILE] [--context NAME]\n"
    "                  [--namespace NAME] [--lang en|zh] [--labs FOLDER]\n"
    "                  [--record FILE]\n"
    "       podium lab reset ID [--kubeconfig FILE] [--context NAME] [--namespace NAME]\n"
    "\n"
    "list   the labs, their length and their state\n"
    "new    make a small lab of your own, in both languages\n"
    "lint   read lab files; every mistake with its line and column\n"
    "test   work a lab through on the cluster and tell what a person would trip over:\n"
    "       checks that pass by themselves, solutions that don't, wrong answers that do,\n"
    "       checks that are judged with the cluster gone, things that are left behind\n"
    "run    work a lab through without a screen, with its own solutions\n"
    "       (--set puts in an edit, --answer an answer of yours; --keep leaves its\n"
    "       objects in the cluster;\n"
    "       --record writes a journal of all that happened)\n"
    "reset  delete what the lab made in the cluster and begin it anew\n"
    "\n"
    "Exit codes: 0 done, 1 not yet or failed, 2 usage, 3 can't be checked here.\n");

static int usage(const char *why, const char *what)
{
    fprintf(stderr, "podium lab: %s%s%s\n%s", why, *what ? ": " : "", what, _(lab_cmd_help));
    return 2;
}

static void print_error(const struct pd_err *err)
{
    char text[1200];
    fprintf(stderr, "%s\n", pd_describe(err, text, sizeof text));
}

/* --- list, lint ---------------------------------------------------------------------- */

static char *read_or_null(const char *dir, const char *name)
{
    struct str s;
    struct pd_err err;
    char *path = path_join(dir, name);
    str_init(&s, 8 << 20);
    char *text = path_read(path, 8 << 20, &s, &err) ? NULL : str_take(&s);
    str_release(&s);
    free(path);
    return text;
}

/* How many steps the person has done. */
static int steps_done(const struct lab *lab)
{
    struct progress_found found;
    char *dir = lab_work_dir(lab);
    char *journal = read_or_null(dir, ".progress.jsonl");
    char *snapshot = read_or_null(dir, ".progress.json");
    struct json *state = progress_load(lab->id, 0, snapshot, journal, &found);
    int n = 0;
    for (int i = 0; i < lab->steps_n; i++)
        n += progress_done(state, lab->steps[i].id);
    json_free(state);
    free(snapshot);
    free(journal);
    free(dir);
    return n;
}

static void list_one(const struct lab_entry *e, bool json)
{
    if (!json) {
        if (e->lab)
            printf("%-20s %3d min  %-8s %2d/%d  %s\n", e->id, e->lab->minutes, e->lab->hw,
                   steps_done(e->lab), e->lab->steps_n, ltext_get(&e->lab->title));
        else
            print_error(&e->err);
        return;
    }
    struct json *r = json_new_object();
    json_put_str(r, "id", e->id);
    json_put_str(r, "path", e->path);
    if (e->lab) {
        json_put_str(r, "title", ltext_get(&e->lab->title));
        json_put_num(r, "steps", e->lab->steps_n);
        json_put_num(r, "done", steps_done(e->lab));
        json_put_num(r, "minutes", e->lab->minutes);
        json_put_str(r, "hw", e->lab->hw);
    } else {
        json_put_str(r, "error", e->err.msg);
        json_put_num(r, "line", e->err.line);
        json_put_num(r, "column", e->err.col);
    }
    char *text = json_text(r, 0);
    printf("%s\n", text);
    free(text);
    json_free(r);
}

static int cmd_list(const char *dir, bool json)
{
    struct lab_list *l = lab_list_load(dir);
    int code = 0;
    for (size_t i = 0; i < l->n; i++) {
        list_one(&l->v[i], json);
        code |= !l->v[i].lab;
    }
    lab_list_free(l);
    return code;
}

/* --- options of run and reset ---------------------------------------------------------- */

struct parsed {
    struct headless_options o;
    const char *id, *lang, *labs, *template;
    const char *ids[64];          /* of commands that take several; id is the first */
    int ids_n;
    bool headless;
    int64_t settle_ms;
};

static bool take_set(struct parsed *p, const char *v)
{
    char *copy = xstrdup(v), *file = strchr(copy, ':');
    char *find = file ? strchr(file + 1, ':') : NULL;
    char *arrow = find ? strstr(find + 1, "=>") : NULL;
    char *put = arrow ? arrow + 1 : find ? strchr(find + 1, '=') : NULL;
    if (!put) {
        free(copy);
        return false;
    }
    *file = *find = *put = '\0';
    if (arrow)
        *arrow = '\0';
    p->o.sets = xrealloc_array(p->o.sets, (size_t)p->o.sets_n + 1, sizeof *p->o.sets);
    /* one allocation holds all four; step is freed with it */
    p->o.sets[p->o.sets_n++] =
        (struct headless_set){.step = copy, .file = file + 1, .find = find + 1, .put = put + 1};
    return true;
}

/* STEP:QUIZ=TEXT, kept as step, file and find. */
static bool take_answer(struct parsed *p, const char *v)
{
    char *copy = xstrdup(v), *quiz = strchr(copy, ':'), *text = quiz ? strchr(quiz, '=') : NULL;
    if (!text) {
        free(copy);
        return false;
    }
    *quiz = *text = '\0';
    p->o.answers = xrealloc_array(p->o.answers, (size_t)p->o.answers_n + 1, sizeof *p->o.answers);
    p->o.answers[p->o.answers_n++] =
        (struct headless_set){.step = copy, .file = quiz + 1, .find = text + 1};
    return true;
}

/* "30s", "2m" or seconds. */
static bool take_settle(struct parsed *p, const char *v)
{
    size_t n = strlen(v);
    char unit = n ? v[n - 1] : 's';
    char *number = xstrndup(v, n - (n > 0 && (unit == 's' || unit == 'm')));
    double x = -1;
    bool ok = str_to_f64(number, &x) && x >= 0 && x <= 3600;
    free(number);
    p->settle_ms = (int64_t)(x * (unit == 'm' ? 60000 : 1000));
    return ok;
}

static bool take_flag(struct parsed *p, const char *name)
{
    const struct {
        const char *name;
        bool *to;
    } flags[] = {{"--headless", &p->headless}, {"--json", &p->o.json}, {"--keep", &p->o.keep}};
    for (size_t i = 0; i < ARRAY_LEN(flags); i++)
        if (str_eq(flags[i].name, name))
            return *flags[i].to = true;
    return false;
}

/* 1: taken, 0: unknown, -1: a bad value. */
static int take_value(struct parsed *p, const char *name, const char *v)
{
    const struct {
        const char *name;
        const char **to;
    } values[] = {{"--until", &p->o.until},     {"--kubeconfig", &p->o.kubeconfig},
                  {"--context", &p->o.context}, {"--namespace", &p->o.ns},
                  {"--lang", &p->lang},         {"--labs", &p->labs},
                  {"--record", &p->o.record},   {"--template", &p->template}};
    int64_t n;
    for (size_t i = 0; i < ARRAY_LEN(values); i++)
        if (str_eq(values[i].name, name)) {
            *values[i].to = v;
            return 1;
        }
    if (str_eq(name, "--set"))
        return take_set(p, v) ? 1 : -1;
    if (str_eq(name, "--answer"))
        return take_answer(p, v) ? 1 : -1;
    if (str_eq(name, "--settle"))
        return take_settle(p, v) ? 1 : -1;
    if (str_eq(name, "--timeout")) {
        if (!str_to_i64(v, &n) || n < 1 || n > 86400)
            return -1;
        p->o.timeout_s = (int)n;
        return 1;
    }
    return 0;
}

/* 0: fine, else the exit code. */
static int parse(struct parsed *p, int argc, char **argv, int most)
{
    p->o.timeout_s = 900;
    p->settle_ms = 30000;
    most = MIN(most, (int)ARRAY_LEN(p->ids));
    for (int i = 1; i < argc; i++) {
        if (take_flag(p, argv[i]))
            continue;
        if (argv[i][0] != '-' && p->ids_n < most) {
            p->ids[p->ids_n++] = argv[i];
            p->id = p->ids[0];
            continue;
        }
        int r = argv[i][0] == '-' && i + 1 < argc ? take_value(p, argv[i], argv[i + 1]) : 0;
        if (r <= 0)
            return usage(r < 0 ? _("a bad value") : _("not understood"), argv[i]);
        i++;
    }
    if (p->lang && !i18n_set(p->lang))
        return usage(_("no such language"), p->lang);
    return 0;
}

static void release(struct parsed *p)
{
    for (int i = 0; i < p->o.sets_n; i++)
        free((char *)p->o.sets[i].step);
    for (int i = 0; i < p->o.answers_n; i++)
        free((char *)p->o.answers[i].step);
    free(p->o.answers);
    free(p->o.sets);
}

static int unknown_lab(const struct lab_list *l, const char *id)
{
    const char **ids = xcalloc(MAX(l->n, 1), sizeof *ids);
    for (size_t i = 0; i < l->n; i++)
        ids[i] = l->v[i].id;
    const char *near = str_nearest(id, ids, l->n);
    fprintf(stderr, _("podium lab: there is no lab \"%s\"%s%s%s\n"), id,
            near ? _(": did you mean \"") : _("; podium lab list shows them"), near ? near : "",
            near ? "\"?" : "");
    free(ids);
    return 2;
}

static const struct lab *choose(const struct lab_list *l, const struct parsed *p, int *code)
{
    const struct lab *lab = lab_list_find(l, p->id);
    for (size_t i = 0; i < l->n && !lab; i++)
        if (str_eq(l->v[i].id, p->id)) {
            print_error(&l->v[i].err);
            *code = 1;
            return NULL;
        }
    if (!lab)
        *code = unknown_lab(l, p->id);
    else if (p->o.until && !lab_step_by_id(lab, p->o.until, NULL))
        *code = usage(_("no such step"), p->o.until);
    for (int i = 0; lab && !*code && i < p->o.sets_n; i++)
        if (!lab_step_by_id(lab, p->o.sets[i].step, NULL))
            *code = usage(_("no such step"), p->o.sets[i].step);
    for (int i = 0; lab && !*code && i < p->o.answers_n; i++) {
        const struct headless_set *a = &p->o.answers[i];
        const struct lab_step *st = lab_step_by_id(lab, a->step, NULL);
        if (!st || !lab_quiz_by_id(st, a->file, NULL))
            *code = usage(_("no such question"), a->file);
    }
    return lab;
}

/* Every lab is tested; the worst of the results counts. */
static int cmd_test(int argc, char **argv)
{
    struct parsed p = {0};
    int code = parse(&p, argc, argv, 64);
    if (!code && !p.id)
        code = usage(_("which lab's folder?"), "");
    for (int i = 0, ok = !code; ok && i < p.ids_n && code != 3; i++) {
        int one = lab_test_run(p.ids[i], &p.o, p.settle_ms);
        code = MAX(code, one);
    }
    release(&p);
    return code;
}

static int cmd_new(int argc, char **argv)
{
    struct parsed p = {0};
    int code = parse(&p, argc, argv, 1);
    if (!code && !p.id)
        code = usage(_("which folder?"), "");
    if (!code)
        code = lab_new(p.id, p.template);
    release(&p);
    return code;
}

static int cmd_lint(int argc, char **argv)
{
    struct parsed p = {0};
    int code = parse(&p, argc, argv, 64);
    if (!code && !p.id)
        code = usage(_("which file?"), "");
    for (int i = 0; i < p.ids_n && code != 2; i++)
        code |= lab_lint(p.ids[i], p.o.json);
    release(&p);
    return code;
}

static int cmd_run(int argc, char **argv, bool reset)
{
    struct parsed p = {0};
    int code = parse(&p, argc, argv, 1);
    if (!code && !p.id)
        code = usage(_("which lab?"), "");
    if (!code && !reset && !p.headless)
        code = usage(_("run needs --headless; with a screen, open the lab in podium"), "");
    if (!code) {
        struct lab_list *l = lab_list_load(p.labs);
        const struct lab *lab = choose(l, &p, &code);
        p.o.lab = p.id;
        if (!code)
            code = reset ? headless_reset(lab, &p.o) : headless_run(l, &p.o);
        lab_list_free(l);
    }
    release(&p);
    return code;
}

int lab_cmd(int argc, char **argv)
{
    const char *sub = argc > 1 ? argv[1] : "";
    bool json = argc > 2 && str_eq(argv[argc - 1], "--json");
    if (str_eq(sub, "--help") || str_eq(sub, "help")) {
        printf("%s", _(lab_cmd_help));
        return 0;
    }
    if (str_eq(sub, "list"))
        return argc > 2 + json ? usage(_("not understood"), argv[2]) : cmd_list(NULL, json);
    if (str_eq(sub, "lint"))
        return cmd_lint(argc - 1, argv + 1);
    if (str_eq(sub, "test"))
        return cmd_test(argc - 1, argv + 1);
    if (str_eq(sub, "new"))
        return cmd_new(argc - 1, argv + 1);
    if (str_eq(sub, "run") || str_eq(sub, "reset"))
        return cmd_run(argc - 1, argv + 1, str_eq(sub, "reset"));
    if (str_eq(sub, "stage"))
        return lab_stage(argc - 1, argv + 1);
    return usage(*sub ? _("no such command") : _("which command?"), sub);
}
