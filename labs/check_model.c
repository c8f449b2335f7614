/* check_model.c - a folder of the work folder is a model that the training core
 * reads whole: `podium-train check` says so. */
#include "core/base/i18n.h"
#include "labs/check_kinds.h"
#include "labs/session_priv.h"

static const struct lab_key keys[] = {{"dir", LK_PATH, true}, {NULL, LK_ANY, false}};

static struct json *ask(const struct check_ctx *c)
{
    struct json *args = json_new_object(), *argv = json_new_array();
    char *dir = session_work_path(c->s, json_str(c->args, "dir", ""));
    json_append(argv, json_new_string("podium-train"));
    json_append(argv, json_new_string("check"));
    json_append(argv, json_new_string(dir));
    json_set(args, "argv", argv);
    free(dir);
    return args;
}

static void eval(const struct check_ctx *c, struct evidence *ev)
{
    check_subject(ev, "%s", json_str(c->args, "dir", ""));
    if (!c->answer) {
        check_set(ev, CHECK_UNKNOWN, "%s", c->asking ? _("the model is being read …")
                                                     : _("the model has not been read yet"));
        return;
    }
    int64_t code = json_int(c->answer, "code", -1);
    const struct json *last = json_item(json_get(c->answer, "records"), -1);
    str_copy(ev->path, sizeof ev->path, "podium-train check");
    str_copy(ev->expected, sizeof ev->expected, _("a whole model"));
    str_copy(ev->actual, sizeof ev->actual,
             code == 0 ? json_str(last, "text", "") : json_str(c->answer, "stderr", ""));
    if (code == 0)
        check_set(ev, CHECK_PASS, "%s", "");
    else
        check_set(ev, code == 1 ? CHECK_NOT_YET : CHECK_UNKNOWN, "%s",
                  code == 1 ? _("there is no whole model in this folder yet")
                            : _("the folder could not be looked at"));
}

const struct check_kind check_model = {"model", keys, eval, ask, false, NULL};
