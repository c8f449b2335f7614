/* quiz.c - is an answer right? */
#include "labs/quiz.h"

#include <ctype.h>
#include <math.h>
#include <strings.h>

#include "core/base/i18n.h"
#include "k8s/quantity.h"
#include "labs/check.h"
#include "labs/match.h"
#include "labs/session_priv.h"
#include "labs/vars.h"

static const struct lab_quiz *quiz_of(const struct session *s, int step, int quiz)
{
    return &s->lab->steps[step].quiz[quiz];
}

/* --- figures of the run ------------------------------------------------------ */

static double last_of(const struct series *v)
{
    for (size_t i = v ? series_count(v) : 0; i-- > 0;)
        if (isfinite(series_y(v, i)))
            return series_y(v, i);
    return NAN;
}

static double first_of(const struct series *v)
{
    for (size_t i = 0; v && i < series_count(v); i++)
        if (isfinite(series_y(v, i)))
            return series_y(v, i);
    return NAN;
}

static double run_last_loss(const struct session *s) { return last_of(s->run.loss); }
static double run_last_val(const struct session *s) { return last_of(s->run.val); }
static double run_first_loss(const struct session *s) { return first_of(s->run.loss); }
static double run_first_val(const struct session *s) { return first_of(s->run.val); }

static double run_steps(const struct session *s)
{
    return *s->run.pod ? (double)s->run.step : NAN;
}

static double run_trainable(const struct session *s)
{
    const struct run_log *d = session_priv(s)->run_log;
    return d->hello ? d->trainable : NAN;
}

static double run_params(const struct session *s)
{
    const struct run_log *d = session_priv(s)->run_log;
    return d->hello ? d->params : NAN;
}

static const struct {
    const char *name;
    double (*fn)(const struct session *s);
} figures[] = {{"first_loss", run_first_loss}, {"last_loss", run_last_loss},
               {"first_val", run_first_val},   {"last_val", run_last_val},
               {"steps", run_steps},           {"params", run_params},
               {"trainable", run_trainable}};

bool quiz_run_source(const char *name)
{
    for (size_t i = 0; i < ARRAY_LEN(figures); i++)
        if (str_eq(figures[i].name, name))
            return true;
    return false;
}

const char *quiz_run_sources(void)
{
    return "first_loss, last_loss, first_val, last_val, steps, params, trainable";
}

static struct json *run_figure(const struct session *s, const char *name, struct evidence *ev)
{
    double v = NAN;
    for (size_t i = 0; i < ARRAY_LEN(figures); i++)
        if (str_eq(figures[i].name, name))
            v = figures[i].fn(s);
    if (!isfinite(v)) {
        check_set(ev, CHECK_UNKNOWN, "%s", _("your run has not said it yet"));
        return NULL;
    }
    struct json *list = json_new_array();
    json_append(list, json_new_number(v));
    return list;
}

/* --- values of the cluster ----------------------------------------------------- */

static bool is_meant(const struct session *s, const struct json *o, const struct json *from)
{
    const char *name = json_str(from, "name", NULL), *job = json_str(from, "job", NULL);
    if (name && !str_eq(json_str(o, "metadata.name", ""), name))
        return false;
    const struct json *j = job ? session_find(s, "jobs", job) : NULL;
    if (job && (!j || o != session_job_pod(s, j)))
        return false;
    const struct json *where = json_get(from, "where");
    for (const struct json *w = json_first(where); w; w = json_next(w))
        if (!match_value(json_at(o, json_key(w)), w))
            return false;
    return true;
}

/* The field of every object that is meant, or (count) how many there are. */
static struct json *from_cluster(const struct session *s, const struct json *from, bool count,
                                 struct evidence *ev)
{
    struct check_ctx c = {.s = s};
    const char *kind = json_str(from, "kind", "");
    const struct table *t = session_table(s, kind);
    if (check_blind(&c, kind, ev))
        return NULL;
    struct json *list = json_new_array();
    int64_t n = 0;
    for (const struct json *o = json_first(t->items); o; o = json_next(o)) {
        if (!is_meant(s, o, from))
            continue;
        const struct json *v = count ? NULL : json_at(o, json_str(from, "path", ""));
        n++;
        if (v)
            json_append(list, json_copy(v));
    }
    if (count)
        json_append(list, json_new_number((double)n));
    if (!json_first(list)) {
        check_set(ev, CHECK_UNKNOWN, "%s", _("the cluster has no such value yet"));
        json_free(list);
        return NULL;
    }
    return list;
}

