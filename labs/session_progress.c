/* session_progress.c - opening a lab: its progress is read, its variables
 * drawn, its files laid out; and every step forward is written down. */
#include "core/base/i18n.h"
#include "core/base/path.h"
#include "k8s/res.h"
#include "labs/lab_reader.h"
#include "labs/progress.h"
#include "labs/session_priv.h"
#include "labs/vars.h"

static const char journal_name[] = ".progress.jsonl", snapshot_name[] = ".progress.json";

static uint32_t read_once(struct session *s, const char *name, struct effects *out)
{
    struct json *args = json_new_object();
    char *path = session_work_path(s, name);
    json_put_str(args, "path", path);
    json_put_bool(args, "once", true);
    free(path);
    return effects_add(out, EFF_WATCH_FILE, 0, 0, args);
}

static void write_file(struct session *s, const char *name, const char *text, const char *flag,
                       struct effects *out)
{
    struct json *args = json_new_object();
    char *path = session_work_path(s, name);
    json_put_str(args, "path", path);
    json_put_str(args, "text", text);
    if (flag)
        json_put_bool(args, flag, true);
    free(path);
    effects_add(out, EFF_WRITE, 0, 0, args);
}

void session_load(struct session *s, struct effects *out)
{
    struct session_priv *p = session_priv(s);
    p->work_dir = p->work_root ? path_join(p->work_root, s->lab->id) : lab_work_dir(s->lab);
    s->progress = xcalloc((size_t)s->lab->steps_n, sizeof *s->progress);
    for (int i = 0; i < s->lab->steps_n; i++) {
        const struct lab_step *st = &s->lab->steps[i];
        struct step_progress *g = &s->progress[i];
        g->checks = xcalloc((size_t)MAX(st->checks_n, 1), sizeof *g->checks);
        g->quiz = xcalloc((size_t)MAX(st->quiz_n, 1), sizeof *g->quiz);
        g->tries = xcalloc((size_t)MAX(st->quiz_n, 1), sizeof *g->tries);
    }
    p->read_journal = read_once(s, journal_name, out);
    p->read_snapshot = read_once(s, snapshot_name, out);
}

/* --- writing ----------------------------------------------------------------- */

void session_record(struct session *s, struct json *event, struct effects *out)
{
    struct session_priv *p = session_priv(s);
    struct str line;
    json_put_num(event, "seq", (double)json_int(p->progress, "seq", 0) + 1);
    json_put_num(event, "at_ms", (double)p->now_ms);
    progress_apply(p->progress, event);
    str_init(&line, 1 << 20);
    str_add(&line, p->torn ? "\n" : "");
    p->torn = false;
    json_print(event, 0, &line);
    str_addc(&line, '\n');
    write_file(s, journal_name, line.p, "append", out);
    str_release(&line);
    json_free(event);
    session_changed(s);
}

static void record_step(struct session *s, const char *ev, const char *step, struct effects *out)
{
    struct json *e = json_new_object();
    json_put_str(e, "ev", ev);
    json_put_str(e, "step", step);
    session_record(s, e, out);
}

void session_snapshot(struct session *s, struct effects *out)
{
    char *text = json_text(session_priv(s)->progress, 1);
    write_file(s, snapshot_name, text, NULL, out);
    free(text);
}

void session_set_fact(struct session *s, const char *key, struct json *value, struct effects *out)
{
    struct json *e = json_new_object();
    json_put_str(e, "ev", "fact");
    json_put_str(e, "key", key);
    json_set(e, "value", value);
    session_record(s, e, out);
    session_vars_update(s);
}

void session_made(struct session *s, const struct json *object, struct effects *out)
{
    const struct res *res = res_of(object);
    struct json *e = json_new_object(), *value = json_new_object();
    char key[320];
    str_fmt(key, sizeof key, "%s/%s", res ? res->plural : "?",
            json_str(object, "metadata.name", ""));
    json_put_str(e, "ev", "made");
    json_put_str(e, "key", key);
    json_put_str(value, "uid", json_str(object, "metadata.uid", ""));
    json_put_num(value, "at_ms", (double)session_priv(s)->now_ms);
    json_put_str(value, "step", s->lab->steps[session_priv(s)->act.step].id);
    json_set(e, "value", value);
    session_record(s, e, out);
}

void session_unmade(struct session *s, const char *resource, const char *name,
                    struct effects *out)
{
    char key[320];
    str_fmt(key, sizeof key, "%s/%s", resource, name);
    const struct json *made = json_get(session_fact(s, "made"), key);
    if (!made)
        return;
    struct json *e = json_new_object(), *value = json_copy(made);
    json_put_str(e, "ev", "made");
    json_put_str(e, "key", key);
    json_put_bool(value, "gone", true);
    json_set(e, "value", value);
    session_record(s, e, out);
}

/* What a step that is done has made in the cluster, and what is there no more
 * though the lab did not take it away; NULL: nothing. */
