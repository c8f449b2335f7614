/* session_cmd.c - the commands of a person, by key, palette or headless: one
 * table. */
#include "core/base/i18n.h"
#include "core/base/path.h"
#include "labs/session_conn.h"
#include "labs/session_priv.h"
#include "labs/step_text.h"

typedef void cmd_fn(struct session *s, const char *const *args, struct effects *out);

/* --- labs ---------------------------------------------------------------------- */

void session_close_lab(struct session *s, struct effects *out)
{
    struct session_priv *p = session_priv(s);
    if (!s->lab)
        return;
    uint32_t streams[] = {p->run_stream, s->attach_stream, p->act.effect};
    session_log_close(s, out);
    for (size_t i = 0; i < ARRAY_LEN(streams); i++) {
        if (!streams[i])
            continue;
        struct json *args = json_new_object();
        json_put_num(args, "effect", streams[i]);
        session_effect(s, out, EFF_CANCEL, args);
    }
    for (const struct json *f = json_first(p->laid); f; f = json_next(f)) {
        struct json *args = json_new_object();
        json_put_num(args, "effect", json_number_value(f));
        effects_add(out, EFF_CANCEL, 0, 0, args);
    }
    if (p->progress)
        session_snapshot(s, out);
    if (p->asks)
        session_asks_reset(s, out);
    p->run_stream = s->attach_stream = 0;
    s->attach_open = false;
    session_forget_lab(s);
    session_changed(s);
}

bool session_open_lab(struct session *s, const char *id, struct effects *out)
{
    const struct lab *lab = lab_list_find(s->labs, id);
    if (!lab) {
        session_say(s, PD_LAB, _("there is no lab \"%s\""), id);
        return false;
    }
    session_close_lab(s, out);
    s->lab = lab;
    session_load(s, out);
    session_changed(s);
    return true;
}

static void lab_open(struct session *s, const char *const *args, struct effects *out)
{
    session_open_lab(s, args[0], out);
}

static void lab_close(struct session *s, const char *const *args, struct effects *out)
{
    (void)args;
    session_close_lab(s, out);
}

/* --- steps --------------------------------------------------------------------- */

static bool ready(struct session *s)
{
    if (session_step(s) && session_priv(s)->progress)
        return true;
    session_say(s, PD_OK, "%s", _("open a lab first"));
    return false;
}

static void step_next(struct session *s, const char *const *args, struct effects *out)
{
    (void)args;
    if (!ready(s))
        return;
    const struct lab_step *step = session_step(s);
    if (s->progress[s->step].state == STEP_OPEN) {
        bool read = s->need.mode == MODE_READING, skipped = s->need.mode == MODE_SKIPPED;
        if (read || skipped)
            session_step_passed(s, s->step, read, out);
        else if (!step->checks_n && !step->quiz_n && s->scene.state == SCENE_READY)
            session_step_done(s, s->step, out);     /* one that only tells */
    }
    if (s->step + 1 < s->lab->steps_n)
        session_show_step(s, s->step + 1, out);
}

static void step_prev(struct session *s, const char *const *args, struct effects *out)
{
    (void)args;
    if (ready(s) && s->step > 0)
        session_show_step(s, s->step - 1, out);
}

static void step_run(struct session *s, const char *const *args, struct effects *out)
{
    session_priv(s)->force = str_eq(args[0], "force");
    if (ready(s))
        session_act_start(s, out);
}

static void step_preview(struct session *s, const char *const *args, struct effects *out)
{
    (void)args;
    if (ready(s))
        session_manifest_look(s, out);
}

static void step_check(struct session *s, const char *const *args, struct effects *out)
{
    (void)args;
    if (!ready(s))
        return;
    session_ask_registry(s, out);
    session_want_checks(s);
}

static void step_hint(struct session *s, const char *const *args, struct effects *out)
{
    (void)args;
    if (!ready(s) || s->progress[s->step].hints_shown >= session_step(s)->hints_n)
        return;
    struct json *e = json_new_object();
    json_put_str(e, "ev", "hint");
    json_put_str(e, "step", session_step(s)->id);
    session_record(s, e, out);
    s->progress[s->step].hints_shown++;
}

