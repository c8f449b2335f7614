/* panel_cluster.c - nodes with their accelerators, pods, events. */
#include "core/base/i18n.h"
#include "core/base/utf8.h"
#include "k8s/accel.h"
#include "k8s/quantity.h"
#include "tui/panel.h"
#include "tui/text.h"

enum { EVENTS_SHOWN = 12 };

static const char *title(const struct app *a UNUSED, char buf[160])
{
    return str_copy(buf, 160, _("Cluster"));
}

static const char *clean(struct rows *out, const char *s)
{
    struct str t;
    str_init(&t, 4096);
    utf8_clean(s, strlen(s), false, &t);
    const char *kept = arena_strdup(&out->arena, t.p);
    str_release(&t);
    return kept;
}

/* --- nodes -------------------------------------------------------------------- */
static bool is_ready(const struct json *node)
{
    return str_eq(json_str(node, "status.conditions[?type=Ready].status", ""), "True");
}

static bool is_simulated(const struct json *node)
{
    const struct json *meta = json_get(node, "metadata");
    for (int part = 0; part < 2; part++) {
        const struct json *m = json_get(meta, part ? "annotations" : "labels");
        for (const struct json *c = json_first(m); c; c = json_next(c))
            if (strstr(json_key(c), "simulated") && !str_eq(json_string_value(c), "false"))
                return true;
    }
    return false;
}

static const char *amount(int64_t v, bool milli, char buf[24])
{
    if (v < 0)
        return str_copy(buf, 24, "-");
    return milli ? str_fmt(buf, 24, "%g", (double)(v / 100) / 10)
                 : str_fmt(buf, 24, "%" PRId64, v);
}

static enum role hw_role(const char *resource)
{
    if (strstr(resource, "gaudi"))
        return ROLE_HW_GAUDI;
    return strstr(resource, "gpu") ? ROLE_HW_NVIDIA : ROLE_HW_XEON;
}

/* " * gaudi-0  habana.ai/gaudi 6/8  mem 71/480Gi": the name is what a Job asks
 * for. */
static void node_row(struct rows *out, const struct json *node, const struct json *pods, int w,
                     int name_w)
{
    static const struct accel_vendor memory = {"memory", "memory", "B", false, NULL};
    const struct accel_vendor *v = accel_of_node(node);
    struct accel_use use = accel_node(v, node, pods), mem = accel_node(&memory, node, pods);
    char used[24], all[24], text[64];
    enum role role = is_ready(node) ? ROLE_OK : ROLE_FAIL;
    rows_new(out, -1);
    rows_put(out, ROLE_TEXT, " ");
    rows_sign(out, role, is_ready(node) ? G_LIVE : G_FAIL);
    rows_put(out, ROLE_TEXT, " ");
    rows_cell(out, ROLE_TEXT, clean(out, json_str(node, "metadata.name", "?")), name_w);
    str_fmt(text, sizeof text, " %s %s/%s", v->resource, amount(use.used, v->milli, used),
            amount(use.allocatable, v->milli, all));
    rows_cell(out, hw_role(v->resource), text, 22);
    if (mem.allocatable >= 0 && w >= 3 + name_w + 22 + 14) {
        const double gi = 1024.0 * 1024 * 1024;
        str_fmt(text, sizeof text, "mem %.*f/%.0fGi", mem.used > 0 && mem.used < 10 * gi ? 1 : 0,
                (double)mem.used / gi, (double)mem.allocatable / gi);
        rows_put(out, ROLE_MUTED, text);
    }
    if (is_simulated(node) && w - out->v[out->n - 1].width >= 11)
        rows_right(out, ROLE_MUTED, _("simulated"), w);
}

static bool nodes(const struct app *a, struct rows *out, int w)
{
    const struct table *t = session_table(a->s, "nodes"), *p = session_table(a->s, "pods");
    int n = 0, ready = 0, sim = 0, name_w = 8;
    char buf[96];
    for (const struct json *c = json_first(t->items); c; c = json_next(c)) {
        n++;
        ready += is_ready(c);
        sim += is_simulated(c);
        name_w = MAX(name_w, utf8_str_width(json_str(c, "metadata.name", "")));
    }
    name_w = MIN(name_w, MAX(w - 26, 8));
    if (n == 0)
        return false;
    rows_new(out, -1);
    rows_put(out, ROLE_HEAD, _("Nodes"));
    if (sim > 0 && w < 64)
        rows_putf(out, ROLE_MUTED, "  %s", _("simulated"));
    str_fmt(buf, sizeof buf, _("ready %d/%d"), ready, n);
    rows_right(out, ready == n ? ROLE_OK : ROLE_WARN, t->synced ? buf : "", w);
    for (const struct json *c = json_first(t->items); c; c = json_next(c))
        node_row(out, c, p ? p->items : NULL, w, name_w);
    return true;
}

