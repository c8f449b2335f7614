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

/* --- an object ------------------------------------------------------------------- */
static void list(struct rows *out, const char *head, enum role role, const struct json *texts,
                 int w)
{
    if (json_count(texts) == 0)
        return;
    rows_line(out, ROLE_HEAD, head);
    for (const struct json *t = json_first(texts); t; t = json_next(t))
        rows_wrap(out, role, 1, json_string_value(t), w);
    rows_blank(out);
}

static void proofs(struct rows *out, const struct json *list, int w)
{
    if (json_count(list) == 0)
        return;
    const char *file = "";
    rows_line(out, ROLE_HEAD, _("Evidence"));
    for (const struct json *p = json_first(list); p; p = json_next(p)) {
        const char *path = json_str(p, "path", ""), *text = json_str(p, "value", "");
        if (!str_eq(file, json_str(p, "file", ""))) { /* fields of one object stand together */
            file = json_str(p, "file", "");
            rows_linef(out, ROLE_STRONG, " %s", file);
        }
        if (utf8_str_width(path) + utf8_str_width(text) + 5 <= w) {
            rows_linef(out, ROLE_CODE, "  %s = %s", path, text);
            continue;
        }
        rows_wrap(out, ROLE_CODE, 2, path, w);
        rows_wrap(out, ROLE_TEXT, 4, text, w);
    }
    rows_blank(out);
}

static void finding(struct rows *out, const struct json *f, int w)
{
    const char *command = json_str(f, "command", "");
    rows_wrap(out, ROLE_STRONG, 1, json_str(f, "text", ""), w);
    for (const struct json *t = json_first(json_get(f, "details")); t; t = json_next(t))
        rows_wrap(out, ROLE_TEXT, 2, json_string_value(t), w);
    rows_blank(out);
    list(out, _("Next step"), ROLE_HINT, json_get(f, "fix"), w);
    if (command[0]) {
        rows_new(out, 0);
        rows_putf(out, ROLE_CODE, " $ %s", command);
        rows_blank(out);
    }
    proofs(out, json_get(f, "evidence"), w);
}

static bool object(const struct app *a, struct rows *out, int w)
{
    const struct app_why *y = &a->why;
    const struct json *first = json_get(y->answer, "primary");
    const char *cause = json_str(first, "cause", ""), *sure = json_str(first, "confidence", "");
    bool well = str_eq(cause, "none");
    if (!y->object[0])
        return false;
    rows_new(out, -1);
    rows_sign(out, well ? ROLE_OK : ROLE_FAIL, !y->answer ? G_WAIT : well ? G_OK : G_FAIL);
    rows_putf(out, ROLE_STRONG, " %s", y->object);
    if (y->answer)
        rows_right(out, ROLE_MUTED, _(sure), w);
    if (y->answer && !well)
        rows_linef(out, ROLE_CODE, "   %s", cause);
    if (!y->answer && !y->error[0])
        rows_line(out, ROLE_MUTED, _("   looking at its objects, events and log"));
    if (y->error[0])
        rows_wrap(out, ROLE_FAIL, 3, y->error, w);
    rows_blank(out);
    if (y->answer)
        finding(out, first, w);
    for (const struct json *f = json_first(json_get(y->answer, "also")); f; f = json_next(f)) {
        rows_line(out, ROLE_HEAD, _("Also"));
        rows_wrap(out, ROLE_TEXT, 1, json_str(f, "text", ""), w);
    }
    return true;
}

static void rows(const struct app *a, struct rows *out, int w, int h UNUSED)
{
    const struct session *s = a->s;
    bool asked = object(a, out, w), any = error(a, out, w) || asked;
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
