/* tui_input.c - bytes to keys: a table of scripts, each also split at every
 * byte. */
#include "tests/t.h"
#include "tui/input.h"

static struct str got;

static void note(void *arg UNUSED, const char *key, const char *paste)
{
    if (got.len)
        str_addc(&got, ' ');
    if (key)
        str_add(&got, key);
    else
        str_printf(&got, "paste(%s)", paste);
}

static const struct { const char *bytes, *keys; } table[] = {
    {"jk", "j k"},
    {" \r\t\x7f\b", "Space Enter Tab Backspace Backspace"},
    {"\x03\x0c\x1a", "C-c C-l C-z"},
    {"\033[A\033[B\033[C\033[D", "Up Down Right Left"},
    {"\033OA\033OB\033OC\033OD", "Up Down Right Left"},
    {"\033[H\033[F\033OH\033OF\033[1~\033[4~\033[7~\033[8~", "Home End Home End Home End Home End"},
    {"\033[5~\033[6~\033[2~\033[3~", "PgUp PgDn Ins Del"},
    {"\033OP\033OS\033[15~\033[24~\033[[A\033[[E", "F1 F4 F5 F12 F1 F5"},
    {"\033[Z", "S-Tab"},
    {"\033[1;5C\033[1;2A\033[3;3~\033[1;6D", "C-Right S-Up M-Del C-S-Left"},
    {"\033x\033中", "M-x M-中"},
    {"中é😀", "中 é 😀"},
    {"a\xFF" "b", "a b"},
    {"\xE4\xB8q", "q"},
    {"\033[<0;231;10Mj\033[<0;231;10mk", "Click@230,9 j k"},
    {"\033[<64;300;99M\033[<65;1;1M\033[<69;2;2M", "Wheel-Up@299,98 Wheel-Down@0,0 Wheel-Down@1,1"},
    {"\033[<35;5;5M\033[<2;5;5M\033[<0;0;5M\033[<M\033[<;;Mj", "j"},
    {"\033[M !!j\033[M#!!k", "Click@0,0 j k"},
    {"\033[I\033[Oj", "j"},
    {"\033]11;rgb:1c1c/1c1c/1c1c\007j", "j"},
    {"\033]11;rgb:ffff/ffff/ffff\033\\j", "j"},
    {"\033P>|tmux 3.3a\033\\j\033_Gi=1;OK\033\\k", "j k"},
    {"\033[12;34Rj\033[0nk", "j k"},
    {"\033[27;5;9~j\033[97;5uk", "j k"},
    {"\033[?1;2cq", "q"},
    {"\033[200~hi\nthere\033[A\033[201~j", "paste(hi\nthere\033[A) j"},
    {"\033[200~a\033[201\033[201~", "paste(a\033[201)"},
    {"\033[200~\033[201~", "paste()"},
    {"\033OMx", "Enter x"},
    {"\033\033[A", "Esc Up"},
    {"\033[999zq", "q"},
    {"\033[1;\rq", "Enter q"},
};

static void check(size_t i, size_t split)
{
    struct input in;
    size_t n = strlen(table[i].bytes);
    str_clear(&got);
    input_init(&in, note, NULL);
    input_feed(&in, table[i].bytes, split);
    input_feed(&in, table[i].bytes + split, n - split);
    if (strcmp(got.p, table[i].keys) != 0)
        t_fail(__FILE__, __LINE__, "row %zu split at %zu: got \"%s\", want \"%s\"", i, split, got.p,
               table[i].keys);
    CHECK(!input_waiting(&in));
    input_release(&in);
}

TEST(every_sequence_at_every_split)
{
    str_init(&got, 1 << 16);
    for (size_t i = 0; i < ARRAY_LEN(table); i++)
        for (size_t split = 0; split <= strlen(table[i].bytes); split++)
            check(i, split);
    str_release(&got);
}

TEST(a_lone_escape_is_a_key)
{
    struct input in;
    str_init(&got, 1 << 16);
    input_init(&in, note, NULL);
    input_feed(&in, "\033", 1);
    CHECK(input_waiting(&in));
    CHECK_STR(got.p, "");
    input_idle(&in);
    CHECK_STR(got.p, "Esc");
    input_feed(&in, "[A", 2);            /* too late: these are typed */
    CHECK_STR(got.p, "Esc [ A");
    input_feed(&in, "\033[", 2);
    CHECK(input_waiting(&in));
    input_idle(&in);
    CHECK_STR(got.p, "Esc [ A M-[");
    input_idle(&in);
    CHECK_STR(got.p, "Esc [ A M-[");
    input_feed(&in, "\033]", 2);
    CHECK(input_waiting(&in));
    input_idle(&in);
    input_feed(&in, "\033Pq", 3);         /* goes on: an answer, until a control */
    CHECK(!input_waiting(&in));
    input_feed(&in, "xyz\rj", 5);
    CHECK_STR(got.p, "Esc [ A M-[ M-] Enter j");
    input_release(&in);
    str_release(&got);
}

TEST(noise_never_breaks_it)
{
    struct input in;
    uint32_t seed = 7;
    str_init(&got, 64 << 20);
    input_init(&in, note, NULL);
    for (int i = 0; i < 200000; i++) {
        seed = seed * 1664525u + 1013904223u;
        char b = (char)(seed >> 16);
        if ((seed >> 8) % 5 == 0)
            b = "\033[O~;1<M"[(seed >> 24) % 8];
        input_feed(&in, &b, 1);
        if ((seed >> 8) % 97 == 0)
            input_idle(&in);
        if (got.len > 1 << 20)
            str_clear(&got);
    }
    input_release(&in);
    str_release(&got);
}

T_MAIN
