/* check_control.c - the run was steered: the pod's own log has the answer to a
 * command, with the value that was asked for. */
#include <math.h>

#include "core/base/i18n.h"
#include "labs/check_kinds.h"
#include "labs/match.h"
#include "labs/session_priv.h"

static const struct lab_key keys[] = {
    {"command", LK_STR, true}, {"is", LK_MATCH, false}, {NULL, LK_ANY, false}};

static void eval(const struct check_ctx *c, struct evidence *ev)
{
    const char *cmd = json_str(c->args, "command", "");
    const struct json *want = json_get(c->args, "is");
    const struct session_priv *p = session_priv(c->s);
    check_subject(ev, "pods/%s/log", c->s->run.pod);
    str_fmt(ev->path, sizeof ev->path, "answer[cmd=%s]", cmd);
    str_fmt(ev->expected, sizeof ev->expected, _("an answer to \"%s\""), cmd);
    if (!*c->s->run.pod) {
        check_set(ev, CHECK_UNKNOWN, "%s", _("no log of this lab's Job is being read"));
        return;
    }
    const struct run_answer *a = run_answer_find(p->run_log, NULL, cmd);
    if (!a) {
        str_copy(ev->actual, sizeof ev->actual, "(none)");
        bool over = str_eq(c->s->run.state, "done") || str_eq(c->s->run.state, "error");
        check_set(ev, CHECK_NOT_YET, "%s",
                  over ? _("the run is over: submit the Job again to steer it")
                       : _("the run has not answered it yet"));
        return;
    }
    str_copy(ev->actual, sizeof ev->actual, a->text);
    bool ok = a->ok;
    if (ok && want) {
        struct json *v = json_new_number(a->value);
        struct str s;
        str_init(&s, 512);
        match_text(want, &s);
        str_copy(ev->expected, sizeof ev->expected, s.p);
        str_fmt(ev->actual, sizeof ev->actual, "%g", a->value);
        ok = isfinite(a->value) && match_value(v, want);
        str_release(&s);
        json_free(v);
    }
    check_set(ev, ok ? CHECK_PASS : CHECK_WRONG, "%s", ok ? "" : a->text);
}

const struct check_kind check_control = {"control", keys, eval, NULL, false, NULL};