/* --- pods --------------------------------------------------------------------- */
const char *panel_pod_status(const struct json *pod)
{
    static const char *const lists[] = {"status.initContainerStatuses", "status.containerStatuses"};
    const char *word = json_str(pod, "status.reason", json_str(pod, "status.phase", "Unknown"));
    for (size_t k = 0; k < ARRAY_LEN(lists); k++) {
        for (const struct json *c = json_first(json_at(pod, lists[k])); c; c = json_next(c)) {
            const char *wait = json_str(c, "state.waiting.reason", NULL);
            const char *end = json_str(c, "state.terminated.reason", NULL);
            if (wait || (end && !(k == 0 && str_eq(end, "Completed"))))
                word = wait ? wait : end;
        }
    }
    return json_has(pod, "metadata.deletionTimestamp") ? "Terminating" : word;
}

static enum glyph pod_sign(const char *status, enum role *role)
{
    static const struct { const char *word; enum glyph g; enum role role; } table[] = {
        {"Running", G_LIVE, ROLE_OK},         {"Completed", G_OK, ROLE_OK},
        {"Succeeded", G_OK, ROLE_OK},         {"Pending", G_WAIT, ROLE_RUN},
        {"ContainerCreating", G_WAIT, ROLE_RUN}, {"PodInitializing", G_WAIT, ROLE_RUN},
        {"Terminating", G_WAIT, ROLE_RUN},    {"Unknown", G_ASK, ROLE_WARN}};
    for (size_t i = 0; i < ARRAY_LEN(table); i++) {
        if (str_eq(table[i].word, status)) {
            *role = table[i].role;
            return table[i].g;
        }
    }
    *role = ROLE_FAIL;
    return G_FAIL;
}

/* Pods of one Job differ at the end of their names. */
static void pod_name(struct rows *out, const char *name, int w)
{
    struct str s;
    str_init(&s, 1024);
    text_fit_middle(name, w - 1, glyph_of(out->glyphs, G_MORE), &s);
    rows_cell(out, ROLE_TEXT, s.p, w);
    str_release(&s);
}

static void pod_row(const struct app *a, struct rows *out, const struct json *pod, int id, int w)
{
    const char *status = panel_pod_status(pod);
    enum role role;
    enum glyph g = pod_sign(status, &role);
    int ready = 0, all = 0, restarts = 0;
    char age[16], buf[32];
    for (const struct json *c = json_first(json_at(pod, "status.containerStatuses")); c;
         c = json_next(c)) {
        all++;
        ready += json_bool(c, "ready", false);
        restarts += (int)json_int(c, "restartCount", 0);
    }
    if (all == 0)
        all = (int)json_count(json_at(pod, "spec.containers"));
    int status_w = w >= 46 ? 18 : 0, name_w = MAX(w - 3 - status_w - 17, 8);
    rows_new(out, id);
    rows_put(out, ROLE_TEXT, " ");
    rows_sign(out, role, g);
    rows_put(out, ROLE_TEXT, " ");
    pod_name(out, clean(out, json_str(pod, "metadata.name", "?")), name_w);
    if (status_w)
        rows_cell(out, role, clean(out, status), status_w);
    rows_cell_right(out, ROLE_TEXT, str_fmt(buf, sizeof buf, "%d/%d", ready, all), 5);
    rows_cell_right(out, ROLE_MUTED,
                    panel_age(a, panel_time(pod, "metadata.creationTimestamp"), age), 6);
    rows_cell_right(out, restarts ? ROLE_WARN : ROLE_MUTED,
                    str_fmt(buf, sizeof buf, "%d", restarts), 5);
    if (!status_w && !str_eq(status, "Running"))
        rows_linef(out, role, "     %s", clean(out, status));
}

