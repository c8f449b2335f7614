/* tui_hostile.c - text from the cluster, labs and logs can't control the
 * terminal: random bytes, and sequences that terminals obey, go in by every
 * door; of what comes out on the line every byte is accounted for. */
#include "tests/t.h"

#include <fcntl.h>
#include <pty.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/screens/fx_conn.h"
#include "tui/term.h"

static uint32_t seed = 4711;

static int pick(int n)
{
    seed = seed * 1664525u + 1013904223u;
    return (int)((seed >> 9) % (uint32_t)n);
}

/* Bytes of no meaning, and of too much. */
static const char *hostile(char *out, size_t size)
{
    static const char *const evil[] = {
        "\033[2J", "\033]0;owned\007", "\033]52;c;b3duZWQ=\007", "\033[?1049l", "\033c",
        "\033[6n", "\033P+q544e\033\\", "\033]8;;http://x\033\\", "\033[?1003h", "\x9b" "2J",
        "\xc2\x9b" "2J", "\xc2\x90q\xc2\x9c", "\033(0", "\016", "\033[5i", "\b\b\b\b", "\r\n\r\n",
        "\007", "\xe2\x80\xae", "\xef\xb8\x8f", "\xe2\x80\x8d", "\033[999;999H", "\177", "\x1a",
        "\xf0\x9f\x91\xa9\xe2\x80\x8d\xf0\x9f\x94\xac", "训练", "e\xcc\x81", "\033[20h", "\t",
        "\xe2\x80\xa8", "\xf3\xa0\x80\x81", "\xed\xa0\x80", "\xc0\xaf", "a", "loss 1.0 "};
    size_t n = 0;
    while (n + 24 < size && pick(14) != 0) {
        if (pick(3) == 0)
            out[n++] = (char)(1 + pick(255));
        else
            n += strlen(str_copy(out + n, size - n, evil[pick((int)ARRAY_LEN(evil))]));
    }
    out[n] = '\0';
    return out;
}

/* Every text of a JSON tree. */
static void poison(struct json *j)
{
    char buf[160];
    for (struct json *c = json_first_mut(j), *next; c; c = next) {
        next = json_next_mut(c);
        if (json_string_value(c) && pick(2) == 0)
            json_replace(j, c, json_new_string(hostile(buf, sizeof buf)));
        else
            poison(c);
    }
}

static void poison_table(struct table *t)
{
    struct json *rows = json_copy(t->items);
    poison(rows);
    table_clear(t);
    for (const struct json *r = json_first(rows); r; r = json_next(r))
        table_put(t, r);
    json_free(rows);
}

static void poison_session(struct session *s)
{
    char buf[400];
    for (int i = 0; i < SESSION_TABLES; i++)
        poison_table(&s->tables[i]);
    hostile(s->message, 160);
    hostile(s->cluster.context, 60);
    hostile(s->cluster.ns, 60);
    hostile(s->run.pod, 60);
    hostile(s->run.error, 160);
    for (size_t i = 0; i < s->log_n; i++) {
        free(s->log[i].text);
        s->log[i].text = xstrdup(hostile(buf, sizeof buf));
    }
    for (size_t i = 0; i < s->api_n; i++) {
        free(s->api[i].path);
        free(s->api[i].kubectl);
        s->api[i].path = xstrdup(hostile(buf, sizeof buf));
        s->api[i].kubectl = xstrdup(hostile(buf, sizeof buf));
    }
}

static void paint(struct tty *t, const struct grid *g, const struct theme *th, bool ascii)
{
    term_paint(t, g, th, ascii, pick(3) == 0 ? pick(g->cols) : -1, pick(g->rows));
    term_settle(t);
}

/* Names of a kubeconfig, claims of a token, what the server says of rights. */
static void poison_connection(struct app *a, const char *screen)
{
    struct conn *c = &a->s->conn;
    struct json *contexts = json_from(fx_contexts_text), *rules = json_from(fx_rules_text);
    struct json *about = json_from(fx_about_text);
    poison(contexts);
    poison(rules);
    poison(about);
    fx_about(a);
    json_free(c->about);
    c->about = about;
    fx_run_command(a, screen, NULL);
    fx_reply(a, c->contexts_effect ? c->contexts_effect : 1, contexts, FIXTURE_NOW);
    fx_reply(a, c->rules_effect ? c->rules_effect : 1, rules, FIXTURE_NOW);
    hostile(a->s->tables[1].from, 60);
    hostile(a->s->tables[0].denied.verb, 16);
    hostile(a->s->tables[0].denied.ns, 60);
    a->s->tables[0].forbidden = true;
}

