/* train_options.c - the command line, --config files, their errors' places,
 * --print-config, and the pages of --help. */
#include "core/base/base.h"

#include "core/base/i18n.h"
#include "core/base/mem.h"
#include "core/base/path.h"
#include "core/base/str.h"
#include "core/train/options.h"
#include "tests/t.h"

static struct options o;
static struct pd_err err;

static const char *file(const char *text)
{
    static char path[300];
    str_fmt(path, sizeof path, "%s/run.yaml", t_dir());
    CHECK_OK(path_write_atomic(path, 0644, text, strlen(text), &err));
    return path;
}

/* `line` is split at blanks; "@" is the file. */
static enum pd_code parse(const char *line, const char *yaml)
{
    static struct strv v;             /* lives as long as the options that borrow it */
    strv_release(&v);
    strv_init(&v);
    const char *path = yaml ? file(yaml) : "";
    strv_push(&v, "podium-train");
    for (const char *p = line; *p;) {
        size_t n = strcspn(p, " ");
        char word[200];
        str_fmt(word, sizeof word, "%.*s", (int)n, p);
        strv_push(&v, str_eq(word, "@") ? path : word);
        p += n + (p[n] == ' ');
    }
    return options_parse((int)v.n, v.v, &o, &err);
}

static void good(const char *line, const char *yaml)
{
    enum pd_code rc = parse(line, yaml);
    CHECK_MSG(rc == PD_OK, "%s: %s %s", line, err.msg, err.hint);
}

#define NEEDED "model: m\ndata: d\nout: o\n"

TEST(names_of_ours_and_of_hugging_face)
{
    good("train --config @",
         "model_name_or_path: m\ntrain_file: d.jsonl\noutput_dir: out\n"
         "learning_rate: 2.5e-4\nper_device_train_batch_size: 3\n"
         "gradient_accumulation_steps: 5\nmax_steps: 77\nmax_seq_length: 99\n"
         "lr_scheduler_type: constant_with_warmup\nwarmup_steps: 7\nweight-decay: 0.01\n"
         "max_grad_norm: 0.3\nsave_total_limit: 4\nsave_steps: 10\neval_steps: 9\n"
         "report_to: none\nfp16: false\noptim: adamw_torch\nbf16: yes\nadapter: null\n"
         "lora:\n  r: 16\n  lora_alpha: 32\n  dropout: 0.05\n"
         "  target_modules:\n    - q_proj\n    - o_proj\n");
    CHECK_STR(o.t.model, "m");
    CHECK_STR(o.t.data, "d.jsonl");
    CHECK_STR(o.t.out, "out");
    CHECK(o.t.optim.rate == 2.5e-4 && o.t.optim.clip == 0.3 && o.t.optim.decay == 0.01);
    CHECK(o.t.batch == 3 && o.t.accum == 5 && o.t.steps == 77 && o.t.seq == 99);
    CHECK(o.t.optim.schedule == OPTIM_CONSTANT && o.t.optim.warmup == 7);
    CHECK(o.t.keep == 4 && o.t.save_every == 10 && o.t.eval_every == 9 && o.t.bf16);
    CHECK(o.t.lora.r == 16 && o.t.lora.alpha == 32 && o.t.lora.dropout == 0.05);
    CHECK_INT(o.t.lora.targets, 1 << LORA_Q | 1 << LORA_O);
    CHECK(!o.t.adapter);
    options_release(&o);
}

TEST(flags_win_wherever_the_file_stands)
{
    good("train --steps 5 --no-full --config @ --rate=3e-3",
         NEEDED "steps: 9\nrate: 1\nbatch: 2\nfull: true\n");
    CHECK_INT(o.t.steps, 5);
    CHECK(o.t.optim.rate == 3e-3 && !o.t.full);
    CHECK_INT(o.t.batch, 2);
    options_release(&o);
}

TEST(one_file_serves_several_commands)
{
    good("eval --config @", NEEDED "steps: 9\nlora_r: 4\nseq: 64\n");
    CHECK_INT(o.t.seq, 64);
    options_release(&o);
}

TEST(what_says_nothing_changes_nothing)
{
    good("train --model m --data d --out o --config @", "max_steps: -1\nval: null\n");
    CHECK(o.t.steps == 100 && !o.t.val);
    options_release(&o);
    good("train --model m --data d --out o --config @", "# empty\n");
    options_release(&o);
}

