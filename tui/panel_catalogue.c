/* panel_catalogue.c - the labs, and what one of them is about. */
#include "core/base/i18n.h"
#include "k8s/quantity.h"
#include "tui/panel.h"

/* Sum of a resource over nodes; whole units. -1: the nodes are not known. */
static double offered(const struct app *a, const char *resource)
{
    const struct table *t = session_table(a->s, "nodes");
    double sum = 0;
    if (!t || !t->synced)
        return -1;
    for (const struct json *n = json_first(t->items); n; n = json_next(n)) {
        char path[160];
        int64_t milli;
        str_fmt(path, sizeof path, "status.allocatable['%s']", resource);
        const char *q = json_str(n, path, NULL);
        const char *ready = json_str(n, "status.conditions[?type=Ready].status", "True");
        if (q && str_eq(ready, "True") && quantity_milli(q, &milli))
            sum += (double)milli / 1000;
    }
    return sum;
}

/* How many of the lab's needs the cluster does not meet. */
static int missing(const struct app *a, const struct lab *lab)
{
    int n = 0;
    for (int i = 0; i < lab->requires_n; i++) {
        double have = offered(a, lab->requires[i].resource);
        n += have >= 0 && have < lab->requires[i].min;
    }
    return n;
}

static bool finished(const struct app *a, size_t i)
{
    const struct lab *lab = a->labs->v[i].lab;
    return lab && a->lab_done[i] >= lab->steps_n;
}

static const char *catalogue_title(const struct app *a, char buf[160])
{
    size_t n = 0, all = a->labs ? a->labs->n : 0;
    for (size_t i = 0; i < all; i++)
        n += finished(a, i);
    return str_fmt(buf, 160, _("Catalogue  %zu/%zu done"), n, all);
}

/* The lab file's words that have a translation; any other is shown as it is. */
static const char *word_text(const char *word)
{
    static const char *const words[] = {N_("easy"), N_("medium"), N_("hard"), N_("any")};
    for (size_t i = 0; i < ARRAY_LEN(words); i++)
        if (str_eq(words[i], word))
            return _(words[i]);
    return word;
}

/* What can be said of a lab in one word. */
static const char *lab_state(const struct app *a, size_t i, enum glyph *g, enum role *role,
                             char buf[32])
{
    const struct lab *lab = a->labs->v[i].lab;
    *role = ROLE_MUTED;
    if (!lab) {
        *g = G_FAIL;
        *role = ROLE_FAIL;
        return _("broken");
    }
    if (finished(a, i)) {
        *g = G_OK;
        *role = ROLE_OK;
        return _("done");
    }
    if (a->lab_done[i] > 0) {
        *g = G_WAIT;
        *role = ROLE_RUN;
        return str_fmt(buf, 32, "%d/%d", a->lab_done[i], lab->steps_n);
    }
    *g = missing(a, lab) > 0 ? G_WARN : G_OPEN;
    if (*g == G_WARN)
        *role = ROLE_WARN;
    return *g == G_WARN ? _("lacks") : _("ready");
}

static void lab_row(const struct app *a, struct rows *out, size_t i, int w)
{
    const struct lab_entry *e = &a->labs->v[i];
    int state_w = 10, hw_w = w >= 54 ? 10 : 0, minutes_w = w >= 60 ? 8 : 0;
    char buf[32], word[32];
    enum glyph g;
    enum role role;
    const char *state = lab_state(a, i, &g, &role, word);
    rows_new(out, (int)i);
    rows_put(out, ROLE_TEXT, " ");
    rows_sign(out, role, g);
    rows_putf(out, ROLE_MUTED, " %02zu ", i + 1);
    rows_cell(out, ROLE_TEXT, e->lab ? ltext_get(&e->lab->title) : e->id,
              w - 6 - state_w - hw_w - minutes_w);
    if (hw_w)
        rows_cell(out, ROLE_MUTED, e->lab ? word_text(e->lab->hw) : "", hw_w);
    if (minutes_w)
        rows_cell(out, ROLE_MUTED,
                  e->lab ? str_fmt(buf, sizeof buf, _("%d min"), e->lab->minutes) : "", minutes_w);
    rows_cell(out, role, state, state_w);
}

static void catalogue_rows(const struct app *a, struct rows *out, int w, int h UNUSED)
{
    if (!a->labs || a->labs->n == 0) {
        rows_wrap(out, ROLE_WARN, 1, _("No labs were found. They are in labs/content, or in "
                                       "~/.local/share/podium/labs."), w - 1);
        return;
    }
    rows_new(out, -1);
    rows_put(out, ROLE_MUTED, "    # ");
    rows_cell(out, ROLE_MUTED, _("Lab"), w - 6 - 10 - (w >= 54 ? 10 : 0) - (w >= 60 ? 8 : 0));
    if (w >= 54)
        rows_cell(out, ROLE_MUTED, _("Hardware"), 10);
    if (w >= 60)
        rows_cell(out, ROLE_MUTED, _("Time"), 8);
    rows_cell(out, ROLE_MUTED, _("State"), 10);
    int begun = 0;
    for (size_t i = 0; i < a->labs->n; i++) {
        lab_row(a, out, i, w);
        begun += a->lab_done[i];
    }
    if (begun > 0)
        return;
    rows_blank(out);
    rows_wrap(out, ROLE_HINT, 1, _("New here? Enter opens the lab; it says what to do, step by "
                                   "step. ? shows all keys."), w - 1);
}

