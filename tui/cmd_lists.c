/* cmd_lists.c - the lists of the cluster: opening, sorting, filtering, and what
 * can be done with the selected object. */
#include "tui/cmd_lists.h"

#include "core/base/i18n.h"
#include "tui/cmd.h"
#include "tui/confirm.h"
#include "tui/panel_cluster.h"
#include "tui/panel_object.h"

/* --- which list ------------------------------------------------------------------- */
static int list_of(enum panel_id panel)
{
    return panel == PANEL_PODS ? LIST_PODS : panel == PANEL_NODES ? LIST_NODES
           : panel == PANEL_EVENTS ? LIST_EVENTS : -1;
}

static struct list_view *view(struct app *a)
{
    int i = list_of(a->focus);
    return i < 0 ? NULL : &a->list[i];
}

static int count(const struct app *a, enum panel_id panel)
{
    if (panel == PANEL_PODS)
        return lists_pods(a->lists, a->s, &a->list[LIST_PODS]).n;
    if (panel == PANEL_NODES)
        return lists_nodes(a->lists, a->s, &a->list[LIST_NODES]).n;
    return lists_events(a->lists, a->s, &a->list[LIST_EVENTS]).n;
}

/* What tells a row from all others, "" when there is none. */
static void identity(const struct app *a, enum panel_id panel, int i, char out[160])
{
    out[0] = '\0';
    if (i < 0 || i >= count(a, panel))
        return;
    if (panel == PANEL_PODS) {
        struct lists_pods l = lists_pods(a->lists, a->s, &a->list[LIST_PODS]);
        str_copy(out, 160, l.v[l.order[i]].uid);
    } else if (panel == PANEL_NODES) {
        struct lists_nodes l = lists_nodes(a->lists, a->s, &a->list[LIST_NODES]);
        str_copy(out, 160, l.v[l.order[i]].name);
    } else {
        struct lists_events l = lists_events(a->lists, a->s, &a->list[LIST_EVENTS]);
        const struct eventinfo *e = &l.v[l.order[i]];
        str_fmt(out, 160, "%s %s %" PRId64, e->name, e->reason, e->place);
    }
}

void cmd_lists_picked(struct app *a)
{
    int list = list_of(a->focus);
    if (list >= 0)
        identity(a, a->focus, a->sel[a->focus], a->list[list].picked);
}

/* The list has changed below the selection: it stays on its row. */
void cmd_lists_follow(struct app *a)
{
    int list = list_of(a->focus), n;
    char now[160];
    if (list < 0)
        return;
    struct list_view *v = &a->list[list];
    int *sel = &a->sel[a->focus];
    n = count(a, a->focus);
    *sel = MIN(MAX(*sel, 0), MAX(n - 1, 0));
    identity(a, a->focus, *sel, now);
    for (int off = 1; v->picked[0] && !str_eq(now, v->picked) && off < n; off++)
        for (int side = -1; side <= 1; side += 2) {      /* it has not gone far, mostly */
            char id[160];
            identity(a, a->focus, *sel + side * off, id);
            if (*id && str_eq(id, v->picked)) {
                *sel += side * off;
                return;
            }
        }
    str_copy(v->picked, sizeof v->picked, now);
}

static void open_list(struct app *a, enum panel_id panel, const char *filter)
{
    struct list_view *v = &a->list[list_of(panel)];
    if (filter)
        str_copy(v->filter, sizeof v->filter, filter);
    app_over(a, panel);
    cmd_lists_follow(a);
}

void cmd_pods(struct app *a, const char *arg, struct effects *out UNUSED)
{
    open_list(a, PANEL_PODS, arg);
}

void cmd_nodes(struct app *a, const char *arg, struct effects *out)
{
    open_list(a, PANEL_NODES, arg);
    app_session(a, "nodes.look", NULL, out);
}

void cmd_nodes_look(struct app *a, const char *arg UNUSED, struct effects *out)
{
    app_session(a, "nodes.look", NULL, out);
    app_note(a, false, "%s", _("reading the pods of all namespaces"));
}

