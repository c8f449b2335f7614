/* train_rx.c - regular expressions as Python and Rust write them. */
#include "core/train/rx.h"
#include "tests/t.h"

static bool full(const char *pattern, const char *text)
{
    struct rx *r;
    struct pd_err err;
    CHECK_OK(rx_new(pattern, strlen(pattern), &r, &err));
    bool yes = rx_full(r, text, strlen(text));
    rx_free(r);
    return yes;
}

TEST(the_whole_text_must_match)
{
    const char *q = "model.layers.3.self_attn.q_proj";
    CHECK(full("model\\.layers\\.\\d+\\.self_attn\\.(q|v)_proj", q));
    CHECK(full(".*\\.(q_proj|v_proj)$", q));
    CHECK(full("^(?!.*vision).*(?:q_proj|v_proj).*", q));
    CHECK(!full("self_attn\\.q_proj", q));
    CHECK(!full("model", q));
    CHECK(full("q|q_proj", "q_proj"));             /* the longer alternative too */
}

TEST(classes_are_unicodes)
{
    struct rx *r;
    struct pd_err err;
    size_t start, end;
    const char *text = "ab 中文٣9";
    const char *p = "\\s+(?!\\S)|\\s*\\p{L}+|\\p{N}{1,3}";
    CHECK_OK(rx_new(p, strlen(p), &r, &err));
    CHECK(rx_find(r, text, strlen(text), 2, &start, &end));
    CHECK(start == 2 && end == 9);
    CHECK(rx_find(r, text, strlen(text), 9, &start, &end));
    CHECK(start == 9 && end == 12);
    CHECK(!rx_find(r, text, strlen(text), 12, &start, &end));
    rx_free(r);
}

TEST(a_wrong_expression_is_named_with_its_place)
{
    struct rx *r;
    struct pd_err err;
    CHECK_INT(rx_new("q_(proj", 7, &r, &err), PD_PARSE);
    CHECK_HAS(err.msg, "q_(proj");
    CHECK_HAS(err.msg, "byte 7");
}

TEST(a_hostile_expression_ends)
{
    char text[64];
    memset(text, 'a', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    CHECK(!full("(a|aa|a?)*b", text));
}

T_MAIN
