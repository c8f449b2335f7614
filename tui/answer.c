/* answer.c - the trainer's answers for people (answer.h). */
#include "tui/answer.h"

#include <math.h>

#include "core/base/i18n.h"
#include "core/base/utf8.h"
#include "tui/text.h"

static double num(const struct run_record *r, const char *key)
{
    return runlog_num(r, key, NAN);
}

static void say_inspect(const struct run_record *r, struct str *out)
{
    char a[24], b[24];
    if (str_eq(runlog_str(r, "what", ""), "norms"))
        str_printf(out, _("norms @ %.0f: weights %s, grad %s"), num(r, "step"),
                   text_number(num(r, "weight_norm"), a), text_number(num(r, "gnorm"), b));
    else
        str_printf(out, _("%s at step %.0f: %.0f x %.0f, from %.0f, %.0f"),
                   runlog_str(r, "name", ""), num(r, "step"), num(r, "rows"), num(r, "cols"),
                   num(r, "row"), num(r, "col"));
}

static void say_rate(const struct run_record *r, struct str *out)
{
    str_printf(out, _("rate %.3g from step %.0f on; the schedule makes it %.3g now"),
               num(r, "rate"), num(r, "step"), num(r, "lr"));
}

void answer_sentence(const struct run_record *r, struct str *out)
{
    const char *cmd = runlog_str(r, "cmd", "");
    double step = num(r, "step");
    if (runlog_num(r, "ok", 0) == 0) {
        str_printf(out, _("the trainer refused %s: %s"), cmd, runlog_str(r, "text", ""));
        if (*runlog_str(r, "hint", ""))
            str_printf(out, " (%s)", runlog_str(r, "hint", ""));
        return;
    }
    if (str_eq(cmd, "inspect"))
        say_inspect(r, out);
    else if (str_eq(cmd, "rate"))
        say_rate(r, out);
    else if (str_eq(cmd, "pause"))
        str_printf(out, _("paused at step %.0f"), step);
    else if (str_eq(cmd, "resume"))
        str_printf(out, _("goes on from step %.0f"), step);
    else if (str_eq(cmd, "step") && num(r, "n") == 1)
        str_printf(out, _("takes one step from step %.0f, then waits"), step);
    else if (str_eq(cmd, "step"))
        str_printf(out, _("takes %.0f steps from step %.0f, then waits"), num(r, "n"), step);
    else if (str_eq(cmd, "save"))
        str_printf(out, _("saved a checkpoint at step %.0f"), step);
    else if (str_eq(cmd, "walk"))
        str_printf(out, _("step %.0f is taken apart: tab 7 walks through it"), step + 1);
    else if (str_eq(cmd, "quit"))
        str_printf(out, _("ends at step %.0f, after a last checkpoint"), step);
    else
        str_printf(out, _("the trainer answered %s at step %.0f"), cmd, step);
}

/* NULL: no record of an answer. The caller frees. */
static struct run_record *parsed(const char *line)
{
    struct pd_err err;
    struct run_record *r = NULL;
    if (!line || !runlog_is_record(line, strlen(line)))
        return NULL;
    r = xmalloc(sizeof *r);
    if (runlog_parse(line, strlen(line), r, &err) == PD_OK && r->ev == RUN_ANSWER)
        return r;
    free(r);
    return NULL;
}

enum answer_kind answer_say(const char *line, struct str *out)
{
    struct run_record *r = parsed(line);
    if (!r)
        return ANSWER_NONE;
    struct str raw;
    str_init(&raw, sizeof r->text);
    answer_sentence(r, &raw);
    utf8_clean(raw.p, raw.len, false, out);
    str_release(&raw);
    enum answer_kind kind = ANSWER_SAYS;
    if (runlog_num(r, "ok", 0) != 0 && str_eq(runlog_str(r, "cmd", ""), "inspect"))
        kind = ANSWER_SHOWS;
    else if (runlog_num(r, "ok", 0) != 0 && str_eq(runlog_str(r, "cmd", ""), "walk"))
        kind = ANSWER_WALKS;
    free(r);
    return kind;
}

/* --- norms --------------------------------------------------------------------- */
enum { NAME_LEAST = 13, NUMBERS = 16, GAP = 2 };

/* "base_model.model.model.layers.0.self_attn.q_proj.lora_A.weight" is
 * "0.q_proj.A": what all names share tells nothing. */
