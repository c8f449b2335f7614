/* tui_keys.c - the one table of commands: complete, without doubles, and what
 * is shown works. */
#include "tests/screens/fixture.h"
#include "tui/confirm.h"
#include "tui/help.h"
#include "tui/palette.h"
#include "tui/prompt.h"

static const enum view views[] = {VIEW_CATALOGUE, VIEW_STEP, VIEW_CLUSTER, VIEW_LOG, VIEW_CURVE,
                                  VIEW_API, VIEW_WHY, VIEW_BUILD, VIEW_HELP, VIEW_EDIT,
                                  VIEW_CONFIRM,
                                  VIEW_SETTINGS, VIEW_MESSAGES, VIEW_KEYS, VIEW_PODS,
                                  VIEW_NODES, VIEW_EVENTS, VIEW_OBJECT, VIEW_YAML};

/* n and N are of the search while one is active, else of the steps. */
static bool in_turn(const struct cmd *a, const struct cmd *b)
{
    return a->when == cmd_log_searching || b->when == cmd_log_searching;
}

TEST(no_key_means_two_things_in_a_view)
{
    struct app *a = fx_app("en", 80, 24, GLYPH_UNICODE);
    for (size_t v = 0; v < ARRAY_LEN(views); v++)
        for (size_t i = 0; i < cmd_count(); i++) {
            const struct cmd *c = cmd_at(i);
            struct strv keys;
            if (!(c->views & views[v]))
                continue;
            strv_init(&keys);
            strv_split(&keys, c->keys, ' ');
            for (size_t k = 0; k < keys.n && c->keys[0]; k++)
                if (cmd_for_key(a, views[v], keys.v[k]) != c &&
                    !in_turn(c, cmd_for_key(a, views[v], keys.v[k])))
                    t_fail(__FILE__, __LINE__, "key %s: %s and %s", keys.v[k], c->name,
                           cmd_for_key(a, views[v], keys.v[k])->name);
            strv_release(&keys);
        }
    fx_free(a);
}

TEST(every_command_has_name_help_and_place)
{
    for (size_t i = 0; i < cmd_count(); i++) {
        const struct cmd *c = cmd_at(i);
        CHECK(c->name[0] && c->help[0] && c->views);
        CHECK(cmd_by_name(c->name) == c);
        CHECK_MSG((c->rank > 0) == (c->row != 0), "%s: rank and row", c->name);
        CHECK_MSG((c->rank > 0) == (c->label[0] != '\0'), "%s: rank and label", c->name);
        CHECK_MSG((c->row & ~c->views) == 0, "%s: shown where it does not hold", c->name);
    }
}

static void go(struct app *a, enum view view)
{
    static const struct { enum view view; const char *key; } ways[] = {
        {VIEW_CLUSTER, "1"}, {VIEW_LOG, "2"}, {VIEW_CURVE, "3"}, {VIEW_API, "4"},
        {VIEW_WHY, "5"}, {VIEW_BUILD, "6"},
        {VIEW_HELP, "?"}};
    if (view != VIEW_CATALOGUE) {
        fx_lab(a);
        fx_run(a->s);
        fx_log(a->s);
        fx_api(a->s);
    }
    for (size_t i = 0; i < ARRAY_LEN(ways); i++)
        if (ways[i].view == view)
            fx_key(a, ways[i].key);
    if (view == VIEW_EDIT)
        edit_open(&a->edit, "/tmp/x.yaml", "a: 1\n");
    if (view == VIEW_SETTINGS)
        app_over(a, PANEL_SETTINGS);
    if (view == VIEW_MESSAGES)
        app_over(a, PANEL_MESSAGES);
    if (view == VIEW_KEYS)
        app_over(a, PANEL_KEYS);
    static const struct { enum view view; enum panel_id panel; } lists[] = {
        {VIEW_PODS, PANEL_PODS}, {VIEW_NODES, PANEL_NODES}, {VIEW_EVENTS, PANEL_EVENTS},
        {VIEW_OBJECT, PANEL_OBJECT}, {VIEW_YAML, PANEL_YAML}};
    a->object = (struct app_object){"Pod", "dataaccess-0", ""};
    for (size_t i = 0; i < ARRAY_LEN(lists); i++)
        if (lists[i].view == view)
            app_over(a, lists[i].panel);
    if (view == VIEW_CONFIRM)
        confirm_ask(a, &(struct confirm){.title = "Sure?", .verb = "Do", .command = "redraw"});
    CHECK_INT(app_view(a), view);
}

