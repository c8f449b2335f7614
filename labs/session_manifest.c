/* session_manifest.c - the manifest of the shown step: the offline check, what the
 * server would make of it (a dry run, object by object), and what it said when it
 * was applied, each with its line. Only an apply changes anything. */
#include "core/base/i18n.h"
#include "core/base/mem.h"
#include "k8s/rules/check.h"
#include "k8s/rules/conflict.h"
#include "k8s/rules/diff.h"
#include "k8s/rules/send.h"
#include "labs/errjson.h"
#include "labs/session_priv.h"

enum { DIFF_CEILING = 1 << 20, CAUSES = 32 };

/* Looking: which document, and at which of its two questions. */
struct manifest_run {
    size_t doc;
    uint32_t effect;
    bool dry;                    /* the dry run is under way; else the object is read */
    bool replace;                /* it is deleted and made anew */
    struct json *live;           /* NULL: not there */
    struct str diff;
};

static const char *var(void *arg, const char *name)
{
    return json_string_value(json_get(((const struct session *)arg)->vars, name));
}

struct manifest *session_manifest_parse(struct session *s, const char *file, bool work,
                                        struct pd_err *err)
{
    bool known;
    const char *text = work ? session_file(s, file, &known) : lab_scene_file(s->lab, file);
    struct manifest *m = NULL;
    if (!text)
        pd_fail_at(err, PD_IO, file, 0, 0, "%s",
                   work ? _("the file is not in the work folder")
                        : _("the file is not in the lab's folder"));
    else if (manifest_parse(file, text, strlen(text), var, s, &m, err))
        m = NULL;
    return m;
}

/* --- notes --- */

static void begin(struct session *s, const char *file)
{
    struct manifest_view *v = &s->manifest;
    json_free(v->notes);
    free(v->diff);
    *v = (struct manifest_view){.state = MANIFEST_SHOWN, .step = s->step,
                                .notes = json_new_array()};
    str_copy(v->file, sizeof v->file, file);
    session_changed(s);
}

/* Texts may hold the cluster's words. */
static void note(struct session *s, const char *level, int line, int col, const char *message,
                 const char *why, const char *next)
{
    struct json *n = json_new_object();
    char clean[1024];
    session_clean(clean, sizeof clean, message);
    json_put_str(n, "level", level);
    json_put_num(n, "line", line);
    json_put_num(n, "column", col);
    json_put_str(n, "message", clean);
    json_put_str(n, "why", why);
    json_put_str(n, "next", next);
    json_append(s->manifest.notes, n);
}

void session_manifest_check(struct session *s, const char *file)
{
    bool known;
    const char *text = session_file(s, file, &known);
    struct check_options o = {.var = var, .arg = s};
    if (!text)
        return;
    begin(s, file);
    struct check *c = check_run(file, text, strlen(text), &o);
    s->manifest.objects = (int)c->objects_n;
    for (size_t i = 0; i < c->n; i++) {
        const struct check_finding *f = &c->v[i];
        bool named = !*f->path || !*f->said || strstr(f->said, f->path);
        char *message = xasprintf("%s%s%s", named ? "" : f->path, named ? "" : ": ",
                                  *f->said ? f->said : f->why);
        note(s, f->level == CHECK_ERROR ? "error" : "warning", f->line, f->col, message,
             *f->said ? f->why : "", f->next);
        free(message);
    }
    check_free(c);
}

static void note_conflicts(struct session *s, const struct manifest_doc *d,
                           const struct json *status, const struct json *live)
{
    struct conflicts c;
    conflicts_read(&c, status, live, d->object);
    for (size_t i = 0; i < c.n; i++) {
        int line, col;
        manifest_place(d, c.v[i].path, &line, &col);
        char *text = xasprintf(_("%s belongs to \"%s\", who has set %s; the file says %s"),
                               c.v[i].path, c.v[i].manager, c.v[i].live, c.v[i].ours);
        note(s, "error", line, col, text, "",
             i + 1 == c.n ? _("leave the field out of the file, or take it over") : "");
        free(text);
    }
    s->manifest.conflict = true;
    conflicts_release(&c);
}

void session_manifest_refused(struct session *s, const char *file, size_t doc, int http,
                              const struct json *status, const struct json *live)
{
    struct manifest_cause cause[CAUSES];
    struct pd_err err;
    struct manifest *m = session_manifest_parse(s, file, true, &err);
    if (!m || doc >= m->n) {
        manifest_free(m);
        return;
    }
    const struct manifest_doc *d = &m->docs[doc];
    begin(s, file);
    s->manifest.objects = (int)m->n;
    size_t n = json_type(status) == JSON_OBJECT ? check_causes(d, status, cause, CAUSES) : 0;
    if (conflict_is(status)) {
        note_conflicts(s, d, status, live);
    } else if (n == 0) {
        check_refusal(m, d, http, status, &err);
        note(s, "error", err.line, err.col, err.msg, "", err.hint);
    }
    for (size_t i = 0; i < n && !s->manifest.conflict; i++) {
        bool named = strstr(cause[i].msg, cause[i].path) != NULL;
        char *text = xasprintf("%s%s%s", named ? "" : cause[i].path, named ? "" : ": ",
                               cause[i].msg);
        note(s, "error", cause[i].line, cause[i].col, text, "", "");
        free(text);
    }
    manifest_free(m);
}

/* --- looking before --- */

