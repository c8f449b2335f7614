/* progress.c - events of a person's progress, summed up and read back. */
#include "labs/progress.h"

#include "core/base/i18n.h"
#include "core/base/str.h"

struct json *progress_new(const char *lab_id, uint64_t seed)
{
    struct json *s = json_new_object();
    json_put_num(s, "podium_progress", PROGRESS_VERSION);
    json_put_str(s, "lab", lab_id);
    json_put_num(s, "seq", 0);
    /* a double holds 53 bits */
    json_put_num(s, "seed", (double)(seed & 0xFFFFFFFFFFFFFu));
    json_put_str(s, "at", "");
    json_set(s, "steps", json_new_object());
    json_set(s, "facts", json_new_object());
    return s;
}

static struct json *member(struct json *parent, const char *key)
{
    struct json *m = json_get_mut(parent, key);
    if (!m || json_type(m) != JSON_OBJECT) {
        json_set(parent, key, json_new_object());
        m = json_get_mut(parent, key);
    }
    return m;
}

static void bump(struct json *step, const char *key)
{
    json_put_num(step, key, (double)json_int(step, key, 0) + 1);
}

static void attempt(struct json *state, const struct json *event)
{
    json_put_num(state, "seed", json_num(event, "seed", 0));
    json_put_str(state, "at", "");
    json_set(state, "steps", json_new_object());
    json_set(state, "facts", json_new_object());
    json_put_num(member(state, "facts"), "started_ms", json_num(event, "at_ms", 0));
}

static void answer(struct json *step, const struct json *event, const char *quiz)
{
    struct json *a = member(member(step, "answers"), quiz);
    bump(a, "tries");
    json_put_str(a, "text", json_str(event, "text", ""));
    /* what was right once stays so, whatever the cluster says later */
    json_put_bool(a, "right", json_bool(a, "right", false) || json_bool(event, "right", false));
}

static void finish(struct json *step, const struct json *event)
{
    json_put_bool(step, "done", true);
    json_remove(step, "passed");
    if (json_bool(event, "simulated", false))
        json_put_bool(step, "simulated", true);
}

/* An event that regards one step; false: it is none. */
static bool apply_step(struct json *state, const struct json *event, const char *ev,
                       const char *step)
{
    const char *quiz = json_str(event, "quiz", "");
    if (!*step || !(str_eq(ev, "done") || str_eq(ev, "passed") || str_eq(ev, "hint") ||
                    str_eq(ev, "try") || str_eq(ev, "solution") ||
                    (str_eq(ev, "answer") && *quiz)))
        return false;
    struct json *st = member(member(state, "steps"), step);
    if (str_eq(ev, "done"))
        finish(st, event);
    else if (str_eq(ev, "passed"))
        json_put_str(st, "passed", json_str(event, "how", "skipped"));
    else if (str_eq(ev, "hint"))
        bump(st, "hints");
    else if (str_eq(ev, "try"))
        bump(st, "attempts");
    else if (str_eq(ev, "solution"))
        json_put_bool(st, "solution", true);
    else
        answer(st, event, quiz);
    return true;
}

bool progress_apply(struct json *state, const struct json *event)
{
    const char *ev = json_str(event, "ev", ""), *step = json_str(event, "step", "");
    const char *key = json_str(event, "key", "");
    const struct json *value = json_get(event, "value");
    int64_t seq = json_int(event, "seq", -1);
    if (seq <= json_int(state, "seq", 0))
        return false;
    if (str_eq(ev, "attempt"))
        attempt(state, event);
    else if (str_eq(ev, "at"))
        json_put_str(state, "at", step);
    else if (str_eq(ev, "fact") && *key && value)
        json_set(member(state, "facts"), key, json_copy(value));
    else if (str_eq(ev, "made") && *key && value)
        json_set(member(member(state, "facts"), "made"), key, json_copy(value));
    else if (!apply_step(state, event, ev, step))
        return false;
    json_put_num(state, "seq", (double)seq);
    return true;
}

