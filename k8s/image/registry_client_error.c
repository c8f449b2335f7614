/* registry_client_error.c - what a registry, or a proxy before it, answered, as
 * one sentence with the next step. */
#include "core/base/i18n.h"
#include "core/base/json.h"
#include "core/base/mem.h"
#include "core/base/utf8.h"
#include "k8s/image/registry_client_priv.h"

void registry_client_size(int64_t bytes, char buf[32])
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
    double v = (double)bytes;
    size_t u = 0;
    for (; v >= 1024 && u + 1 < ARRAY_LEN(units); u++)
        v /= 1024;
    str_fmt(buf, 32, u ? "%.1f %s" : "%.0f %s", v, units[u]);
}

/* errors[0] of the distribution spec: "CODE: message". */
static bool spec_error(const char *body, size_t n, struct str *out, char code[64])
{
    struct json *j = NULL;
    struct pd_err ignored;
    if (json_parse(body, n, &j, &ignored) != PD_OK)
        return false;
    const struct json *e = json_at(j, "errors[0]");
    const char *text = json_str(e, "message", json_str(j, "details", json_str(j, "message", "")));
    str_copy(code, 64, json_str(e, "code", ""));
    utf8_clean(text, strlen(text), false, out);
    json_free(j);
    return out->len > 0 || code[0];
}

/* The words of an HTML page: its title when it has one. */
static void html_text(const char *body, struct str *out)
{
    const char *p = strcasestr(body, "<title>");
    p = p ? p + 7 : body;
    size_t n = strcspn(p, "<");
    while (n == 0 && *p == '<') {
        p += strcspn(p, ">");
        p += *p == '>';
        p += strspn(p, " \r\n\t");
        n = strcspn(p, "<");
    }
    utf8_clean(p, MIN(n, (size_t)160), false, out);
}

static const struct {
    int status;
    enum pd_code code;
    const char *text, *hint;
} known[] = {
    {401, PD_AUTH, N_("the registry does not know you: %s"),
     N_("give --kubeconfig (practice cluster), --user with --password-file, or --token-file")},
    {403, PD_FORBIDDEN, N_("the registry does not allow the %s"),
     N_("ask its owner for the right to push to this repository")},
    {404, PD_NOTFOUND, N_("the registry has no such thing: %s"),
     N_("check repository and tag; list them with GET /v2/REPOSITORY/tags/list")},
    {405, PD_UNSUPPORTED, N_("the registry is read-only: %s"), N_("push to another registry")},
    {429, PD_HTTP, N_("the registry asks to slow down: %s"), N_("wait some minutes, or log in")},
    {507, PD_HTTP, N_("the registry has no space left: %s"), N_("free space there")},
};

static enum pd_code too_large(const char *what, int64_t size, const char *page,
                              struct pd_err *err)
{
    char text[32];
    registry_client_size(size, text);
    pd_fail(err, PD_LIMIT,
            _("413: a proxy before the registry refused the %s: %s is more than it lets through "
              "(%s)"), what, text, *page ? page : "Payload Too Large");
    return pd_set_hint(err, _("raise the proxy's limit (nginx: client_max_body_size 0), or make "
                              "smaller layers with several COPY instructions"));
}

static bool is_html(const char *content_type, const char *body)
{
    return strstr(content_type, "html") || body[strspn(body, " \r\n\t")] == '<';
}

enum pd_code registry_client_error(int status, const char *content_type, const char *body,
                                   size_t n, const char *what, int64_t size, struct pd_err *err)
{
    char code[64] = "", note[64];
    struct str text;
    str_init(&text, 300);
    bool spec = spec_error(body, n, &text, code);
    bool html = !spec && is_html(content_type, body);
    if (html)
        html_text(body, &text);
    if (status == 413) {
        enum pd_code rc = too_large(what, size, text.p, err);
        str_release(&text);
        return rc;
    }
    size_t i = 0;
    while (i < ARRAY_LEN(known) && known[i].status != status)
        i++;
    struct str all;
    str_init(&all, 480);
    str_printf(&all, "%s", what);
    str_fmt(note, sizeof note, html ? _(" (HTTP %d from a proxy)") : " (HTTP %d)", status);
    str_printf(&all, "%s%s%s%s%s", note, code[0] || text.len ? ": " : "", code,
               code[0] && text.len ? ", " : "", text.p);
    enum pd_code rc;
    if (i < ARRAY_LEN(known)) {
        char msg[512];
        const char *fmt = _(known[i].text), *at = strstr(fmt, "%s");
        str_fmt(msg, sizeof msg, "%.*s%s%s", (int)(at - fmt), fmt, all.p, at + 2);
        pd_fail(err, known[i].code, "%s", msg);
        rc = pd_set_hint(err, "%s", _(known[i].hint));
    } else {
        rc = pd_fail(err, PD_HTTP, _("the registry refused the %s"), all.p);
    }
    str_release(&all);
    str_release(&text);
    return rc;
}
