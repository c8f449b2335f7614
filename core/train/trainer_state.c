/* trainer_state.c - the run's history, and trainer_state.json as transformers'
 * Trainer writes it (trainer_callback.py, TrainerState: sorted keys, indent 2).
 * What is not kept here (floating point operations, tokens seen) is 0. */
#include "core/train/trainer_impl.h"

#include <math.h>
#include <unistd.h>

#include "core/base/i18n.h"
#include "core/base/mem.h"
#include "core/base/path.h"

enum { HISTORY_MOST = 1 << 17, STATE_CEILING = 256 << 20 };

/* Room for the whole run: no step allocates. */
void trainer_history_init(struct trainer *t)
{
    int64_t rows = t->o->steps + (t->o->eval_every > 0 ? t->o->steps / t->o->eval_every : 0) + 16;
    run_series_init(&t->history);
    t->history.cap = (int)MIN(rows, (int64_t)HISTORY_MOST);
    t->history.v = xcalloc((size_t)t->history.cap, sizeof *t->history.v);
    t->history.vocab = t->model.cfg.vocab;
    t->history.clip = t->o->optim.clip;
    t->best_step = -1;
}

/* A longer run keeps the newer half. */
static struct series_row *next_row(struct trainer *t)
{
    struct run_series *s = &t->history;
    if (s->n == s->cap) {
        memmove(s->v, s->v + s->n / 2, (size_t)(s->n - s->n / 2) * sizeof *s->v);
        s->n -= s->n / 2;
    }
    struct series_row *r = &s->v[s->n++];
    *r = (struct series_row){.step = (double)t->st.step, .loss = NAN, .gnorm = NAN, .lr = NAN,
                             .val = NAN};
    return r;
}

void trainer_history_step(struct trainer *t)
{
    struct series_row *r = next_row(t);
    r->loss = t->loss, r->gnorm = t->gnorm, r->lr = t->lr;
    r->has_loss = r->has_gnorm = true;
}

static void note_best(struct trainer *t, const struct series_row *r)
{
    if (t->best_step >= 0 && !(r->val < t->best_val))
        return;
    t->best_step = (int64_t)r->step;
    t->best_val = r->val;
}

void trainer_history_eval(struct trainer *t, int64_t examples, int64_t us)
{
    struct series_row *r = next_row(t);
    r->val = t->val_loss;
    r->has_val = true;
    r->seconds = (double)us / 1e6;
    r->examples = (double)examples;
    note_best(t, r);
}

void trainer_history_read(struct trainer *t, const char *dir)
{
    struct pd_err ignored;
    struct run_series old;
    char *path = path_join(dir, "trainer_state.json");
    run_series_init(&old);
    if (access(path, F_OK) == 0 && run_series_read(&old, path, &ignored) == PD_OK)
        for (int i = 0; i < old.n; i++) {
            const struct series_row *r = &old.v[i];
            *next_row(t) = *r;
            if (!r->has_val)
                continue;
            note_best(t, r);
            t->eval_step = (int64_t)r->step;     /* not evaluated twice */
            t->val_loss = r->val;
        }
    run_series_release(&old);
    free(path);
}

/* --- the file ------------------------------------------------------------------------ */

/* As Python's repr: the shortest text that reads back the same, "1.0" for 1. */
static void print_number(struct str *s, double x)
{
    char text[40];
    if (!isfinite(x)) {
        str_add(s, isnan(x) ? "NaN" : x > 0 ? "Infinity" : "-Infinity");
        return;
    }
    int digits = 0;
    do {
        snprintf(text, sizeof text, "%.*e", digits, x);
    } while (strtod(text, NULL) != x && ++digits < 17);
    int exp = (int)strtol(strchr(text, 'e') + 1, NULL, 10);
    if (exp >= -4 && exp < 16)
        snprintf(text, sizeof text, "%.*f", MAX(digits - exp, 0), x);
    str_add(s, text);
    if (!strpbrk(text, ".en"))
        str_add(s, ".0");
}

static void print_member(struct str *s, const char *key, double x)
{
    str_printf(s, "      \"%s\": ", key);
    print_number(s, x);
    str_add(s, ",\n");
}

static void print_row(const struct trainer *t, const struct series_row *r, struct str *s)
{
    str_add(s, "    {\n");
    print_member(s, "epoch", trainer_epoch(t, (int64_t)r->step));
    if (r->has_val) {
        print_member(s, "eval_loss", r->val);
        print_member(s, "eval_runtime", r->seconds);
        print_member(s, "eval_samples_per_second", r->seconds > 0 ? r->examples / r->seconds : 0);
        print_member(s, "eval_steps_per_second",
                     r->seconds > 0 ? ceil(r->examples / t->o->batch) / r->seconds : 0);
    } else {
        print_member(s, "grad_norm", r->gnorm);
        print_member(s, "learning_rate", r->lr);
        print_member(s, "loss", r->loss);
    }
    str_printf(s, "      \"step\": %.0f\n    }", r->step);
}

static void print_best(const struct trainer *t, struct str *s)
{
    if (t->best_step < 0) {
        str_add(s, "  \"best_global_step\": null,\n  \"best_metric\": null,\n");
        str_add(s, "  \"best_model_checkpoint\": null,\n");
        return;
    }
    str_printf(s, "  \"best_global_step\": %" PRId64 ",\n  \"best_metric\": ", t->best_step);
    print_number(s, t->best_val);
    str_printf(s, ",\n  \"best_model_checkpoint\": \"checkpoint-%" PRId64 "\",\n", t->best_step);
}

void trainer_print_state(const struct trainer *t, struct str *s)
{
    const struct trainer_options *o = t->o;
    double epochs = trainer_epoch(t, o->steps);
    str_add(s, "{\n");
    print_best(t, s);
    str_add(s, "  \"epoch\": ");
    print_number(s, trainer_epoch(t, t->st.step));
    str_printf(s, ",\n  \"eval_steps\": %" PRId64 ",\n  \"global_step\": %" PRId64 ",\n",
               o->eval_every, t->st.step);
    str_add(s, "  \"is_hyper_param_search\": false,\n  \"is_local_process_zero\": true,\n"
               "  \"is_world_process_zero\": true,\n  \"log_history\": [");
    for (int i = 0; i < t->history.n; i++) {
        str_add(s, i ? ",\n" : "\n");
        print_row(t, &t->history.v[i], s);
    }
    str_printf(s, "%s],\n  \"logging_steps\": 1,\n  \"max_steps\": %" PRId64 ",\n",
               t->history.n ? "\n  " : "", o->steps);
    str_printf(s, "  \"num_input_tokens_seen\": 0,\n  \"num_train_epochs\": %.0f,\n"
                  "  \"save_steps\": %" PRId64 ",\n  \"stateful_callbacks\": {},\n"
                  "  \"total_flos\": 0,\n  \"train_batch_size\": %d,\n  \"trial_name\": null,\n"
                  "  \"trial_params\": null\n}\n",
               ceil(epochs), o->save_every, o->batch);
}

enum pd_code trainer_write_state(const struct trainer *t, const char *dir, struct pd_err *err)
{
    struct str s;
    str_init(&s, STATE_CEILING);
    trainer_print_state(t, &s);
    char *path = path_join(dir, "trainer_state.json");
    enum pd_code rc = path_write_atomic(path, 0644, s.p, s.len, err);
    free(path);
    str_release(&s);
    return rc;
}
