/* cmd_catalogue.c - the catalogue: opening, sorting, and starting a lab over.
 * Starting over moves the work folder aside, so that it can be taken back, and
 * has `podium lab reset` delete what the lab made in the cluster. */
#include "core/base/i18n.h"
#include "core/base/mem.h"
#include "core/base/path.h"
#include "tui/catalogue.h"
#include "tui/cmd.h"
#include "tui/confirm.h"

static int index_of(const struct app *a, const char *id)
{
    for (size_t i = 0; id && a->labs && i < a->labs->n; i++)
        if (a->labs->v[i].lab && str_eq(a->labs->v[i].lab->id, id))
            return (int)i;
    return -1;
}

void cmd_open_lab(struct app *a, const char *arg, struct effects *out)
{
    int i = arg && *arg ? index_of(a, arg) : catalogue_selected(a);
    const struct lab_entry *e = i >= 0 ? &a->labs->v[i] : NULL;
    if (arg && *arg) {
        app_session(a, "lab.open", arg, out);
    } else if (e && !e->lab) {
        app_fault(a, &e->err);
    } else if (e && catalogue_state(a, i) == CATALOGUE_LOCKED) {
        app_note(a, false, _("'%s' comes first; to open this one all the same type :lab.open %s"),
                 ltext_get(&catalogue_before(a, e->lab)->title), e->lab->id);
    } else if (e) {
        app_session(a, "lab.open", e->lab->id, out);
    }
}

void cmd_labs_sort(struct app *a, const char *arg UNUSED, struct effects *out UNUSED)
{
    int lab = catalogue_selected(a);
    a->labs_sort = (enum catalogue_sort)((a->labs_sort + 1) % CATALOGUE_SORTS);
    catalogue_select(a, lab);
    app_note(a, false, _("labs by %s"), catalogue_sort_name(a->labs_sort));
}

/* --- starting over ------------------------------------------------------------- */
bool cmd_has_progress(const struct app *a)
{
    int i = catalogue_selected(a);
    return i >= 0 && a->labs->v[i].lab && a->lab_done[i] > 0;
}

void cmd_lab_reset(struct app *a, const char *arg, struct effects *out UNUSED)
{
    int i = arg && *arg ? index_of(a, arg) : catalogue_selected(a);
    const struct lab *lab = i >= 0 ? a->labs->v[i].lab : NULL;
    const struct cluster_state *k = &a->s->cluster;
    char title[160], lost[640];
    if (!lab) {
        app_note(a, true, _("there is no lab \"%s\""), arg ? arg : "");
        return;
    }
    int done = MIN(a->lab_done[i], lab->steps_n);
    str_fmt(title, sizeof title, _("Start '%s' over?"), ltext_get(&lab->title));
    if (k->link == LINK_UP)
        str_fmt(lost, sizeof lost,
                _("%d of %d steps done. Steps, answers and files are put aside; undo brings them "
                  "back. What it made on %s/%s is deleted for good."),
                done, lab->steps_n, k->context, k->ns);
    else
        str_fmt(lost, sizeof lost, _("%d of %d steps done. Steps, answers and files are put aside; "
                                     "undo brings them back."), done, lab->steps_n);
    confirm_ask(a, &(struct confirm){.title = title, .lost = lost, .verb = _("Start over"),
                                     .command = "lab.reset.now", .arg = lab->id});
}

static uint32_t move(const char *from, const char *to, struct effects *out)
{
    struct json *args = json_new_object();
    json_put_str(args, "path", from);
    json_put_str(args, "to", to);
    return effects_add(out, EFF_MOVE, 0, 0, args);
}

/* "podium lab reset ID" of the same cluster: it deletes what carries the lab's
 * label. */
