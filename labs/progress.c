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
    else if (str_eq(ev, "done") && *step)
        json_put_bool(member(member(state, "steps"), step), "done", true);
    else if (str_eq(ev, "hint") && *step)
        bump(member(member(state, "steps"), step), "hints");
    else if (str_eq(ev, "try") && *step)
        bump(member(member(state, "steps"), step), "attempts");
    else if (str_eq(ev, "fact") && *key && value)
        json_set(member(state, "facts"), key, json_copy(value));
    else if (str_eq(ev, "made") && *key && value)
        json_set(member(member(state, "facts"), "made"), key, json_copy(value));
    else
        return false;
    json_put_num(state, "seq", (double)seq);
    return true;
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
    str_copy(found->note, sizeof found->note,
             _("the saved progress is of another version of podium; it was put aside"));
    found->snapshot_bad = true;
    json_free(s);
    return NULL;
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

static int first_open(const struct json *state, const struct lab *lab)
{
    int i = 0;
    while (i < lab->steps_n && progress_done(state, lab->steps[i].id))
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
