/* train_control.c - the control channel's grammar and its reading. */
#include "core/train/control.h"

#include <fcntl.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "tests/t.h"

static struct control_line good(const char *line)
{
    struct control_line l;
    struct pd_err err;
    CHECK_OK(control_parse(line, &l, &err));
    return l;
}

static void bad(const char *line, const char *says)
{
    struct control_line l;
    struct pd_err err = {0};
    CHECK_INT(control_parse(line, &l, &err), PD_USAGE);
    CHECK_HAS(err.msg, says);
}

TEST(grammar)
{
    struct control_line l = good("#a7 inspect tensor model.norm.weight 3 12");
    CHECK_STR(l.id, "a7");
    CHECK_INT(l.cmd, CONTROL_INSPECT);
    CHECK_STR(l.name, "model.norm.weight");
    CHECK(l.n == 3 && l.col == 12);
    CHECK_INT(good("pause").cmd, CONTROL_PAUSE);
    CHECK_INT(good("  resume  ").cmd, CONTROL_RESUME);
    CHECK_INT(good("step").n, 1);
    CHECK_INT(good("step 25").n, 25);
    CHECK_NEAR(good("rate 5e-4").x, 5e-4, 0);
    CHECK_STR(good("inspect norms").what, "norms");
    CHECK_STR(good("quit").id, "");
    CHECK_STR(good("walk").name, "");
    l = good("#z walk a.b.weight 3 4");
    CHECK(l.cmd == CONTROL_WALK && l.n == 3 && l.col == 4);
    CHECK_STR(l.name, "a.b.weight");
}

TEST(mistakes_are_explained)
{
    bad("puase", "no command");
    bad("", "empty");
    bad("#7", "empty");
    bad("step 0", "from 1");
    bad("step x", "from 1");
    bad("step 1 2", "too much");
    bad("rate", "number");
    bad("rate -1", "number");
    bad("rate nan", "number");
    bad("inspect", "norms");
    bad("inspect tensor", "norms");
    bad("inspect tensor x -1", "ROW");
    bad("walk x", "NAME ROW COL");
    bad("walk x 1 -1", "NAME ROW COL");
    bad("walk x 1 1 1", "too much");
    bad("pause now", "too much");
    struct control_line l;
    struct pd_err err;
    CHECK_INT(control_parse("#9 puase", &l, &err), PD_USAGE);
    CHECK_STR(l.id, "9");
    CHECK_HAS(err.hint, "pause");
}

static void feed(int fd, const char *text)
{
    CHECK(write(fd, text, strlen(text)) == (ssize_t)strlen(text));
}

TEST(lines_arrive_whole_and_in_order)
{
    struct control c;
    char line[256];
    int p[2];
    CHECK(pipe(p) == 0);
    control_init(&c, p[0]);
    int64_t start = clock_us();
    CHECK(!control_next(&c, 0, line));
    CHECK(clock_us() - start < 100000);
    feed(p[1], "pau");
    CHECK(!control_next(&c, 0, line));
    feed(p[1], "se\nresume\nst");
    CHECK(control_next(&c, 0, line));
    CHECK_STR(line, "pause");
    CHECK(control_next(&c, -1, line));
    CHECK_STR(line, "resume");
    CHECK(!control_next(&c, 20, line));
    feed(p[1], "ep 3");
    close(p[1]);
    CHECK(control_next(&c, -1, line));
    CHECK_STR(line, "step 3");                    /* the last line without its newline */
    CHECK(!control_next(&c, -1, line));
    CHECK_INT(c.fd, -1);
    control_release(&c);
}

TEST(a_long_line_is_cut_and_a_flood_is_counted)
{
    struct control c;
    char line[256], flood[600];
    int p[2];
    CHECK(pipe(p) == 0);
    control_init(&c, p[0]);
    memset(flood, 'x', sizeof flood);
    flood[598] = '\n';
    flood[599] = 0;
    feed(p[1], flood);
    feed(p[1], "quit\n");
    CHECK(control_next(&c, 0, line));
    CHECK_INT(strlen(line), 255);
    CHECK(control_next(&c, 0, line));
    CHECK_STR(line, "quit");
    for (int i = 0; i < 200; i++)
        feed(p[1], "hello\n");
    int got = 0;
    while (control_next(&c, 0, line))
        got++;
    CHECK(got >= CONTROL_QUEUE);
    control_release(&c);
}

T_MAIN
