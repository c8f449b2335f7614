/* tui_plain.c - the plain console: state to lines, lines to commands, what is
 * news and what is not. */
#include "core/base/path.h"
#include "tests/screens/fixture.h"
#include "tui/plain_priv.h"

struct bench {
    struct plain p;
    struct effects out;
    char last[64], arg[4096];    /* the last command sent */
};

static void send(void *arg, struct msg *m)
{
    struct bench *b = arg;
    if (m->kind == MSG_COMMAND) {
        str_copy(b->last, sizeof b->last, json_str(m->body, "name", ""));
        str_copy(b->arg, sizeof b->arg, json_str(m->body, "args[0]", ""));
    }
    m->at_ms = FIXTURE_NOW;
    app_apply(b->p.app, m, &b->out);
    msg_free(m);
}

static struct bench *bench(const char *lang, bool lab)
{
    struct bench *b = xcalloc(1, sizeof *b);
    b->p.app = fx_app(lang, 80, 24, GLYPH_ASCII);
    b->p.send = send;
    b->p.arg = b;
    b->p.width = 72;
    plain_say_init(&b->p.say);
    str_init(&b->p.out, 1 << 20);
    effects_init(&b->out);
    if (lab)
        fx_lab(b->p.app);
    return b;
}

static void bench_free(struct bench *b)
{
    effects_release(&b->out);
    str_release(&b->p.out);
    fx_free(b->p.app);
    free(b);
}

/* What a typed line says; borrowed until the next one. */
static const char *type(struct bench *b, const char *line)
{
    str_clear(&b->p.out);
    b->last[0] = b->arg[0] = '\0';
    plain_take(&b->p, line);
    plain_look(&b->p);
    return b->p.out.p;
}

static const char *look(struct bench *b)
{
    str_clear(&b->p.out);
    plain_look(&b->p);
    return b->p.out.p;
}

#define HAS(text, part) CHECK_MSG(strstr((text), (part)) != NULL, "no \"%s\" in:\n%s", part, text)
#define LACKS(text, part) CHECK_MSG(strstr((text), (part)) == NULL, "\"%s\" in:\n%s", part, text)

/* --- lines ---------------------------------------------------------------------------- */
static void wraps(const char *text, int width, bool ascii, const char *want)
{
    struct str out;
    str_init(&out, 4096);
    plain_wrap(text, width, ascii, &out);
    CHECK_STR(out.p, want);
    str_release(&out);
}

TEST(lines_end_at_the_width)
{
    wraps("one two three four five six\n", 20, false, "one two three four\nfive six\n");
    wraps("  an indent stays below itself\n", 20, false, "  an indent stays\n  below itself\n");
    wraps("12: a numbered line goes on behind its number\n", 24, false,
          "12: a numbered line goes\n    on behind its number\n");
    wraps("集群由一组节点组成，每个节点都会说明。\n", 20, false,
          "集群由一组节点组成，\n每个节点都会说明。\n");
    wraps("\n\n", 40, false, "\n\n");
    wraps("no end", 40, false, "no end\n");
}

TEST(nothing_steers_the_terminal)
{
    wraps("a\033[31mred\033]0;title\007b\rc\bd\n", 40, false, "aredbcd\n");
    wraps("\xe2\x9c\x93 done \xe2\x86\x92 there \xe4\xb8\xad\n", 40, true, "+ done > there ?\n");
}

TEST(secrets_are_masked)
{
    struct str out;
    str_init(&out, 4096);
    plain_wrap("Authorization: Bearer abcdefghijklmnop0123456789\n", 72, false, &out);
    LACKS(out.p, "abcdefghijklmnop");
    str_release(&out);
}

/* --- reading --------------------------------------------------------------------------- */
TEST(where_says_lab_step_and_cluster)
{
    struct bench *b = bench("en", true);
    const char *s = type(b, "where");
    HAS(s, "Lab: LoRA on Gaudi");
    HAS(s, "Step 3 of 4: ");
    HAS(s, "It is open.");
    HAS(s, "1 of 3 checks pass.");
    HAS(s, "Cluster class-a, namespace stu-07: connected");
    bench_free(b);
}

