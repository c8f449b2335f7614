/* panel_object.c - one object in detail: a pod with its phase times, a Job, a
 * node; and its YAML. */
#include "tui/panel_object.h"

#include "core/base/clock.h"
#include "core/base/i18n.h"
#include "core/base/log.h"
#include "core/base/utf8.h"
#include "core/base/yaml_out.h"
#include "k8s/podtimes.h"
#include "tui/panel.h"
#include "tui/panel_events.h"
#include "tui/panel_list.h"
#include "tui/panel_nodes.h"
#include "tui/panel_pods.h"
#include "tui/text.h"

enum { EVENTS_MOST = 30, YAML_MOST = 4 << 20 };

const struct json *panel_object_find(const struct app *a)
{
    static const struct { const char *kind, *resource; } table[] = {
        {"Pod", "pods"}, {"Job", "jobs"}, {"Node", "nodes"}};
    const struct app_object *o = &a->object;
    for (size_t i = 0; i < ARRAY_LEN(table); i++) {
        if (!str_eq(table[i].kind, o->kind))
            continue;
        const struct table *t = session_table(a->s, table[i].resource);
        for (const struct json *j = json_first(t->items); j; j = json_next(j))
            if ((*o->uid && str_eq(json_str(j, "metadata.uid", ""), o->uid)) ||
                (!*o->uid && str_eq(json_str(j, "metadata.name", ""), o->name)))
                return j;
    }
    return NULL;
}

static const char *title(const struct app *a, char buf[160])
{
    return str_fmt(buf, 160, "%s/%s", a->object.kind, a->object.name);
}

static void fact(struct rows *out, const char *name, const char *value, int w)
{
    if (!value || !*value)
        return;
    rows_new(out, -1);
    rows_put(out, ROLE_TEXT, " ");
    rows_cell(out, ROLE_MUTED, name, 12);
    rows_put(out, ROLE_TEXT, " ");
    if (utf8_str_width(value) + 14 <= w) {
        rows_put(out, ROLE_TEXT, panel_list_clean(out, value));
        return;
    }
    rows_wrap(out, ROLE_TEXT, 3, panel_list_clean(out, value), w - 3);
}

static void head(struct rows *out, const char *text)
{
    rows_blank(out);
    rows_line(out, ROLE_HEAD, text);
}

/* --- phase times ------------------------------------------------------------------ */
/* "02:00:12" of the clock that the title shows. */
static void clock_text(const struct app *a, int64_t at_ms, char buf[36])
{
    clock_rfc3339((at_ms + (int64_t)a->tz_min * 60000) * 1000, 0, buf);
    buf[19] = '\0';
    memmove(buf, buf + 11, 9);
}

static void time_row(const struct app *a, struct rows *out, const struct podtimes_row *r,
                     int64_t longest, int w)
{
    char took[24] = "", when[36] = "";
    bool open = r->state == PT_OPEN;
    rows_new(out, -1);
    rows_put(out, ROLE_TEXT, " ");
    rows_sign(out, open ? ROLE_RUN : r->state == PT_KNOWN ? ROLE_OK : ROLE_MUTED,
              open ? G_WAIT : r->state == PT_KNOWN ? G_OK : r->state == PT_UNKNOWN ? G_ASK : G_DOT);
    rows_put(out, ROLE_TEXT, " ");
    rows_cell(out, ROLE_TEXT, _(podtimes_name(r->mark)), 16);
    if (r->state == PT_KNOWN)
        clock_text(a, r->at_ms, when);
    rows_cell(out, ROLE_MUTED, when, 10);
    if (r->took_ms >= 0 && r->state == PT_KNOWN)
        str_fmt(took, sizeof took, "+%s", text_span((double)r->took_ms / 1000, (char[24]){0}));
    rows_cell(out, ROLE_STRONG, took, 9);
    if (r->cached)
        rows_put(out, ROLE_MUTED, _("was on the node"));
    else if (r->skew)
        rows_put(out, ROLE_WARN, _("clocks differ"));
    else if (open && r->mark == PT_FINISHED)
        rows_putf(out, ROLE_RUN, _("running %s"),
                  text_span((double)MAX(r->took_ms, 0) / 1000, (char[24]){0}));
    else if (open)
        rows_putf(out, ROLE_RUN, _("waiting %s"),
                  text_span((double)MAX(r->took_ms, 0) / 1000, (char[24]){0}));
    else if (r->state == PT_UNKNOWN)
        rows_put(out, ROLE_MUTED, _("not known any more"));
    else if (r->state == PT_NEVER)
        rows_put(out, ROLE_MUTED, _("never"));
    else if (r->state == PT_KNOWN && r->took_ms > 0 && longest > 0 && w >= 60)
        rows_bar(out, (double)r->took_ms / (double)longest, MIN(w - 44, 24));
}

