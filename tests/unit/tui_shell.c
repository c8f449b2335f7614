/* tui_shell.c - the shell in a pane and the port-forwards: what the terminal
 * shows of hostile bytes, keys to bytes, scrolling, sizes, states, and screens. */
#include "core/base/base64.h"
#include "tests/screens/golden.h"
#include "tui/shell_term.h"

/* --- the terminal --------------------------------------------------------------------- */

static struct shell_term *t;
static struct rows rows;
static int cx, cy;

static void feed(const char *text)
{
    shell_term_feed(t, text, strlen(text));
}

static const char *row(int i, int back)
{
    static struct str s;
    if (!s.p)
        str_init(&s, 4096);
    str_clear(&s);
    rows_clear(&rows);
    shell_term_rows(t, back, &rows, &cx, &cy);
    if (i < rows.n)
        rows_text(&rows.v[i], &s);
    while (s.len > 0 && s.p[s.len - 1] == ' ')
        s.p[--s.len] = '\0';
    return s.p;
}

static void begin(int cols, int lines)
{
    t = shell_term_new(cols, lines);
    rows_init(&rows, GLYPH_UNICODE);
}

static void end(void)
{
    shell_term_free(t);
    rows_release(&rows);
}

TEST(shell_term_shows_text_colours_and_cursor)
{
    begin(20, 4);
    feed("ab\033[31mred\033[0m\033[7mrev\033[0m\r\n\033[42mok");
    CHECK_STR(row(0, 0), "abredrev");
    CHECK_INT(rows.v[0].span[1].role, ROLE_FAIL);
    CHECK_INT(rows.v[0].span[2].attr, ATTR_REVERSE);
    CHECK_INT(rows.v[1].span[0].role, ROLE_OK);
    CHECK_INT(rows.v[1].span[0].attr, ATTR_REVERSE);
    CHECK_INT(cx, 2);
    CHECK_INT(cy, 1);
    feed("\033[?25l");
    row(0, 0);
    CHECK_INT(cx, -1);
    feed("\033[0m\033[38;5;196mX\033[38;2;10;200;20mY\033[38;2;90;90;90mZ");
    row(1, 0);
    CHECK_INT(rows.v[1].span[1].role, ROLE_FAIL);
    CHECK_INT(rows.v[1].span[2].role, ROLE_OK);
    end();
}

/* Every row has exactly the pane's columns, also when a wide character would
 * stand on the edge. */
TEST(shell_term_wide_characters_keep_columns)
{
    begin(7, 3);
    feed("中文字z\r\né\xCC\x81\xE2\x80\x8D|");
    for (int i = 0; i < 3; i++) {
        row(i, 0);
        CHECK_INT(rows.v[i].width, 7);
    }
    CHECK_STR(row(0, 0), "中文字z");
    shell_term_resize(t, 6, 3);
    feed("\033[H\033[2J中文字国");
    CHECK_STR(row(0, 0), "中文字");
    CHECK_STR(row(1, 0), "国");
    end();
}

/* Titles, clipboards, questions and modes stay inside; answers go back only. */
TEST(shell_term_hostile_bytes_stay_inside)
{
    static const char *const bad[] = {
        "\033]0;title\007", "\033]52;c;aGVsbG8=\007", "\033P+q544e\033\\", "\033[?1000h\033[?2004h",
        "\033c", "\033[8;99;99t", "\x9b" "31m", "\033_apc\033\\", "\033[999999999;999999999H",
        "\033[99999@\033[99999L\033[99999M\033[99999P\033[99999X", "\xff\xfe\xc3(", "\xE2\x80\xAE",
        "\033]8;;http://x\033\\link\033]8;;\033\\", "\016\017\033(0lqk\033(B"};
    struct str all;
    begin(30, 5);
    str_init(&all, 1 << 16);
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        feed(bad[i]);
        rows_clear(&rows);
        shell_term_rows(t, 0, &rows, &cx, &cy);
        for (int y = 0; y < rows.n; y++)
            rows_text(&rows.v[y], &all);
    }
    for (size_t i = 0; i < all.len; i++)
        CHECK_MSG((unsigned char)all.p[i] >= 0x20 && all.p[i] != 0x7f, "a control character");
    CHECK(!strstr(all.p, "\xC2\x9b"));
    str_release(&all);
    feed("\033[c\033[6n");
    CHECK(shell_term_out(t)->len > 0);
    end();
}