/* What would be right, a list; NULL with ev (UNKNOWN). */
static struct json *wanted(const struct session *s, const struct lab_quiz *q, struct evidence *ev)
{
    char missing[64];
    struct json *args = vars_json(s->vars, q->args, missing), *list = NULL;
    if (!args) {
        check_set(ev, CHECK_UNKNOWN, _("the value of %s is not known yet"), missing);
        return NULL;
    }
    const struct json *is = json_get(args, "is");
    if (json_type(is) == JSON_ARRAY) {
        list = json_copy(is);
    } else if (is) {
        list = json_new_array();
        json_append(list, json_copy(is));
    } else if (json_has(args, "run")) {
        list = run_figure(s, json_str(args, "run", ""), ev);
    } else {
        bool count = json_has(args, "count");
        list = from_cluster(s, json_get(args, count ? "count" : "field"), count, ev);
    }
    json_free(args);
    return list;
}

/* --- numbers and texts ----------------------------------------------------------- */

static char *trimmed(const char *text)
{
    while (isspace((unsigned char)*text))
        text++;
    size_t n = strlen(text);
    while (n && isspace((unsigned char)text[n - 1]))
        n--;
    return xstrndup(text, n);
}

static bool to_number(const struct json *v, double *out)
{
    const char *text = json_string_value(v);
    if (json_type(v) == JSON_NUMBER) {
        *out = json_number_value(v);
        return true;
    }
    return text && str_to_f64(text, out) && isfinite(*out);
}

static bool near(double a, double v, const struct json *args)
{
    double slack = MAX(json_num(args, "within", 0), json_num(args, "tolerance", 0) * fabs(v));
    return fabs(a - v) <= slack + 1e-9 * fabs(v);
}

static bool number_right(const struct lab_quiz *q, const char *answer, const struct json *list)
{
    struct json *a = json_new_string(answer);
    double x = 0, v = 0;
    bool ok = false, number = to_number(a, &x);
    for (const struct json *w = json_first(list); w && !ok; w = json_next(w))
        ok = number && to_number(w, &v) ? near(x, v, q->args) : match_value(a, w);
    json_free(a);
    return ok;
}

static bool text_right(const struct lab_quiz *q, const char *answer, const struct json *list)
{
    bool exact = json_bool(q->args, "case", false), ok = false;
    struct str s;
    str_init(&s, 1 << 16);
    for (const struct json *w = json_first(list); w && !ok; w = json_next(w)) {
        str_clear(&s);
        match_actual(w, &s);
        ok = exact ? str_eq(s.p, answer) : strcasecmp(s.p, answer) == 0;
    }
    str_release(&s);
    return ok;
}

/* --- choices ------------------------------------------------------------------------ */

void quiz_order(const struct session *s, int step, int quiz, int order[QUIZ_CHOICES])
{
    const struct lab_quiz *q = quiz_of(s, step, quiz);
    uint64_t seed = (uint64_t)json_num(session_priv(s)->progress, "seed", 0);
    uint64_t x = vars_hash(vars_hash(seed, s->lab->steps[step].id), q->id);
    for (int i = 0; i < QUIZ_CHOICES; i++)
        order[i] = i;
    for (int i = q->choices_n - 1; i > 0; i--) {
        x = vars_hash(x, "");
        int k = (int)(x % (uint64_t)(i + 1)), t = order[i];
        order[i] = order[k];
        order[k] = t;
    }
}

bool quiz_several(const struct lab_quiz *q)
{
    int n = 0;
    for (int i = 0; i < q->choices_n; i++)
        n += q->choices[i].right;
    return n > 1;
}