void cmd_events(struct app *a, const char *arg, struct effects *out UNUSED)
{
    open_list(a, PANEL_EVENTS, arg);
}

/* --- sort and filter -------------------------------------------------------------- */
static void sort_by(struct app *a, enum list_sort sort)
{
    struct list_view *v = view(a);
    if (!v)
        return;
    v->reverse = v->sort == sort && !v->reverse;
    v->sort = sort;
    app_note(a, false, v->reverse ? _("sorted by %s, the other way round") : _("sorted by %s"),
             _(lists_sort_name(sort)));
}

void cmd_sort_name(struct app *a, const char *arg UNUSED, struct effects *out UNUSED)
{
    sort_by(a, SORT_NAME);
}

void cmd_sort_age(struct app *a, const char *arg UNUSED, struct effects *out UNUSED)
{
    sort_by(a, SORT_AGE);
}

void cmd_sort_status(struct app *a, const char *arg UNUSED, struct effects *out UNUSED)
{
    sort_by(a, SORT_STATUS);
}

void cmd_sort_node(struct app *a, const char *arg UNUSED, struct effects *out UNUSED)
{
    sort_by(a, SORT_NODE);
}

static void typed(struct app *a, const char *text)
{
    struct list_view *v = view(a);
    if (!v)
        return;
    str_copy(v->filter, sizeof v->filter, text);
    a->sel[a->focus] = 0;
    v->picked[0] = '\0';
}

void cmd_rows_filter(struct app *a, const char *arg, struct effects *out UNUSED)
{
    struct list_view *v = view(a);
    if (v && arg) {
        typed(a, arg);
    } else if (v) {
        cmd_ask(a, _("rows with (!text: without)"), "rows.filter", v->filter);
        a->prompt.typed = typed;
    }
}

void cmd_warnings(struct app *a, const char *arg UNUSED, struct effects *out UNUSED)
{
    a->list[LIST_EVENTS].only = !a->list[LIST_EVENTS].only;
}

void cmd_api_errors(struct app *a, const char *arg UNUSED, struct effects *out UNUSED)
{
    a->api_errors = !a->api_errors;
}

static void api_typed(struct app *a, const char *text)
{
    str_copy(a->api_filter, sizeof a->api_filter, text);
}

void cmd_api_filter(struct app *a, const char *arg, struct effects *out UNUSED)
{
    if (arg) {
        api_typed(a, arg);
        return;
    }
    cmd_ask(a, _("rows with (!text: without)"), "api.filter", a->api_filter);
    a->prompt.typed = api_typed;
}

/* Esc takes a filter off before it goes back. */
bool cmd_lists_back(struct app *a)
{
    struct list_view *v = view(a);
    if (a->focus == PANEL_API && (a->api_filter[0] || a->api_errors)) {
        a->api_filter[0] = '\0';
        a->api_errors = false;
        return true;
    }
    if (!v || (!v->filter[0] && !v->only))
        return false;
    v->filter[0] = '\0';
    v->only = false;
    return true;
}

/* --- the selected object ---------------------------------------------------------- */
static const struct podinfo *list_pod(const struct app *a)
{
    struct lists_pods l = lists_pods(a->lists, a->s, &a->list[LIST_PODS]);
    int i = a->sel[PANEL_PODS];
    return i >= 0 && i < l.n ? &l.v[l.order[i]] : NULL;
}

static bool cluster_pod(const struct app *a, const char **name, const char **uid)
{
    const struct json *p = panel_cluster_pod(a, a->sel[PANEL_CLUSTER]);
    *name = json_str(p, "metadata.name", NULL);
    *uid = json_str(p, "metadata.uid", "");
    return p != NULL;
}

static bool selected(const struct app *a, const char **name, const char **uid)
{
    const struct podinfo *p = a->focus == PANEL_PODS ? list_pod(a) : NULL;
    bool open = (a->focus == PANEL_OBJECT || a->focus == PANEL_YAML) &&
                str_eq(a->object.kind, "Pod");
    if (a->focus == PANEL_CLUSTER)
        return cluster_pod(a, name, uid);
    if (!p && !open)
        return false;
    *name = p ? p->name : a->object.name;
    *uid = p ? p->uid : a->object.uid;
    return true;
}

