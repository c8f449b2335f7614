/* tui_settings.c - the settings: their file with every mistake's place, who
 * wins over whom, changing, saving and taking back. */
#include "tests/screens/fixture.h"

#include "core/base/yaml.h"
#include "tui/settings.h"

static void send(struct app *a, enum msg_kind kind, struct json *body, struct effects *out)
{
    struct msg *m = msg_new(kind, body);
    m->at_ms = FIXTURE_NOW;
    app_apply(a, m, out);
    msg_free(m);
}

static void command(struct app *a, struct effects *out, const char *name, const char *one,
                    const char *two, const char *three)
{
    struct json *body = json_new_object(), *args = json_new_array();
    const char *list[] = {one, two, three};
    json_put_str(body, "name", name);
    for (size_t i = 0; i < ARRAY_LEN(list) && list[i]; i++)
        json_append(args, json_new_string(list[i]));
    json_set(body, "args", args);
    send(a, MSG_COMMAND, body, out);
}

static void file(struct app *a, struct effects *out, const char *path, const char *text)
{
    struct json *body = json_new_object();
    json_put_str(body, "path", path);
    json_put_str(body, "text", text);
    send(a, MSG_FILE, body, out);
}

/* The text that the last write of a path would write; NULL: none. */
static const char *written(const struct effects *out, const char *path)
{
    for (size_t i = out->n; i > 0; i--)
        if (out->v[i - 1].kind == EFF_WRITE &&
            str_eq(json_str(out->v[i - 1].args, "path", ""), path))
            return json_str(out->v[i - 1].args, "text", "");
    return NULL;
}

static const char *value(const struct app *a, enum setting i)
{
    static char buf[64];
    return settings_at(i)->get(a, buf);
}

TEST(every_mistake_of_the_file_has_its_place)
{
    static const struct { const char *text; int line, col; const char *says; } cases[] = {
        {"theme: dark\nthem: light\n", 2, 1, "did you mean 'theme'"},
        {"qqqqqq: 1\n", 1, 1, "no setting 'qqqqqq'"},
        {"lang: fr\n", 1, 7, "en, zh"},
        {"frames: 31\n", 1, 9, "5, 10, 20, 30"},
        {"smooth: 1.5\n", 1, 9, "0.9"},
        {"big: maybe\n", 1, 6, "off, on"},
        {"big: [on]\n", 1, 6, "off, on"},
        {"big:\n", 1, 5, "off, on"},
        {"- big\n", 1, 1, "NAME: value"},
        {"big: on\nbig: off\n", 2, 1, ""},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        const char *values[SET_COUNT];
        struct ydoc *docs;
        struct faults f = {0};
        config_parse("config.yaml", cases[i].text, strlen(cases[i].text), values, &docs, &f);
        CHECK_MSG(f.bad == 1, "%zu faults in %s", f.bad, cases[i].text);
        CHECK_INT(f.v[0].line, cases[i].line);
        CHECK_INT(f.v[0].col, cases[i].col);
        CHECK_HAS(f.v[0].msg, cases[i].says);
        CHECK(!values[SET_LANG] && !values[SET_FRAMES] && !values[SET_SMOOTH]);
        yaml_docs_free(docs);
        faults_release(&f);
    }
}

TEST(one_line_changes_and_all_others_stay)
{
    static const struct { const char *was, *name, *value, *is; } cases[] = {
        {"# mine\ntheme: dark   # for the evening\nx-note: keep\n", "theme", "light",
         "# mine\ntheme: light   # for the evening\nx-note: keep\n"},
        {"theme: \"dark\"\nbig: on", "theme", "mono", "theme: mono\nbig: on"},
        {"theme: dark\nbig: on\n", "theme", NULL, "big: on\n"},
        {"", "theme", "light", "theme: light\n"},
        {"big: on", "theme", "light", "big: on\ntheme: light\n"},
        {"# only words\n", "theme", "light", "# only words\ntheme: light\n"},
        {"big: on\n", "theme", NULL, "big: on\n"},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct str out;
        str_init(&out, 1 << 16);
        CHECK_MSG(config_edit(cases[i].was, cases[i].name, cases[i].value, &out), "%zu", i);
        CHECK_STR(out.p, cases[i].is);
        str_release(&out);
    }
}

