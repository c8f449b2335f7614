/* panel_why.c - what is wrong: cause, evidence, next step. */
#include "core/base/i18n.h"
#include "core/base/utf8.h"
#include "tui/panel.h"

static const char *title(const struct app *a UNUSED, char buf[160])
{
    return str_copy(buf, 160, _("What is wrong"));
}

static void part(struct rows *out, const char *head, enum role role, const char *text, int w)
{
    if (!text[0])
        return;
    rows_line(out, ROLE_HEAD, head);
    rows_wrap(out, role, 1, text, w);
    rows_blank(out);
}

static bool error(const struct app *a, struct rows *out, int w)
{
    const struct pd_err *e = &a->s->last_error;
    char place[320];
    if (e->code == PD_OK)
        return false;
    rows_new(out, -1);
    rows_sign(out, ROLE_FAIL, G_FAIL);
    rows_putf(out, ROLE_FAIL, " %s", _(pd_message(e->code)));
    rows_right(out, ROLE_MUTED, pd_id(e->code), w);
    rows_blank(out);
    part(out, _("What happened"), ROLE_TEXT, e->msg, w);
    place[0] = '\0';
    if (e->src[0])
        str_fmt(place, sizeof place, e->line ? "%s:%d:%d" : "%s", e->src, e->line, e->col);
    part(out, _("Where"), ROLE_CODE, place, w);
    part(out, _("Next step"), ROLE_HINT, e->hint[0] ? e->hint : _(pd_hint(e->code)), w);
    return true;
}

static const char *advice(enum check_result r)
{
    static const char *const table[CHECK_RESULT_COUNT] = {
        [CHECK_NOT_YET] = N_("Nothing is wrong: it takes its time. The check repeats by itself."),
        [CHECK_WRONG] = N_("Correct what differs: e edits the step's file, r runs the step again."),
        [CHECK_BLOCKED] = N_("Finish the step it waits for."),
        [CHECK_UNKNOWN] = N_("podium can't see the object: look at the link and at your rights."),
        [CHECK_SKIPPED] = N_("This cluster can't show it; the step counts without."),
        [CHECK_STALE] = N_("It was right and has changed since: run the step again.")};
    return table[r] ? _(table[r]) : "";
}

/* All of it: what differs may be at its end. */
static void value(struct rows *out, enum role role, const char *name, const char *text, int w)
{
    if (!text[0])
        return;
    if (utf8_str_width(name) + utf8_str_width(text) + 3 <= w) {
        rows_linef(out, role, " %s  %s", name, text);
        return;
    }
    rows_linef(out, ROLE_MUTED, " %s", name);
    rows_wrap(out, role, 2, text, w);
}

static void check(const struct app *a, struct rows *out, const struct lab_check *c,
                  const struct evidence *e, int w)
{
    enum role role;
    enum glyph g = panel_result_sign(e->result, &role);
    rows_new(out, -1);
    rows_sign(out, role, g);
    rows_putf(out, ROLE_STRONG, " %s", panel_say(a, out, &c->title));
    rows_right(out, role, _(check_result_name(e->result)), w);
    rows_blank(out);
    part(out, _("Cause"), role, e->because, w);
    if (e->object[0]) {
        rows_line(out, ROLE_HEAD, _("Evidence"));
        rows_wrap(out, ROLE_CODE, 1, e->object, w);
        if (e->path[0])
            rows_wrap(out, ROLE_CODE, 1, e->path, w);
        value(out, ROLE_TEXT, _("expected"), e->expected, w);
        value(out, role, _("found"), e->actual, w);
        if (e->event[0])
            rows_wrap(out, ROLE_MUTED, 1, e->event, w);
        rows_blank(out);
    }
    part(out, _("Next step"), ROLE_HINT, advice(e->result), w);
}

static void rows(const struct app *a, struct rows *out, int w, int h UNUSED)
{
    const struct session *s = a->s;
    bool any = error(a, out, w);
    if (s->lab && s->progress) {
        const struct lab_step *st = &s->lab->steps[s->step];
        const struct evidence *e = s->progress[s->step].checks;
        for (int i = 0; e && i < st->checks_n; i++) {
            if (e[i].result == CHECK_PASS || e[i].result == CHECK_BLOCKED)
                continue;
            check(a, out, &st->checks[i], &e[i], w);
            any = true;
        }
    }
    if (!any) {
        rows_new(out, -1);
        rows_sign(out, ROLE_OK, G_OK);
        rows_put(out, ROLE_TEXT, _(" Nothing is wrong."));
    }
}

const struct panel panel_why = {title, rows, NULL, NULL, N_("Why")};