const char *cmd_lists_pod(const struct app *a)
{
    const char *name, *uid;
    return selected(a, &name, &uid) ? name : NULL;
}

bool cmd_has_pod(const struct app *a)
{
    return cmd_lists_pod(a) != NULL;
}

static void open_object(struct app *a, const char *kind, const char *name, const char *uid,
                        enum panel_id panel)
{
    struct app_object *o = &a->object;
    struct app_object to = {"", "", ""};
    str_copy(to.kind, sizeof to.kind, kind);
    str_copy(to.name, sizeof to.name, name);
    str_copy(to.uid, sizeof to.uid, uid);
    *o = to;
    a->scroll[panel] = 0;
    app_over(a, panel);
}

static void open_node(struct app *a, const char *name, struct effects *out)
{
    str_copy(a->list[LIST_NODES].picked, sizeof a->list[LIST_NODES].picked, name);
    a->list[LIST_NODES].filter[0] = '\0';
    cmd_nodes(a, NULL, out);
}

/* The object of the selected event. */
static void event_object(struct app *a, struct effects *out)
{
    struct lists_events l = lists_events(a->lists, a->s, &a->list[LIST_EVENTS]);
    int i = a->sel[PANEL_EVENTS];
    if (i < 0 || i >= l.n)
        return;
    const struct eventinfo *e = &l.v[l.order[i]];
    char name[256], kind[32], uid[80];
    str_copy(name, sizeof name, e->name);
    str_copy(kind, sizeof kind, e->kind);
    str_copy(uid, sizeof uid, e->uid);
    if (str_eq(kind, "Node"))
        open_node(a, name, out);
    else if (str_eq(kind, "Pod") || str_eq(kind, "Job"))
        open_object(a, kind, name, uid, PANEL_OBJECT);
    else
        app_note(a, false, _("%s/%s has no screen of its own"), kind, name);
}

void cmd_describe(struct app *a, const char *arg, struct effects *out)
{
    const char *name, *uid;
    if (arg && *arg) {
        open_object(a, "Pod", arg, "", PANEL_OBJECT);
    } else if (a->focus == PANEL_EVENTS) {
        event_object(a, out);
    } else if (a->focus == PANEL_NODES) {
        char node[160];
        identity(a, PANEL_NODES, a->sel[PANEL_NODES], node);
        if (node[0])
            open_object(a, "Node", node, "", PANEL_OBJECT);
    } else if (selected(a, &name, &uid)) {
        open_object(a, "Pod", name, uid, PANEL_OBJECT);
    }
}

void cmd_yaml(struct app *a, const char *arg, struct effects *out)
{
    const char *name, *uid;
    if (a->focus == PANEL_OBJECT) {
        a->scroll[PANEL_YAML] = 0;
        app_over(a, PANEL_YAML);
    } else if (a->focus == PANEL_NODES) {
        cmd_describe(a, arg, out);
        if (a->focus == PANEL_OBJECT)        /* else there is no node */
            cmd_yaml(a, NULL, out);
    } else if (selected(a, &name, &uid)) {
        open_object(a, "Pod", name, uid, PANEL_YAML);
    }
}

void cmd_owner(struct app *a, const char *arg UNUSED, struct effects *out UNUSED)
{
    const struct json *job = panel_object_job(a);
    if (job)
        open_object(a, "Job", json_str(job, "metadata.name", ""), json_str(job, "metadata.uid", ""),
                    PANEL_OBJECT);
}

bool cmd_has_owner(const struct app *a)
{
    return a->focus == PANEL_OBJECT && panel_object_job(a) != NULL;
}

