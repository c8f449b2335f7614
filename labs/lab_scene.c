/* lab_scene.c - the lab parser: the scene (setup, faults, cleanup) and what a
 * test tries that must not pass. */
#include "core/base/i18n.h"
#include "core/base/str.h"
#include "labs/lab_reader.h"

static const struct lab_key wrong_keys[] = {
    {"file", LK_PATH, false}, {"find", LK_STR, false},  {"put", LK_STR, false},
    {"quiz", LK_ID, false},   {"answer", LK_STR, false}, {NULL, LK_ANY, false}};

enum { SCENE_FILES_MOST = 200 };

/* Read once, however many actions apply it. */
enum pd_code lab_reader_scene_file(struct lab_reader *r, const struct ynode *n)
{
    struct lab *lab = r->lab;
    char *text = NULL;
    if (!n || lab_scene_file(lab, n->text))
        return PD_OK;
    if (lab->scene_n >= SCENE_FILES_MOST)
        return lab_reader_bad(r, n, _("a lab's scene has at most %d files"), SCENE_FILES_MOST);
    enum pd_code rc = lab_reader_file(r, n, n->text, &text);
    if (rc)
        return rc;
    if (!lab->scene)
        lab->scene = lab_reader_many(r, SCENE_FILES_MOST, sizeof *lab->scene);
    struct lab_file *f = &lab->scene[lab->scene_n++];
    f->name = f->from = lab_reader_dup(r, n->text);
    f->text = text ? text : lab_reader_dup(r, "");
    f->len = strlen(f->text);
    f->at = lab_reader_place(n);
    return PD_OK;
}

enum pd_code lab_reader_scene(struct lab_reader *r, const struct ynode *root)
{
    struct lab *lab = r->lab;
    enum pd_code rc = lab_reader_actions(r, yaml_get(root, "setup"), &lab->setup, &lab->setup_n,
                                         true);
    rc = rc ? rc : lab_reader_actions(r, yaml_get(root, "faults"), &lab->faults, &lab->faults_n,
                                      true);
    return rc ? rc : lab_reader_actions(r, yaml_get(root, "cleanup"), &lab->cleanup,
                                        &lab->cleanup_n, true);
}

enum pd_code lab_reader_step_scene(struct lab_reader *r, const struct ynode *n, struct lab_step *s)
{
    enum pd_code rc = lab_reader_actions(r, yaml_get(n, "setup"), &s->setup, &s->setup_n, true);
    return rc ? rc : lab_reader_actions(r, yaml_get(n, "faults"), &s->faults, &s->faults_n, true);
}

/* --- what must not pass ------------------------------------------------------- */

static bool has_file(const struct lab_step *s, const char *name)
{
    for (int i = 0; i < s->files_n; i++)
        if (str_eq(s->files[i].name, name))
            return true;
    return false;
}

enum pd_code lab_reader_wrong(struct lab_reader *r, const struct ynode *n, struct lab_step *s)
{
    s->wrong = lab_reader_many(r, yaml_count(n), sizeof *s->wrong);
    for (const struct ynode *c = n ? n->first : NULL; c; c = c->next) {
        enum pd_code rc = lab_reader_keys(r, c, wrong_keys, "wrong");
        rc = rc ? rc : lab_reader_vars_known(r, c);
        if (rc)
            return rc;
        struct lab_wrong *w = &s->wrong[s->wrong_n++];
        w->file = lab_reader_dup(r, yaml_str(c, "file", ""));
        w->find = lab_reader_dup(r, yaml_str(c, "find", ""));
        w->put = lab_reader_dup(r, yaml_str(c, "put", ""));
        w->quiz = lab_reader_dup(r, yaml_str(c, "quiz", ""));
        w->answer = lab_reader_dup(r, yaml_str(c, "answer", ""));
        w->at = lab_reader_place(c);
        bool edit = *w->file && *w->find && yaml_get(c, "put") && !*w->quiz;
        bool answer = *w->quiz && *w->answer && !*w->file;
        if (!edit && !answer)
            return lab_reader_bad(r, c, _("a wrong one is {file, find, put} or {quiz, answer}"));
        if (edit && !has_file(s, w->file))
            return lab_reader_bad(r, yaml_get(c, "file"), _("\"%s\" is no file of this step"),
                                  w->file);
        if (answer && !lab_quiz_by_id(s, w->quiz, NULL))
            return lab_reader_bad(r, yaml_get(c, "quiz"), _("this step has no question \"%s\""),
                                  w->quiz);
    }
    return PD_OK;
}
