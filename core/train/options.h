/* options.h - the command line of podium-train: commands and options as
 * tables, from which parsing, checking, --help and --print-config come.
 *
 * `--config FILE` (YAML, options_config.c) knows the options by the same names
 * ("lora-r" or "lora_r") and by those of Hugging Face's TrainingArguments and
 * PEFT's LoraConfig. What stands on the command line wins; --no-FLAG takes a
 * flag of the file back.
 */
#ifndef CORE_TRAIN_OPTIONS_H
#define CORE_TRAIN_OPTIONS_H

#include "core/base/str.h"
#include "core/train/trainer.h"

enum options_command { OPTIONS_TRAIN, OPTIONS_PLAN, OPTIONS_BENCH, OPTIONS_EVAL, OPTIONS_GENERATE,
                       OPTIONS_COMPARE, OPTIONS_CHAT, OPTIONS_LOGITS, OPTIONS_MERGE,
                       OPTIONS_EXPORT, OPTIONS_INIT, OPTIONS_DATA, OPTIONS_INSPECT,
                       OPTIONS_IMPORT, OPTIONS_CHECK, OPTIONS_DOCTOR, OPTIONS_DIAGNOSE, OPTIONS_TAR,
                       OPTIONS_WAIT,
                       OPTIONS_HELP, OPTIONS_COMMANDS };

enum options_origin { OPTIONS_DEFAULT, OPTIONS_FILE, OPTIONS_FLAG };
enum { OPTIONS_MAX = 128 };       /* rows of the table at most */

struct options {
    enum options_command command;
    bool help, version;
    struct trainer_options t;
    struct llama_config init;
    bool json;
    const char *prompt, *instruction, *input, *lang, *ids, *targets, *schedule, *tokenizer;
    const char *prompts, *stop, *gguf, *type, *shard, *system, *split;
    double temperature, top_p;
    int64_t max_tokens, index, top_k, shard_bytes;
    int context;
    bool f16, adapter_only, ignore_eos, table, chat;
    const char **rest;            /* arguments that are no options */
    int n_rest;
    const char *config, *log, *memory_limit;
    bool print_config, batch_given;
    struct strv texts;            /* values of the file */
    unsigned char origin[OPTIONS_MAX];
};

/* PD_USAGE names the option and what it takes. */
MUST_USE enum pd_code options_parse(int argc, char **argv, struct options *out,
                                    struct pd_err *err);
void options_release(struct options *o);
/* The page of one command, or (OPTIONS_HELP) of the program. */
void options_help(enum options_command c, FILE *to);
/* --print-config: every option of the command, as a file for --config. */
void options_print(const struct options *o, FILE *to);
const char *options_command_name(enum options_command c);

#endif
