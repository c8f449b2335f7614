/* cmd_compare.c - `compare`: each prompt continued by the base and by the base with
 * its adapter, side by side. Prompts: a text file with one a line, or
 * instructions (.jsonl with "instruction" and "input", or "prompt").
 */
#include "core/train/cmd.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include "core/base/i18n.h"
#include "core/base/mem.h"
#include "core/base/path.h"
#include "core/base/utf8.h"
#include "core/train/cmd_decode.h"
#include "core/train/columns.h"
#include "core/train/data.h"
#include "core/train/tjson.h"

enum { PROMPTS_CEILING = 16 << 20, WIDTH_DEFAULT = 100, WIDTH_LEAST = 20 };

struct prompts {
    char **shown, **text;         /* as the person wrote it, as the model reads it */
    size_t n, cap;
};

struct compare {
    const struct options *o;
    struct cmd_model x;
    struct tok *t;
    struct tok_chat *form;        /* --chat; else NULL */
    struct prompts p;
    char **answers[2];            /* of the base, of the adapter */
};

static void add_prompt(struct prompts *p, const char *shown, const char *text)
{
    if (p->n == p->cap) {
        p->cap = p->cap ? 2 * p->cap : 32;
        p->shown = xrealloc_array(p->shown, p->cap, sizeof *p->shown);
        p->text = xrealloc_array(p->text, p->cap, sizeof *p->text);
    }
    p->shown[p->n] = xstrdup(shown);
    p->text[p->n++] = xstrdup(text);
}

/* A record: {"prompt": …}, or an instruction in the prompt of the training. */
static enum pd_code add_record(struct compare *c, const char *line, int number,
                               struct pd_err *err)
{
    struct tjson *j;
    struct str s;
    if (tjson_parse(line, strlen(line), c->o->prompts, number, &j, err) != PD_OK)
        return err->code;
    const char *prompt = tjson_str(j, "prompt", NULL);
    const char *instruction = tjson_str(j, "instruction", NULL);
    enum pd_code rc = PD_OK;
    str_init(&s, CMD_TEXT_CEILING);
    if (prompt)
        add_prompt(&c->p, prompt, prompt);
    else if (instruction && c->o->chat) {
        const char *input = tjson_str(j, "input", "");
        str_printf(&s, "%s%s%s", instruction, *input ? "\n\n" : "", input);
        add_prompt(&c->p, instruction, s.p);
    } else if (instruction) {
        data_prompt(tjson_str(j, "lang", c->o->lang), instruction, tjson_str(j, "input", ""), &s);
        add_prompt(&c->p, instruction, s.p);
    } else {
        rc = pd_fail_at(err, PD_DATA, c->o->prompts, number, 0,
                        _("the record has neither \"prompt\" nor \"instruction\""));
    }
    str_release(&s);
    tjson_free(j);
    return rc;
}

static enum pd_code read_prompts(struct compare *c, struct pd_err *err)
{
    struct str s;
    struct strv lines;
    bool records = str_ends(c->o->prompts, ".jsonl");
    str_init(&s, PROMPTS_CEILING);
    strv_init(&lines);
    enum pd_code rc = path_read(c->o->prompts, PROMPTS_CEILING, &s, err);
    if (rc == PD_OK && !utf8_valid(s.p, s.len))
        rc = pd_fail_at(err, PD_DATA, c->o->prompts, 0, 0, _("the file is not UTF-8"));
    if (rc == PD_OK)
        strv_split(&lines, s.p, '\n');
    for (size_t i = 0; i < lines.n && rc == PD_OK; i++) {
        char *line = lines.v[i];
        size_t n = strlen(line);
        if (n && line[n - 1] == '\r')
            line[n - 1] = '\0';
        if (!*line)
            continue;
        if (records)
            rc = add_record(c, line, (int)i + 1, err);
        else
            add_prompt(&c->p, line, line);
    }
    if (rc == PD_OK && c->p.n == 0)
        rc = pd_fail_at(err, PD_DATA, c->o->prompts, 0, 0, _("there is no prompt in the file"));
    strv_release(&lines);
    str_release(&s);
    return rc;
}

