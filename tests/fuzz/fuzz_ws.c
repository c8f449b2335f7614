/* fuzz_ws.c - WebSocket frames and what they carry: parsing never reads beyond
 * its bytes, a built frame parses back, and channel messages, tar streams and
 * streamed lists survive anything.
 * fuzz: core/base core/io k8s
 */
#include "core/io/ws.h"
#include "k8s/copy.h"
#include "k8s/jlist.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void frames(const uint8_t *data, size_t size, bool from_client)
{
    struct ws_frame f;
    uint8_t *copy = malloc(size + 1);
    size_t at = 0;
    memcpy(copy, data, size);
    for (;;) {
        long n = ws_parse(copy + at, size - at, from_client, 1 << 16, &f);
        if (n <= 0)
            break;
        if (f.n > (size_t)n || f.payload + f.n > copy + size)
            abort();
        at += (size_t)n;
    }
    free(copy);
}

static void round_trip(const uint8_t *data, size_t size)
{
    struct str s;
    struct ws_frame f;
    str_init(&s, 1 << 20);
    ws_build(&s, WS_BINARY, true, true, data, size);
    if (ws_parse((unsigned char *)s.p, s.len, true, 1 << 20, &f) != (long)s.len || f.n != size ||
        memcmp(f.payload, data, size) != 0)
        abort();
    str_release(&s);
}

static void message(const uint8_t *data, size_t size)
{
    struct exec_result r = {.ended = false};
    struct exec_handlers h = {.output = NULL};
    exec_message(&r, &h, (const char *)data, size);
    if (r.ended && (r.code < -1 || r.code > 255))
        abort();
}

static bool on_item(void *arg, struct json *item)
{
    (void)arg;
    json_free(item);
    return true;
}

static void list(const uint8_t *data, size_t size)
{
    struct jlist l;
    struct pd_err err;
    struct json *rest = NULL;
    jlist_init(&l, NULL, on_item, NULL);
    if (jlist_feed(&l, (const char *)data, size / 2, &err) == PD_OK &&
        jlist_feed(&l, (const char *)data + size / 2, size - size / 2, &err) == PD_OK &&
        jlist_end(&l, &rest, &err) == PD_OK)
        json_free(rest);
    jlist_release(&l);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    frames(data, size, false);
    frames(data, size, true);
    round_trip(data, size);
    message(data, size);
    list(data, size);
    return 0;
}
