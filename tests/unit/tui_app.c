/* tui_app.c - the state of the console under messages. */
#include "tests/screens/fixture.h"

static void send_command(struct app *a, const char *name, const char *arg)
{
    struct effects out;
    struct json *body = json_new_object(), *args = json_new_array();
    json_put_str(body, "name", name);
    if (arg)
        json_append(args, json_new_string(arg));
    json_set(body, "args", args);
    struct msg *m = msg_new(MSG_COMMAND, body);
    m->at_ms = FIXTURE_NOW;
    effects_init(&out);
    app_apply(a, m, &out);
    effects_release(&out);
    msg_free(m);
}

static size_t effects_of(struct app *a, const char *key, enum effect_kind kind)
{
    struct effects out;
    struct json *body = json_new_object();
    json_put_str(body, "key", key);
    struct msg *m = msg_new(MSG_KEY, body);
    size_t n = 0;
    m->at_ms = FIXTURE_NOW;
    effects_init(&out);
    app_apply(a, m, &out);
    for (size_t i = 0; i < out.n; i++)
        n += out.v[i].kind == kind;
    effects_release(&out);
    msg_free(m);
    return n;
}

TEST(closing_a_lab_comes_back_to_the_catalogue)
{
    struct app *a = fx_app("en", 120, 40, GLYPH_UNICODE);
    fx_lab(a);
    CHECK_INT(a->focus, PANEL_STEP);
    fx_key(a, "3");
    fx_key(a, "z");
    CHECK(a->zoom);
    fx_key(a, "Esc");
    CHECK(!a->zoom);
    fx_key(a, "Esc");
    CHECK_INT(a->focus, PANEL_STEP);
    fx_key(a, "q");
    CHECK(a->s->lab == NULL);
    CHECK_INT(a->focus, PANEL_CATALOGUE);
    CHECK_INT(app_view(a), VIEW_CATALOGUE);
    CHECK_INT(effects_of(a, "q", EFF_QUIT), 1);
    fx_free(a);
}

TEST(the_large_curve_keeps_its_parts)
{
    struct app *a = fx_app("en", 120, 40, GLYPH_UNICODE);
    fx_lab(a);
    fx_run(a->s);
    fx_key(a, "3");
    fx_key(a, "z");
    static const enum panel_id order[] = {PANEL_RUN, PANEL_LOG, PANEL_CURVE, PANEL_RUN};
    for (size_t i = 0; i < ARRAY_LEN(order); i++) {
        struct panes l;
        fx_key(a, "Tab");
        CHECK_INT(a->focus, order[i]);
        app_layout(a, &l);
        CHECK_INT(l.n, 4);
    }
    fx_key(a, "Esc");
    CHECK_INT(a->focus, PANEL_CURVE);
    fx_free(a);
}

TEST(interrupt_twice_leaves)
{
    struct app *a = fx_app("en", 80, 24, GLYPH_UNICODE);
    CHECK_INT(effects_of(a, "C-c", EFF_QUIT), 0);
    CHECK_HAS(a->note, "^C");
    CHECK_INT(effects_of(a, "C-c", EFF_QUIT), 1);
    fx_free(a);
}

TEST(focus_walks_what_is_shown)
{
    struct app *a = fx_app("en", 80, 24, GLYPH_UNICODE);
    fx_lab(a);
    fx_key(a, "Tab");
    CHECK_INT(a->focus, PANEL_CLUSTER);
    fx_key(a, "Tab");
    CHECK_INT(a->focus, PANEL_STEP);
    a->cols = 40;
    a->rows = 12;
    for (int i = TAB_FIRST; i <= (int)TAB_LAST; i++) {
        fx_key(a, "Tab");
        CHECK_INT(a->focus, i);
    }
    fx_key(a, "Tab");
    CHECK_INT(a->focus, PANEL_STEP);
    fx_key(a, "S-Tab");
    CHECK_INT(a->focus, TAB_LAST);
    fx_free(a);
}

