/* walk.c - the stages of a step in words and numbers (walk.h). */
#include "tui/walk.h"

#include <math.h>

#include "core/base/i18n.h"
#include "core/base/runlog.h"
#include "core/base/utf8.h"
#include "tui/text.h"

struct stage {
    const struct run_record *q;
    struct rows *out;
    int w;
};

static double num(const struct stage *s, const char *key)
{
    return runlog_num(s->q, key, NAN);
}

static const char *text(const struct stage *s, const char *key)
{
    return runlog_str(s->q, key, "");
}

/* --- lines ---------------------------------------------------------------------- */
/* Wrapped as it is: no mark in a formula has a meaning. */
static void wrap(const struct stage *s, enum role role, int indent, const char *line)
{
    while (*line) {
        size_t len, next = text_break(line, MAX(s->w - indent, 8), &len);
        char *part = xasprintf("%.*s", (int)len, line);
        rows_new(s->out, -1);
        rows_pad(s->out, indent);
        rows_put(s->out, role, part);
        free(part);
        line += next;
    }
}

static void say(const struct stage *s, const char *fmt, ...) PRINTF_LIKE(2, 3);
static void say(const struct stage *s, const char *fmt, ...)
{
    char line[1024];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(line, sizeof line, fmt, ap);
    va_end(ap);
    wrap(s, ROLE_MUTED, 0, line);
}

/* A line of arithmetic. */
static void sum(const struct stage *s, const char *fmt, ...) PRINTF_LIKE(2, 3);
static void sum(const struct stage *s, const char *fmt, ...)
{
    char line[1024];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(line, sizeof line, fmt, ap);
    va_end(ap);
    wrap(s, ROLE_TEXT, 1, line);
}

/* The next item of a list between `sep`; false at its end. */
static bool item(const char **list, char sep, struct str *out)
{
    const char *p = *list;
    struct str raw;
    if (!p)
        return false;
    size_t n = strcspn(p, (char[2]){sep, '\0'});
    str_init(&raw, 4096);
    str_append(&raw, p, n);
    str_clear(out);
    utf8_clean(raw.p, raw.len, false, out);
    str_release(&raw);
    *list = p[n] ? p + n + 1 : NULL;
    return true;
}

static double value(const char *word)
{
    double v = NAN;
    return str_to_f64(word, &v) ? v : NAN;
}

/* --- batch -------------------------------------------------------------------------- */
/* One token after the other, the trained ones in brackets. */
static void flow(const struct stage *s, const char *tokens, const char *mask)
{
    struct str one;
    int used = 1;
    str_init(&one, 4096);
    rows_new(s->out, -1);
    rows_put(s->out, ROLE_TEXT, " ");
    for (size_t i = 0; item(&tokens, '\t', &one); i++) {
        bool trained = i < strlen(mask) && mask[i] == '#';
        int width = utf8_str_width(one.p) + (trained ? 2 : 0);
        if (used + width > s->w && used > 1) {
            rows_new(s->out, -1);
            rows_put(s->out, ROLE_TEXT, " ");
            used = 1;
        }
        rows_putf(s->out, trained ? ROLE_VAL : ROLE_MUTED, trained ? "[%s]" : "%s", one.p);
        used += width;
    }
    str_release(&one);
}

static void batch(const struct stage *s)
{
    if (num(s, "accum") > 1)
        say(s, _("%.0f batches are added up for this step, %.0f sequences each."), num(s, "accum"),
            num(s, "sequences"));
    say(s, _("The step takes %.0f sequences: %.0f tokens to compute. %.0f of them are trained: "
             "only these make the loss."), num(s, "sequences") * num(s, "accum"),
         num(s, "positions"),
        num(s, "trained"));
    say(s, _("The first sequence has %.0f tokens. In [brackets] are the %.0f that the model must "
             "learn to say; the others are the question, which it only reads."),
        num(s, "row_tokens"), num(s, "row_trained"));
    flow(s, text(s, "tokens"), text(s, "mask"));
    if (num(s, "shown") < num(s, "row_tokens"))
        say(s, _("%.0f more tokens are not shown."), num(s, "row_tokens") - num(s, "shown"));
}