/* The choices that are meant, as bits; 0: none. */
static unsigned chosen(const struct lab_quiz *q, const int *order, const char *answer)
{
    unsigned bits = 0;
    for (int i = 0; i < q->choices_n; i++)
        if (str_eq(q->choices[i].say.en, answer) || str_eq(q->choices[i].say.zh, answer))
            return 1u << i;
    for (const char *p = answer; *p; p++) {
        int place = tolower((unsigned char)*p) - 'a';
        if (*p == ' ' || *p == ',')
            continue;
        if (place < 0 || place >= q->choices_n)
            return 0;
        bits |= 1u << order[place];
    }
    return bits;
}

static void judge_choice(const struct session *s, int step, int quiz, const char *answer,
                         struct evidence *ev)
{
    const struct lab_quiz *q = quiz_of(s, step, quiz);
    int order[QUIZ_CHOICES];
    unsigned right = 0, bits;
    quiz_order(s, step, quiz, order);
    bits = chosen(q, order, answer);
    if (!bits) {
        check_set(ev, CHECK_NOT_YET, _("type the letter of a choice, a to %c"),
                  'a' + q->choices_n - 1);
        return;
    }
    for (int i = 0; i < q->choices_n; i++)
        right |= q->choices[i].right ? 1u << i : 0;
    check_set(ev, bits == right ? CHECK_PASS : CHECK_WRONG, "%s",
              bits == right       ? ltext_get(&q->why)
              : !(bits & ~right)  ? _("right, but not all of it: more than one is right")
                                  : "");
    for (int i = 0; i < q->choices_n && !*ev->because; i++)
        if ((bits >> i & 1) && q->choices[i].right == (bits == right))
            str_copy(ev->because, sizeof ev->because, ltext_get(&q->choices[i].because));
}

static void explain(const struct lab_quiz *q, const char *answer, struct evidence *ev)
{
    for (int i = 0; i < q->because_n && !*ev->because; i++)
        if (strstr(answer, q->because[i].has))
            str_copy(ev->because, sizeof ev->because, ltext_get(&q->because[i].tell));
    if (!*ev->because)
        str_copy(ev->because, sizeof ev->because, _("that is not it"));
}

void quiz_judge(const struct session *s, int step, int quiz, const char *answer,
                struct evidence *ev)
{
    const struct lab_quiz *q = quiz_of(s, step, quiz);
    char *text = trimmed(answer);
    struct json *list = NULL, *number = json_new_string(text);
    double x;
    memset(ev, 0, sizeof *ev);
    str_copy(ev->object, sizeof ev->object, q->id);
    str_copy(ev->actual, sizeof ev->actual, text);
    if (!*text) {
        check_set(ev, CHECK_NOT_YET, "%s", _("your answer is still missing"));
    } else if (q->kind == LAB_QUIZ_CHOICE) {
        judge_choice(s, step, quiz, text, ev);
    } else if (q->kind == LAB_QUIZ_NUMBER && !to_number(number, &x) &&
               !strchr("0123456789.+-", *text)) {
        check_set(ev, CHECK_NOT_YET, _("\"%s\" is no number"), text);
    } else if ((list = wanted(s, q, ev))) {
        bool ok = q->kind == LAB_QUIZ_NUMBER ? number_right(q, text, list)
                                             : text_right(q, text, list);
        check_set(ev, ok ? CHECK_PASS : CHECK_WRONG, "%s", ok ? ltext_get(&q->why) : "");
    }
    if (ev->result == CHECK_WRONG)
        explain(q, text, ev);
    json_free(list);
    json_free(number);
    free(text);
}

bool quiz_right(const struct session *s, int step, int quiz, struct str *out)
{
    const struct lab_quiz *q = quiz_of(s, step, quiz);
    struct evidence ev;
    if (q->kind == LAB_QUIZ_CHOICE) {
        int order[QUIZ_CHOICES];
        quiz_order(s, step, quiz, order);
        for (int i = 0; i < q->choices_n; i++)
            if (q->choices[order[i]].right)
                str_addc(out, (char)('a' + i));
        return true;
    }
    struct json *list = wanted(s, q, &ev);
    if (list)
        match_actual(json_first(list), out);
    json_free(list);
    return list != NULL;
}

int quiz_open(const struct session *s, int step)
{
    for (int i = 0; i < s->lab->steps[step].quiz_n; i++)
        if (s->progress[step].quiz[i].result != CHECK_PASS)
            return i;
    return -1;
}
