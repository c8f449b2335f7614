/* options_help.c - the pages of --help, and --print-config (options.h).
 *
 * A page teaches in this order: what the command does, an example that can be
 * copied, the options by purpose with their defaults, and what to change when
 * something is not as it should be.
 */
#include "core/train/options_impl.h"

#include "core/base/i18n.h"
#include "core/base/utf8.h"

enum { LEFT = 26, WIDTH = 79 };

/* In the order of the page; an option that stands nowhere goes to the last. */
static const struct {
    const char *title, *options;
} groups[] = {
    {N_("Files"), " config print-config model data val out adapter tokenizer prompts gguf ids "},
    {N_("How long"), " steps epochs batch accum seq too-long packing "},
    {N_("Learning"), " rate warmup warmup-ratio schedule clip weight-decay beta1 beta2 eps seed "},
    {N_("What is trained"), " lora-r lora-alpha lora-dropout lora-targets rslora full bf16 "
                            "train-on-prompt chat-form "},
    {N_("Validation"), " val-templates val-fraction eval-every eval-batches split "},
    {N_("Checkpoints"), " save-every keep save-total-limit resume replay "},
    {N_("Prompt and answer"), " prompt instruction input lang chat system max-tokens temperature "
                              "top-p top-k stop ignore-eos context "},
    {N_("Form of the result"), " f16 max-shard-size type adapter-only "},
    {N_("Machine"), " threads checkpointing memory-limit "},
    {N_("Output"), " log json table control hold "},
    {N_("Others"), ""},
};

static const struct {
    enum options_command c;
    const char *line, *what;
} examples[] = {
    {OPTIONS_TRAIN, "podium-train train --model base --data set.jsonl --out run --steps 200",
     N_("an adapter in run/, checkpoints beside it")},
    {OPTIONS_TRAIN, "podium-train train --config run.yaml --rate 5e-4",
     N_("options from a file, one of them another")},
    {OPTIONS_TRAIN, "podium-train train --config run.yaml --resume",
     N_("go on where it was interrupted, to the same bytes")},
    {OPTIONS_EVAL, "podium-train eval --model base --data set.jsonl --adapter run",
     N_("did it learn anything?")},
    {OPTIONS_GENERATE, "podium-train generate --model base --adapter run --instruction \"Name a "
                       "colour.\"",
     N_("what it says now")},
    {OPTIONS_COMPARE, "podium-train compare --model base --adapter run --prompts prompts.txt",
     N_("what the training changed, prompt by prompt")},
    {OPTIONS_CHAT, "podium-train chat --model base --adapter run --temperature 0.7 --top-p 0.9",
     N_("a conversation; /quit ends it")},
    {OPTIONS_EXPORT, "podium-train export --model base --adapter run --adapter-only --gguf a.gguf",
     N_("the adapter for llama.cpp's --lora")},
    {OPTIONS_INSPECT, "podium-train inspect-batch --model base --data set.jsonl",
     N_("the first batch: what is trained, what is only read")},
    {OPTIONS_IMPORT, "podium-train import smollm2.gguf --out base", N_("a folder to train from")},
    {OPTIONS_MERGE, "podium-train merge --model base --adapter run --out merged --bf16",
     N_("a model that needs no adapter")},
    {OPTIONS_EXPORT, "podium-train export --model base --adapter run --gguf run.gguf",
     N_("for llama.cpp")},
};

static const struct {
    enum options_command c;
    const char *sign, *change;
} advice[] = {
    {OPTIONS_TRAIN, N_("does not fit into memory"),
     N_("halve --batch and double --accum, or --checkpointing (the result is the same)")},
    {OPTIONS_TRAIN, N_("the loss is NaN or jumps up"),
     N_("divide --rate by 3; --warmup a twentieth of --steps; --clip 1")},
    {OPTIONS_TRAIN, N_("the loss hardly falls"),
     N_("multiply --rate by 3; more --steps; a larger --lora-r, --lora-targets all")},
    {OPTIONS_TRAIN, N_("the validation loss rises while the loss falls"),
     N_("fewer --steps; --lora-dropout 0.05; more data")},
    {OPTIONS_TRAIN, N_("the loss is noisy"), N_("a larger --accum; a smaller --rate")},
    {OPTIONS_TRAIN, N_("it is slow"),
     N_("--threads no more than processors; a shorter --seq; podium-train bench")},
    {OPTIONS_GENERATE, N_("it repeats itself"), N_("--temperature 0.7 --top-p 0.9")},
};

static bool in_group(size_t g, const char *name)
{
    char word[48];
    str_fmt(word, sizeof word, " %s ", name);
    if (g + 1 < ARRAY_LEN(groups))
        return strstr(groups[g].options, word) != NULL;
    for (size_t i = 0; i + 1 < ARRAY_LEN(groups); i++)
        if (in_group(i, name))
            return false;
    return true;
}

/* Text from column `at` on, lines broken at blanks (or behind any wide
 * character) before column WIDTH. */
static void fold(const char *text, int at, FILE *to)
{
    while (*text) {
        size_t n = utf8_cut(text, WIDTH - at);
        size_t cut = n;
        if (text[n])
            while (cut > 0 && text[cut] != ' ' && text[cut - 1] != ',' &&
                   !((unsigned char)text[cut] & 0x80))
                cut--;
        n = cut ? cut : n;
        fprintf(to, "%.*s\n", (int)n, text);
        text += n;
        while (*text == ' ')
            text++;
        if (*text)
            fprintf(to, "%*s", at, "");
    }
}

