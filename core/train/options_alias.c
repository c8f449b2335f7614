/* options_alias.c - other programs' names of our options (options_alias.h). */
#include "core/train/options_alias.h"

#include "core/base/str.h"

static const struct options_alias_row rows[] = {
    {"model_name_or_path", ALIAS_OPTION, "model"},
    {"base_model", ALIAS_OPTION, "model"},
    {"dataset", ALIAS_OPTION, "data"},
    {"dataset_path", ALIAS_OPTION, "data"},
    {"train_file", ALIAS_OPTION, "data"},
    {"validation_file", ALIAS_OPTION, "val"},
    {"output_dir", ALIAS_OPTION, "out"},
    {"learning_rate", ALIAS_OPTION, "rate"},
    {"per_device_train_batch_size", ALIAS_OPTION, "batch"},
    {"micro_batch_size", ALIAS_OPTION, "batch"},
    {"batch_size", ALIAS_OPTION, "batch"},
    {"gradient_accumulation_steps", ALIAS_OPTION, "accum"},
    {"num_train_epochs", ALIAS_OPTION, "epochs"},
    {"num_epochs", ALIAS_OPTION, "epochs"},
    {"max_steps", ALIAS_OPTION, "steps"},
    {"warmup_steps", ALIAS_OPTION, "warmup"},
    {"num_warmup_steps", ALIAS_OPTION, "warmup"},
    {"lr_scheduler_type", ALIAS_OPTION, "schedule"},
    {"lr_scheduler", ALIAS_OPTION, "schedule"},
    {"max_grad_norm", ALIAS_OPTION, "clip"},
    {"adam_beta1", ALIAS_OPTION, "beta1"},
    {"adam_beta2", ALIAS_OPTION, "beta2"},
    {"adam_epsilon", ALIAS_OPTION, "eps"},
    {"max_seq_length", ALIAS_OPTION, "seq"},
    {"max_length", ALIAS_OPTION, "seq"},
    {"cutoff_len", ALIAS_OPTION, "seq"},
    {"sequence_len", ALIAS_OPTION, "seq"},
    {"train_on_inputs", ALIAS_OPTION, "train-on-prompt"},
    {"save_total_limit", ALIAS_OPTION, "keep"},
    {"save_steps", ALIAS_OPTION, "save-every"},
    {"eval_steps", ALIAS_OPTION, "eval-every"},
    {"gradient_checkpointing", ALIAS_OPTION, "checkpointing"},
    {"num_threads", ALIAS_OPTION, "threads"},
    {"lora_rank", ALIAS_OPTION, "lora-r"},
    {"target_modules", ALIAS_OPTION, "lora-targets"},
    {"lora_target_modules", ALIAS_OPTION, "lora-targets"},
    {"lora_target", ALIAS_OPTION, "lora-targets"},
    {"use_rslora", ALIAS_OPTION, "rslora"},
    {"resume_from_checkpoint", ALIAS_OPTION, "resume"},
    {"val_set_size", ALIAS_OPTION, "val-fraction"},
    {"do_train", ALIAS_IDLE, NULL},
    {"do_eval", ALIAS_IDLE, NULL},
    {"eval_strategy", ALIAS_IDLE, NULL},
    {"evaluation_strategy", ALIAS_IDLE, NULL},
    {"save_strategy", ALIAS_IDLE, NULL},
    {"logging_strategy", ALIAS_IDLE, NULL},
    {"logging_steps", ALIAS_IDLE, NULL},
    {"logging_dir", ALIAS_IDLE, NULL},
    {"logging_first_step", ALIAS_IDLE, NULL},
    {"report_to", ALIAS_IDLE, NULL},
    {"run_name", ALIAS_IDLE, NULL},
    {"disable_tqdm", ALIAS_IDLE, NULL},
    {"use_cpu", ALIAS_IDLE, NULL},
    {"no_cuda", ALIAS_IDLE, NULL},
    {"overwrite_output_dir", ALIAS_IDLE, NULL},
    {"remove_unused_columns", ALIAS_IDLE, NULL},
    {"dataloader_num_workers", ALIAS_IDLE, NULL},
    {"dataloader_pin_memory", ALIAS_IDLE, NULL},
    {"per_device_eval_batch_size", ALIAS_IDLE, NULL},
    {"tf32", ALIAS_IDLE, NULL},
    {"task_type", ALIAS_REFUSED, "CAUSAL_LM"},
    {"peft_type", ALIAS_REFUSED, "LORA"},
    {"bias", ALIAS_REFUSED, "none"},
    {"optim", ALIAS_REFUSED, "adamw_torch|adamw|adamw_hf|adamw_torch_fused"},
    {"fp16", ALIAS_REFUSED, "false"},
    {"fan_in_fan_out", ALIAS_REFUSED, "false"},
    {"use_dora", ALIAS_REFUSED, "false"},
    {"load_in_8bit", ALIAS_REFUSED, "false"},
    {"load_in_4bit", ALIAS_REFUSED, "false"},
    {"push_to_hub", ALIAS_REFUSED, "false"},
    {"label_smoothing_factor", ALIAS_REFUSED, "0|0.0"},
    {"neftune_noise_alpha", ALIAS_REFUSED, "null|~"},
    {"group_by_length", ALIAS_REFUSED, "false"},
};

static const struct {
    const char *option, *theirs, *ours;
} values[] = {
    {"schedule", "constant_with_warmup", "constant"},
    {"schedule", "cosine_with_warmup", "cosine"},
    {"lora-targets", "all-linear", "all"},
};

const struct options_alias_row *options_alias(const char *key)
{
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        if (str_eq(rows[i].key, key))
            return &rows[i];
    return NULL;
}

const char *options_alias_value(const char *option, const char *value)
{
    for (size_t i = 0; i < ARRAY_LEN(values); i++)
        if (str_eq(values[i].option, option) && str_eq(values[i].theirs, value))
            return values[i].ours;
    return value;
}

size_t options_alias_names(const char **names, size_t room)
{
    size_t n = 0;
    for (size_t i = 0; i < ARRAY_LEN(rows) && n < room; i++)
        names[n++] = rows[i].key;
    return n;
}
