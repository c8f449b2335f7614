/* rest_read.c - get and list: selectors, paging, and the forms an object can be
 * shown in (plain, Table, PartialObjectMetadata).
 */
#include "core/base/base.h"

#include <openssl/evp.h>

#include "core/base/mem.h"
#include "k8s/practice/event.h"
#include "k8s/practice/rest.h"
#include "k8s/practice/selector.h"
#include "k8s/practice/table.h"

/* --- forms --- */

static bool other_group(const struct call *c)
{
    return api_storage_res(c->res) != c->res;
}

static struct json *partial(const struct json *obj)
{
    struct json *p = json_new_object();
    json_put_str(p, "kind", "PartialObjectMetadata");
    json_put_str(p, "apiVersion", "meta.k8s.io/v1");
    json_set(p, "metadata", json_copy(json_get(obj, "metadata")));
    return p;
}

static enum table_include include_of(struct call *c)
{
    const char *i = rest_param(c, "includeObject");
    return !strcmp(i, "None") ? TABLE_NONE : !strcmp(i, "Object") ? TABLE_OBJECT : TABLE_METADATA;
}

struct json *rest_view(struct call *c, const struct json *obj)
{
    if (c->as == REST_PARTIAL && json_has(obj, "metadata.uid"))
        return partial(obj);
    if (c->as == REST_TABLE && str_eq(json_str(obj, "kind", ""), api_storage_res(c->res)->kind)) {
        struct json *t = table_new(c->res, true);
        table_add(t, c->res, obj, include_of(c));
        json_set(t, "metadata", json_new_object());
        json_put_str(json_get_mut(t, "metadata"), "resourceVersion",
                     json_str(obj, "metadata.resourceVersion", NULL));
        return t;
    }
    return other_group(c) && str_eq(json_str(obj, "kind", ""), "Event") ? event_to_new(obj) : NULL;
}

static struct json *new_list(struct call *c)
{
    char kind[96], gv[64];
    struct json *l = json_new_object();
    if (c->as == REST_PARTIAL) {
        json_put_str(l, "kind", "PartialObjectMetadataList");
        json_put_str(l, "apiVersion", "meta.k8s.io/v1");
    } else {
        json_put_str(l, "kind", str_fmt(kind, sizeof kind, "%sList", c->res->kind));
        json_put_str(l, "apiVersion", res_api_version(c->res, gv));
    }
    return l;
}

struct json *rest_list_view(struct call *c, const struct api_version *const *v, size_t n)
{
    if (c->as == REST_TABLE) {
        struct json *t = table_new(c->res, true);
        for (size_t i = 0; i < n; i++)
            table_add(t, c->res, v[i]->j, include_of(c));
        return t;
    }
    struct json *l = new_list(c), *items = json_new_array();
    for (size_t i = 0; i < n; i++) {
        struct json *item = c->as == REST_PARTIAL ? partial(v[i]->j)
                            : other_group(c)      ? event_to_new(v[i]->j)
                                                  : json_copy(v[i]->j);
        if (c->as == REST_PLAIN) {
            json_remove(item, "kind");
            json_remove(item, "apiVersion");
        }
        json_append(items, item);
    }
    json_set(l, "items", items);
    return l;
}

/* --- get --- */

void rest_get(struct call *c)
{
    (void)api_flush(c->rest->api);
    struct api_version *v = api_find(c->rest->api, c->res, c->at.ns, c->at.name);
    if (!v) {
        rest_refuse(c, status_not_found(c->res, c->at.name));
        return;
    }
    struct json *view = rest_view(c, v->j);
    if (view) {
        rest_send(c, 200, view);
        json_free(view);
    } else if (c->pretty) {
        rest_send(c, 200, v->j);
    } else {
        size_t n;
        const char *text = api_version_text(v, &n);
        rest_send_text(c, 200, "application/json", text, n);
    }
}

/* --- paging --- */

/* {"v":"meta.k8s.io/v1","rv":N,"start":"ns/name\0"} in base64url. */
static char *token_new(int64_t rv, const struct json *last)
{
    struct json *j = json_new_object();
    char *start = xasprintf("%s/%s", json_str(last, "metadata.namespace", ""),
                            json_str(last, "metadata.name", ""));
    json_put_str(j, "v", "meta.k8s.io/v1");
    json_put_num(j, "rv", (double)rv);
    json_put_str(j, "start", start);
    char *text = json_text(j, 0);
    size_t n = strlen(text);
    char *out = xmalloc(n * 2 + 8);
    int len = EVP_EncodeBlock((unsigned char *)out, (const unsigned char *)text, (int)n);
    for (int i = 0; i < len; i++)
        out[i] = out[i] == '+' ? '-' : out[i] == '/' ? '_' : out[i];
    while (len > 0 && out[len - 1] == '=')
        out[--len] = '\0';
    free(text);
    free(start);
    json_free(j);
    return out;
}