static void take_done(struct json *state, const char *id)
{
    if (id && *id)
        json_put_bool(member(member(state, "steps"), id), "done", true);
}

/* What a state of another version surely says: which steps are done, in ours
 * or in the form of a list. Its counter is not ours: the journal, when there is
 * one, is read from its beginning. NULL: nothing. */
static struct json *salvage(const char *lab_id, const struct json *s)
{
    const struct json *steps = json_get(s, "steps"), *done = json_get(s, "done");
    const char *lab = json_str(s, "lab", lab_id);
    if (!str_eq(lab, lab_id) || (!json_first(steps) && !json_first(done)))
        return NULL;
    struct json *state = progress_new(lab_id, (uint64_t)MAX(json_num(s, "seed", 0), 0));
    for (const struct json *c = json_first(done); c; c = json_next(c))
        take_done(state, json_string_value(c));
    for (const struct json *c = json_first(steps); c; c = json_next(c))
        if (json_bool(c, "done", false))
            take_done(state, json_key(c));
    return state;
}

/* The snapshot, when it is one of ours and of this lab. */
static struct json *read_snapshot(const char *lab_id, const char *text,
                                  struct progress_found *found)
{
    struct json *s = NULL;
    struct pd_err err;
    if (json_parse(text, strlen(text), &s, &err)) {
        str_copy(found->note, sizeof found->note,
                 _("the saved progress could not be read; it was put aside and made again from "
                   "its journal"));
        found->snapshot_bad = true;
        return NULL;
    }
    if (json_int(s, "podium_progress", 0) == PROGRESS_VERSION &&
        str_eq(json_str(s, "lab", ""), lab_id) && json_type(json_get(s, "steps")) == JSON_OBJECT &&
        json_type(json_get(s, "facts")) == JSON_OBJECT)
        return s;
    found->snapshot_bad = true;
    struct json *kept = salvage(lab_id, s);
    str_copy(found->note, sizeof found->note,
             kept ? _("the saved progress is of another version of podium: the steps that are "
                      "done were taken over, the file was put aside")
                  : _("the saved progress is of another version of podium; it was put aside"));
    json_free(s);
    return kept;
}

struct json *progress_load(const char *lab_id, uint64_t seed, const char *snapshot,
                           const char *journal, struct progress_found *found)
{
    memset(found, 0, sizeof *found);
    struct json *state = snapshot ? read_snapshot(lab_id, snapshot, found) : NULL;
    found->fresh = !state;
    if (!state)
        state = progress_new(lab_id, seed);
    for (const char *p = journal; p && *p;) {
        const char *end = strchr(p, '\n');
        struct json *event = NULL;
        struct pd_err err;
        if (!end) {
            found->torn = true;
            break;
        }
        if (!json_parse(p, (size_t)(end - p), &event, &err)) {
            if (progress_apply(state, event))
                found->fresh = false;
            json_free(event);
        }
        p = end + 1;
    }
    return state;
}

bool progress_done(const struct json *state, const char *step_id)
{
    return json_bool(json_get(json_get(state, "steps"), step_id), "done", false);
}

bool progress_over(const struct json *state, const char *step_id)
{
    return progress_done(state, step_id) ||
           json_has(json_get(json_get(state, "steps"), step_id), "passed");
}

static int first_open(const struct json *state, const struct lab *lab)
{
    int i = 0;
    while (i < lab->steps_n && progress_over(state, lab->steps[i].id))
        i++;
    return i;
}

int progress_step(const struct json *state, const struct lab *lab)
{
    int at, open = first_open(state, lab);
    if (lab_step_by_id(lab, json_str(state, "at", ""), &at) && at <= open)
        return at;
    return open;
}

bool progress_finished(const struct json *state, const struct lab *lab)
{
    return first_open(state, lab) == lab->steps_n;
}

int progress_unknown(const struct json *state, const struct lab *lab)
{
    int n = 0;
    for (const struct json *c = json_first(json_get(state, "steps")); c; c = json_next(c))
        n += lab_step_by_id(lab, json_key(c), NULL) == NULL;
    return n;
}
