/* catalogue.c - order and state of the labs (catalogue.h). */
#include "tui/catalogue.h"

#include "core/base/i18n.h"
#include "k8s/quantity.h"
#include "tui/help.h"

double catalogue_offered(const struct app *a, const char *resource)
{
    const struct table *t = session_table(a->s, "nodes");
    double sum = 0;
    if (!t || !t->synced || t->forbidden)
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

/* Rights, versions and storage are asked for when the lab is opened. */
int catalogue_met(const struct app *a, const struct lab_require *r)
{
    double have = r->kind == LAB_NEED_RESOURCE ? catalogue_offered(a, r->resource) : -1;
    return have < 0 ? -1 : have >= r->min;
}

static const struct lab_require *unmet(const struct app *a, const struct lab *lab)
{
    for (int i = 0; i < lab->requires_n; i++)
        if (catalogue_met(a, &lab->requires[i]) == 0)
            return &lab->requires[i];
    return NULL;
}

static bool done(const struct app *a, size_t i)
{
    const struct lab *lab = a->labs->v[i].lab;
    return lab && a->lab_done[i] >= lab->steps_n;
}

const struct lab *catalogue_before(const struct app *a, const struct lab *lab)
{
    for (size_t i = 0; lab->after[0] && i < a->labs->n; i++)
        if (a->labs->v[i].lab && str_eq(a->labs->v[i].lab->id, lab->after))
            return done(a, i) ? NULL : a->labs->v[i].lab;
    return NULL;                 /* a lab that isn't here locks nothing */
}

enum catalogue_state catalogue_state(const struct app *a, int i)
{
    const struct lab *lab = a->labs->v[i].lab;
    if (!lab)
        return CATALOGUE_BROKEN;
    if (done(a, (size_t)i))
        return CATALOGUE_DONE;
    if (a->lab_done[i] > 0)
        return CATALOGUE_BEGUN;
    if (catalogue_before(a, lab))
        return CATALOGUE_LOCKED;
    return unmet(a, lab) ? CATALOGUE_NEEDS : CATALOGUE_READY;
}

/* "habana.ai/gaudi" -> "gaudi" */
static const char *short_name(const char *resource)
{
    const char *slash = strrchr(resource, '/');
    return slash ? slash + 1 : resource;
}

const char *catalogue_say(const struct app *a, int i, enum glyph *g, enum role *role, char buf[96])
{
    static const struct { enum glyph g; enum role role; const char *word; } table[] = {
        [CATALOGUE_READY] = {G_OPEN, ROLE_MUTED, N_("ready")},
        [CATALOGUE_BEGUN] = {G_WAIT, ROLE_RUN, ""},
        [CATALOGUE_DONE] = {G_OK, ROLE_OK, N_("done")},
        [CATALOGUE_LOCKED] = {G_LOCKED, ROLE_MUTED, N_("after %s")},
        [CATALOGUE_NEEDS] = {G_WARN, ROLE_WARN, N_("needs %s")},
        [CATALOGUE_BROKEN] = {G_FAIL, ROLE_FAIL, N_("broken")}};
    enum catalogue_state st = catalogue_state(a, i);
    const struct lab *lab = a->labs->v[i].lab;
    *g = table[st].g;
    *role = table[st].role;
    if (st == CATALOGUE_BEGUN)
        return str_fmt(buf, 96, "%d/%d", a->lab_done[i], lab->steps_n);
    if (st == CATALOGUE_LOCKED)
        return str_fmt(buf, 96, _("after %s"), lab->after);
    if (st == CATALOGUE_NEEDS)
        return str_fmt(buf, 96, _("needs %s"), short_name(unmet(a, lab)->resource));
    return _(table[st].word);
}

/* --- order -------------------------------------------------------------------- */
const char *catalogue_track(const struct app *a, int i)
{
    return a->labs->v[i].lab ? ltext_get(&a->labs->v[i].lab->track) : "";
}

/* A track stands where its first lab does; labs of none come last. */
static int track_rank(const struct app *a, int i)
{
    const char *track = catalogue_track(a, i);
    for (size_t k = 0; *track && k < a->labs->n; k++)
        if (str_eq(catalogue_track(a, (int)k), track))
            return (int)k;
    return (int)a->labs->n;
}

static const char *name_of(const struct app *a, int i)
{
    const struct lab_entry *e = &a->labs->v[i];
    return e->lab ? ltext_get(&e->lab->title) : e->id;
}

/* A lab comes behind the one it names as coming before it, within its track. */
static int depth(const struct app *a, int i, int left)
{
    const struct lab *lab = a->labs->v[i].lab;
    for (size_t k = 0; lab && lab->after[0] && left > 0 && k < a->labs->n; k++)
        if ((int)k != i && a->labs->v[k].lab && str_eq(a->labs->v[k].lab->id, lab->after))
            return 1 + depth(a, (int)k, left - 1);
    return 0;
}

static int compare(const struct app *a, enum catalogue_sort sort, int x, int y)
{
    const struct lab *lx = a->labs->v[x].lab, *ly = a->labs->v[y].lab;
    int by = 0;
    if (sort == CATALOGUE_BY_NAME)
        by = strcmp(name_of(a, x), name_of(a, y));
    else if (sort == CATALOGUE_BY_TIME)
        by = (lx ? lx->minutes : 9999) - (ly ? ly->minutes : 9999);
    else if (sort == CATALOGUE_BY_STATE)
        by = (int)catalogue_state(a, x) - (int)catalogue_state(a, y);
    if (!by)
        by = track_rank(a, x) - track_rank(a, y);
    if (!by)
        by = depth(a, x, 16) - depth(a, y, 16);
    return by ? by : x - y;
}

static bool has(const struct app *a, int i)
{
    const struct lab_entry *e = &a->labs->v[i];
    const char *find = a->labs_find;
    return help_has(name_of(a, i), find) || help_has(e->id, find) ||
           help_has(catalogue_track(a, i), find) || (e->lab && help_has(e->lab->hw, find));
}

static int order(const struct app *a, enum catalogue_sort sort, bool all, int out[CATALOGUE_MOST])
{
    int n = 0;
    for (int i = 0; a->labs && (size_t)i < a->labs->n && n < CATALOGUE_MOST; i++) {
        int at = n;
        if (!all && !has(a, i))
            continue;
        for (; at > 0 && compare(a, sort, out[at - 1], i) > 0; at--)
            out[at] = out[at - 1];
        out[at] = i;
        n++;
    }
    return n;
}

int catalogue_order(const struct app *a, int out[CATALOGUE_MOST])
{
    return order(a, a->labs_sort, false, out);
}

int catalogue_number(const struct app *a, int lab)
{
    int v[CATALOGUE_MOST], n = order(a, CATALOGUE_BY_TRACK, true, v);
    for (int i = 0; i < n; i++)
        if (v[i] == lab)
            return i + 1;
    return 0;
}

int catalogue_at(const struct app *a, int place)
{
    int v[CATALOGUE_MOST], n = catalogue_order(a, v);
    return place >= 0 && place < n ? v[place] : -1;
}

int catalogue_selected(const struct app *a)
{
    return catalogue_at(a, a->sel[PANEL_CATALOGUE]);
}

void catalogue_select(struct app *a, int lab)
{
    int v[CATALOGUE_MOST], n = catalogue_order(a, v);
    a->sel[PANEL_CATALOGUE] = 0;
    for (int i = 0; i < n; i++)
        if (v[i] == lab)
            a->sel[PANEL_CATALOGUE] = i;
}

const char *catalogue_sort_name(enum catalogue_sort s)
{
    static const char *const names[] = {
        [CATALOGUE_BY_TRACK] = N_("track"), [CATALOGUE_BY_NAME] = N_("name"),
        [CATALOGUE_BY_TIME] = N_("time"), [CATALOGUE_BY_STATE] = N_("state")};
    return _(names[s]);
}
