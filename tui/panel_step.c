/* panel_step.c - the step of a lab: what to do, what is checked, what helps. */
#include "core/base/i18n.h"
#include "core/base/utf8.h"
#include "tui/cmd.h"
#include "tui/panel.h"
#include "tui/panel_step.h"
#include "tui/text.h"

static const struct lab_step *step_of(const struct app *a)
{
    const struct lab *lab = a->s->lab;
    return lab && a->s->step >= 0 && a->s->step < lab->steps_n ? &lab->steps[a->s->step] : NULL;
}

static const struct step_progress *progress_of(const struct app *a)
{
    return a->s->progress ? &a->s->progress[a->s->step] : NULL;
}

static const char *title(const struct app *a, char buf[160])
{
    const struct lab_step *st = step_of(a);
    if (!st)
        return "";
    const struct step_progress *p = progress_of(a);
    bool simulated = a->s->need.mode == MODE_SIMULATED || (p && p->simulated);
    return str_fmt(buf, 160, "%d %s%s%s%s", a->s->step + 1, simulated ? "(" : "",
                   simulated ? _("simulated") : "", simulated ? ") " : "",
                   ltext_get(&st->title));
}

/* Right of a check: how things stand. */
static const char *result_text(const struct evidence *e, char buf[32])
{
    return str_copy(buf, 32, e->result == CHECK_PASS ? _("ok") : _(check_result_name(e->result)));
}

static void field(struct rows *out, const char *name, const char *value, enum role role, int w)
{
    if (!value[0])
        return;
    int at = out->n;
    rows_wrap(out, role, 14, value, w);
    if (out->n == at)
        return;
    struct row *first = &out->v[at];
    const char *label = arena_printf(&out->arena, "    %s", name);
    int used = utf8_str_width(label);
    char *pad = arena_printf(&out->arena, "%s%*s", label, MAX(14 - used, 1), "");
    if (first->n > 0) {          /* the indent span becomes the label */
        first->span[0].text = pad;
        first->span[0].role = ROLE_MUTED;
        first->span[0].width = (uint16_t)utf8_str_width(pad);
    }
}

/* Object and field, cut from the left: the end tells most. Tab 5 has it all. */
static void place_row(struct rows *out, const struct evidence *e, int w)
{
    struct str s;
    str_init(&s, 1024);
    /* without a value there is no field either: "FILE:LINE:COL" tells more */
    text_fit_left(e->path[0] && e->expected[0] ? e->path : e->object, w - 4,
                  glyph_of(out->glyphs, G_MORE), &s);
    rows_new(out, -1);
    rows_putf(out, ROLE_CODE, "    %s", s.p);
    str_release(&s);
}

/* What a check saw, when that helps: object and path, wanted and found. */
static void evidence(struct rows *out, const struct evidence *e, int w)
{
    if (e->result == CHECK_PASS || e->result == CHECK_BLOCKED)
        return;
    if (e->result == CHECK_WRONG) {
        place_row(out, e, w);
        field(out, _("expected"), e->expected, ROLE_TEXT, w);
        field(out, _("found"), e->actual, ROLE_FAIL, w);
    }
    field(out, _("event"), e->event, ROLE_MUTED, w);
    if (e->because[0])
        rows_wrap(out, e->result == CHECK_WRONG ? ROLE_WARN : ROLE_MUTED, 4, e->because, w);
}

/* A title that is too long for its row goes on below. */
static void check_row(struct rows *out, const char *name, const struct evidence *e, int w)
{
    enum role role;
    char buf[32];
    enum glyph g = panel_result_sign(e->result, &role);
    const char *right = result_text(e, buf);
    int room = MAX(w - 3 - utf8_str_width(right) - 2, 8);
    size_t len, next = text_break(name, room, &len);
    rows_new(out, -1);
    rows_put(out, ROLE_TEXT, " ");
    rows_sign(out, role, g);
    rows_putf(out, ROLE_TEXT, " %.*s", (int)len, name);
    rows_right(out, role, right, w);
    if (name[next])
        rows_wrap(out, ROLE_TEXT, 3, name + next, w);
}

static void checks(const struct app *a, struct rows *out, int w)
{
    const struct lab_step *st = step_of(a);
    const struct step_progress *p = progress_of(a);
    if (!st || st->checks_n == 0)
        return;
    rows_blank(out);
    if (!out->mark)
        out->mark = out->n;
    rows_line(out, ROLE_HEAD, _("Checks"));
    for (int i = 0; i < st->checks_n; i++) {
        struct evidence none = {.result = CHECK_NOT_YET};
        const struct evidence *e = p && p->checks ? &p->checks[i] : &none;
        check_row(out, panel_say(a, out, &st->checks[i].title), e, w);
        evidence(out, e, w);
    }
}

static void files(struct rows *out, const struct lab_step *st)
{
    for (int i = 0; i < st->files_n; i++) {
        if (!st->files[i].edit)
            continue;
        rows_new(out, -1);
        rows_put(out, ROLE_KEY, " e");
        rows_putf(out, ROLE_TEXT, "  %s ", _("edit"));
        rows_put(out, ROLE_CODE, st->files[i].name);
    }
}

static void actions(const struct app *a, struct rows *out, const struct lab_step *st, int w)
{
    if (st->actions_n == 0 && st->files_n == 0)
        return;
    rows_blank(out);
    files(out, st);
    for (int i = 0; i < st->actions_n; i++) {
        rows_new(out, -1);
        rows_put(out, ROLE_KEY, i == 0 ? " r" : "  ");
        rows_put(out, ROLE_TEXT, "  ");
        rows_cell(out, ROLE_TEXT, panel_say(a, out, &st->actions[i].title), w - 4);
    }
}

