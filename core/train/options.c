/* options.c - the command line of podium-train (options.h). */
#include "core/train/options_impl.h"

#include <math.h>

#include "core/base/i18n.h"
#include "core/base/mem.h"
#include "core/base/str.h"
#include "core/train/model_dir.h"

#define BIT(c) (1u << (c))
/* plan takes the command line of train */
#define TR (BIT(OPTIONS_TRAIN) | BIT(OPTIONS_PLAN))
#define BE BIT(OPTIONS_BENCH)
#define EV BIT(OPTIONS_EVAL)
#define GE BIT(OPTIONS_GENERATE)
#define LO BIT(OPTIONS_LOGITS)
#define IN BIT(OPTIONS_INIT)
#define CO BIT(OPTIONS_COMPARE)
#define CH BIT(OPTIONS_CHAT)
#define ME BIT(OPTIONS_MERGE)
#define EX BIT(OPTIONS_EXPORT)
#define GEN (GE | CO | CH)
#define DA BIT(OPTIONS_DATA)
#define IB BIT(OPTIONS_INSPECT)
#define IM BIT(OPTIONS_IMPORT)
#define DO BIT(OPTIONS_DOCTOR)
#define DI BIT(OPTIONS_DIAGNOSE)

static const struct option_command commands[OPTIONS_COMMANDS] = {
    [OPTIONS_TRAIN] = {"train", "--model DIR --data FILE --out DIR [options]",
                       N_("train an adapter (or, with --full, the model)")},
    [OPTIONS_PLAN] = {"plan", "--model DIR --data FILE [options of train]",
                      N_("what a training will need: memory by class, time")},
    [OPTIONS_BENCH] = {"bench", "[--model DIR] [options]",
                       N_("what this machine computes, and what a training gets of it")},
    [OPTIONS_EVAL] = {"eval", "--model DIR --data FILE [--adapter DIR] [options]",
                      N_("loss and perplexity, with the adapter and without")},
    [OPTIONS_GENERATE] = {"generate", "--model DIR [--adapter DIR] --prompt TEXT [options]",
                          N_("continue a text")},
    [OPTIONS_COMPARE] = {"compare", "--model DIR --adapter DIR --prompts FILE [options]",
                         N_("the same prompts with and without the adapter, side by side")},
    [OPTIONS_CHAT] = {"chat", "--model DIR [--adapter DIR] [options]",
                      N_("talk with a model that has a chat template")},
    [OPTIONS_MERGE] = {"merge", "--model DIR --adapter DIR --out DIR [--bf16|--f16]",
                       N_("write the model with the adapter in its weights")},
    [OPTIONS_EXPORT] = {"export", "--model DIR [--adapter DIR] --gguf FILE [options]",
                        N_("write a GGUF file for llama.cpp")},
    [OPTIONS_LOGITS] = {"logits", "--model DIR [--adapter DIR] --ids 1,2,3",
                        N_("the scores of the next token, one a line")},
    [OPTIONS_INIT] = {"init", "--out DIR [options]", N_("make a model with random weights")},
    [OPTIONS_DATA] = {"data", "--tokenizer FILE --out FILE TEXT...",
                      N_("make a token file from texts")},
    [OPTIONS_INSPECT] = {"inspect-batch", "--model DIR --data FILE [--index N] [options]",
                         N_("show what is trained and what is masked")},
    [OPTIONS_IMPORT] = {"import", "FILE.gguf --out DIR [--bf16]",
                        N_("make a model folder of a GGUF file")},
    [OPTIONS_CHECK] = {"check", "PATH...",
                       N_("what a model, adapter, tensor file or run is, and what is wrong")},
    [OPTIONS_DOCTOR] = {"doctor", "DATASET... [--model DIR] [--json]",
                        N_("what is wrong with a data set, row by row")},
    [OPTIONS_DIAGNOSE] = {"diagnose", "FILE [--json]",
                          N_("what a run's numbers say: NaN, divergence, overfitting")},
    [OPTIONS_TAR] = {"tar", "DIR", N_("write a folder as a tar archive to stdout")},
    [OPTIONS_WAIT] = {"wait", "", N_("sleep until SIGTERM")},
    [OPTIONS_HELP] = {"help", "[COMMAND]", N_("this page, or the page of a command")},
};

#define AT(field) offsetof(struct options, field)