static void step_solution(struct session *s, const char *const *args, struct effects *out)
{
    if (!ready(s))
        return;
    const struct lab_step *step = session_step(s);
    struct step_progress *g = &s->progress[s->step];
    if (!step_has_solution(step))
        session_say(s, PD_OK, "%s", _("this step has no solution to show"));
    else if (g->hints_shown < step->hints_n)
        session_say(s, PD_OK, _("the hints come first: %d of %d are shown"), g->hints_shown,
                    step->hints_n);
    else if (!str_eq(args[0], "yes"))
        session_say(s, PD_OK, "%s", _("the solution is written down as used; step.solution yes "
                                      "shows it"));
    else if (!g->solution_shown) {
        struct json *e = json_new_object();
        json_put_str(e, "ev", "solution");
        json_put_str(e, "step", step->id);
        session_record(s, e, out);
        g->solution_shown = true;
    }
}

static void quiz_answer(struct session *s, const char *const *args, struct effects *out)
{
    if (ready(s))
        session_answer(s, args[1] ? args[0] : NULL, args[1] ? args[1] : args[0], out);
}

static void lab_cleanup(struct session *s, const char *const *args, struct effects *out)
{
    if (!ready(s))
        return;
    if (str_eq(args[0], "yes"))
        session_clean_go(s, out);
    else
        session_clean_look(s, out);
}

/* Another cluster than the person's own: nothing of the lab is there. */
static void lab_simulate(struct session *s, const char *const *args, struct effects *out)
{
    (void)args;
    struct json *a = json_new_object();
    json_put_bool(a, "default", true);
    s->cluster.link = LINK_CONNECTING;
    session_priv(s)->connect = effects_add(out, EFF_CONNECT, 0, 0, a);
    session_say(s, PD_OK, "%s", _("going to the practice cluster; podium began anew goes back"));
}

/* --- files --------------------------------------------------------------------- */

static const struct lab_file *edit_file(const struct session *s, const char *name)
{
    const struct lab_step *step = session_step(s);
    for (int i = 0; i < step->files_n; i++)
        if (name ? str_eq(step->files[i].name, name) : step->files[i].edit)
            return &step->files[i];
    return NULL;
}

static void step_edit(struct session *s, const char *const *args, struct effects *out)
{
    const struct lab_file *f = ready(s) ? edit_file(s, args[0]) : NULL;
    if (!f) {
        session_say(s, PD_OK, "%s", _("this step has no file to edit"));
        return;
    }
    struct json *a = json_new_object();
    char *path = session_work_path(s, f->name);
    json_put_str(a, "path", path);
    effects_add(out, EFF_EDIT, 0, 0, a);
    free(path);
}

static void file_set(struct session *s, const char *const *args, struct effects *out)
{
    if (!ready(s))
        return;
    if (!path_inside(args[0])) {
        session_say(s, PD_USAGE, _("\"%s\" leaves the work folder"), args[0]);
        return;
    }
    struct json *a = json_new_object();
    char *path = session_work_path(s, args[0]);
    json_put_str(a, "path", path);
    json_put_str(a, "text", args[1]);
    effects_add(out, EFF_WRITE, 0, 0, a);
    json_set(session_priv(s)->files, args[0], json_new_string(args[1]));
    session_changed(s);
    free(path);
}

/* --- the run ------------------------------------------------------------------- */

static void train_pause(struct session *s, const char *const *args, struct effects *out)
{
    session_steer(s, "pause", args[0], NULL, out);
}

static void train_resume(struct session *s, const char *const *args, struct effects *out)
{
    session_steer(s, "resume", args[0], NULL, out);
}

static void train_step(struct session *s, const char *const *args, struct effects *out)
{
    int64_t n = 1;
    if (args[0] && (!str_to_i64(args[0], &n) || n < 1))
        session_say(s, PD_USAGE, _("\"%s\" is no number of steps"), args[0]);
    else
        session_steer(s, "step", args[0], NULL, out);
}

static void train_inspect(struct session *s, const char *const *args, struct effects *out)
{
    session_steer(s, "inspect", args[0] ? args[0] : "norms", NULL, out);
}

static void train_walk(struct session *s, const char *const *args, struct effects *out)
{
    if (s->run.control == 1)
        session_say(s, PD_UNSUPPORTED, "%s",
                    _("this trainer is older than the walk: build the image again with this "
                      "podium-train and submit the Job again"));
    else
        session_steer(s, "walk", args[0], NULL, out);
}