/* What podium can't change safely it leaves alone. */
TEST(odd_files_are_left_alone)
{
    static const char *const odd[] = {"{theme: dark}\n", "theme: |\n  dark\n", "- a\n", "a: [\n",
                                      "theme:\n  a: b\n", "--- {}\n"};
    for (size_t i = 0; i < ARRAY_LEN(odd); i++) {
        struct str out;
        str_init(&out, 1 << 16);
        bool ok = config_edit(odd[i], "theme", "light", &out);
        CHECK_MSG(!ok || strstr(out.p, "light"), "%s became %s", odd[i], out.p);
        CHECK_MSG(i > 3 || !ok, "%s became %s", odd[i], out.p);
        str_release(&out);
    }
}

TEST(an_option_wins_over_the_environment_and_that_over_the_file)
{
    struct app *a = fx_app("en", 80, 24, GLYPH_UNICODE);
    struct effects out;
    effects_init(&out);
    command(a, &out, "files", "/c/config.yaml", "/c/keys.yaml", NULL);
    command(a, &out, "set.from", "theme", "mono", "auto");
    command(a, &out, "set.from", "big", "on", "env");
    command(a, &out, "set.from", "frames", "10", "flag");
    file(a, &out, "/c/config.yaml", "theme: light\nbig: off\nframes: 5\nages: 5\nclock: no\n");
    CHECK_STR(value(a, SET_THEME), "light");
    CHECK_STR(value(a, SET_BIG), "on");
    CHECK_STR(value(a, SET_FRAMES), "10");
    CHECK_STR(value(a, SET_AGES), "5");
    CHECK_STR(value(a, SET_CLOCK), "off");
    CHECK_INT(a->set_from[SET_THEME], FROM_FILE);
    CHECK_INT(a->set_from[SET_BIG], FROM_ENV);
    CHECK_INT(a->set_from[SET_FRAMES], FROM_FLAG);
    file(a, &out, "/c/config.yaml", "big: off\n");       /* changed by hand */
    CHECK_STR(value(a, SET_THEME), "mono");
    CHECK_INT(a->set_from[SET_THEME], FROM_AUTO);
    CHECK_STR(value(a, SET_CLOCK), "on");
    effects_release(&out);
    fx_free(a);
}

TEST(the_console_starts_with_a_faulty_file_and_says_so)
{
    struct app *a = fx_app("en", 80, 24, GLYPH_UNICODE);
    struct effects out;
    struct str s;
    effects_init(&out);
    command(a, &out, "files", "/c/config.yaml", "/c/keys.yaml", NULL);
    file(a, &out, "/c/config.yaml", "theme: light\nfrmaes: 5\n");
    CHECK_STR(value(a, SET_THEME), "light");
    fx_screen(a, &s);
    CHECK_HAS(s.p, "/c/config.yaml:2:1: there is no setting 'frmaes'");
    str_release(&s);
    file(a, &out, "/c/keys.yaml", "keys:\n  quit: Q\n  nothing: x\n");
    CHECK_HAS(a->note, "/c/keys.yaml:3:3:");
    CHECK_STR(cmd_keys(a, cmd_by_name("quit"), VIEW_CATALOGUE), "Q");
    effects_release(&out);
    fx_free(a);
}

