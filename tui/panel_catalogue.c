/* panel_catalogue.c - the list of labs: by track, with number, hardware, time
 * and state. */
#include "core/base/i18n.h"
#include "core/base/utf8.h"
#include "tui/catalogue.h"
#include "tui/panel.h"

/* Widths of the columns in a pane of w. */
struct columns {
    int name, hw, minutes, state;
};

/* The state is whole where the names leave it room. */
static struct columns columns_of(const struct app *a, int w)
{
    int v[CATALOGUE_MOST], n = catalogue_order(a, v);
    struct columns c = {.state = utf8_str_width(_("State"))};
    for (int i = 0; i < n; i++) {
        char buf[96];
        enum glyph g;
        enum role role;
        c.state = MAX(c.state, utf8_str_width(catalogue_say(a, v[i], &g, &role, buf)));
    }
    c.state = MIN(c.state, w >= 60 ? 24 : MAX(w - 6 - 18, 8));
    c.hw = w >= 54 ? 10 : 0;
    c.minutes = w >= 60 ? 8 : 0;
    c.name = MAX(w - 6 - c.state - c.hw - c.minutes, 8);
    return c;
}

static const char *catalogue_title(const struct app *a, char buf[160])
{
    size_t labs = a->labs ? a->labs->n : 0, ready = 0;
    int steps = 0, done = 0;
    for (size_t i = 0; i < labs; i++) {
        const struct lab *lab = a->labs->v[i].lab;
        ready += catalogue_state(a, (int)i) == CATALOGUE_DONE;
        steps += lab ? lab->steps_n : 0;
        done += lab ? MIN(a->lab_done[i], lab->steps_n) : 0;
    }
    if (a->labs_find[0])
        return str_fmt(buf, 160, "%s /%s", _("Catalogue"), a->labs_find);
    return str_fmt(buf, 160, _("Catalogue  %zu/%zu done, %d/%d steps"), ready, labs, done, steps);
}

static const char *catalogue_foot(const struct app *a, char buf[160])
{
    return a->labs_sort == CATALOGUE_BY_TRACK
               ? "" : str_fmt(buf, 160, _("by %s"), catalogue_sort_name(a->labs_sort));
}

static void lab_row(const struct app *a, struct rows *out, int at, int lab, struct columns c)
{
    const struct lab_entry *e = &a->labs->v[lab];
    char buf[96], minutes[32];
    enum glyph g;
    enum role role;
    const char *state = catalogue_say(a, lab, &g, &role, buf);
    rows_new(out, at);
    rows_put(out, ROLE_TEXT, " ");
    rows_sign(out, role, g);
    rows_putf(out, ROLE_MUTED, " %02d ", catalogue_number(a, lab));
    rows_cell(out, ROLE_TEXT, e->lab ? ltext_get(&e->lab->title) : e->id, c.name - 1);
    rows_put(out, ROLE_TEXT, " ");
    if (c.hw)
        rows_cell(out, ROLE_MUTED, e->lab ? panel_word(e->lab->hw) : "", c.hw);
    if (c.minutes)
        rows_cell(out, ROLE_MUTED, e->lab ? str_fmt(minutes, sizeof minutes, _("%d min"),
                                                    e->lab->minutes) : "", c.minutes);
    rows_cell(out, role, state, c.state);
}

static void head_row(struct rows *out, struct columns c)
{
    rows_new(out, -1);
    rows_put(out, ROLE_MUTED, "    # ");
    rows_cell(out, ROLE_MUTED, _("Lab"), c.name);
    if (c.hw)
        rows_cell(out, ROLE_MUTED, _("Hardware"), c.hw);
    if (c.minutes)
        rows_cell(out, ROLE_MUTED, _("Time"), c.minutes);
    rows_cell(out, ROLE_MUTED, _("State"), c.state);
}

/* "Fine-tuning  2/5": a track and how many of its labs are done. */
static void track_row(const struct app *a, struct rows *out, const int *v, int n, int at)
{
    const char *track = catalogue_track(a, v[at]);
    int all = 0, done = 0;
    for (int i = 0; i < n; i++) {
        all += str_eq(catalogue_track(a, v[i]), track);
        done += str_eq(catalogue_track(a, v[i]), track) &&
                catalogue_state(a, v[i]) == CATALOGUE_DONE;
    }
    rows_new(out, -1);
    rows_put(out, ROLE_HEAD, *track ? track : _("Other labs"));
    rows_putf(out, ROLE_MUTED, "  %d/%d", done, all);
}

static bool any_track(const struct app *a)
{
    for (size_t i = 0; i < a->labs->n; i++)
        if (*catalogue_track(a, (int)i))
            return true;
    return false;
}

static void hint_rows(const struct app *a, struct rows *out, int shown, int w)
{
    int begun = 0;
    for (size_t i = 0; i < a->labs->n; i++)
        begun += a->lab_done[i];
    if (shown == 0)
        rows_wrap(out, ROLE_WARN, 1, _("No lab has that text. / asks for another, Esc shows all."),
                  w - 1);
    if (begun > 0 || shown == 0)
        return;
    rows_blank(out);
    rows_wrap(out, ROLE_HINT, 1, _("New here? Enter opens the lab; it says what to do, step by "
                                   "step. ? shows all keys."), w - 1);
}

static void catalogue_rows(const struct app *a, struct rows *out, int w, int h UNUSED)
{
    int v[CATALOGUE_MOST], n = catalogue_order(a, v);
    if (!a->labs || a->labs->n == 0) {
        rows_wrap(out, ROLE_WARN, 1, _("No labs were found. They are in labs/content, or in "
                                       "~/.local/share/podium/labs."), w - 1);
        return;
    }
    bool tracks = a->labs_sort == CATALOGUE_BY_TRACK && any_track(a);
    struct columns c = columns_of(a, w);
    head_row(out, c);
    for (int i = 0; i < n; i++) {
        if (tracks && (i == 0 || !str_eq(catalogue_track(a, v[i]), catalogue_track(a, v[i - 1]))))
            track_row(a, out, v, n, i);
        lab_row(a, out, i, v[i], c);
    }
    hint_rows(a, out, n, w);
}

const struct panel panel_catalogue = {catalogue_title, catalogue_rows, catalogue_foot, NULL,
                                      N_("Labs")};
