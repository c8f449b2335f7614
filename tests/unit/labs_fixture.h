/* labs_fixture.h - a session under a script: a lab from a text, messages in,
 * effects out. */
#ifndef TESTS_UNIT_LABS_FIXTURE_H
#define TESTS_UNIT_LABS_FIXTURE_H

#include "tests/t.h"

#include "core/base/i18n.h"
#include "core/base/mem.h"
#include "core/base/path.h"
#include "labs/session_priv.h"

struct fx {
    struct lab_list list;
    struct lab_entry entry;
    struct session *s;
    struct effects out;
    int64_t now;
};

static const int64_t FX_NOW = 1800000000000;      /* 2027-01-15T08:00:00Z */

UNUSED static void fx_send(struct fx *f, enum msg_kind kind, uint32_t effect, struct json *body)
{
    struct msg *m = msg_new(kind, body);
    m->at_ms = f->now;
    m->effect = effect;
    m->cluster = kind == MSG_COMMAND || kind == MSG_FILE || kind == MSG_CHILD_LINE ||
                         kind == MSG_CHILD_EXIT
                     ? 0
                     : 1;
    m->epoch = m->cluster ? 1 : 0;
    session_apply(f->s, m, &f->out);
    msg_free(m);
}

UNUSED static void fx_cmd(struct fx *f, const char *name, const char *a, const char *b)
{
    struct json *body = json_new_object(), *args = json_new_array();
    json_put_str(body, "name", name);
    if (a)
        json_append(args, json_new_string(a));
    if (b)
        json_append(args, json_new_string(b));
    json_set(body, "args", args);
    fx_send(f, MSG_COMMAND, 0, body);
}

/* The newest effect of a kind whose args' `key` is `value` (key NULL: any). */
UNUSED static struct effect *fx_effect(struct fx *f, enum effect_kind kind, const char *key,
                                       const char *value)
{
    for (size_t i = f->out.n; i-- > 0;) {
        struct effect *e = &f->out.v[i];
        if (e->kind == kind && (!key || str_eq(json_str(e->args, key, ""), value)))
            return e;
    }
    return NULL;
}

UNUSED static void fx_list(struct fx *f, const char *resource, const char *items)
{
    struct json *body = json_new_object();
    json_put_str(body, "resource", resource);
    json_set(body, "items", json_from(items));
    fx_send(f, MSG_LIST, 0, body);
}

UNUSED static void fx_all_synced(struct fx *f)
{
    const char *const names[] = {"nodes", "pods", "jobs", "events", "persistentvolumeclaims"};
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        fx_list(f, names[i], "[]");
}

UNUSED static void fx_file(struct fx *f, const char *name, const char *text)
{
    struct json *body = json_new_object();
    char *path = session_work_path(f->s, name);
    json_put_str(body, "path", path);
    json_put_str(body, "text", text);
    free(path);
    fx_send(f, MSG_FILE, 0, body);
}

UNUSED static void fx_cluster(struct fx *f, const char *state)
{
    struct json *body = json_from("{\"server\":\"https://127.0.0.1:1\",\"namespace\":\"class\","
                                  "\"context\":\"here\",\"user\":\"student\"}");
    json_put_str(body, "state", state);
    fx_send(f, MSG_CLUSTER, 0, body);
}

/* Answer the two reads of the progress. */
UNUSED static void fx_progress(struct fx *f, const char *journal, const char *snapshot)
{
    struct session_priv *p = session_priv(f->s);
    uint32_t ids[] = {p->read_journal, p->read_snapshot};
    const char *texts[] = {journal, snapshot};
    for (int i = 0; i < 2; i++) {
        struct json *body = json_new_object();
        json_put_str(body, "path", "?");
        json_put_str(body, "text", texts[i]);
        fx_send(f, MSG_FILE, ids[i], body);
    }
}

/* dir NULL: the files of the lab are not read. */
UNUSED static void fx_begin(struct fx *f, const char *yaml, const char *dir)
{
    struct pd_err err;
    memset(f, 0, sizeof *f);
    i18n_init("en");
    f->now = FX_NOW;
    effects_init(&f->out);
    CHECK_OK(lab_parse("lab.yaml", yaml, strlen(yaml), dir, &f->entry.lab, &err));
    f->entry.id = xstrdup(f->entry.lab->id);
    f->list.v = &f->entry;
    f->list.n = 1;
    f->s = session_new(&f->list);
    session_set_work(f->s, "/w", 7);
    session_start(f->s, NULL, &f->out);
    fx_cluster(f, "up");
    fx_cmd(f, "lab.open", f->entry.id, NULL);
}

UNUSED static void fx_open(struct fx *f, const char *yaml, const char *dir)
{
    fx_begin(f, yaml, dir);
    fx_progress(f, NULL, NULL);
}

UNUSED static void fx_end(struct fx *f)
{
    session_free(f->s);
    effects_release(&f->out);
    lab_free(f->entry.lab);
    free(f->entry.id);
}

UNUSED static const struct evidence *fx_ev(struct fx *f, int check)
{
    return &f->s->progress[f->s->step].checks[check];
}

#define CHECK_RESULT(f, i, want)                                                                  \
    do {                                                                                          \
        const struct evidence *e_ = fx_ev(f, i);                                                  \
        if (e_->result != (want))                                                                 \
            t_fail(__FILE__, __LINE__, "check %d is %s (%s; %s; %s), want %s", i,                 \
                   check_result_name(e_->result), e_->path, e_->actual, e_->because,              \
                   check_result_name(want));                                                      \
    } while (0)

#endif
