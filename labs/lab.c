/* lab.c - reads a lab file: YAML to struct lab, with every mistake told by
 * line, column and, for a misspelt key, the key that was meant. */
#include "labs/lab.h"

#include "core/base/i18n.h"
#include "core/base/path.h"
#include "core/base/str.h"
#include "labs/lab_reader.h"

static const struct lab_key lab_keys[] = {
    {"track", LK_TEXT, false},  {"after", LK_ID, false},
    {"podium", LK_NUM, true},   {"id", LK_ID, true},        {"title", LK_TEXT, true},
    {"about", LK_MAP, false},   {"requires", LK_SEQ, false}, {"vars", LK_MAP, false},
    {"run", LK_MAP, false},     {"steps", LK_SEQ, true},    {"setup", LK_SEQ, false},
    {"faults", LK_SEQ, false},  {"cleanup", LK_SEQ, false}, {NULL, LK_ANY, false}};

static enum pd_code read_root(struct lab_reader *r, const struct ynode *root)
{
    enum pd_code rc = lab_reader_keys(r, root, lab_keys, "lab");
    if (rc)
        return rc;
    const struct ynode *version = yaml_get(root, "podium");
    if (version->number != 1)
        return lab_reader_bad(r, version,
                              _("this podium reads version 1 of the lab format, not %s"),
                   version->text);
    r->lab->id = lab_reader_dup(r, yaml_str(root, "id", ""));
    r->lab->title = lab_reader_text(r, yaml_get(root, "title"));
    r->lab->track = lab_reader_text(r, yaml_get(root, "track"));
    r->lab->after = lab_reader_dup(r, yaml_str(root, "after", ""));
    rc = lab_reader_about(r, yaml_get(root, "about"));
    rc = rc ? rc : lab_reader_requires(r, yaml_get(root, "requires"), &r->lab->requires,
                                       &r->lab->requires_n);
    rc = rc ? rc : lab_reader_vars(r, yaml_get(root, "vars"));
    rc = rc ? rc : lab_reader_run(r, yaml_get(root, "run"));
    rc = rc ? rc : lab_reader_scene(r, root);
    return rc ? rc : lab_reader_steps(r, yaml_get(root, "steps"));
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
        return pd_fail_at(err, PD_LAB, path, 1, 1, _("a lab is exactly one YAML document"));
    }
    struct lab *lab = xcalloc(1, sizeof *lab);
    arena_init(&lab->arena, LAB_ARENA);
    struct lab_reader r = {path, lab, err, false};
    lab->path = lab_reader_dup(&r, path);
    lab->dir = dir ? lab_reader_dup(&r, dir) : NULL;
    rc = read_root(&r, doc->root);
    yaml_docs_free(doc);
    if (!rc && r.full)
        rc = pd_fail_at(err, PD_LAB, path, 1, 1, _("the texts of this lab are larger than 24 MiB"));
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

static void free_actions(struct lab_action *list, int n)
{
    for (int i = 0; i < n; i++)
        json_free(list[i].args);
}

void lab_free(struct lab *lab)
{
    if (!lab)
        return;
    free_actions(lab->setup, lab->setup_n);
    free_actions(lab->faults, lab->faults_n);
    free_actions(lab->cleanup, lab->cleanup_n);
    for (int i = 0; i < lab->steps_n; i++) {
        struct lab_step *s = &lab->steps[i];
        free_actions(s->actions, s->actions_n);
        free_actions(s->setup, s->setup_n);
        free_actions(s->faults, s->faults_n);
        for (int k = 0; k < s->checks_n; k++)
            json_free(s->checks[k].args);
        for (int k = 0; k < s->quiz_n; k++)
            json_free(s->quiz[k].args);
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

const struct lab_quiz *lab_quiz_by_id(const struct lab_step *step, const char *id, int *index)
{
    for (int i = 0; i < step->quiz_n; i++)
        if (str_eq(step->quiz[i].id, id)) {
            if (index)
                *index = i;
            return &step->quiz[i];
        }
    return NULL;
}

const char *lab_scene_file(const struct lab *lab, const char *name)
{
    for (int i = 0; i < lab->scene_n; i++)
        if (str_eq(lab->scene[i].name, name))
            return lab->scene[i].text;
    return NULL;
}

char *lab_work_dir(const struct lab *lab)
{
    char rel[64];
    str_fmt(rel, sizeof rel, "work/%s", lab->id);
    return path_home(PATH_DATA, rel);
}
