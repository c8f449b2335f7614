/* cmd_chat.c - `chat`: a conversation in the model's own template. Lines come from
 * stdin, an empty one is passed over; /reset begins anew, /quit (or the end of
 * stdin) ends. The keys and values of earlier turns are kept: each turn feeds
 * only what is new.
 */
#include "core/train/cmd.h"

#include <errno.h>
#include <unistd.h>

#include "core/base/i18n.h"
#include "core/base/mem.h"
#include "core/train/cmd_decode.h"

struct chat {
    const struct options *o;
    struct cmd_model x;
    struct tok *t;
    struct tok_chat *form;
    struct decode *run;
    bool person;                  /* a terminal: prompts and hints are shown */
    int turns;
};

static int context(const struct chat *c)
{
    return MIN(c->o->context, c->x.m.cfg.max_pos);
}

static void restart(struct chat *c)
{
    decode_free(c->run);
    c->run = decode_new(&c->x.m, &c->x.c, c->t, context(c));
    c->turns = 0;
}

/* The ids of one more turn: what the template puts behind an answer's end
 * token, then the message, then the assistant's header. The whole beginning
 * only in the first. */
static enum pd_code turn_ids(struct chat *c, const char *said, struct tok_ids *ids,
                             struct pd_err *err)
{
    struct tok_message m[3];
    struct tok_ids before;
    size_t n = 0, skip = 0;
    if (c->o->system)
        m[n++] = (struct tok_message){"system", c->o->system};
    tok_ids_init(&before);
    enum pd_code rc = PD_OK;
    if (c->turns > 0) {
        m[n++] = (struct tok_message){"assistant", ""};
        rc = tok_chat_render(c->form, m, n, false, &before, NULL, err);
        /* the answer's end token stands in the context already */
        skip = before.n;
        while (skip > 0 && before.v[skip - 1] != tok_chat_eot(c->form))
            skip--;
    }
    m[n++] = (struct tok_message){"user", said};
    if (rc == PD_OK)
        rc = tok_chat_render(c->form, m, n, true, ids, NULL, err);
    tok_ids_release(&before);
    if (rc == PD_OK && skip) {
        memmove(ids->v, ids->v + skip, (ids->n - skip) * sizeof *ids->v);
        ids->n -= skip;
    }
    return rc;
}

static void say_end(const struct chat *c, enum decode_end end)
{
    if (c->person && end == DECODE_LENGTH)
        printf(_("(cut at --max-tokens %d)\n"), (int)c->o->max_tokens);
    else if (end == DECODE_CONTEXT)
        fprintf(stderr, _("podium-train: the context of %d tokens is full: /reset begins "
                          "anew\n"), context(c));
}

/* An answer that did not end by itself gets its end token, so that the next turn
 * stands where the template has it. */
static enum pd_code close_answer(struct chat *c, enum decode_end end, struct pd_err *err)
{
    struct decode_options d = {.most = 0};
    struct str none;
    int32_t id = tok_chat_eot(c->form);
    if (end == DECODE_EOS || end == DECODE_CONTEXT ||
        decode_len(c->run) + 1 >= context(c))
        return PD_OK;
    str_init(&none, 16);
    enum pd_code rc = decode_run(c->run, &d, &id, 1, &none, NULL, &end, err);
    str_release(&none);
    return rc;
}

static enum pd_code answer(struct chat *c, const char *said, enum decode_end *end,
                           struct pd_err *err)
{
    struct decode_options d;
    struct tok_ids ids;
    struct str text;
    cmd_decode_options(c->o, &c->x, c->t, c->form, &d);
    d.say = c->person ? cmd_say_live : NULL;
    tok_ids_init(&ids);
    str_init(&text, CMD_TEXT_CEILING);
    enum pd_code rc = turn_ids(c, said, &ids, err);
    int room = context(c) - decode_len(c->run);
    if (rc == PD_OK && ids.n >= (size_t)room) {
        *end = DECODE_CONTEXT;
    } else if (rc == PD_OK) {
        rc = decode_run(c->run, &d, ids.v, ids.n, &text, NULL, end, err);
        if (rc == PD_OK && c->person)
            printf("\n");
        else if (rc == PD_OK)
            cmd_say(text.p, text.len);
        fflush(stdout);
        c->turns++;
        if (rc == PD_OK && *end != DECODE_STOPPED)
            rc = close_answer(c, *end, err);
    }
    tok_ids_release(&ids);
    str_release(&text);
    return rc;
}

/* A line without its end; false: the end of stdin, or a signal. */
static bool read_line(const struct chat *c, char **line, size_t *cap)
{
    if (c->person)
        printf("> ");
    fflush(stdout);
    errno = 0;
    ssize_t n = getline(line, cap, stdin);
    if (n < 0)
        return false;
    while (n > 0 && ((*line)[n - 1] == '\n' || (*line)[n - 1] == '\r'))
        (*line)[--n] = '\0';
    return true;
}

static enum pd_code talk(struct chat *c, bool *stopped, struct pd_err *err)
{
    enum pd_code rc = PD_OK;
    char *line = NULL;
    size_t cap = 0;
    restart(c);
    if (c->person)
        printf(_("/reset begins anew, /quit ends. The context has room for %d tokens.\n"),
               context(c));
    while (rc == PD_OK && !*stopped && read_line(c, &line, &cap) && !str_eq(line, "/quit")) {
        enum decode_end end = DECODE_EOS;
        if (str_eq(line, "/reset"))
            restart(c);
        else if (*line) {
            rc = answer(c, line, &end, err);
            say_end(c, end);
            *stopped = end == DECODE_STOPPED;
        }
    }
    *stopped = *stopped || *cmd_stop_flag();
    free(line);
    return rc;
}

static enum pd_code open_chat(struct chat *c, struct pd_err *err)
{
    if (cmd_model_open(&c->x, c->o, err) != PD_OK || tok_load(c->o->t.model, &c->t, err) != PD_OK ||
        cmd_chat_form(c->o, c->t, &c->form, err) != PD_OK)
        return err->code;
    if (c->x.adapted)
        lora_merge(&c->x.lora, &c->x.m);
    return PD_OK;
}

int cmd_chat(const struct options *o)
{
    struct chat c = {.o = o, .person = isatty(STDIN_FILENO) && isatty(STDOUT_FILENO)};
    struct pd_err err;
    bool stopped = false;
    enum pd_code rc = open_chat(&c, &err);
    if (rc == PD_OK)
        rc = talk(&c, &stopped, &err);
    decode_free(c.run);
    tok_chat_free(c.form);
    if (c.t)
        tok_free(c.t);
    cmd_model_close(&c.x);
    if (rc != PD_OK)
        return cmd_fail(&err);
    return stopped ? TRAINER_TERMINATED : TRAINER_DONE;
}
