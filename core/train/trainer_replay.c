/* trainer_replay.c - --replay STEP: the newest whole checkpoint before that step,
 * the steps between, then the step itself taken apart (`walk` records). Nothing
 * is saved, and the run's own folder stays as it is. */
#include "core/train/trainer_impl.h"

#include "core/base/i18n.h"
#include "core/base/mem.h"

/* Its step, 0 when the run begins anew. */
static int64_t checkpoint_before(const char *out, int64_t step)
{
    struct pd_err ignored;
    int64_t at = step;
    while ((at = ckpt_below(out, at)) > 0) {
        char *dir = xasprintf("%s/checkpoint-%" PRId64, out, at);
        enum pd_code rc = ckpt_verify(dir, &ignored);
        free(dir);
        if (rc == PD_OK)
            return at;
    }
    return 0;
}

static enum pd_code go_to(struct trainer *t, int64_t step, struct pd_err *err)
{
    struct ckpt_state st = {0};
    int64_t from = checkpoint_before(t->o->out, step);
    if (from > 0) {
        if (ckpt_load(t->o->out, from, &t->src, t->st.shape, &st, err) != PD_OK)
            return err->code;
        st.log = NULL;
        t->st = st;
        t->optim.rate = st.rate;
    }
    while (t->st.step < step - 1 && !*t->stop)
        if (trainer_step(t, err) != PD_OK)
            return err->code;
    return PD_OK;
}

enum pd_code trainer_replay(struct trainer *t, struct pd_err *err)
{
    struct control_line l = {.cmd = CONTROL_WALK};
    int64_t step = t->o->replay;
    if (step > t->o->steps)
        return pd_fail(err, PD_USAGE, _("--replay %" PRId64 ": the run has %" PRId64 " steps"),
                       step, t->o->steps);
    if (go_to(t, step, err) != PD_OK || *t->stop)
        return *t->stop ? PD_OK : err->code;
    if (trainer_walk(t, &l, err) != PD_OK)
        return trainer_explain(t, 0, err);
    return PD_OK;
}