static const struct json *missing(const struct session *s, int *step)
{
    for (const struct json *m = json_first(session_fact(s, "made")); m; m = json_next(m)) {
        const char *key = json_key(m), *name = strchr(key, '/');
        char resource[80];
        str_copy(resource, MIN(sizeof resource, (size_t)(name - key) + 1), key);
        const struct table *t = session_table(s, resource);
        if (!t || !t->synced || t->forbidden || json_bool(m, "gone", false) ||
            session_find(s, resource, name + 1) ||
            !lab_step_by_id(s->lab, json_str(m, "step", ""), step) ||
            s->progress[*step].state != STEP_DONE)
            continue;
        return m;
    }
    return NULL;
}

void session_reality(struct session *s)
{
    struct session_priv *p = session_priv(s);
    int step;
    if (p->compared || !p->progress || s->finished || s->cluster.link != LINK_UP)
        return;
    for (int i = 0; i < SESSION_WATCHED; i++)
        if (!s->tables[i].synced && !s->tables[i].forbidden)
            return;
    p->compared = true;
    const struct json *m = missing(s, &step);
    if (m)
        session_say(s, PD_LAB, _("%s, which step %d made, is in the cluster no more: go back to "
                                 "that step and run it again"),
                    json_key(m), step + 1);
}

/* --- loading ----------------------------------------------------------------- */

static const char *ready_nodes(const struct session *s, char number[16])
{
    const struct table *t = session_table(s, "nodes");
    int n = 0;
    for (const struct json *o = json_first(t->items); o; o = json_next(o))
        n += str_eq(json_str(o, "status.conditions[?type=Ready].status", ""), "True");
    return t->synced ? str_fmt(number, 16, "%d", n) : NULL;
}

void session_vars_update(struct session *s)
{
    struct session_priv *p = session_priv(s);
    char number[16];
    if (!s->lab || !p->progress)
        return;
    const struct json *digest = session_fact(s, "build.digest");
    bool changed = vars_give(s->lab, s->vars, "registry", *p->registry ? p->registry : NULL);
    changed |= vars_give(s->lab, s->vars, "namespace", *s->cluster.ns ? s->cluster.ns : NULL);
    changed |= vars_give(s->lab, s->vars, "context",
                         *s->cluster.context ? s->cluster.context : NULL);
    changed |= vars_give(s->lab, s->vars, "digest", json_string_value(digest));
    changed |= vars_give(s->lab, s->vars, "ready-nodes", ready_nodes(s, number));
    changed |= vars_give(s->lab, s->vars, "work", p->work_dir);
    changed |= vars_give(s->lab, s->vars, "lab", s->lab->dir);
    if (changed)
        session_changed(s);
}

static void step_states(struct session *s)
{
    const struct session_priv *p = session_priv(s);
    bool open = true;
    for (int i = 0; i < s->lab->steps_n; i++) {
        const char *id = s->lab->steps[i].id;
        const struct json *st = json_get(json_get(p->progress, "steps"), id);
        bool done = progress_done(p->progress, id), over = progress_over(p->progress, id);
        struct step_progress *g = &s->progress[i];
        g->state = done ? STEP_DONE : over ? STEP_PASSED : open ? STEP_OPEN : STEP_LOCKED;
        g->hints_shown = (int)json_int(st, "hints", 0);
        g->attempts = (int)json_int(st, "attempts", 0);
        g->solution_shown = json_bool(st, "solution", false);
        g->simulated = json_bool(st, "simulated", false);
        g->read = str_eq(json_str(st, "passed", ""), "read");
        open = open && over;
    }
    session_quiz_restore(s);
    s->finished = progress_finished(p->progress, s->lab);
}

static void restore_results(struct session *s)
{
    const char *to = json_string_value(session_fact(s, "copy.to"));
    char *path = to ? session_work_path(s, to) : NULL;
    if (path)
        str_copy(s->adapter, sizeof s->adapter, path);
    free(path);
    /* beside the work folder, which goes when the lab starts over */
    char *inside = session_work_path(s, "runs"), *work = path_dir(inside);
    str_fmt(s->runs_dir, sizeof s->runs_dir, "%s.runs", work);
    free(inside);
    free(work);
    str_copy(s->run_csv, sizeof s->run_csv,
             session_fact(s, "csv") ? json_string_value(session_fact(s, "csv")) : "");
}

/* What was drawn stays so in this attempt, whatever becomes of the lab. */
static void keep_drawn(struct session *s, struct effects *out)
{
    struct json *drawn = vars_drawn(s->lab, s->vars);
    if (drawn && !(session_fact(s, "drawn") && json_equal(drawn, session_fact(s, "drawn"))))
        session_set_fact(s, "drawn", drawn, out);
    else
        json_free(drawn);
}

