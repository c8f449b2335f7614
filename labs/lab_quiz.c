/* lab_quiz.c - the lab parser: questions. A question that nobody can answer
 * right is refused here. */
#include "core/base/i18n.h"
#include "core/base/str.h"
#include "labs/lab_reader.h"
#include "labs/quiz.h"

static const struct lab_key quiz_keys[] = {
    {"id", LK_ID, true},       {"ask", LK_TEXT, true},   {"choice", LK_SEQ, false},
    {"number", LK_MAP, false}, {"text", LK_MAP, false},  {"because", LK_SEQ, false},
    {"why", LK_TEXT, false},   {NULL, LK_ANY, false}};
static const struct lab_key choice_keys[] = {
    {"say", LK_TEXT, true}, {"right", LK_BOOL, false}, {"because", LK_TEXT, false},
    {NULL, LK_ANY, false}};
static const struct lab_key number_keys[] = {
    {"is", LK_STR, false},     {"count", LK_MAP, false},     {"field", LK_MAP, false},
    {"run", LK_STR, false},    {"tolerance", LK_NUM, false}, {"within", LK_NUM, false},
    {NULL, LK_ANY, false}};
static const struct lab_key text_keys[] = {
    {"is", LK_ANY, false}, {"field", LK_MAP, false}, {"case", LK_BOOL, false},
    {NULL, LK_ANY, false}};
static const struct lab_key from_keys[] = {
    {"kind", LK_RES, true},      {"name", LK_STR, false}, {"job", LK_STR, false},
    {"where", LK_EXPECT, false}, {"path", LK_STR, false}, {NULL, LK_ANY, false}};

static enum pd_code read_choices(struct lab_reader *r, const struct ynode *n, struct lab_quiz *q)
{
    bool right = false, wrong = false;
    if (yaml_count(n) < 2 || yaml_count(n) > QUIZ_CHOICES)
        return lab_reader_bad(r, n, _("a question has 2 to %d choices"), QUIZ_CHOICES);
    q->choices = lab_reader_many(r, yaml_count(n), sizeof *q->choices);
    for (const struct ynode *c = n->first; c; c = c->next) {
        enum pd_code rc = lab_reader_keys(r, c, choice_keys, "choice");
        rc = rc ? rc : lab_reader_vars_known(r, c);
        if (rc)
            return rc;
        struct lab_choice *w = &q->choices[q->choices_n++];
        const struct ynode *is = yaml_get(c, "right");
        w->say = lab_reader_text(r, yaml_get(c, "say"));
        w->because = lab_reader_text(r, yaml_get(c, "because"));
        w->right = is && is->number != 0;
        right |= w->right;
        wrong |= !w->right;
    }
    if (!right)
        return lab_reader_bad(r, n, _("no choice of this question is right"));
    return wrong ? PD_OK : lab_reader_bad(r, n, _("every choice of this question is right"));
}

/* A number or a text is compared with exactly one source. */
static enum pd_code read_value(struct lab_reader *r, const struct ynode *n, struct lab_quiz *q)
{
    bool number = q->kind == LAB_QUIZ_NUMBER;
    const struct ynode *is = yaml_get(n, "is"), *count = yaml_get(n, "count");
    const struct ynode *field = yaml_get(n, "field"), *run = yaml_get(n, "run");
    const struct ynode *from = count ? count : field;
    enum pd_code rc = lab_reader_keys(r, n, number ? number_keys : text_keys,
                                      number ? "number" : "text");
    rc = rc ? rc : lab_reader_vars_known(r, n);
    if (rc)
        return rc;
    if (!is + !count + !field + !run != 3)
        return lab_reader_bad(r, n, number ? _("a number has exactly one of is, count, field, run")
                                           : _("a text has exactly one of is, field"));
    if (from && (rc = lab_reader_keys(r, from, from_keys, count ? "count" : "field")))
        return rc;
    if (field && !yaml_get(field, "path"))
        return lab_reader_bad(r, field, _("this %s has no \"%s\""), "field", "path");
    if (run && !quiz_run_source(run->text))
        return lab_reader_bad(r, run, _("\"%s\" is no figure of a run: %s"), run->text,
                              quiz_run_sources());
    if (is && is->kind == Y_SEQ && !yaml_count(is))
        return lab_reader_bad(r, is, _("no answer to this question is right"));
    q->args = yaml_to_json(n);
    if (is && is->kind != Y_SEQ)
        json_put_str(q->args, "is", is->text);
    return PD_OK;
}

static enum pd_code read_quiz(struct lab_reader *r, const struct ynode *c, struct lab_step *s)
{
    const struct ynode *choice = yaml_get(c, "choice"), *number = yaml_get(c, "number");
    const struct ynode *text = yaml_get(c, "text"), *id = yaml_get(c, "id");
    enum pd_code rc = lab_reader_keys(r, c, quiz_keys, "quiz");
    rc = rc ? rc : lab_reader_vars_known(r, yaml_get(c, "ask"));
    if (rc)
        return rc;
    if (lab_quiz_by_id(s, id->text, NULL))
        return lab_reader_bad(r, id, _("two questions of this step have the id \"%s\""), id->text);
    if (!choice + !number + !text != 2)
        return lab_reader_bad(r, c, _("a question has exactly one of choice, number, text"));
    struct lab_quiz *q = &s->quiz[s->quiz_n++];
    q->id = lab_reader_dup(r, id->text);
    q->ask = lab_reader_text(r, yaml_get(c, "ask"));
    q->why = lab_reader_text(r, yaml_get(c, "why"));
    q->at = lab_reader_place(c);
    q->kind = choice ? LAB_QUIZ_CHOICE : number ? LAB_QUIZ_NUMBER : LAB_QUIZ_TEXT;
    rc = lab_reader_because(r, yaml_get(c, "because"), &q->because, &q->because_n);
    if (rc)
        return rc;
    return choice ? read_choices(r, choice, q) : read_value(r, number ? number : text, q);
}

enum pd_code lab_reader_quiz(struct lab_reader *r, const struct ynode *n, struct lab_step *s)
{
    if (yaml_count(n) > QUIZ_MOST)
        return lab_reader_bad(r, n, _("a step has at most %d questions"), QUIZ_MOST);
    s->quiz = lab_reader_many(r, yaml_count(n), sizeof *s->quiz);
    for (const struct ynode *c = n ? n->first : NULL; c; c = c->next) {
        enum pd_code rc = read_quiz(r, c, s);
        if (rc)
            return rc;
    }
    return PD_OK;
}