static const struct option options[] = {
    {"model", STRING, TR | EV | GEN | LO | IB | ME | EX | DO | BE, AT(t.model), 0, 0, "DIR",
     N_("config.json, model.safetensors and tokenizer.json")},
    {"data", STRING, TR | EV | IB, AT(t.data), 0, 0, "FILE",
     N_("records (JSONL or JSON: Alpaca, prompt and completion, messages, ShareGPT, text) or "
        "a token file")},
    {"val", STRING, TR | EV, AT(t.val), 0, 0, "FILE", N_("a token file to validate on")},
    {"val-templates", STRING, TR | EV | IB, AT(t.val_templates), 0, 0, "A,B",
     N_("templates to validate on")},
    {"val-fraction", REAL, TR | EV | IB, AT(t.val_fraction), 0, 0.9, "X",
     N_("share of the templates to validate on (0.15)")},
    {"out", STRING, TR | IN | DA | IM | ME, AT(t.out), 0, 0, "DIR", N_("where results go")},
    {"adapter", STRING, TR | EV | GEN | LO | ME | EX, AT(t.adapter), 0, 0, "DIR",
     N_("an adapter in PEFT's form (train: to start from)")},
    {"steps", I64, TR, AT(t.steps), 1, 1e9, "N", N_("updates (100)")},
    {"epochs", REAL, TR, AT(t.epochs), 0, 1e6, "X",
     N_("passes over the training records, instead of --steps")},
    {"batch", INT, TR | EV | IB | BE, AT(t.batch), 1, 4096, "N", N_("sequences in a batch (8)")},
    {"accum", INT, TR, AT(t.accum), 1, 4096, "N", N_("batches added up for an update (1)")},
    {"seq", INT, TR | EV | IB | DO | BE, AT(t.seq), 2, 65536, "N", N_("longest sequence")},
    {"too-long", STRING, TR | EV | IB, AT(t.too_long), 0, 0, "WHAT",
     N_("a record longer than --seq: error (default), truncate (no end is learned) or drop")},
    {"packing", FLAG, TR | IB, AT(t.packing), 0, 0, "",
     N_("as many whole records into a row as --seq holds, each by itself; of text: documents")},
    {"chat-form", FLAG, TR | EV | IB, AT(t.chat_form), 0, 0, "",
     N_("put prompts and answers into the model's chat template too")},
    {"train-on-prompt", FLAG, TR | EV | IB, AT(t.train_prompt), 0, 0, "",
     N_("train the prompts as well, not the answers alone")},
    {"rate", REAL, TR, AT(t.optim.rate), 0, 100, "X", N_("peak learning rate (0.001)")},
    {"warmup", I64, TR, AT(t.optim.warmup), 0, 1e9, "N", N_("updates until the peak (0)")},
    {"warmup-ratio", REAL, TR, AT(t.warmup_ratio), 0, 1, "X",
     N_("share of the updates until the peak, instead of --warmup")},
    {"schedule", STRING, TR, AT(schedule), 0, 0, "NAME",
     N_("cosine (default), linear or constant, after the warmup")},
    {"clip", REAL, TR, AT(t.optim.clip), 0, 1e9, "X", N_("largest gradient norm, 0: any (1)")},
    {"weight-decay", REAL, TR, AT(t.optim.decay), 0, 1, "X", N_("AdamW's decay (0)")},
    {"beta1", REAL, TR, AT(t.optim.beta1), 0, 1, "X", N_("AdamW's first moment (0.9)")},
    {"beta2", REAL, TR, AT(t.optim.beta2), 0, 1, "X", N_("AdamW's second moment (0.999)")},
    {"lora-r", INT, TR | BE, AT(t.lora.r), 1, 1024, "N", N_("rank of the adapter (8)")},
    {"lora-alpha", REAL, TR | BE, AT(t.lora.alpha), 0, 1e6, "X", N_("scale is alpha / r (16)")},
    {"lora-dropout", REAL, TR, AT(t.lora.dropout), 0, 0.99, "P", N_("dropout before A (0)")},
    {"rslora", FLAG, TR, AT(t.lora.rslora), 0, 0, "", N_("scale is alpha / sqrt(r)")},
    {"lora-targets", STRING, TR | BE, AT(targets), 0, 0, "A,B",
     N_("q_proj,k_proj,v_proj,o_proj,gate_proj,up_proj,down_proj or all (q_proj,v_proj)")},
    {"checkpointing", FLAG, TR | BE, AT(t.checkpointing), 0, 0, "",
     N_("keep each layer's input alone and compute the rest again: less memory, slower")},
    {"full", FLAG, TR | BE, AT(t.full), 0, 0, "", N_("train every weight instead of an adapter")},
    {"bf16", FLAG, TR | IN | IM | ME, AT(t.bf16), 0, 0, "", N_("store a trained model as BF16")},
    {"f16", FLAG, ME, AT(f16), 0, 0, "", N_("store the merged model as F16")},
    {"max-shard-size", STRING, ME, AT(shard), 0, 0, "SIZE",
     N_("at most so much in one file: 5GB (default), 500MB, 2GiB")},
    {"gguf", STRING, EX, AT(gguf), 0, 0, "FILE", N_("the file to write")},
    {"type", STRING, EX, AT(type), 0, 0, "NAME",
     N_("f32, f16 (default), bf16 or q8_0; an adapter alone: f32")},
    {"adapter-only", FLAG, EX, AT(adapter_only), 0, 0, "",
     N_("the adapter alone, for llama.cpp's --lora, instead of the merged model")},
    {"eval-every", I64, TR, AT(t.eval_every), 0, 1e9, "N",
     N_("validate every N updates, 0: first and last (20)")},
    {"eval-batches", I64, TR | EV, AT(t.eval_batches), 0, 1e9, "N",
     N_("validate on at most N batches, 0: all (0)")},
    {"save-every", I64, TR, AT(t.save_every), 0, 1e9, "N",
     N_("checkpoint every N updates, 0: the last (0)")},
    {"keep", INT, TR, AT(t.keep), 0, 1000, "N", N_("checkpoints to keep, 0: all (2)")},
    {"config", STRING, TR | EV | IB, AT(config), 0, 0, "FILE",
     N_("options from a YAML file; flags win over it")},
    {"print-config", FLAG, TR | EV | IB, AT(print_config), 0, 0, "",
     N_("print the options as they hold, as such a file, and end")},
    {"replay", I64, TR, AT(t.replay), 1, 1e9, "STEP",
     N_("take this step of a run apart, from the newest checkpoint before it")},
    {"resume", FLAG, TR, AT(t.resume), 0, 0, "", N_("go on from the newest whole checkpoint")},
    {"seed", U64, TR | IN | GEN | IB, AT(t.seed), 0, 9e15, "N", N_("of all randomness (1)")},
    {"threads", INT, TR | EV | GEN | LO | ME | BE, AT(t.threads), 0, 256, "N",
     N_("threads, 0: as many as there are processors (0)")},
    {"log", STRING, TR, AT(log), 0, 0, "FORM",
     N_("auto (default: a bar on a terminal, records in a pipe), bar, plain or json")},
    {"memory-limit", STRING, TR | BE, AT(memory_limit), 0, 0, "SIZE",
     N_("plan for so much memory (8GB, 500MB), not for what is free")},
    {"control", FLAG, TR, AT(t.control), 0, 0, "", N_("obey commands on stdin")},
    {"hold", I64, TR, AT(t.hold_s), 0, 1e6, "S",
     N_("after the last step wait for quit, S seconds (0: for ever)")},
    {"prompts", STRING, CO, AT(prompts), 0, 0, "FILE",
     N_("a prompt a line (.txt), or instructions (.jsonl)")},
    {"prompt", STRING, GE, AT(prompt), 0, 0, "TEXT", N_("the text to continue")},
    {"instruction", STRING, GE, AT(instruction), 0, 0, "TEXT",
     N_("an instruction, put into the prompt of the training")},
    {"input", STRING, GE, AT(input), 0, 0, "TEXT", N_("the instruction's input")},
    {"lang", STRING, GE | CO, AT(lang), 0, 0, "en|zh", N_("the language of that prompt (en)")},
    {"max-tokens", I64, GEN, AT(max_tokens), 1, 100000, "N",
     N_("tokens to make at most (64; chat: 512)")},
    {"temperature", REAL, GEN, AT(temperature), 0, 100, "X", N_("0: the likeliest token (0)")},
    {"top-p", REAL, GEN, AT(top_p), 0.0001, 1, "X",
     N_("share of the probability to draw from (1)")},
    {"top-k", I64, GEN, AT(top_k), 0, 1 << 20, "N",
     N_("draw from the N likeliest tokens, 0: all (0)")},
    {"stop", STRING, GEN, AT(stop), 0, 0, "TEXT", N_("end where this text appears")},
    {"chat", FLAG, GE | CO, AT(chat), 0, 0, "",
     N_("give the prompt as a user's message in the model's chat template")},
    {"ignore-eos", FLAG, GE | CO, AT(ignore_eos), 0, 0, "",
     N_("go on behind the end-of-text token")},
    {"context", INT, CH, AT(context), 16, 1 << 20, "N",
     N_("tokens that a conversation may have (4096, or the model's own limit)")},
    {"system", STRING, GEN, AT(system), 0, 0, "TEXT",
     N_("the system's message (with --chat, or in chat)")},
    {"ids", STRING, LO, AT(ids), 0, 0, "1,2,3", N_("token ids")},
    {"index", I64, IB, AT(index), 0, 1e15, "N", N_("which batch (0)")},
    {"json", FLAG, IB | ME | CO | EV | DO | DI | BE | BIT(OPTIONS_PLAN), AT(json), 0, 0, "",
     N_("the result as JSON")},
    {"table", FLAG, EV, AT(table), 0, 0, "", N_("a table, into a pipe too")},
    {"split", STRING, EV, AT(split), 0, 0, "NAME",
     N_("val, train or both (a terminal and --json: both; a pipe: val)")},
    {"tokenizer", STRING, IN | DA, AT(tokenizer), 0, 0, "FILE", N_("a tokenizer.json")},
    {"vocab", INT, IN, AT(init.vocab), 1, 1 << 20, "N", N_("tokens (from --tokenizer, or 256)")},
    {"hidden", INT, IN, AT(init.hidden), 2, 1 << 16, "N", N_("width (64)")},
    {"ffn", INT, IN, AT(init.ffn), 1, 1 << 18, "N", N_("width of the MLP (192)")},
    {"layers", INT, IN, AT(init.layers), 1, LLAMA_MAX_LAYERS, "N", N_("blocks (2)")},
    {"heads", INT, IN, AT(init.heads), 1, 1024, "N", N_("attention heads (4)")},
    {"kv-heads", INT, IN, AT(init.kv_heads), 1, 1024, "N", N_("key and value heads (2)")},
    {"positions", INT, IN, AT(init.max_pos), 2, 1 << 20, "N", N_("longest context (512)")},
    {"theta", REAL, IN, AT(init.theta), 1, 1e9, "X", N_("base of the rotation (10000)")},
    {"untied", FLAG, IN, AT(init.tied), 0, 0, "", N_("an lm_head of its own")},
};

