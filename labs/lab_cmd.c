/* lab_cmd.c - `podium lab list|lint|run|reset|stage`. */
#include "labs/lab_cmd.h"

#include <sys/stat.h>
#include <unistd.h>

#include "core/base/i18n.h"
#include "core/base/mem.h"
#include "core/base/path.h"
#include "labs/headless.h"
#include "labs/lab.h"
#include "labs/lab_stage.h"
#include "labs/progress.h"

const char lab_cmd_help[] = N_(
    "usage: podium lab list [--json]\n"
    "       podium lab lint FILE|FOLDER...\n"
    "       podium lab run ID --headless [--json] [--keep] [--until STEP] [--timeout SECONDS]\n"
    "                  [--set STEP:FILE:FIND=>PUT]... [--kubeconfig FILE] [--context NAME]\n"
    "                  [--namespace NAME] [--lang en|zh] [--labs FOLDER]\n"
    "                  [--record FILE]\n"
    "       podium lab reset ID [--kubeconfig FILE] [--context NAME] [--namespace NAME]\n"
    "\n"
    "list   the labs, their length and their state\n"
    "lint   read lab files; every mistake with its line and column\n"
    "run    work a lab through without a screen, with its own solutions\n"
    "       (--set puts in an edit of yours; --keep leaves its objects in the cluster;\n"
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

static int lint_one(const char *path)
{
    struct stat sb;
    struct lab *lab = NULL;
    struct pd_err err;
    char *file = stat(path, &sb) == 0 && S_ISDIR(sb.st_mode) ? path_join(path, "lab.yaml")
                                                             : xstrdup(path);
    int code = lab_read(file, &lab, &err) ? 1 : 0;
    if (code) {
        print_error(&err);
    } else {
        printf("%s: %s, %d steps\n", file, lab->id, lab->steps_n);
        lab_free(lab);
    }
    free(file);
    return code;
}

/* --- options of run and reset ---------------------------------------------------------- */

struct parsed {
    struct headless_options o;
    const char *id, *lang, *labs;
    bool headless;
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
                  {"--record", &p->o.record}};
    int64_t n;
    for (size_t i = 0; i < ARRAY_LEN(values); i++)
        if (str_eq(values[i].name, name)) {
            *values[i].to = v;
            return 1;
        }
    if (str_eq(name, "--set"))
        return take_set(p, v) ? 1 : -1;
    if (str_eq(name, "--timeout")) {
        if (!str_to_i64(v, &n) || n < 1 || n > 86400)
            return -1;
        p->o.timeout_s = (int)n;
        return 1;
    }
    return 0;
}

/* 0: fine, else the exit code. */
static int parse(struct parsed *p, int argc, char **argv)
{
    p->o.timeout_s = 900;
    for (int i = 1; i < argc; i++) {
        if (take_flag(p, argv[i]))
            continue;
        if (argv[i][0] != '-' && !p->id) {
            p->id = argv[i];
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
    return lab;
}

static int cmd_run(int argc, char **argv, bool reset)
{
    struct parsed p = {0};
    int code = parse(&p, argc, argv);
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
    if (str_eq(sub, "lint")) {
        int code = argc > 2 ? 0 : usage(_("which file?"), "");
        for (int i = 2; i < argc; i++)
            code |= lint_one(argv[i]);
        return code;
    }
    if (str_eq(sub, "run") || str_eq(sub, "reset"))
        return cmd_run(argc - 1, argv + 1, str_eq(sub, "reset"));
    if (str_eq(sub, "stage"))
        return lab_stage(argc - 1, argv + 1);
    return usage(*sub ? _("no such command") : _("which command?"), sub);
}