static void hints(const struct app *a, struct rows *out, int w)
{
    const struct lab_step *st = step_of(a);
    const struct step_progress *p = progress_of(a);
    int shown = p ? MIN(p->hints_shown, st->hints_n) : 0;
    if (st->hints_n == 0 || (shown == 0 && p && p->state == STEP_DONE))
        return;
    rows_blank(out);
    for (int i = 0; i < shown; i++) {
        char head[64];
        if (a->seek == SEEK_HINT)
            out->mark = out->n;
        str_fmt(head, sizeof head, _("Hint %d/%d"), i + 1, st->hints_n);
        rows_line(out, ROLE_HEAD, head);
        rows_wrap(out, ROLE_HINT, 1, panel_say(a, out, &st->hints[i]), w);
    }
    if (shown < st->hints_n) {
        rows_new(out, -1);
        rows_put(out, ROLE_KEY, " H");
        rows_putf(out, ROLE_MUTED, _("  hint (%d left)"), st->hints_n - shown);
    }
}

static void step_name(const struct app *a, struct rows *out, int i, int w)
{
    const struct step_progress *p = a->s->progress ? &a->s->progress[i] : NULL;
    enum step_state st = p ? p->state : STEP_LOCKED;
    const char *mark = st == STEP_PASSED ? p->read ? _("read") : _("skipped")
                       : p && p->simulated ? _("simulated")
                                           : "";
    int room = *mark ? MAX(w - utf8_str_width(mark) - 1, 8) : w;
    rows_cell(out, i == a->s->step ? ROLE_STRONG : st == STEP_LOCKED ? ROLE_MUTED : ROLE_TEXT,
              ltext_get(&a->s->lab->steps[i].title), room);
    if (*mark)
        rows_putf(out, ROLE_WARN, " %s", mark);
}

static void steps(const struct app *a, struct rows *out, int w)
{
    const struct lab *lab = a->s->lab;
    rows_blank(out);
    rows_line(out, ROLE_HEAD, _("Steps"));
    for (int i = 0; i < lab->steps_n; i++) {
        enum role role;
        enum step_state st = a->s->progress ? a->s->progress[i].state : STEP_LOCKED;
        enum glyph g = panel_step_sign(st, &role);
        rows_new(out, -1);
        if (i == a->s->step)
            rows_sign(out, ROLE_KEY, G_HERE);
        else
            rows_put(out, ROLE_TEXT, " ");
        rows_sign(out, role, g);
        rows_putf(out, ROLE_MUTED, "%3d ", i + 1);
        step_name(a, out, i, w - 6);
    }
}

static void closing(const struct app *a, struct rows *out, int w)
{
    const struct step_progress *p = progress_of(a);
    if (!p || p->state != STEP_DONE)
        return;
    rows_blank(out);
    if (a->s->finished) {
        rows_new(out, -1);
        rows_sign(out, ROLE_OK, G_OK);
        rows_put(out, ROLE_STRONG, _(" The lab is done."));
        if (a->s->adapter[0])
            rows_wrap(out, ROLE_CODE, 2, a->s->adapter, w);
        if (a->s->run_csv[0])
            rows_wrap(out, ROLE_CODE, 2, a->s->run_csv, w);
        if (a->s->clean.state == CLEAN_NONE)
            rows_wrap(out, ROLE_MUTED, 1, _("`:lab.cleanup` shows what it left in the cluster, "
                                            "and deletes it."), w);
    } else {
        rows_new(out, -1);
        rows_sign(out, ROLE_OK, G_OK);
        rows_put(out, ROLE_STRONG, _(" This step is done."));
        rows_put(out, ROLE_KEY, "  n");
        rows_put(out, ROLE_TEXT, _(" goes on"));
    }
}

static void rows(const struct app *a, struct rows *out, int w, int h UNUSED)
{
    const struct lab_step *st = step_of(a);
    if (!st)
        return;
    panel_step_need(a, out, w);
    rows_wrap(out, ROLE_TEXT, 0, panel_say(a, out, &st->say), w);
    panel_step_scene(a, out, w);
    if (a->s->scene.state == SCENE_READY)
        actions(a, out, st, w);
    if (a->s->op.what[0] && (a->op_step == a->s->step || !a->s->op.ended)) {
        rows_blank(out);
        out->mark = out->n;
        panel_op(a, out, w);
    }
    panel_step_manifest(a, out, w);
    panel_step_quiz(a, out, w);
    checks(a, out, w);
    closing(a, out, w);
    panel_step_notes(a, out, w);
    hints(a, out, w);
    panel_step_solution(a, out, w);
    panel_step_clean(a, out, w);
    steps(a, out, w);
}

/* Below the text even when the checks themselves are scrolled away. */
static const char *foot(const struct app *a, char buf[160])
{
    const struct lab_step *st = step_of(a);
    const struct step_progress *p = progress_of(a);
    int ok = 0, wrong = 0, n = st ? st->checks_n + st->quiz_n : 0;
    if (!st || !p || !p->checks || n == 0)
        return "";
    for (int i = 0; i < st->quiz_n && p->quiz; i++) {
        ok += p->quiz[i].result == CHECK_PASS;
        wrong += p->quiz[i].result == CHECK_WRONG;
    }
    for (int i = 0; i < st->checks_n; i++) {
        ok += p->checks[i].result == CHECK_PASS;
        wrong += p->checks[i].result == CHECK_WRONG;
    }
    if (wrong)
        return str_fmt(buf, 160, _("%d/%d ok, %d wrong"), ok, n, wrong);
    return str_fmt(buf, 160, _("%d/%d ok"), ok, n);
}

static bool ages(const struct app *a)
{
    return a->s->op.what[0] && !a->s->op.ended;
}

const struct panel panel_step = {title, rows, foot, ages, N_("Step")};