static void loaded(struct session *s, struct effects *out)
{
    struct session_priv *p = session_priv(s);
    struct progress_found found;
    uint64_t seed = p->new_seed ? p->new_seed : (uint64_t)p->now_ms;
    p->progress = progress_load(s->lab->id, seed, p->snapshot_text, p->journal_text, &found);
    p->torn = found.torn;
    if (found.snapshot_bad)
        write_file(s, ".progress.json.corrupt", p->snapshot_text, NULL, out);
    if (*found.note)
        session_say(s, PD_LAB, "%s", found.note);
    else if (progress_unknown(p->progress, s->lab))
        session_say(s, PD_OK, _("%d recorded steps are not in this lab any more"),
                    progress_unknown(p->progress, s->lab));
    if (!found.fresh && !session_fact(s, "started_ms")) {
        session_set_fact(s, "started_ms", json_new_number((double)p->now_ms), out);
    } else if (found.fresh) {
        struct json *e = json_new_object();
        json_put_str(e, "ev", "attempt");
        json_put_num(e, "seed", (double)(seed & 0xFFFFFFFFFFFFFu));
        session_record(s, e, out);
    }
    json_free(s->vars);
    s->vars = vars_draw(s->lab, (uint64_t)json_num(p->progress, "seed", 0),
                        session_fact(s, "drawn"));
    keep_drawn(s, out);
    session_vars_update(s);
    session_watch_lab(s, out);
    step_states(s);
    restore_results(s);
    session_snapshot(s, out);
    session_show_step(s, MIN(progress_step(p->progress, s->lab), s->lab->steps_n - 1), out);
}

bool session_load_message(struct session *s, const struct msg *m, struct effects *out)
{
    struct session_priv *p = session_priv(s);
    bool journal = m->effect && m->effect == p->read_journal;
    if (m->kind != MSG_FILE || !s->lab || (!journal && m->effect != p->read_snapshot) || !m->effect)
        return false;
    char **text = journal ? &p->journal_text : &p->snapshot_text;
    free(*text);
    *text = xstrdup(json_str(m->body, "text", NULL));
    *(journal ? &p->got_journal : &p->got_snapshot) = true;
    if (p->got_journal && p->got_snapshot && !p->progress)
        loaded(s, out);
    return true;
}

/* --- steps ------------------------------------------------------------------- */

/* A template with the variables of its comments filled in: what the person has
 * to type can stand where it is typed. */
static void template_text(const struct session *s, const char *text, struct str *out)
{
    while (*text) {
        size_t n = strcspn(text, "\n");
        n += text[n] == '\n';
        if (*text == '#') {
            char *line = xstrndup(text, n);
            vars_fill(s->vars, line, out);
            free(line);
        } else {
            str_append(out, text, n);
        }
        text += n;
    }
}

static void lay_out(struct session *s, const struct lab_step *step, struct effects *out)
{
    for (int i = 0; i < step->files_n; i++) {
        const struct lab_file *f = &step->files[i];
        if (json_get(session_priv(s)->laid, f->name))
            continue;
        struct str text;
        str_init(&text, 2 * LAB_FILE_CEILING);
        template_text(s, f->text, &text);
        write_file(s, f->name, text.p, "if_missing", out);
        str_release(&text);
        struct json *args = json_new_object();
        char *path = session_work_path(s, f->name);
        json_put_str(args, "path", path);
        free(path);
        json_put_num(session_priv(s)->laid, f->name, effects_add(out, EFF_WATCH_FILE, 0, 0, args));
    }
}

void session_show_step(struct session *s, int step, struct effects *out)
{
    struct session_priv *p = session_priv(s);
    s->step = step;
    for (int i = 0; i <= step; i++)
        lay_out(s, &s->lab->steps[i], out);
    if (!str_eq(json_str(p->progress, "at", ""), s->lab->steps[step].id))
        record_step(s, "at", s->lab->steps[step].id, out);
    session_asks_reset(s, out);
    session_want_checks(s);
    session_need_update(s, out);
    session_scene_update(s);
    session_changed(s);
}

/* A step that this cluster can't do is gone past, and not called done. */
void session_step_passed(struct session *s, int step, bool read, struct effects *out)
{
    const char *id = s->lab->steps[step].id;
    if (progress_over(session_priv(s)->progress, id))
        return;
    struct json *e = json_new_object();
    json_put_str(e, "ev", "passed");
    json_put_str(e, "step", id);
    json_put_str(e, "how", read ? "read" : "skipped");
    session_record(s, e, out);
    step_states(s);
    session_snapshot(s, out);
    if (s->finished)
        session_say(s, PD_OK, "%s", _("this was the last step; some were not done here"));
}

static void say_done(struct session *s, int step)
{
    int passed = 0;
    for (int i = 0; i < s->lab->steps_n; i++)
        passed += s->progress[i].state == STEP_PASSED;
    if (s->finished && passed)
        session_say(s, PD_OK, _("the lab is done but for %d steps that this cluster can't do"),
                    passed);
    else if (s->finished)
        session_say(s, PD_OK, "%s", _("the lab is done"));
    else
        session_say(s, PD_OK, _("step %d is done"), step + 1);
}

void session_step_done(struct session *s, int step, struct effects *out)
{
    if (progress_done(session_priv(s)->progress, s->lab->steps[step].id))
        return;
    struct json *e = json_new_object();
    json_put_str(e, "ev", "done");
    json_put_str(e, "step", s->lab->steps[step].id);
    if (step == s->step && s->need.mode == MODE_SIMULATED)
        json_put_bool(e, "simulated", true);
    session_record(s, e, out);
    step_states(s);
    session_snapshot(s, out);
    say_done(s, step);
}