static void clear_cluster(struct app *a, const struct lab *lab, struct effects *out)
{
    const struct cluster_state *k = &a->s->cluster;
    const char *config = session_kubeconfig(a->s);
    const char *words[] = {"podium", "lab", "reset", lab->id, "--context", k->context,
                           "--namespace", k->ns, config[0] ? "--kubeconfig" : NULL, config};
    struct json *args = json_new_object(), *argv = json_new_array();
    for (size_t i = 0; i < ARRAY_LEN(words) && words[i]; i++)
        json_append(argv, json_new_string(words[i]));
    json_set(args, "argv", argv);
    a->reset.child = effects_add(out, EFF_SPAWN, 0, 0, args);
}

void cmd_lab_reset_now(struct app *a, const char *arg, struct effects *out)
{
    int i = index_of(a, arg);
    if (i < 0)
        return;
    const struct lab *lab = a->labs->v[i].lab;
    char *work = lab_work_dir(lab);
    if (a->s->lab)
        app_session(a, "lab.close", NULL, out);
    str_copy(a->reset.lab, sizeof a->reset.lab, lab->id);
    str_fmt(a->reset.aside, sizeof a->reset.aside, "%s.%" PRId64, work, a->now_ms / 1000);
    a->reset.done = a->lab_done[i];
    a->reset.back = false;
    a->reset.move = move(work, a->reset.aside, out);
    if (a->s->cluster.link == LINK_UP)
        clear_cluster(a, lab, out);
    app_note(a, false, _("starting %s over"), lab->id);
    free(work);
}

/* arg: ID STEPS FOLDER, as the undo remembers it. */
void cmd_lab_restore(struct app *a, const char *arg, struct effects *out)
{
    struct strv part;
    strv_init(&part);
    strv_split(&part, arg ? arg : "", ' ');
    int i = part.n >= 3 ? index_of(a, part.v[0]) : -1;
    if (i >= 0) {
        char *work = lab_work_dir(a->labs->v[i].lab);
        str_copy(a->reset.lab, sizeof a->reset.lab, part.v[0]);
        a->reset.done = atoi(part.v[1]);
        a->reset.back = true;
        a->reset.move = move(arg + strlen(part.v[0]) + strlen(part.v[1]) + 2, work, out);
        free(work);
    }
    strv_release(&part);
}

static void moved(struct app *a, const struct msg *m)
{
    struct app_reset *r = &a->reset;
    int i = index_of(a, r->lab);
    char what[160], arg[640];
    r->move = 0;
    if (json_has(m->body, "error")) {
        app_note(a, true, "%s",
                 json_str(m->body, "error.msg", _("the work folder can't be moved")));
        return;
    }
    if (i >= 0)
        a->lab_done[i] = r->back ? r->done : 0;
    if (r->back) {
        app_note(a, false, _("%s is as it was before"), r->lab);
        return;
    }
    str_fmt(what, sizeof what, _("starting %s over"), r->lab);
    str_fmt(arg, sizeof arg, "%s %d %s", r->lab, r->done, r->aside);
    if (!json_bool(m->body, "missing", false))
        app_undo_push(a, what, "lab.restore", arg);
    if (!r->child)
        app_note(a, false, _("%s is as new; your files are kept in %s"), r->lab, r->aside);
}

static void cleared(struct app *a, const struct msg *m)
{
    const char *said = json_str(m->body, "stderr", "");
    a->reset.child = 0;
    if (json_int(m->body, "code", 1) == 0)
        app_note(a, false, _("%s is as new; your files are kept in %s"), a->reset.lab,
                 a->reset.aside);
    else
        app_note(a, true, _("what %s made in the cluster could not be deleted: %s"), a->reset.lab,
                 said);
}

bool cmd_reset_message(struct app *a, const struct msg *m)
{
    struct app_reset *r = &a->reset;
    if (m->kind == MSG_REPLY && m->effect && m->effect == r->move)
        moved(a, m);
    else if (m->kind == MSG_CHILD_EXIT && m->effect && m->effect == r->child)
        cleared(a, m);
    else if (m->kind == MSG_CHILD_LINE && m->effect && m->effect == r->child)
        app_note(a, false, "%s", json_str(m->body, "record.text", ""));
    else
        return false;
    return true;
}
