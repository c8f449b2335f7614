/* check_exec.c - a command in a pod ends with a code and says something. The
 * command must only look: it runs every few seconds while the step is open. No
 * shell of ours is in between; one that does not end in time is UNKNOWN. */
#include "core/base/i18n.h"
#include "labs/check_kinds.h"
#include "labs/errjson.h"
#include "labs/match.h"
#include "labs/session_priv.h"

static const struct lab_key keys[] = {
    {"pod", LK_STR, false},      {"job", LK_STR, false},  {"container", LK_STR, false},
    {"command", LK_STRS, true},  {"exit", LK_NUM, false}, {"output", LK_MATCH, false},
    {"timeout", LK_NUM, false},  {NULL, LK_ANY, false}};

/* As check_find has it: {kind: pods, name | job}. */
static const struct json *pod_of(const struct check_ctx *c, struct evidence *ev)
{
    struct json *args = json_new_object();
    json_put_str(args, "kind", "pods");
    json_put_str(args, "name", json_str(c->args, "pod", NULL));
    json_put_str(args, "job", json_str(c->args, "job", NULL));
    struct check_ctx at = *c;
    at.args = args;
    const struct json *pod = check_find(&at, ev);
    json_free(args);
    return pod;
}

static struct json *ask(const struct check_ctx *c)
{
    struct evidence ev;
    memset(&ev, 0, sizeof ev);
    const struct json *pod = pod_of(c, &ev);
    if (!pod || !str_eq(json_str(pod, "status.phase", ""), "Running"))
        return NULL;
    struct json *args = json_new_object();
    json_put_str(args, "namespace", c->s->cluster.ns);
    json_put_str(args, "pod", json_str(pod, "metadata.name", ""));
    json_put_str(args, "container", json_str(c->args, "container", NULL));
    json_set(args, "argv", json_copy(json_get(c->args, "command")));
    json_put_str(args, "uid", json_str(pod, "metadata.uid", ""));
    return args;
}

/* The output without the line end that commands put behind it. */
static struct json *output(const struct json *answer)
{
    const char *text = json_str(answer, "stdout", "");
    size_t n = strlen(text);
    while (n && (text[n - 1] == '\n' || text[n - 1] == '\r'))
        n--;
    return json_new_string_n(text, n);
}

static void judge(const struct check_ctx *c, struct evidence *ev)
{
    const struct json *want = json_get(c->args, "output");
    int64_t code = json_int(c->answer, "exit", -1), need = json_int(c->args, "exit", 0);
    struct json *said = output(c->answer);
    struct str s;
    str_init(&s, 4096);
    if (code != need) {
        str_copy(ev->path, sizeof ev->path, "exit");
        str_fmt(ev->expected, sizeof ev->expected, "%" PRId64, need);
        str_fmt(ev->actual, sizeof ev->actual, "%" PRId64, code);
        check_set(ev, CHECK_NOT_YET, "%s", json_str(c->answer, "stderr", ""));
    } else if (want && !match_value(said, want)) {
        str_copy(ev->path, sizeof ev->path, "output");
        match_text(want, &s);
        str_copy(ev->expected, sizeof ev->expected, s.p);
        str_clear(&s);
        match_actual(said, &s);
        str_copy(ev->actual, sizeof ev->actual, s.p);
        check_set(ev, CHECK_NOT_YET, "%s", _("the command says something else"));
    } else {
        check_set(ev, CHECK_PASS, "%s", "");
    }
    str_release(&s);
    json_free(said);
}

static void eval(const struct check_ctx *c, struct evidence *ev)
{
    struct pd_err err;
    const struct json *pod = pod_of(c, ev);
    if (!pod)
        return;
    if (!str_eq(json_str(pod, "status.phase", ""), "Running")) {
        check_newest_event(c->s, json_str(pod, "metadata.name", ""), ev);
        check_set(ev, CHECK_NOT_YET, _("the Pod does not run (%s)"),
                  json_str(pod, "status.phase", "?"));
        return;
    }
    if (json_bool(c->answer, "late", false))
        check_set(ev, CHECK_UNKNOWN, "%s", _("the command did not end in time"));
    else if (!c->answer || !str_eq(json_str(c->answer, "uid", ""),
                                   json_str(pod, "metadata.uid", "?")))
        check_set(ev, CHECK_UNKNOWN, "%s", _("the command is being run"));
    else if (errjson_read(json_get(c->answer, "error"), &err))
        check_set(ev, CHECK_UNKNOWN, "%s", err.msg);
    else
        judge(c, ev);
}

const struct check_kind check_exec = {"exec", keys, eval, ask, true, NULL};
