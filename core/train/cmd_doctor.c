/* cmd_doctor.c - podium-train doctor DATASET. */
#include "core/train/cmd.h"

#include "core/base/i18n.h"
#include "core/train/doctor.h"

static enum pd_code one(const struct options *o, const char *path, int *errors,
                        struct pd_err *err)
{
    struct doctor d;
    struct tok *t = NULL;
    if (o->t.model && tok_load(o->t.model, &t, err) != PD_OK)
        return err->code;
    doctor_init(&d, t, o->t.seq);
    enum pd_code rc = doctor_read(&d, path, err);
    if (!rc) {
        doctor_print(&d, path, o->json, stdout);
        *errors += doctor_errors(&d);
    }
    doctor_release(&d);
    tok_free(t);
    return rc;
}

int cmd_doctor(const struct options *o)
{
    struct pd_err err;
    int errors = 0;
    if (o->n_rest == 0) {
        pd_fail(&err, PD_USAGE, _("doctor takes a data set"));
        return cmd_fail(&err);
    }
    for (int i = 0; i < o->n_rest; i++)
        if (one(o, o->rest[i], &errors, &err) != PD_OK)
            return cmd_fail(&err);
    return errors ? TRAINER_FAILED : TRAINER_DONE;
}