TEST(a_note_gives_way_to_news)
{
    struct app *a = fx_app("en", 80, 24, GLYPH_UNICODE);
    fx_lab(a);
    app_note(a, false, "copied");
    fx_key(a, "j");
    CHECK_STR(a->note, "");
    app_note(a, false, "copied");
    str_copy(a->s->message, sizeof a->s->message, "step 3 is done");
    struct msg m = {.kind = MSG_TICK, .at_ms = FIXTURE_NOW};
    struct effects out;
    effects_init(&out);
    app_apply(a, &m, &out);
    CHECK_STR(a->note, "");
    effects_release(&out);
    fx_free(a);
}

TEST(checking_brings_the_checks_into_view)
{
    struct app *a = fx_app("en", 80, 24, GLYPH_UNICODE);
    fx_lab(a);
    CHECK_INT(a->scroll[PANEL_STEP], 0);
    fx_key(a, "c");
    int at = a->scroll[PANEL_STEP];
    CHECK(at > 0);
    fx_key(a, "k");                          /* the person's own scrolling wins */
    CHECK_INT(a->scroll[PANEL_STEP], at - 1);
    fx_key(a, "x");
    CHECK_INT(a->scroll[PANEL_STEP], at - 1);
    fx_free(a);
}

TEST(norms_stand_below_the_curve_until_esc)
{
    struct app *a = fx_app("en", 80, 24, GLYPH_UNICODE);
    struct str screen;
    fx_lab(a);
    fx_run(a->s);
    fx_key(a, "3");
    a->s->run.inspect_line = xstrdup(
        "{\"v\":1,\"ev\":\"answer\",\"id\":\"p\",\"cmd\":\"inspect\",\"ok\":true,\"step\":9,"
        "\"what\":\"norms\",\"tensors\":1,\"weight_norm\":3,\"gnorm\":4,\"text\":\"odd w 3 g 4\"}");
    a->inspect_open = true;
    fx_screen(a, &screen);
    CHECK_HAS(screen.p, "norms @ 9: weights 3.000, grad 4.000");
    fx_key(a, "Esc");
    CHECK(!a->inspect_open);
    CHECK_INT(a->focus, PANEL_CURVE);
    str_release(&screen);
    fx_free(a);
}

TEST(lists_stay_inside)
{
    struct app *a = fx_app("en", 80, 24, GLYPH_UNICODE);
    for (int i = 0; i < 9; i++)
        fx_key(a, "j");
    CHECK_INT(a->sel[PANEL_CATALOGUE], 3);
    fx_key(a, "g");
    CHECK_INT(a->sel[PANEL_CATALOGUE], 0);
    fx_lab(a);
    fx_key(a, "G");
    int bottom = a->scroll[PANEL_STEP];
    CHECK(bottom > 0);
    fx_key(a, "j");
    fx_key(a, "PgDn");
    CHECK_INT(a->scroll[PANEL_STEP], bottom);
    fx_key(a, "k");
    CHECK_INT(a->scroll[PANEL_STEP], bottom - 1);
    fx_free(a);
}

TEST(the_log_follows_until_it_is_held)
{
    struct app *a = fx_app("en", 80, 24, GLYPH_UNICODE);
    struct str s;
    fx_lab(a);
    for (int i = 0; i < 200; i++) {
        char line[64];
        fx_log_line(a->s, str_fmt(line, sizeof line, "line %d.", i));
    }
    fx_key(a, "2");
    fx_screen(a, &s);
    CHECK_HAS(s.p, "line 199.");
    str_release(&s);
    fx_key(a, "k");
    CHECK(!a->log_follow);
    fx_log_line(a->s, "line 200.");
    fx_screen(a, &s);
    CHECK(!strstr(s.p, "line 200."));
    str_release(&s);
    fx_key(a, "f");
    fx_screen(a, &s);
    CHECK_HAS(s.p, "line 200.");
    str_release(&s);
    fx_key(a, "&");
    fx_key(a, "7");
    fx_key(a, "7");
    fx_key(a, "Enter");
    fx_screen(a, &s);
    CHECK_HAS(s.p, "line 177.");
    CHECK(!strstr(s.p, "line 178."));
    str_release(&s);
    fx_free(a);
}