static struct json *token_read(const char *token)
{
    struct json *j = NULL;
    struct pd_err err;
    size_t n = strlen(token), padded = (n + 3) / 4 * 4;
    char *in = xmalloc(padded + 1), *out = xmalloc(padded + 1);
    for (size_t i = 0; i < padded; i++)
        in[i] = i >= n ? '=' : token[i] == '-' ? '+' : token[i] == '_' ? '/' : token[i];
    int len = EVP_DecodeBlock((unsigned char *)out, (const unsigned char *)in, (int)padded);
    len -= (int)(padded - n);
    if (n < 8192 && len > 0 && json_parse(out, (size_t)len, &j, &err) != PD_OK)
        j = NULL;
    free(in);
    free(out);
    return j;
}

struct page {
    struct selector labels, fields;
    int64_t limit, rv;
    char *start;                 /* the last key of the page before, or NULL */
};

static void page_release(struct page *p)
{
    selector_release(&p->labels);
    selector_release(&p->fields);
    free(p->start);
}

static struct json *read_continue(struct call *c, struct page *p)
{
    const char *token = rest_param(c, "continue");
    if (!*token)
        return NULL;
    struct json *j = token_read(token);
    const char *start = json_str(j, "start", "");
    p->rv = json_int(j, "rv", -1);
    if (!*start || p->rv == 0 || p->rv > api_revision(c->rest->api)) {
        json_free(j);
        return status_bad_request("continue key is not valid: illegal base64 data");
    }
    p->start = xstrdup(start);
    json_free(j);
    /* Pages come from the present; a token from before the ring's reach is too old. */
    if (p->rv > 0 && !api_since(c->rest->api, c->res, p->rv, NULL, NULL)) {
        struct json *s = status_expired(
            "The provided continue parameter is too old to display a consistent list result. You "
            "can start a new list without the continue parameter, or use the continue token in "
            "this response to retrieve the remainder of the results. Continuing with the provided "
            "token results in an inconsistent list - objects that were created, modified, or "
            "deleted between the time the first chunk was returned and now may show up in the "
            "list.");
        const char *slash = strchr(p->start, '/');
        struct json *last = json_new_object();
        char *ns = xstrndup(p->start, (size_t)(slash - p->start));
        json_put_path(last, "metadata.namespace", json_new_string(ns));
        json_put_path(last, "metadata.name", json_new_string(slash + 1));
        char *again = token_new(-1, last);
        json_put_str(json_get_mut(s, "metadata"), "continue", again);
        free(again);
        free(ns);
        json_free(last);
        return s;
    }
    return NULL;
}

/* resourceVersion of a list: not in the future, a number. */
static struct json *check_rv(struct call *c)
{
    const char *text = rest_param(c, "resourceVersion"), *match = rest_param(c, "resourceVersionMat"
                                                                                "ch");
    int64_t rv, now = api_revision(c->rest->api);
    if (*match && !*text)
        return status_new(403, "Forbidden", NULL, NULL, "resourceVersionMatch is forbidden unless "
                          "resourceVersion is provided");
    if (!*text)
        return NULL;
    if (!str_to_i64(text, &rv) || rv < 0)
        return status_bad_request("resourceVersion: Invalid value: \"%s\": strconv.ParseUint: "
                                  "parsing \"%s\": invalid syntax", text, text);
    if (rv <= now)
        return NULL;
    struct json *s =
        status_new(504, "Timeout", NULL, NULL,
                   "Timeout: Too large resource version: %" PRId64 ", current: %" PRId64, rv, now);
    status_add_cause(s, "ResourceVersionTooLarge", "Too large resource version", "");
    json_put_num(json_get_mut(s, "details"), "retryAfterSeconds", 1);
    return s;
}

static struct json *read_page(struct call *c, struct page *p)
{
    struct pd_err err;
    memset(p, 0, sizeof *p);
    p->limit = rest_int(c, "limit", 0);
    if (selector_labels(rest_param(c, "labelSelector"), &p->labels, &err) != PD_OK ||
        selector_fields(c->res, rest_param(c, "fieldSelector"), &p->fields, &err) != PD_OK)
        return status_bad_request("%s", err.msg);
    struct json *no = check_rv(c);
    return no ? no : read_continue(c, p);
}

static bool selects(const struct page *p, const struct json *obj)
{
    return selector_match_labels(&p->labels, json_at(obj, "metadata.labels")) &&
           selector_match_fields(&p->fields, obj);
}