static void times(const struct app *a, struct rows *out, const struct json *pod, int w)
{
    struct podtimes t;
    int64_t longest = 0;
    podtimes_read(pod, session_table(a->s, "events")->items, a->now_ms, &t);
    for (int i = 0; i < t.n; i++)
        longest = t.row[i].state == PT_KNOWN ? MAX(longest, t.row[i].took_ms) : longest;
    head(out, _("Phases"));
    for (int i = 0; i < t.n; i++)
        time_row(a, out, &t.row[i], longest, w);
}

/* --- containers ------------------------------------------------------------------- */
static void exit_text(const struct json *end, char buf[160])
{
    int64_t code = json_int(end, "exitCode", 0);
    const char *sig = podinfo_signal(code), *reason = json_str(end, "reason", "");
    str_fmt(buf, 160, *sig ? "%s %" PRId64 " (%s)" : "%s %" PRId64 "%s", reason, code, sig);
}

static void state_text(const struct json *status, char buf[400])
{
    const struct json *end = json_at(status, "state.terminated");
    const char *wait = json_str(status, "state.waiting.reason", NULL);
    char text[160];
    if (end) {
        exit_text(end, text);
        str_fmt(buf, 400, _("ended: %s"), text);
    } else if (wait) {
        str_fmt(buf, 400, _("waiting: %s"), wait);
    } else if (json_has(status, "state.running")) {
        str_copy(buf, 400, json_bool(status, "ready", false) ? _("running, ready")
                                                              : _("running, not ready"));
    } else {
        str_copy(buf, 400, _("not started"));
    }
}

/* "cpu 4, memory 32Gi, habana.ai/gaudi 1" */
static void resources(const struct json *map, char buf[300])
{
    buf[0] = '\0';
    for (const struct json *q = json_first(map); q; q = json_next(q)) {
        size_t have = strlen(buf);
        const char *s = json_string_value(q);
        char number[32];
        if (!s)
            s = str_fmt(number, sizeof number, "%g", json_number_value(q));
        if (have < 299)
            snprintf(buf + have, 300 - have, "%s%s %s", have ? ", " : "", json_key(q), s);
    }
}

static const struct json *status_of(const struct json *list, const char *name)
{
    for (const struct json *c = json_first(list); c; c = json_next(c))
        if (str_eq(json_str(c, "name", ""), name))
            return c;
    return NULL;
}

static void container(const struct app *a, struct rows *out, const struct json *c,
                      const struct json *status, bool init, int w)
{
    char buf[400], age[16];
    const struct json *last = json_at(status, "lastState.terminated");
    int restarts = (int)json_int(status, "restartCount", 0);
    rows_new(out, -1);
    rows_putf(out, ROLE_STRONG, " %s", panel_list_clean(out, json_str(c, "name", "?")));
    if (init)
        rows_putf(out, ROLE_MUTED, "  %s", _("init"));
    state_text(status, buf);
    rows_putf(out, ROLE_TEXT, "  %s", panel_list_clean(out, buf));
    if (restarts)
        rows_putf(out, ROLE_WARN, _("  %d restarts"), restarts);
    fact(out, _("image"), json_str(c, "image", ""), w);
    fact(out, _("said"), json_str(status, "state.waiting.message",
                                  json_str(status, "state.terminated.message", "")), w);
    if (last) {
        exit_text(last, buf);
        size_t have = strlen(buf);
        str_fmt(buf + have, sizeof buf - have, _(", %s ago"),
                panel_age(a, panel_time(last, "finishedAt"), age));
        fact(out, _("before"), buf, w);
    }
    resources(json_at(c, "resources.requests"), buf);
    fact(out, _("requests"), buf, w);
    resources(json_at(c, "resources.limits"), buf);
    fact(out, _("limits"), buf, w);
}

static void containers(const struct app *a, struct rows *out, const struct json *pod, int w)
{
    static const char *const specs[] = {"spec.initContainers", "spec.containers"};
    static const char *const states[] = {"status.initContainerStatuses",
                                         "status.containerStatuses"};
    head(out, _("Containers"));
    for (int k = 0; k < 2; k++)
        for (const struct json *c = json_first(json_at(pod, specs[k])); c; c = json_next(c))
            container(a, out, c, status_of(json_at(pod, states[k]), json_str(c, "name", "")),
                      k == 0, w);
}

