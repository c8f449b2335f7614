/* labs_quiz.c - questions: right, wrong, not to be seen; solutions and notes. */
#include "tests/unit/labs_fixture.h"

#include "labs/quiz.h"
#include "labs/step_text.h"

#define HEAD "podium: 1\nid: x\ntitle: X\nrun: {job: j, container: c}\n" \
             "vars: {N: {number: [7, 7]}}\n"
#define STEP HEAD "steps:\n  - id: a\n    title: A\n    say: s\n    quiz:\n"

static void ask(struct fx *f, const char *quiz)
{
    char *yaml = xasprintf(STEP "      - {id: q, ask: Which?, %s}\n", quiz);
    fx_open(f, yaml, NULL);
    fx_all_synced(f);
    free(yaml);
}

static enum check_result answer(struct fx *f, const char *text)
{
    fx_cmd(f, "quiz.answer", text, NULL);
    return f->s->progress[0].quiz[0].result;
}

static const char choices[] = "choice: [{say: good, right: yes, because: so it is}, "
                              "{say: bad, because: not bad}, {say: worse}]";

TEST(a_choice_is_answered_by_its_letter)
{
    struct fx f;
    int order[QUIZ_CHOICES];
    ask(&f, choices);
    quiz_order(f.s, 0, 0, order);
    for (int place = 0; place < 3; place++) {
        char letter[2] = {(char)('a' + place), '\0'};
        if (order[place] == 1) {
            CHECK_INT(answer(&f, letter), CHECK_WRONG);
            CHECK_STR(f.s->progress[0].quiz[0].because, "not bad");
        }
    }
    CHECK_INT(f.s->progress[0].state, STEP_OPEN);
    CHECK_INT(answer(&f, "worse"), CHECK_WRONG);
    CHECK(*f.s->progress[0].quiz[0].because);
    CHECK_INT(answer(&f, "z"), CHECK_NOT_YET);
    CHECK_INT(f.s->progress[0].tries[0], 2);             /* what is no answer does not count */
    for (int place = 0; place < 3; place++)
        if (order[place] == 0) {
            char letter[2] = {(char)('A' + place), '\0'};
            CHECK_INT(answer(&f, letter), CHECK_PASS);
        }
    CHECK_INT(f.s->progress[0].state, STEP_DONE);
    fx_end(&f);
}

TEST(checking_never_answers)
{
    struct fx f;
    ask(&f, choices);
    for (int i = 0; i < 4; i++) {
        fx_cmd(&f, "step.check", NULL, NULL);
        fx_cmd(&f, "step.run", NULL, NULL);
        fx_cmd(&f, "step.next", NULL, NULL);
    }
    CHECK_INT(f.s->progress[0].state, STEP_OPEN);
    CHECK(!f.s->finished);
    fx_end(&f);
}

TEST(several_right_choices_are_all_needed)
{
    struct fx f;
    struct str right;
    ask(&f, "choice: [{say: x1, right: yes}, {say: x2, right: yes}, {say: x3}]");
    CHECK_INT(answer(&f, "x1"), CHECK_WRONG);
    CHECK_HAS(f.s->progress[0].quiz[0].because, "not all");
    CHECK_INT(answer(&f, "abc"), CHECK_WRONG);
    str_init(&right, 64);
    CHECK(quiz_right(f.s, 0, 0, &right));
    CHECK_INT(answer(&f, right.p), CHECK_PASS);
    str_release(&right);
    fx_end(&f);
}

TEST(the_order_is_drawn_once_an_attempt)
{
    struct fx f;
    int first[QUIZ_CHOICES], again[QUIZ_CHOICES], other = 0;
    ask(&f, choices);
    quiz_order(f.s, 0, 0, first);
    quiz_order(f.s, 0, 0, again);
    CHECK(memcmp(first, again, sizeof first) == 0);
    for (int seed = 1; seed < 40; seed++) {
        json_put_num(session_priv(f.s)->progress, "seed", seed);
        quiz_order(f.s, 0, 0, again);
        other += memcmp(first, again, sizeof first) != 0;
    }
    CHECK(other > 10);
    fx_end(&f);
}

TEST(numbers_have_a_tolerance)
{
    struct fx f;
    ask(&f, "number: {is: 2.5, tolerance: 0.02}, because: [{has: \"25\", tell: the point}]");
    CHECK_INT(answer(&f, "two"), CHECK_NOT_YET);
    CHECK_INT(answer(&f, "25"), CHECK_WRONG);
    CHECK_STR(f.s->progress[0].quiz[0].because, "the point");
    CHECK_INT(answer(&f, "2.56"), CHECK_WRONG);
    CHECK_INT(answer(&f, " 2.54 "), CHECK_PASS);
    fx_end(&f);
    ask(&f, "number: {is: \"${N}\"}");
    CHECK_INT(answer(&f, "8"), CHECK_WRONG);
    CHECK_INT(answer(&f, "7.0"), CHECK_PASS);
    fx_end(&f);
}