TEST(the_screen_changes_saves_and_takes_back)
{
    struct app *a = fx_app("en", 80, 24, GLYPH_UNICODE);
    struct effects out;
    effects_init(&out);
    command(a, &out, "files", "/c/config.yaml", "/c/keys.yaml", NULL);
    file(a, &out, "/c/config.yaml", "# mine\nx-a: 1\n");
    command(a, &out, "settings", NULL, NULL, NULL);
    CHECK_INT(app_view(a), VIEW_SETTINGS);
    command(a, &out, "down", NULL, NULL, NULL);
    CHECK_INT(a->sel[PANEL_SETTINGS], SET_THEME);
    struct json *body = json_new_object();
    json_put_str(body, "key", "Right");
    send(a, MSG_KEY, body, &out);
    CHECK_STR(value(a, SET_THEME), "light");
    CHECK_STR(written(&out, "/c/config.yaml"), "# mine\nx-a: 1\ntheme: light\n");
    command(a, &out, "set", "big on", NULL, NULL);
    CHECK_STR(written(&out, "/c/config.yaml"), "# mine\nx-a: 1\ntheme: light\nbig: on\n");
    command(a, &out, "undo", NULL, NULL, NULL);
    CHECK_STR(value(a, SET_BIG), "off");
    CHECK_STR(written(&out, "/c/config.yaml"), "# mine\nx-a: 1\ntheme: light\n");
    command(a, &out, "undo", NULL, NULL, NULL);
    CHECK_STR(value(a, SET_THEME), "dark");
    CHECK_STR(written(&out, "/c/config.yaml"), "# mine\nx-a: 1\n");
    CHECK(!cmd_has_undo(a));
    effects_release(&out);
    fx_free(a);
}

TEST(every_setting_has_a_choice_that_holds)
{
    struct app *a = fx_app("en", 120, 40, GLYPH_UNICODE);
    struct effects out;
    effects_init(&out);
    for (int i = 0; i < SET_COUNT; i++)
        for (int k = 0; settings_at((size_t)i)->choice(k); k++) {
            char arg[96];
            const char *want = settings_at((size_t)i)->choice(k);
            CHECK(settings_ok((enum setting)i, want));
            command(a, &out, "set", str_fmt(arg, sizeof arg, "%s %s", settings_at((size_t)i)->name,
                                            want), NULL, NULL);
            CHECK_STR(value(a, (enum setting)i), want);
            command(a, &out, "set", "ambiguous narrow", NULL, NULL);
            command(a, &out, "set", "glyphs unicode", NULL, NULL);
        }
    CHECK(a->undo_n <= APP_UNDO_MOST);
    effects_release(&out);
    fx_free(a);
}

TEST(wide_signs_are_never_box_lines)
{
    struct app *a = fx_app("en", 80, 24, GLYPH_UNICODE);
    struct effects out;
    effects_init(&out);
    command(a, &out, "set", "ambiguous wide", NULL, NULL);
    CHECK_STR(value(a, SET_GLYPHS), "cjk-safe");
    command(a, &out, "set", "glyphs unicode", NULL, NULL);
    CHECK_STR(value(a, SET_GLYPHS), "cjk-safe");
    command(a, &out, "set", "ambiguous narrow", NULL, NULL);
    effects_release(&out);
    fx_free(a);
}

TEST(chinese_is_refused_where_only_ascii_is_shown)
{
    struct app *a = fx_app("en", 80, 24, GLYPH_ASCII);
    struct effects out;
    effects_init(&out);
    command(a, &out, "language", "zh", NULL, NULL);
    CHECK_STR(i18n_lang(), "en");
    CHECK_HAS(a->note, "ASCII");
    effects_release(&out);
    fx_free(a);
}

TEST(the_last_errors_stand_in_full)
{
    struct app *a = fx_app("en", 100, 30, GLYPH_UNICODE);
    struct str s;
    struct pd_err err = {0};
    pd_fail_at(&err, PD_LAB, "/labs/x/lab.yaml", 7, 3, "a lab has no key \"titel\"");
    app_fault(a, &err);
    for (int i = 0; i < 40; i++)
        app_note(a, false, "said %d", i);
    CHECK_INT(a->said_n, APP_SAID_MOST);
    app_fault(a, &err);
    fx_key(a, "!");
    CHECK_INT(app_view(a), VIEW_MESSAGES);
    fx_screen(a, &s);
    CHECK_HAS(s.p, "PD-LAB");
    CHECK_HAS(s.p, "02:00:00");
    CHECK_HAS(s.p, "a lab has no key \"titel\"");
    CHECK_HAS(s.p, "/labs/x/lab.yaml:7:3");
    CHECK_HAS(s.p, "correct it at the place named");
    CHECK_HAS(s.p, "said 39");
    str_release(&s);
    fx_key(a, "Esc");
    CHECK_INT(app_view(a), VIEW_CATALOGUE);
    fx_free(a);
}

T_MAIN