TEST(every_binding_is_in_the_help)
{
    for (size_t v = 0; v < ARRAY_LEN(views); v++) {
        struct rows rows;
        struct str all;
        if (views[v] & (VIEW_HELP | VIEW_CONFIRM))
            continue;
        struct app *a = fx_app("en", 120, 40, GLYPH_UNICODE);
        go(a, views[v]);
        a->help = true;
        rows_init(&rows, GLYPH_UNICODE);
        str_init(&all, 1 << 20);
        help_rows(a, &rows, 100);
        for (int i = 0; i < rows.n; i++) {
            rows_text(&rows.v[i], &all);
            str_addc(&all, '\n');
        }
        for (size_t i = 0; i < cmd_count(); i++) {
            const struct cmd *c = cmd_at(i);
            char keys[48];
            if (!(c->views & views[v]) || !c->keys[0])
                continue;
            CHECK_HAS(all.p, cmd_keys_label(c->keys, keys));
            CHECK_HAS(all.p, c->help);
        }
        str_release(&all);
        rows_release(&rows);
        fx_free(a);
    }
}

static void snapshot(const struct app *a, struct effects *out, struct str *s)
{
    fx_screen(a, s);
    str_printf(s, "%d %zu", (int)a->prompt.kind, out->n);
}

/* Each key that the row shows does something: the screen, a flag or an effect
 * changes. */
TEST(every_key_of_the_row_works)
{
    for (size_t v = 0; v < ARRAY_LEN(views); v++)
        for (size_t i = 0; i < cmd_count(); i++) {
            const struct cmd *c = cmd_at(i);
            struct str before, after;
            struct effects out;
            char key[32] = "";
            if (!(c->row & views[v]))
                continue;
            struct app *a = fx_app("en", 120, 40, GLYPH_UNICODE);
            go(a, views[v]);
            if (!cmd_enabled(c, a) || !c->run) {
                fx_free(a);
                continue;
            }
            effects_init(&out);
            if (c->run == cmd_follow)
                a->log_follow = false;
            snapshot(a, &out, &before);
            str_copy(key, MIN(sizeof key, strcspn(c->keys, " ") + 1), c->keys);
            struct json *body = json_new_object();
            json_put_str(body, "key", key);
            struct msg *m = msg_new(MSG_KEY, body);
            m->at_ms = FIXTURE_NOW;
            app_apply(a, m, &out);
            msg_free(m);
            snapshot(a, &out, &after);
            CHECK_MSG(strcmp(before.p, after.p) != 0, "%s (%s) does nothing", c->name, key);
            str_release(&before);
            str_release(&after);
            effects_release(&out);
            fx_free(a);
        }
}

/* Commands without a function are the session's: their names stand in its
 * manual. */
TEST(session_commands_exist)
{
    static const char *const known[] = {"step.run", "step.edit", "step.check", "step.hint",
                                        "step.next", "step.prev", "op.cancel", "train.save",
                                        "train.pause", "train.resume", "train.quit",
                                        "lab.cleanup", "lab.simulate", "log.previous",
                                        "log.containers", "log.clear", "step.preview"};
    for (size_t i = 0; i < cmd_count(); i++) {
        bool ok = cmd_at(i)->run != NULL;
        for (size_t k = 0; k < ARRAY_LEN(known); k++)
            ok = ok || str_eq(known[k], cmd_at(i)->name);
        CHECK_MSG(ok, "%s goes nowhere", cmd_at(i)->name);
    }
}

TEST(palette_finds_and_runs)
{
    struct app *a = fx_app("en", 80, 24, GLYPH_UNICODE);
    go(a, VIEW_STEP);
    const struct cmd *found[PALETTE_MOST];
    fx_key(a, ":");
    CHECK(palette_find(a, found) > 20);
    const char *text = "curve.l";
    for (const char *p = text; *p; p++)
        fx_key(a, (char[]){*p, '\0'});
    CHECK(palette_find(a, found) >= 2);
    CHECK(str_starts(found[0]->name, "curve.l"));
    fx_key(a, "o");
    fx_key(a, "Tab");
    CHECK_STR(a->prompt.text, "curve.log ");
    fx_key(a, "Enter");
    CHECK_INT(a->prompt.kind, PROMPT_NONE);
    CHECK(a->curve.log_y);
    fx_key(a, ":");
    fx_key(a, "q");
    fx_key(a, "q");
    fx_key(a, "q");
    fx_key(a, "Enter");
    CHECK_HAS(a->note, "qqq");
    fx_key(a, ":");
    fx_key(a, "Esc");
    CHECK_INT(a->prompt.kind, PROMPT_NONE);
    fx_free(a);
}

TEST(the_input_line_edits_utf8)
{
    struct app *a = fx_app("en", 80, 24, GLYPH_UNICODE);
    go(a, VIEW_LOG);
    fx_key(a, "&");
    fx_key(a, "数");
    fx_key(a, "据");
    fx_key(a, "Left");
    fx_key(a, "x");
    CHECK_STR(a->prompt.text, "数x据");
    fx_key(a, "Backspace");
    fx_key(a, "Backspace");
    CHECK_STR(a->prompt.text, "据");
    fx_key(a, "C-u");
    prompt_paste(a, "数\033[31m\nrest");
    fx_key(a, "Del");
    fx_key(a, "C-a");
    fx_key(a, "Enter");
    CHECK(a->filter[0] != '\0' && !strchr(a->filter, '\033'));
    fx_key(a, "Esc");
    CHECK_STR(a->filter, "");
    fx_free(a);
}

T_MAIN
