/* headless_reset.c - `podium lab reset`: what carries the lab's label goes from
 * the cluster, and the lab begins anew; the person's files are moved aside,
 * never deleted. */
#include "core/base/base.h"

#include <errno.h>
#include <stdio.h>

#include "core/base/clock.h"
#include "core/base/i18n.h"
#include "core/base/mem.h"
#include "core/base/path.h"
#include "labs/effects.h"
#include "labs/errjson.h"
#include "labs/headless.h"

static const char *const kinds[] = {"jobs", "pods", "persistentvolumeclaims"};
enum { RESET_LIMIT_MS = 60000 };

struct reset {
    struct loop *loop;
    struct effects_runner *r;
    struct effects out;
    const struct lab *lab;
    uint16_t cluster;
    uint32_t epoch;
    char ns[128];
    int open, deleted;
    uint32_t lists[ARRAY_LEN(kinds)];
};

static void stop_with(struct reset *t, const struct json *error)
{
    struct pd_err err;
    char text[1024];
    if (errjson_read(error, &err))
        fprintf(stderr, "podium: %s\n", pd_describe(&err, text, sizeof text));
    loop_stop(t->loop, 3);
}

static void list_all(struct reset *t)
{
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
        struct json *args = json_new_object();
        char label[80];
        str_fmt(label, sizeof label, "podium/lab=%s", t->lab->id);
        json_put_str(args, "resource", kinds[i]);
        json_put_str(args, "namespace", t->ns);
        json_put_str(args, "labelSelector", label);
        t->lists[i] = effects_add(&t->out, EFF_LIST, t->cluster, t->epoch, args);
        t->open++;
    }
}

static void delete_all(struct reset *t, const char *kind, const struct json *list)
{
    for (const struct json *o = json_first(json_get(list, "items")); o; o = json_next(o)) {
        struct json *args = json_new_object();
        const char *name = json_str(o, "metadata.name", "");
        json_put_str(args, "resource", kind);
        json_put_str(args, "namespace", json_str(o, "metadata.namespace", t->ns));
        json_put_str(args, "name", name);
        json_put_str(args, "uid", json_str(o, "metadata.uid", NULL));
        effects_add(&t->out, EFF_DELETE, t->cluster, t->epoch, args);
        printf(_("deleting %s/%s\n"), kind, name);
        t->open++;
        t->deleted++;
    }
}

static void take_reply(struct reset *t, const struct msg *m)
{
    int64_t status = json_int(m->body, "status", 0);
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
        if (t->lists[i] == m->effect && status == 200)
            delete_all(t, kinds[i], json_get(m->body, "object"));
    if (json_has(m->body, "error") && status != 404)
        stop_with(t, json_get(m->body, "error"));
    else if (--t->open == 0)
        loop_stop(t->loop, 0);
}

static void deliver(void *arg, struct msg *m)
{
    struct reset *t = arg;
    const char *state = json_str(m->body, "state", "");
    if (m->kind == MSG_CLUSTER && m->cluster && !t->cluster) {
        t->cluster = m->cluster;
        t->epoch = m->epoch;
        str_copy(t->ns, sizeof t->ns, json_str(m->body, "namespace", "default"));
        list_all(t);
    } else if (m->kind == MSG_CLUSTER && str_eq(state, "down")) {
        stop_with(t, json_get(m->body, "error"));
    } else if (m->kind == MSG_REPLY) {
        take_reply(t, m);
    }
    msg_free(m);
    effects_run_all(t->r, &t->out);
}

static void too_late(void *arg)
{
    struct reset *t = arg;
    fprintf(stderr, _("podium: the cluster did not answer in time\n"));
    loop_stop(t->loop, 3);
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

int headless_reset(const struct lab *lab, const struct headless_options *o)
{
    struct reset t = {.lab = lab};
    t.loop = loop_new();
    struct effects_options eo = {.kubeconfig = o->kubeconfig, .context = o->context, .ns = o->ns,
                                 .deliver = deliver, .arg = &t};
    t.r = effects_runner_new(t.loop, &eo);
    effects_init(&t.out);
    effects_add(&t.out, EFF_CONNECT, 0, 0, json_new_object());
    effects_run_all(t.r, &t.out);
    loop_timer(t.loop, RESET_LIMIT_MS, too_late, &t, "reset limit");
    int code = loop_run(t.loop);
    effects_runner_free(t.r);
    effects_release(&t.out);
    loop_free(t.loop);
    if (!code)
        code = put_aside(lab);
    if (!code)
        printf(_("%s is as new (%d objects deleted)\n"), lab->id, t.deleted);
    return code;
}