static void short_name(const char *name, size_t n, struct str *out)
{
    static const char *const drop[] = {"base_model.model.", "model.", "layers.", "self_attn.",
                                       "mlp.", "lora_", "weight"};
    const char *end = name + n;
    while (name < end) {
        size_t i = 0, len;
        for (; i < ARRAY_LEN(drop); i++) {
            len = strlen(drop[i]);
            if (len <= (size_t)(end - name) && memcmp(name, drop[i], len) == 0)
                break;
        }
        if (i < ARRAY_LEN(drop)) {
            name += len;
            continue;
        }
        len = strcspn(name, ".");
        len = MIN(len + 1, (size_t)(end - name));
        str_append(out, name, len);
        name += len;
    }
    if (out->len > 0 && out->p[out->len - 1] == '.')
        out->p[--out->len] = '\0';
}

/* One of "NAME w NORM g NORM; …"; where the next begins, NULL at the end. */
static const char *norm_cell(const char *s, struct rows *out, int name_w)
{
    const char *end = s + strcspn(s, ";"), *name_end = s + strcspn(s, " ");
    char buf[24];
    double w = NAN, g = NAN;
    struct str name, shown;
    if (name_end < end)
        sscanf(name_end, " w %lf g %lf", &w, &g);
    str_init(&name, 4096);
    str_init(&shown, 4096);
    short_name(s, (size_t)(MIN(name_end, end) - s), &name);
    utf8_clean(name.p, name.len, false, &shown);
    rows_cell(out, ROLE_TEXT, shown.p, name_w);
    rows_cell_right(out, ROLE_TEXT, text_number(w, buf), NUMBERS / 2);
    rows_cell_right(out, ROLE_VAL, text_number(g, buf), NUMBERS / 2);
    str_release(&name);
    str_release(&shown);
    return *end ? end + 1 + strspn(end + 1, " ") : NULL;
}

static void norm_rows(const struct run_record *r, struct rows *out, int w, int h)
{
    int across = MAX((w + GAP) / (NAME_LEAST + NUMBERS + GAP), 1);
    int name_w = MAX((w + GAP) / across - GAP - NUMBERS, 4), shown = 0, all;
    const char *s = runlog_str(r, "text", "");
    all = (int)runlog_num(r, "tensors", 0);
    rows_new(out, -1);
    for (int i = 0; i < across; i++) {
        rows_put(out, ROLE_MUTED, i ? "  " : "");
        rows_cell(out, ROLE_MUTED, _("norm of"), name_w);
        rows_cell_right(out, ROLE_MUTED, _("weight"), NUMBERS / 2);
        rows_cell_right(out, ROLE_MUTED, _("grad"), NUMBERS / 2);
    }
    for (int row = 0; s && *s && row < h - 2; row++) {
        rows_new(out, -1);
        for (int i = 0; i < across && s && *s; i++, shown++) {
            rows_put(out, ROLE_TEXT, i ? "  " : "");
            s = norm_cell(s, out, name_w);
        }
    }
    if (shown < all)
        rows_linef(out, ROLE_MUTED,
                   s && *s ? _("%d more of %d (z gives room)") : _("%d more of %d are not told"),
                   all - shown, all);
}

/* --- a corner of a tensor ------------------------------------------------------- */
static void corner_rows(const struct run_record *r, struct rows *out)
{
    for (int i = 0; i < 4; i++) {
        char key[8] = {'v', (char)('0' + i), '0', '\0'};
        if (!runlog_has(r, key))
            break;
        rows_new(out, -1);
        for (int k = 0; k < 4; k++) {
            char buf[24];
            key[2] = (char)('0' + k);
            if (runlog_has(r, key))
                rows_cell_right(out, ROLE_TEXT, text_number(num(r, key), buf), 10);
        }
    }
}

bool answer_rows(const char *line, struct rows *out, int w, int h)
{
    struct run_record *r = parsed(line);
    struct str head;
    if (!r)
        return false;
    str_init(&head, sizeof r->text);
    answer_say(line, &head);
    rows_new(out, -1);
    rows_cell(out, ROLE_HEAD, head.p, w);
    str_release(&head);
    if (str_eq(runlog_str(r, "what", ""), "norms"))
        norm_rows(r, out, w, h - 1);
    else
        corner_rows(r, out);
    free(r);
    return true;
}
