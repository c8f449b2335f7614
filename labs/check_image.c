/* check_image.c - the registry holds, whole, the image that was built: it is
 * pulled back, each blob by its digest, and the manifest's digest compared
 * with the one the build gave. */
#include "core/base/i18n.h"
#include "labs/check_kinds.h"
#include "labs/session_priv.h"

static const struct lab_key keys[] = {{"ref", LK_STR, true}, {NULL, LK_ANY, false}};

static struct json *ask(const struct check_ctx *c)
{
    const struct session_priv *p = session_priv(c->s);
    if (!session_fact(c->s, "build.digest") || !session_fact(c->s, "push.digest"))
        return NULL;
    struct json *args = json_new_object(), *argv = json_new_array();
    char *to = session_work_path(c->s, ".pulled");
    char *layout = xasprintf("oci:%s:checked", to);
    const char *const words[] = {"podium", "image", "pull", "--json"};
    for (size_t i = 0; i < ARRAY_LEN(words); i++)
        json_append(argv, json_new_string(words[i]));
    if (*p->kubeconfig) {
        json_append(argv, json_new_string("--kubeconfig"));
        json_append(argv, json_new_string(p->kubeconfig));
    }
    json_append(argv, json_new_string(json_str(c->args, "ref", "")));
    json_append(argv, json_new_string(layout));
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
    if (!built || !session_fact(c->s, "push.digest")) {
        check_set(ev, CHECK_NOT_YET, "%s", built ? _("the image has not been pushed yet")
                                                 : _("the image has not been built yet"));
        return;
    }
    if (!c->answer) {
        check_set(ev, CHECK_UNKNOWN, "%s", c->asking ? _("the registry is being asked …")
                                                     : _("the registry has not been asked yet"));
        return;
    }
    const struct json *last = json_item(json_get(c->answer, "records"), -1);
    if (!str_eq(json_str(last, "ev", ""), "done")) {
        bool absent = str_eq(json_str(last, "code", ""), pd_id(PD_NOTFOUND));
        str_copy(ev->actual, sizeof ev->actual, absent ? "(missing)" : "");
        check_set(ev, absent ? CHECK_NOT_YET : CHECK_UNKNOWN, "%s",
                  json_str(last, "text", json_str(c->answer, "stderr", _("no answer"))));
        return;
    }
    str_copy(ev->actual, sizeof ev->actual, json_str(last, "digest", ""));
    bool same = str_eq(ev->actual, ev->expected);
    check_set(ev, same ? CHECK_PASS : CHECK_WRONG, "%s",
              same ? "" : _("the registry has another image under this name"));
}

const struct check_kind check_image = {"image", keys, eval, ask};