/* What a volume is made of: its second member. */
static void volumes(struct rows *out, const struct json *pod, int w)
{
    static const char *const names[] = {"claimName", "name", "secretName", "path", "medium"};
    const struct json *list = json_at(pod, "spec.volumes");
    if (json_count(list) == 0)
        return;
    head(out, _("Volumes"));
    for (const struct json *v = json_first(list); v; v = json_next(v)) {
        char text[300] = "";
        for (const struct json *m = json_first(v); m && !text[0]; m = json_next(m)) {
            if (json_type(m) != JSON_OBJECT)
                continue;
            const char *of = "";
            for (size_t i = 0; i < ARRAY_LEN(names) && !*of; i++)
                of = json_str(m, names[i], "");
            str_fmt(text, sizeof text, "%s %s", json_key(m), of);
        }
        fact(out, json_str(v, "name", "?"), text, w);
    }
}

/* --- Jobs ------------------------------------------------------------------------- */
static void job_facts(const struct app *a, struct rows *out, const struct json *job, int w)
{
    char buf[200], age[16];
    str_fmt(buf, sizeof buf, _("%" PRId64 " of %" PRId64 " done, %" PRId64 " active, %" PRId64
                               " failed of %" PRId64 " allowed"),
            json_int(job, "status.succeeded", 0), json_int(job, "spec.completions", 1),
            json_int(job, "status.active", 0), json_int(job, "status.failed", 0),
            json_int(job, "spec.backoffLimit", 6));
    fact(out, _("completions"), buf, w);
    int64_t deadline = json_int(job, "spec.activeDeadlineSeconds", 0);
    if (deadline)
        fact(out, _("deadline"), str_fmt(buf, sizeof buf, "%" PRId64 "s", deadline), w);
    if (json_bool(job, "spec.suspend", false))
        fact(out, _("suspended"), _("yes: it makes no pods"), w);
    const struct json *list = json_at(job, "status.conditions");
    for (const struct json *c = json_first(list); c; c = json_next(c)) {
        bool yes = str_eq(json_str(c, "status", ""), "True");
        const char *type = json_str(c, "type", "?");
        if (!yes)
            continue;
        str_fmt(buf, sizeof buf, "%s  %s", json_str(c, "reason", ""), json_str(c, "message", ""));
        rows_new(out, -1);
        rows_put(out, ROLE_TEXT, " ");
        rows_cell(out, strstr(type, "Fail") ? ROLE_FAIL : ROLE_OK, panel_list_clean(out, type), 12);
        rows_putf(out, ROLE_MUTED, _(" %s ago"),
                  panel_age(a, panel_time(c, "lastTransitionTime"), age));
        if (buf[0] != ' ' || buf[2])
            rows_wrap(out, ROLE_TEXT, 3, panel_list_clean(out, buf), w - 3);
    }
}

static void job_pods(const struct app *a, struct rows *out, const struct json *job, int w)
{
    const char *uid = json_str(job, "metadata.uid", "?");
    int n = 0;
    head(out, _("Pods"));
    for (const struct json *p = json_first(session_table(a->s, "pods")->items); p;
         p = json_next(p)) {
        struct podinfo info;
        enum role role;
        char age[16];
        if (!str_eq(podinfo_owner(p, "Job"), uid))
            continue;
        podinfo_read(p, &info);
        rows_new(out, -1);
        rows_put(out, ROLE_TEXT, " ");
        enum glyph g = panel_pods_sign(info.status, &role);
        rows_sign(out, role, g);
        rows_put(out, ROLE_TEXT, " ");
        rows_cell(out, ROLE_TEXT, panel_list_clean(out, info.name), MAX(w - 32, 8));
        rows_cell(out, role, panel_list_clean(out, info.status), 20);
        rows_cell_right(out, ROLE_MUTED, panel_age(a, info.created_ms, age), 6);
        n++;
    }
    if (n == 0)
        rows_line(out, ROLE_MUTED, _(" none"));
}

static void job_rows(const struct app *a, struct rows *out, const struct json *job, int w)
{
    char age[16];
    rows_linef(out, ROLE_MUTED, _("Job, made %s ago"),
               panel_age(a, panel_time(job, "metadata.creationTimestamp"), age));
    job_facts(a, out, job, w);
    job_pods(a, out, job, w);
}

static const struct json *owner_job(const struct app *a, const struct json *pod)
{
    const char *uid = podinfo_owner(pod, "Job");
    for (const struct json *j = json_first(session_table(a->s, "jobs")->items); *uid && j;
         j = json_next(j))
        if (str_eq(json_str(j, "metadata.uid", ""), uid))
            return j;
    return NULL;
}

const struct json *panel_object_job(const struct app *a)
{
    const struct json *o = panel_object_find(a);
    return o && str_eq(a->object.kind, "Pod") ? owner_job(a, o) : NULL;
}