/* libvterm would repeat a character without a width for ever. */
TEST(shell_term_repeats_what_has_a_width)
{
    static const char *const bad[] = {
        "\033[b", "\r\xCC\x81\033[9b", "\033[\0b", "\033[000000000000000000000000000000000000000000"
        "00000000000000000000000000000000000000000000000000000000000000b",
        "\xC2\x9b" "b", "\033[?b"};
    begin(10, 3);
    for (size_t i = 0; i < ARRAY_LEN(bad); i++)
        shell_term_feed(t, bad[i], i == 2 ? 4 : strlen(bad[i]));
    feed("\033[2J\033[Hx\033[3b|中\033[1b");
    CHECK_STR(row(0, 0), "xxxx|中中");
    feed("\033[H\033[2Jz\033[99999999b");
    CHECK_INT(rows.v[0].width, 10);
    feed("\033[3;1H");
    for (const char *p = "\033[31mred\033]0;t\033\\ok\033P1\033[32mgreen"; *p; p++)
        shell_term_feed(t, p, 1);            /* in pieces of one byte */
    row(2, 0);
    CHECK_STR(row(2, 0), "redokgreen");
    end();
}

TEST(shell_term_keeps_what_scrolls_off)
{
    char line[32];
    begin(20, 4);
    for (int i = 0; i < SHELL_TERM_HISTORY + 100; i++)
        feed(str_fmt(line, sizeof line, "line %d\r\n", i));
    CHECK_INT(shell_term_history(t), SHELL_TERM_HISTORY);
    CHECK_STR(row(0, 1), "line 2096");
    CHECK_STR(row(0, SHELL_TERM_HISTORY + 50), "line 97");
    CHECK_STR(row(3, 0), "");
    row(0, 2);
    CHECK_INT(cy, -1);
    feed("\033[?1049hfull screen\033[?1049l");
    CHECK_INT(shell_term_history(t), SHELL_TERM_HISTORY);
    end();
}

static const char *key(const char *name)
{
    static char out[128];
    str_clear(shell_term_out(t));
    shell_term_key(t, name);
    return str_copy(out, sizeof out, shell_term_out(t)->p);
}

TEST(shell_term_keys_are_bytes)
{
    static const struct { const char *name, *bytes; } table[] = {
        {"a", "a"}, {"中", "中"}, {"Space", " "}, {"Enter", "\r"}, {"Tab", "\t"},
        {"Backspace", "\x7f"}, {"Esc", "\033"}, {"Up", "\033[A"}, {"C-c", "\003"}, {"C-d", "\004"},
        {"C-z", "\032"}, {"M-b", "\033b"}, {"Del", "\033[3~"}, {"PgUp", "\033[5~"},
        {"F1", "\033OP"}, {"F5", "\033[15~"}, {"S-Tab", "\033[Z"}, {"C-Right", "\033[1;5C"},
        {"-", "-"}, {"C-_", "\037"}};
    begin(20, 4);
    for (size_t i = 0; i < ARRAY_LEN(table); i++)
        CHECK_STR(key(table[i].name), table[i].bytes);
    feed("\033[?1h");
    CHECK_STR(key("Up"), "\033OA");
    end();
}

TEST(shell_term_paste_can_not_end_its_bracket)
{
    begin(20, 4);
    shell_term_paste(t, "a\nb");
    CHECK_STR(shell_term_out(t)->p, "a\rb");
    str_clear(shell_term_out(t));
    feed("\033[?2004h");
    shell_term_paste(t, "x\033[201~rm");
    CHECK_STR(shell_term_out(t)->p, "\033[200~x[201~rm\033[201~");
    end();
}