const char *options_command_name(enum options_command c)
{
    return commands[c].name;
}

const struct option_command *options_command(enum options_command c)
{
    return &commands[c];
}

const struct option *options_table(size_t *n)
{
    *n = ARRAY_LEN(options);
    return options;
}

const struct option *options_find(const char *name)
{
    for (size_t i = 0; i < ARRAY_LEN(options); i++)
        if (str_eq(options[i].name, name))
            return &options[i];
    return NULL;
}

size_t options_names(enum options_command c, const char **names, size_t room)
{
    size_t n = 0;
    for (size_t i = 0; i < ARRAY_LEN(options) && n < room; i++)
        if (options[i].commands & BIT(c))
            names[n++] = options[i].name;
    return n;
}

static void defaults(struct options *o)
{
    *o = (struct options){.command = OPTIONS_HELP, .top_p = 1, .context = 4096, .lang = "en"};
    trainer_defaults(&o->t);
    strv_init(&o->texts);
    o->init = (struct llama_config){.hidden = 64, .ffn = 192, .layers = 2, .heads = 4,
                                    .kv_heads = 2, .max_pos = 512, .eps = 1e-5, .theta = 10000,
                                    .init_range = 0.02, .bos = -1, .pad = -1};
}

static void *place(struct options *o, const struct option *opt)
{
    return (char *)o + opt->at;
}

