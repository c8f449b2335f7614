/* check_metric.c - the run's own figures: enough points, and a series that
 * fell by a fraction of its first value. A run that ended without is WRONG. */
#include <math.h>

#include "core/base/i18n.h"
#include "labs/check_kinds.h"
#include "labs/session_priv.h"

static const struct lab_key keys[] = {
    {"series", LK_STR, true}, {"points", LK_NUM, false}, {"fall", LK_NUM, false},
    {NULL, LK_ANY, false}};

static const struct series *series_of(const struct run *r, const char *name)
{
    return str_eq(name, "val") ? r->val : str_eq(name, "loss") ? r->loss : NULL;
}

/* First finite value and the mean of the last `tail` finite ones. */
static bool ends(const struct series *v, double *first, double *last)
{
    size_t n = series_count(v), tail = MIN(n, MAX(n / 10, 1)), k = 0;
    *first = *last = 0;
    for (size_t i = 0; i < n; i++)
        if (isfinite(series_y(v, i))) {
            *first = series_y(v, i);
            break;
        }
    for (size_t i = n - tail; i < n; i++)
        if (isfinite(series_y(v, i))) {
            *last += series_y(v, i);
            k++;
        }
    if (k)
        *last /= (double)k;
    return k > 0;
}

static bool visible(const struct check_ctx *c, struct evidence *ev)
{
    const struct run *r = &c->s->run;
    if (*r->pod && c->s->run.loss)
        return true;
    const struct json *job = session_find(c->s, "jobs", c->s->lab->run_job);
    check_subject(ev, "jobs/%s", c->s->lab->run_job);
    if (check_blind(c, "jobs", ev))
        return false;
    if (job && !session_is_own(c->s, "jobs", job))
        check_set(ev, CHECK_STALE, _("the Job %s is from an earlier attempt"),
                  c->s->lab->run_job);
    else
        check_set(ev, CHECK_UNKNOWN, "%s", _("no log of this lab's Job is being read"));
    return false;
}

static void eval(const struct check_ctx *c, struct evidence *ev)
{
    const struct run *r = &c->s->run;
    const char *name = json_str(c->args, "series", "");
    double points = json_num(c->args, "points", 2), fall = json_num(c->args, "fall", NAN);
    if (!visible(c, ev))
        return;
    const struct series *v = series_of(r, name);
    bool over = str_eq(r->state, "done") || str_eq(r->state, "error");
    enum check_result short_of = over ? CHECK_WRONG : CHECK_NOT_YET;
    check_subject(ev, "pods/%s/log", r->pod);
    str_copy(ev->path, sizeof ev->path, name);
    if (!v) {
        check_set(ev, CHECK_UNKNOWN, _("there is no series \"%s\""), name);
        return;
    }
    double first = 0, last = 0;
    if ((double)series_count(v) < points || !ends(v, &first, &last)) {
        str_fmt(ev->expected, sizeof ev->expected, _("at least %.0f points"), points);
        str_fmt(ev->actual, sizeof ev->actual, "%zu", series_count(v));
        check_set(ev, short_of, "%s", *r->error ? r->error
                                      : over    ? _("the run ended before")
                                                : _("the run goes on"));
        return;
    }
    if (isnan(fall)) {
        check_set(ev, CHECK_PASS, "%s", "");
        return;
    }
    bool ok = last <= first * (1 - fall);
    str_fmt(ev->expected, sizeof ev->expected, _("at most %.4f (%.0f %% below %.4f)"),
            first * (1 - fall), fall * 100, first);
    str_fmt(ev->actual, sizeof ev->actual, "%.4f", last);
    check_set(ev, ok ? CHECK_PASS : short_of, "%s",
              ok ? "" : over ? _("the run ended and it did not fall so far")
                             : _("the run goes on"));
}

const struct check_kind check_metric = {"metric", keys, eval, NULL, false, NULL};
