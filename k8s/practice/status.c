/* status.c - Status objects (status.h). */
#include "k8s/practice/status.h"

#include "core/base/mem.h"

const char *status_resource(const struct res *res, char buf[128])
{
    return str_fmt(buf, 128, "%s%s%s", res->plural, *res->group ? "." : "", res->group);
}

const char *status_kind(const struct res *res, char buf[128])
{
    return str_fmt(buf, 128, "%s%s%s", res->kind, *res->group ? "." : "", res->group);
}

static struct json *failure(int code, const char *reason, const char *message)
{
    struct json *s = json_new_object();
    json_put_str(s, "kind", "Status");
    json_put_str(s, "apiVersion", "v1");
    json_set(s, "metadata", json_new_object());
    json_put_str(s, "status", "Failure");
    json_put_str(s, "message", message);
    if (*reason)
        json_put_str(s, "reason", reason);
    json_set(s, "details", json_new_object());
    json_put_num(s, "code", code);
    return s;
}

static void describe(struct json *s, const struct res *res, const char *name, bool kind)
{
    struct json *d = json_get_mut(s, "details");
    if (name && *name)
        json_put_str(d, "name", name);
    if (res && *res->group)
        json_put_str(d, "group", res->group);
    if (res)
        json_put_str(d, "kind", kind ? res->kind : res->plural);
    if (!res && !name)
        json_remove(s, "details");
}

static struct json *vfailure(int code, const char *reason, const char *fmt, va_list ap)
    PRINTF_LIKE(3, 0);
static struct json *vfailure(int code, const char *reason, const char *fmt, va_list ap)
{
    struct str m;
    str_init(&m, 64 << 10);
    str_vprintf(&m, fmt, ap);
    struct json *s = failure(code, reason, m.p);
    str_release(&m);
    return s;
}

struct json *status_new(int code, const char *reason, const struct res *res, const char *name,
                        const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    struct json *s = vfailure(code, reason, fmt, ap);
    va_end(ap);
    describe(s, res, name, false);
    return s;
}

struct json *status_bad_request(const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    struct json *s = vfailure(400, "BadRequest", fmt, ap);
    va_end(ap);
    describe(s, NULL, NULL, false);
    return s;
}

struct json *status_expired(const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    struct json *s = vfailure(410, "Expired", fmt, ap);
    va_end(ap);
    describe(s, NULL, NULL, false);
    return s;
}

struct json *status_success(const struct res *res, const char *name, const char *uid)
{
    struct json *s = failure(200, "", "");
    json_remove(s, "message");
    json_remove(s, "code");
    json_put_str(s, "status", "Success");
    describe(s, res, name, false);
    json_put_str(json_get_mut(s, "details"), "uid", uid);
    return s;
}

struct json *status_not_found(const struct res *res, const char *name)
{
    char r[128];
    return status_new(404, "NotFound", res, name, "%s \"%s\" not found", status_resource(res, r),
                      name);
}

struct json *status_exists(const struct res *res, const char *name)
{
    char r[128];
    return status_new(409, "AlreadyExists", res, name, "%s \"%s\" already exists",
                      status_resource(res, r), name);
}

struct json *status_stale(const struct res *res, const char *name, const char *why)
{
    char r[128];
    return status_new(409, "Conflict", res, name, "Operation cannot be fulfilled on %s \"%s\": %s",
                      status_resource(res, r), name,
                      why ? why
                          : "the object has been modified; please apply your changes to the "
                            "latest version and try again");
}

void status_add_cause(struct json *status, const char *reason, const char *message,
                      const char *field)
{
    struct json *d = json_get_mut(status, "details");
    if (!d) {
        json_set(status, "details", json_new_object());
        d = json_get_mut(status, "details");
    }
    if (!json_get(d, "causes"))
        json_set(d, "causes", json_new_array());
    struct json *c = json_new_object();
    json_put_str(c, "reason", reason);
    json_put_str(c, "message", message);
    json_put_str(c, "field", field);
    json_append(json_get_mut(d, "causes"), c);
}

int status_code(const struct json *status)
{
    return (int)json_int(status, "code", 200);
}

struct json *ferrs_status(const struct ferrs *e, const struct res *res, const char *name)
{
    struct str m;
    char kind[128];
    size_t n = json_count(e->causes);
    str_init(&m, 64 << 10);
    for (const struct json *c = json_first(e->causes); c; c = json_next(c))
        str_printf(&m, "%s%s: %s", m.len ? ", " : "", json_str(c, "field", ""),
                   json_str(c, "message", ""));
    struct json *s = status_new(422, "Invalid", res, name, "%s \"%s\" is invalid: %s%s%s",
                                status_kind(res, kind), name ? name : "", n > 1 ? "[" : "", m.p,
                                n > 1 ? "]" : "");
    struct json *d = json_get_mut(s, "details");
    json_put_str(d, "kind", res->kind);
    json_set(d, "causes", json_copy(e->causes));
    str_release(&m);
    return s;
}
