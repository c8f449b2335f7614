/* plain_text.c - labs and steps in words, and how words become lines
 * (plain_text.h). */
#include "tui/plain_text.h"

#include "core/base/i18n.h"
#include "core/base/log.h"
#include "core/base/utf8.h"
#include "labs/vars.h"
#include "tui/panel.h"
#include "tui/text.h"

enum { PLAIN_LEAST_WIDTH = 20, PLAIN_TEXT_MOST = 1 << 20 };

/* --- lines ------------------------------------------------------------------------ */
void plain_line(struct str *out, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    str_vprintf(out, fmt, ap);
    va_end(ap);
    str_addc(out, '\n');
}

static void to_ascii(const char *s, size_t n, struct str *out)
{
    for (size_t i = 0; i < n;) {
        int len;
        uint32_t cp = utf8_decode(s + i, n - i, &len);
        if (utf8_width(cp) > 0)
            str_addc(out, glyph_to_ascii(cp));
        i += (size_t)len;
    }
}

/* Where what does not fit goes on: below the line's own beginning, or, in a line
 * with a number before it ("12: text"), behind that. */
static int hanging(const char *line, int width)
{
    int n = (int)strspn(line, " "), digits = (int)strspn(line, "0123456789");
    if (digits && line[digits] == ':')
        n = digits + 2;
    return MIN(n, width / 2);
}

/* One logical line, without its '\n'. */
static void wrap_line(const char *line, int width, bool ascii, struct str *out)
{
    int own = MIN((int)strspn(line, " "), width / 2), below = hanging(line, width);
    const char *p = line + own;
    for (int indent = own; *p || p == line + own; indent = below) {
        size_t len, next = text_break(p, width - indent, &len);
        str_printf(out, "%*s", len ? indent : 0, "");
        if (ascii)
            to_ascii(p, len, out);
        else
            str_append(out, p, len);
        str_addc(out, '\n');
        p += next;
        if (!*p)
            break;
    }
}

void plain_wrap(const char *text, int width, bool ascii, struct str *out)
{
    struct str clean, masked;
    str_init(&clean, 4 * PLAIN_TEXT_MOST);
    str_init(&masked, 4 * PLAIN_TEXT_MOST);
    utf8_clean(text, strlen(text), true, &clean);
    log_redact(clean.p, clean.len, &masked);
    for (char *p = masked.p; *p;) {
        size_t n = strcspn(p, "\n");
        bool more = p[n] == '\n';
        p[n] = '\0';
        wrap_line(p, MAX(width, PLAIN_LEAST_WIDTH), ascii, out);
        p += n + more;
    }
    str_release(&clean);
    str_release(&masked);
}

void plain_panel(const struct app *a, enum panel_id panel, int width, struct str *out)
{
    const struct panel *ops = panel_of(panel);
    struct rows rows;
    char buf[160];
    if (!ops || !ops->rows)
        return;
    rows_init(&rows, a->glyphs);
    ops->rows(a, &rows, MAX(width, PLAIN_LEAST_WIDTH), 200);
    if (ops->title)
        plain_line(out, "%s.", ops->title(a, buf));
    for (int i = 0; i < rows.n; i++) {
        rows_text(&rows.v[i], out);
        str_addc(out, '\n');
    }
    rows_release(&rows);
}

/* --- labs ------------------------------------------------------------------------- */
void plain_labs(const struct app *a, struct str *out)
{
    plain_line(out, "%s", _("Labs:"));
    for (size_t i = 0; i < a->labs->n; i++) {
        const struct lab_entry *e = &a->labs->v[i];
        const struct lab *lab = e->lab;
        if (!lab) {
            plain_line(out, _("%zu. %s can't be read: %s, line %d, column %d: %s"), i + 1, e->id,
                       e->err.src, e->err.line, e->err.col, e->err.msg);
            continue;
        }
        plain_line(out, _("%zu. %s (%s). %d of %d steps done, about %d minutes."), i + 1,
                   ltext_get(&lab->title), lab->id, a->lab_done[i], lab->steps_n, lab->minutes);
    }
    plain_line(out, "%s", _("Type a lab's number or name and Enter to open it."));
}