TEST(a_wrong_check_says_expected_and_found)
{
    struct bench *b = bench("en", true);
    const char *s = type(b, "checks");
    HAS(s, "Check 2 of 3, WRONG: ");
    HAS(s, "resources.limits['habana.ai/gaudi']");
    HAS(s, "Expected: 1. Found: 3.");
    HAS(s, "The Job asks for 3 cards; this lab uses one.");
    HAS(s, "Check 3 of 3, NOT YET: ");
    HAS(type(b, "why"), "Check 2 of 3, WRONG");
    LACKS(b->p.out.p, "Check 1 of 3");
    bench_free(b);
}

TEST(the_cluster_is_told_object_by_object)
{
    struct bench *b = bench("en", true);
    HAS(type(b, "nodes"), "Nodes: 3, Ready: 3.");
    HAS(b->p.out.p, "Node gaudi-0: Ready, simulated, habana.ai/gaudi: at least 1.0 in use of 8.0, "
                    "cpu: at least 4.0 in use of 96.0.");
    HAS(type(b, "pods"), "Pod dataaccess-0: Running, 1 of 1 containers ready, 2 restarts, on node "
                         "xeon-0, age 2d.");
    HAS(b->p.out.p, "Pod lora-gaudi-x7k2p: ContainerCreating, 0 of 1");
    const char *s = type(b, "events");
    HAS(s, "9s ago, Scheduled");
    CHECK(strstr(s, "Scheduled") < strstr(s, "BackOff"));    /* the newest last */
    LACKS(type(b, "events 1"), "Scheduled");
    bench_free(b);
}

TEST(a_lost_link_says_how_old_things_are)
{
    struct bench *b = bench("en", true);
    look(b);
    b->p.app->s->cluster.link = LINK_DOWN;
    b->p.app->s->cluster.last_ok_ms = FIXTURE_NOW - 12000;
    str_copy(b->p.app->s->cluster.error, sizeof b->p.app->s->cluster.error, "no route");
    const char *s = look(b);
    HAS(s, "The link to the cluster is lost.");
    HAS(s, "The cluster can't be reached: no route");
    HAS(s, "as it was 12s ago");
    HAS(type(b, "pods"), "No link: this is as it was 12s ago.");
    CHECK_STR(look(b), "");                      /* said once */
    bench_free(b);
}

TEST(the_curve_is_words_and_a_table)
{
    struct bench *b = bench("en", true);
    HAS(type(b, "curve"), "No training log yet");
    fx_run(b->p.app->s);
    send(b, msg_new(MSG_TICK, NULL));
    const char *s = type(b, "curve");
    HAS(s, "Training step 310 of 500, loss ");
    HAS(s, "average ");
    HAS(s, "7m56s to 9m16s left");
    HAS(s, "spike 2.60 @ 208");
    HAS(s, "Best validation loss ");
    HAS(s, "  Step 1: loss 3.");
    HAS(s, "  Step 310: loss ");
    int rows = 0;
    for (const char *p = s; (p = strstr(p, "\n  Step ")); p++)
        rows++;
    CHECK_INT(rows, 10);
    bench_free(b);
}

/* --- commands --------------------------------------------------------------------------- */
TEST(every_name_end_and_key_is_a_command)
{
    struct bench *b = bench("en", true);
    static const struct { const char *typed, *command; } table[] = {
        {"step.check", "step.check"}, {"check", "step.check"}, {"c", "step.check"},
        {"hint", "step.hint"}, {"H", "step.hint"}, {"N", "step.prev"}, {"close", "lab.close"}};
    for (size_t i = 0; i < ARRAY_LEN(table); i++) {
        b->p.app->s->progress[2].hints_shown = 0;
        type(b, table[i].typed);
        CHECK_STR(b->last, table[i].command);
        b->last[0] = '\0';
        if (str_eq(table[i].command, "lab.close"))
            break;
    }
    bench_free(b);
}