/* The first apply of the step's own actions, or NULL. */
static const struct lab_action *apply_of(const struct session *s)
{
    int n, index;
    const struct lab_action *v = session_act_of(s->lab, LIST_DO, s->step, &n);
    action_kind_by_name("apply", &index);
    for (int i = 0; i < n; i++)
        if (v[i].kind == index)
            return &v[i];
    return NULL;
}

static void free_run(struct session_priv *p)
{
    if (!p->look)
        return;
    json_free(p->look->live);
    str_release(&p->look->diff);
    free(p->look);
    p->look = NULL;
}

static void finish(struct session *s)
{
    struct session_priv *p = session_priv(s);
    s->manifest.state = MANIFEST_SHOWN;
    s->manifest.diff = str_take(&p->look->diff);
    free_run(p);
    session_changed(s);
}

static bool fixed(const struct manifest_doc *d)
{
    return d->res && (str_eq(d->res->kind, "Job") || str_eq(d->res->kind, "Pod"));
}

/* The next question about document `doc`; past the last: all is known. */
static void ask(struct session *s, struct effects *out)
{
    struct manifest_run *r = session_priv(s)->look;
    struct pd_err err;
    struct manifest *m = session_manifest_parse(s, s->manifest.file, true, &err);
    struct json *args = json_new_object();
    if (!m || r->doc >= m->n || !m->docs[r->doc].res) {
        json_free(args);
        finish(s);
    } else if (!r->dry) {
        const struct manifest_doc *d = &m->docs[r->doc];
        json_put_str(args, "resource", d->res->plural);
        json_put_str(args, "namespace",
                     json_str(d->object, "metadata.namespace", s->cluster.ns));
        json_put_str(args, "name", json_str(d->object, "metadata.name", ""));
        r->effect = session_effect(s, out, EFF_GET, args);
    } else {
        json_set(args, "manifest", json_copy(m->docs[r->doc].object));
        json_put_bool(args, "force", true);
        json_put_bool(args, "dry_run", true);
        r->effect = session_effect(s, out, EFF_APPLY, args);
    }
    manifest_free(m);
}

void session_manifest_look(struct session *s, struct effects *out)
{
    struct session_priv *p = session_priv(s);
    const struct lab_action *a = apply_of(s);
    const char *file = a ? json_str(a->args, "file", "") : "";
    free_run(p);
    if (!a || !session_file(s, file, NULL)) {
        session_say(s, PD_OK, "%s", _("this step sends no manifest"));
        return;
    }
    session_manifest_check(s, file);
    bool wrong = false;
    for (const struct json *n = json_first(s->manifest.notes); n; n = json_next(n))
        wrong = wrong || str_eq(json_str(n, "level", ""), "error");
    if (wrong || s->cluster.link != LINK_UP)
        return;                                   /* the server would say the same */
    p->look = xcalloc(1, sizeof *p->look);
    str_init(&p->look->diff, DIFF_CEILING);
    p->look->replace = json_bool(a->args, "replace", false);
    s->manifest.state = MANIFEST_LOOKING;
    ask(s, out);
}

/* The object is known (or that it is not there): what would be made of it? */
static void seen(struct session *s, const struct msg *m, struct effects *out)
{
    struct manifest_run *r = session_priv(s)->look;
    struct pd_err err;
    bool absent = json_int(m->body, "status", 0) == 404;
    if (!absent && errjson_read(json_get(m->body, "error"), &err)) {
        note(s, "error", 1, 1, err.msg, "", err.hint);
        finish(s);
        return;
    }
    r->live = absent ? NULL : json_copy(json_get(m->body, "object"));
    struct manifest *mf = session_manifest_parse(s, s->manifest.file, true, &err);
    bool anew = mf && r->doc < mf->n && fixed(&mf->docs[r->doc]) && r->replace && !absent;
    if (anew) {
        char name[400];
        char *text = xasprintf(_("%s is there; it will be deleted and made anew"),
                               send_name(mf->docs[r->doc].object, name));
        note(s, "note", mf->docs[r->doc].line, 1, text, "", "");
        free(text);
        json_free(r->live);
        r->live = NULL;
        r->doc++;
    } else {
        r->dry = true;
    }
    manifest_free(mf);
    ask(s, out);
}

static void judged(struct session *s, const struct msg *m, struct effects *out)
{
    struct manifest_run *r = session_priv(s)->look;
    const struct json *object = json_get(m->body, "object");
    struct pd_err err;
    char name[400], file[sizeof s->manifest.file];
    str_copy(file, sizeof file, s->manifest.file);
    if (errjson_read(json_get(m->body, "error"), &err)) {
        session_manifest_refused(s, file, r->doc, (int)json_int(m->body, "status", 0), object,
                                 r->live);
        finish(s);
        return;
    }
    diff_objects(r->live, object, send_name(object, name), &r->diff);
    json_free(r->live);
    r->live = NULL;
    r->dry = false;
    r->doc++;
    ask(s, out);
}

void session_manifest_message(struct session *s, const struct msg *m, struct effects *out)
{
    struct manifest_run *r = session_priv(s)->look;
    if (!r || m->kind != MSG_REPLY || !r->effect || m->effect != r->effect)
        return;
    r->effect = 0;
    if (r->dry)
        judged(s, m, out);
    else
        seen(s, m, out);
    session_changed(s);
}

void session_manifest_forget(struct session *s)
{
    free_run(session_priv(s));
    json_free(s->manifest.notes);
    free(s->manifest.diff);
    s->manifest = (struct manifest_view){0};
}