/* --- the step --------------------------------------------------------------------- */
/* The first step is never locked once the progress is there. */
bool plain_loaded(const struct app *a)
{
    return a->s->lab && a->s->progress && a->s->progress[0].state != STEP_LOCKED;
}

static const struct lab_step *step_of(const struct app *a)
{
    return plain_loaded(a) ? &a->s->lab->steps[a->s->step] : NULL;
}

/* A text of the lab with its variables; the caller releases out. */
static const char *say(const struct app *a, const struct ltext *t, struct str *out)
{
    str_init(out, PLAIN_TEXT_MOST);
    if (a->s->vars)
        vars_fill(a->s->vars, ltext_get(t), out);
    else
        str_add(out, ltext_get(t));
    return out->p;
}

static const char *state_word(enum step_state st)
{
    static const char *const words[] = {N_("locked: the steps before come first"), N_("open"),
                                        N_("at work"), N_("done"),
                                        N_("gone past, not done")};
    return _(words[st]);
}

static int passed(const struct app *a)
{
    int n = 0;
    for (int i = 0; i < step_of(a)->checks_n; i++)
        n += a->s->progress[a->s->step].checks[i].result == CHECK_PASS;
    return n;
}

void plain_where(const struct app *a, struct str *out)
{
    const struct lab_step *st = step_of(a);
    if (!st) {
        plain_line(out, "%s", _("You are in the list of labs; no lab is open."));
    } else {
        plain_line(out, _("Lab: %s"), ltext_get(&a->s->lab->title));
        plain_line(out, _("Step %d of %d: %s. It is %s."), a->s->step + 1, a->s->lab->steps_n,
                   ltext_get(&st->title), state_word(a->s->progress[a->s->step].state));
        if (st->checks_n && a->s->progress[a->s->step].state != STEP_DONE)
            plain_line(out, _("%d of %d checks pass."), passed(a), st->checks_n);
        plain_need(a, out);
    }
    plain_link(a, out);
}

static bool is_item(const char *s)
{
    size_t digits = strspn(s, "0123456789");
    return str_starts(s, "- ") || (digits && s[digits] == '.' && s[digits + 1] == ' ');
}

/* A paragraph's line ends are blanks, as on the screen; code and list marks keep
 * their lines. Marks of Markdown are not read out. */
static void paragraph(const char *text, struct str *out)
{
    bool begun = false;
    while (*text) {
        size_t n = strcspn(text, "\n");
        const char *rest = text + strspn(text, " ");
        bool code = str_starts(text, "    ") || *text == '>';
        bool own = code || n == 0 || is_item(rest);
        if (begun && own)
            str_addc(out, '\n');
        else if (begun && out->len && out->p[out->len - 1] != ' ' &&
                 (unsigned char)out->p[out->len - 1] < 0x80)
            str_addc(out, ' ');
        for (const char *p = code ? text : rest; p < text + n; p++)
            if (code || (*p != '`' && *p != '*'))
                str_addc(out, *p);
        begun = n > 0 && !code;
        if (!begun)
            str_addc(out, '\n');
        text += n + (text[n] == '\n');
    }
    if (begun)
        str_addc(out, '\n');
}

void plain_files(const struct app *a, struct str *out)
{
    const struct lab_step *st = step_of(a);
    for (int i = 0; st && i < st->files_n; i++) {
        if (st->files[i].edit)
            plain_line(out, _("File to edit: %s. Type: edit %s"), st->files[i].name,
                       st->files[i].name);
    }
}

/* What a check wants, and how it stands when that is settled. */
static void check_title(const struct app *a, int i, struct str *out)
{
    const struct lab_step *st = step_of(a);
    enum check_result r = a->s->progress[a->s->step].checks[i].result;
    struct str text;
    const char *title = say(a, &st->checks[i].title, &text);
    if (r == CHECK_PASS || r == CHECK_WRONG || r == CHECK_SKIPPED || r == CHECK_STALE)
        plain_line(out, _("Check %d of %d, %s: %s"), i + 1, st->checks_n, _(check_result_name(r)),
                   title);
    else
        plain_line(out, _("Check %d of %d: %s"), i + 1, st->checks_n, title);
    str_release(&text);
}

