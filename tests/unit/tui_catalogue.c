/* tui_catalogue.c - the labs by track: states, order, filter, and starting one
 * over with a way back. */
#include "tests/screens/fixture.h"
#include "tui/catalogue.h"

static void send(struct app *a, enum msg_kind kind, uint32_t effect, struct json *body,
                 struct effects *out)
{
    struct msg *m = msg_new(kind, body);
    m->at_ms = FIXTURE_NOW;
    m->effect = effect;
    app_apply(a, m, out);
    msg_free(m);
}

static void key(struct app *a, const char *name, struct effects *out)
{
    struct json *body = json_new_object();
    json_put_str(body, "key", name);
    send(a, MSG_KEY, 0, body, out);
}

static int lab(const struct app *a, const char *id)
{
    for (size_t i = 0; i < a->labs->n; i++)
        if (str_eq(a->labs->v[i].id, id))
            return (int)i;
    return -1;
}

static const struct effect *effect_of(const struct effects *out, enum effect_kind kind)
{
    for (size_t i = out->n; i > 0; i--)
        if (out->v[i - 1].kind == kind)
            return &out->v[i - 1];
    return NULL;
}

TEST(states_say_what_can_be_done)
{
    struct app *a = fx_app("en", 80, 24, GLYPH_UNICODE);
    CHECK_INT(catalogue_state(a, lab(a, "check-cluster")), CATALOGUE_READY);
    CHECK_INT(catalogue_state(a, lab(a, "lora-gaudi")), CATALOGUE_NEEDS);
    CHECK_INT(catalogue_state(a, lab(a, "serve-adapter")), CATALOGUE_LOCKED);
    CHECK_INT(catalogue_state(a, lab(a, "broken")), CATALOGUE_BROKEN);
    a->lab_done[lab(a, "lora-gaudi")] = 2;
    CHECK_INT(catalogue_state(a, lab(a, "lora-gaudi")), CATALOGUE_BEGUN);
    a->lab_done[lab(a, "lora-gaudi")] = 4;
    CHECK_INT(catalogue_state(a, lab(a, "lora-gaudi")), CATALOGUE_DONE);
    CHECK_INT(catalogue_state(a, lab(a, "serve-adapter")), CATALOGUE_READY);
    fx_free(a);
}

TEST(tracks_stand_together_and_labs_behind_what_comes_before)
{
    static const char *const want[] = {"check-cluster", "lora-gaudi", "serve-adapter", "broken"};
    struct app *a = fx_app("en", 80, 24, GLYPH_UNICODE);
    int v[CATALOGUE_MOST], n = catalogue_order(a, v);
    CHECK_INT(n, 4);
    for (int i = 0; i < n; i++) {
        CHECK_STR(a->labs->v[v[i]].id, want[i]);
        CHECK_INT(catalogue_number(a, v[i]), i + 1);
    }
    a->labs->v[lab(a, "serve-adapter")].lab->after = "";
    a->labs->v[lab(a, "lora-gaudi")].lab->after = "serve-adapter";
    CHECK_INT(catalogue_number(a, lab(a, "lora-gaudi")), 3);
    a->labs->v[lab(a, "lora-gaudi")].lab->after = "";
    a->labs->v[lab(a, "serve-adapter")].lab->after = "lora-gaudi";
    fx_key(a, "j");
    fx_key(a, "s");                      /* by name: the selection stays on its lab */
    CHECK_INT(catalogue_selected(a), lab(a, "lora-gaudi"));
    CHECK_INT(catalogue_number(a, lab(a, "lora-gaudi")), 2);
    fx_key(a, "s");
    CHECK_INT(catalogue_order(a, v), 4);
    CHECK_STR(a->labs->v[v[0]].id, "check-cluster");     /* 10 minutes */
    fx_free(a);
}

TEST(a_filter_shows_what_has_it)
{
    struct app *a = fx_app("en", 80, 24, GLYPH_UNICODE);
    int v[CATALOGUE_MOST];
    fx_key(a, "/");
    for (const char *p = "gaudi"; *p; p++)
        fx_key(a, (char[]){*p, '\0'});
    fx_key(a, "Enter");
    CHECK_INT(catalogue_order(a, v), 2);                 /* by name and by hardware */
    CHECK_INT(catalogue_selected(a), lab(a, "lora-gaudi"));
    fx_key(a, "Esc");
    CHECK_INT(catalogue_order(a, v), 4);
    CHECK_INT(catalogue_selected(a), lab(a, "lora-gaudi"));
    fx_free(a);
}

TEST(a_locked_lab_says_what_comes_first)
{
    struct app *a = fx_app("en", 80, 24, GLYPH_UNICODE);
    catalogue_select(a, lab(a, "serve-adapter"));
    fx_key(a, "Enter");
    CHECK(!a->s->lab);
    CHECK_HAS(a->note, "LoRA on Gaudi");
    catalogue_select(a, lab(a, "broken"));
    fx_key(a, "Enter");
    CHECK_HAS(a->note, "lab.yaml:3:1");
    fx_free(a);
}

TEST(starting_over_asks_once_and_can_be_taken_back)
{
    struct app *a = fx_app("en", 80, 24, GLYPH_UNICODE);
    struct effects out;
    int i = lab(a, "lora-gaudi");
    setenv("HOME", t_dir(), 1);
    effects_init(&out);
    a->lab_done[i] = 3;
    catalogue_select(a, i);
    key(a, "R", &out);
    CHECK_INT(app_view(a), VIEW_CONFIRM);
    key(a, "Enter", &out);               /* Cancel is the default */
    CHECK(!effect_of(&out, EFF_MOVE));
    CHECK_INT(a->lab_done[i], 3);
    key(a, "R", &out);
    key(a, "y", &out);
    const struct effect *move = effect_of(&out, EFF_MOVE), *child = effect_of(&out, EFF_SPAWN);
    CHECK(move && child);
    CHECK(str_ends(json_str(move->args, "path", ""), "/work/lora-gaudi"));
    CHECK_HAS(json_str(move->args, "to", ""), "/work/lora-gaudi.");
    CHECK_STR(json_str(child->args, "argv[2]", ""), "reset");
    CHECK_STR(json_str(child->args, "argv[3]", ""), "lora-gaudi");
    uint32_t moved = move->id, cleared = child->id;
    send(a, MSG_REPLY, moved, json_new_object(), &out);
    CHECK_INT(a->lab_done[i], 0);
    struct json *exit = json_new_object();
    json_put_num(exit, "code", 0);
    send(a, MSG_CHILD_EXIT, cleared, exit, &out);
    CHECK_HAS(a->note, "is as new");
    key(a, "u", &out);
    move = effect_of(&out, EFF_MOVE);
    CHECK(move->id != moved);
    CHECK(str_ends(json_str(move->args, "to", ""), "/work/lora-gaudi"));
    send(a, MSG_REPLY, move->id, json_new_object(), &out);
    CHECK_INT(a->lab_done[i], 3);
    effects_release(&out);
    fx_free(a);
}

T_MAIN