/* --- in the console --------------------------------------------------------------------- */

static struct effects out;

static void send(struct app *a, enum msg_kind kind, uint32_t effect, const char *body)
{
    struct msg m = {.kind = kind, .at_ms = FIXTURE_NOW + 5000, .effect = effect,
                    .body = json_from(body)};
    app_apply(a, &m, &out);
    json_free(m.body);
}

static void says(struct app *a, const char *bytes)
{
    struct str s;
    str_init(&s, 1 << 16);
    str_add(&s, "{\"state\":\"open\",\"data\":\"");
    base64_encode(bytes, strlen(bytes), &s);
    str_add(&s, "\"}");
    send(a, MSG_SHELL, a->shell.effect, s.p);
    str_release(&s);
}

/* The newest effect of a kind, NULL: none. */
static const struct effect *newest(enum effect_kind kind)
{
    for (size_t i = out.n; i-- > 0;)
        if (out.v[i].kind == kind)
            return &out.v[i];
    return NULL;
}

static void press(struct app *a, const char *key)
{
    struct json *body = json_new_object();
    json_put_str(body, "key", key);
    struct msg m = {.kind = MSG_KEY, .at_ms = FIXTURE_NOW + 5000, .body = body};
    app_apply(a, &m, &out);
    json_free(body);
}

static void to_pod(struct app *a, const char *name)
{
    fx_crowd(a->s);
    fx_run_command(a, "pods", NULL);
    for (int i = 0; i < 10; i++) {
        struct lists_pods l = lists_pods(a->lists, a->s, &a->list[LIST_PODS]);
        if (str_eq(l.v[l.order[i]].name, name)) {
            a->sel[PANEL_PODS] = i;
            return;
        }
    }
}

static void open_shell(struct app *a)
{
    to_pod(a, "lora-gaudi-run-4k9wz");
    effects_release(&out);
    effects_init(&out);
    press(a, "s");
    says(a, "\033[1;32mroot@lora\033[0m:/work# ls\r\n\033[34madapter\033[0m  train.py  \033[31m"
            "core\033[0m\r\n\033[1;32mroot@lora\033[0m:/work# echo 微调\r\n微调\r\n"
            "\033[1;32mroot@lora\033[0m:/work# ");
}

TEST(shell_starts_types_and_ends)
{
    struct app *a = fx_app("en", 80, 24, GLYPH_UNICODE);
    open_shell(a);
    CHECK_INT(a->focus, PANEL_SHELL);
    const struct effect *e = newest(EFF_SHELL);
    CHECK(e != NULL);
    CHECK_STR(json_str(e->args, "pod", ""), "lora-gaudi-run-4k9wz");
    CHECK_STR(json_str(e->args, "container", ""), "train");
    CHECK_INT(json_int(e->args, "cols", 0), 76);
    press(a, "q");
    e = newest(EFF_SHELL_SEND);
    CHECK(e && a->focus == PANEL_SHELL);
    CHECK_STR(json_str(e->args, "data", ""), "cQ==");
    press(a, "C-]");
    CHECK_INT(a->focus, PANEL_PODS);
    CHECK(shell_runs(&a->shell));
    press(a, "s");
    CHECK_INT(a->focus, PANEL_SHELL);
    send(a, MSG_SHELL, a->shell.effect, "{\"state\":\"closed\",\"exit\":3}");
    CHECK_INT(a->shell.state, SHELL_ENDED);
    CHECK(strstr(a->note, "ended with 3"));
    fx_free(a);
    effects_release(&out);
}