static const char *node_of(const struct app *a)
{
    const char *name, *uid;
    if (!selected(a, &name, &uid))
        return "";
    for (const struct json *p = json_first(session_table(a->s, "pods")->items); p; p = json_next(p))
        if (str_eq(json_str(p, "metadata.name", ""), name))
            return json_str(p, "spec.nodeName", "");
    return "";
}

void cmd_pod_node(struct app *a, const char *arg UNUSED, struct effects *out)
{
    char node[256];
    str_copy(node, sizeof node, node_of(a));
    if (node[0])
        open_node(a, node, out);
}

bool cmd_has_node(const struct app *a)
{
    return *node_of(a) != '\0';
}

void cmd_pod_events(struct app *a, const char *arg UNUSED, struct effects *out UNUSED)
{
    char name[256];
    const char *pod = cmd_lists_pod(a);
    if (!pod)
        return;
    str_copy(name, sizeof name, pod);
    open_list(a, PANEL_EVENTS, name);
}

/* --- logs of it ------------------------------------------------------------------- */
void cmd_show_log(struct app *a)
{
    if (a->s->lab) {
        a->over_n = 0;
        a->tab = a->focus = PANEL_LOG;
        a->tab_chosen = true;
    } else {
        app_over(a, PANEL_LOG);
    }
}

static void show_log(struct app *a, const char *pod, bool previous, struct effects *out)
{
    char name[256];
    bool over = a->over_n > 0;
    str_copy(name, sizeof name, pod);
    app_session(a, "log.follow", name, out);
    if (previous)
        app_session(a, "log.previous", NULL, out);
    a->log_follow = true;
    if (over)
        app_over(a, PANEL_LOG);
    else
        cmd_show_log(a);
}

void cmd_pod_log(struct app *a, const char *arg, struct effects *out)
{
    const char *pod = arg && *arg ? arg : cmd_lists_pod(a);
    if (pod)
        show_log(a, pod, false, out);
}

void cmd_pod_previous(struct app *a, const char *arg, struct effects *out)
{
    const char *pod = arg && *arg ? arg : cmd_lists_pod(a);
    if (pod)
        show_log(a, pod, true, out);
}

/* Enter in the Cluster panel: a heading opens its list, a pod its log. */
void cmd_enter(struct app *a, const char *arg, struct effects *out)
{
    enum panel_id list = panel_cluster_list(a, a->sel[PANEL_CLUSTER]);
    if (arg && *arg)
        show_log(a, arg, false, out);
    else if (list == PANEL_PODS)
        cmd_pods(a, NULL, out);
    else if (list == PANEL_NODES)
        cmd_nodes(a, NULL, out);
    else if (list == PANEL_EVENTS)
        cmd_events(a, NULL, out);
    else
        cmd_pod_log(a, NULL, out);
}

/* --- the end of it ---------------------------------------------------------------- */
void cmd_pod_delete(struct app *a, const char *arg UNUSED, struct effects *out UNUSED)
{
    const char *name, *uid;
    char title[200], pin[400];
    if (!selected(a, &name, &uid))
        return;
    const struct json *owner = NULL;
    for (const struct json *p = json_first(session_table(a->s, "pods")->items); p; p = json_next(p))
        if (str_eq(json_str(p, "metadata.name", ""), name))
            owner = json_at(p, "metadata.ownerReferences[0]");
    char lost[400];
    if (owner)
        str_fmt(lost, sizeof lost, _("What it has in memory is lost. %s/%s may make a new pod."),
                json_str(owner, "kind", ""), json_str(owner, "name", ""));
    else
        str_copy(lost, sizeof lost, _("Nothing makes it anew: it has no owner."));
    str_fmt(title, sizeof title, _("Delete pod/%s?"), name);
    str_fmt(pin, sizeof pin, "%s %s", name, uid);
    struct confirm c = {title, lost, _("Delete"), "pod.delete", pin};
    confirm_ask(a, &c);
}

/* --- copying ---------------------------------------------------------------------- */
bool cmd_lists_copy(const struct app *a, struct str *text)
{
    if (a->focus == PANEL_YAML)
        panel_object_yaml(a, text);
    return text->len > 0;
}