static void screens(struct tty *t, const struct theme *th)
{
    static const char *const keys[] = {"1", "2", "3", "4", "5", "6", "7", "z", "Tab", "j", "G",
                                       "v", "?", "Esc", "z", "g"};
    for (int round = 0; round < 6; round++) {
        struct app *a = fx_app(round % 2 ? "zh" : "en", 60 + pick(90), 16 + pick(30),
                               (enum glyph_set)pick(GLYPH_SET_COUNT));
        struct grid g;
        int cx, cy;
        fx_lab(a);
        fx_run(a->s);
        fx_log(a->s);
        fx_api(a->s);
        poison_session(a->s);
        hostile(a->note, 160);
        grid_init(&g, a->cols, a->rows);
        for (size_t i = 0; i < ARRAY_LEN(keys); i++) {
            fx_key(a, keys[i]);
            screen_draw(a, &g, &cx, &cy);
            CHECK(grid_sound(&g));
            paint(t, &g, th, a->glyphs == GLYPH_ASCII);
        }
        static const char *const more[] = {"ctx", "conn", "rights", "ns", "nodes"};
        for (size_t i = 0; i < ARRAY_LEN(more); i++) {
            poison_connection(a, more[i]);
            screen_draw(a, &g, &cx, &cy);
            CHECK(grid_sound(&g));
            paint(t, &g, th, a->glyphs == GLYPH_ASCII);
            fx_key(a, "Esc");
        }
        grid_release(&g);
        fx_free(a);
    }
}

static void cells(struct tty *t, const struct theme *th)
{
    struct grid g;
    char buf[200];
    grid_init(&g, 100, 30);
    for (int frame = 0; frame < 300; frame++) {
        for (int i = 0; i < 12; i++)
            grid_text(&g, pick(110) - 5, pick(30), pick(ROLE_COUNT), pick(8),
                      hostile(buf, sizeof buf));
        CHECK(grid_sound(&g));
        paint(t, &g, th, frame % 5 == 0);
        if (frame % 50 == 0)
            term_title(t, hostile(buf, sizeof buf));
        if (frame % 60 == 0)
            term_copy(t, hostile(buf, sizeof buf));
    }
    grid_release(&g);
}

static void inside(void)
{
    struct tty *t;
    struct theme th;
    struct pd_err err = {0};
    char note[160];
    setenv("TERM", "xterm-256color", 1);
    unsetenv("COLORTERM");
    i18n_init("en");
    if (theme_load("dark", &th, &err) != PD_OK || term_open(&t, note, &err) != PD_OK)
        _exit(9);
    cells(t, &th);
    screens(t, &th);
    term_close(t);
    _exit(0);
}

/* --- the bytes --------------------------------------------------------------------- */
static void unknown(const char *p, const char *start)
{
    struct str s;
    str_init(&s, 4096);
    for (const char *q = p - start > 24 ? p - 24 : start; q < p + 16 && *q; q++)
        str_printf(&s, (unsigned char)*q < 0x20 || (unsigned char)*q > 0x7e ? "<%02x>" : "%c",
                   (unsigned char)*q);
    t_fail(__FILE__, __LINE__, "unknown bytes at %zd: %s", p - start, s.p);
}

