/* session.c - the state of a person at work: one place where messages come in,
 * get sorted to the part they regard, and effects go out. No I/O, no clock:
 * the same messages give the same state, which is what replay needs. */
#include "labs/session.h"

#include "core/base/clock.h"
#include "core/base/i18n.h"
#include "core/base/path.h"
#include "core/base/utf8.h"
#include "labs/errjson.h"
#include "labs/session_conn.h"
#include "labs/session_priv.h"
#include "labs/vars.h"

struct session_priv *session_priv(const struct session *s)
{
    return s->priv;
}

struct session *session_new(struct lab_list *labs)
{
    struct session *s = xcalloc(1, sizeof *s);
    struct session_priv *p = xcalloc(1, sizeof *p);
    s->labs = labs;
    s->priv = p;
    p->run_log = xcalloc(1, sizeof *p->run_log);
    strv_init(&p->warned);
    p->files = json_new_object();
    p->laid = json_new_object();
    p->asks_step = -1;
    run_init(&s->run, p->run_log);
    for (int i = 0; i < SESSION_TABLES; i++) {
        table_init(&s->tables[i], lab_resources[i]);
    }
    s->log_cap = SESSION_LOG_LINES;
    s->log_view.tail = -1;
    s->log = xcalloc(s->log_cap, sizeof *s->log);
    s->api = xcalloc(SESSION_API_ROWS, sizeof *s->api);
    s->vars = json_new_object();
    return s;
}

static void free_action(struct action_run *a)
{
    json_free(a->args);
    json_free(a->work);
    memset(a, 0, sizeof *a);
}

void session_forget_lab(struct session *s)
{
    struct session_priv *p = s->priv;
    for (int i = 0; s->lab && s->progress && i < s->lab->steps_n; i++) {
        free(s->progress[i].checks);
        free(s->progress[i].quiz);
        free(s->progress[i].tries);
    }
    free(s->progress);
    s->progress = NULL;
    for (int i = 0; p->asks && s->lab && i < s->lab->steps[p->asks_step].checks_n; i++)
        json_free(p->asks[i].answer);
    free(p->asks);
    p->asks = NULL;
    p->asks_step = -1;
    session_text_free(s);
    free_action(&p->act);
    session_manifest_forget(s);
    free(p->work_dir);
    p->work_dir = NULL;
    json_free(p->files);
    p->files = json_new_object();
    json_free(p->laid);
    p->laid = json_new_object();
    json_free(p->progress);
    p->progress = NULL;
    json_free(s->vars);
    s->vars = json_new_object();
    free(p->journal_text);
    free(p->snapshot_text);
    p->journal_text = p->snapshot_text = NULL;
    p->got_journal = p->got_snapshot = p->torn = false;
    p->read_journal = p->read_snapshot = p->act_timer = p->check_timer = 0;
    p->recorded = p->scene_hides = p->compared = false;
    session_need_forget(s);
    session_clean_forget(s, NULL);
    memset(&s->scene, 0, sizeof s->scene);
    memset(&s->need, 0, sizeof s->need);
    memset(p->control, 0, sizeof p->control);
    p->log_uid[0] = p->attach_pod[0] = '\0';
    p->log_ended = false;
    run_reset(&s->run, p->run_log);
    memset(&s->op, 0, sizeof s->op);
    s->finished = false;
    s->adapter[0] = s->run_csv[0] = s->runs_dir[0] = '\0';
    s->step = 0;
    s->lab = NULL;
}

void session_free(struct session *s)
{
    if (!s)
        return;
    struct session_priv *p = s->priv;
    session_forget_lab(s);
    run_release(&s->run);
    build_state_release(&s->build);
    for (int i = 0; i < SESSION_TABLES; i++)
        table_release(&s->tables[i]);
    for (size_t i = 0; i < s->log_cap; i++)
        free(s->log[i].text);
    for (size_t i = 0; i < s->api_n; i++) {
        free(s->api[i].path);
        free(s->api[i].kubectl);
        free(s->api[i].body);
        free(s->api[i].warning);
    }
    free(s->log);
    table_release(&s->all_pods);
    conn_release(&s->conn);
    free(s->api);
    json_free(s->vars);
    json_free(p->files);
    json_free(p->laid);
    free(p->work_root);
    strv_release(&p->warned);
    free(p->run_log);
    free(p);
    free(s);
}

void session_start(struct session *s, const char *context, struct effects *out)
{
    struct json *args = json_new_object();
    json_put_str(args, "context", context);
    s->cluster.link = LINK_CONNECTING;
    session_priv(s)->connect = effects_add(out, EFF_CONNECT, 0, 0, args);
    session_changed(s);
}

void session_set_work(struct session *s, const char *root, uint64_t seed)
{
    struct session_priv *p = s->priv;
    free(p->work_root);
    p->work_root = xstrdup(root);
    p->new_seed = seed;
}

/* --- reading ---------------------------------------------------------------- */

const struct table *session_table(const struct session *s, const char *resource)
{
    for (int i = 0; i < SESSION_TABLES; i++)
        if (str_eq(s->tables[i].resource, resource))
            return &s->tables[i];
    return NULL;
}

bool session_table_old(const struct session *s, const struct table *t)
{
    return s->cluster.link == LINK_DOWN || t->broken || t->quiet || t->from[0];
}

