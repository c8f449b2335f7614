/* cmd.c - the commands that need no model, and the table of all (cmd.h). */
#include "core/train/cmd.h"

#include <time.h>

#include "core/base/i18n.h"
#include "core/base/path.h"
#include "core/base/str.h"
#include "core/train/data.h"
#include "core/train/tar.h"

int cmd_fail(const struct pd_err *err)
{
    char text[1200];
    fprintf(stderr, "podium-train: %s\n", pd_describe(err, text, sizeof text));
    if (err->code == PD_USAGE)
        return TRAINER_USAGE;
    return err->code == PD_UNSUPPORTED ? TRAINER_CANT : TRAINER_FAILED;
}

static int run_tar(const struct options *o)
{
    struct pd_err err;
    if (o->n_rest != 1) {
        pd_fail(&err, PD_USAGE, _("tar takes one folder"));
        return cmd_fail(&err);
    }
    return tar_write(o->rest[0], 1, 0, &err) == PD_OK ? TRAINER_DONE : cmd_fail(&err);
}

static int run_wait(const volatile int *stop)
{
    const struct timespec tick = {.tv_nsec = 200000000};
    while (!*stop)
        nanosleep(&tick, NULL);
    return TRAINER_DONE;
}

static enum pd_code copy_tokenizer(const char *from, const char *dir, struct pd_err *err)
{
    struct str s;
    str_init(&s, 64 << 20);
    char *to = path_join(dir, "tokenizer.json");
    enum pd_code rc = path_read(from, 64 << 20, &s, err);
    if (rc == PD_OK)
        rc = path_write_atomic(to, 0644, s.p, s.len, err);
    free(to);
    str_release(&s);
    return rc;
}

static enum pd_code size_from_tokenizer(const char *path, struct llama_config *c,
                                        struct pd_err *err)
{
    struct tok *t;
    if (tok_load(path, &t, err) != PD_OK)
        return err->code;
    c->vocab = c->vocab ? c->vocab : tok_size(t);
    if (tok_eos(t) >= 0)
        c->eos[c->n_eos++] = tok_eos(t);
    tok_free(t);
    return PD_OK;
}

static enum pd_code make_model(const struct options *o, struct pd_err *err)
{
    struct llama_config c = o->init;
    struct llama m;
    c.tied = !o->init.tied;                       /* the flag is --untied */
    if (o->tokenizer && size_from_tokenizer(o->tokenizer, &c, err) != PD_OK)
        return err->code;
    c.vocab = c.vocab ? c.vocab : 256;
    c.head_dim = c.hidden / c.heads;
    if (llama_check_config(&c, err) != PD_OK)
        return err->code;
    llama_init(&m, &c, false);
    llama_randomise(&m, o->t.seed);
    enum pd_code rc = llama_save(&m, o->t.out, o->t.bf16, err);
    if (rc == PD_OK && o->tokenizer)
        rc = copy_tokenizer(o->tokenizer, o->t.out, err);
    llama_release(&m);
    if (rc == PD_OK)
        printf("%s: %zu parameters\n", o->t.out, llama_parameters(&c));
    return rc;
}

static int run_init(const struct options *o)
{
    struct pd_err err;
    return make_model(o, &err) == PD_OK ? TRAINER_DONE : cmd_fail(&err);
}

static int run_data(const struct options *o)
{
    struct pd_err err;
    struct tok *t;
    int64_t tokens;
    if (o->n_rest == 0) {
        pd_fail(&err, PD_USAGE, _("data takes at least one text"));
        return cmd_fail(&err);
    }
    if (tok_load(o->tokenizer, &t, &err) != PD_OK)
        return cmd_fail(&err);
    enum pd_code rc = data_text_build(t, o->rest, (size_t)o->n_rest, o->t.out, &tokens, &err);
    tok_free(t);
    if (rc != PD_OK)
        return cmd_fail(&err);
    printf("%s: %" PRId64 " tokens\n", o->t.out, tokens);
    return TRAINER_DONE;
}

static int run_help(const struct options *o)
{
    enum options_command c = OPTIONS_HELP;
    for (int i = 0; i < OPTIONS_COMMANDS && o->n_rest; i++)
        if (str_eq(o->rest[0], options_command_name((enum options_command)i)))
            c = (enum options_command)i;
    options_help(c, stdout);
    return TRAINER_DONE;
}

static const volatile int never, *stop_flag = &never;

const volatile int *cmd_stop_flag(void)
{
    return stop_flag;
}

int cmd_run(const struct options *o, const volatile int *stop)
{
    static int (*const plain[OPTIONS_COMMANDS])(const struct options *) = {
        [OPTIONS_PLAN] = cmd_plan, [OPTIONS_BENCH] = cmd_bench,
        [OPTIONS_EVAL] = cmd_eval, [OPTIONS_GENERATE] = cmd_generate,
        [OPTIONS_COMPARE] = cmd_compare, [OPTIONS_CHAT] = cmd_chat, [OPTIONS_MERGE] = cmd_merge,
        [OPTIONS_EXPORT] = cmd_export,
        [OPTIONS_LOGITS] = cmd_logits, [OPTIONS_INIT] = run_init, [OPTIONS_DATA] = run_data,
        [OPTIONS_INSPECT] = cmd_inspect_batch, [OPTIONS_TAR] = run_tar,
        [OPTIONS_IMPORT] = cmd_import, [OPTIONS_CHECK] = cmd_check,
        [OPTIONS_DOCTOR] = cmd_doctor, [OPTIONS_DIAGNOSE] = cmd_diagnose, [OPTIONS_HELP] = run_help,
    };
    stop_flag = stop;
    if (o->command == OPTIONS_TRAIN)
        return trainer_run(&o->t, stop);
    if (o->command == OPTIONS_WAIT)
        return run_wait(stop);
    return plain[o->command](o);
}
