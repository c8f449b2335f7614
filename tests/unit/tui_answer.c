/* tui_answer.c - the trainer's answers as a person reads them. */
#include "tests/t.h"
#include "tui/answer.h"

#define HEAD "{\"v\":1,\"ev\":\"answer\",\"id\":\"p1\",\"cmd\":"

static void says(const char *line, const char *want, enum answer_kind kind)
{
    struct str s;
    str_init(&s, 4096);
    CHECK_INT(answer_say(line, &s), kind);
    CHECK_STR(s.p, want);
    str_release(&s);
}

TEST(each_command_has_a_sentence)
{
    says(HEAD "\"pause\",\"ok\":true,\"step\":37}", "paused at step 37", ANSWER_SAYS);
    says(HEAD "\"resume\",\"ok\":true,\"step\":37}", "goes on from step 37", ANSWER_SAYS);
    says(HEAD "\"step\",\"ok\":true,\"step\":37,\"n\":3}",
         "takes 3 steps from step 37, then waits", ANSWER_SAYS);
    says(HEAD "\"step\",\"ok\":true,\"step\":37,\"n\":1}",
         "takes one step from step 37, then waits", ANSWER_SAYS);
    says(HEAD "\"rate\",\"ok\":true,\"step\":37,\"rate\":0.002,\"lr\":0.00194}",
         "rate 0.002 from step 37 on; the schedule makes it 0.00194 now", ANSWER_SAYS);
    says(HEAD "\"new\",\"ok\":true,\"step\":1}", "the trainer answered new at step 1", ANSWER_SAYS);
    says("{\"v\":1,\"ev\":\"step\",\"step\":1}", "", ANSWER_NONE);
    says("no record", "", ANSWER_NONE);
    says(NULL, "", ANSWER_NONE);
}

TEST(a_refusal_names_its_reason)
{
    says(HEAD "\"rate\",\"ok\":false,\"text\":\"no number\",\"hint\":\"rate 1e-3\"}",
         "the trainer refused rate: no number (rate 1e-3)", ANSWER_SAYS);
}

static const char norms[] =
    HEAD "\"inspect\",\"ok\":true,\"step\":9,\"what\":\"norms\",\"tensors\":5,"
    "\"weight_norm\":20.66,\"gnorm\":0.953,\"text\":\""
    "base_model.model.model.layers.0.self_attn.q_proj.lora_A.weight w 2.715 g 0.0209; "
    "base_model.model.model.layers.0.mlp.up_proj.lora_B.weight w 1.799 g 0.5; "
    "odd w 3 g 4\"}";

static void row_is(const struct rows *r, int i, const char *want)
{
    struct str s;
    str_init(&s, 4096);
    CHECK(i < r->n);
    if (i < r->n)
        rows_text(&r->v[i], &s);
    CHECK_STR(s.p, want);
    str_release(&s);
}

TEST(norms_are_a_table)
{
    struct rows r;
    says(norms, "norms @ 9: weights 20.66, grad 0.953", ANSWER_SHOWS);
    rows_init(&r, GLYPH_UNICODE);
    CHECK(answer_rows(norms, &r, 40, 8));
    CHECK_INT(r.n, 6);
    row_is(&r, 1, "norm of                   weight    grad");
    row_is(&r, 2, "0.q_proj.A                 2.715  0.0209");
    row_is(&r, 3, "0.up_proj.B                1.799   0.500");
    row_is(&r, 4, "odd                        3.000   4.000");
    row_is(&r, 5, "2 more of 5 are not told");
    rows_release(&r);
}

TEST(a_small_table_counts_what_it_leaves_out)
{
    struct rows r;
    rows_init(&r, GLYPH_UNICODE);
    CHECK(answer_rows(norms, &r, 40, 4));
    CHECK_INT(r.n, 4);
    row_is(&r, 3, "4 more of 5 (z gives room)");
    rows_release(&r);
}

TEST(a_corner_is_a_square)
{
    struct rows r;
    static const char line[] =
        HEAD "\"inspect\",\"ok\":true,\"step\":9,\"what\":\"tensor\",\"name\":\"x\",\"rows\":8,"
        "\"cols\":8,\"row\":0,\"col\":0,\"v00\":1,\"v01\":-2,\"v10\":0.00214,\"v11\":0.05}";
    rows_init(&r, GLYPH_UNICODE);
    CHECK(answer_rows(line, &r, 40, 8));
    row_is(&r, 1, "     1.000    -2.000");
    row_is(&r, 2, "   0.00214    0.0500");
    rows_release(&r);
}

T_MAIN
