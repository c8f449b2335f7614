/* headless_reset.c - `podium lab reset`: what carries the lab's label goes from
 * the cluster, and the lab begins anew; the person's files are moved aside,
 * never deleted. */
#include "core/base/base.h"

#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/base/i18n.h"
#include "core/base/mem.h"
#include "core/base/path.h"
#include "labs/headless_priv.h"

enum { RESET_LIMIT_MS = 60000, RESET_LINK_MS = 15000 };

struct reset {
    struct headless h;            /* its loop, session and effects */
    bool told;
    int64_t begun_ms;
};

static void tell(const struct session *s)
{
    for (const struct json *i = json_first(s->clean.items); i; i = json_next(i))
        printf(_("deleting %s\n"), json_string_value(i));
}

static void stop_with(struct reset *t, const char *why)
{
    fprintf(stderr, "podium: %s\n", why);
    loop_stop(t->h.loop, 3);
}

static void no_cluster(struct reset *t)
{
    const struct session *s = t->h.s;
    char text[1200];
    stop_with(t, s->last_error.code ? pd_describe(&s->last_error, text, sizeof text)
                                    : _("the cluster can't be reached"));
}

static void advance(struct reset *t)
{
    struct session *s = t->h.s;
    if (!session_priv(s)->progress || s->cluster.link != LINK_UP)
        return;
    switch (s->clean.state) {
    case CLEAN_NONE: headless_command(&t->h, "lab.cleanup", NULL, NULL); break;
    case CLEAN_ASKING:
        if (!t->told)
            tell(s);
        t->told = true;
        headless_command(&t->h, "lab.cleanup", "yes", NULL);
        break;
    case CLEAN_DONE: loop_stop(t->h.loop, 0); break;
    case CLEAN_FAILED: stop_with(t, s->clean.text); break;
    case CLEAN_LOOKING:
    case CLEAN_RUNNING: break;
    }
}

static void deliver(void *arg, struct msg *m)
{
    struct reset *t = arg;
    bool down = m->kind == MSG_CLUSTER && !m->cluster &&
                str_eq(json_str(m->body, "state", ""), "down");
    headless_apply(&t->h, m);
    msg_free(m);
    if (down)
        no_cluster(t);
    else
        advance(t);
}

static void poll(void *arg)
{
    struct reset *t = arg;
    int64_t past = clock_ms() - t->begun_ms;
    if (past > RESET_LIMIT_MS)
        stop_with(t, _("the cluster did not answer in time"));
    else if (past > RESET_LINK_MS && t->h.s->cluster.link != LINK_UP)
        no_cluster(t);
    else {
        advance(t);
        loop_timer(t->h.loop, 500, poll, t, "reset poll");
    }
}

static int put_aside(const struct lab *lab)
{
    char *work = lab_work_dir(lab);
    char *aside = xasprintf("%s.%" PRId64, work, clock_wall_ms() / 1000);
    int code = 0;
    if (rename(work, aside) == 0)
        printf(_("your files are kept in %s\n"), aside);
    else if (errno != ENOENT) {
        fprintf(stderr, _("podium: %s can't be moved aside\n"), work);
        code = 1;
    }
    free(aside);
    free(work);
    return code;
}

/* Who never began the lab has no folder, and shall not get one by this. */
static char *root_of(const struct lab *lab)
{
    char *work = lab_work_dir(lab);
    char *root = access(work, F_OK) == 0 ? NULL : path_home(PATH_DATA, "reset");
    free(work);
    return root;
}

int headless_reset(const struct lab *lab, const struct headless_options *o)
{
    struct lab_entry entry = {.path = (char *)lab->path, .id = (char *)lab->id,
                              .lab = (struct lab *)lab};
    struct lab_list list = {&entry, 1};
    struct reset t = {.begun_ms = clock_ms()};
    struct pd_err err;
    char *root = root_of(lab);
    t.h.o = o;
    t.h.loop = loop_new();
    t.h.s = session_new(&list);
    if (root)
        session_set_work(t.h.s, root, 1);
    struct effects_options eo = {.kubeconfig = o->kubeconfig, .context = o->context, .ns = o->ns,
                                 .deliver = deliver, .arg = &t};
    t.h.r = effects_runner_new(t.h.loop, &eo);
    effects_init(&t.h.out);
    session_start(t.h.s, o->context, &t.h.out);
    headless_command(&t.h, "lab.open", lab->id, NULL);
    loop_timer(t.h.loop, 500, poll, &t, "reset poll");
    int code = loop_run(t.h.loop);
    int deleted = t.h.s->clean.deleted;
    effects_runner_free(t.h.r);
    effects_release(&t.h.out);
    session_free(t.h.s);
    loop_free(t.h.loop);
    if (root && path_remove_tree(root, &err))
        fprintf(stderr, "podium: %s\n", err.msg);
    if (!code && !root)
        code = put_aside(lab);
    free(root);
    if (!code)
        printf(_("%s is as new (%d objects deleted)\n"), lab->id, deleted);
    return code;
}