size_t session_log_count(const struct session *s)
{
    return s->log_n;
}

const struct log_line *session_log_line(const struct session *s, size_t i)
{
    assert(i < s->log_n);
    return &s->log[(s->log_start + i) % s->log_cap];
}

const struct lab_step *session_step(const struct session *s)
{
    return s->lab && s->step >= 0 && s->step < s->lab->steps_n ? &s->lab->steps[s->step] : NULL;
}

const struct json *session_fact(const struct session *s, const char *path)
{
    return json_at(json_get(session_priv(s)->progress, "facts"), path);
}

const char *session_file(const struct session *s, const char *name, bool *known)
{
    const struct json *f = json_get(session_priv(s)->files, name);
    if (known)
        *known = f != NULL;
    return json_string_value(f);
}

bool session_ready(const struct session *s)
{
    const struct lab_step *step = session_priv(s)->progress ? session_step(s) : NULL;
    bool ready = step != NULL;
    for (int i = 0; ready && i < step->files_n; i++)
        session_file(s, step->files[i].name, &ready);
    return ready;
}

bool session_act_failed(const struct session *s)
{
    const struct session_priv *p = session_priv(s);
    return p->act_failed && p->act.step == s->step && s->lab;
}

const struct json *session_find(const struct session *s, const char *resource, const char *name)
{
    const struct table *t = session_table(s, resource);
    if (t && t->from[0])
        return NULL;                 /* an object of another cluster is none of this one */
    for (const struct json *o = t ? json_first(t->items) : NULL; o; o = json_next(o))
        if (str_eq(json_str(o, "metadata.name", ""), name))
            return o;
    return NULL;
}

char *session_work_path(const struct session *s, const char *name)
{
    const struct session_priv *p = session_priv(s);
    return path_join(p->work_dir ? p->work_dir : ".", name);
}

/* Own is what this attempt made itself, by uid; what it made under this name
 * and the cluster holds with another uid is not. Things made by other means
 * (kubectl) count by their age. Times have whole seconds: what is of the very
 * second in which the attempt began was there before it. */
bool session_is_own(const struct session *s, const char *resource, const struct json *obj)
{
    char key[320];
    int64_t us;
    str_fmt(key, sizeof key, "%s/%s", resource, json_str(obj, "metadata.name", ""));
    const struct json *made = json_get(session_fact(s, "made"), key);
    if (made && str_eq(json_str(made, "uid", ""), json_str(obj, "metadata.uid", "?")))
        return true;
    int64_t since = json_int(session_fact(s, "started_ms"), "", 0);
    if (made)
        since = MAX(since, json_int(made, "at_ms", 0));
    return clock_parse_rfc3339(json_str(obj, "metadata.creationTimestamp", ""), &us) &&
           us / 1000 + (made ? 999 : 0) >= since;
}

const struct json *session_job_pod(const struct session *s, const struct json *job)
{
    const struct table *t = session_table(s, "pods");
    const char *uid = json_str(job, "metadata.uid", "");
    const struct json *best = NULL;
    for (const struct json *p = json_first(t->items); p; p = json_next(p)) {
        if (!str_eq(json_str(p, "metadata.ownerReferences[0].uid", "?"), uid))
            continue;
        if (!best || strcmp(json_str(p, "metadata.creationTimestamp", ""),
                            json_str(best, "metadata.creationTimestamp", "")) >= 0)
            best = p;
    }
    return best;
}

/* --- changing --------------------------------------------------------------- */

void session_changed(struct session *s)
{
    s->generation++;
}

void session_clean(char *dst, size_t size, const char *src)
{
    struct str s;
    str_init(&s, size - 1);
    utf8_clean(src, strlen(src), false, &s);
    str_copy(dst, size, s.p);
    str_release(&s);
}

void session_say(struct session *s, enum pd_code code, const char *fmt, ...)
{
    char text[sizeof s->message];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    session_clean(s->message, sizeof s->message, text);     /* may hold the cluster's words */
    s->message_code = code;
    session_changed(s);
}

uint32_t session_effect(struct session *s, struct effects *out, enum effect_kind kind,
                        struct json *args)
{
    return effects_add(out, kind, s->cluster.id, s->cluster.epoch, args);
}

/* A message of a connection that is no more. MSG_CLUSTER brings the new one. */
static bool dead(const struct session *s, const struct msg *m)
{
    return m->kind != MSG_CLUSTER && m->cluster &&
           (m->cluster != s->cluster.id || m->epoch != s->cluster.epoch);
}

void session_apply(struct session *s, const struct msg *m, struct effects *out)
{
    struct session_priv *p = s->priv;
    if (dead(s, m))
        return;
    p->now_ms = m->at_ms;
    if (m->kind == MSG_COMMAND)
        session_command(s, m, out);
    else if (!session_load_message(s, m, out) && !session_check_message(s, m) &&
             !session_conn_message(s, m, out) &&
             !session_need_message(s, m) && !session_train_message(s, m, out))
        session_world(s, m, out);
    session_act_message(s, m, out);
    session_manifest_message(s, m, out);
    session_clean_message(s, m, out);
    session_need_update(s, out);
    session_scene_update(s);
    session_reality(s);
    session_follow(s, out);
    session_checks(s, out);
}