static void pods(const struct app *a, struct rows *out, int w)
{
    const struct table *t = session_table(a->s, "pods");
    int id = 0, status_w = w >= 46 ? 18 : 0, name_w = MAX(w - 3 - status_w - 17, 8);
    rows_blank(out);
    rows_new(out, -1);
    rows_putf(out, ROLE_HEAD, "%s ", _("Pods"));
    rows_cell(out, ROLE_MUTED, a->s->cluster.ns, MAX(3 + name_w - out->v[out->n - 1].width, 1));
    if (status_w)
        rows_cell(out, ROLE_MUTED, _("status"), status_w);
    rows_cell_right(out, ROLE_MUTED, _("ready"), 5);
    rows_cell_right(out, ROLE_MUTED, _("age"), 6);
    rows_cell_right(out, ROLE_MUTED, _("rst"), 5);
    for (const struct json *c = json_first(t->items); c; c = json_next(c))
        pod_row(a, out, c, id++, w);
    if (id == 0)
        rows_line(out, ROLE_MUTED, t->synced ? _(" none yet") : "");
}

/* --- events ------------------------------------------------------------------- */
int64_t panel_event_time(const struct json *e)
{
    static const char *const paths[] = {"series.lastObservedTime", "lastTimestamp", "eventTime",
                                        "firstTimestamp", "metadata.creationTimestamp"};
    for (size_t i = 0; i < ARRAY_LEN(paths); i++) {
        int64_t t = panel_time(e, paths[i]);
        if (t)
            return t;
    }
    return 0;
}

struct timed {
    const struct json *event;
    int64_t at;
    int64_t place;               /* among events of one second the server's order */
};

static int newest_first(const void *a, const void *b)
{
    const struct timed *x = a, *y = b;
    if (x->at != y->at)
        return x->at < y->at ? 1 : -1;
    return x->place < y->place ? 1 : -1;
}

static void event_row(const struct app *a, struct rows *out, const struct json *e, int w)
{
    bool warning = str_eq(json_str(e, "type", "Normal"), "Warning");
    char age[16];
    rows_new(out, -1);
    rows_cell_right(out, ROLE_MUTED, panel_age(a, panel_event_time(e), age), 5);
    rows_put(out, ROLE_TEXT, " ");
    rows_cell(out, warning ? ROLE_WARN : ROLE_TEXT, clean(out, json_str(e, "reason", "?")), 16);
    rows_put(out, ROLE_TEXT, " ");
    rows_cell(out, ROLE_MUTED,
              clean(out, json_str(e, "message", json_str(e, "note", ""))), MAX(w - 23, 4));
}

static void events(const struct app *a, struct rows *out, int w)
{
    const struct table *t = session_table(a->s, "events");
    size_t n = json_count(t->items), i = 0;
    if (n == 0)
        return;
    struct timed *v = arena_alloc(&out->arena, n * sizeof *v);
    for (const struct json *c = json_first(t->items); c; c = json_next(c), i++) {
        v[i] = (struct timed){c, panel_event_time(c) / 1000, (int64_t)i};
        str_to_i64(json_str(c, "metadata.resourceVersion", ""), &v[i].place);
    }
    qsort(v, n, sizeof *v, newest_first);
    rows_blank(out);
    rows_line(out, ROLE_HEAD, _("Events"));
    for (i = 0; i < n && i < EVENTS_SHOWN; i++)
        event_row(a, out, v[i].event, w);
}

static void rows(const struct app *a, struct rows *out, int w, int h UNUSED)
{
    const struct cluster_state *k = &a->s->cluster;
    if (k->link == LINK_DOWN) {
        rows_new(out, -1);
        rows_sign(out, ROLE_FAIL, G_FAIL);
        rows_putf(out, ROLE_FAIL, " %s", _("The cluster can't be reached"));
        rows_wrap(out, ROLE_MUTED, 2, k->error, w);
        const struct pd_err *e = &a->s->last_error;
        if (e->code)
            rows_wrap(out, ROLE_HINT, 2, e->hint[0] ? e->hint : _(pd_hint(e->code)), w);
        char age[16];
        if (k->last_ok_ms > 0 && json_count(session_table(a->s, "nodes")->items) > 0)
            rows_linef(out, ROLE_WARN, _("  as it was %s ago:"), panel_age(a, k->last_ok_ms, age));
        rows_blank(out);
    }
    bool any = nodes(a, out, w);
    if (!any && k->link != LINK_DOWN)
        rows_line(out, ROLE_MUTED, k->link == LINK_UP ? _(" reading") : _(" connecting"));
    if (!any)
        return;
    pods(a, out, w);
    events(a, out, w);
}

static bool ages(const struct app *a)
{
    return a->s->cluster.link == LINK_DOWN || json_count(session_table(a->s, "pods")->items) > 0;
}

const struct panel panel_cluster = {title, rows, NULL, ages, N_("Cluster")};
