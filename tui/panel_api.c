/* panel_api.c - every request that podium makes, and the kubectl line that does
 * the same. The newest stand last. */
#include "core/base/i18n.h"
#include "tui/panel.h"
#include "tui/text.h"

enum { BODY_LINES = 60 };

static const char *title(const struct app *a UNUSED, char buf[160])
{
    return str_copy(buf, 160, _("API calls, as kubectl would"));
}

static enum role status_role(int status)
{
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
    str_fmt(buf, sizeof buf, r->status == 0 ? _("open") : "%" PRId64 "ms", r->ms);
    int room = MAX(w - 11 - 8, 6);
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
    if (a->api_open == i && r->body && r->body[0])
        body(out, r->body, w);
    else if (a->api_open == i)
        rows_line(out, ROLE_MUTED, _("      no body was sent"));
}

static void rows(const struct app *a, struct rows *out, int w, int h UNUSED)
{
    for (size_t i = 0; i < a->s->api_n; i++)
        call(a, out, (int)i, w);
    if (a->s->api_n == 0)
        rows_line(out, ROLE_MUTED, _(" no request yet"));
}

const struct panel panel_api = {title, rows, NULL, NULL, N_("API")};