/* --- forward ------------------------------------------------------------------------- */
static void layers(const struct stage *s)
{
    const char *list = text(s, "rms");
    struct str line, one;
    char buf[24];
    str_init(&line, 4096);
    str_init(&one, 64);
    for (int i = 0; item(&list, ' ', &one); i++) {
        const char *v = text_number(value(one.p), buf);
        if (i == 0)
            str_printf(&line, _("tokens %s"), v);
        else
            str_printf(&line, _(", layer %d %s"), i, v);
    }
    wrap(s, ROLE_TEXT, 1, line.p);
    str_release(&one);
    str_release(&line);
}

static void top(const struct stage *s)
{
    struct str clean;
    str_init(&clean, 4096);
    int name = MIN(MAX(s->w - 17, 3), 24);
    rows_new(s->out, -1);
    rows_put(s->out, ROLE_MUTED, " ");
    rows_cell(s->out, ROLE_MUTED, _("token"), name);
    rows_cell_right(s->out, ROLE_MUTED, "logit", 8);
    rows_cell_right(s->out, ROLE_MUTED, "p", 8);
    for (int k = 0; k < 5; k++) {
        char key[8], buf[24];
        if (!runlog_has(s->q, str_fmt(key, sizeof key, "top%d", k)))
            break;
        const char *token = text(s, key);
        bool right = str_eq(token, text(s, "target"));
        str_clear(&clean);
        utf8_clean(token, strlen(token), false, &clean);
        rows_new(s->out, -1);
        rows_sign(s->out, right ? ROLE_OK : ROLE_MUTED, right ? G_HERE : G_DOT);
        rows_cell(s->out, right ? ROLE_OK : ROLE_TEXT, clean.p, name);
        str_fmt(key, sizeof key, "logit%d", k);
        rows_cell_right(s->out, ROLE_TEXT, text_number(num(s, key), buf), 8);
        str_fmt(key, sizeof key, "p%d", k);
        rows_cell_right(s->out, ROLE_TEXT, text_number(num(s, key), buf), 8);
    }
    str_release(&clean);
}

static const char *clean(const struct stage *s, const char *key)
{
    struct str c;
    str_init(&c, 4096);
    utf8_clean(text(s, key), strlen(text(s, key)), false, &c);
    const char *kept = arena_strdup(&s->out->arena, c.p);
    str_release(&c);
    return kept;
}

static void forward(const struct stage *s)
{
    say(s, _("Each token becomes a row of numbers, and each of the %.0f layers adds to it. How "
             "large the numbers are (root mean square):"), num(s, "layers"));
    layers(s);
    say(s, _("At position %.0f it has read \"%s\" and gives each of its %.0f tokens a logit. Best "
             "ones, and their probabilities; right would be \"%s\":"), num(s, "position"),
        clean(s, "reads"), num(s, "vocab"), clean(s, "target"));
    top(s);
    sum(s, "p(%s) = e^(%.6g - %.6g) = %.6g", clean(s, "target"), num(s, "target_logit"),
        num(s, "lse"), num(s, "target_p"));
    say(s, _("%.6g is ln of the sum of e^logit over all tokens: it makes the probabilities add up "
             "to 1."), num(s, "lse"));
}