/* --- pods ------------------------------------------------------------------------- */
static void pod_rows(const struct app *a, struct rows *out, const struct json *pod, int w)
{
    struct podinfo p;
    enum role role;
    char cause[512];
    podinfo_read(pod, &p);
    enum glyph g = panel_pods_sign(p.status, &role);
    rows_new(out, -1);
    rows_sign(out, role, g);
    rows_putf(out, role, " %s", panel_list_clean(out, p.status));
    rows_putf(out, ROLE_TEXT, _("  ready %d/%d"), p.ready, p.all);
    if (p.restarts)
        rows_putf(out, ROLE_WARN, _("  %d restarts"), p.restarts);
    panel_pods_cause(a, &p, cause, sizeof cause);
    if (*cause)
        rows_wrap(out, ROLE_TEXT, 1, cause, w - 1);
    fact(out, _("node"), *p.node ? p.node : _("none yet"), w);
    fact(out, _("asks for"), p.hw, w);
    fact(out, _("pod IP"), json_str(pod, "status.podIP", ""), w);
    fact(out, _("uid"), p.uid, w);
    times(a, out, pod, w);
    containers(a, out, pod, w);
    volumes(out, pod, w);
    const struct json *job = owner_job(a, pod);
    if (job) {
        head(out, _("Owner"));
        fact(out, "Job", json_str(job, "metadata.name", ""), w);
        job_facts(a, out, job, w);
    }
}

static void rows(const struct app *a, struct rows *out, int w, int h UNUSED)
{
    const struct json *o = panel_object_find(a);
    panel_list_small(a, out, title);
    panel_list_stale(a, out, session_table(a->s, "pods"), w);
    if (!o) {
        rows_linef(out, ROLE_WARN, _("%s/%s is gone: it was deleted."), a->object.kind,
                   a->object.name);
        return;
    }
    if (str_eq(a->object.kind, "Node"))
        panel_nodes_detail(a, out, a->object.name, w);
    else if (str_eq(a->object.kind, "Job"))
        job_rows(a, out, o, w);
    else
        pod_rows(a, out, o, w);
    head(out, _("Events"));
    panel_events_of(a, out, a->object.kind, o, EVENTS_MOST, w);
}

static bool ages(const struct app *a UNUSED)
{
    return true;
}

const struct panel panel_object = {title, rows, NULL, ages, N_("Object")};

/* --- YAML ------------------------------------------------------------------------- */
void panel_object_yaml(const struct app *a, struct str *out)
{
    static const char *const first[] = {"apiVersion", "kind"};
    const struct json *o = panel_object_find(a);
    struct str raw, clean;
    if (!o)
        return;
    str_init(&raw, YAML_MOST);
    str_init(&clean, YAML_MOST);
    struct json *rest = json_copy(o);
    for (size_t i = 0; i < ARRAY_LEN(first); i++) {
        str_printf(&raw, "%s: %s\n", first[i], json_str(o, first[i], ""));
        json_remove(rest, first[i]);
    }
    yaml_out(rest, &raw);
    json_free(rest);
    utf8_clean(raw.p, raw.len, true, &clean);
    log_redact(clean.p, clean.len, out);
    str_release(&raw);
    str_release(&clean);
}

static const char *yaml_title(const struct app *a, char buf[160])
{
    return str_fmt(buf, 160, "%s/%s.yaml", a->object.kind, a->object.name);
}

/* Key and value in their roles; the rest of a block is value. */
static void yaml_line(struct rows *out, const char *s, size_t n)
{
    size_t in = strspn(s, " -");
    const char *colon = memchr(s + MIN(in, n), ':', n - MIN(in, n));
    size_t key = colon && (colon[1] == ' ' || colon[1] == '\n' || !colon[1])
                     ? (size_t)(colon - s) + 1 : 0;
    rows_new(out, -1);
    rows_putf(out, ROLE_CODE, "%.*s", (int)MIN(key, (size_t)2000), s);
    rows_putf(out, ROLE_TEXT, "%.*s", (int)MIN(n - key, (size_t)2000), s + key);
}

static void yaml_rows(const struct app *a, struct rows *out, int w UNUSED, int h UNUSED)
{
    struct str text;
    str_init(&text, YAML_MOST);
    panel_object_yaml(a, &text);
    panel_list_small(a, out, yaml_title);
    if (text.len == 0)
        rows_linef(out, ROLE_WARN, _("%s/%s is gone: it was deleted."), a->object.kind,
                   a->object.name);
    for (const char *p = text.p; *p;) {
        size_t n = strcspn(p, "\n");
        yaml_line(out, p, n);
        p += n + (p[n] == '\n');
    }
    str_release(&text);
}

static const char *yaml_foot(const struct app *a UNUSED, char buf[160])
{
    return str_copy(buf, 160, _("without managedFields"));
}

const struct panel panel_yaml = {yaml_title, yaml_rows, yaml_foot, NULL, "YAML"};
