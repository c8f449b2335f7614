/* action_model.c - a pretrained model becomes a folder that the training core
 * reads, by a child (`podium model import --get`): found on this machine, or
 * fetched first. */
#include "core/base/i18n.h"
#include "labs/action_kinds.h"
#include "labs/session_priv.h"

static const struct lab_key keys[] = {{"name", LK_ID, true}, {"to", LK_PATH, true},
                                      {NULL, LK_ANY, false}};
enum { MODEL_LIMIT_MS = 1800000 };

static void start(struct session *s, struct action_run *a, struct effects *out)
{
    struct json *args = json_new_object(), *argv = json_new_array();
    char *to = session_work_path(s, json_str(a->args, "to", ""));
    const char *const words[] = {"podium", "model", "import", json_str(a->args, "name", ""),
                                 "--get", "--json", "--out", to};
    for (size_t i = 0; i < ARRAY_LEN(words); i++)
        json_append(argv, json_new_string(words[i]));
    json_set(args, "argv", argv);
    free(to);
    a->until_ms = a->started_ms + MODEL_LIMIT_MS;
    a->effect = effects_add(out, EFF_SPAWN, 0, 0, args);
    session_op_begin(s, a->effect, _("getting the model"));
}

static void message(struct session *s, struct action_run *a, const struct msg *m,
                    struct effects *out UNUSED)
{
    if (action_child_ended(s, a, m))
        a->state = ACTION_DONE;
}

const struct action_kind action_model = {"model", keys, start, message};
