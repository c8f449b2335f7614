/* session_quiz.c - answers to questions: judged, told, and written down. */
#include "core/base/i18n.h"
#include "labs/quiz.h"
#include "labs/session_priv.h"

static const struct json *recorded(const struct session *s, int step, int quiz)
{
    const struct lab_step *st = &s->lab->steps[step];
    const struct json *of = json_get(json_get(session_priv(s)->progress, "steps"), st->id);
    return json_get(json_get(of, "answers"), st->quiz[quiz].id);
}

/* What was answered before, as it stood. A wrong answer is judged again, so
 * that its explanation is there in the language of now. */
void session_quiz_restore(struct session *s)
{
    for (int i = 0; i < s->lab->steps_n; i++)
        for (int k = 0; k < s->lab->steps[i].quiz_n; k++) {
            struct evidence *ev = &s->progress[i].quiz[k];
            const struct json *a = recorded(s, i, k);
            const struct lab_quiz *q = &s->lab->steps[i].quiz[k];
            memset(ev, 0, sizeof *ev);
            s->progress[i].tries[k] = (int)json_int(a, "tries", 0);
            quiz_judge(s, i, k, json_str(a, "text", ""), ev);
            if (json_bool(a, "right", false))
                check_set(ev, CHECK_PASS, "%s", ltext_get(&q->why));
            else if (a && ev->result == CHECK_PASS)
                check_set(ev, CHECK_NOT_YET, "%s", _("answer it again"));
        }
}

static void record(struct session *s, int quiz, const struct evidence *ev, struct effects *out)
{
    const struct lab_step *step = session_step(s);
    struct json *e = json_new_object();
    json_put_str(e, "ev", "answer");
    json_put_str(e, "step", step->id);
    json_put_str(e, "quiz", step->quiz[quiz].id);
    json_put_str(e, "text", ev->actual);
    json_put_bool(e, "right", ev->result == CHECK_PASS);
    session_record(s, e, out);
    s->progress[s->step].tries[quiz]++;
}

static bool may_answer(struct session *s)
{
    const struct step_progress *g = &s->progress[s->step];
    if (g->state == STEP_LOCKED)
        session_say(s, PD_LAB, "%s", _("the steps before come first"));
    else if (s->scene.state != SCENE_READY)
        session_say(s, PD_LAB, "%s", _("the scene comes first: run the step"));
    else if (s->need.mode == MODE_SKIPPED || s->need.mode == MODE_READING)
        session_say(s, PD_LAB, "%s", s->need.why);
    else
        return true;
    return false;
}

void session_answer(struct session *s, const char *quiz, const char *text, struct effects *out)
{
    const struct lab_step *step = session_step(s);
    int i = quiz_open(s, s->step);
    if (quiz && !lab_quiz_by_id(step, quiz, &i)) {
        session_say(s, PD_USAGE, _("this step has no question \"%s\""), quiz);
        return;
    }
    if (i < 0) {
        session_say(s, PD_OK, "%s", step->quiz_n ? _("every question of this step is answered")
                                                 : _("this step asks nothing"));
        return;
    }
    if (!may_answer(s))
        return;
    struct evidence *ev = &s->progress[s->step].quiz[i], now;
    if (ev->result == CHECK_PASS)
        return;
    quiz_judge(s, s->step, i, text, &now);
    if (now.result == CHECK_PASS || now.result == CHECK_WRONG)
        record(s, i, &now, out);
    now.at_ms = session_priv(s)->now_ms;
    session_clean(ev->actual, sizeof ev->actual, now.actual);
    str_copy(now.actual, sizeof now.actual, ev->actual);
    *ev = now;
    const char *verdict = now.result == CHECK_PASS ? _("right") : _("not right");
    bool judged = now.result == CHECK_PASS || now.result == CHECK_WRONG;
    session_say(s, PD_OK, "%s%s%s", judged ? verdict : "", judged && *now.because ? ": " : "",
                now.because);
}
