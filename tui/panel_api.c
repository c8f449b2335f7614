/* panel_api.c - every request that podium makes, and the kubectl line that does
 * the same. The newest stand last. */
#include "core/base/i18n.h"
#include "core/base/utf8.h"
#include "tui/panel.h"
#include "tui/text.h"

enum { BODY_LINES = 60 };

enum kind { CALL_ENDED, CALL_WAITS, CALL_WATCHES, CALL_FOLLOWS };

static bool is_error(const struct api_row *r)
{
    return r->status < 0 || r->status >= 400;
}

static enum kind kind_of(const struct api_row *r)
{
    const char *path = r->path ? r->path : "";
    if (r->status != 0)
        return CALL_ENDED;
    if (strstr(path, "watch=1") || strstr(path, "watch=true"))
        return CALL_WATCHES;
    return strstr(path, "follow=true") ? CALL_FOLLOWS : CALL_WAITS;
}

static const char *title(const struct app *a, char buf[160])
{
    const struct session *s = a->s;
    int errors = 0, watches = 0;
    char all[32] = "", bad[48] = "";
    for (size_t i = 0; i < s->api_n; i++) {
        errors += is_error(&s->api[i]);
        watches += kind_of(&s->api[i]) == CALL_WATCHES;
    }
    if (s->api_n > 0)
        str_fmt(all, sizeof all, " %" PRIu32, s->api[s->api_n - 1].id);
    if (errors)
        str_fmt(bad, sizeof bad, _("  %d failed"), errors);
    str_fmt(buf, 160, _("API calls%s, as kubectl would%s"), all, bad);
    if (watches) {
        size_t n = strlen(buf);
        str_fmt(buf + n, 160 - n, _("  %d watches"), watches);
    }
    return buf;
}

static bool is_shown(const struct app *a, const struct api_row *r)
{
    char text[1200];
    if (a->api_errors && !is_error(r))
        return false;
    if (!a->api_filter[0])
        return true;
    str_fmt(text, sizeof text, "%s %d %s", r->method, r->status, r->path ? r->path : "");
    return lists_pass(a->api_filter, text);
}

static enum role status_role(int status)
{
    if (status == 429)
        return ROLE_WARN;
    if (status < 0 || status >= 400)
        return ROLE_FAIL;
    return status == 0 ? ROLE_RUN : ROLE_OK;
}

/* The part of a path that tells calls apart: from the resource on. */
static const char *short_path(const char *path)
{
    const char *ns = strstr(path, "/namespaces/");
    const char *after = ns ? strchr(ns + strlen("/namespaces/"), '/') : NULL;
    return after ? after + 1 : path;
}

static void body(struct rows *out, const char *text, int w)
{
    struct json *j = NULL;
    struct pd_err err;
    char *pretty = json_parse(text, strlen(text), &j, &err) == PD_OK ? json_text(j, 2) : NULL;
    const char *p = pretty ? pretty : text;
    for (int i = 0; i < BODY_LINES && *p; i++) {
        size_t n = strcspn(p, "\n");
        char *line = xstrndup(p, n);
        rows_new(out, -1);
        rows_put(out, ROLE_TEXT, "      ");
        rows_cell(out, ROLE_MUTED, line, w - 6);
        free(line);
        p += n + (p[n] == '\n');
    }
    json_free(j);
    free(pretty);
}

/* Seconds until the request is made again, as the server wants it; 0: it is not. */
static int retry_s(const struct app *a, const struct api_row *r)
{
    int64_t ms = r->retry_at_ms - a->now_ms;
    return r->retry_at_ms && ms > 0 ? (int)((ms + 999) / 1000) : 0;
}

static void warning(struct rows *out, const struct api_row *r, int w)
{
    if (!r->warning)
        return;
    rows_new(out, -1);
    rows_put(out, ROLE_MUTED, "    ");
    rows_sign(out, ROLE_WARN, G_WARN);
    rows_put(out, ROLE_TEXT, " ");
    rows_cell(out, ROLE_WARN, r->warning, w - 6);
}

static void call(const struct app *a, struct rows *out, int i, int w)
{
    const struct api_row *r = &a->s->api[i];
    char buf[32];
    enum role role = status_role(r->status);
    rows_new(out, i);
    if (r->status > 0)
        rows_putf(out, role, "%3d ", r->status);
    else
        rows_put(out, role, r->status == 0 ? " .. " : "err ");
    rows_cell(out, ROLE_TEXT, r->method, 7);
    static const char *const words[] = {
        [CALL_WAITS] = N_("under way"), [CALL_WATCHES] = N_("watching"),
        [CALL_FOLLOWS] = N_("following")};
    enum kind kind = kind_of(r);
    if (retry_s(a, r) > 0)
        str_fmt(buf, sizeof buf, _("again in %ds"), retry_s(a, r));
    else if (r->status == 429)
        str_copy(buf, sizeof buf, _("slowed down"));
    else if (kind != CALL_ENDED)
        str_copy(buf, sizeof buf, _(words[kind]));
    else
        str_fmt(buf, sizeof buf, "%" PRId64 "ms", r->ms);
    int room = MAX(w - 11 - 1 - utf8_str_width(buf), 6);
    struct str path;
    str_init(&path, 4096);
    text_fit(short_path(r->path ? r->path : ""), room, glyph_of(out->glyphs, G_MORE), &path);
    rows_put(out, ROLE_TEXT, path.p);
    str_release(&path);
    rows_right(out, ROLE_MUTED, buf, w);
    if (r->kubectl && r->kubectl[0]) {
        rows_new(out, -1);
        rows_put(out, ROLE_MUTED, "    ");
        rows_cell(out, ROLE_CODE, r->kubectl, w - 4);
    }
    warning(out, r, w);
    if (a->api_open == i && r->body && r->body[0])
        body(out, r->body, w);
    else if (a->api_open == i)
        rows_line(out, ROLE_MUTED, _("      no body was sent"));
}

static void rows(const struct app *a, struct rows *out, int w, int h UNUSED)
{
    for (size_t i = 0; i < a->s->api_n; i++)
        if (is_shown(a, &a->s->api[i]))
            call(a, out, (int)i, w);
    if (a->s->api_n > 0 && out->n == 0)
        rows_line(out, ROLE_MUTED, _(" no request passes the filter; Esc shows all"));
    if (a->s->api_n == 0)
        rows_line(out, ROLE_MUTED, _(" no request yet"));
}

static const char *foot(const struct app *a, char buf[160])
{
    return str_fmt(buf, 160, "%s%s%s", a->api_errors ? _("failed ones alone") : "",
                   a->api_errors && a->api_filter[0] ? "  /" : a->api_filter[0] ? "/" : "",
                   a->api_filter);
}

/* A countdown is on show. */
static bool ages(const struct app *a)
{
    for (size_t i = 0; i < a->s->api_n; i++)
        if (retry_s(a, &a->s->api[i]) > 0)
            return true;
    return false;
}

const struct panel panel_api = {title, rows, foot, ages, N_("API")};
