/* status.c - what a Kubernetes API answers when it refuses, as an error of
 * podium: a Status object, plain text, or a proxy's HTML. */
#include "core/base/i18n.h"
#include "core/base/utf8.h"
#include "k8s/client_io.h"
#include "k8s/denied.h"

static const struct {
    const char *reason;
    int http;
    enum pd_code code;
} table[] = {
    {"Unauthorized", 401, PD_AUTH},        {"Forbidden", 403, PD_FORBIDDEN},
    {"NotFound", 404, PD_NOTFOUND},        {"AlreadyExists", 409, PD_CONFLICT},
    {"Conflict", 409, PD_CONFLICT},        {"Expired", 410, PD_GONE},
    {"Gone", 410, PD_GONE},                {"Invalid", 422, PD_INVALID},
    {"BadRequest", 400, PD_INVALID},       {"Timeout", 504, PD_TIMEOUT},
    {"ServerTimeout", 0, PD_TIMEOUT},    {"MethodNotAllowed", 405, PD_UNSUPPORTED},
    {"NotAcceptable", 406, PD_UNSUPPORTED}, {"UnsupportedMediaType", 415, PD_UNSUPPORTED},
    {"RequestEntityTooLarge", 413, PD_LIMIT}, {"TooManyRequests", 429, PD_HTTP},
    {"InternalError", 500, PD_HTTP},       {"ServiceUnavailable", 503, PD_HTTP},
};

static enum pd_code code_of(const char *reason, int http)
{
    for (size_t i = 0; i < ARRAY_LEN(table); i++)
        if (!strcmp(table[i].reason, reason))
            return table[i].code;
    for (size_t i = 0; i < ARRAY_LEN(table); i++)
        if (table[i].http == http)
            return table[i].code;
    return PD_HTTP;
}

char *k8s_clean(char *dst, size_t size, const char *text, size_t n)
{
    struct str s;
    str_init(&s, size);
    utf8_clean(text, MIN(n, 4 * size), false, &s);
    str_copy(dst, size, s.p);
    str_release(&s);
    return dst;
}

/* The rule to ask for. */
static void forbidden_hint(struct pd_err *err)
{
    struct denied d;
    struct str rule;
    if (!denied_of(&d, err))
        return;
    str_init(&rule, 1 << 10);
    denied_rule(&d, &rule);
    if (d.ns[0])
        pd_set_hint(err, _("ask for a Role in namespace %s with %s"), d.ns, rule.p);
    else
        pd_set_hint(err, _("ask for a ClusterRole with %s"), rule.p);
    str_release(&rule);
}

static enum pd_code from_status(int http, const struct json *j, struct pd_err *err)
{
    char text[420];
    const char *message = json_str(j, "message", ""), *reason = json_str(j, "reason", "");
    enum pd_code code = code_of(reason, http ? http : (int)json_int(j, "code", 0));
    if (strstr(message, "exceeded quota:"))
        code = PD_QUOTA;
    if (strstr(message, "field not declared in schema"))
        code = PD_INVALID;
    if (!*message)
        message = *reason ? reason : _("the server gave no reason");
    pd_fail(err, code, "%s", k8s_clean(text, sizeof text, message, strlen(message)));
    if (code == PD_FORBIDDEN)
        forbidden_hint(err);
    return code;
}

static enum pd_code from_text(int http, const char *body, size_t n, struct pd_err *err)
{
    char text[240];
    enum pd_code code = code_of("", http);
    size_t skip = 0, line = 0;        /* body may lack a NUL */
    while (skip < n && strchr(" \t\r\n", body[skip]) && body[skip])
        skip++;
    if (n > skip && body[skip] == '<')
        return pd_fail(err, code, _("HTTP %d with a web page in place of an API answer: a proxy "
                       "stands before the server"), http);
    while (line < n && body[line] != '\r' && body[line] != '\n')
        line++;
    n = line;
    if (n == 0)
        return pd_fail(err, code, _("HTTP %d without a reason"), http);
    return pd_fail(err, code, "HTTP %d: %s", http, k8s_clean(text, sizeof text, body, n));
}

enum pd_code k8s_status_error(int http_status, const char *body, size_t n, struct pd_err *err)
{
    struct json *j = NULL;
    struct pd_err ignored;
    enum pd_code code;
    if (n > 0 && json_parse(body, n, &j, &ignored) == PD_OK && json_has(j, "message"))
        code = from_status(http_status, j, err);
    else if (n > 0 && j && !strcmp(json_str(j, "kind", ""), "Status"))
        code = from_status(http_status, j, err);
    else
        code = from_text(http_status, body ? body : "", n, err);
    json_free(j);
    return code;
}

enum pd_code k8s_answer_error(const struct http_response *r, struct pd_err *err)
{
    char where[240];
    const char *body = r->body ? r->body : "";
    if (r->err) {
        *err = *r->err;
        return err->code;
    }
    if (r->status >= 400)
        return k8s_status_error(r->status, body, r->body_len, err);
    if (r->status >= 300)
        return pd_fail(err, PD_PROTO, _("HTTP %d leads to %s: a login page, or a proxy, stands "
                       "before the server"), r->status,
                       k8s_clean(where, sizeof where, r->location, strlen(r->location)));
    if (body[strspn(body, " \t\r\n")] == '<')
        return pd_fail(err, PD_PROTO, _("a web page came in place of an API answer: a login "
                       "page, or a proxy, stands before the server"));
    return PD_OK;
}
