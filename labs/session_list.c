/* session_list.c - what the console's lists of the cluster ask for: the pods of
 * all namespaces, and the end of one pod. */
#include "core/base/i18n.h"
#include "labs/errjson.h"
#include "labs/session_priv.h"

void session_nodes_look(struct session *s, struct effects *out)
{
    struct session_priv *p = session_priv(s);
    if (p->pods_look || s->cluster.link != LINK_UP)
        return;
    struct json *args = json_new_object();
    json_put_str(args, "resource", "pods");
    json_put_str(args, "namespace", "");
    json_put_bool(args, "rows", true);
    p->pods_look = session_effect(s, out, EFF_LIST, args);
}

void session_pod_delete(struct session *s, const char *name_uid, struct effects *out)
{
    const char *blank = strchr(name_uid, ' ');
    char name[256];
    if (!blank || (size_t)(blank - name_uid) >= sizeof name) {
        session_say(s, PD_USAGE, "%s", _("pod.delete needs a name and a uid"));
        return;
    }
    str_copy(name, (size_t)(blank - name_uid) + 1, name_uid);
    struct json *args = json_new_object();
    json_put_str(args, "resource", "pods");
    json_put_str(args, "namespace", s->cluster.ns);
    json_put_str(args, "name", name);
    json_put_str(args, "uid", blank + 1);
    session_priv(s)->pod_delete = session_effect(s, out, EFF_DELETE, args);
    session_say(s, PD_OK, _("pod/%s: the server is asked to delete it"), name);
}

/* Parts of the pods of all namespaces. */
bool session_list_part(struct session *s, const struct msg *m)
{
    if (m->kind != MSG_LIST || !m->effect || m->effect != session_priv(s)->pods_look)
        return false;
    if (!s->all_pods.items)
        table_init(&s->all_pods, "pods@all");
    session_list_take(s, &s->all_pods, m);
    return true;
}

/* The end of their list. */
static void pods_over(struct session *s, const struct msg *m)
{
    struct table *t = &s->all_pods;
    struct pd_err err;
    t->generation++;
    t->changed_ms = m->at_ms;
    t->error[0] = '\0';
    t->forbidden = false;
    if (!errjson_read(json_get(m->body, "error"), &err))
        return;
    t->forbidden = err.code == PD_FORBIDDEN;
    session_clean(t->error, sizeof t->error, err.msg);
    if (t->forbidden && t->items)
        table_clear(t);              /* else what was seen before stays */
}

bool session_list_message(struct session *s, const struct msg *m)
{
    struct session_priv *p = session_priv(s);
    struct pd_err err;
    if (m->effect && m->effect == p->pods_look) {
        p->pods_look = 0;
        pods_over(s, m);
        session_changed(s);
        return true;
    }
    if (!m->effect || m->effect != p->pod_delete)
        return false;
    p->pod_delete = 0;
    if (!errjson_read(json_get(m->body, "error"), &err))
        return true;
    s->last_error = err;
    if (err.code == PD_CONFLICT)
        session_say(s, err.code, "%s",
                    _("not deleted: it is another pod of the same name by now"));
    else
        session_say(s, err.code, "%s", err.msg);
    return true;
}
