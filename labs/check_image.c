/* check_image.c - the image is where it should be, with the digest that the
 * build gave. `in: store` looks into the local store; else the registry must
 * hold it whole: it is pulled back, each blob by its digest. */
#include "core/base/i18n.h"
#include "labs/check_kinds.h"
#include "labs/session_priv.h"

static const struct lab_key keys[] = {
    {"ref", LK_STR, true}, {"in", LK_STR, false}, {NULL, LK_ANY, false}};

static bool in_store(const struct check_ctx *c)
{
    return str_eq(json_str(c->args, "in", "registry"), "store");
}

static bool ready(const struct check_ctx *c)
{
    return session_fact(c->s, "build.digest") &&
           (in_store(c) || session_fact(c->s, "push.digest"));
}

static struct json *ask(const struct check_ctx *c)
{
    const struct session_priv *p = session_priv(c->s);
    if (!ready(c))
        return NULL;
    struct json *args = json_new_object(), *argv = json_new_array();
    char *to = session_work_path(c->s, ".pulled");
    char *layout = xasprintf("oci:%s:checked", to);
    const char *words[10] = {"podium", "image", in_store(c) ? "inspect" : "pull", "--json"};
    size_t n = 4;
    if (*p->kubeconfig && !in_store(c)) {
        words[n++] = "--kubeconfig";
        words[n++] = p->kubeconfig;
    }
    words[n++] = json_str(c->args, "ref", "");
    if (!in_store(c))
        words[n++] = layout;
    for (size_t i = 0; i < n; i++)
        json_append(argv, json_new_string(words[i]));
    json_set(args, "argv", argv);
    free(layout);
    free(to);
    return args;
}

static void eval(const struct check_ctx *c, struct evidence *ev)
{
    const char *ref = json_str(c->args, "ref", "");
    const struct json *built = session_fact(c->s, "build.digest");
    check_subject(ev, "%s", ref);
    str_copy(ev->path, sizeof ev->path, "digest");
    str_copy(ev->expected, sizeof ev->expected, built ? json_string_value(built) : "");
    if (!ready(c)) {
        check_set(ev, CHECK_NOT_YET, "%s", built ? _("the image has not been pushed yet")
                                                 : _("the image has not been built yet"));
        return;
    }
    if (!c->answer) {
        check_set(ev, CHECK_UNKNOWN, "%s", c->asking ? _("the image is being read …")
                                                     : _("the image has not been looked at yet"));
        return;
    }
    const struct json *last = json_item(json_get(c->answer, "records"), -1);
    if (!json_has(last, "digest") || str_eq(json_str(last, "ev", ""), "error")) {
        bool absent = str_eq(json_str(last, "code", ""), pd_id(PD_NOTFOUND));
        str_copy(ev->actual, sizeof ev->actual, absent ? "(missing)" : "");
        check_set(ev, absent ? CHECK_NOT_YET : CHECK_UNKNOWN, "%s",
                  json_str(last, "text", json_str(c->answer, "stderr", _("no answer"))));
        return;
    }
    str_copy(ev->actual, sizeof ev->actual, json_str(last, "digest", ""));
    bool same = str_eq(ev->actual, ev->expected);
    check_set(ev, same ? CHECK_PASS : CHECK_WRONG, "%s",
              same ? "" : _("another image has this name"));
}

const struct check_kind check_image = {"image", keys, eval, ask, false, NULL};
