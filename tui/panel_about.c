/* panel_about.c - what the selected lab is about: goal, time, level, how far it
 * is, what it needs of this cluster, its steps; of a broken one, where. */
#include "core/base/i18n.h"
#include "core/base/utf8.h"
#include "tui/catalogue.h"
#include "tui/panel.h"
#include "tui/text.h"

static const struct lab_entry *selected(const struct app *a)
{
    int i = catalogue_at(a, app_lab_beside(a));
    return i >= 0 ? &a->labs->v[i] : NULL;
}

static const char *about_title(const struct app *a, char buf[160])
{
    const struct lab_entry *e = selected(a);
    return str_copy(buf, 160, e && e->lab ? ltext_get(&e->lab->title) : _("About"));
}

static void need(const struct app *a, struct rows *out, const struct lab_require *r, int w)
{
    int met = catalogue_met(a, r);
    enum role role = met < 0 ? ROLE_MUTED : met ? ROLE_OK : ROLE_FAIL;
    double have = r->kind == LAB_NEED_RESOURCE ? catalogue_offered(a, r->resource) : -1;
    bool hidden = r->kind == LAB_NEED_RESOURCE && session_table(a->s, "nodes")->forbidden;
    char buf[96];
    rows_new(out, -1);
    rows_put(out, ROLE_TEXT, " ");
    rows_sign(out, role, met < 0 ? (hidden ? G_ASK : G_WAIT) : met ? G_OK : G_FAIL);
    rows_putf(out, ROLE_TEXT, " %s", r->resource);
    if (r->kind != LAB_NEED_RESOURCE)
        str_copy(buf, sizeof buf, _("asked when it is opened"));
    else if (hidden)
        str_fmt(buf, sizeof buf, _("%g, nodes can't be seen"), r->min);
    else if (have < 0)
        str_fmt(buf, sizeof buf, _("%g, not known yet"), r->min);
    else
        str_fmt(buf, sizeof buf, _("%g, has %g"), r->min, have);
    if (out->v[out->n - 1].width + utf8_str_width(buf) + 2 <= w)
        rows_right(out, role, buf, w);
    else
        rows_wrap(out, role, 3, buf, w);
    if (met == 0)
        rows_wrap(out, ROLE_MUTED, 3, ltext_get(&r->why), w);
}

static void needs(const struct app *a, struct rows *out, const struct lab *lab, int w)
{
    if (lab->requires_n == 0)
        return;
    rows_blank(out);
    rows_wrap(out, ROLE_HEAD, 0, _("Needs on this cluster"), w);
    for (int i = 0; i < lab->requires_n; i++)
        need(a, out, &lab->requires[i], w);
}

static void broken(const struct app *a, struct rows *out, const struct lab_entry *e, int w)
{
    char buf[600];
    rows_wrap(out, ROLE_FAIL, 0, _("This lab can't be read"), w);
    rows_blank(out);
    rows_wrap(out, ROLE_TEXT, 0, e->err.msg, w);
    rows_blank(out);
    if (e->err.line)
        str_fmt(buf, sizeof buf, "%s:%d:%d", e->err.src, e->err.line, e->err.col);
    else
        str_copy(buf, sizeof buf, e->err.src[0] ? e->err.src : e->path);
    struct str place;            /* its end says most */
    str_init(&place, 1024);
    text_fit_left(buf, w, glyph_of(a->glyphs, G_MORE), &place);
    rows_line(out, ROLE_CODE, place.p);
    str_release(&place);
    rows_blank(out);
    rows_wrap(out, ROLE_HINT, 0, _(e->err.hint), w);
}

/* "Time  ~45 min   Level  medium   Track  Fine-tuning" */
static void facts(const struct app *a, struct rows *out, const struct lab *lab, int i, int w)
{
    const char *track = catalogue_track(a, i);
    const struct lab *before = catalogue_before(a, lab);
    char buf[320];
    rows_blank(out);
    rows_new(out, -1);
    rows_put(out, ROLE_HEAD, _("Time"));
    rows_putf(out, ROLE_TEXT, _("  ~%d min"), lab->minutes);
    rows_put(out, ROLE_HEAD, "   ");
    rows_put(out, ROLE_HEAD, _("Level"));
    rows_putf(out, ROLE_TEXT, "  %s", panel_word(lab->level));
    if (*track && out->v[out->n - 1].width + utf8_str_width(track) + 12 <= w) {
        rows_put(out, ROLE_HEAD, "   ");
        rows_put(out, ROLE_HEAD, _("Track"));
        rows_putf(out, ROLE_TEXT, "  %s", track);
    }
    if (before)
        rows_wrap(out, ROLE_WARN, 0, str_fmt(buf, sizeof buf, _("Comes after: %s"),
                                             ltext_get(&before->title)), w);
}

static void so_far(const struct app *a, struct rows *out, const struct lab *lab, int i, int w)
{
    int done = MIN(a->lab_done[i], lab->steps_n);
    char text[32];
    if (done <= 0)
        return;
    str_fmt(text, sizeof text, "  %d/%d", done, lab->steps_n);
    rows_new(out, -1);
    rows_put(out, ROLE_HEAD, _("So far"));
    rows_put(out, ROLE_TEXT, "  ");
    rows_bar(out, (double)done / lab->steps_n,
             MAX(w - out->v[out->n - 1].width - utf8_str_width(text), 6));
    rows_put(out, ROLE_TEXT, text);
}

static void about_rows(const struct app *a, struct rows *out, int w, int h UNUSED)
{
    const struct lab_entry *e = selected(a);
    int i = catalogue_at(a, app_lab_beside(a));
    if (!e || !e->lab) {
        if (e)
            broken(a, out, e, w);
        return;
    }
    const struct lab *lab = e->lab;
    rows_wrap(out, ROLE_TEXT, 0, ltext_get(&lab->about), w);
    if (*ltext_get(&lab->goal)) {
        rows_blank(out);
        rows_line(out, ROLE_HEAD, _("Goal"));
        rows_wrap(out, ROLE_TEXT, 1, ltext_get(&lab->goal), w);
    }
    facts(a, out, lab, i, w);
    so_far(a, out, lab, i, w);
    needs(a, out, lab, w);
    rows_blank(out);
    rows_line(out, ROLE_HEAD, _("Steps"));
    for (int k = 0; k < lab->steps_n; k++) {
        rows_new(out, -1);
        rows_putf(out, ROLE_MUTED, "%3d ", k + 1);
        rows_cell(out, ROLE_TEXT, ltext_get(&lab->steps[k].title), w - 4);
    }
}

const struct panel panel_about = {about_title, about_rows, NULL, NULL, N_("About")};