static enum pd_code answer_one(struct compare *c, const char *prompt, char **out,
                               struct pd_err *err)
{
    struct decode_options d;
    struct tok_ids ids;
    struct str text, clean;
    enum decode_end end;
    tok_ids_init(&ids);
    str_init(&text, CMD_TEXT_CEILING);
    str_init(&clean, CMD_TEXT_CEILING);
    enum pd_code rc = cmd_prompt_ids(c->o, c->t, c->form, prompt, true, &ids, err);
    cmd_decode_options(c->o, &c->x, c->t, c->form, &d);
    struct decode *run = decode_new(&c->x.m, &c->x.c, c->t, cmd_context(c->o, &c->x, ids.n));
    if (rc == PD_OK)
        rc = decode_run(run, &d, ids.v, ids.n, &text, NULL, &end, err);
    decode_free(run);
    utf8_clean(text.p, text.len, true, &clean);
    *out = xstrdup(clean.p);
    tok_ids_release(&ids);
    str_release(&text);
    str_release(&clean);
    return rc;
}

/* The base answers all, then the adapter is merged and answers all. */
static enum pd_code answer_all(struct compare *c, struct pd_err *err)
{
    for (int side = 0; side < 2; side++) {
        c->answers[side] = xcalloc(c->p.n, sizeof **c->answers);
        if (side == 1)
            lora_merge(&c->x.lora, &c->x.m);
        for (size_t i = 0; i < c->p.n && !*cmd_stop_flag(); i++)
            if (answer_one(c, c->p.text[i], &c->answers[side][i], err) != PD_OK)
                return err->code;
    }
    return PD_OK;
}

static int terminal_width(void)
{
    struct winsize w;
    int64_t n = 0;
    const char *columns = getenv("COLUMNS");
    if (columns && str_to_i64(columns, &n) && n > 0 && n < 10000)
        return (int)n;
    return ioctl(STDOUT_FILENO, TIOCGWINSZ, &w) == 0 && w.ws_col ? w.ws_col : WIDTH_DEFAULT;
}

static void print_json(const struct compare *c, size_t i, struct str *s)
{
    str_add(s, "{\"prompt\":");
    tjson_quote(s, c->p.shown[i]);
    str_add(s, ",\"base\":");
    tjson_quote(s, c->answers[0][i]);
    str_add(s, ",\"adapter\":");
    tjson_quote(s, c->answers[1][i]);
    str_add(s, "}\n");
}

static void print_text(const struct compare *c, size_t i, int width, struct str *s)
{
    struct str shown;
    str_init(&shown, CMD_TEXT_CEILING);
    utf8_clean(c->p.shown[i], strlen(c->p.shown[i]), false, &shown);
    str_printf(s, "%s── %zu/%zu  %s\n", i ? "\n" : "", i + 1, c->p.n, shown.p);
    columns_print(_("base"), _("with the adapter"), width, s);
    columns_print(c->answers[0][i], c->answers[1][i], width, s);
    str_release(&shown);
}

static void print_all(const struct compare *c)
{
    struct str s;
    int same = 0, width = MAX((terminal_width() - 3) / 2, WIDTH_LEAST);
    str_init(&s, (size_t)64 << 20);
    for (size_t i = 0; i < c->p.n; i++) {
        same += str_eq(c->answers[0][i], c->answers[1][i]);
        if (c->o->json)
            print_json(c, i, &s);
        else
            print_text(c, i, width, &s);
    }
    fwrite(s.p, 1, s.len, stdout);
    if (!c->o->json)
        printf(_("\n%d of %zu answers are the same\n"), same, c->p.n);
    str_release(&s);
}

static void release(struct compare *c)
{
    for (size_t i = 0; i < c->p.n; i++) {
        free(c->p.shown[i]);
        free(c->p.text[i]);
        for (int side = 0; side < 2 && c->answers[side]; side++)
            free(c->answers[side][i]);
    }
    free(c->p.shown);
    free(c->p.text);
    free(c->answers[0]);
    free(c->answers[1]);
    tok_chat_free(c->form);
    if (c->t)
        tok_free(c->t);
    cmd_model_close(&c->x);
}

int cmd_compare(const struct options *o)
{
    struct compare c = {.o = o};
    struct pd_err err;
    enum pd_code rc = read_prompts(&c, &err);
    if (rc == PD_OK)
        rc = cmd_model_open(&c.x, o, &err);
    if (rc == PD_OK)
        rc = tok_load(o->t.model, &c.t, &err);
    if (rc == PD_OK && o->chat)
        rc = cmd_chat_form(o, c.t, &c.form, &err);
    if (rc == PD_OK)
        rc = answer_all(&c, &err);
    bool stopped = *cmd_stop_flag();
    if (rc == PD_OK && !stopped)
        print_all(&c);
    release(&c);
    if (rc != PD_OK)
        return cmd_fail(&err);
    return stopped ? TRAINER_TERMINATED : TRAINER_DONE;
}