TEST(a_wrong_word_is_helped)
{
    struct bench *b = bench("en", true);
    HAS(type(b, "chekc"), "There is no command 'chekc'. Did you mean check?");
    HAS(type(b, "zzzzzzzz"), "Type help");
    HAS(type(b, "zoom"), "of the screen");
    HAS(type(b, "train.pause"), "can't be done now");
    CHECK_STR(type(b, "   "), "");
    CHECK_STR(type(b, "# a remark"), "");
    bench_free(b);
}

TEST(words_of_a_lab_need_a_lab)
{
    struct bench *b = bench("en", false);
    HAS(type(b, "checks"), "needs an open lab");
    HAS(type(b, "where"), "no lab is open");
    type(b, "3");
    CHECK_STR(b->last, "lab.open");
    CHECK_STR(b->arg, "lora-gaudi");
    bench_free(b);
}

TEST(the_number_runs_what_the_menu_said)
{
    struct bench *b = bench("en", true);
    HAS(type(b, "1"), "no 1 in the menu");
    const char *s = type(b, "menu"), *check = strstr(s, ". step.check: ");
    CHECK(check != NULL);
    char n[2] = {check[-1], '\0'};
    LACKS(s, "step.next");                       /* the step is not done */
    type(b, n);
    CHECK_STR(b->last, "step.check");
    bench_free(b);
}

TEST(help_lists_what_works_now)
{
    struct bench *b = bench("en", true);
    const char *s = type(b, "help");
    HAS(s, "wait WHAT [SECONDS]: ");
    HAS(s, "step.check, or c: ");
    LACKS(s, "train.pause");                     /* nothing trains */
    LACKS(s, "pane.next");
    fx_run(b->p.app->s);
    HAS(type(b, "help"), "train.pause: ");
    bench_free(b);
    b = bench("en", false);
    LACKS(type(b, "help"), "replace");
    bench_free(b);
}

TEST(a_question_takes_the_next_line)
{
    struct bench *b = bench("en", true);
    struct str prompt;
    fx_run(b->p.app->s);
    HAS(type(b, "rate"), "learning rate? Type it and Enter.");
    str_init(&prompt, 256);
    plain_prompt(&b->p, &prompt);
    CHECK_STR(prompt.p, "learning rate? ");
    str_release(&prompt);
    HAS(type(b, "fast"), "'fast' is no rate");
    type(b, "inspect");
    CHECK_INT(b->p.app->prompt.kind, PROMPT_ASK);
    type(b, "");                                 /* Enter alone takes what is offered */
    CHECK_INT(b->p.app->prompt.kind, PROMPT_NONE);
    bench_free(b);
}

/* --- news -------------------------------------------------------------------------------- */
TEST(only_changes_of_results_are_news)
{
    struct bench *b = bench("en", true);
    struct evidence *e = b->p.app->s->progress[2].checks;
    HAS(look(b), "Step 3 of 4: ");               /* the step is read out once */
    CHECK_STR(look(b), "");
    e[2].result = CHECK_UNKNOWN;
    CHECK_STR(look(b), "");
    e[2].result = CHECK_PASS;
    HAS(look(b), "Check 3 of 3, PASS");
    e[2].result = CHECK_NOT_YET;                 /* comes and goes within a moment */
    CHECK_STR(look(b), "");
    e[2].result = CHECK_PASS;
    CHECK_STR(look(b), "");
    str_copy(e[1].actual, sizeof e[1].actual, "2");
    HAS(look(b), "Expected: 1. Found: 2.");
    bench_free(b);
}