const struct panel panel_catalogue = {catalogue_title, catalogue_rows, NULL, NULL, N_("Labs")};

/* --- about -------------------------------------------------------------------- */
static const struct lab_entry *selected(const struct app *a)
{
    int i = app_lab_beside(a);
    return a->labs && i >= 0 && (size_t)i < a->labs->n ? &a->labs->v[i] : NULL;
}

static const char *about_title(const struct app *a, char buf[160])
{
    const struct lab_entry *e = selected(a);
    return str_copy(buf, 160, e && e->lab ? ltext_get(&e->lab->title) : _("About"));
}

static void needs(const struct app *a, struct rows *out, const struct lab *lab, int w)
{
    if (lab->requires_n == 0)
        return;
    rows_blank(out);
    rows_line(out, ROLE_HEAD, _("Needs on this cluster"));
    for (int i = 0; i < lab->requires_n; i++) {
        const struct lab_require *r = &lab->requires[i];
        double have = offered(a, r->resource);
        enum role role = have < 0 ? ROLE_MUTED : have >= r->min ? ROLE_OK : ROLE_FAIL;
        char buf[64];
        rows_new(out, -1);
        rows_put(out, ROLE_TEXT, " ");
        rows_sign(out, role, have < 0 ? G_WAIT : have >= r->min ? G_OK : G_FAIL);
        rows_putf(out, ROLE_TEXT, " %s", r->resource);
        if (have < 0)
            str_fmt(buf, sizeof buf, _("%g, not known yet"), r->min);
        else
            str_fmt(buf, sizeof buf, _("%g, has %g"), r->min, have);
        rows_right(out, role, buf, w);
        if (have >= 0 && have < r->min)
            rows_wrap(out, ROLE_MUTED, 3, ltext_get(&r->why), w);
    }
}

static void broken(struct rows *out, const struct lab_entry *e, int w)
{
    char buf[600];
    rows_line(out, ROLE_FAIL, _("This lab can't be read"));
    rows_blank(out);
    str_fmt(buf, sizeof buf, "%s:%d:%d", e->err.src, e->err.line, e->err.col);
    rows_wrap(out, ROLE_CODE, 0, buf, w);
    rows_wrap(out, ROLE_TEXT, 0, e->err.msg, w);
    rows_blank(out);
    rows_wrap(out, ROLE_HINT, 0, e->err.hint, w);
}

static void about_rows(const struct app *a, struct rows *out, int w, int h UNUSED)
{
    const struct lab_entry *e = selected(a);
    if (!e || !e->lab) {
        if (e)
            broken(out, e, w);
        return;
    }
    const struct lab *lab = e->lab;
    rows_wrap(out, ROLE_TEXT, 0, ltext_get(&lab->about), w);
    if (*ltext_get(&lab->goal)) {
        rows_blank(out);
        rows_line(out, ROLE_HEAD, _("Goal"));
        rows_wrap(out, ROLE_TEXT, 1, ltext_get(&lab->goal), w);
    }
    rows_blank(out);
    rows_new(out, -1);
    rows_put(out, ROLE_HEAD, _("Time"));
    rows_putf(out, ROLE_TEXT, _("  ~%d min"), lab->minutes);
    rows_put(out, ROLE_HEAD, "   ");
    rows_put(out, ROLE_HEAD, _("Level"));
    rows_putf(out, ROLE_TEXT, "  %s", word_text(lab->level));
    int done = a->lab_done[app_lab_beside(a)];
    if (done > 0) {
        char text[32];
        str_fmt(text, sizeof text, "  %d/%d", done, lab->steps_n);
        rows_new(out, -1);
        rows_put(out, ROLE_HEAD, _("So far"));
        rows_put(out, ROLE_TEXT, "  ");
        rows_bar(out, (double)done / lab->steps_n, MAX(w - 18, 6));
        rows_put(out, ROLE_TEXT, text);
    }
    needs(a, out, lab, w);
    rows_blank(out);
    rows_line(out, ROLE_HEAD, _("Steps"));
    for (int i = 0; i < lab->steps_n; i++) {
        rows_new(out, -1);
        rows_putf(out, ROLE_MUTED, "%3d ", i + 1);
        rows_cell(out, ROLE_TEXT, ltext_get(&lab->steps[i].title), w - 4);
    }
}

const struct panel panel_about = {about_title, about_rows, NULL, NULL, N_("About")};
