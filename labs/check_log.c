/* check_log.c - a text stands in the log of the run, which is followed whatever
 * log is on show. */
#include "core/base/i18n.h"
#include "labs/check_kinds.h"
#include "labs/session_priv.h"

static const struct lab_key keys[] = {{"has", LK_STR, true}, {NULL, LK_ANY, false}};

static void eval(const struct check_ctx *c, struct evidence *ev)
{
    const char *has = json_str(c->args, "has", "");
    const struct session *s = c->s;
    check_subject(ev, "pods/%s/log", s->run.pod);
    str_copy(ev->expected, sizeof ev->expected, has);
    if (!*s->run.pod) {
        check_set(ev, CHECK_UNKNOWN, "%s", _("no log of this lab's Job is being read"));
        return;
    }
    const char *line, *last;
    if (session_text_seen(s, has, &line, &last)) {
        str_copy(ev->actual, sizeof ev->actual, line ? line : last);
        if (line)
            check_set(ev, CHECK_PASS, "%s", "");
        else
            check_set(ev, CHECK_NOT_YET, "%s", _("the log does not say it yet"));
        return;
    }
    if (!session_log_is_run(s)) {
        check_set(ev, CHECK_UNKNOWN, "%s",
                  _("another log is on show: Enter on the run's pod brings its own back"));
        return;
    }
    size_t n = session_log_count(s);
    for (size_t i = n; i-- > 0;) {
        const struct log_line *l = session_log_line(s, i);
        if (!strstr(l->text, has))
            continue;
        str_copy(ev->actual, sizeof ev->actual, l->text);
        check_set(ev, CHECK_PASS, "%s", "");
        return;
    }
    if (n)
        str_copy(ev->actual, sizeof ev->actual, session_log_line(s, n - 1)->text);
    check_set(ev, CHECK_NOT_YET, "%s", _("the log does not say it yet"));
}

const struct check_kind check_log = {"log", keys, eval, NULL, false, NULL};