static bool store_number(struct options *o, const struct option *opt, const char *text)
{
    double x;
    int64_t n = 0;
    if (opt->kind == REAL) {
        if (!str_to_f64(text, &x) || !isfinite(x) || x < opt->least || x > opt->most)
            return false;
        *(double *)place(o, opt) = x;
        return true;
    }
    if (!str_to_i64(text, &n) || (double)n < opt->least || (double)n > opt->most)
        return false;
    if (opt->kind == INT)
        *(int *)place(o, opt) = (int)n;
    else if (opt->kind == I64)
        *(int64_t *)place(o, opt) = n;
    else
        *(uint64_t *)place(o, opt) = (uint64_t)n;
    return true;
}

static bool store_flag(struct options *o, const struct option *opt, const char *text)
{
    if (!str_eq(text, "true") && !str_eq(text, "false"))
        return false;
    *(bool *)place(o, opt) = text[0] == 't';
    return true;
}

enum pd_code options_store(struct options *o, const struct option *opt, const char *text,
                           enum options_origin from, struct pd_err *err)
{
    bool ok = true;
    if (opt->kind == STRING)
        *(const char **)place(o, opt) = text;
    else if (opt->kind == FLAG)
        ok = store_flag(o, opt, text);
    else
        ok = store_number(o, opt, text);
    if (ok) {
        o->origin[opt - options] = (unsigned char)from;
        return PD_OK;
    }
    if (opt->kind == FLAG)
        return pd_fail(err, PD_USAGE, _("%s is true or false, not \"%s\""), opt->name, text);
    return pd_fail(err, PD_USAGE, _("--%s takes a number from %g to %g, not \"%s\""), opt->name,
                   opt->least, opt->most, text);
}

