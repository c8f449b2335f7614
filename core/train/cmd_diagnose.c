/* cmd_diagnose.c - podium-train diagnose FILE: what a run's numbers say. */
#include "core/train/cmd.h"

#include <math.h>

#include "core/base/i18n.h"
#include "core/train/diagnose.h"
#include "core/train/tjson.h"

static void print_json(const struct diagnosis *d)
{
    struct str s;
    str_init(&s, 1 << 14);
    str_printf(&s, "{\"cause\":\"%s\",\"confidence\":\"%s\",\"step\":", d->id,
               d->certain ? "certain" : "likely");
    if (isfinite(d->step))
        str_printf(&s, "%g", d->step);
    else
        str_add(&s, "null");
    str_add(&s, ",\"text\":");
    tjson_quote(&s, d->text);
    str_add(&s, ",\"hint\":");
    tjson_quote(&s, d->hint);
    printf("%s}\n", s.p);
    str_release(&s);
}

static void print(const struct diagnosis *d)
{
    printf("%s%s\n", d->certain ? "" : _("probably: "), d->text);
    if (*d->hint)
        printf("  %s\n", d->hint);
}

int cmd_diagnose(const struct options *o)
{
    struct pd_err err;
    struct run_series s;
    struct diagnosis d[DIAGNOSES];
    if (o->n_rest != 1) {
        pd_fail(&err, PD_USAGE, _("diagnose takes one file: CSV, JSON lines or "
                                  "trainer_state.json"));
        return cmd_fail(&err);
    }
    run_series_init(&s);
    enum pd_code rc = run_series_read(&s, o->rest[0], &err);
    int n = rc ? 0 : diagnose(&s, d);
    for (int i = 0; i < n; i++)
        (o->json ? print_json : print)(&d[i]);
    run_series_release(&s);
    if (rc)
        return cmd_fail(&err);
    return *d[0].hint ? TRAINER_FAILED : TRAINER_DONE;
}