TEST(a_log_cannot_harm_the_screen)
{
    struct app *a = fx_app("en", 80, 24, GLYPH_UNICODE);
    struct str s, big;
    fx_lab(a);
    str_init(&big, 2 << 20);
    for (int i = 0; i < 100000; i++)
        str_add(&big, "中x");
    fx_log_line(a->s, big.p);
    fx_log_line(a->s, "\033[2J\033]0;bad\007end");
    fx_key(a, "2");
    int64_t from = clock_us();
    fx_screen(a, &s);
    CHECK_MSG(clock_us() - from < 200000, "a long line takes %lld us",
              (long long)(clock_us() - from));
    CHECK(!strchr(s.p, '\033') && !strchr(s.p, '\007'));
    fx_key(a, "w");
    str_release(&s);
    fx_screen(a, &s);
    str_release(&s);
    str_release(&big);
    fx_free(a);
}

TEST(editor_saves_by_an_effect_and_warns_before_it_drops)
{
    struct app *a = fx_app("en", 80, 24, GLYPH_UNICODE);
    fx_lab(a);
    send_command(a, "edit.open", "/tmp/x.yaml\na: 1\n");
    CHECK(a->edit.open);
    CHECK_STR(a->edit.path, "/tmp/x.yaml");
    fx_key(a, "x");
    fx_key(a, "q");                      /* a letter, not a command */
    CHECK_STR(a->edit.lines.v[0], "xqa: 1");
    fx_key(a, "Esc");
    CHECK(a->edit.open);
    CHECK_HAS(a->note, "not saved");
    fx_key(a, "y");
    fx_key(a, "Esc");
    CHECK(a->edit.open);
    CHECK_INT(effects_of(a, "C-s", EFF_WRITE), 1);
    fx_key(a, "Esc");
    CHECK(!a->edit.open);
    fx_free(a);
}

TEST(the_newest_request_stays_selected)
{
    struct app *a = fx_app("en", 80, 24, GLYPH_UNICODE);
    struct msg m = {.kind = MSG_TICK, .at_ms = FIXTURE_NOW};
    struct effects out;
    effects_init(&out);
    fx_lab(a);
    fx_api(a->s);
    a->sel[PANEL_API] = 3;
    fx_key(a, "4");
    fx_key(a, "k");
    CHECK_INT(a->sel[PANEL_API], 2);     /* held where the person put it */
    app_apply(a, &m, &out);
    CHECK_INT(a->sel[PANEL_API], 2);
    fx_key(a, "G");
    CHECK_INT(a->sel[PANEL_API], 3);
    effects_release(&out);
    fx_free(a);
}

TEST(zoom_and_pan_stay_inside_the_run)
{
    struct app *a = fx_app("en", 120, 40, GLYPH_UNICODE);
    fx_lab(a);
    fx_run(a->s);
    fx_key(a, "3");
    for (int i = 0; i < 12; i++)
        fx_key(a, "+");
    CHECK(a->curve.x_hi - a->curve.x_lo >= 10);
    for (int i = 0; i < 90; i++)
        fx_key(a, i < 45 ? ">" : "<");
    CHECK(a->curve.x_lo >= 0 && a->curve.x_hi <= 500);
    for (int i = 0; i < 12; i++)
        fx_key(a, "-");
    CHECK(isnan(a->curve.x_lo));
    fx_key(a, "i");
    CHECK_NEAR(a->curve.cursor, 310, 1e-9);
    fx_key(a, "Right");
    CHECK_NEAR(a->curve.cursor, 310, 1e-9);
    fx_key(a, "Left");
    CHECK(a->curve.cursor < 310);
    for (int i = 0; i < 20; i++)
        fx_key(a, "S");
    CHECK_NEAR(a->curve.smooth, 0.99, 1e-9);
    for (int i = 0; i < 20; i++)
        fx_key(a, "s");
    CHECK_NEAR(a->curve.smooth, 0, 1e-9);
    fx_free(a);
}

TEST(ages_alone_ask_for_a_tick)
{
    struct app *a = fx_app("en", 80, 24, GLYPH_UNICODE);
    CHECK(!app_wants_tick(a));           /* the catalogue shows no age */
    fx_lab(a);
    CHECK(app_wants_tick(a));            /* pods do */
    fx_key(a, "4");
    CHECK(!app_wants_tick(a));
    fx_op(a->s);
    CHECK(app_wants_tick(a));
    a->s->op.ended = true;
    CHECK(!app_wants_tick(a));
    fx_free(a);
}

T_MAIN
