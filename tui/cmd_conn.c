/* cmd_conn.c - contexts, namespaces, the connection and one's rights. */
#include "core/base/i18n.h"
#include "tui/cmd.h"
#include "tui/panel_rights.h"
#include "tui/pick.h"

static void open_list(struct app *a, enum panel_id panel, const char *name)
{
    a->pick.find[0] = '\0';
    str_copy(a->pick.name, sizeof a->pick.name, name);
    app_over(a, panel);
    a->sel[panel] = pick_place(a, panel, name);
}

/* The list goes; what is below it stays on show until the other place answers. */
static void leave(struct app *a)
{
    if (a->focus == PANEL_CTX || a->focus == PANEL_NS)
        app_over_close(a);
}

void cmd_ctx(struct app *a, const char *arg, struct effects *out)
{
    if (arg && *arg) {
        leave(a);
        app_session(a, "ctx.use", arg, out);
        return;
    }
    app_session(a, "ctx.list", NULL, out);
    open_list(a, PANEL_CTX, a->s->cluster.context);
}

void cmd_ctx_use(struct app *a, const char *arg UNUSED, struct effects *out)
{
    char name[128];
    const struct conn_context *x = conn_context_find(&a->s->conn, pick_context(a, name));
    if (!name[0])
        return;
    if (x && x->error[0]) {
        app_note(a, true, _("%s can't be used: %s"), name, x->error);
        return;
    }
    leave(a);
    if (!str_eq(name, a->s->cluster.context) || a->s->cluster.link != LINK_UP)
        app_session(a, "ctx.use", name, out);
}

void cmd_ctx_probe(struct app *a, const char *arg UNUSED, struct effects *out)
{
    char name[128];
    if (*pick_context(a, name))
        app_session(a, "ctx.probe", name, out);
}

void cmd_ns(struct app *a, const char *arg, struct effects *out)
{
    if (arg && *arg) {
        leave(a);
        app_session(a, "ns.use", arg, out);
        return;
    }
    if (a->s->cluster.link == LINK_UP && a->s->conn.ns_list != MAY_NO)
        app_session(a, "ns.list", NULL, out);
    open_list(a, PANEL_NS, a->s->cluster.ns);
}

void cmd_ns_use(struct app *a, const char *arg UNUSED, struct effects *out)
{
    char name[128];
    if (!*pick_space(a, name))
        return;
    leave(a);
    if (!str_eq(name, a->s->cluster.ns))
        app_session(a, "ns.use", name, out);
}

void cmd_ns_probe(struct app *a, const char *arg UNUSED, struct effects *out)
{
    char name[128];
    if (*pick_space(a, name))
        app_session(a, "ns.probe", name, out);
}

void cmd_ns_type(struct app *a, const char *arg UNUSED, struct effects *out UNUSED)
{
    cmd_ask(a, _("namespace"), "ns", a->pick.find);
}

void cmd_conn(struct app *a, const char *arg UNUSED, struct effects *out)
{
    app_session(a, "conn.look", NULL, out);
    a->scroll[PANEL_CONN] = 0;
    app_over(a, PANEL_CONN);
}

void cmd_conn_retry(struct app *a, const char *arg UNUSED, struct effects *out)
{
    if (a->s->cluster.link == LINK_UP) {
        app_session(a, "conn.look", NULL, out);
        app_note(a, false, "%s", _("asked again who you are"));
        return;
    }
    app_session(a, "ctx.use", a->s->cluster.context, out);
}

void cmd_rights(struct app *a, const char *arg UNUSED, struct effects *out)
{
    app_session(a, "rights.look", NULL, out);
    a->scroll[PANEL_RIGHTS] = a->sel[PANEL_RIGHTS] = 0;
    app_over(a, PANEL_RIGHTS);
}

/* "delete pods" is answered in the message row. */
void cmd_can(struct app *a, const char *arg, struct effects *out)
{
    if (arg && *arg)
        app_session(a, "can.ask", arg, out);
    else
        cmd_rights(a, NULL, out);
}

bool cmd_has_missing(const struct app *a)
{
    struct str text;
    str_init(&text, 64 << 10);
    bool any = panel_rights_role(a, &text);
    str_release(&text);
    return any;
}

void cmd_rights_copy(struct app *a, const char *arg UNUSED, struct effects *out)
{
    struct str text;
    str_init(&text, 64 << 10);
    if (panel_rights_role(a, &text)) {
        struct json *args = json_new_object();
        json_put_str(args, "text", text.p);
        effects_add(out, EFF_COPY_TEXT, 0, 0, args);
    }
    str_release(&text);
}