/* --- loss ----------------------------------------------------------------------------- */
static void loss(const struct stage *s)
{
    const char *tokens = text(s, "tokens"), *nll = text(s, "nll");
    struct str token, word;
    char buf[24];
    int across = MAX(s->w / 22, 1), width = s->w / across, n = 0;
    say(s, _("A token costs -ln p: nothing when the model was sure of it, much when it was "
             "surprised. The first sequence:"));
    str_init(&token, 4096);
    str_init(&word, 64);
    for (; item(&tokens, '\t', &token) && item(&nll, ' ', &word); n++) {
        double v = value(word.p);
        if (n % across == 0)
            rows_new(s->out, -1);
        rows_cell(s->out, ROLE_MUTED, " ", 1);
        rows_cell(s->out, ROLE_VAL, token.p, width - 10);
        rows_cell_right(s->out, v > 2 ? ROLE_WARN : ROLE_TEXT, text_number(v, buf), 7);
        rows_cell(s->out, ROLE_TEXT, "", 2);
    }
    str_release(&token);
    str_release(&word);
    if (n < num(s, "row_count"))
        say(s, _("%.0f more tokens are not shown."), num(s, "row_count") - n);
    sum(s, _("this sequence: %.6g / %.0f = %.6g"), num(s, "row_sum"), num(s, "row_count"),
        num(s, "row_sum") / num(s, "row_count"));
    sum(s, _("all of the step: loss = %.9g / %.0f = %.9g"), num(s, "sum"), num(s, "count"),
        num(s, "loss"));
}

/* --- backward -------------------------------------------------------------------------- */
static void group_rows(const struct stage *s)
{
    const char *list = text(s, "groups");
    struct str name, word;
    char buf[24];
    double most = 0;
    str_init(&name, 4096);
    str_init(&word, 64);
    for (const char *l = list; item(&l, '\t', &name) && item(&l, '\t', &word);)
        most = fmax(most, value(word.p));
    while (item(&list, '\t', &name) && item(&list, '\t', &word)) {
        double v = value(word.p);
        rows_new(s->out, -1);
        rows_put(s->out, ROLE_TEXT, " ");
        rows_cell(s->out, ROLE_TEXT, name.p, MIN(16, s->w / 3));
        rows_cell_right(s->out, ROLE_TEXT, text_number(v, buf), 9);
        rows_put(s->out, ROLE_TEXT, "  ");
        if (s->w >= 40)
            rows_bar(s->out, most > 0 ? v / most : 0, MIN(s->w - 30, 40));
    }
    str_release(&name);
    str_release(&word);
}

static void backward(const struct stage *s)
{
    say(s, _("From the loss back through the layers: for each of the %.0f trained weights, how the "
             "loss would change with it. That is the gradient; its length, layer by layer:"),
        num(s, "weights"));
    group_rows(s);
    sum(s, _("all together: root of the sum of squares = %.6g"), num(s, "gnorm"));
    if (!(num(s, "clip") > 0))
        say(s, _("Clipping is off: the gradient is taken as it is."));
    else if (num(s, "factor") < 1)
        sum(s, _("longer than %.6g: it is cut to %.6g / (%.6g + 1e-6) = %.6g of itself"),
            num(s, "clip"), num(s, "clip"), num(s, "gnorm"), num(s, "factor"));
    else
        say(s, _("No longer than %.6g: nothing is clipped, the factor is 1."), num(s, "clip"));
}

/* --- rate -------------------------------------------------------------------------------- */
static void rate(const struct stage *s)
{
    double index = num(s, "index"), warmup = num(s, "warmup");
    const char *name = text(s, "schedule");
    say(s, _("How far the weights go in the gradient's direction. The schedule \"%s\" sets it for "
             "each step (counted from 0):"), clean(s, "schedule"));
    if (index < warmup)
        sum(s, _("warming up: lr = %.6g * %.0f / %.0f = %.9g"), num(s, "peak"), index, warmup,
            num(s, "lr"));
    else if (str_eq(name, "cosine"))
        sum(s, "lr = %.6g * (1 + cos(pi * %.0f / %.0f)) / 2 = %.9g", num(s, "peak"),
            index - warmup, fmax(num(s, "steps") - warmup, 1), num(s, "lr"));
    else if (str_eq(name, "linear"))
        sum(s, "lr = %.6g * (1 - %.0f / %.0f) = %.9g", num(s, "peak"), index - warmup,
            fmax(num(s, "steps") - warmup, 1), num(s, "lr"));
    else
        sum(s, "lr = %.9g", num(s, "lr"));
    sum(s, _("the step after that: %.9g"), num(s, "next_lr"));
    say(s, _("R sets the peak (now %.6g); the schedule's shape stays."), num(s, "peak"));
}

