/* panel_manifest.c - the step pane's part about its manifest: what is wrong with it,
 * what an apply would change, what the server said (labs/session_manifest.c). */
#include "core/base/i18n.h"
#include "core/base/utf8.h"
#include "tui/panel.h"
#include "tui/panel_step.h"

enum { DIFF_ROWS = 60, NOTES_MOST = 12 };

static void note(struct rows *out, const struct json *n, int w)
{
    char place[32];
    const char *level = json_str(n, "level", ""), *why = json_str(n, "why", "");
    const char *next = json_str(n, "next", "");
    bool error = str_eq(level, "error"), plain = str_eq(level, "note");
    rows_new(out, -1);
    rows_put(out, ROLE_TEXT, " ");
    rows_sign(out, error ? ROLE_FAIL : plain ? ROLE_MUTED : ROLE_WARN,
              error ? G_FAIL : plain ? G_DOT : G_WARN);
    str_fmt(place, sizeof place, _(" line %lld"), (long long)json_int(n, "line", 1));
    rows_put(out, ROLE_STRONG, place);
    rows_wrap(out, error ? ROLE_FAIL : plain ? ROLE_TEXT : ROLE_WARN, 3,
              json_str(n, "message", ""), w);
    if (*why)
        rows_wrap(out, ROLE_TEXT, 3, why, w);
    if (*next)
        rows_wrap(out, ROLE_HINT, 3, next, w);
}

/* The lines of a difference by their first character. */
static void difference(struct rows *out, const char *text, int w)
{
    int n = 0;
    for (const char *p = text; *p; n++) {
        size_t len = strcspn(p, "\n");
        enum role role = *p == '+' ? ROLE_OK : *p == '-' ? ROLE_FAIL : *p == '@' ? ROLE_MUTED
                                                                                : ROLE_CODE;
        if (n < DIFF_ROWS) {
            struct str line;
            str_init(&line, 4096);
            utf8_clean(p, len, false, &line);
            rows_new(out, -1);
            rows_put(out, ROLE_TEXT, " ");
            rows_cell(out, role, line.p, MAX(w - 1, 8));
            str_release(&line);
        }
        p += len + (p[len] == '\n');
    }
    if (n > DIFF_ROWS)
        rows_linef(out, ROLE_MUTED, _(" … %d lines more"), n - DIFF_ROWS);
}

void panel_step_manifest(const struct app *a, struct rows *out, int w)
{
    const struct manifest_view *v = &a->s->manifest;
    int shown = 0;
    if (v->state == MANIFEST_NOTHING || v->step != a->s->step)
        return;
    rows_blank(out);
    if (a->seek == SEEK_MANIFEST)
        out->mark = out->n;
    rows_linef(out, ROLE_HEAD, _("Manifest %s"), v->file);
    if (v->state == MANIFEST_LOOKING)
        rows_wrap(out, ROLE_MUTED, 1, _("asking the server what it would change ..."), w);
    for (const struct json *n = json_first(v->notes); n && shown < NOTES_MOST;
         n = json_next(n), shown++)
        note(out, n, w);
    int more = (int)json_count(v->notes) - shown;
    if (more > 0)
        rows_linef(out, ROLE_MUTED, _(" … %d more"), more);
    if (json_count(v->notes) == 0 && v->objects) {
        rows_new(out, -1);
        rows_put(out, ROLE_TEXT, " ");
        rows_sign(out, ROLE_OK, G_OK);
        rows_putf(out, ROLE_TEXT, _(" %d checked, nothing wrong"), v->objects);
    }
    if (v->conflict) {
        rows_new(out, -1);
        rows_put(out, ROLE_KEY, " O");
        rows_putf(out, ROLE_TEXT, "  %s", _("take these fields over"));
    }
    if (v->diff && !*v->diff && v->state == MANIFEST_SHOWN && !v->conflict)
        rows_wrap(out, ROLE_MUTED, 1, _("An apply would change nothing."), w);
    else if (v->diff && *v->diff)
        rows_line(out, ROLE_TEXT, _(" An apply would change:"));
    if (v->diff)
        difference(out, v->diff, w);
}
