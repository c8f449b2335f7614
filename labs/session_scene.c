/* session_scene.c - setup and faults: the scene that a lab or a step needs is
 * made once an attempt, when the person says "run". A list is written down as
 * made when its last action ended well; half of one is made again from its
 * beginning, and no check is judged before. */
#include "core/base/i18n.h"
#include "labs/session_priv.h"

enum { SCENE_LISTS = LIST_STEP_FAULTS - LIST_LAB_SETUP + 1 };

static bool hidden(enum action_list list)
{
    return list == LIST_LAB_FAULTS || list == LIST_STEP_FAULTS;
}

static void key_of(const struct session *s, enum action_list list, int step, char key[80])
{
    bool lab = list == LIST_LAB_SETUP || list == LIST_LAB_FAULTS;
    str_fmt(key, 80, "%s.%s", lab ? "" : s->lab->steps[step].id,
            hidden(list) ? "faults" : "setup");
}

static bool made(const struct session *s, enum action_list list, int step)
{
    char key[80];
    key_of(s, list, step, key);
    return json_bool_value(json_get(session_fact(s, "scene"), key));
}

/* The first list of the step's scene that is not made; -1: none. */
static int wanted(const struct session *s)
{
    enum step_state st = s->progress[s->step].state;
    for (int i = 0; i < SCENE_LISTS; i++) {
        enum action_list list = LIST_LAB_SETUP + (enum action_list)i;
        int n = 0;
        session_act_of(s->lab, list, s->step, &n);
        bool over = (st == STEP_DONE || st == STEP_PASSED) &&
                    (list == LIST_STEP_SETUP || list == LIST_STEP_FAULTS);
        if (n && !over && !made(s, list, s->step))
            return (int)list;
    }
    return -1;
}

static void count(struct session *s, const struct action_run *a)
{
    s->scene.done = s->scene.total = 0;
    for (int i = 0; i < SCENE_LISTS; i++) {
        enum action_list list = LIST_LAB_SETUP + (enum action_list)i;
        int n = 0;
        session_act_of(s->lab, list, s->step, &n);
        s->scene.total += n;
        if (made(s, list, s->step))
            s->scene.done += n;
        else if (a && a->list == list)
            s->scene.done += a->index;
    }
}

void session_scene_update(struct session *s)
{
    struct session_priv *p = session_priv(s);
    struct scene was = s->scene;
    const struct action_run *a = &p->act;
    bool runs = a->state == ACTION_RUNNING && a->list != LIST_DO && a->list != LIST_CLEANUP;
    int n;
    p->scene_hides = runs && hidden(a->list);
    if (!session_step(s) || !p->progress)
        return;
    if (s->scene.step != s->step) {
        memset(&s->scene, 0, sizeof s->scene);
        s->scene.step = s->step;
    }
    count(s, runs ? a : NULL);
    s->scene.title[0] = '\0';
    if (runs) {
        s->scene.state = SCENE_RUNNING;
        if (!hidden(a->list))
            str_copy(s->scene.title, sizeof s->scene.title,
                     ltext_get(&session_act_of(s->lab, a->list, a->step, &n)[a->index].title));
    } else if (wanted(s) < 0) {
        s->scene.state = SCENE_READY;
    } else if (s->scene.state != SCENE_FAILED) {
        s->scene.state = SCENE_WANTED;
    }
    if (memcmp(&was, &s->scene, sizeof was))
        session_changed(s);
}

void session_scene_start(struct session *s, struct effects *out)
{
    int list = wanted(s);
    s->scene.state = SCENE_WANTED;
    s->scene.text[0] = '\0';
    if (list >= 0)
        session_act_list(s, (enum action_list)list, s->step, 0, out);
    session_scene_update(s);
}

bool session_scene_next(struct session *s, struct action_run *a, struct effects *out)
{
    char key[80];
    struct json *scene = session_fact(s, "scene") ? json_copy(session_fact(s, "scene"))
                                                  : json_new_object();
    key_of(s, a->list, a->step, key);
    json_put_bool(scene, key, true);
    session_set_fact(s, "scene", scene, out);
    int list = wanted(s);
    if (list < 0 || a->step != s->step)
        return false;
    session_act_list(s, (enum action_list)list, s->step, 0, out);
    return true;
}

void session_scene_failed(struct session *s, const struct action_run *a)
{
    char text[1024];
    s->scene.step = a->step;
    s->scene.state = SCENE_FAILED;
    session_clean(s->scene.text, sizeof s->scene.text,
                  hidden(a->list) && a->err.code != PD_CANCELED
                      ? a->err.msg
                      : pd_describe(&a->err, text, sizeof text));
}