static void train_rate(struct session *s, const char *const *args, struct effects *out)
{
    double x;
    if (!str_to_f64(args[0], &x) || !(x >= 0))
        session_say(s, PD_USAGE, _("\"%s\" is no learning rate"), args[0]);
    else
        session_steer(s, "rate", args[0], NULL, out);
}

static void train_save(struct session *s, const char *const *args, struct effects *out)
{
    session_steer(s, "save", args[0], NULL, out);
}

static void train_quit(struct session *s, const char *const *args, struct effects *out)
{
    session_steer(s, "quit", args[0], NULL, out);
}

static void log_follow(struct session *s, const char *const *args, struct effects *out)
{
    session_follow_pod(s, args[0], out);
}

static void log_since(struct session *s, const char *const *args, struct effects *out)
{
    session_log_since(s, args[0], out);
}

static void log_previous(struct session *s, const char *const *args, struct effects *out)
{
    (void)args;
    session_log_toggle(s, &s->log_view.previous, out);
}

static void log_containers(struct session *s, const char *const *args, struct effects *out)
{
    (void)args;
    session_log_toggle(s, &s->log_view.all, out);
}

static void log_clear(struct session *s, const char *const *args, struct effects *out)
{
    (void)args, (void)out;
    session_log_clear(s);
    session_changed(s);
}

static void log_save(struct session *s, const char *const *args, struct effects *out)
{
    session_log_save(s, args[0], out);
}

static void nodes_look(struct session *s, const char *const *args, struct effects *out)
{
    (void)args;
    session_nodes_look(s, out);
}

static void pod_delete(struct session *s, const char *const *args, struct effects *out)
{
    session_pod_delete(s, args[0], out);
}

static void op_cancel(struct session *s, const char *const *args, struct effects *out)
{
    (void)args;
    session_act_cancel(s, out);
}

static void curve_export(struct session *s, const char *const *args, struct effects *out)
{
    struct str csv;
    struct json *a = json_new_object();
    str_init(&csv, 64 << 20);
    session_csv(s, &csv);
    json_put_str(a, "path", args[0]);
    json_put_str(a, "text", csv.p);
    str_release(&csv);
    effects_add(out, EFF_WRITE, 0, 0, a);
    session_say(s, PD_OK, _("the curve was written to %s"), args[0]);
}

static const struct {
    const char *name;
    size_t least;                 /* arguments it needs */
    cmd_fn *fn;
} commands[] = {
    {"lab.open", 1, lab_open},      {"lab.close", 0, lab_close},
    {"step.next", 0, step_next},    {"step.prev", 0, step_prev},
    {"step.run", 0, step_run},      {"step.check", 0, step_check},
    {"step.hint", 0, step_hint},    {"step.edit", 0, step_edit},
    {"step.preview", 0, step_preview},
    {"file.set", 2, file_set},      {"train.pause", 0, train_pause},
    {"train.resume", 0, train_resume}, {"train.step", 0, train_step},
    {"train.inspect", 0, train_inspect}, {"train.rate", 1, train_rate},
    {"train.walk", 0, train_walk},
    {"train.save", 0, train_save},  {"train.quit", 0, train_quit},
    {"log.follow", 1, log_follow},  {"op.cancel", 0, op_cancel},
    {"curve.export", 1, curve_export}, {"step.solution", 0, step_solution},
    {"quiz.answer", 1, quiz_answer}, {"lab.cleanup", 0, lab_cleanup},
    {"lab.simulate", 0, lab_simulate}, {"log.since", 1, log_since},
    {"log.previous", 0, log_previous}, {"log.containers", 0, log_containers},
    {"log.clear", 0, log_clear},    {"log.save", 1, log_save},
    {"nodes.look", 0, nodes_look},  {"pod.delete", 1, pod_delete},
};

void session_command(struct session *s, const struct msg *m, struct effects *out)
{
    const char *name = json_str(m->body, "name", "");
    const struct json *list = json_get(m->body, "args");
    const char *args[8] = {NULL};
    size_t n = 0;
    for (const struct json *a = json_first(list); a && n < 7; a = json_next(a))
        args[n++] = json_string_value(a);
    for (size_t i = 0; i < ARRAY_LEN(commands); i++) {
        if (!str_eq(commands[i].name, name))
            continue;
        if (n < commands[i].least)
            session_say(s, PD_USAGE, _("%s needs more arguments"), name);
        else
            commands[i].fn(s, args, out);
        return;
    }
    session_conn_command(s, name, args[0], out);
}
