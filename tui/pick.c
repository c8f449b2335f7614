/* pick.c - choosing a context or a namespace (pick.h). */
#include "tui/pick.h"

#include "tui/cmd.h"

enum { PICK_REST_MS = 300 };

static bool passes(const struct app *a, const char *one, const char *two)
{
    char text[400];
    return lists_pass(a->pick.find, str_fmt(text, sizeof text, "%s %s", one, two));
}

struct pick_contexts pick_contexts(const struct app *a, struct arena *arena)
{
    const struct conn *c = &a->s->conn;
    struct pick_contexts l = {arena_alloc(arena, (c->contexts_n + 1) * sizeof *l.v), 0,
                              (int)c->contexts_n};
    for (size_t i = 0; i < c->contexts_n; i++)
        if (passes(a, c->context[i].name, c->context[i].server))
            l.v[l.n++] = &c->context[i];
    return l;
}

static bool known(const struct app *a, const struct conn_ns *n)
{
    return n->own || n->used || str_eq(n->name, a->s->cluster.ns);
}

struct pick_spaces pick_spaces(const struct app *a, struct arena *arena)
{
    const struct conn *c = &a->s->conn;
    struct pick_spaces l = {arena_alloc(arena, (c->ns_n + 1) * sizeof *l.v), 0, (int)c->ns_n};
    for (int pass = 0; pass < 2; pass++)
        for (size_t i = 0; i < c->ns_n; i++)
            if (known(a, &c->ns[i]) == (pass == 0) && passes(a, c->ns[i].name, ""))
                l.v[l.n++] = &c->ns[i];
    return l;
}

/* Names of what is on show, by row; false: there is no such row. */
static bool name_at(const struct app *a, enum panel_id panel, int i, char name[128])
{
    struct arena arena;
    arena_init(&arena, 16 << 20);
    const char *found = NULL;
    if (panel == PANEL_CTX) {
        struct pick_contexts l = pick_contexts(a, &arena);
        found = i >= 0 && i < l.n ? l.v[i]->name : NULL;
    } else {
        struct pick_spaces l = pick_spaces(a, &arena);
        found = i >= 0 && i < l.n ? l.v[i]->name : NULL;
    }
    str_copy(name, 128, found ? found : "");
    arena_release(&arena);
    return found != NULL;
}

const char *pick_context(const struct app *a, char name[128])
{
    name_at(a, PANEL_CTX, a->sel[PANEL_CTX], name);
    return name;
}

const char *pick_space(const struct app *a, char name[128])
{
    name_at(a, PANEL_NS, a->sel[PANEL_NS], name);
    return name;
}

int pick_place(const struct app *a, enum panel_id panel, const char *name)
{
    char at[128];
    for (int i = 0; name_at(a, panel, i, at); i++)
        if (str_eq(at, name))
            return i;
    return 0;
}

bool pick_back(struct app *a)
{
    if ((a->focus != PANEL_CTX && a->focus != PANEL_NS) || !a->pick.find[0])
        return false;
    a->pick.find[0] = '\0';
    a->sel[a->focus] = pick_place(a, a->focus, a->pick.name);
    return true;
}

/* --- looking at what is selected -------------------------------------------------- */
/* Nobody has looked at it yet. */
static bool unknown(const struct app *a, const char *name)
{
    const struct conn_context *x = conn_context_find(&a->s->conn, name);
    const struct conn_ns *n = conn_ns_find(&a->s->conn, name);
    if (a->focus == PANEL_CTX)
        return x && x->probe == PROBE_NONE && !x->error[0];
    return n && n->probe == PROBE_NONE && a->s->cluster.link == LINK_UP;
}

static void forget(struct app *a, struct effects *out)
{
    if (!a->pick.timer)
        return;
    struct json *args = json_new_object();
    json_put_num(args, "effect", a->pick.timer);
    effects_add(out, EFF_CANCEL, 0, 0, args);
    a->pick.timer = 0;
}

static void wait_for(struct app *a, const char *name, struct effects *out)
{
    struct json *args = json_new_object();
    forget(a, out);
    str_copy(a->pick.waits, sizeof a->pick.waits, name);
    json_put_str(args, "name", "pick");
    json_put_num(args, "ms", PICK_REST_MS);
    a->pick.timer = effects_add(out, EFF_TIMER, 0, 0, args);
}

/* The list may have changed below the selection: it stays on its name. */
static void stay(struct app *a, const struct msg *m)
{
    char name[128];
    if (m->kind == MSG_REPLY && a->pick.name[0])
        a->sel[a->focus] = pick_place(a, a->focus, a->pick.name);
    name_at(a, a->focus, a->sel[a->focus], name);
    if (name[0])
        str_copy(a->pick.name, sizeof a->pick.name, name);
}

void pick_follow(struct app *a, const struct msg *m, struct effects *out)
{
    char name[128];
    bool here = a->focus == PANEL_CTX || a->focus == PANEL_NS;
    bool rang = m->kind == MSG_TIMER && m->effect && m->effect == a->pick.timer;
    if (rang)
        a->pick.timer = 0;
    if (!here) {
        forget(a, out);
        return;
    }
    stay(a, m);
    name_at(a, a->focus, a->sel[a->focus], name);
    if (!name[0] || !unknown(a, name)) {
        forget(a, out);
    } else if (rang && str_eq(name, a->pick.waits)) {
        app_session(a, a->focus == PANEL_CTX ? "ctx.probe" : "ns.probe", name, out);
    } else if (!a->pick.timer || !str_eq(name, a->pick.waits)) {
        wait_for(a, name, out);
    }
}