TEST(errors_have_a_place_and_a_next_step)
{
    static const struct {
        const char *yaml;
        int line, col;
        const char *says, *hint;
    } cases[] = {
        {"model: m\nlearning_rat: 1\n", 2, 1, "learning_rat", "learning_rate"},
        {"model: m\nstep: 1\n", 2, 1, "step", "steps"},
        {"lora:\n  rang: 3\n", 2, 3, "rang", ""},
        {"xyzzyxyzzy: 1\n", 1, 1, "xyzzyxyzzy", "help train"},
        {"batch: many\n", 1, 8, "many", ""},
        {"batch: 0\n", 1, 8, "from 1", ""},
        {"batch: [2, 3]\n", 1, 8, "2,3", ""},
        {"full: 3\n", 1, 7, "true or false", ""},
        {"a: b\na: c\n", 2, 1, "twice", ""},
        {"steps: [3\n", 2, 1, "YAML", ""},
        {"- steps\n", 1, 1, "NAME: VALUE", ""},
        {"optim: sgd\n", 1, 1, "adamw", "remove"},
        {"fp16: true\n", 1, 1, "fp16: true", "remove"},
        {"use_dora: true\n", 1, 1, "use_dora", "remove"},
        {"lora:\n  deep:\n    r: 3\n", 2, 3, "maps within maps", ""},
        {"config: x\n", 1, 1, "config", ""},
        {"steps: 3\n---\nsteps: 4\n", 1, 1, "one document", ""},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        CHECK_INT(parse("train --config @", cases[i].yaml) != PD_OK, true);
        CHECK_MSG(err.line == cases[i].line && err.col == cases[i].col, "%s: at %d:%d",
                  cases[i].yaml, err.line, err.col);
        CHECK_MSG(strstr(err.msg, cases[i].says), "%s: %s", cases[i].yaml, err.msg);
        CHECK_MSG(strstr(err.hint, cases[i].hint), "%s: %s", cases[i].yaml, err.hint);
        CHECK(str_ends(err.src, "run.yaml"));
        options_release(&o);
    }
    CHECK(parse("train --config /nowhere.yaml", NULL) == PD_IO);
    options_release(&o);
}

static char *printed(void)
{
    char *text = NULL;
    size_t n;
    FILE *f = open_memstream(&text, &n);
    options_print(&o, f);
    fclose(f);
    return text;
}

/* Without the comments, which say where a value comes from. */
static void strip(char *text)
{
    char *to = text;
    for (const char *p = text; *p; p++) {
        if (p[0] == ' ' && p[1] == ' ' && p[2] == '#')
            p += strcspn(p, "\n");
        *to++ = *p;
    }
    *to = 0;
}

TEST(the_printed_options_are_a_file_that_gives_them_again)
{
    good("train --model m\"x --data d --out \xe4\xb8\xad\xe6\x96\x87 --rate 0.1 --seed 77 --full "
         "--lora-targets q_proj,o_proj", NULL);
    char *first = printed();
    options_release(&o);
    CHECK(strstr(first, "rate: 0.1") && strstr(first, "  # from the command line\n"));
    CHECK(strstr(first, "hold: null  # default\n"));
    good("train --config @", first);
    CHECK_INT(o.t.hold_s, -1);
    char *second = printed();
    options_release(&o);
    CHECK(strstr(second, "  # from the file\n"));
    strip(first);
    strip(second);
    CHECK_STR(second, first);
    free(first);
    free(second);
}

/* Every page in both languages: no line wider than 79 columns but the usage
 * and the examples; each option of train in a group of its own. */
TEST(pages_teach)
{
    static const char *const langs[] = {"en", "zh"};
    for (int k = 0; k < 2; k++)
        for (int c = 0; c < OPTIONS_COMMANDS; c++) {
            char *text = NULL;
            size_t n;
            FILE *f = open_memstream(&text, &n);
            i18n_set(langs[k]);
            options_help((enum options_command)c, f);
            fclose(f);
            CHECK_MSG(strstr(text, "usage: podium-train "), "%s", text);
            if (c == OPTIONS_TRAIN && k == 0)
                CHECK(strstr(text, "Examples\n") && strstr(text, "What to change when\n") &&
                      strstr(text, "Learning\n  --rate X") && !strstr(text, "Others\n"));
            free(text);
        }
}

T_MAIN