static enum pd_code unknown_option(enum options_command c, const char *name, struct pd_err *err)
{
    const char *names[ARRAY_LEN(options)];
    size_t n = options_names(c, names, ARRAY_LEN(names));
    const char *near = str_nearest(name, names, n);
    pd_fail(err, PD_USAGE, _("%s has no option --%s"), commands[c].name, name);
    if (near)
        return pd_set_hint(err, _("did you mean --%s?"), near);
    return pd_set_hint(err, _("see podium-train help %s"), commands[c].name);
}

/* "--no-FLAG" takes a flag back that the configuration file has set. */
static const struct option *negated(const struct options *o, const char *name)
{
    const struct option *opt = str_starts(name, "no-") ? options_find(name + 3) : NULL;
    return opt && opt->kind == FLAG && opt->commands & BIT(o->command) ? opt : NULL;
}

/* One "--name value", "--name=value" or "--flag" at argv[*i]. */
static enum pd_code take_option(struct options *o, int argc, char **argv, int *i,
                                struct pd_err *err)
{
    char name[40];
    const char *arg = argv[*i] + 2, *eq = strchr(arg, '=');
    str_fmt(name, sizeof name, "%.*s", eq ? (int)(eq - arg) : (int)strlen(arg), arg);
    if (str_eq(name, "help") || str_eq(name, "version")) {
        *(name[0] == 'h' ? &o->help : &o->version) = true;
        return PD_OK;
    }
    const struct option *opt = options_find(name);
    if (!opt || !(opt->commands & BIT(o->command))) {
        opt = negated(o, name);
        return opt && !eq ? options_store(o, opt, "false", OPTIONS_FLAG, err)
                          : unknown_option(o->command, name, err);
    }
    if (opt->kind == FLAG)
        return eq ? pd_fail(err, PD_USAGE, _("--%s takes no value"), name)
                  : options_store(o, opt, "true", OPTIONS_FLAG, err);
    if (!eq && *i + 1 >= argc)
        return pd_fail(err, PD_USAGE, _("--%s needs a value: %s"), name, opt->arg);
    return options_store(o, opt, eq ? eq + 1 : argv[++*i], OPTIONS_FLAG, err);
}

static enum pd_code take_command(struct options *o, const char *name, struct pd_err *err)
{
    const char *names[OPTIONS_COMMANDS];
    for (int i = 0; i < OPTIONS_COMMANDS; i++) {
        names[i] = commands[i].name;
        if (str_eq(name, names[i])) {
            o->command = (enum options_command)i;
            return PD_OK;
        }
    }
    const char *near = str_nearest(name, names, OPTIONS_COMMANDS);
    pd_fail(err, PD_USAGE, _("no command \"%s\""), name);
    return near ? pd_set_hint(err, _("did you mean %s?"), near) : err->code;
}

static enum pd_code need(const char *value, const char *name, struct pd_err *err)
{
    return value ? PD_OK : pd_fail(err, PD_USAGE, _("--%s is needed"), name);
}