TEST(shell_hangs_up_and_answers_questions_of_the_program)
{
    struct app *a = fx_app("en", 80, 24, GLYPH_UNICODE);
    open_shell(a);
    says(a, "\033[6n");
    const struct effect *e = newest(EFF_SHELL_SEND);
    CHECK(e != NULL);
    struct json *size = json_from("{\"cols\":100,\"rows\":30}");
    struct msg m = {.kind = MSG_RESIZE, .at_ms = FIXTURE_NOW + 5000, .body = size};
    app_apply(a, &m, &out);
    json_free(size);
    e = newest(EFF_SHELL_SIZE);
    CHECK(e != NULL);
    CHECK_INT(json_int(e->args, "cols", 0), 96);
    press(a, "C-\\");
    e = newest(EFF_CANCEL);
    CHECK(e != NULL && json_int(e->args, "effect", 0) == a->shell.effect);
    CHECK(!shell_runs(&a->shell));
    fx_free(a);
    effects_release(&out);
}

TEST(shell_of_an_image_without_one_is_explained)
{
    struct app *a = fx_app("en", 80, 24, GLYPH_UNICODE);
    to_pod(a, "lora-gaudi-run-4k9wz");
    effects_release(&out);
    effects_init(&out);
    press(a, "s");
    send(a, MSG_SHELL, a->shell.effect,
         "{\"state\":\"closed\",\"exit\":-1,\"error\":{\"msg\":\"exec: \\\"sh\\\": executable file "
         "not found in $PATH: unknown\"}}");
    struct str s;
    fx_screen(a, &s);
    CHECK(strstr(s.p, "has no shell") && strstr(s.p, "kubectl debug -it"));
    str_release(&s);
    fx_free(a);
    effects_release(&out);
}

TEST(shell_needs_a_container_that_runs)
{
    struct app *a = fx_app("en", 80, 24, GLYPH_UNICODE);
    to_pod(a, "lora-gaudi-oom-9vq4d");
    effects_release(&out);
    effects_init(&out);
    press(a, "s");
    CHECK(!newest(EFF_SHELL) && strstr(a->note, "OOMKilled"));
    fx_free(a);
    effects_release(&out);
}

TEST(shell_is_not_for_the_journal)
{
    struct app *a = fx_app("en", 80, 24, GLYPH_UNICODE);
    open_shell(a);
    struct json *j = json_from("{\"key\":\"p\"}"), *back = json_from("{\"key\":\"C-]\"}"),
                *data = json_from("{\"state\":\"open\",\"data\":\"cQ==\"}"),
                *closed = json_from("{\"state\":\"closed\",\"exit\":0}"),
                *text = json_from("{\"text\":\"secret\"}");
    struct msg typed = {.kind = MSG_KEY, .body = j}, leave = {.kind = MSG_KEY, .body = back},
               shown = {.kind = MSG_SHELL, .body = data}, ended = {.kind = MSG_SHELL,
               .body = closed}, pasted = {.kind = MSG_PASTE, .body = text};
    CHECK(shell_private(a, &typed) && shell_private(a, &shown) && shell_private(a, &pasted));
    CHECK(!shell_private(a, &leave) && !shell_private(a, &ended));
    press(a, "C-]");
    CHECK(!shell_private(a, &typed));
    json_free(j), json_free(back), json_free(data), json_free(closed), json_free(text);
    fx_free(a);
    effects_release(&out);
}

static void two_containers(struct app *a)
{
    fx_add(a->s, "pods", "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"two\","
           "\"namespace\":\"stu-07\",\"uid\":\"two\",\"creationTimestamp\":"
           "\"2026-11-30T01:34:00Z\"},\"spec\":{\"containers\":[{\"name\":\"main\"},"
           "{\"name\":\"side\"}]},\"status\":{\"phase\":\"Running\",\"containerStatuses\":["
           "{\"name\":\"main\",\"state\":{\"running\":{}}},{\"name\":\"side\",\"state\":"
           "{\"running\":{}}}]}}");
    to_pod(a, "two");
}

