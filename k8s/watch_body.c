/* watch_body.c - lists and streams, read (watch_body.h). */
#include "k8s/watch_body.h"

#include "core/base/i18n.h"
#include "core/base/mem.h"

enum { LINE_MAX = 8 << 20, TOKEN_MAX = 64 << 10, STATUS_MAX = 64 << 10 };

/* --- pages --- */

static bool on_item(void *arg, struct json *item)
{
    struct watch_body *b = arg;
    int64_t rv;
    if (str_to_i64(json_str(item, "metadata.resourceVersion", ""), &rv) && rv > 0)
        b->facts.newest = MAX(b->facts.newest, (uint64_t)rv);
    b->facts.count++;
    if (b->h.item && !b->halted)
        b->h.item(b->h.arg, item);
    else
        json_free(item);
    return !b->halted;
}

/* --- life --- */

void watch_body_init(struct watch_body *b, const struct res *res, const struct watch_handlers *h)
{
    char version[64];
    memset(b, 0, sizeof *b);
    b->res = res;
    b->h = *h;
    b->api_version = xstrdup(res_api_version(res, version));
    str_init(&b->facts.next, TOKEN_MAX);
    str_init(&b->facts.status, STATUS_MAX);
    struct json_shape shape = {res->kind, b->api_version, false, true};
    jlist_init(&b->list, &shape, on_item, b);
    lines_init(&b->lines, LINE_MAX);
}

void watch_body_release(struct watch_body *b)
{
    free(b->api_version);
    str_release(&b->facts.next);
    str_release(&b->facts.status);
    jlist_release(&b->list);
    lines_release(&b->lines);
}

static void reset(struct watch_body *b, bool streaming)
{
    struct watch_facts *f = &b->facts;
    f->rv[0] = '\0';
    f->newest = 0;
    f->count = f->bookmarks = 0;
    f->failed = false;
    str_clear(&f->next);
    str_clear(&f->status);
    b->streaming = streaming;
    b->begun = false;
    b->err.code = PD_OK;
    jlist_clear(&b->list);
    lines_release(&b->lines);
    lines_init(&b->lines, LINE_MAX);
}

void watch_body_page(struct watch_body *b)
{
    reset(b, false);
}

void watch_body_stream(struct watch_body *b)
{
    reset(b, true);
}

/* --- streams --- */

static void take_event(struct watch_body *b, const char *type, struct json *obj)
{
    static const struct {
        const char *name;
        enum watch_type type;
    } types[] = {{"ADDED", WATCH_ADDED}, {"MODIFIED", WATCH_MODIFIED}, {"DELETED", WATCH_DELETED}};
    const char *rv = json_str(obj, "metadata.resourceVersion", "");
    if (*rv)
        str_copy(b->facts.rv, sizeof b->facts.rv, rv);
    b->facts.bookmarks += !strcmp(type, "BOOKMARK");
    for (size_t i = 0; i < ARRAY_LEN(types); i++)
        if (!strcmp(types[i].name, type) && b->h.event) {
            b->h.event(b->h.arg, types[i].type, obj);
            return;
        }
    json_free(obj);
}

static void on_line(void *arg, char *line, size_t n, bool cut)
{
    struct watch_body *b = arg;
    struct json *event;
    struct pd_err err;
    if (n == 0 || b->halted || b->facts.failed || b->err.code != PD_OK)
        return;
    struct json_shape shape = {b->res->kind, b->api_version, true, true};
    if (cut || json_share_parse(line, n, &shape, &event, &err) != PD_OK) {
        pd_fail(&b->err, PD_PROTO, cut ? _("an event of the watch is longer than 8 MiB")
                                       : _("an event of the watch is no JSON"));
        return;
    }
    const char *type = json_str(event, "type", "");
    b->facts.count++;
    if (!strcmp(type, "ERROR")) {
        b->facts.failed = true;
        if (json_get(event, "object"))
            json_print(json_get(event, "object"), 0, &b->facts.status);
    } else if (json_get(event, "object")) {
        take_event(b, type, json_share(json_get(event, "object")));
    }
    json_free(event);
}

/* --- bytes --- */

/* Both begin with '{'. What begins otherwise is a page of a proxy, or worse. */
static enum pd_code first_byte(struct watch_body *b, const char *p, size_t n)
{
    while (n > 0 && strchr(" \t\r\n", *p) && *p) {
        p++;
        n--;
    }
    if (n == 0)
        return PD_OK;
    b->begun = true;
    if (*p == '<')
        return pd_fail(&b->err, PD_PROTO, _("a web page came in place of an API answer: a login "
                       "page, or a proxy, stands before the server"));
    if (*p != '{')
        return pd_fail(&b->err, PD_PROTO, _("the answer is no JSON object"));
    return PD_OK;
}

enum pd_code watch_body_feed(struct watch_body *b, const char *p, size_t n, struct pd_err *err)
{
    enum pd_code code = b->err.code;
    if (code == PD_OK && !b->begun)
        code = first_byte(b, p, n);
    if (code == PD_OK && !b->halted && b->streaming) {
        lines_feed(&b->lines, p, n, on_line, b);
        code = b->err.code;
    } else if (code == PD_OK && !b->halted) {
        code = jlist_feed(&b->list, p, n, &b->err);
    }
    if (code != PD_OK)
        *err = b->err;
    return code;
}

/* An object without items is no list: a Status, or an answer of somebody else. */
static enum pd_code judge(const struct watch_body *b, const struct json *page, struct pd_err *err)
{
    const char *kind = json_str(page, "kind", ""), *rv = json_str(page, "metadata.resourceVersion",
                                                                  "");
    char want[80];
    if (!strcmp(kind, "Status")) {
        char *text = json_text(page, 0);
        k8s_status_error((int)json_int(page, "code", 500), text, strlen(text), err);
        free(text);
        return err->code;
    }
    str_fmt(want, sizeof want, "%sList", b->res->kind);
    if (!json_get(page, "items") || (*kind && strcmp(kind, want) != 0))
        return pd_fail(err, PD_PROTO, _("the answer is no list of %s"), b->res->plural);
    if (!*rv)
        return pd_fail(err, PD_PROTO, _("the list of %s has no resourceVersion"), b->res->plural);
    return PD_OK;
}

enum pd_code watch_body_end(struct watch_body *b, struct pd_err *err)
{
    struct json *page = NULL;
    enum pd_code code = b->err.code;
    if (code != PD_OK) {
        *err = b->err;
        return code;
    }
    if (b->streaming)
        return PD_OK;
    if ((code = jlist_end(&b->list, &page, err)) != PD_OK)
        return code;
    if ((code = judge(b, page, err)) == PD_OK) {
        str_copy(b->facts.rv, sizeof b->facts.rv, json_str(page, "metadata.resourceVersion", ""));
        str_clear(&b->facts.next);
        str_add(&b->facts.next, json_str(page, "metadata.continue", ""));
    }
    json_free(page);
    return code;
}