static enum pd_code check_machine(struct options *o, struct pd_err *err)
{
    o->batch_given = o->origin[options_find("batch") - options] != OPTIONS_DEFAULT;
    if (o->memory_limit && !model_dir_size(o->memory_limit, &o->t.memory_limit))
        return pd_fail(err, PD_USAGE, _("--memory-limit takes a size such as 8GB, not \"%s\""),
                       o->memory_limit);
    return progress_choose(o->log, o->t.fd, &o->t.log, err);
}

/* What a command can't do without, and names that become numbers. */
static enum pd_code check(struct options *o, struct pd_err *err)
{
    static const struct {
        unsigned commands;
        size_t at;
        const char *name;
    } needs[] = {
        {TR | EV | GEN | LO | IB | ME | EX, AT(t.model), "model"},
        {TR | EV | IB, AT(t.data), "data"},
        {BIT(OPTIONS_TRAIN) | IN | DA | IM | ME, AT(t.out), "out"},
        {ME | CO, AT(t.adapter), "adapter"}, {EX, AT(gguf), "gguf"},
        {CO, AT(prompts), "prompts"}, {LO, AT(ids), "ids"}, {DA, AT(tokenizer), "tokenizer"},
    };
    for (size_t i = 0; i < ARRAY_LEN(needs); i++) {
        const char *value;
        memcpy(&value, (const char *)o + needs[i].at, sizeof value);
        if (needs[i].commands & BIT(o->command) && need(value, needs[i].name, err) != PD_OK)
            return err->code;
    }
    if (check_machine(o, err) != PD_OK)
        return err->code;
    if (o->command == OPTIONS_GENERATE && !o->prompt && !o->instruction)
        return pd_fail(err, PD_USAGE, _("--prompt or --instruction is needed"));
    if (!o->max_tokens)
        o->max_tokens = o->command == OPTIONS_CHAT ? 512 : 64;
    if (o->t.bf16 && o->f16)
        return pd_fail(err, PD_USAGE, _("--bf16 and --f16 are two types: give one"));
    if (!model_dir_size(o->shard ? o->shard : "5GB", &o->shard_bytes))
        return pd_fail(err, PD_USAGE, _("--max-shard-size takes a size such as 5GB, not \"%s\""),
                       o->shard);
    if (o->targets && lora_parse_targets(o->targets, &o->t.lora.targets, err) != PD_OK)
        return err->code;
    static const char *const schedules[] = {"cosine", "linear", "constant"};
    for (int i = 0; o->schedule; i++) {
        if (i == (int)ARRAY_LEN(schedules))
            return pd_fail(err, PD_USAGE, _("--schedule takes cosine, linear or constant"));
        if (str_eq(o->schedule, schedules[i])) {
            o->t.optim.schedule = (enum optim_schedule)i;
            break;
        }
    }
    return PD_OK;
}

/* The file first, whatever stands before it: flags win. */
static enum pd_code take_config(struct options *o, int argc, char **argv, struct pd_err *err)
{
    const struct option *opt = options_find("config");
    for (int i = 1; i < argc && opt->commands & BIT(o->command); i++) {
        const char *path = str_starts(argv[i], "--config=")               ? argv[i] + 9
                           : str_eq(argv[i], "--config") && i + 1 < argc ? argv[i + 1]
                                                                         : NULL;
        if (path && options_config(o, path, err) != PD_OK)
            return err->code;
    }
    return PD_OK;
}

enum pd_code options_parse(int argc, char **argv, struct options *o, struct pd_err *err)
{
    defaults(o);
    o->rest = xcalloc((size_t)argc + 1, sizeof *o->rest);
    int i = 1;
    if (argc > 1 && !str_starts(argv[1], "-")) {
        if (take_command(o, argv[1], err) != PD_OK)
            return err->code;
        i = 2;
    }
    if (take_config(o, argc, argv, err) != PD_OK)
        return err->code;
    for (; i < argc; i++) {
        if (!str_starts(argv[i], "--") || !argv[i][2])
            o->rest[o->n_rest++] = argv[i];
        else if (take_option(o, argc, argv, &i, err) != PD_OK)
            return err->code;
    }
    return o->help || o->version ? PD_OK : check(o, err);
}

void options_release(struct options *o)
{
    free(o->rest);
    o->rest = NULL;
    strv_release(&o->texts);
}
