/* panel_messages.c - the last errors in full, and what else was said: what
 * happened, where, what shows it, and the next step. */
#include "core/base/i18n.h"
#include "core/base/utf8.h"
#include "tui/panel.h"

static const char *title(const struct app *a, char buf[160])
{
    int bad = 0;
    for (int i = 0; i < a->said_n; i++)
        bad += a->said[i].err.code != PD_OK;
    return str_fmt(buf, 160, _("Messages  %d, %d errors"), a->said_n, bad);
}

static void part(struct rows *out, enum role role, const char *head, const char *text, int w)
{
    if (!text[0])
        return;
    rows_wrap(out, ROLE_HEAD, 2, head, w - 2);
    rows_wrap(out, role, 4, text, w - 4);
}

/* The last request that the server refused shows what was asked for. */
static const struct api_row *refused(const struct app *a)
{
    for (size_t i = a->s->api_n; i > 0; i--)
        if (a->s->api[i - 1].status >= 400)
            return &a->s->api[i - 1];
    return NULL;
}

static bool of_cluster(enum pd_code code)
{
    return code == PD_AUTH || code == PD_FORBIDDEN || code == PD_NOTFOUND || code == PD_CONFLICT ||
           code == PD_GONE || code == PD_INVALID || code == PD_QUOTA || code == PD_HTTP;
}

static void in_full(const struct app *a, struct rows *out, const struct pd_err *e, int w)
{
    char place[320] = "", shown[640] = "";
    const struct api_row *r = of_cluster(e->code) ? refused(a) : NULL;
    if (e->src[0] && e->line)
        str_fmt(place, sizeof place, "%s:%d:%d", e->src, e->line, e->col);
    else
        str_copy(place, sizeof place, e->src);
    if (r)
        str_fmt(shown, sizeof shown, "%s %s: %d\n%s", r->method, r->path, r->status,
                r->kubectl ? r->kubectl : "");
    part(out, ROLE_TEXT, _("Cause"), _(pd_message(e->code)), w);
    part(out, ROLE_CODE, _("Where"), place, w);
    part(out, ROLE_CODE, _("Evidence"), shown, w);
    part(out, ROLE_HINT, _("Next step"), e->hint[0] ? _(e->hint) : _(pd_hint(e->code)), w);
}

static void entry(const struct app *a, struct rows *out, int i, int w)
{
    const struct app_said *s = &a->said[i];
    bool bad = s->err.code != PD_OK;
    char clock[16];
    rows_new(out, a->said_n - 1 - i);
    rows_sign(out, bad ? ROLE_FAIL : ROLE_MUTED, bad ? G_FAIL : G_DOT);
    rows_putf(out, ROLE_MUTED, " %s ", panel_clock(a, s->at_ms, true, clock));
    if (bad)
        rows_putf(out, ROLE_FAIL, "%s", pd_id(s->err.code));
    if (!bad && utf8_str_width(s->text) <= w - out->v[out->n - 1].width)
        rows_put(out, ROLE_TEXT, s->text);
    else
        rows_wrap(out, bad ? ROLE_FAIL : ROLE_TEXT, 2, s->text, w - 2);
}

static void rows(const struct app *a, struct rows *out, int w, int h UNUSED)
{
    bool errors = false;
    for (int i = a->said_n - 1; i >= 0; i--) {
        entry(a, out, i, w);
        if (a->said[i].err.code == PD_OK)
            continue;
        in_full(a, out, &a->said[i].err, w);
        errors = true;
    }
    if (a->said_n == 0)
        rows_wrap(out, ROLE_MUTED, 0, _("Nothing has been said yet."), w);
    else if (!errors)
        rows_wrap(out, ROLE_OK, 0, _("None of these was an error."), w);
}

const struct panel panel_messages = {title, rows, NULL, NULL, N_("Messages")};