TEST(an_event_is_said_once_and_not_when_quiet)
{
    struct bench *b = bench("en", true);
    struct evidence *e = b->p.app->s->progress[2].checks;
    look(b);
    str_copy(e[2].event, sizeof e[2].event, "Pulling: Pulling image");
    HAS(look(b), "Not yet. The newest event: Pulling: Pulling image");
    CHECK_STR(look(b), "");
    type(b, "quiet");
    str_copy(e[2].event, sizeof e[2].event, "Pulled: it is there");
    CHECK_STR(look(b), "");
    bench_free(b);
}

TEST(an_operation_is_told_in_tenths)
{
    struct bench *b = bench("en", true);
    struct op *op = &b->p.app->s->op;
    int lines = 0;
    look(b);
    fx_op(b->p.app->s);
    HAS(look(b), "push train:1.0: started.");
    for (op->done = 0; op->done < op->total; op->done += op->total / 100) {
        const char *s = look(b);
        lines += *s != '\0';
        if (*s)
            HAS(s, "percent, ");
    }
    CHECK(lines >= 9 && lines <= 10);
    op->ended = true;
    HAS(look(b), "push train:1.0: done.");
    CHECK_STR(look(b), "");
    bench_free(b);
}

TEST(the_loss_is_told_at_intervals)
{
    struct bench *b = bench("en", true);
    struct run *r = &b->p.app->s->run;
    look(b);
    str_copy(r->pod, sizeof r->pod, "p");
    str_copy(r->state, sizeof r->state, "running");
    r->steps_total = 100;
    int lines = 0;
    for (int i = 1; i <= 100; i++) {
        series_append(r->loss, i, 3.0 / i);
        r->step = i;
        lines += strstr(look(b), "Training step") != NULL;
    }
    CHECK(lines >= 10 && lines <= 12);
    str_copy(r->state, sizeof r->state, "done");
    HAS(look(b), "done");
    HAS(b->p.out.p, "Verdict: the training is done");
    bench_free(b);
}

/* --- waiting ------------------------------------------------------------------------------ */
TEST(waiting_ends_by_what_it_waits_for)
{
    struct bench *b = bench("en", true);
    look(b);
    HAS(type(b, "wait op"), "Done waiting");
    HAS(type(b, "wait"), "Waiting until this step is done; at most 600 seconds.");
    CHECK(!plain_free(&b->p));
    b->p.app->s->progress[2].state = STEP_DONE;
    HAS(look(b), "Done waiting");
    CHECK(!b->p.missed);
    HAS(type(b, "wait tea"), "wait needs one of");
    HAS(type(b, "wait run 5"), "at most 5 seconds");
    b->p.app->now_ms += 5001;
    HAS(look(b), "the time is up");
    CHECK(b->p.missed);
    bench_free(b);
}

TEST(a_check_that_stays_wrong_ends_the_waiting)
{
    struct bench *b = bench("en", true);
    look(b);
    type(b, "wait checks");
    look(b);
    CHECK_INT(b->p.wait.kind, PLAIN_WAIT_CHECKS);
    b->p.app->now_ms += 4001;
    HAS(look(b), "it can't be that this step is done");
    CHECK(b->p.missed);
    bench_free(b);
}

/* --- Chinese ------------------------------------------------------------------------------- */
TEST(everything_is_said_in_chinese_too)
{
    struct bench *b = bench("zh", true);
    static const char *const words[] = {"where", "checks", "nodes", "pods", "menu", "read", "curve",
                                        "steps", "wait", "zzz", "hint", "status"};
    fx_run(b->p.app->s);
    send(b, msg_new(MSG_TICK, NULL));
    for (size_t i = 0; i < ARRAY_LEN(words); i++) {
        const char *s = type(b, words[i]);
        b->p.wait.kind = PLAIN_WAIT_NONE;
        LACKS(s, "Step ");
        LACKS(s, "Check ");
        LACKS(s, " of ");
        LACKS(s, "Type ");
    }
    bench_free(b);
}

int main(int argc, char **argv)
{
    return t_main(argc, argv);
}
