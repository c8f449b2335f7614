/* msg.c - messages and effects (msg.h). */
#include "core/base/msg.h"

#include "core/base/clock.h"
#include "core/base/i18n.h"
#include "core/base/mem.h"

static const char *const msg_names[] = {
#define MSG_NAME(e, name) name,
    MSG_KINDS(MSG_NAME)
#undef MSG_NAME
};
static const char *const effect_names[] = {
#define EFFECT_NAME(e, name) name,
    EFFECT_KINDS(EFFECT_NAME)
#undef EFFECT_NAME
};

const char *msg_kind_name(enum msg_kind kind)
{
    assert(kind < MSG_KIND_COUNT);
    return msg_names[kind];
}

const char *effect_kind_name(enum effect_kind kind)
{
    assert(kind < EFFECT_KIND_COUNT);
    return effect_names[kind];
}

struct msg *msg_new(enum msg_kind kind, struct json *body)
{
    struct msg *m = xcalloc(1, sizeof *m);
    m->kind = kind;
    m->at_ms = clock_wall_ms();
    m->body = body;
    return m;
}

void msg_free(struct msg *m)
{
    if (m)
        json_free(m->body);
    free(m);
}

static void put_ids(struct json *j, uint32_t effect, uint16_t cluster, uint32_t epoch)
{
    if (effect)
        json_put_num(j, "effect", effect);
    if (cluster)
        json_put_num(j, "cluster", cluster);
    if (epoch)
        json_put_num(j, "epoch", epoch);
}

struct json *msg_to_json(const struct msg *m)
{
    struct json *j = json_new_object();
    json_put_str(j, "msg", msg_kind_name(m->kind));
    json_put_num(j, "at", (double)m->at_ms);
    put_ids(j, m->effect, m->cluster, m->epoch);
    if (m->body)
        json_set(j, "body", json_copy_kept(m->body));
    return j;
}

enum pd_code msg_from_json(const struct json *j, struct msg **out, struct pd_err *err)
{
    const char *name = json_str(j, "msg", "");
    for (int k = 0; k < MSG_KIND_COUNT; k++) {
        if (strcmp(name, msg_names[k]) != 0)
            continue;
        struct msg *m = msg_new((enum msg_kind)k, json_copy(json_get(j, "body")));
        m->at_ms = json_int(j, "at", 0);
        m->effect = (uint32_t)json_int(j, "effect", 0);
        m->cluster = (uint16_t)json_int(j, "cluster", 0);
        m->epoch = (uint32_t)json_int(j, "epoch", 0);
        *out = m;
        return PD_OK;
    }
    return pd_fail(err, PD_PARSE, _("a message of the unknown kind \"%s\""), name);
}

void effects_init(struct effects *e)
{
    *e = (struct effects){.next_id = 1};
}

void effects_clear(struct effects *e)
{
    for (size_t i = 0; i < e->n; i++)
        json_free(e->v[i].args);
    e->n = 0;
}

void effects_release(struct effects *e)
{
    effects_clear(e);
    free(e->v);
    *e = (struct effects){.next_id = e->next_id};
}

uint32_t effects_add(struct effects *e, enum effect_kind kind, uint16_t cluster, uint32_t epoch,
                     struct json *args)
{
    if (e->n == e->cap) {
        e->cap = e->cap ? e->cap * 2 : 8;
        e->v = xrealloc_array(e->v, e->cap, sizeof *e->v);
    }
    uint32_t id = e->next_id++;
    e->v[e->n++] = (struct effect){kind, id, cluster, epoch, args};
    return id;
}

struct json *effect_to_json(const struct effect *e)
{
    struct json *j = json_new_object();
    json_put_str(j, "effect", effect_kind_name(e->kind));
    json_put_num(j, "id", e->id);
    put_ids(j, 0, e->cluster, e->epoch);
    if (e->args)
        json_set(j, "args", json_copy(e->args));
    return j;
}