static void pair(const char *left, const char *right, FILE *to)
{
    int w = 2 + utf8_str_width(left);
    fprintf(to, "  %s", left);
    if (w + 1 >= LEFT)
        fprintf(to, "\n%*s", LEFT, "");
    else
        fprintf(to, "%*s", LEFT - w, "");
    fold(right, LEFT, to);
}

static void group_page(enum options_command c, size_t g, FILE *to)
{
    size_t n;
    bool titled = false;
    const struct option *opt = options_table(&n);
    for (size_t i = 0; i < n; i++) {
        char left[60];
        if (!(opt[i].commands & 1u << c) || !in_group(g, opt[i].name))
            continue;
        if (!titled)
            fprintf(to, "\n%s\n", _(groups[g].title));
        titled = true;
        str_fmt(left, sizeof left, "--%s %s", opt[i].name, opt[i].arg);
        pair(left, _(opt[i].help), to);
    }
}

static void examples_page(enum options_command c, FILE *to)
{
    bool titled = false;
    for (size_t i = 0; i < ARRAY_LEN(examples); i++) {
        if (examples[i].c != c)
            continue;
        if (!titled)
            fprintf(to, "\n%s\n", _("Examples"));
        titled = true;
        fprintf(to, "  %s\n      %s\n", examples[i].line, _(examples[i].what));
    }
}

static void advice_page(enum options_command c, FILE *to)
{
    bool titled = false;
    for (size_t i = 0; i < ARRAY_LEN(advice); i++) {
        if (advice[i].c != c)
            continue;
        if (!titled)
            fprintf(to, "\n%s\n", _("What to change when"));
        titled = true;
        pair(_(advice[i].sign), _(advice[i].change), to);
    }
}

static void program_page(FILE *to)
{
    fprintf(to, "usage: podium-train COMMAND [options]\n\n");
    for (int i = 0; i < OPTIONS_COMMANDS; i++) {
        const struct option_command *c = options_command((enum options_command)i);
        fprintf(to, "  %-14s ", c->name);
        fold(_(c->what), 17, to);
    }
    fprintf(to, "\n%s\n", _("podium-train help COMMAND shows a command's options. Records on "
                            "stdout: docs/RUNLOG.md."));
    fprintf(to, "%s\n", _("Exit codes: 0 done, 1 failed, 2 usage, 3 can't be done here, 143 "
                          "ended by SIGTERM."));
}

void options_help(enum options_command c, FILE *to)
{
    const struct option_command *row = options_command(c);
    if (c == OPTIONS_HELP) {
        program_page(to);
        return;
    }
    fprintf(to, "usage: podium-train %s %s\n%s\n", row->name, row->usage, _(row->what));
    examples_page(c, to);
    for (size_t g = 0; g < ARRAY_LEN(groups); g++)
        group_page(c, g, to);
    advice_page(c, to);
}

static void print_text(const char *text, FILE *to)
{
    fputc('"', to);
    for (const char *p = text; *p; p++) {
        if (*p == '"' || *p == '\\')
            fputc('\\', to);
        if ((unsigned char)*p < 0x20)
            fprintf(to, "\\x%02x", *p);
        else
            fputc(*p, to);
    }
    fputc('"', to);
}

static void print_value(const struct options *o, const struct option *opt, FILE *to)
{
    const char *at = (const char *)o + opt->at;
    const char *text;
    memcpy(&text, at, sizeof text);
    if (opt->kind == STRING && text)
        print_text(text, to);
    else if (opt->kind == STRING)
        fprintf(to, "null");
    else if (opt->kind == FLAG)
        fprintf(to, "%s", *(const bool *)at ? "true" : "false");
    else if (opt->kind == INT)
        fprintf(to, "%d", *(const int *)at);
    else if (opt->kind == REAL)
        fprintf(to, "%.17g", *(const double *)at);
    else
        fprintf(to, "%" PRId64, *(const int64_t *)at);
}

/* A number that no flag can give stands for "unset": hold -1. */
static bool unset(const struct options *o, const struct option *opt)
{
    const char *at = (const char *)o + opt->at;
    return opt->kind == INT ? *(const int *)at < opt->least
           : opt->kind == I64 && (double)*(const int64_t *)at < opt->least;
}

void options_print(const struct options *o, FILE *to)
{
    static const char *const origins[] = {N_("default"), N_("from the file"),
                                          N_("from the command line")};
    size_t n;
    const struct option *opt = options_table(&n);
    fprintf(to, "# podium-train %s --config FILE\n", options_command_name(o->command));
    for (size_t i = 0; i < n; i++) {
        if (!(opt[i].commands & 1u << o->command) || str_eq(opt[i].name, "config") ||
            str_eq(opt[i].name, "print-config"))
            continue;
        fprintf(to, "%s: ", opt[i].name);
        if (unset(o, &opt[i]))
            fprintf(to, "null");
        else
            print_value(o, &opt[i], to);
        fprintf(to, "  # %s\n", _(origins[o->origin[i]]));
    }
}