static const char *control(const char *p, const char *start)
{
    static const char *const modes[] = {"1", "12", "25", "1049", "1000", "1006", "2004", "2026",
                                        "7"};
    const char *body = p + 2, *end = body + strspn(body, "0123456789;:?");
    bool ask = *body == '?';
    if (ask) {
        bool known = *end == 'h' || *end == 'l';
        bool found = false;
        for (size_t i = 0; i < ARRAY_LEN(modes); i++)
            found = found || (strlen(modes[i]) == (size_t)(end - body - 1) &&
                              strncmp(modes[i], body + 1, strlen(modes[i])) == 0);
        if (!known || !found)
            unknown(p, start);
    } else if (!strchr("HABCDGdJKXPL@MSTmrb", *end) && strncmp(p, "\033[22;0;0t", 9) != 0 &&
               strncmp(p, "\033[23;0;0t", 9) != 0 && strncmp(p, "\033[22;2t", 7) != 0 &&
               strncmp(p, "\033[23;2t", 7) != 0 && strncmp(p, "\033[4l", 4) != 0) {
        unknown(p, start);
    }
    return end + 1;
}

/* OSC 2 with clean text, OSC 52 with base64: nothing else is ever said. */
static const char *command(const char *p, const char *start)
{
    const char *end = p + 2;
    while (*end && (unsigned char)*end >= 0x20 && *end != 0x7f)
        end++;
    bool title = strncmp(p, "\033]2;", 4) == 0 && strncmp(end, "\033\\", 2) == 0;
    bool copy = strncmp(p, "\033]52;c;", 7) == 0 && *end == '\007' &&
                strspn(p + 7, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/=")
                    == (size_t)(end - p - 7);
    if (!title && !copy)
        unknown(p, start);
    return end + (title ? 2 : 1);
}

static const char *character(const char *p, const char *start)
{
    int n;
    uint32_t cp = utf8_decode(p, strlen(p), &n);
    bool format = (cp >= 0x200B && cp <= 0x200F) || (cp >= 0x2028 && cp <= 0x202E) ||
                  (cp >= 0x2060 && cp <= 0x206F) || (cp >= 0xFE00 && cp <= 0xFE0F) ||
                  cp == 0xFEFF || cp >= 0xE0000;
    if (format || cp < 0x20 || (cp >= 0x7f && cp < 0xa0) || (cp == 0xFFFD && n == 1))
        unknown(p, start);
    return p + n;
}

static void account(const char *start)
{
    for (const char *p = start; *p;) {
        if (p[0] == '\033' && p[1] == '[')
            p = control(p, start);
        else if (p[0] == '\033' && p[1] == ']')
            p = command(p, start);
        else if (p[0] == '\033' && p[1] == '(' && p[2] == 'B')
            p += 3;
        else if (p[0] == '\033' && p[1] && strchr("=>M\\78", p[1]))
            p += 2;
        else if (*p == '\r' || *p == '\n' || *p == '\b' || *p == '\t')
            p++;
        else
            p = character(p, start);
    }
}

TEST(every_byte_is_accounted_for)
{
    struct winsize ws = {.ws_col = 120, .ws_row = 40};
    struct str all;
    int fd, status = 0;
    char buf[65536];
    ssize_t n;
    str_init(&all, 256 << 20);
    pid_t pid = forkpty(&fd, NULL, NULL, &ws);
    if (pid == 0)
        inside();
    while ((n = read(fd, buf, sizeof buf)) > 0) {
        CHECK(!memchr(buf, '\0', (size_t)n));
        str_append(&all, buf, (size_t)n);
    }
    CHECK(waitpid(pid, &status, 0) == pid);
    CHECK_MSG(WIFEXITED(status) && WEXITSTATUS(status) == 0, "ended with %d:\n%s", status,
              all.p + MAX((int)all.len - 600, 0));
    CHECK(all.len > 100000);
    account(all.p);
    close(fd);
    str_release(&all);
}

/* The check itself is not blind. */
TEST(the_whitelist_sees_what_is_foreign)
{
    static const char *const bad[] = {"\033[6n", "\033]0;x\007", "\033c", "\033[?1003h", "\033[5i",
                                      "\xc2\x9b", "\xe2\x80\xae", "\033P", "\007", "\016",
                                      "\033]52;c;?\007", "\xff"};
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        int status;
        pid_t pid = fork();
        if (pid == 0) {
            dup2(open("/dev/null", O_WRONLY), 1);
            dup2(1, 2);
            account(bad[i]);
            _exit(0);
        }
        CHECK(waitpid(pid, &status, 0) == pid);
        CHECK_MSG(status != 0, "row %zu passed", i);
    }
}

T_MAIN