void plain_read(const struct app *a, struct str *out)
{
    const struct lab_step *st = step_of(a);
    struct str text;
    if (!st) {
        plain_labs(a, out);
        return;
    }
    plain_line(out, _("Step %d of %d: %s"), a->s->step + 1, a->s->lab->steps_n,
               ltext_get(&st->title));
    paragraph(say(a, &st->say, &text), out);
    str_release(&text);
    plain_files(a, out);
    for (int i = 0; i < st->actions_n; i++) {
        plain_line(out, _("run does, %d of %d: %s"), i + 1, st->actions_n,
                   say(a, &st->actions[i].title, &text));
        str_release(&text);
    }
    for (int i = 0; i < st->checks_n; i++)
        check_title(a, i, out);
    plain_need(a, out);
    plain_questions(a, out);
    for (int i = 0; i < a->s->progress[a->s->step].hints_shown && i < st->hints_n; i++)
        plain_hint(a, i, out);
    plain_step_parts(a, out);
}

void plain_steps(const struct app *a, struct str *out)
{
    const struct lab *lab = a->s->lab;
    for (int i = 0; plain_loaded(a) && i < lab->steps_n; i++)
        plain_line(out, i == a->s->step ? _("Step %d, here: %s: %s.") : _("Step %d: %s: %s."),
                   i + 1, ltext_get(&lab->steps[i].title), state_word(a->s->progress[i].state));
    if (!lab)
        plain_line(out, "%s", _("No lab is open."));
}

/* --- checks ------------------------------------------------------------------------- */
static void wrong(const struct evidence *e, struct str *out)
{
    if (e->object[0])
        plain_line(out, e->path[0] ? _("  It looked at: %s, %s.") : _("  It looked at: %s.%s"),
                   e->object, e->path);
    if (e->expected[0])
        plain_line(out, _("  Expected: %s. Found: %s."), e->expected,
                   e->actual[0] ? e->actual : _("nothing"));
}

void plain_check(const struct app *a, int i, struct str *out)
{
    const struct lab_step *st = step_of(a);
    const struct evidence *e = &a->s->progress[a->s->step].checks[i];
    struct str text;
    const char *title = say(a, &st->checks[i].title, &text);
    plain_line(out, _("Check %d of %d, %s: %s"), i + 1, st->checks_n,
               _(check_result_name(e->result)), title);
    str_release(&text);
    if (e->result == CHECK_PASS)
        return;
    if (e->result == CHECK_WRONG || e->result == CHECK_STALE)
        wrong(e, out);
    if (e->because[0])
        plain_line(out, "  %s", e->because);
    if (e->event[0])
        plain_line(out, _("  Newest event: %s"), e->event);
}

void plain_checks(const struct app *a, struct str *out)
{
    const struct lab_step *st = step_of(a);
    if (!st)
        plain_line(out, "%s", _("No lab is open."));
    else if (st->checks_n == 0)
        plain_line(out, "%s", _("This step has no checks: read it, then type next."));
    for (int i = 0; st && i < st->checks_n; i++)
        plain_check(a, i, out);
}

void plain_hint(const struct app *a, int i, struct str *out)
{
    const struct lab_step *st = step_of(a);
    struct str text;
    plain_line(out, _("Hint %d of %d: %s"), i + 1, st->hints_n, say(a, &st->hints[i], &text));
    str_release(&text);
}

void plain_done(const struct app *a, struct str *out)
{
    if (a->s->adapter[0])
        plain_line(out, _("Your adapter is in %s"), a->s->adapter);
    if (a->s->run_csv[0])
        plain_line(out, _("The numbers of the run are in %s"), a->s->run_csv);
}