TEST(a_number_of_the_cluster_is_unknown_without_it)
{
    struct fx f;
    ask(&f, "number: {count: {kind: nodes, where: {spec.a: 1}}}");
    fx_list(&f, "nodes", "[{\"metadata\":{\"name\":\"n\"},\"spec\":{\"a\":1}},"
                         "{\"metadata\":{\"name\":\"m\"},\"spec\":{\"a\":2}}]");
    fx_cluster(&f, "down");
    CHECK_INT(answer(&f, "1"), CHECK_UNKNOWN);
    CHECK_INT(f.s->progress[0].tries[0], 0);
    fx_cluster(&f, "up");
    CHECK_INT(answer(&f, "2"), CHECK_WRONG);
    CHECK_INT(answer(&f, "1"), CHECK_PASS);
    fx_list(&f, "nodes", "[]");                          /* right once stays right */
    CHECK_INT(f.s->progress[0].state, STEP_DONE);
    fx_end(&f);
}

TEST(texts_and_fields)
{
    struct fx f;
    ask(&f, "text: {is: [Pending, waiting]}");
    CHECK_INT(answer(&f, "Running"), CHECK_WRONG);
    CHECK_INT(answer(&f, "WAITING"), CHECK_PASS);
    fx_end(&f);
    ask(&f, "text: {is: Pending, case: yes}");
    CHECK_INT(answer(&f, "pending"), CHECK_WRONG);
    CHECK_INT(answer(&f, "Pending"), CHECK_PASS);
    fx_end(&f);
    ask(&f, "text: {field: {kind: nodes, path: metadata.name}}");
    CHECK_INT(answer(&f, "n2"), CHECK_UNKNOWN);
    fx_list(&f, "nodes", "[{\"metadata\":{\"name\":\"n1\"}},{\"metadata\":{\"name\":\"n2\"}}]");
    CHECK_INT(answer(&f, "n2"), CHECK_PASS);
    fx_end(&f);
}

TEST(a_figure_of_the_own_run)
{
    struct fx f;
    ask(&f, "number: {run: steps}");
    CHECK_INT(answer(&f, "9"), CHECK_UNKNOWN);
    fx_end(&f);
}

TEST(answers_survive)
{
    struct fx f;
    ask(&f, choices);
    answer(&f, "bad");
    char *saved = json_text(session_priv(f.s)->progress, 0);
    fx_cmd(&f, "lab.close", NULL, NULL);
    fx_cmd(&f, "lab.open", "x", NULL);
    fx_progress(&f, NULL, saved);
    CHECK_INT(f.s->progress[0].quiz[0].result, CHECK_WRONG);
    CHECK_INT(f.s->progress[0].tries[0], 1);
    CHECK_INT(answer(&f, "good"), CHECK_PASS);
    free(saved);
    fx_end(&f);
}

/* --- the solution ---------------------------------------------------------------------- */

TEST(the_solution_comes_after_the_hints_and_is_recorded)
{
    struct fx f;
    struct str s;
    fx_open(&f, HEAD "steps:\n  - id: a\n    title: A\n    say: s\n    hints: [h1, h2]\n"
                     "    solution: \"Type ${N}\"\n    notes: n ${N}\n"
                     "    checks: [{title: T, count: {kind: nodes, is: {min: 1}}}]\n", NULL);
    fx_all_synced(&f);
    fx_cmd(&f, "step.hint", NULL, NULL);
    fx_cmd(&f, "step.solution", "yes", NULL);
    CHECK(!f.s->progress[0].solution_shown);
    CHECK_HAS(f.s->message, "1 of 2");
    fx_cmd(&f, "step.hint", NULL, NULL);
    fx_cmd(&f, "step.solution", NULL, NULL);
    CHECK(!f.s->progress[0].solution_shown);             /* not without a yes */
    fx_cmd(&f, "step.solution", "yes", NULL);
    CHECK(f.s->progress[0].solution_shown);
    CHECK(json_bool(session_priv(f.s)->progress, "steps.a.solution", false));
    str_init(&s, 1024);
    CHECK(step_text_solution(f.s, &s));
    CHECK_STR(s.p, "Type 7\n");
    str_clear(&s);
    CHECK(step_text_notes(f.s, &s));
    CHECK_STR(s.p, "n 7\n");
    str_release(&s);
    fx_end(&f);
}

/* --- what the parser refuses ------------------------------------------------------------- */

TEST(questions_that_nobody_can_answer_are_refused)
{
    static const struct { const char *quiz, *said; } bad[] = {
        {"choice: [{say: a}, {say: b}]", "no choice"},
        {"choice: [{say: a, right: yes}, {say: b, right: yes}]", "every choice"},
        {"choice: [{say: a, right: yes}]", "2 to"},
        {"number: {tolerance: 1}", "exactly one"},
        {"number: {is: 1, run: steps}", "exactly one"},
        {"number: {run: speed}", "no figure"},
        {"text: {is: []}", "no answer"},
        {"text: {field: {kind: nodes}}", "path"},
        {"text: {is: a}, number: {is: 1}", "exactly one"},
        {"chioce: []", "did you mean \"choice\""},
    };
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        struct lab *lab = NULL;
        struct pd_err err = {0};
        char *yaml = xasprintf(STEP "      - {id: q, ask: Which?, %s}\n", bad[i].quiz);
        CHECK_MSG(lab_parse("l.yaml", yaml, strlen(yaml), NULL, &lab, &err) == PD_LAB, "%s",
                  bad[i].quiz);
        CHECK_HAS(err.msg, bad[i].said);
        CHECK_INT(err.line, 11);
        free(yaml);
    }
}

T_MAIN