static bool behind_start(const struct page *p, const struct json *obj)
{
    char *key = xasprintf("%s/%s", json_str(obj, "metadata.namespace", ""),
                          json_str(obj, "metadata.name", ""));
    bool behind = !p->start || strcmp(key, p->start) > 0;
    free(key);
    return behind;
}

static struct json *page_meta(struct call *c, const struct page *p, const struct json *last,
                              size_t left)
{
    struct json *meta = json_new_object();
    char rv[24];
    json_put_str(meta, "resourceVersion",
                 str_fmt(rv, sizeof rv, "%" PRId64, api_revision(c->rest->api)));
    if (left > 0) {
        char *token = token_new(p->rv > 0 ? p->rv : api_revision(c->rest->api), last);
        json_put_str(meta, "continue", token);
        free(token);
        if (p->labels.n + p->fields.n == 0)
            json_put_num(meta, "remainingItemCount", (double)left);
    }
    return meta;
}

/* A plain list is put together from the texts that the versions keep. */
static void send_texts(struct call *c, struct api_version **v, size_t n, const struct json *meta)
{
    struct str s;
    char gv[64];
    str_init(&s, SIZE_MAX / 2);
    str_printf(&s, "{\"kind\":\"%sList\",\"apiVersion\":\"%s\",\"metadata\":", c->res->kind,
               res_api_version(c->res, gv));
    json_print(meta, 0, &s);
    str_add(&s, ",\"items\":[");
    for (size_t i = 0; i < n; i++) {
        size_t len;
        const char *text = api_version_item(v[i], &len);
        if (i)
            str_addc(&s, ',');
        str_append(&s, text, len);
    }
    str_add(&s, "]}");
    rest_send_text(c, 200, "application/json", s.p, s.len);
    str_release(&s);
}

static void send_page(struct call *c, const struct page *p, struct api_versions *all)
{
    struct api_version **take = xcalloc(all->n + 1, sizeof *take);
    size_t n = 0, left = 0;
    for (size_t i = 0; i < all->n; i++) {
        if (!selects(p, all->v[i]->j) || !behind_start(p, all->v[i]->j))
            continue;
        if (p->limit > 0 && n >= (size_t)p->limit)
            left++;
        else
            take[n++] = all->v[i];
    }
    struct json *meta = page_meta(c, p, n ? take[n - 1]->j : NULL, left);
    if (c->as == REST_PLAIN && !c->pretty && !other_group(c)) {
        send_texts(c, take, n, meta);
        json_free(meta);
    } else {
        struct json *list = rest_list_view(c, (const struct api_version *const *)take, n);
        json_set(list, "metadata", meta);
        rest_send(c, 200, list);
        json_free(list);
    }
    free(take);
}

void rest_list(struct call *c)
{
    struct page p;
    struct json *no;
    (void)api_flush(c->rest->api);
    if ((no = read_page(c, &p)) != NULL) {
        rest_refuse(c, no);
    } else {
        struct api_versions all;
        api_snapshot(c->rest->api, c->res, c->at.ns, &all);
        send_page(c, &p, &all);
        api_snapshot_release(&all);
    }
    page_release(&p);
}

/* --- deletecollection: a list whose members go --- */

void rest_delete_many(struct call *c, const struct json *options)
{
    struct page p;
    struct json *no = read_page(c, &p);
    struct api_versions all;
    if (no) {
        rest_refuse(c, no);
        page_release(&p);
        return;
    }
    api_snapshot(c->rest->api, c->res, c->at.ns, &all);
    const struct api_version **taken = xcalloc(all.n + 1, sizeof *taken);
    size_t n = 0;
    for (size_t i = 0; i < all.n; i++) {
        const struct json *obj = all.v[i]->j;
        struct api_write w = {.user = &c->who, .res = api_storage_res(c->res),
                              .ns = json_str(obj, "metadata.namespace", ""),
                              .name = json_str(obj, "metadata.name", ""), .manager = c->manager,
                              .dry_run = c->dry_run, .warnings = &c->warnings};
        struct api_version *v = NULL;
        char uid[40];
        if (!selects(&p, obj))
            continue;
        json_free(api_do_delete(c->rest->api, &w, options, &v, uid));
        api_version_unref(v);
        taken[n++] = all.v[i];
    }
    struct api_version *list = xcalloc(1, sizeof *list);
    list->refs = 1;
    list->j = rest_list_view(c, taken, n);
    json_put_path(list->j, "metadata.resourceVersion", json_new_string(""));
    c->as = REST_PLAIN;
    rest_answer_later(c, 200, list);
    free(taken);
    api_snapshot_release(&all);
    page_release(&p);
}
