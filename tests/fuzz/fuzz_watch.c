/* fuzz_watch.c - pages and streams of a watch: whatever the bytes, every way to
 * cut them gives the same; and whatever happens in whatever order, the rules
 * of a watch keep their bounds.
 * fuzz: core/base core/io k8s
 */
#include "core/base/mem.h"
#include "k8s/watch_flow.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* --- bytes --- */

struct said {
    int items, events;
    uint64_t hash;
};

static void take(struct said *s, struct json *obj)
{
    for (const char *p = json_str(obj, "metadata.name", "?"); *p; p++)
        s->hash = s->hash * 31 + (unsigned char)*p;
    json_free(obj);
}

static void on_item(void *arg, struct json *obj)
{
    ((struct said *)arg)->items++;
    take(arg, obj);
}

static void on_event(void *arg, enum watch_type type, struct json *obj)
{
    struct said *s = arg;
    s->events++;
    s->hash = s->hash * 31 + type;
    take(s, obj);
}

struct outcome {
    struct said said;
    char rv[64];
    int64_t count;
    bool failed;
    enum pd_code code;
};

static struct outcome read_all(const uint8_t *data, size_t size, size_t piece, bool stream)
{
    struct outcome o = {.code = PD_OK};
    struct watch_handlers h = {.item = on_item, .event = on_event, .arg = &o.said};
    struct watch_body b;
    struct pd_err err;
    watch_body_init(&b, res_by_name("pods"), &h);
    if (stream)
        watch_body_stream(&b);
    else
        watch_body_page(&b);
    for (size_t at = 0; at < size && o.code == PD_OK; at += piece)
        o.code = watch_body_feed(&b, (const char *)data + at, MIN(piece, size - at), &err);
    if (o.code == PD_OK)
        o.code = watch_body_end(&b, &err);
    str_copy(o.rv, sizeof o.rv, b.facts.rv);
    o.count = b.facts.count;
    o.failed = b.facts.failed;
    if (!stream && o.code == PD_OK && !*o.rv)
        abort();
    watch_body_release(&b);
    return o;
}

static void splits(const uint8_t *data, size_t size, bool stream)
{
    struct outcome whole = read_all(data, size, size ? size : 1, stream);
    for (size_t piece = 1; piece < 20; piece += 6) {
        struct outcome part = read_all(data, size, piece, stream);
        if (part.code != whole.code || part.said.hash != whole.said.hash ||
            part.said.items != whole.said.items || part.said.events != whole.said.events ||
            strcmp(part.rv, whole.rv) != 0 || part.failed != whole.failed)
            abort();
    }
}

/* --- rules --- */

static void bounds(const struct watch_flow *f)
{
    bool why = f->state == WATCH_RETRYING || f->state == WATCH_FORBIDDEN ||
               f->state == WATCH_POLLING;
    if (f->wait_ms < 0 || f->wait_ms > 3600000 || (f->step == FLOW_WATCH && !*f->rv))
        abort();
    if (why && f->err.code == PD_OK && f->heard_ms >= 0)
        abort();
    if (f->state == WATCH_POLLING && (f->poll_ms < 10000 || f->poll_ms > 300000))
        abort();
    if (f->step == FLOW_LIST && f->begin != (f->token.len == 0))
        abort();
}

static void one_end(struct watch_flow *f, int64_t now, int op, struct watch_facts *facts)
{
    static const int codes[] = {401, 403, 404, 405, 410, 429, 500, 502, 503, 504, 302, 400};
    struct pd_err err;
    int code = codes[(op >> 3) % 12];
    pd_fail(&err, code == 410 ? PD_GONE : code == 504 ? PD_TIMEOUT : PD_HTTP, "x");
    struct flow_refusal r = {code, op & 128 && f->step == FLOW_WATCH, op & 64 ? op & 31 : -1,
                             op & 32 ? "next" : NULL, &err};
    int kind = op & 7;
    if (kind < 3 && f->step == FLOW_LIST)
        (void)watch_flow_page(f, now, facts);
    else if (kind < 3)
        watch_flow_ended(f, now);
    else if (kind < 5)
        watch_flow_refused(f, now, &r);
    else if (kind < 7)
        watch_flow_broken(f, now, &err, op & 8);
    else
        watch_flow_cut(f, now);
}

static void rules(const uint8_t *data, size_t size)
{
    struct watch_flow f;
    struct watch_facts facts = {.count = 0};
    struct pd_err err;
    int64_t now = 1000, asked = 0, from = now;
    watch_flow_init(&f, 3);
    str_init(&facts.next, 100);
    for (size_t i = 0; i + 3 < size; i += 4) {
        now += f.wait_ms;
        watch_flow_send(&f, now);
        asked++;
        if (f.step == FLOW_WATCH && data[i] & 1)
            watch_flow_head(&f, now);
        now += data[i + 1] * 200;
        facts.count = f.step == FLOW_WATCH ? f.seen + (data[i] >> 6) : data[i] >> 4;
        facts.newest = data[i + 2];
        str_fmt(facts.rv, sizeof facts.rv, "%d", 1 + data[i + 2] % 50);
        str_clear(&facts.next);
        if (data[i] & 2)
            str_printf(&facts.next, "t%d", data[i + 2]);
        bool ok = true;
        if (f.step == FLOW_WATCH && f.head && data[i] & 4)
            ok = watch_flow_events(&f, now, &facts, &err);
        if (!ok)
            watch_flow_broken(&f, now, &err, true);
        else if (!watch_flow_check(&f, now) || (data[i + 3] & 7) == 7)
            watch_flow_cut(&f, now);
        else
            one_end(&f, now, data[i + 3], &facts);
        bounds(&f);
    }
    /* no busy loop: pages and first 410s alone are asked for at once */
    if (asked > 200 && now - from < asked * 5)
        abort();
    watch_flow_release(&f);
    str_release(&facts.next);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    splits(data, size, false);
    splits(data, size, true);
    rules(data, size);
    return 0;
}