/* --- update ------------------------------------------------------------------------------- */
static void update(const struct stage *s)
{
    double m = num(s, "m_after"), v = num(s, "v_after"), lr = num(s, "lr");
    double mh = m / num(s, "bias1"), vh = v / num(s, "bias2");
    say(s, _("AdamW moves every weight. One of them, by hand: %s, row %.0f, column %.0f. It "
             "remembers m (which way, lately) and v (how large, lately):"), clean(s, "name"),
        num(s, "row"), num(s, "col"));
    sum(s, "g  = %.6g / %.0f * %.6g = %.6g", num(s, "g_sum"), num(s, "count"), num(s, "factor"),
        num(s, "g"));
    sum(s, "m  = %.6g * %.6g + %.6g * g = %.6g", num(s, "beta1"), num(s, "m_before"),
        1 - num(s, "beta1"), m);
    sum(s, "v  = %.6g * %.6g + %.6g * g^2 = %.6g", num(s, "beta2"), num(s, "v_before"),
        1 - num(s, "beta2"), v);
    sum(s, "m' = m / %.6g = %.6g", num(s, "bias1"), mh);
    sum(s, "v' = v / %.6g = %.6g", num(s, "bias2"), vh);
    sum(s, "d  = %.6g * m' / (sqrt(v') + %g) = %.6g", lr, num(s, "eps"),
        lr * mh / (sqrt(vh) + num(s, "eps")));
    if (num(s, "decay") > 0)
        sum(s, "w  = %.9g * (1 - %.6g * %.6g) - d", num(s, "before"), lr, num(s, "decay"));
    else
        sum(s, "w  = %.9g - d", num(s, "before"));
    sum(s, "   = %.9g", num(s, "after"));
    say(s, _("m' and v' make up for m and v having started at 0 (1 - beta^t, t the step)."));
}

/* --- all ------------------------------------------------------------------------------------ */
static const struct { const char *name; void (*rows)(const struct stage *s); }
stages[WALK_STAGES] = {
    [WALK_BATCH] = {N_("batch"), batch},          [WALK_FORWARD] = {N_("forward"), forward},
    [WALK_LOSS] = {N_("loss"), loss},             [WALK_BACKWARD] = {N_("backward"), backward},
    [WALK_RATE] = {N_("rate"), rate},             [WALK_UPDATE] = {N_("update"), update}};

const char *walk_name(enum walk_stage stage)
{
    return _(stages[stage].name);
}

static struct run_record *parsed(const struct run *r, enum walk_stage stage)
{
    const char *line = r->walk_line[stage];
    struct pd_err err;
    struct run_record *q = line ? xmalloc(sizeof *q) : NULL;
    if (q && runlog_parse(line, strlen(line), q, &err) != PD_OK) {
        free(q);
        q = NULL;
    }
    return q;
}

void walk_rows(const struct run *r, enum walk_stage stage, struct rows *out, int w)
{
    struct run_record *q = parsed(r, stage);
    struct stage s = {q, out, w};
    if (!q)
        return;
    rows_linef(out, ROLE_HEAD, "%d/%d  %s", (int)stage + 1, WALK_STAGES, walk_name(stage));
    stages[stage].rows(&s);
    free(q);
}

static double at_step(const struct series *s, double step)
{
    size_t i = s ? series_lower(s, step) : 0;
    return s && i < series_count(s) && series_x(s, i) == step ? series_y(s, i) : NAN;
}

void walk_after(const struct run *r, struct rows *out, int w)
{
    struct run_record *q = parsed(r, WALK_LOSS);
    struct stage s = {q, out, w};
    double said = q ? num(&s, "loss") : NAN, got = at_step(r->loss, (double)r->walk_step);
    if (q && !isnan(got))
        wrap(&s, ROLE_OK, 0, str_fmt((char[256]){0}, 256,
             _("Step %" PRId64 " has been taken: loss %.9g; the walk said %.9g."), r->walk_step,
             got, said));
    free(q);
}
