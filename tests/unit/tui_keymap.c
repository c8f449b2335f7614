/* tui_keymap.c - the person's own keys: what is taken, what is refused and
 * where, and that everything shown follows. */
#include "tests/screens/fixture.h"

static void parse(const char *text, struct keymap *k, struct faults *f)
{
    memset(f, 0, sizeof *f);
    keymap_parse("keys.yaml", text, strlen(text), k, f);
}

static const char *keys(const struct keymap *k, const char *command, unsigned view)
{
    return keymap_keys(k, cmd_by_name(command), view);
}

TEST(keys_of_everywhere_and_of_one_view)
{
    struct keymap k;
    struct faults f;
    parse("# mine\nkeys:\n  step.run: [x, F5]\n  theme: []\nviews:\n  log:\n    step.run: F6\n"
          "x-note: kept\n", &k, &f);
    CHECK_INT(f.bad, 0);
    CHECK_STR(keys(&k, "step.run", VIEW_STEP), "x F5");
    CHECK_STR(keys(&k, "step.run", VIEW_LOG), "F6");
    CHECK_STR(keys(&k, "theme", VIEW_CATALOGUE), "");
    CHECK_STR(keys(&k, "step.check", VIEW_STEP), "c");
    keymap_release(&k);
    faults_release(&f);
}

/* Each with its line and column. */
TEST(every_mistake_has_its_place)
{
    static const struct { const char *text; int line, col; const char *says; } cases[] = {
        {"keys:\n  step.rum: r\n", 2, 3, "step.run"},
        {"keys:\n  step.run: rr\n", 2, 13, "'rr' is no key"},
        {"keys:\n  step.run: [x, F13]\n", 2, 17, "'F13' is no key"},
        {"keys:\n  step.run: {a: b}\n", 2, 13, "a key is a text"},
        {"views:\n  lok:\n    log.keep: f\n", 2, 3, "'log'"},
        {"views:\n  catalogue:\n    log.keep: f\n", 3, 5, "no place"},
        {"other: 1\n", 1, 1, "not known here"},
        {"keys:\n  step.run: x\n  step.check: x\n", 3, 3, "already the key of 'step.run'"},
        {"keys:\n  back: []\n", 2, 9, "can't be without a key"},
        {"keys:\n  log.keep: q\n", 2, 3, "the key of 'back'"},
        {"keys:\n  step.run: \":\"\n", 2, 3, "the key of 'palette'"},
        {"- a\n", 1, 1, "a map with keys"},
        {"keys: [a]\n", 1, 7, "command: keys"},
        {"keys:\n  step.run: [x\n", 0, 0, ""},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct keymap k;
        struct faults f;
        parse(cases[i].text, &k, &f);
        CHECK_MSG(f.bad == 1, "%zu: %zu faults in\n%s", i, f.bad, cases[i].text);
        if (cases[i].line) {
            CHECK_INT(f.v[0].line, cases[i].line);
            CHECK_INT(f.v[0].col, cases[i].col);
        }
        CHECK_HAS(f.v[0].msg, cases[i].says);
        CHECK_STR(keys(&k, "back", VIEW_LOG), "Esc q");
        keymap_release(&k);
        faults_release(&f);
    }
}

TEST(a_key_is_taken_from_a_default_and_said)
{
    struct keymap k;
    struct faults f;
    parse("keys:\n  step.check: r\n", &k, &f);
    CHECK_INT(f.bad, 0);
    CHECK_INT(f.n, 1);
    CHECK_HAS(f.v[0].msg, "r is taken from 'step.run'");
    CHECK_STR(keys(&k, "step.run", VIEW_STEP), "");
    CHECK_STR(keys(&k, "step.check", VIEW_STEP), "r");
    keymap_release(&k);
    faults_release(&f);
    parse("keys:\n  step.run: x\n  step.check: [x, F2]\n", &k, &f);
    CHECK_STR(keys(&k, "step.run", VIEW_STEP), "x");     /* the first keeps it */
    CHECK_STR(keys(&k, "step.check", VIEW_STEP), "F2");
    keymap_release(&k);
    faults_release(&f);
    parse("keys:\n  back: [Esc]\n  log.keep: q\n", &k, &f);
    CHECK_INT(f.bad, 0);
    CHECK_STR(keys(&k, "log.keep", VIEW_LOG), "q");
    CHECK_STR(keys(&k, "back", VIEW_LOG), "Esc");
    keymap_release(&k);
    faults_release(&f);
}

TEST(what_is_shown_follows_the_map)
{
    struct app *a = fx_app("en", 120, 40, GLYPH_UNICODE);
    struct faults f;
    struct str s;
    fx_lab(a);
    parse("keys:\n  step.check: F5\n", &a->keymap, &f);
    CHECK(cmd_for_key(a, VIEW_STEP, "F5") == cmd_by_name("step.check"));
    CHECK(!cmd_for_key(a, VIEW_STEP, "c"));
    fx_screen(a, &s);
    CHECK_HAS(s.p, "F5 check");
    str_release(&s);
    fx_key(a, "?");
    fx_screen(a, &s);
    CHECK_HAS(s.p, "F5           check this step now");
    str_release(&s);
    faults_release(&f);
    fx_free(a);
}

/* Every view with keys can be named in the file. */
TEST(every_view_has_a_name)
{
    for (size_t i = 0; i < cmd_count(); i++) {
        unsigned left = cmd_at(i)->views & ~(unsigned)VIEW_PROMPT;
        for (size_t v = 0; keymap_view_at(v); v++)
            left &= ~keymap_view_at(v);
        CHECK_MSG(!left, "%s: a view 0x%x without a name in tui/keymap.c", cmd_at(i)->name, left);
    }
}

T_MAIN