TEST(shell_asks_which_of_several_containers)
{
    struct app *a = fx_app("en", 80, 24, GLYPH_UNICODE);
    two_containers(a);
    effects_release(&out);
    effects_init(&out);
    press(a, "s");
    CHECK_INT(a->prompt.kind, PROMPT_ASK);
    CHECK_STR(a->prompt.text, "main");
    press(a, "C-u");
    for (const char *p = "side"; *p; p++)
        press(a, (char[2]){*p, '\0'});
    press(a, "Enter");
    const struct effect *e = newest(EFF_SHELL);
    CHECK(e && str_eq(json_str(e->args, "container", ""), "side"));
    fx_free(a);
    effects_release(&out);
}

/* --- port-forwards -------------------------------------------------------------------------- */

static void open_forwards(struct app *a)
{
    to_pod(a, "lora-gaudi-run-4k9wz");
    effects_release(&out);
    effects_init(&out);
    a->now_ms = FIXTURE_NOW;
    str_copy(a->forward_pod, sizeof a->forward_pod, "lora-gaudi-run-4k9wz");
    app_command(a, "forward.open", "6006", &out);
    send(a, MSG_FORWARD, a->forwards.v[0].effect,
         "{\"state\":\"open\",\"port\":6006,\"open\":2,\"total\":14,\"failed\":1,\"sent\":20480,"
         "\"received\":31457280}");
    app_command(a, "forward.open", "0:8888", &out);
    send(a, MSG_FORWARD, a->forwards.v[1].effect, "{\"state\":\"open\",\"port\":40123}");
    send(a, MSG_FORWARD, a->forwards.v[1].effect,
         "{\"state\":\"said\",\"port\":40123,\"open\":0,\"total\":1,\"failed\":1,\"lasting\":false,"
         "\"error\":{\"msg\":\"port 8888 of pod lora-gaudi-run-4k9wz: connection refused: "
         "nothing listens there\",\"hint\":\"check the port\"}}");
    app_command(a, "forwards", NULL, &out);
}

TEST(forwards_start_show_and_stop)
{
    struct app *a = fx_app("en", 120, 40, GLYPH_UNICODE);
    struct str s;
    open_forwards(a);
    fx_screen(a, &s);
    CHECK(strstr(s.p, "127.0.0.1:6006") && strstr(s.p, "2/14") && strstr(s.p, "31.5 MB"));
    CHECK(strstr(s.p, "connection refused"));
    str_release(&s);
    uint32_t second = a->forwards.v[1].effect;
    press(a, "x");
    const struct effect *e = newest(EFF_CANCEL);
    CHECK(e && (uint32_t)json_int(e->args, "effect", 0) == second);
    CHECK_INT(a->forwards.n, 1);
    a->s->cluster.epoch++;
    send(a, MSG_TICK, 0, "{}");
    CHECK_INT(a->forwards.n, 0);
    fx_free(a);
    effects_release(&out);
}

TEST(forward_that_can_not_listen_says_why)
{
    struct app *a = fx_app("en", 80, 24, GLYPH_UNICODE);
    to_pod(a, "lora-gaudi-run-4k9wz");
    effects_release(&out);
    effects_init(&out);
    str_copy(a->forward_pod, sizeof a->forward_pod, "lora-gaudi-run-4k9wz");
    app_command(a, "forward.open", "70000", &out);
    CHECK(!newest(EFF_FORWARD) && strstr(a->note, "70000"));
    app_command(a, "forward.open", "80", &out);
    send(a, MSG_FORWARD, a->forwards.v[0].effect,
         "{\"state\":\"failed\",\"error\":{\"msg\":\"port 80 of this machine can't be listened "
         "on\",\"hint\":\"choose another\"}}");
    CHECK_INT(a->forwards.v[0].state, FORWARD_FAILED);
    CHECK(strstr(a->note, "port 80"));
    fx_free(a);
    effects_release(&out);
}

/* --- screens ------------------------------------------------------------------------- */

TEST(shell_screens) { all_sizes("shell", open_shell); }
TEST(forwards_screens) { all_sizes("forwards", open_forwards); }

T_MAIN
